//! The page of a payment: its story in time order, its ledger entries, and what can be done with it.

use serde_json::{Value, json};
use till_protocol::api_error::ApiError;
use till_protocol::declaration::ObjectType;
use till_protocol::dispatch::{PageDeclaration, PageReply};

use super::forms::below;
use super::seat::MemberVisit;
use crate::pages::answered::AnsweredObject;
use crate::pages::parts::{Cell, Labelled, Merchant, Page, Section, Table};

pub(super) static PAYMENT: PageDeclaration =
    PageDeclaration { pattern: below!("/payments/{payment_id}"), has_form: false };

/// The members that stand first.
const FIGURES: &str = "amount status payment_method_display_name amount_captured amount_refunded";

/// The lists that tell the story: call, its argument, and what happened: words in front, and a member.
const SOURCES: [(&str, &str, &str, &str); 5] = [
    ("list-events", "payment_id", "", "event"),
    ("list-refunds-by-payment", "payment_id", "REFUND ", "refund_id"),
    ("list-disputes", "payment_id", "DISPUTE ", "dispute_id"),
    ("list-activity-logs", "object_id", "", "activity_type"),
    ("list-activity-logs", "parent_id", "", "activity_type"),
];

/// The members that say who did something; the first that has a value does.
const ACTORS: [&str; 3] = ["actor_email", "actor_key_id", "actor_type"];

/// The call that lists the ledger entries, and the members that are shown.
const ENTRIES: (&str, &str) = ("list-entries-by-payment", "type direction amount status created_at effective_at");

/// The limit of entries that one list adds.
const PER_PAGE: u32 = 100;

/// Shows the payment.
pub(super) async fn open((): (), visit: MemberVisit) -> Result<PageReply, ApiError> {
    let payment = visit.find("find-payment", "payment_id").await?;
    let (of, merchant, id) = (visit.object_of("find-payment")?, visit.merchant(), payment.text("payment_id"));
    let mut story = vec![step(merchant, of, &payment, "PAYMENT ", "payment_method_display_name")];
    for (call, argument, front, what) in SOURCES {
        let answer: Value = visit.call(call, &json!({ argument: id, "per_page": PER_PAGE })).await?;
        let of = visit.object_of(call)?;
        story.extend(answer.items("page").iter().map(|object| step(merchant, of, object, front, what)));
    }
    story.sort_by(|(one, _), (other, _)| one.cmp(other));
    let (call, columns) = ENTRIES;
    let entries: Value = visit.call(call, &json!({ "payment_id": id, "per_page": PER_PAGE })).await?;
    let mut page = Page::new(&visit, id);
    page.links = visit.acts(PAYMENT.pattern, &payment, false);
    page.sections = vec![
        Section::Figures(merchant.members(of, FIGURES, &payment)),
        Section::Table(Table::new("Story", "", story.into_iter().map(|(_, cells)| cells))),
        Section::Table(visit.table(("Ledger entries", call), "", columns, &entries)?),
        Section::Details(merchant.details(of, &payment)),
    ];
    Ok(page.reply())
}

/// A step of the story, with what gives it its place: the ids of one merchant grow, whatever they are ids of, and the
/// first member of an object is its own.
fn step(merchant: &Merchant, of: &ObjectType, object: &Value, front: &str, what: &str) -> (String, Vec<Labelled>) {
    let cell = |name: &str| merchant.members(of, name, object).pop().map(|(_, cell)| cell).unwrap_or_default();
    let actor = ACTORS.into_iter().find(|name| object[*name].is_string()).unwrap_or_default();
    let what = cell(what);
    let what = Cell { text: format!("{front}{}", what.text), look: "", ..what };
    let amount = Cell { look: "number", ..cell("amount") };
    let cells = [
        ("Time", cell("created_at")),
        ("What", what),
        ("Status", cell("status")),
        ("Amount", amount),
        ("By", cell(actor)),
    ];
    let labelled = cells.into_iter().map(|(label, cell)| (label.to_owned(), cell));
    let own_id = of.attributes.first().map_or("", |member| object.text(member.name));
    (own_id.split('_').next_back().unwrap_or_default().to_owned(), labelled.collect())
}

//! Home: what a member looks at first.

use serde::Deserialize;
use serde_json::{Value, json};
use till_protocol::api_error::ApiError;
use till_protocol::dispatch::{PageDeclaration, PageReply};

use super::chart::{Chart, CountedPayment};
use super::forms::below;
use super::seat::MemberVisit;
use crate::pages::answered::AnsweredObject;
use crate::pages::parts::{Page, Seat, Section, parts_of};

/// The pattern of the first page.
const HOME: &str = below!("");

pub(super) static FIRST: PageDeclaration = PageDeclaration { pattern: HOME, has_form: true };

/// The pages of payments that the picture tells of, and the entries of each.
const PAGES: usize = 5;
const PER_PAGE: usize = 100;

/// The newest payments that are listed.
const NEWEST: usize = 10;

/// A page of payments, as far as the picture tells of them.
#[derive(Debug, Deserialize)]
struct CountedPage {
    page: Vec<CountedPayment>,
    next: Option<Value>,
}

/// Shows the page.
pub(super) async fn open((): (), visit: MemberVisit) -> Result<PageReply, ApiError> {
    let mut page = Page::new(&visit, "Home");
    page.sections = parts_of(&visit, HOME, true).await?;
    let mut newest: Value = visit.call("list-payments", &json!({ "per_page": PER_PAGE })).await?;
    let chart = Chart::of(&counted(&visit, &newest).await?, visit.merchant());
    page.sections.extend(chart.map(|chart| Section::Part(chart.markup())));
    let disputes: Value = visit.call("list-disputes", &json!({ "status": "OPEN" })).await?;
    let columns = "dispute_id amount reason evidence_due_at";
    page.sections.extend(waiting(&visit, ("Disputes that wait for evidence", "list-disputes"), columns, &disputes)?);
    if visit.seat.may("list-webhooks") {
        let mut webhooks: Value = visit.call("list-webhooks", &json!({ "per_page": PER_PAGE })).await?;
        let listed = webhooks["page"].as_array_mut().ok_or_else(ApiError::unhandled)?;
        listed.retain(|webhook| webhook.text("status") == "DISABLED");
        let columns = "webhook_id name destination_url disabled_at";
        page.sections.extend(waiting(&visit, ("Webhooks that fail", "list-webhooks"), columns, &webhooks)?);
    }
    newest["page"].as_array_mut().ok_or_else(ApiError::unhandled)?.truncate(NEWEST);
    let columns = "payment_id status amount payment_method_display_name external_id created_at";
    let mut table = visit.table(("Newest payments", "list-payments"), "", columns, &newest)?;
    table.empty = "No payments yet. Start a checkout, or make one by your program.".to_owned();
    Ok(page.with(Section::Table(table)).reply())
}

/// The newest payments: those of the first page, and of some more.
async fn counted(visit: &MemberVisit, newest: &Value) -> Result<Vec<CountedPayment>, ApiError> {
    let CountedPage { page: mut counted, mut next } =
        CountedPage::deserialize(newest).map_err(|_| ApiError::unhandled())?;
    for _ in 1..PAGES {
        let Some(call) = next.take() else { break };
        let read: CountedPage = visit.call("list-payments", &call).await?;
        counted.extend(read.page);
        next = read.next;
    }
    Ok(counted)
}

/// A list of what waits for somebody to act, where there is something.
fn waiting(
    visit: &MemberVisit,
    named: (&str, &str),
    columns: &str,
    answer: &Value,
) -> Result<Option<Section>, ApiError> {
    let table = visit.table(named, "", columns, answer)?;
    Ok(Some(table).filter(|table| !table.rows.is_empty()).map(Section::Table))
}

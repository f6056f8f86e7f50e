//! The page of one merchant.

use serde_json::Value;
use till_protocol::api_error::ApiError;
use till_protocol::declaration::{ObjectType, ValueType};
use till_protocol::dispatch::{PageDeclaration, PageReply};

use super::seat::OperatorVisit;
use super::tables::SANDBOX;
use crate::pages::answered::AnsweredObject;
use crate::pages::parts::{Link, Page, Section, Table, parts_of};

pub(super) static MERCHANT: PageDeclaration =
    PageDeclaration { pattern: "/operator/merchants/{merchant_id}", has_form: false };

/// The list of payment methods within a merchant, and the members that are shown.
const METHODS: (&str, &str) =
    ("payment_methods", "payment_method acquirer enabled authorizes_without_capture fee_basis_points fee_fixed");

/// Shows the merchant: its members, what can be done, its payment methods, keys and installations.
pub(super) async fn open((): (), visit: OperatorVisit) -> Result<PageReply, ApiError> {
    let merchant = visit.find("find-merchant", "merchant_id").await?;
    let of = visit.object_of("find-merchant")?;
    let mut page = Page::new(&visit, merchant.text("name"));
    page.links = visit.acts(MERCHANT.pattern, &merchant, false);
    page.links.push(Link::new("Sandbox", format!("{SANDBOX}/{}", merchant.text("merchant_id"))));
    let mut details = merchant.clone();
    details[METHODS.0] = Value::Null;
    page.sections =
        vec![Section::Details(visit.merchant().details(of, &details)), Section::Table(methods(&visit, of, &merchant))];
    page.sections.extend(parts_of(&visit, MERCHANT.pattern, false).await?);
    Ok(page.reply())
}

fn methods(visit: &OperatorVisit, of: &ObjectType, merchant: &Value) -> Table {
    let (name, columns) = METHODS;
    let member = of.attributes.iter().find(|member| member.name == name);
    let Some(ValueType::Array(ValueType::Object(method))) = member.map(|member| member.value_type) else {
        return Table::default();
    };
    let methods = merchant.items(name);
    let rows = methods.iter().map(|one| visit.merchant().members(method, columns, one));
    let mut table = Table::new("Payment methods", "None yet", rows);
    for (row, one) in table.rows.iter_mut().zip(methods) {
        row.acts = visit.acts(MERCHANT.pattern, one, true);
    }
    table
}

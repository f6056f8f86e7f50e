//! Files: payments as CSV, and the documents of statements.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::{PageDeclaration, PageReply};

use super::forms::below;
use super::seat::MemberVisit;
use crate::csv::{no_formula, quoted};
use crate::pages::answered::AnsweredObject;
use crate::pages::parts::{Given, Link, Page};

pub(super) static PAYMENTS_FILE: PageDeclaration =
    PageDeclaration { pattern: below!("/payments.csv"), has_form: false };

pub(super) static STATEMENT_FILE: PageDeclaration =
    PageDeclaration { pattern: below!("/statements/{file}"), has_form: false };

const CSV: &str = "text/csv; charset=utf-8";

/// The limits of an export: pages of the list, entries of each, and bytes.
const EXPORT_PAGES_MAX: usize = 100;
const EXPORT_PER_PAGE: usize = 100;
const EXPORT_BYTES_MAX: usize = 16 << 20;

/// Answers the newest payments as CSV, by the filters of their list: a column for each member.
pub(super) async fn export((): (), visit: MemberVisit) -> Result<PageReply, ApiError> {
    let given = Given::of_query(visit.request.whole_query());
    let (mut arguments, _) = given.arguments(visit.declaration("list-payments")?.arguments.iter(), visit.merchant());
    arguments.retain(|name, _| name != "after" && name != "before");
    arguments.insert("per_page".to_owned(), EXPORT_PER_PAGE.into());
    let members = visit.object_of("list-payments")?.attributes;
    let mut text = members.iter().map(|member| member.name).collect::<Vec<_>>().join(",") + "\r\n";
    let mut next = Value::Object(arguments);
    for _ in 0..EXPORT_PAGES_MAX {
        let answer: Value = visit.call("list-payments", &next).await?;
        for payment in answer.items("page") {
            let column = |member| quoted(&no_formula(&visit.merchant().column(member, payment))).into_owned();
            text.push_str(&members.iter().map(column).collect::<Vec<String>>().join(","));
            text.push_str("\r\n");
        }
        if answer["next"].is_null() {
            break;
        }
        if text.len() > EXPORT_BYTES_MAX {
            return Err(ApiError::new(Code::BodyTooLarge, "The export is larger than 16 MiB. Choose a shorter time."));
        }
        next = answer["next"].clone();
        tokio::task::yield_now().await;
    }
    Ok(PageReply::text(text, CSV))
}

/// Answers the document of a statement. One of several parts has a page that leads to each of them.
pub(super) async fn statement((): (), visit: MemberVisit) -> Result<PageReply, ApiError> {
    let unknown = || ApiError::new(Code::NotFound, "There is no such file.");
    let (id, format) = visit.request.text(1).split_once('.').ok_or_else(unknown)?;
    let part = visit.request.query("part").and_then(|part| part.parse::<u32>().ok());
    let named = json!({ "statement_id": id, "format": format.to_uppercase(), "part": part });
    let answer = visit.call("retrieve-statement-document", &named).await;
    let answer: Value =
        answer.map_err(|error| if error.code() == Code::InvalidArguments { unknown() } else { error })?;
    if part.is_none() && answer.count("parts") > 1 {
        let mut page = Page::new(&visit, answer.text("file_name"));
        let address = |part| format!("{}?part={part}", visit.request.path());
        page.links = (1..=answer.count("parts")).map(|part| Link::new(format!("Part {part}"), address(part))).collect();
        return Ok(page.reply());
    }
    let bytes = BASE64_STANDARD.decode(answer.text("content")).map_err(|_| ApiError::unhandled())?;
    Ok(PageReply::bytes(bytes, if format == "pdf" { "application/pdf" } else { CSV }))
}

//! The first page: the state of the server, and its settings.

use std::sync::Arc;

use indicatif::BinaryBytes;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use till_protocol::api_error::ApiError;
use till_protocol::dispatch::{PageDeclaration, PageReply};

use super::seat::OperatorVisit;
use super::tables::FIRST;
use crate::access::Operator;
use crate::endpoints::pages::SHOW_QUEUES;
use crate::pages::answered::AnsweredObject;
use crate::pages::parts::{Cell, Form, Labelled, Link, Page, Section, Table, number, state, words};

pub(super) static OVERVIEW: PageDeclaration = PageDeclaration { pattern: FIRST, has_form: true };

/// Shows the page. Of the settings it shows those that have a value.
pub(super) async fn open(settings: Arc<str>, visit: OperatorVisit) -> Result<PageReply, ApiError> {
    let status: Value = visit.call("status", &json!({})).await?;
    let queues: Value = visit.request.call(&SHOW_QUEUES, Some(Operator), &json!({})).await?;
    let waiting = queues.as_object().into_iter().flatten();
    let waiting = waiting.map(|(name, count)| number(&words(name), count.to_string()));
    let lines = settings.lines().filter(|line| !line.starts_with('#'));
    let mut page = Page::new(&visit, "Overview");
    page.links = vec![Link::new("Find payments", format!("{FIRST}/payments"))];
    let action = Some(format!("{FIRST}/checkpoint"));
    page.sections = vec![
        Section::Figures(figures(&status)),
        Section::Figures(waiting.collect()),
        Section::Form(Form { action, ..Form::new(Vec::new(), "Take checkpoint", None) }),
        Section::Details(visit.merchant().details(visit.object_of("status")?, &status)),
        Section::Table(Table::new("Settings", "None", lines.map(setting))),
    ];
    Ok(page.reply())
}

fn figures(status: &Value) -> Vec<Labelled> {
    let word = status.text("state");
    let checkpoint = status["last_checkpoint"]["taken_at"].as_i64();
    let archive = status["archive_lag_seconds"].as_i64();
    let free = status["disk_free_bytes"].as_u64();
    let behind = |seconds| if seconds == 0 { "up to date".to_owned() } else { format!("{} behind", time(seconds)) };
    let age = |taken_at| format!("{} ago", time(Timestamp::now().as_second() - taken_at));
    let shown = |told: Option<String>| Cell { text: told.unwrap_or_else(|| "none".to_owned()), ..Cell::default() };
    vec![
        ("State".to_owned(), Cell { text: word.to_owned(), look: state(word), href: None }),
        ("Checkpoint".to_owned(), shown(checkpoint.map(age))),
        ("Archive".to_owned(), shown(archive.map(behind))),
        ("Disk free".to_owned(), shown(free.map(|bytes| BinaryBytes(bytes).to_string()))),
    ]
}

/// A time in words, to the minute where it is longer than one.
fn time(seconds: i64) -> String {
    let whole = if seconds < 60 { seconds.max(0) } else { seconds - seconds % 60 };
    format!("{:#}", SignedDuration::from_secs(whole))
}

/// A line of the settings: key, value and origin.
fn setting(line: &str) -> Vec<Labelled> {
    let (key, value) = line.split_once(" = ").unwrap_or((line, ""));
    let (value, origin) = value.rsplit_once(" # ").unwrap_or((value, ""));
    let cell = |label: &str, text: &str| (label.to_owned(), Cell { text: text.to_owned(), ..Cell::default() });
    vec![cell("Setting", key), cell("Value", value.trim_matches('"')), cell("Given by", origin)]
}

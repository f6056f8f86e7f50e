//! What was asked of a server, and what came back.

use serde_json::Value;

use crate::harness::Answer;

use super::change::Change;

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Came {
    /// It was done: the id, or the text of another value.
    Acknowledged(String),
    /// It was not done, the server said.
    NotDone,
    /// Nothing, or that the outcome is unknown.
    Unknown,
}

/// How a payment ends once its effects have settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The acquirer approves.
    Approved,
    /// The acquirer declines with this code.
    Declined(&'static str),
}

/// A payment as it was asked for.
#[derive(Debug, Clone)]
pub(super) struct Sale {
    pub(super) session: String,
    pub(super) minor: u64,
    pub(super) capture: bool,
    pub(super) fate: Fate,
    pub(super) external_id: Option<String>,
    pub(super) customer: Option<String>,
    pub(super) key: Option<String>,
    /// The whole body, to be sent again.
    pub(super) body: Value,
}

impl Sale {
    /// The status once effects have settled.
    pub(super) fn status(&self) -> &'static str {
        match (self.fate, self.capture) {
            (Fate::Declined(_), _) => "FAILED",
            (Fate::Approved, true) => "SUCCESSFUL",
            (Fate::Approved, false) => "AUTHORIZED",
        }
    }

    /// Whether money was taken.
    pub(super) fn is_captured(&self) -> bool {
        self.status() == "SUCCESSFUL"
    }
}

/// A selection or a top-up as it was asked for.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) minor: u64,
    pub(super) external_id: Option<String>,
    pub(super) key: Option<String>,
    /// The whole body, to be sent again.
    pub(super) body: Value,
}

/// One call that changes something.
#[derive(Debug, Clone)]
pub(super) enum What {
    /// A payment session.
    Session(Asked),
    /// A payment.
    Payment(Sale),
    /// A top-up.
    Topup(Asked),
    /// Metadata, keys, the team or the plan.
    Change(Change),
    /// A payment under this external id that must be refused.
    RefusedPayment(String),
}

/// One call of one merchant, and what came back.
#[derive(Debug, Clone)]
pub(super) struct Deed {
    /// The merchant, by position.
    pub(super) merchant: usize,
    pub(super) what: What,
    pub(super) came: Came,
}

impl Came {
    /// Reads the answer to a call that nothing is wrong with.
    #[track_caller]
    pub(super) fn of(answer: &Answer) -> Came {
        match (answer.status, &answer.body) {
            (200, Value::String(id)) if id.contains('_') => Came::Acknowledged(id.clone()),
            (200, Value::Bool(_) | Value::Object(_)) => Came::Acknowledged(told(&answer.body)),
            (200, _) => Came::Unknown, // The answer was cut off.
            (503, _) if answer.details()["outcome"] == "not_done" => Came::NotDone,
            (0 | 503, _) => Came::Unknown,
            (status, body) => panic!("a sound call was answered {status}: {body}"),
        }
    }
}

/// A value as text: a string without its quotation marks.
pub(super) fn told(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

//! The calls to a server, with their results.

use serde_json::Value;

use crate::harness::ApiAnswer;

use super::cards::Fate;
use super::change::Change;
use super::dispute_call::DisputeCall;
use super::movement::Movement;

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallOutcome {
    /// The call was done: its answer is an id, or the text of another value.
    Acknowledged(String),
    /// The server answered that the call was not done.
    NotDone,
    /// There was no answer, or the server answered that the result is unknown.
    Unknown,
}

/// An initiation of a payment.
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
    /// The interest that the merchant bears for a capture of this amount: 3 % of it, rounded half up.
    pub(super) fn interest_minor(&self, captured_minor: u64) -> u64 {
        if self.is_with_interest() { (captured_minor * 3 + 50) / 100 } else { 0 }
    }

    /// True for instalments whose interest the merchant bears.
    pub(super) fn is_with_interest(&self) -> bool {
        self.body["interest_bearer"] == "merchant"
    }
}

/// A call for a selection, a top-up, a payout or an invoice.
#[derive(Debug, Clone)]
pub(super) struct CreationCall {
    pub(super) minor: u64,
    pub(super) external_id: Option<String>,
    pub(super) key: Option<String>,
    /// The whole body, to be sent again.
    pub(super) body: Value,
}

/// One call that changes something.
#[derive(Debug, Clone)]
pub(super) enum CallKind {
    /// A payment session.
    Session(CreationCall),
    /// A payment.
    Payment(Sale),
    /// A top-up.
    Topup(CreationCall),
    /// A payout.
    Payout(CreationCall),
    /// An invoice.
    Invoice(CreationCall),
    /// A change of metadata, keys, the team or the plan.
    Change(Change),
    /// A capture, a void, a reversal or a refund of an existing payment.
    Movement(Movement),
    /// A dispute of an existing payment, or a step of a dispute.
    Dispute(DisputeCall),
    /// A payment under this external id that must be refused.
    RefusedPayment(String),
}

/// One call of one merchant, and its result.
#[derive(Debug, Clone)]
pub(super) struct CallRecord {
    /// The index of the merchant.
    pub(super) merchant: usize,
    pub(super) what: CallKind,
    pub(super) outcome: CallOutcome,
}

impl CallOutcome {
    /// Reads the answer to a valid call.
    #[track_caller]
    pub(super) fn of(answer: &ApiAnswer) -> CallOutcome {
        match (answer.status, &answer.body) {
            (200, Value::String(id)) if id.contains('_') => CallOutcome::Acknowledged(id.clone()),
            (200, Value::Bool(_) | Value::Object(_)) => CallOutcome::Acknowledged(answer_text(&answer.body)),
            (200, _) => CallOutcome::Unknown, // The answer was cut off.
            (503, _) if answer.details()["outcome"] == "not_done" => CallOutcome::NotDone,
            (0 | 503, _) => CallOutcome::Unknown,
            (status, body) => panic!("a sound call was answered {status}: {body}"),
        }
    }
}

/// A value as text: a string without its quotation marks.
pub(super) fn answer_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

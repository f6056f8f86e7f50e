//! Calls about disputes: those of the merchant, and those of the operator in the place of the provider.

use serde_json::Value;

use crate::harness::{ApiAnswer, Client, Shop};

use super::call_record::CallOutcome;
use super::caller::post;
use super::dispute::{DisputeStep, End};

/// A call with its body.
#[derive(Debug, Clone)]
pub(super) struct DisputeCall {
    /// The payment's id; the body may name it by its external id.
    pub(super) payment_id: String,
    pub(super) kind: DisputeCallKind,
    pub(super) key: Option<String>,
    /// The whole body, to be sent again.
    pub(super) body: Value,
}

/// The kind of call.
#[derive(Debug, Clone)]
pub(super) enum DisputeCallKind {
    /// Opens a dispute, which is found by its reason when the answer is lost. Without an amount, it is about the whole
    /// rest.
    Open { minor: Option<u64>, reason: String },
    /// A step of the dispute with this id.
    Step(String, DisputeStep),
}

impl DisputeCall {
    /// Makes the call, for the first time or again.
    pub(super) fn ask(&self, shop: &Shop, operator: &Client) -> ApiAnswer {
        let path = match &self.kind {
            DisputeCallKind::Open { .. } => "/admin/open-dispute",
            DisputeCallKind::Step(_, DisputeStep::Challenge(_)) => "/merchants/challenge-dispute",
            DisputeCallKind::Step(_, DisputeStep::Escalate) => "/admin/escalate-dispute",
            DisputeCallKind::Step(_, DisputeStep::End(End::Conceded)) => "/merchants/concede-dispute",
            DisputeCallKind::Step(_, DisputeStep::End(End::Won | End::Lost)) => "/admin/close-dispute",
        };
        let client = if path.starts_with("/admin") { operator.clone() } else { shop.client() };
        post(&client, path, &self.body, self.key.as_deref())
    }

    /// Reads the answer. The payment or the dispute may not permit the call, because other calls came first.
    #[track_caller]
    pub(super) fn outcome(&self, answer: &ApiAnswer) -> CallOutcome {
        if self.is_refused_by(answer) { CallOutcome::NotDone } else { CallOutcome::of(answer) }
    }

    /// True when nothing was done because of the state of the payment or of the dispute.
    pub(super) fn is_refused_by(&self, answer: &ApiAnswer) -> bool {
        let codes: &[&str] = match self.kind {
            DisputeCallKind::Open { .. } => &["INVALID_STATE", "AMOUNT_EXCEEDS_LIMIT"],
            DisputeCallKind::Step(..) => &["INVALID_STATE"],
        };
        answer.status == 400 && codes.contains(&answer.code())
    }
}

//! Calls about disputes: those that the merchant makes, and those that the operator makes in the place of the provider.

use serde_json::Value;

use crate::harness::{ApiAnswer, Client, Shop};

use super::call_record::CallOutcome;
use super::caller::post;
use super::dispute::{DisputeStep, End};

/// A call with its body.
#[derive(Debug, Clone)]
pub(super) struct DisputeCall {
    /// The payment's id. The body may name the payment by its external id instead.
    pub(super) payment_id: String,
    pub(super) kind: DisputeCallKind,
    pub(super) key: Option<String>,
    /// The whole body, which is kept so that the call can be repeated.
    pub(super) body: Value,
}

/// The kind of a call about disputes.
#[derive(Debug, Clone)]
pub(super) enum DisputeCallKind {
    /// Opens a dispute. When the answer is lost, the dispute is found by its reason. Without an amount, the dispute is
    /// about the whole rest of the payment.
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

    /// The outcome of the call, as its answer tells it. Nothing is done when other calls came first and the payment or
    /// the dispute no longer permits this call.
    #[track_caller]
    pub(super) fn outcome(&self, answer: &ApiAnswer) -> CallOutcome {
        if self.is_refused_by(answer) { CallOutcome::NotDone } else { CallOutcome::of(answer) }
    }

    /// True when the answer says that the state of the payment or of the dispute does not permit the call.
    pub(super) fn is_refused_by(&self, answer: &ApiAnswer) -> bool {
        let codes: &[&str] = match self.kind {
            DisputeCallKind::Open { .. } => &["INVALID_STATE", "AMOUNT_EXCEEDS_LIMIT"],
            DisputeCallKind::Step(..) => &["INVALID_STATE"],
        };
        answer.status == 400 && codes.contains(&answer.code())
    }
}

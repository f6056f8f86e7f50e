//! Calls that capture the money of a payment or return it: captures, voids, reversals and refunds.

use serde_json::Value;

use crate::harness::{ApiAnswer, Client};

use super::call_record::CallOutcome;
use super::caller::post;

/// A call with its body. It has an Idempotency-Key, or is a refund with an external id: else its result could not be
/// looked up when the answer is lost.
#[derive(Debug, Clone)]
pub(super) struct Movement {
    /// The payment's id; the body may name it by its external id.
    pub(super) payment_id: String,
    pub(super) kind: MovementKind,
    pub(super) key: Option<String>,
    /// The whole body, to be sent again.
    pub(super) body: Value,
}

/// The kind of call, with amounts in minor units.
#[derive(Debug, Clone)]
pub(super) enum MovementKind {
    Capture {
        minor: u64,
    },
    Void,
    Reverse,
    /// A refund; without an amount, of the whole rest.
    Refund {
        minor: Option<u64>,
        external_id: Option<String>,
    },
}

impl Movement {
    /// Makes the call, for the first time or again.
    pub(super) fn ask(&self, client: &Client) -> ApiAnswer {
        let endpoint = match self.kind {
            MovementKind::Capture { .. } => "capture-payment",
            MovementKind::Void => "void-payment",
            MovementKind::Reverse => "reverse-payment",
            MovementKind::Refund { .. } => "refund-payment",
        };
        post(client, &format!("/merchants/{endpoint}"), &self.body, self.key.as_deref())
    }

    /// Reads the answer. The payment may not permit the call: it may be pending, or other calls came first.
    #[track_caller]
    pub(super) fn outcome(&self, answer: &ApiAnswer) -> CallOutcome {
        if self.is_refused_by(answer) { CallOutcome::NotDone } else { CallOutcome::of(answer) }
    }

    /// True when nothing was done because of the state of the payment or of the balance.
    pub(super) fn is_refused_by(&self, answer: &ApiAnswer) -> bool {
        let codes: &[&str] = match self.kind {
            MovementKind::Capture { .. } | MovementKind::Void | MovementKind::Reverse => &["INVALID_STATE"],
            MovementKind::Refund { .. } => &["NOT_REFUNDABLE", "AMOUNT_EXCEEDS_LIMIT", "INSUFFICIENT_BALANCE"],
        };
        answer.status == 400 && codes.contains(&answer.code())
    }

    /// The external id of a refund.
    pub(super) fn external_id(&self) -> Option<&String> {
        match &self.kind {
            MovementKind::Refund { external_id, .. } => external_id.as_ref(),
            MovementKind::Capture { .. } | MovementKind::Void | MovementKind::Reverse => None,
        }
    }
}

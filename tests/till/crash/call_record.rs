//! The calls to a server, with their outcomes.

use serde_json::{Map, Value};

use crate::harness::{ApiAnswer, Client, Server, Shop};

use super::metadata::RecordChange;
use super::object_kind::ObjectKind;

/// A call that changes something: all that is needed to make it again, and to check what it did.
#[derive(Debug, Clone)]
pub(super) struct LoadCall {
    pub(super) path: &'static str,
    /// The whole body, which is sent again when the call is repeated.
    pub(super) body: Value,
    pub(super) key: Option<String>,
    pub(super) effect: CallEffect,
}

/// The effect of a call that is done.
#[derive(Debug, Clone)]
pub(super) enum CallEffect {
    /// There is an object whose id is the answer, or is in it. It shows the arguments of the call.
    Creates(&'static ObjectKind),
    /// The object of this id has these attributes; `true` stands for any time.
    Changes(&'static ObjectKind, String, Value),
    /// The acquirer was asked to capture the payment of this id, and refused.
    RefusedCapture(String),
    /// The object of this id is listed no more.
    Removes(String),
    /// This record of metadata has changed.
    Record(String, RecordChange),
    /// The merchant has this plan.
    SelectsPlan(String),
    /// The call must be refused with this code, and nothing has this external id.
    Refused(&'static str, String),
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallOutcome {
    /// The call was done, with this answer.
    Acknowledged(Value),
    /// The server answered that the call was not done.
    NotDone,
    /// There was no answer, or the server answered that the result is unknown.
    Unknown,
}

/// One call of one merchant, and its result.
#[derive(Debug, Clone)]
pub(super) struct CallRecord {
    /// The index of the merchant.
    pub(super) merchant: usize,
    pub(super) call: LoadCall,
    pub(super) outcome: CallOutcome,
}

/// The clients of one merchant's calls.
pub(super) struct CallClients {
    pub(super) shop: Shop,
    /// The client of the SDK's endpoints.
    device: Client,
    operator: Client,
}

impl CallClients {
    pub(super) fn new(server: &Server, shop: &Shop) -> CallClients {
        CallClients { shop: shop.on(server), device: server.client(), operator: server.admin_client() }
    }

    /// Makes the call, for the first time or again.
    pub(super) fn ask(&self, call: &LoadCall) -> ApiAnswer {
        let client = match call.path.split('/').nth(1) {
            Some("admin") => self.operator.clone(),
            Some("sdk") => self.device.clone(),
            _ => self.shop.client(),
        };
        match &call.key {
            Some(key) => client.idempotency_key(key).post(call.path, &call.body),
            None => client.post(call.path, &call.body),
        }
    }
}

impl LoadCall {
    /// A call without an Idempotency-Key.
    pub(super) fn new(path: &'static str, body: Value, effect: CallEffect) -> LoadCall {
        LoadCall { path, body, key: None, effect }
    }

    /// An argument that is a text.
    pub(super) fn text(&self, argument: &str) -> Option<&str> {
        self.body[argument].as_str()
    }

    /// The codes with which the state of a payment, a dispute or the balance may refuse the call.
    fn refusals(&self) -> &[&'static str] {
        match (self.path, &self.effect) {
            (_, CallEffect::Refused(code, _)) => std::slice::from_ref(code),
            ("/merchants/refund-payment", _) => &["NOT_REFUNDABLE", "AMOUNT_EXCEEDS_LIMIT", "INSUFFICIENT_BALANCE"],
            ("/merchants/send-payout", _) => &["INSUFFICIENT_BALANCE"],
            ("/admin/open-dispute", _) => &["INVALID_STATE", "AMOUNT_EXCEEDS_LIMIT"],
            (_, CallEffect::Changes(kind, ..)) if kind.id != "key_id" => &["INVALID_STATE"],
            (_, CallEffect::RefusedCapture(_)) => &["INVALID_STATE"],
            _ => &[],
        }
    }

    /// True when nothing was done because of the state of something: other calls came first.
    pub(super) fn is_refused_by(&self, answer: &ApiAnswer) -> bool {
        answer.status == 400 && self.refusals().contains(&answer.code())
    }

    /// The outcome, as the answer tells it.
    #[track_caller]
    pub(super) fn outcome(&self, answer: &ApiAnswer) -> CallOutcome {
        match (answer.status, &answer.body) {
            _ if self.is_refused_by(answer) => CallOutcome::NotDone,
            (200, Value::String(id)) if !id.contains('_') => CallOutcome::Unknown, // The answer was cut off.
            (200, Value::String(_) | Value::Bool(_) | Value::Object(_)) if self.is_permitted() => {
                CallOutcome::Acknowledged(answer.body.clone())
            }
            (503, _) if answer.details()["outcome"] == "not_done" => CallOutcome::NotDone,
            (0 | 503, _) => CallOutcome::Unknown,
            (status, body) => panic!("{self:?} was answered {status}: {body}"),
        }
    }

    const fn is_permitted(&self) -> bool {
        !matches!(self.effect, CallEffect::Refused(..))
    }

    /// The arguments that an object of the call shows under their names. A payment may be named by the merchant's own
    /// identifier instead of its id, and a customer always is.
    pub(super) fn shown_arguments(&self) -> Map<String, Value> {
        let is_shown = |name: &str, value: &Value| match name {
            "payment_id" => value.as_str().is_some_and(|id| id.starts_with("pay_")),
            "customer_id" | "capture" => false,
            _ => !value.is_null(),
        };
        let arguments = self.body.as_object().expect("a body is an object");
        arguments
            .iter()
            .filter(|(name, value)| is_shown(name, value))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

/// A value as text: a string without its quotation marks.
pub(super) fn answer_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

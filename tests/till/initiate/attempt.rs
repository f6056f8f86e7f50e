//! Initiations that must be refused: nothing may change, and the session can still be used.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Client, Shop, merged};

/// The endpoint under test.
pub(super) const PATH: &str = "/merchants/initiate-payment-flow";

/// A call that must be refused, with a session that could be paid.
pub(super) struct RefusedAttempt<'a> {
    /// The merchant.
    pub(super) shop: &'a Shop,
    /// A session that could be paid.
    pub(super) session: String,
    /// The amount of the session, in minor units.
    pub(super) minor: u64,
    /// Ids of further payments, sessions and customers that must not change.
    pub(super) watched: Vec<String>,
    client: Client,
}

impl<'a> RefusedAttempt<'a> {
    /// An attempt on a card session with a token of the card that succeeds.
    pub(super) fn new(shop: &'a Shop) -> RefusedAttempt<'a> {
        RefusedAttempt::on(shop, shop.session(100), 100)
    }

    /// An attempt on this session.
    pub(super) fn on(shop: &'a Shop, session: String, minor: u64) -> RefusedAttempt<'a> {
        RefusedAttempt { shop, watched: vec![session.clone()], session, minor, client: shop.client() }
    }

    /// The same attempt, which also watches the payment, session or customer of this id.
    pub(super) fn watching(mut self, id: &str) -> RefusedAttempt<'a> {
        self.watched.push(id.to_owned());
        self
    }

    /// The same attempt with an Idempotency-Key.
    pub(super) fn idempotency_key(mut self, key: &str) -> RefusedAttempt<'a> {
        self.client = self.client.idempotency_key(key);
        self
    }

    /// The arguments that would be accepted, with these on top.
    pub(super) fn body(&self, more: &Value) -> Value {
        merged(&self.shop.initiation(&self.session, self.minor), more)
    }

    /// Calls with these arguments on top, and checks that nothing changed.
    #[track_caller]
    pub(super) fn without_trace(&self, more: &Value) -> ApiAnswer {
        self.body_without_trace(&self.body(more).to_string())
    }

    /// Calls with this body, and checks that nothing changed.
    #[track_caller]
    pub(super) fn body_without_trace(&self, body: &str) -> ApiAnswer {
        let before = self.picture();
        let answer = self.client.post_bytes(PATH, body.as_bytes());
        assert_ne!(answer.status, 200, "not refused: {body}");
        assert_eq!(self.picture(), before, "a refused call leaves everything as it was: {body}");
        answer
    }

    /// Calls with these arguments on top, checks that it is refused with this code and that nothing changed,
    /// and returns the details.
    #[track_caller]
    pub(super) fn refused(&self, code: &str, more: &Value) -> Value {
        self.without_trace(more).refused(code)
    }

    /// The faults of a call with these arguments on top, which changed nothing.
    #[track_caller]
    pub(super) fn faults(&self, more: &Value) -> Vec<String> {
        self.without_trace(more).faults()
    }

    /// Checks that the session still pays, with these arguments on top.
    #[track_caller]
    pub(super) fn still_pays_with(&self, more: &Value) -> Value {
        let payment = self.shop.initiate(&self.session, self.minor, more).id();
        let paid = self.shop.settled(&payment);
        assert_eq!(paid["payment_session_id"], self.session);
        assert_eq!(paid["status"], "SUCCESSFUL", "{paid}");
        paid
    }

    /// Checks that the session still pays.
    #[track_caller]
    pub(super) fn still_pays(&self) -> Value {
        self.still_pays_with(&json!({}))
    }

    fn picture(&self) -> Vec<Value> {
        let watched: Vec<&str> = self.watched.iter().map(String::as_str).collect();
        self.shop.picture(&watched)
    }
}

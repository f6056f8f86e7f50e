//! The server and the merchant that hostile calls are made against, and everything that callers can read of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::bodies::Case;
use crate::harness::{ApiAnswer, Start, VAULT_KEY, id_of_nothing};
use crate::valid_calls::{DescribedEndpoint, Fixture, is_look_up};

/// Sessions that a call can use up.
const SESSIONS: [&str; 3] = ["@session@", "@bare-session@", "@installment-session@"];

/// A server with a merchant that has objects of every kind.
pub(super) struct AttackedServer {
    pub(super) fixture: Fixture,
    /// The vault key of the server: a damaged key may be another valid one, and is accepted.
    vault_key: String,
    /// The number of answers by endpoint and code.
    answered: BTreeMap<(String, String), u32>,
}

impl AttackedServer {
    pub(super) fn start() -> AttackedServer {
        let fixture = Fixture::start(Start::default());
        let member = fixture.shop.join("member@shop.example");
        fixture.shop.call("remove-user", &json!({ "user_id": member })).ok();
        let world = AttackedServer { fixture, vault_key: VAULT_KEY.to_owned(), answered: BTreeMap::new() };
        world.refresh();
        world
    }

    /// Replaces the objects that an accepted call has used up.
    pub(super) fn refresh(&self) {
        if !self.enable() {
            SESSIONS.iter().for_each(|word| self.fixture.forget(word));
        }
        self.fixture.refresh();
        self.fixture.settle();
    }

    /// Reverts the switches that an accepted call may have changed. True when nothing was changed.
    fn enable(&self) -> bool {
        let Fixture { shop, server, .. } = &self.fixture;
        let changed = ["CARD", "INSTALLMENT"].map(|method| server.configure(shop, method, &json!({})).ok() == true);
        let resumed = server.admin("resume-merchant", &json!({ "merchant_id": shop.merchant_id })).ok() == true;
        !resumed && !changed.contains(&true)
    }

    /// Makes a call.
    pub(super) fn call(&self, case: &Case) -> ApiAnswer {
        let mut client = self.fixture.client(&case.package);
        if let Some(key) = &case.idempotency_key {
            client = client.idempotency_key(key);
        }
        client.post_bytes(&format!("/{}/{}", case.package, case.endpoint), &self.fill(&case.body))
    }

    /// The body with its placeholders replaced.
    fn fill(&self, body: &[u8]) -> Vec<u8> {
        match std::str::from_utf8(body) {
            Ok(text) if text.contains('@') => self.fixture.fill(text).into_bytes(),
            _ => body.to_vec(),
        }
    }

    /// Counts the answer of a call.
    pub(super) fn count(&mut self, case: &Case, answer: &ApiAnswer) {
        let code = if answer.status == 200 { "OK" } else { answer.code() };
        if code == "OK" && case.endpoint == "rotate-vault-key" {
            let body: Value = serde_json::from_slice(&case.body).expect("what was accepted is JSON");
            self.vault_key = body["vault_key"].as_str().expect("an accepted key is a text").to_owned();
        }
        let path = format!("{}/{}", case.package, case.endpoint);
        *self.answered.entry((path, code.to_owned())).or_default() += 1;
    }

    /// Checks that hostile calls reached the rules, beyond the parsing of arguments.
    pub(super) fn reached_the_rules(&self) {
        let total: u32 = self.answered.values().sum();
        let named = |is_wanted: fn(&str) -> bool| -> BTreeSet<String> {
            self.answered.keys().filter(|(_, code)| is_wanted(code)).map(|(name, _)| name.clone()).collect()
        };
        let (accepted, refused) = (named(|code| code == "OK"), named(|code| code != "OK"));
        let listed: BTreeSet<String> = self.fixture.endpoints.iter().map(DescribedEndpoint::path).collect();
        let codes: BTreeSet<&String> = self.answered.keys().map(|(_, code)| code).collect();
        eprintln!("{total} calls: {:#?}", self.answered);
        if total >= 1_000 {
            assert_eq!(named(|_| true), listed, "every endpoint that the documents list was called");
            // One without arguments takes every second body.
            let missing =
                |endpoint: &&DescribedEndpoint| !endpoint.arguments.is_empty() && !refused.contains(&endpoint.path());
            let missing: Vec<String> =
                self.fixture.endpoints.iter().filter(missing).map(DescribedEndpoint::path).collect();
            assert!(missing.is_empty(), "{missing:?} refused nothing");
            assert!(accepted.len() * 4 > listed.len() * 3, "accepted by {accepted:?} only");
            assert!(codes.iter().any(|code| *code == "NOT_FOUND") && codes.len() >= 4, "answered with {codes:?} only");
        }
    }

    /// True when an accepted call may have changed something.
    pub(super) fn may_change(&self, case: &Case) -> bool {
        !is_look_up(&case.endpoint)
    }

    /// Waits until the effects of an accepted call have been carried out; returns the number of commits by then.
    pub(super) fn settle_after(&self, case: &Case, answer: ApiAnswer) -> u64 {
        if case.endpoint == "initiate-payment-flow" {
            self.fixture.shop.settled(&answer.id());
            return self.fixture.settle();
        }
        if case.endpoint.ends_with("-payment")
            || ["challenge-dispute", "pay-checkout"].contains(&case.endpoint.as_str())
        {
            return self.fixture.settle();
        }
        self.fixture.commits_after(Duration::from_millis(3))
    }

    /// Everything that callers can read.
    pub(super) fn picture(&self) -> Vec<Value> {
        let Fixture { shop, server, .. } = &self.fixture;
        let page = json!({ "per_page": 100 });
        let merchant = json!({ "merchant_id": shop.merchant_id });
        let sessions = self.fixture.known_objects().into_iter().filter(|(word, _)| word.contains("session"));
        let sessions =
            sessions.map(|(_, id)| shop.sdk("retrieve-payment-session", &json!({ "payment_session_id": id })).body);
        let own = [
            without_time(server.admin("list-merchants", &page).body),
            server.admin("find-merchant", &merchant).body,
            server.admin("list-installations", &merchant).body,
            shop.call("list-activity-logs", &page).body,
            shop.call("balance-history", &page).body,
            shop.call("get-balance", &json!({})).body,
            shop.call("find-payment", &json!({ "payment_id": self.fixture.object("@payment@") })).body,
            shop.call("list-payments", &page).body,
            shop.call("list-checkouts", &page).body,
            shop.call("list-refunds", &page).body,
            shop.call("list-payouts", &page).body,
            shop.call("list-disputes", &page).body,
            shop.call("list-topups", &page).body,
            shop.call("list-metadata", &page).body,
            without_last_use(shop.call("list-keys", &page).body),
            shop.call("list-users", &page).body,
            shop.call("list-user-invitations", &page).body,
            shop.call("retrieve-current-plan", &json!({})).body,
        ];
        own.into_iter().chain(sessions).collect()
    }

    /// A well-formed request that is refused, to be damaged.
    pub(super) fn request_of_nothing(&self) -> Vec<u8> {
        let shop = &self.fixture.shop;
        let body = shop.initiation(&id_of_nothing(&self.fixture.object("@session@")), 100).to_string();
        let head = format!(
            "POST /merchants/initiate-payment-flow HTTP/1.1\r\nHost: till.example\r\nContent-Type: \
                application/json\r\nAuthorization: Bearer {}\r\nApi-Version: 2025-04-01\r\nIdempotency-Key: \
                hostile\r\nAccept: application/json\r\nContent-Length: {}\r\n\r\n",
            shop.key,
            body.len()
        );
        [head, body].concat().into_bytes()
    }

    /// Checks that the server still works, has not panicked, stops without an error, and leaves intact data.
    pub(super) fn is_sound(&mut self) {
        self.refresh();
        self.fixture.is_sound(&self.vault_key);
    }
}

/// A list of merchants without the times of test clocks, which move without a call.
fn without_time(mut merchants: Value) -> Value {
    for merchant in merchants["page"].as_array_mut().into_iter().flatten() {
        if let Some(test_clock) = merchant["test_clock"].as_object_mut() {
            test_clock.remove("now");
        }
    }
    merchants
}

/// A page of keys without the times of their last use, which every call changes.
fn without_last_use(mut page: Value) -> Value {
    for key in page["page"].as_array_mut().into_iter().flatten() {
        key["last_used_at"].take();
    }
    page
}

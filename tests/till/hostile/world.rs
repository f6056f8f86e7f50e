//! The server and the merchant that hostile calls are made against, and everything that callers can read of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::bodies::{Case, DescribedEndpoint};
use crate::harness::{ApiAnswer, CARD, Client, Server, Shop, Start, VAULT_KEY, id_of_nothing, temporary};

/// The first words in the names of endpoints that only read.
const QUERIES: [&str; 9] =
    ["find-", "list-", "get-", "retrieve-", "check-", "discover-", "balance-history", "available-", "status"];

/// A server with a merchant that has objects of every kind.
pub(super) struct AttackedServer {
    pub(super) server: Server,
    pub(super) shop: Shop,
    pub(super) endpoints: Vec<DescribedEndpoint>,
    names: Vec<(&'static str, String)>,
    payment: String,
    /// The number of fresh names that were given out.
    fresh: AtomicU64,
    is_team_used: bool,
    /// True when the spare installation was removed.
    is_spare_removed: bool,
    /// The vault key of the server: a damaged key may be another valid one, and is accepted.
    vault_key: String,
    /// The number of answers by endpoint and code.
    answered: BTreeMap<(String, String), u32>,
    log: PathBuf,
    _directory: TempDir,
}

impl AttackedServer {
    pub(super) fn start() -> AttackedServer {
        let (directory, [log]) = temporary(["log"]);
        let server = Start::default().with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8").recording(&log).server();
        let shop = server.shop();
        let endpoints = ["merchants", "sdk", "admin"].iter().flat_map(|package| endpoints(&server, package)).collect();
        let payment = shop.initiate(&shop.session(500), 500, &json!({ "external_id": "order-1" })).id();
        shop.settled(&payment);
        let mut world = AttackedServer {
            server,
            shop,
            endpoints,
            names: Vec::new(),
            payment,
            fresh: AtomicU64::new(0),
            is_team_used: false,
            is_spare_removed: false,
            vault_key: VAULT_KEY.to_owned(),
            answered: BTreeMap::new(),
            log,
            _directory: directory,
        };
        world.names = world.name_everything();
        world.settle();
        world
    }

    /// An object of every kind, by its placeholder in a case.
    fn name_everything(&self) -> Vec<(&'static str, String)> {
        let (shop, server) = (&self.shop, &self.server);
        let (customer, card) = shop.saved_card(&json!({ "customer_email": "ada@shop.example" }));
        let used = shop.payment(&self.payment)["payment_session_id"].as_str().expect("an id").to_owned();
        let other = server.admin("create-merchant", &json!({ "name": "Other", "currency": "THB" })).id();
        let tested = json!({ "name": "Tested", "currency": "THB", "test_clock": true });
        let tested = server.admin("create-merchant", &tested).id();
        let spare = server.admin("generate-key", &json!({ "merchant_id": shop.merchant_id, "name": "Spare" })).ok();
        let topup =
            server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": 900_000_000_009_u64 })).id();
        let newest =
            |list: &str, id: &str| shop.call(list, &json!({})).ok()["page"][0][id].as_str().expect("an id").to_owned();
        let single = shop.token_of(CARD, "SINGLE");
        shop.session_with(10, &json!({ "token": single }));
        let member = shop.join("member@shop.example");
        shop.call("remove-user", &json!({ "user_id": member })).ok();
        fill_cart(shop);
        let plans = shop.call("list-plans", &json!({})).ok();
        let plan = |place: usize| plans[place]["plan_id"].as_str().expect("an id").to_owned();
        vec![
            ("@user@", shop.join("user@shop.example")),
            ("@invitation@", shop.call("invite-user", &json!({ "email": "invited@shop.example" })).id()),
            ("@plan@", plan(1)),
            ("@other-plan@", plan(2)),
            ("@merchant@", shop.merchant_id.clone()),
            ("@other@", other),
            ("@soon@", soon(server, &tested)),
            ("@tested@", tested),
            ("@installation@", shop.installation_id.clone()),
            ("@spare-installation@", spare_installation(server, shop)),
            ("@session@", shop.session(10_000)),
            ("@bare-session@", shop.session_with(10_000, &json!({}))),
            ("@installment-session@", shop.installment_session(10_000, "merchant")),
            ("@used-session@", used),
            ("@checkout@", checkout(shop)),
            ("@payment@", self.payment.clone()),
            ("@held-payment@", held_payment(shop)),
            ("@taken-payment@", shop.pay(10_000)),
            ("@refund@", refund(shop)),
            ("@waiting-refund@", waiting_refund(shop)),
            ("@payout@", payout(shop)),
            ("@waiting-payout@", waiting_payout(shop)),
            ("@dispute@", decided_dispute(server, shop)),
            ("@open-dispute@", open_dispute(server, shop)),
            ("@event@", newest("list-events", "event_id")),
            ("@webhook@", webhook(shop)),
            ("@spare-contact@", spare_contact(shop)),
            ("@customer@", customer),
            ("@card@", card),
            ("@token@", shop.token_of(CARD, "MULTIPLE")),
            ("@used-token@", single),
            ("@key@", spare["key_id"].as_str().expect("a uid").to_owned()),
            ("@topup@", topup),
            ("@activity@", newest("list-activity-logs", "activity_log_id")),
            ("@entry@", newest("balance-history", "entry_id")),
        ]
    }

    /// Replaces the objects that an accepted call has used up.
    pub(super) fn refresh(&mut self) {
        let enabled = self.enable();
        for (word, make) in [
            ("@session@", (|shop: &Shop| shop.session(10_000)) as fn(&Shop) -> String),
            ("@bare-session@", |shop| shop.session_with(10_000, &json!({}))),
            ("@installment-session@", |shop| shop.installment_session(10_000, "merchant")),
        ] {
            let place = self.names.iter().position(|(known, _)| *known == word).expect("it was named");
            let known = json!({ "payment_session_id": self.names[place].1 });
            if !enabled || self.shop.sdk("retrieve-payment-session", &known).ok()["status"] != "ACTIVE" {
                self.names[place].1 = make(&self.shop);
            }
        }
        for (word, flag, make) in [
            ("@held-payment@", "capturable", held_payment as fn(&Shop) -> String),
            ("@taken-payment@", "reversible", |shop| shop.pay(10_000)),
        ] {
            let place = self.names.iter().position(|(known, _)| *known == word).expect("it was named");
            if self.shop.payment(&self.names[place].1)[flag] != true {
                self.names[place].1 = make(&self.shop);
            }
        }
        let place = self.names.iter().position(|(known, _)| *known == "@checkout@").expect("it was named");
        if self.shop.call("find-checkout", &json!({ "checkout_id": self.names[place].1 })).ok()["status"] != "OPEN" {
            self.names[place].1 = checkout(&self.shop);
        }
        self.refresh_contacts();
        let place = self.names.iter().position(|(known, _)| *known == "@waiting-refund@").expect("it was named");
        if self.shop.call("find-refund", &json!({ "refund_id": self.names[place].1 })).ok()["status"] != "PENDING" {
            self.names[place].1 = waiting_refund(&self.shop);
        }
        let place = self.names.iter().position(|(known, _)| *known == "@waiting-payout@").expect("it was named");
        if self.shop.call("find-payout", &json!({ "payout_id": self.names[place].1 })).ok()["status"] != "PENDING" {
            self.names[place].1 = waiting_payout(&self.shop);
        }
        let place = self.names.iter().position(|(known, _)| *known == "@open-dispute@").expect("it was named");
        if self.shop.call("find-dispute", &json!({ "dispute_id": self.names[place].1 })).ok()["status"] != "OPEN" {
            self.names[place].1 = open_dispute(&self.server, &self.shop);
        }
        let place = |word| self.names.iter().position(|(known, _)| *known == word).expect("it was named");
        let (place, tested) = (place("@soon@"), place("@tested@"));
        self.names[place].1 = soon(&self.server, &self.names[tested].1);
        if self.shop.call("retrieve-metadata", &json!({ "key": "cart" })).status != 200 {
            fill_cart(&self.shop);
        }
        if std::mem::take(&mut self.is_team_used) {
            self.refresh_team();
        }
        if std::mem::take(&mut self.is_spare_removed) {
            let spare = spare_installation(&self.server, &self.shop);
            let place = self.names.iter_mut().find(|(word, _)| *word == "@spare-installation@");
            place.expect("it was named").1 = spare;
        }
        self.settle();
    }

    /// A customer with a saved card, and another one, in the place of those that were removed.
    fn refresh_contacts(&mut self) {
        let place = |word| self.names.iter().position(|(known, _)| *known == word).expect("it was named");
        let (spare, customer, card) = (place("@spare-contact@"), place("@customer@"), place("@card@"));
        if self.shop.call("find-contact", &json!({ "contact_id": self.names[spare].1 })).status != 200 {
            self.names[spare].1 = spare_contact(&self.shop);
        }
        let found = self.shop.call("find-card", &json!({ "card_id": self.names[card].1 }));
        if found.status != 200 || !found.body["deleted_at"].is_null() {
            let (customer_id, card_id) = self.shop.saved_card(&json!({ "customer_email": "ada@shop.example" }));
            (self.names[customer].1, self.names[card].1) = (customer_id, card_id);
        }
    }

    /// A new member and a new invitation in the place of those that were used up.
    fn refresh_team(&mut self) {
        let email = |kind: &str| format!("{kind}-{}@shop.example", self.next_fresh());
        let user = self.shop.join(&email("user"));
        let invitation = self.shop.call("invite-user", &json!({ "email": email("invited") })).id();
        for (word, id) in self.names.iter_mut() {
            match *word {
                "@user@" => id.clone_from(&user),
                "@invitation@" => id.clone_from(&invitation),
                _ => {}
            }
        }
    }

    fn next_fresh(&self) -> u64 {
        self.fresh.fetch_add(1, Ordering::Relaxed)
    }

    /// Reverts the switches that an accepted call may have changed. True when nothing was changed.
    fn enable(&self) -> bool {
        let changed = ["CARD", "INSTALLMENT"].map(|method| {
            let body = json!({
                "merchant_id": self.shop.merchant_id, "payment_method": method, "acquirer": "sandbox", "enabled": true,
                "authorizes_without_capture": true,
            });
            self.server.admin("configure-payment-method", &body).ok() == true
        });
        let resumed =
            self.server.admin("resume-merchant", &json!({ "merchant_id": self.shop.merchant_id })).ok() == true;
        !resumed && !changed.contains(&true)
    }

    /// Makes a call.
    pub(super) fn call(&self, case: &Case) -> ApiAnswer {
        let mut client = match case.package.as_str() {
            "admin" => self.server.admin_client(),
            "merchants" => self.shop.client(),
            _ => self.server.client(),
        };
        if let Some(key) = &case.idempotency_key {
            client = client.idempotency_key(key);
        }
        client.post_bytes(&format!("/{}/{}", case.package, case.endpoint), &self.fill(&case.body))
    }

    /// The body with its placeholders replaced.
    fn fill(&self, body: &[u8]) -> Vec<u8> {
        let Ok(text) = std::str::from_utf8(body) else { return body.to_vec() };
        if !text.contains('@') {
            return body.to_vec();
        }
        let text = text.replace("@fresh@", &self.next_fresh().to_string());
        self.names.iter().fold(text, |text, (word, id)| text.replace(word, id)).into_bytes()
    }

    /// Counts the answer of a call.
    pub(super) fn count(&mut self, case: &Case, answer: &ApiAnswer) {
        let code = if answer.status == 200 { "OK" } else { answer.code() };
        self.is_team_used |= code == "OK" && matches!(case.endpoint.as_str(), "accept-invitation" | "remove-user");
        self.is_spare_removed |= code == "OK" && case.endpoint == "remove-installation";
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
        let listed: BTreeSet<String> = self.endpoints.iter().map(DescribedEndpoint::path).collect();
        let codes: BTreeSet<&String> = self.answered.keys().map(|(_, code)| code).collect();
        eprintln!("{total} calls: {:#?}", self.answered);
        if total >= 1_000 {
            assert_eq!(named(|_| true), listed, "every endpoint that the documents list was called");
            // One without arguments takes every second body.
            let missing =
                |endpoint: &&DescribedEndpoint| endpoint.takes_arguments() && !refused.contains(&endpoint.path());
            let missing: Vec<String> = self.endpoints.iter().filter(missing).map(DescribedEndpoint::path).collect();
            assert!(missing.is_empty(), "{missing:?} refused nothing");
            assert!(accepted.len() * 4 > listed.len() * 3, "accepted by {accepted:?} only");
            assert!(codes.iter().any(|code| *code == "NOT_FOUND") && codes.len() >= 4, "answered with {codes:?} only");
        }
    }

    /// True when an accepted call may have changed something.
    pub(super) fn may_change(&self, case: &Case) -> bool {
        !QUERIES.iter().any(|query| case.endpoint.starts_with(query))
    }

    /// The number of batches that the server has committed.
    pub(super) fn commits(&self) -> u64 {
        let text = self.server.metrics();
        let line = text.lines().find_map(|line| line.strip_prefix("till_commit_batches_total{verdict=\"committed\"} "));
        line.and_then(|count| count.parse().ok()).expect("the server counts its commits")
    }

    /// Waits until the effects of an accepted call have been carried out; returns the number of commits by then.
    pub(super) fn settle_after(&self, case: &Case, answer: ApiAnswer) -> u64 {
        if case.endpoint == "initiate-payment-flow" {
            self.shop.settled(&answer.id());
            return self.settle();
        }
        if case.endpoint.ends_with("-payment")
            || ["challenge-dispute", "pay-checkout"].contains(&case.endpoint.as_str())
        {
            return self.settle();
        }
        self.quiet(Duration::from_millis(3))
    }

    /// Waits until nothing is committed any more; returns the number of commits by then.
    pub(super) fn settle(&self) -> u64 {
        self.quiet(Duration::from_millis(25))
    }

    fn quiet(&self, pause: Duration) -> u64 {
        let mut before = self.commits();
        loop {
            thread::sleep(pause);
            let now = self.commits();
            if now == before {
                return now;
            }
            before = now;
        }
    }

    /// Everything that callers can read.
    pub(super) fn picture(&self) -> Vec<Value> {
        let (shop, server) = (&self.shop, &self.server);
        let page = json!({ "per_page": 100 });
        let merchant = json!({ "merchant_id": shop.merchant_id });
        let sessions = self.names.iter().filter(|(word, _)| word.contains("session"));
        let sessions =
            sessions.map(|(_, id)| shop.sdk("retrieve-payment-session", &json!({ "payment_session_id": id })).body);
        let own = [
            without_time(server.admin("list-merchants", &page).body),
            server.admin("find-merchant", &merchant).body,
            server.admin("list-installations", &merchant).body,
            shop.call("list-activity-logs", &page).body,
            shop.call("balance-history", &page).body,
            shop.call("get-balance", &json!({})).body,
            shop.call("find-payment", &json!({ "payment_id": self.payment })).body,
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
        let session = self.names.iter().find(|(word, _)| *word == "@session@").expect("it was named");
        let nothing = id_of_nothing(&session.1);
        let body = self.shop.initiation(&nothing, 100).to_string();
        let head = format!(
            "POST /merchants/initiate-payment-flow HTTP/1.1\r\nHost: till.example\r\nContent-Type: \
                application/json\r\nAuthorization: Bearer {}\r\nApi-Version: 2025-04-01\r\nIdempotency-Key: \
                hostile\r\nAccept: application/json\r\nContent-Length: {}\r\n\r\n",
            self.shop.key,
            body.len()
        );
        [head, body].concat().into_bytes()
    }

    /// Checks that the server still works, has not panicked, stops without an error, and leaves intact data.
    pub(super) fn is_sound(&mut self) {
        self.refresh();
        self.shop.pay(100);
        assert!(self.server.stop(), "it ends with exit code 0");
        let log = fs::read_to_string(&self.log).expect("the log was kept");
        assert!(!log.contains("panicked"), "{log}");
        let verified = self.server.command().arg("verify").env("TILL_VAULT_KEY", &self.vault_key).output();
        let verified = verified.expect("the binary can be started");
        let errors = String::from_utf8_lossy(&verified.stderr).into_owned();
        assert!(verified.status.success(), "{errors}");
    }
}

/// A customer without payments and cards.
fn spare_contact(shop: &Shop) -> String {
    shop.call("add-contact", &json!({ "contact_name": "Spare" })).id()
}

/// A payment that is authorized and not captured.
fn held_payment(shop: &Shop) -> String {
    let payment = shop.initiate(&shop.session(10_000), 10_000, &json!({ "capture": false })).id();
    shop.settled(&payment);
    payment
}

/// An open checkout.
fn checkout(shop: &Shop) -> String {
    let body = json!({
        "installation_id": shop.installation_id, "amount": 10_000, "currency": "THB",
        "return_url": "https://shop.example/done",
    });
    let url = shop.call("start-checkout", &body).id();
    url.rsplit('/').next().expect("a segment").to_owned()
}

/// A refund of a payment of its own.
fn refund(shop: &Shop) -> String {
    let body = json!({ "payment_id": shop.pay(100), "external_id": "return-1" });
    shop.call("refund-payment", &body).id()
}

/// A webhook whose deliveries fail at once, because its address refuses connections.
fn webhook(shop: &Shop) -> String {
    let body = json!({ "name": "A", "destination_url": "http://127.0.0.1:1/events", "events": ["*"] });
    shop.call("connect-webhook", &body).ok()["webhook_id"].as_str().expect("an id").to_owned()
}

/// A refund that waits for the operator.
fn waiting_refund(shop: &Shop) -> String {
    let payment = shop.initiate(&shop.session_of("4000000000007726", 100), 100, &json!({})).id();
    shop.settled(&payment);
    shop.call("refund-payment", &json!({ "payment_id": payment })).id()
}

/// A dispute about a payment of its own.
fn open_dispute(server: &Server, shop: &Shop) -> String {
    server.admin("open-dispute", &json!({ "merchant_id": shop.merchant_id, "payment_id": shop.pay(100) })).id()
}

/// A dispute that is decided.
fn decided_dispute(server: &Server, shop: &Shop) -> String {
    let id = open_dispute(server, shop);
    let body = json!({ "merchant_id": shop.merchant_id, "dispute_id": id, "outcome": "WON" });
    server.admin("close-dispute", &body).ok();
    id
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

/// An hour from now by the clock of a merchant.
fn soon(server: &Server, merchant: &str) -> String {
    let found = server.admin("find-merchant", &json!({ "merchant_id": merchant })).ok();
    (found["test_clock"]["now"].as_u64().expect("a time") + 3_600).to_string()
}

/// A payout that the sandbox completes.
fn payout(shop: &Shop) -> String {
    shop.call("send-payout", &json!({ "amount": 100, "external_id": "out-1" })).id()
}

/// A payout that waits for the operator.
fn waiting_payout(shop: &Shop) -> String {
    shop.call("send-payout", &json!({ "amount": 198 })).id()
}

/// An installation that no client uses.
fn spare_installation(server: &Server, shop: &Shop) -> String {
    let app = json!({ "merchant_id": shop.merchant_id, "name": "A", "platform": "IOS", "identifier": "a.b" });
    server.admin("add-installation", &app).id()
}

fn fill_cart(shop: &Shop) {
    shop.call("sync-metadata", &json!({ "key": "cart", "metadata": { "tags": ["a"] } })).ok();
}

/// A page of keys without the times of their last use, which every call changes.
fn without_last_use(mut page: Value) -> Value {
    for key in page["page"].as_array_mut().into_iter().flatten() {
        key["last_used_at"].take();
    }
    page
}

fn endpoints(server: &Server, package: &str) -> Vec<DescribedEndpoint> {
    let base = if package == "admin" { server.admin_address() } else { server.public() };
    let document = Client::new(base).get(&format!("/{package}")).ok();
    let endpoints = document["endpoints"].as_array().expect("a list of endpoints");
    endpoints.iter().map(|endpoint| DescribedEndpoint::from_document(package, endpoint)).collect()
}

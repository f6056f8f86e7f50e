//! The two processes of a campaign, and calls to them that are repeated until the one that runs has answered.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, RwLock};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Extent;
use crate::acquirers::account::{Account, OF_NOTICES, start};
use crate::acquirers::fake::{Remote, StripeFake};
use crate::harness::{ApiAnswer, Server, Shop, Start, run_command};

/// The pause before a call is repeated.
const PAUSE: Duration = Duration::from_millis(150);
/// The longest time that a payment is pending.
const PENDING_SECONDS: u64 = 3_600;
/// The time that the end of a payment may take beyond that, on a machine that does much else.
const GRACE: Duration = Duration::from_secs(120);

/// The server and the fake, with the accounts of two merchants, and what came of their payments.
pub(super) struct Field {
    pub(super) extent: Extent,
    pub(super) server: Mutex<Server>,
    pub(super) fake: Mutex<StripeFake>,
    pub(super) remote: Remote,
    /// The merchant who sends card numbers, and the one whose customers enter their cards at the acquirer's page.
    accounts: RwLock<[Account; 2]>,
    pub(super) ended: AtomicBool,
    outcomes: Mutex<BTreeMap<String, u64>>,
}

/// How a merchant's cards are entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Number,
    Page,
}

impl Field {
    /// Starts both, and lets the fake lose and break what it gets from then on.
    pub(super) fn open(extent: Extent, seed: u64) -> Field {
        let fake = StripeFake::start();
        let server = settings(&fake, extent).server();
        let rate = if extent.divisor == 1 { Value::Null } else { json!(100_000) };
        let settings = json!({ "rate_per_second": rate, "refund_pending_seconds": 2 });
        let accounts = ["NUMBER", "PAGE"].map(|entry| Account::open(&server, &fake, entry, &settings));
        let without_capture = json!({ "authorizes_without_capture": false });
        accounts[0].configure(&server, "PROMPTPAY", &without_capture).ok();
        fake.be_an_hour_late();
        fake.control("POST", "faults", &faults(seed));
        let notices = json!({ "seed": seed, "lost": 0.5, "doubled": 1.0, "delayed": 0.5, "delay_seconds": 2.0 });
        fake.control("POST", "notices", &notices);
        let field = Field {
            extent,
            remote: fake.remote(),
            fake: Mutex::new(fake),
            server: Mutex::new(server),
            accounts: RwLock::new(accounts),
            ended: AtomicBool::new(false),
            outcomes: Mutex::default(),
        };
        field.moved();
        field
    }

    /// Tells all of the server's present addresses.
    pub(super) fn moved(&self) {
        let (server, fake) = (self.server.lock().expect("no panic"), self.fake.lock().expect("no panic"));
        let mut accounts = self.accounts.write().expect("no panic");
        for account in accounts.iter_mut() {
            *account = account.on(&server);
            let url = format!("{}/acquirers/{}/notices", server.public(), account.acquirer_id);
            let webhook = json!({ "url": url, "secret": OF_NOTICES, "enabled_events": ["*"] });
            fake.control("POST", "accounts", &json!({ "account": account.name, "webhook": webhook }));
        }
    }

    pub(super) fn account(&self, entry: Entry) -> Account {
        let accounts = self.accounts.read().expect("no panic");
        accounts[if entry == Entry::Number { 0 } else { 1 }].clone()
    }

    /// Makes a call of a merchant, again and again, until a server has answered it.
    pub(super) fn ask(&self, entry: Entry, call: impl Fn(&Shop) -> ApiAnswer) -> ApiAnswer {
        self.until_answered(|| {
            let answer = call(&self.account(entry).shop);
            matches!(answer.status, 200 | 400).then_some(answer)
        })
    }

    /// Makes a call that changes something, under a key of its own.
    pub(super) fn change(&self, entry: Entry, endpoint: &str, body: &Value, key: &str) -> ApiAnswer {
        let path = format!("/merchants/{endpoint}");
        self.ask(entry, |shop| shop.client().idempotency_key(&format!("{key} {endpoint}")).post(&path, body))
    }

    /// Repeats what may be lost.
    pub(super) fn until_answered<T>(&self, mut attempt: impl FnMut() -> Option<T>) -> T {
        loop {
            if let Some(answer) = attempt() {
                return answer;
            }
            sleep(PAUSE);
        }
    }

    /// The first answer to a question about a payment or refund for which `is_done` holds. Fails when that takes longer
    /// than a payment is pending.
    pub(super) fn wait_for(
        &self,
        entry: Entry,
        endpoint: &str,
        named: &Value,
        is_done: impl Fn(&Value) -> bool,
    ) -> Value {
        let until = Instant::now() + Duration::from_secs(PENDING_SECONDS / self.extent.divisor) + GRACE;
        loop {
            let found = self.ask(entry, |shop| shop.call(endpoint, named)).ok();
            if is_done(&found) {
                return found;
            }
            assert!(Instant::now() < until, "{endpoint} has no end: {found}");
            sleep(PAUSE);
        }
    }

    pub(super) fn count(&self, what: String) {
        *self.outcomes.lock().expect("no panic").entry(what).or_default() += 1;
    }

    pub(super) fn end_faults(&self) {
        let fake = self.fake.lock().expect("no panic");
        fake.end_faults();
    }

    /// Customers of PromptPay tell the acquirer where their money goes, which refunds wait for.
    pub(super) fn claim_refunds(&self) -> Option<()> {
        let refunds = self.remote.control("GET", "refunds", &json!({}))?;
        for refund in refunds.as_array()?.iter().filter(|refund| refund["status"] == "requires_action") {
            let path = format!("refunds/{}/end", refund["id"].as_str()?);
            self.remote.control("POST", &path, &json!({ "status": "succeeded" }))?;
        }
        Some(())
    }

    /// Waits until no call to the acquirer is open.
    pub(super) fn settle(&self) {
        let server = self.server.lock().expect("no panic");
        let until = Instant::now() + GRACE;
        while server.metric("till_effects_open") != Some(0.0) {
            assert!(Instant::now() < until, "calls are still open");
            self.until_answered(|| self.claim_refunds());
            sleep(PAUSE);
        }
    }

    pub(super) fn report(&self) -> String {
        let outcomes = self.outcomes.lock().expect("no panic");
        let told: Vec<String> = outcomes.iter().map(|(what, count)| format!("{count} {what}")).collect();
        told.join(", ")
    }

    /// Stops the server, and verifies its files.
    pub(super) fn verify(&mut self) {
        let server = self.server.get_mut().expect("no panic");
        assert!(server.stop(), "a stop ends well");
        let (code, output, errors) = run_command(server.start_command(), &["verify"]);
        assert_eq!(code, Some(0), "{output}{errors}");
    }
}

/// The settings of the server.
fn settings(fake: &StripeFake, extent: Extent) -> Start {
    let pending = (PENDING_SECONDS / extent.divisor).to_string();
    start(fake, extent.divisor).with("TILL_PENDING_SECONDS_MAX", &pending)
}

/// What goes wrong, by chance.
fn faults(seed: u64) -> Value {
    let probabilities = json!({
        "lost_answer": 0.2, "lost_request": 0.1, "cut_answer": 0.05, "limited": 0.1, "stored_500": 0.05,
    });
    json!({ "seed": seed, "probabilities": probabilities })
}

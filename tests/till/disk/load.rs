//! Callers that write all the time, and remember the answers.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, CARD, Server, Shop, wait_until};

/// Callers at once.
const CALLERS: u64 = 8;

/// Bytes of an item: a few thousand items take a notable part of the disk.
const ITEM_BYTES: usize = 2_000;

/// The longest time that the test waits for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// The answers that callers got, over all lives of a server.
#[derive(Default)]
pub(super) struct Acknowledged {
    /// Items whose addition was acknowledged.
    added: Mutex<BTreeSet<String>>,
    /// Payments that were acknowledged.
    payments: Mutex<BTreeSet<String>>,
    /// The number of items of all calls.
    asked: AtomicU64,
    /// Calls that were done, and calls that were not done.
    pub(super) done: AtomicU64,
    pub(super) not_done: AtomicU64,
}

/// Running callers. They end when they are dropped, or when the server no longer answers.
pub(super) struct WritingLoad {
    stop: Arc<AtomicBool>,
    callers: Vec<JoinHandle<()>>,
}

impl WritingLoad {
    /// Starts callers that write to a merchant of this server.
    pub(super) fn start(shop: &Shop, acknowledged: &Arc<Acknowledged>) -> WritingLoad {
        let stop = Arc::new(AtomicBool::new(false));
        let caller = |number: u64| {
            let (shop, acknowledged, stop) = (shop.clone(), Arc::clone(acknowledged), Arc::clone(&stop));
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let is_there = if number == 0 { acknowledged.pay(&shop) } else { acknowledged.add(&shop) };
                    if !is_there {
                        return;
                    }
                }
            })
        };
        WritingLoad { stop: Arc::clone(&stop), callers: (0..CALLERS).map(caller).collect() }
    }

    /// Ends the load, and returns once no caller calls any more.
    pub(super) fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.callers.into_iter().for_each(|caller| caller.join().expect("a caller ends well"));
    }
}

impl Acknowledged {
    /// Adds an item; true when the server answered.
    fn add(&self, shop: &Shop) -> bool {
        let item = format!("{:08} {}", self.asked.fetch_add(1, Ordering::Relaxed), "x".repeat(ITEM_BYTES));
        let answer = shop.call("add-to-metadata-set", &json!({ "key": "items", "value": item }));
        self.note(&answer, || {
            self.added.lock().expect("no caller panics").insert(item[..8].to_owned());
        })
    }

    /// Makes a payment with its token and session; true when the server answered.
    fn pay(&self, shop: &Shop) -> bool {
        let card = json!({
            "number": CARD, "name": "Ada Example", "expiration_date": "12/49", "security_code": "123",
                "usage": "SINGLE",
        });
        let step = |answer: ApiAnswer| {
            let is_there = self.note(&answer, || ());
            let id = answer.body.as_str().filter(|_| answer.status == 200).map(str::to_owned);
            (is_there, id)
        };
        let (is_there, token) = step(shop.sdk("tokenize-card", &card));
        let Some(token) = token else { return is_there };
        let select = json!({ "amount": "100", "currency": "THB", "payment_method": "CARD", "token": token });
        let (is_there, session) = step(shop.sdk("select-payment-method", &select));
        let Some(session) = session else { return is_there };
        let (is_there, payment) = step(shop.initiate(&session, 100, &json!({})));
        self.payments.lock().expect("no caller panics").extend(payment);
        is_there
    }

    /// Records an answer: done, surely not done, or unknown. Any other answer is a fault.
    fn note(&self, answer: &ApiAnswer, done: impl FnOnce()) -> bool {
        match (answer.status, answer.code()) {
            (200, _) => {
                self.done.fetch_add(1, Ordering::Relaxed);
                done();
                true
            }
            (503, "UNAVAILABLE") => {
                let outcome = answer.details()["outcome"].clone();
                assert!(outcome == "not_done" || outcome == "unknown", "{}", answer.body);
                self.not_done.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(5)); // A shorter pause than Retry-After asks for.
                true
            }
            (0, _) => false,
            (status, _) => panic!("{status}: {}", answer.body),
        }
    }

    /// Waits until the count has grown by 20, or `or_else` holds.
    #[track_caller]
    pub(super) fn wait_for_more(&self, what: &str, count: &AtomicU64, mut or_else: impl FnMut() -> bool) {
        let before = count.load(Ordering::Relaxed);
        let has_grown = || count.load(Ordering::Relaxed) >= before + 20 || or_else();
        wait_until(PATIENCE, &format!("{what} did not come about"), has_grown);
    }

    /// Checks that everything that was acknowledged is there, and that every payment reaches its end.
    #[track_caller]
    pub(super) fn check(&self, shop: &Shop) {
        let found = items(shop);
        let missing: Vec<String> = self.added.lock().expect("no caller panics").difference(&found).cloned().collect();
        assert!(missing.is_empty(), "acknowledged and gone: {missing:?}");
        for payment in self.payments.lock().expect("no caller panics").iter() {
            assert_eq!(shop.settled(payment)["status"], "SUCCESSFUL", "{payment}");
        }
    }

    /// The numbers of acknowledged items and payments.
    pub(super) fn count(&self) -> (usize, usize) {
        let count = |acknowledged: &Mutex<BTreeSet<String>>| acknowledged.lock().expect("no caller panics").len();
        (count(&self.added), count(&self.payments))
    }
}

/// The beginnings of all stored items.
fn items(shop: &Shop) -> BTreeSet<String> {
    let (mut found, mut body) = (BTreeSet::new(), json!({ "key": "items" }));
    let mut answer = shop.call("retrieve-metadata", &body);
    loop {
        let record = answer.ok();
        let texts = record["metadata"].as_array().expect("an array").iter().filter_map(Value::as_str);
        found.extend(texts.map(|text| text[..8].to_owned()));
        // Some four thousand items are more than one answer can hold.
        if record["next"].is_null() {
            return found;
        }
        body = record["next"].clone();
        answer = shop.call("retrieve-metadata", &body);
    }
}

/// Checks the data of a stopped server.
#[track_caller]
pub(super) fn verify(server: &mut Server) {
    assert!(server.stop(), "a stop ends well");
    let output = server.command().arg("verify").output().expect("the binary can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "till verify: {}\n{}", text(&output.stdout), text(&output.stderr));
}

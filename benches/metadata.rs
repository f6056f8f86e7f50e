//! The cost of adding an item to a set for a caller, by the size of the set: add-to-metadata-set over HTTP against the
//! real binary on a real disk, durable: the ratio of the large set's cost to the small one's, with one connection and
//! with many. `TILL_BENCH_DATA` names a directory with a store, `data`, in which the bench runs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use ureq::Agent;

mod server;

use server::{ADMIN_TOKEN, BenchServer, agent, post, temporary};

const CONNECTIONS: usize = 64;
/// Items in the sets that are compared.
const SIZES: [usize; 2] = [10, 100_000];
/// Items that each set gets in each round of the comparison, in turns; every round has a new small set.
const ADDED_PER_ROUND: usize = 128;
/// Rounds of the comparison.
const ROUNDS: usize = 21;

/// A merchant with a record for each size.
struct RecordOwner<'a> {
    server: &'a BenchServer,
    key: String,
    /// The number of the next item, so that no item is there already.
    next: AtomicUsize,
}

impl<'a> RecordOwner<'a> {
    fn create(server: &'a BenchServer) -> RecordOwner<'a> {
        let admin = |endpoint: &str, body: Value| {
            post(&agent(), &format!("{}/admin/{endpoint}", server.admin), ADMIN_TOKEN, &body)
        };
        let merchant_id = admin("create-merchant", json!({ "name": "Bench", "currency": "THB" }));
        let key = admin("generate-key", json!({ "merchant_id": merchant_id, "name": "Bench" }));
        let key = key["key"].as_str().expect("a key").to_owned();
        RecordOwner { server, key, next: AtomicUsize::new(0) }
    }

    fn call(&self, agent: &Agent, endpoint: &str, body: &Value) -> Value {
        post(agent, &format!("{}/merchants/{endpoint}", self.server.public), &self.key, body)
    }

    /// Makes a record with a set of a size, and returns its key.
    fn fill(&self, size: usize) -> String {
        let key = format!("set {} of {size}", self.next.fetch_add(1, Ordering::Relaxed));
        let items: Vec<usize> = (0..size).collect();
        self.call(&agent(), "sync-metadata", &json!({ "key": key, "metadata": { "set": items } }));
        // The array becomes a set.
        let first = json!({ "key": key, "path": "set", "value": 0 });
        assert_eq!(self.call(&agent(), "add-to-metadata-set", &first), json!(false));
        key
    }

    fn add(&self, agent: &Agent, key: &str) {
        let value = format!("item-{}", self.next.fetch_add(1, Ordering::Relaxed));
        let body = json!({ "key": key, "path": "set", "value": value });
        assert_eq!(self.call(agent, "add-to-metadata-set", &body), json!(true));
    }

    /// Adds `count` items over several connections, and returns the time that it took.
    fn add_many(&self, key: &str, count: usize, connections: usize) -> Duration {
        let left = AtomicUsize::new(count);
        let take = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..connections {
                scope.spawn(|| {
                    let agent = agent();
                    while take() {
                        self.add(&agent, key);
                    }
                });
            }
        });
        start.elapsed()
    }

    /// The ratio of the large set's cost to the small one's: the median over rounds in which both take turns.
    #[expect(clippy::float_arithmetic, reason = "a ratio of two times")]
    fn compare(&self, connections: usize) -> f64 {
        let [small, large] = SIZES;
        let large = self.fill(large);
        let seconds = |key: &str| self.add_many(key, ADDED_PER_ROUND, connections).as_secs_f64();
        let mut ratios: Vec<f64> = (0..ROUNDS)
            .map(|_| self.fill(small))
            .map(|small| (seconds(&small), seconds(&large)))
            .map(|(small, large)| large / small)
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ROUNDS / 2]
    }
}

#[expect(clippy::print_stdout, reason = "a bench says what it found")]
fn main() {
    let temporary = temporary();
    let directory = std::env::var_os("TILL_BENCH_DATA").map_or(temporary.path().to_owned(), PathBuf::from);
    let server = BenchServer::start_in(&directory);
    let merchant = RecordOwner::create(&server);
    for connections in [1, CONNECTIONS] {
        let ratio = merchant.compare(connections);
        println!("{} items against {}, {connections} connections: {ratio:.2}", SIZES[1], SIZES[0]);
    }
}

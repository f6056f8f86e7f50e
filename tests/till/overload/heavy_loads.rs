//! Strangers who wake merchants whose records are large, and beside them the first calls of merchants with small ones.
//!
//! The suite makes it once with few records. `make fairness` (where `TILL_HEAVY_SECONDS` is set) makes it in turns with
//! the same calls alone, with as many records as a load may have to replay.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::heavy_load::{CAMPAIGN_P99_MAX, campaign, median};
use crate::harness::{Server, Shop, fetches_its_log};

const HEAVY: usize = 9;
const LIGHT: usize = 20;

/// Rounds of a campaign.
const ROUNDS: usize = 5;

/// The time that a first call may take in the suite, whose programs share the processors with other tests.
const SUITE_MAX: Duration = Duration::from_secs(1);

/// The memory that all loads at once may take: the row of docs/limits.md, "Memory".
const LOADS_BYTES: u64 = 120 << 20;

/// What a server takes besides that fetches the merchants' logs first: its memtables, in the same table.
const MEMTABLES_BYTES: u64 = 256 << 20;

/// Merchants of a server that can be started again, when none of them is loaded.
struct Merchants {
    server: Server,
    /// With large records, and a payment session of each.
    heavy: Vec<(Shop, String)>,
    light: Vec<Shop>,
}

impl Merchants {
    fn with_records(count: usize) -> Merchants {
        let server = Server::start();
        let heavy: Vec<(Shop, String)> =
            (0..HEAVY).map(|_| server.shop()).map(|shop| (shop.clone(), shop.session(100))).collect();
        let light = (0..LIGHT).map(|_| server.shop()).collect();
        let document = json!({ "key": "large", "metadata": { "text": "x".repeat(900_000) } });
        // One after the other: large calls that wait for each other are refused after a while.
        for (shop, _) in &heavy {
            (0..count).for_each(|_| _ = shop.call("sync-metadata", &document).ok());
        }
        Merchants { server, heavy, light }
    }

    /// The longest first call of a light merchant, while strangers wake so many heavy ones.
    fn longest_first_call(&mut self, woken: usize) -> Duration {
        self.server.restart();
        let server = &self.server;
        let before = server.resident_bytes_max();
        let longest = thread::scope(|scope| {
            for (shop, session) in &self.heavy[..woken] {
                scope.spawn(move || {
                    let answer =
                        shop.on(server).sdk("cancel-payment-session", &json!({ "payment_session_id": session }));
                    assert!(answer.status < 500, "{}", answer.body);
                });
            }
            self.light.iter().map(|shop| first_call(&shop.on(server))).max().expect("there are some")
        });
        let grown = server.resident_bytes_max() - before;
        println!("  {woken} woken: the longest first call {longest:.1?}, {} MiB more resident", grown >> 20);
        let fetched = if fetches_its_log() { MEMTABLES_BYTES } else { 0 };
        assert!(grown < LOADS_BYTES + fetched, "{} MiB", grown >> 20);
        longest
    }
}

fn first_call(shop: &Shop) -> Duration {
    let asked = Instant::now();
    shop.call("add-to-metadata-set", &json!({ "key": "light", "value": 1 })).ok();
    asked.elapsed()
}

#[test]
fn merchants_with_large_records_delay_no_first_call_of_others() {
    if campaign().is_none() {
        assert!(Merchants::with_records(12).longest_first_call(HEAVY) < SUITE_MAX);
        return;
    }
    let mut merchants = Merchants::with_records(240);
    let mut rounds = |woken: usize| merchants.longest_first_call(woken);
    let (alone, beside): (Vec<_>, Vec<_>) = (0..ROUNDS).map(|_| (rounds(0), rounds(HEAVY))).unzip();
    let (alone, beside) = (median(alone), median(beside));
    println!(
        "the longest first call, medians: {alone:.1?} alone, {beside:.1?} beside {HEAVY} merchants that are woken"
    );
    assert!(beside < CAMPAIGN_P99_MAX.max(2 * alone), "{beside:.1?}, alone {alone:.1?}");
}

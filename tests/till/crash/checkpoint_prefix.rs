//! A checkpoint that is taken under load has a prefix of every merchant's log: no record is missing in it, and none
//! differs from the log that was continued.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::harness::{Server, TestDice};

use super::exported_log;
use super::round::Round;

/// The duration of the load before the checkpoint and after it.
const LOAD: Duration = Duration::from_millis(300);

/// Takes a checkpoint of a running server.
fn take(server: &Server) {
    let output = server.command().args(["checkpoint", "create", "--name", "under-load"]).output();
    let output = output.expect("the binary can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_checkpoint_under_load_has_exactly_a_beginning_of_every_log() {
    let mut round = Round::begin(TestDice::seed("TILL_CRASH_SEED"));
    round.load_until("checkpoint", |server| {
        thread::sleep(LOAD);
        server.shop(); // The merchant is acknowledged before the checkpoint, which must contain it.
        take(server);
        thread::sleep(LOAD);
        server.kill();
    });
    let taken = exported_log::read(&round.server.data().join("checkpoints").join("under-load"));
    round.end();
    let whole = exported_log::read(round.server.data());
    assert_eq!(taken.keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>(), "the merchants were there before");
    for (merchant_id, beginning) in &taken {
        let log = &whole[merchant_id];
        assert!(log.starts_with(beginning), "{merchant_id}: {} records of {}", beginning.len(), log.len());
    }
    let count = |logs: &BTreeMap<String, Vec<Value>>| logs.values().map(Vec::len).sum::<usize>();
    println!("{} records of {}", count(&taken), count(&whole));
    assert!(count(&taken) > taken.len() && count(&taken) < count(&whole), "the load went on before and afterwards");
}

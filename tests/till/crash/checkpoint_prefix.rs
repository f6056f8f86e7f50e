//! A checkpoint that is taken under load has a beginning of every merchant's log: nothing is missing in it, and nothing
//! in it is otherwise than in the log that went on.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{Dice, Server, Start};

use super::round::Round;

/// How long the load lasts before the checkpoint and after it.
const LOAD: Duration = Duration::from_millis(300);

/// Takes a checkpoint of a running server.
fn take(server: &Server) {
    let output = server.command().args(["checkpoint", "create", "--name", "under-load"]).output();
    let output = output.expect("the binary can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The lines of each merchant's log, in their order, of a data directory or a checkpoint that no server uses.
fn logs(directory: &Path) -> BTreeMap<String, Vec<Value>> {
    let place = TempDir::new().expect("a temporary directory can be made");
    let to = place.path().join("export");
    let mut command = Start::default().command(directory);
    let output =
        command.args(["export", "--what", "log", "--to"]).arg(&to).output().expect("the binary can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(to.join("log.jsonl")).expect("it was written");
    let mut logs: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("a JSON object a line");
        let merchant_id = line["merchant_id"].as_str().expect("an id").to_owned();
        logs.entry(merchant_id).or_default().push(line);
    }
    logs
}

#[test]
fn a_checkpoint_under_load_has_exactly_a_beginning_of_every_log() {
    let mut round = Round::begin(Dice::seed("TILL_CRASH_SEED"));
    round.load_until("checkpoint", |server| {
        thread::sleep(LOAD);
        server.shop(); // Its merchant was acknowledged before, so it must be among those of the checkpoint.
        take(server);
        thread::sleep(LOAD);
        server.kill();
    });
    let taken = logs(&round.server.data().join("checkpoints").join("under-load"));
    round.end();
    let whole = logs(round.server.data());
    assert_eq!(taken.keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>(), "the merchants were there before");
    for (merchant_id, beginning) in &taken {
        let log = &whole[merchant_id];
        assert!(log.starts_with(beginning), "{merchant_id}: {} records of {}", beginning.len(), log.len());
    }
    let count = |logs: &BTreeMap<String, Vec<Value>>| logs.values().map(Vec::len).sum::<usize>();
    println!("{} records of {}", count(&taken), count(&whole));
    assert!(count(&taken) > taken.len() && count(&taken) < count(&whole), "the load went on before and afterwards");
}

//! The merchants' logs as `till export` writes them.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Start, temporary};

/// The lines of each merchant's log, in order, of a data directory or a checkpoint that no server uses.
pub(crate) fn read(directory: &Path) -> BTreeMap<String, Vec<Value>> {
    let (_place, [to]) = temporary(["export"]);
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

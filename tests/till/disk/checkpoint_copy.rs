//! Checkpoints that are copied to another disk, which has too little space for them.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::harness::{Start, Volume};

use super::MIB;
use super::filler::Filler;

/// The reserve.
const RESERVE_BYTES: u64 = 16 * MIB;

/// The directories in a directory: checkpoints, finished or not.
fn checkpoints(shelf: &Path) -> Vec<String> {
    let entries = fs::read_dir(shelf).expect("readable").flatten().filter(|entry| entry.path().is_dir());
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[test]
fn a_copy_that_would_use_the_reserve_is_refused_and_removed() {
    let disk = Volume::made(128 * MIB);
    let shelf = disk.path().join("shelf");
    fs::create_dir(&shelf).expect("writable");
    let start = Start::default().with("TILL_DISK_RESERVE_BYTES", &RESERVE_BYTES.to_string());
    let server = start.with("TILL_CHECKPOINT_DIRECTORY", shelf.to_str().expect("ASCII")).server();
    server.shop().pay(100);
    let filler = Filler::leaving(&disk.path(), RESERVE_BYTES);
    let refused = server.admin("create-checkpoint", &json!({ "name": "none" }));
    refused.refused("CONFLICT");
    assert!(refused.body[1].as_str().is_some_and(|text| text.contains("free on the disk of")), "{}", refused.body);
    assert_eq!(checkpoints(&shelf), Vec::<String>::new());
    assert!(!server.data().join("checkpoint-staging").exists());
    drop(filler);
    server.admin("create-checkpoint", &json!({ "name": "one" })).ok();
    assert_eq!(checkpoints(&shelf), ["one"]);
}

//! Reads the batches of payments from RocksDB's log of a killed server.

use std::path::Path;

use anyhow::{Context, ensure};
use rocksdb::{DB, Options};
use serde_json::{Value, json};
use till_storage::family::Family;

use super::write_ahead::Writes;

/// Reads the batches with records in them, oldest first.
pub(super) fn read(data: &Path) -> anyhow::Result<Vec<Writes>> {
    let names = std::iter::once("default").chain(Family::ALL.map(Family::name));
    let db = DB::open_cf_for_read_only(&Options::default(), data.join("db"), names, false)
        .context("failed to open the killed server's store")?;
    let mut found = Vec::new();
    for batch in db.get_updates_since(1).context("failed to read its log")? {
        let writes = Writes::of(&batch?.1);
        if writes.records() > 0 {
            found.push(writes);
        }
    }
    ensure!(!found.is_empty(), "the log holds nothing: a server that was stopped, not killed, leaves none");
    Ok(found)
}

/// Prints the numbers of records and bytes in the log by kind.
pub(super) fn describe(data: &Path) -> anyhow::Result<()> {
    let found = read(data)?;
    let (initiations, others): (Vec<_>, Vec<_>) =
        found.iter().filter(|writes| writes.records() == 1).partition(|writes| writes.initiates());
    let report = json!({
        "records": found.iter().map(Writes::records).sum::<usize>(),
        "bytes": found.iter().map(|writes| writes.byte_count).sum::<usize>(),
        "initiation": kind(&initiations)?, "follow_up": kind(&others)?,
    });
    println!("{report}");
    Ok(())
}

/// The typical commit of a kind.
fn kind(commits: &[&Writes]) -> anyhow::Result<Value> {
    let mut commits = commits.to_vec();
    commits.sort_by_key(|writes| writes.byte_count);
    let median = commits.get(commits.len() / 2).context("the log holds no such commit")?;
    let of = |family: Family| median.writes.iter().filter(|((place, _), _)| *place == family).count();
    let families: serde_json::Map<String, Value> =
        Family::ALL.into_iter().map(|family| (family.name().to_owned(), json!(of(family)))).collect();
    Ok(json!({
        "commits": commits.len(), "median_bytes": median.byte_count, "writes": median.writes.len(),
        "families": families,
    }))
}

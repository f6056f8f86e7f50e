//! The floor of latency: one record appended, one sync, again and again.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;

/// Appends for `seconds` and prints the latencies of write and sync together.
pub(super) fn measure(directory: &Path, bytes: usize, seconds: u64) -> anyhow::Result<()> {
    let path = directory.join("fdatasync");
    let file = File::create(&path).with_context(|| format!("failed to make {}", path.display()))?;
    let micros = append_for(file, &vec![42; bytes], Duration::from_secs(seconds));
    std::fs::remove_file(&path)?;
    let mut micros = micros?;
    micros.sort_unstable();
    let of = |percent: usize| micros[(micros.len() - 1) * percent / 100];
    let report = json!({
        "bytes": bytes, "syncs": micros.len(), "p50_micros": of(50), "p99_micros": of(99),
        "rate": u64::try_from(micros.len())? / seconds,
    });
    println!("{report}");
    Ok(())
}

fn append_for(mut file: File, record: &[u8], span: Duration) -> anyhow::Result<Vec<u64>> {
    let mut micros = Vec::new();
    let start = Instant::now();
    while micros.is_empty() || start.elapsed() < span {
        let before = Instant::now();
        file.write_all(record)?;
        file.sync_data()?;
        micros.push(u64::try_from(before.elapsed().as_micros())?);
    }
    Ok(micros)
}

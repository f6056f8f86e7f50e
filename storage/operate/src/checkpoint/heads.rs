//! The heads of all logs: a line each of merchant, sequence and hash.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use till_domain::ids::MerchantId;
use till_storage::engine::StoppedStore;
use till_storage::journal::Head;
use till_storage::journal::layout::each_log;

use super::CheckpointError;

/// Writes the heads of a store into a new file, durable, and counts them.
pub(super) fn write(store: &StoppedStore, path: &Path) -> Result<u64, CheckpointError> {
    let failed = |source| CheckpointError::files("write", path)(source);
    let mut file = BufWriter::new(File::create_new(path).map_err(failed)?);
    let mut count = 0;
    each_log(store, &mut |merchant_id, head| {
        count += 1;
        file.write_all(line(merchant_id, &head).as_bytes()).map_err(failed)
    })?;
    let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    Ok(count)
}

/// The first merchant whose head in the store differs from the one in the file; none when all are equal.
pub(super) fn first_difference(store: &StoppedStore, path: &Path) -> Result<Option<String>, CheckpointError> {
    let failed = |source| CheckpointError::files("read", path)(source);
    let mut lines = BufReader::new(File::open(path).map_err(failed)?).lines();
    let mut different = None;
    each_log(store, &mut |merchant_id, head| -> Result<(), CheckpointError> {
        let listed = lines.next().transpose().map_err(failed)?;
        if different.is_none() && listed.as_deref() != Some(line(merchant_id, &head).trim_end()) {
            different = Some(merchant_id.to_string());
        }
        Ok(())
    })?;
    let more = lines.next().transpose().map_err(failed)?;
    Ok(different.or(more))
}

fn line(merchant_id: MerchantId, head: &Head) -> String {
    format!("{merchant_id} {} {}\n", head.sequence, blake3::Hash::from_bytes(head.hash))
}

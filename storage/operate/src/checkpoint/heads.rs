//! The heads of all logs: a line each of merchant, sequence and hash.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use till_domain::ids::MerchantId;
use till_storage::engine::StoppedStore;
use till_storage::journal::{Head, JournalError};

/// Heads read at once.
const PAGE: usize = 1_024;

/// The error of noting or comparing heads.
pub(super) enum HeadsError {
    Store(JournalError),
    File(io::Error),
}

/// Writes the heads of a store into a new file, durable, and counts them.
pub(super) fn write(store: &StoppedStore, path: &Path) -> Result<u64, HeadsError> {
    let mut file = BufWriter::new(File::create_new(path).map_err(HeadsError::File)?);
    let mut count = 0;
    each(store, &mut |merchant_id, head| {
        count += 1;
        file.write_all(line(merchant_id, &head).as_bytes())
    })?;
    let file = file.into_inner().map_err(|error| HeadsError::File(error.into_error()))?;
    file.sync_all().map_err(HeadsError::File)?;
    Ok(count)
}

/// The first merchant whose head in the store differs from the one in the file; none when all are equal.
pub(super) fn first_difference(store: &StoppedStore, path: &Path) -> Result<Option<String>, HeadsError> {
    let mut lines = BufReader::new(File::open(path).map_err(HeadsError::File)?).lines();
    let mut different = None;
    each(store, &mut |merchant_id, head| {
        let listed = lines.next().transpose()?;
        if different.is_none() && listed.as_deref() != Some(line(merchant_id, &head).trim_end()) {
            different = Some(merchant_id.to_string());
        }
        Ok(())
    })?;
    let more = lines.next().transpose().map_err(HeadsError::File)?;
    Ok(different.or(more))
}

fn each(store: &StoppedStore, take: &mut dyn FnMut(MerchantId, Head) -> io::Result<()>) -> Result<(), HeadsError> {
    let mut after = None;
    loop {
        let page = store.heads(after, PAGE).map_err(HeadsError::Store)?;
        let Some(&(last, _)) = page.last() else { return Ok(()) };
        // The store itself has a head and no log.
        for (merchant_id, head) in page.into_iter().filter(|(_, head)| *head != Head::EMPTY) {
            take(merchant_id, head).map_err(HeadsError::File)?;
        }
        after = Some(last);
    }
}

fn line(merchant_id: MerchantId, head: &Head) -> String {
    format!("{merchant_id} {} {}\n", head.sequence, blake3::Hash::from_bytes(head.hash))
}

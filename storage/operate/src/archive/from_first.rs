//! The beginning of a restore without a checkpoint: a store without commits, as the archived one was before its first.

use std::path::Path;

use till_storage::engine::{Engine, EngineOptions, Unlogged};
use till_storage::family::Family;
use till_storage::journal::CommitNumber;
use till_storage::keys::MetaKey;
use till_storage::vault::VaultKey;

use crate::checkpoint::Restoring;
use crate::overlay::Overlay;

use super::ArchiveError;
use super::chain::SegmentChain;
use super::reading::{SegmentItem, SegmentReader};
use super::target::check_begin;

/// Makes a store without commits, with the identity of the one that was archived and with its key ring.
///
/// # Errors
/// [`ArchiveError`]: the archive is damaged, or the store cannot be made.
pub fn begin_with_first(options: &EngineOptions, archive: &Path, keyring: Vec<u8>) -> Result<Restoring, ArchiveError> {
    let chain = SegmentChain::read(archive)?;
    Engine::open(options)?.close().map_err(ArchiveError::store)?;
    let restoring = Restoring::of_new_store(archive, &options.directory).map_err(ArchiveError::store)?;
    let overlay = Overlay::new(Unlogged::restoring(options)?);
    overlay.set(Family::Meta, MetaKey::Identity.encode().to_vec(), Some(chain.store()?.0.to_vec()));
    overlay.set(Family::Vault, VaultKey::Keyring.encode().to_vec(), Some(keyring));
    overlay.finish()?;
    Ok(restoring)
}

/// The key ring of an archive that begins with the first commit, as it was wrapped last: each replacement of the vault
/// key wraps the same keys again. Reads the whole archive.
///
/// # Errors
/// [`ArchiveError`]: the archive begins later, or is damaged.
pub fn archived_keyring(archive: &Path) -> Result<Vec<u8>, ArchiveError> {
    let chain = SegmentChain::read(archive)?;
    check_begin(&chain, CommitNumber(0))?;
    let (key, mut newest) = (VaultKey::Keyring.encode(), None);
    for segment in &chain.segments {
        let mut reader = SegmentReader::open(segment)?;
        while let SegmentItem::Commit(commit) = reader.next()? {
            newest = commit.vault.into_iter().rfind(|row| row.key == key).and_then(|row| row.value).or(newest);
        }
    }
    newest.ok_or_else(|| ArchiveError::store("the archive has no key ring"))
}

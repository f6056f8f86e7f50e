//! Restores a store to a moment: applies the commits of an archive after a checkpoint, in order, to the checkpoint's
//! copy.
//!
//! Records and rows of the vault are written as they are in the archive, and rows are derived as they were when the
//! record was written; a verification compares all of them afterwards. The restored store has an identity of its own,
//! so that it does not continue an archive of the original store.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use till_domain::ids::{KeyId, MerchantId};
use till_storage::archive_queue::VaultChange;
use till_storage::engine::StoreIdentity;
use till_storage::engine::{EngineOptions, Unlogged, mark_copy};
use till_storage::family::Family;
use till_storage::journal::layout::{self, read_meta_number};
use till_storage::journal::{CommitNumber, EncodedRecord, Head, LogRecord, StoredRecord, record};
use till_storage::keys::{GivenUpKey, HeadKey, JournalKey, MetaKey, UnarchivedKey, encode_head};
use till_storage::rows::RowReader;
use till_storage::shapes::MerchantReader;
use till_storage::vault::{Keyring, VaultKey};

use crate::acquirer_book::AcquirerBook;
use crate::overlay::Overlay;

use super::agreement::Agreement;
use super::chain::SegmentChain;
use super::commit::ArchivedCommit;
use super::fold::fold;
use super::forgetting::Forgotten;
use super::reading::{SegmentItem, SegmentReader};
use super::revoked::RevokedLater;
use super::snapshots::take_snapshot;
use super::target::check_begin;
use super::{ArchiveError, Until};

/// The result of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The last commit in the restored store.
    pub last: CommitNumber,
    /// The time of the last record that was applied, in milliseconds; none when no record was applied.
    pub last_at_ms: Option<u64>,
    /// Commits that were applied.
    pub applied: u64,
    /// Commits of the archive that were not applied, because they are later.
    pub left_out: u64,
    /// Persons who were forgotten later, and are forgotten in the restored store as well.
    pub forgotten: u64,
    /// Keys that were revoked later, and are valid again.
    pub valid_again: Vec<(MerchantId, KeyId)>,
    /// Bytes of an unfinished write at the archive's end.
    pub torn: u64,
    /// The first error in the archive after the moment of the restore.
    pub unread: Option<String>,
}

/// Gives the copy of a checkpoint an identity of its own, and empties its queue before the archive.
///
/// # Errors
/// [`ArchiveError`].
pub fn begin_anew(options: &EngineOptions) -> Result<(), ArchiveError> {
    let overlay = Overlay::new(Unlogged::restoring(options)?);
    let last = last_commit(&overlay)?;
    become_another(&overlay)?;
    overlay.finish()?;
    Ok(mark_copy(&options.directory, last)?)
}

/// Applies the commits of an archive to the copy of a checkpoint and to its book, up to a moment; `tell` is called with
/// the number of commits read.
///
/// # Errors
/// [`ArchiveError`]: the archive is damaged, has a gap, or does not fit the checkpoint. The copy must not be used then.
pub fn restore_to(
    options: &EngineOptions,
    archive: &Path,
    until: Until,
    keyring: &Arc<Keyring>,
    book: &mut dyn AcquirerBook,
    tell: &mut dyn FnMut(u64),
) -> Result<Restored, ArchiveError> {
    let chain = SegmentChain::read(archive)?;
    let overlay = Overlay::new(Unlogged::restoring(options)?);
    let base = last_commit(&overlay)?;
    check_begin(&chain, base)?;
    let mut replay = ArchiveReplay::new(&overlay, keyring, Agreement::of(book), until, base);
    replay.read(&chain, tell)?;
    let restored = replay.finish()?;
    overlay.finish()?;
    mark_copy(&options.directory, restored.last)?;
    Ok(restored)
}

fn last_commit(overlay: &Overlay) -> Result<CommitNumber, ArchiveError> {
    let last = read_meta_number(overlay, MetaKey::LastCommit)?;
    Ok(CommitNumber(last.map_or(0, u64::from_be_bytes)))
}

fn become_another(overlay: &Overlay) -> Result<(), ArchiveError> {
    let identity = StoreIdentity::draw().map_err(ArchiveError::store)?;
    overlay.set(Family::Meta, MetaKey::Identity.encode().to_vec(), Some(identity.0.to_vec()));
    Ok(overlay.clear(Family::Meta, &UnarchivedKey::range_after(CommitNumber(0)))?)
}

struct ArchiveReplay<'a> {
    overlay: &'a Overlay,
    keyring: &'a Arc<Keyring>,
    book: Agreement<'a>,
    until: Until,
    /// The last commit of the checkpoint.
    base: CommitNumber,
    /// The last commit read.
    position: CommitNumber,
    touched: BTreeSet<MerchantId>,
    starts: u64,
    forgotten: Forgotten,
    revoked: RevokedLater,
    restored: Restored,
}

impl<'a> ArchiveReplay<'a> {
    fn new(
        overlay: &'a Overlay,
        keyring: &'a Arc<Keyring>,
        book: Agreement<'a>,
        until: Until,
        base: CommitNumber,
    ) -> ArchiveReplay<'a> {
        let restored = Restored {
            last: base,
            last_at_ms: None,
            applied: 0,
            left_out: 0,
            forgotten: 0,
            valid_again: Vec::new(),
            torn: 0,
            unread: None,
        };
        let (touched, forgotten, revoked) = (BTreeSet::new(), Forgotten::default(), RevokedLater::default());
        let position = base;
        ArchiveReplay {
            overlay,
            keyring,
            book,
            until,
            base,
            position,
            touched,
            starts: 0,
            forgotten,
            revoked,
            restored,
        }
    }

    /// Reads the chain to its end: persons who were forgotten later are forgotten here too.
    fn read(&mut self, chain: &SegmentChain, tell: &mut dyn FnMut(u64)) -> Result<(), ArchiveError> {
        let base = self.base;
        for segment in chain.segments.iter().filter(|segment| segment.last().is_none_or(|last| last >= base)) {
            if segment.base > self.position && !self.until.is_reached_at(self.position) {
                let (first, last) = (self.position.next(), segment.base);
                return Err(ArchiveError::Gap { archive: chain.directory.clone(), first, last });
            }
            let read = SegmentReader::open(segment).and_then(|reader| self.read_segment(reader, tell));
            match read {
                Err(error) if self.until.is_reached_at(self.position) => {
                    self.restored.unread = Some(error.chain());
                    return Ok(());
                }
                read => read?,
            }
        }
        Ok(())
    }

    fn read_segment(&mut self, mut reader: SegmentReader, tell: &mut dyn FnMut(u64)) -> Result<(), ArchiveError> {
        loop {
            match reader.next()? {
                SegmentItem::Commit(commit) => self.visit_commit(&commit)?,
                SegmentItem::Ended { torn } => {
                    self.restored.torn = torn;
                    return Ok(());
                }
            }
            tell(self.position.0.saturating_sub(self.base.0));
        }
    }

    fn visit_commit(&mut self, commit: &ArchivedCommit) -> Result<(), ArchiveError> {
        if commit.commit <= self.base {
            return if commit.commit == self.base { self.check_same(commit) } else { Ok(()) };
        }
        self.position = commit.commit;
        let unfit = |reason| ArchiveError::Unfit { commit: commit.commit, reason };
        if !self.until.wants(commit).map_err(unfit)? {
            self.restored.left_out += 1;
            self.forgotten.note(&commit.vault);
            if let Err(reason) = self.revoked.note(commit, self.overlay) {
                self.restored.unread.get_or_insert(reason);
            }
            return Ok(());
        }
        self.note_given_up(commit);
        self.apply(commit).map_err(unfit)?;
        self.restored.applied += 1;
        self.restored.last = commit.commit;
        Ok(self.overlay.write_if_much()?)
    }

    /// Checks that the checkpoint's last commit is the archive's.
    fn check_same(&self, commit: &ArchivedCommit) -> Result<(), ArchiveError> {
        for bytes in &commit.records {
            let unfit = |reason: String| ArchiveError::Unfit { commit: commit.commit, reason };
            let record = record::decode(bytes).map_err(|error| unfit(error.to_string()))?;
            let key = JournalKey { merchant_id: commit.merchant_id, sequence: record.header.sequence };
            let stored = self.overlay.get(Family::Journal, &key.encode())?;
            if !stored.is_some_and(|stored| stored.ends_with(bytes)) {
                return Err(unfit("the checkpoint has another commit of this number".to_owned()));
            }
        }
        Ok(())
    }

    /// Notes numbers that the store left out: its operator gave them up.
    fn note_given_up(&self, commit: &ArchivedCommit) {
        if commit.before >= self.base && commit.before.next() < commit.commit {
            let key = GivenUpKey(commit.before.next()).encode().to_vec();
            let last = (commit.commit.0 - 1).to_be_bytes().to_vec();
            self.overlay.set(Family::Meta, key, Some(last));
        }
    }

    fn apply(&mut self, commit: &ArchivedCommit) -> Result<(), String> {
        // The checkpoint's key ring stays: a replacement of the vault key wraps the same keys again, and the restored
        // store belongs to the operator who gave the key of the checkpoint.
        let keyring = VaultKey::Keyring.encode();
        let of_persons = commit.vault.iter().filter(|row| row.key != keyring);
        let (kept, deleted): (Vec<&VaultChange>, Vec<_>) = of_persons.partition(|row| row.value.is_some());
        // A record is read with the keys that were made with it, and before the keys are gone that were removed
        // with it.
        kept.iter().for_each(|row| self.overlay.set(Family::Vault, row.key.clone(), row.value.clone()));
        let mut head = self.head_of(commit.merchant_id)?;
        for bytes in &commit.records {
            head = self.apply_record(commit, bytes, head)?;
        }
        deleted.iter().for_each(|row| self.overlay.set(Family::Vault, row.key.clone(), None));
        self.overlay.set(Family::Meta, HeadKey(commit.merchant_id).encode().to_vec(), Some(encode_head(head).to_vec()));
        layout::write_applied(commit.merchant_id, head, &mut &*self.overlay);
        self.touched.insert(commit.merchant_id);
        Ok(())
    }

    /// The end of a merchant's log, up to which its rows must be derived.
    fn head_of(&self, merchant_id: MerchantId) -> Result<Head, String> {
        let head = layout::read_head(self.overlay, merchant_id).map_err(|error| error.to_string())?;
        let applied = layout::read_applied(self.overlay, merchant_id).map_err(|error| error.to_string())?;
        match applied == head {
            true => Ok(head),
            false => Err(format!("the rows of {merchant_id} are not derived up to the end of its log")),
        }
    }

    fn apply_record(&mut self, commit: &ArchivedCommit, bytes: &[u8], head: Head) -> Result<Head, String> {
        let (merchant_id, stored) = (commit.merchant_id, StoredRecord { commit: commit.commit, bytes: bytes.to_vec() });
        let mut personal = MerchantReader::new(merchant_id, Some(Arc::clone(self.keyring)), self.overlay);
        let record = LogRecord::read_after(merchant_id, head, &stored, &personal).map_err(|error| error.to_string())?;
        let rows = fold(self.overlay, merchant_id, &record.mutation, &mut personal).map_err(|error| error.reason)?;
        for row in rows {
            self.book.add(merchant_id, row).map_err(|error| error.chain())?;
        }
        let head = record.head();
        let encoded = EncodedRecord { sequence: head.sequence, hash: head.hash, bytes: stored.bytes };
        layout::write_record(merchant_id, &encoded, commit.commit, &mut Vec::new(), &mut &*self.overlay);
        self.starts = self.starts.max(record.header.epoch.0 >> 32);
        self.restored.last_at_ms = self.restored.last_at_ms.max(Some(record.header.at_ms));
        Ok(head)
    }

    fn finish(mut self) -> Result<Restored, ArchiveError> {
        self.restored.forgotten = self.forgotten.apply(self.overlay, self.keyring)?;
        self.restored.valid_again = self.revoked.known_to(self.overlay)?;
        self.overlay.write()?;
        for merchant_id in &self.touched {
            take_snapshot(self.overlay, self.keyring, *merchant_id)?;
        }
        become_another(self.overlay)?;
        let last = self.restored.last.0.to_be_bytes().to_vec();
        self.overlay.set(Family::Meta, MetaKey::LastCommit.encode().to_vec(), Some(last));
        let starts = read_meta_number(self.overlay, MetaKey::Starts)?;
        // Epochs of later claims must be greater than all earlier ones.
        let starts = starts.map_or(0, u64::from_be_bytes).max(self.starts);
        self.overlay.set(Family::Meta, MetaKey::Starts.encode().to_vec(), Some(starts.to_be_bytes().to_vec()));
        self.book.finish()?;
        Ok(self.restored)
    }
}

//! The moment that a store is restored to, and the check that checkpoint and archive reach it.

use till_storage::engine::StoppedStore;
use till_storage::journal::{CommitNumber, layout, record};

use super::ArchiveError;
use super::chain::{SegmentChain, SegmentState};
use super::commit::ArchivedCommit;
use super::reading::SegmentReader;

/// The moment that a store is restored to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Everything that was archived.
    End,
    /// This commit, and every one before it.
    Commit(CommitNumber),
    /// Every commit whose recorded time is not after this one, in milliseconds since the Unix epoch.
    Moment(u64),
}

impl Until {
    /// True when a commit belongs in the restored store; an error when its time cannot be read. Times of one merchant
    /// never go back, so that the restored part of each log is its beginning.
    pub(super) fn wants(self, commit: &ArchivedCommit) -> Result<bool, String> {
        match self {
            Until::End => Ok(true),
            Until::Commit(last) => Ok(commit.commit <= last),
            Until::Moment(moment) => {
                let time = |bytes: &Vec<u8>| record::decode(bytes).map(|record| record.header.at_ms);
                let times: Result<Vec<u64>, _> = commit.records.iter().map(time).collect();
                Ok(times.map_err(|error| error.to_string())?.into_iter().all(|at| at <= moment))
            }
        }
    }

    /// True when no commit after this one is wanted.
    pub(super) fn is_reached_at(self, commit: CommitNumber) -> bool {
        match self {
            Until::Commit(last) => commit >= last,
            Until::End | Until::Moment(_) => false,
        }
    }
}

/// The time of the last commit of a store: the greatest of all logs.
///
/// # Errors
/// Fails when it cannot be read.
pub fn earliest_moment(store: &StoppedStore) -> Result<u64, ArchiveError> {
    let mut greatest = 0;
    layout::each_log(store, &mut |merchant_id, head| -> Result<(), ArchiveError> {
        let missing = || ArchiveError::store(format!("the last record of {merchant_id} is missing"));
        let stored = layout::read_record(store, merchant_id, head.sequence)?.ok_or_else(missing)?;
        greatest = greatest.max(record::decode(&stored.bytes).map_or(0, |record| record.header.at_ms));
        Ok(())
    })?;
    Ok(greatest)
}

/// Checks that a checkpoint's store can be restored to a moment with an archive. Returns the number of commits to read.
///
/// # Errors
/// [`ArchiveError`]: the archive belongs to another store, does not follow the checkpoint, or does not reach the
/// moment.
pub fn check_reach(store: &StoppedStore, archive: &std::path::Path, until: Until) -> Result<u64, ArchiveError> {
    let chain = SegmentChain::read(archive)?;
    let found = chain.store()?;
    let identity = store.identity().map_err(ArchiveError::store)?.ok_or(ArchiveError::NoIdentity)?;
    if identity != found {
        return Err(ArchiveError::OtherStore { archive: archive.to_owned(), found, store: identity });
    }
    let last = store.last_commit().map_err(ArchiveError::store)?;
    check_begin(&chain, last)?;
    let end = end_of(&chain)?.max(last);
    match until {
        Until::Commit(asked) if asked < last => {
            return Err(ArchiveError::BeforeCheckpoint { asked, earliest: last });
        }
        Until::Commit(asked) if asked > end => return Err(ArchiveError::BeyondEnd { asked, end }),
        Until::Moment(asked) => check_moment(store, asked)?,
        Until::Commit(_) | Until::End => {}
    }
    Ok(end.0 - last.0)
}

fn check_moment(store: &StoppedStore, asked: u64) -> Result<(), ArchiveError> {
    let earliest = earliest_moment(store)?;
    let refused = ArchiveError::BeforeItsMoment { asked_ms: asked, earliest_ms: earliest };
    if asked >= earliest { Ok(()) } else { Err(refused) }
}

/// Refuses an archive that begins after the checkpoint's last commit.
pub(super) fn check_begin(chain: &SegmentChain, last: CommitNumber) -> Result<(), ArchiveError> {
    let base = chain.base();
    let gap = || ArchiveError::Gap { archive: chain.directory.clone(), first: last.next(), last: base };
    if base > last { Err(gap()) } else { Ok(()) }
}

/// The last commit of an archive.
fn end_of(chain: &SegmentChain) -> Result<CommitNumber, ArchiveError> {
    let Some(last) = chain.segments.last() else { return Ok(CommitNumber(0)) };
    match last.state {
        SegmentState::Closed { last, .. } => Ok(last),
        SegmentState::Open => {
            let mut reader = SegmentReader::open(last)?;
            reader.each(&mut |_| {})?;
            Ok(reader.valid().last)
        }
    }
}

#[cfg(test)]
mod tests {
    use till_domain::ids::MerchantId;

    use super::super::commit::GroupPosition;
    use super::*;

    #[test]
    fn a_commit_with_an_unreadable_time_does_not_count_as_later() {
        let (commit, before, stored) = (CommitNumber(2), CommitNumber(1), CommitNumber(2));
        let (merchant_id, records) = (MerchantId::from_bytes([1; 16]), vec![vec![0xff; 200]]);
        let (position, vault) = (GroupPosition::default(), Vec::new());
        let unreadable = ArchivedCommit { commit, before, stored, position, merchant_id, records, vault };
        assert!(Until::Moment(5).wants(&unreadable).is_err());
        assert_eq!(Until::End.wants(&unreadable), Ok(true));
        assert_eq!(Until::Commit(before).wants(&unreadable), Ok(false));
    }
}

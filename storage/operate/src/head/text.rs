//! The line, and what can be wrong with a store that should have its commit.

use std::fmt;
use std::str::FromStr;

use till_storage::engine::StoreIdentity;
use till_storage::journal::CommitNumber;

/// The first word of the line. Another shape of the line gets another one.
const FIRST_WORD: &str = "till-head-1";

/// The digits of an identity in hexadecimal form.
const IDENTITY_DIGITS: usize = 32;

/// The head of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreHead {
    /// The store.
    pub store: StoreIdentity,
    /// Its last commit.
    pub commit: CommitNumber,
    /// The hash of the last record up to that commit, zeros when there is none.
    pub record: [u8; 32],
    /// The hash over the ends of all logs as of that commit; none of an archive, which may begin later than its store.
    pub logs: Option<[u8; 32]>,
}

impl fmt::Display for StoreHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StoreHead { store, commit, record, logs } = self;
        write!(f, "{FIRST_WORD} store {store} commit {commit} record {}", blake3::Hash::from_bytes(*record))?;
        logs.map_or(Ok(()), |logs| write!(f, " logs {}", blake3::Hash::from_bytes(logs)))
    }
}

/// A text that is no line of `till head`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is not a line that `till head` of this version prints")]
pub struct HeadTextError;

impl FromStr for StoreHead {
    type Err = HeadTextError;

    fn from_str(line: &str) -> Result<StoreHead, HeadTextError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (store, commit, record, logs) = match words[..] {
            [FIRST_WORD, "store", store, "commit", commit, "record", record] => (store, commit, record, None),
            [FIRST_WORD, "store", store, "commit", commit, "record", record, "logs", logs] => {
                (store, commit, record, Some(logs))
            }
            _ => return Err(HeadTextError),
        };
        Ok(StoreHead {
            store: identity(store).ok_or(HeadTextError)?,
            commit: CommitNumber(commit.parse().map_err(|_| HeadTextError)?),
            record: hash(record)?,
            logs: logs.map(hash).transpose()?,
        })
    }
}

fn identity(text: &str) -> Option<StoreIdentity> {
    let is_hexadecimal = text.len() == IDENTITY_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = is_hexadecimal.then(|| u128::from_str_radix(text, 16).ok()).flatten()?;
    Some(StoreIdentity(number.to_be_bytes()))
}

fn hash(text: &str) -> Result<[u8; 32], HeadTextError> {
    blake3::Hash::from_hex(text).map(|hash| *hash.as_bytes()).map_err(|_| HeadTextError)
}

/// The way in which a store or an archive is not what a head says. Reads on after "the store".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeadFault {
    /// It is another store, without the commit of the head.
    #[error("is {}, and the head is of the store {expected}", named(.found))]
    OtherStore {
        /// Its identity, if it has one.
        found: Option<StoreIdentity>,
        /// The identity in the head.
        expected: StoreIdentity,
    },
    /// It is another store, with the commit of the head.
    #[error(
        "is {}, and the head is of the store {expected}: it has commit {commit} of that store with the same hash, so it \
         was restored from there. Say --restored when a restored store is what you expect", named(.found)
    )]
    Restored {
        /// Its identity, if it has one.
        found: Option<StoreIdentity>,
        /// The identity in the head.
        expected: StoreIdentity,
        /// The commit of the head.
        commit: CommitNumber,
    },
    /// It does not reach as far as the head.
    #[error("ends at commit {last}, before commit {commit} of the head: it is older than the head")]
    EndsBefore {
        /// Its last commit.
        last: CommitNumber,
        /// The commit of the head.
        commit: CommitNumber,
    },
    /// It has another history.
    #[error("has another hash at commit {commit} than the head: the head is of another history")]
    OtherHash {
        /// The commit of the head.
        commit: CommitNumber,
    },
    /// An archive begins later.
    #[error("begins after commit {base}, and so does not have commit {commit} of the head: check the store instead")]
    BeginsAfter {
        /// The commit that it begins after.
        base: CommitNumber,
        /// The commit of the head.
        commit: CommitNumber,
    },
    /// An archive was not written to meanwhile.
    #[error("does not have commit {commit} of the head: it was not written to at that time")]
    NotArchived {
        /// The commit of the head.
        commit: CommitNumber,
    },
}

fn named(found: &Option<StoreIdentity>) -> String {
    found.map_or_else(|| "one without an identity".to_owned(), |found| format!("the store {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(logs: Option<[u8; 32]>) -> StoreHead {
        StoreHead { store: StoreIdentity([0x0a; 16]), commit: CommitNumber(12), record: [0xbc; 32], logs }
    }

    #[test]
    fn a_head_reads_back_from_its_line() {
        for head in [head(None), head(Some([0xde; 32]))] {
            assert_eq!(head.to_string().parse(), Ok(head.clone()));
            assert_eq!(format!("{head}\n").parse(), Ok(head));
        }
        let (store, record, logs) = ("0a".repeat(16), "bc".repeat(32), "de".repeat(32));
        let expected = format!("till-head-1 store {store} commit 12 record {record} logs {logs}");
        assert_eq!(head(Some([0xde; 32])).to_string(), expected);
    }

    #[test]
    fn other_texts_are_no_heads() {
        let line = head(Some([0xde; 32])).to_string();
        let others = [
            String::new(),
            line.replace("till-head-1", "till-head-2"),
            line.replace("commit 12", "commit -1"),
            line.replace("store 0a", "store +a"),
            line.replace("store 0a", "store "),
            line.replace("logs ", ""),
            format!("{line} more"),
            line[..line.len() - 1].to_owned(),
        ];
        for other in others {
            assert_eq!(other.parse::<StoreHead>(), Err(HeadTextError), "{other}");
        }
    }
}

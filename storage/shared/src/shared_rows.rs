//! Rows that belong to no merchant's log: deliveries to webhooks, and the sandbox's book.

use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use till_storage::first_commit::{FirstRows, FirstVerdict};
use till_storage::rows::RowPair;

use crate::error::SharedJournalError;
use crate::journal::OnFenced;
use crate::lane::Lane;
use crate::reading::JournalReader;
use crate::settings::JournalSettings;
use crate::shard::{OF_BOOK, OF_DELIVERIES, Shard};

/// The pause between two attempts to find an outcome out.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// A key above all others.
const ABOVE_ALL: [u8; 128] = [u8::MAX; 128];

/// The kind of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowsOf {
    /// Deliveries to webhooks, and how far each webhook has come.
    Deliveries,
    /// The sandbox's book.
    Book,
}

impl RowsOf {
    /// Their shard, and the number of their family in the table. Both are part of the format.
    const fn place(self) -> (Shard, i16) {
        match self {
            RowsOf::Deliveries => (OF_DELIVERIES, 9),
            RowsOf::Book => (OF_BOOK, 10),
        }
    }

    /// Passes all rows on without a claim, in the same way as [`SharedRows::each_page`].
    ///
    /// # Errors
    /// As there.
    pub fn each_page<E: From<SharedJournalError>>(
        self,
        reader: &JournalReader,
        take: &mut dyn FnMut(Vec<RowPair>) -> Result<(), E>,
    ) -> Result<(), E> {
        let all = (Vec::new(), ABOVE_ALL.to_vec());
        reader.each_numbered_page(self.place().1, all, &mut |_, rows| take(rows))
    }
}

/// Rows that belong to no merchant's log, claimed by this process.
pub struct SharedRows {
    of: RowsOf,
    identity: [u8; 16],
    lane: Mutex<Lane>,
    reader: JournalReader,
    on_fenced: OnFenced,
}

impl SharedRows {
    /// Claims the rows for this process. `on_fenced` is called once another process has claimed them.
    ///
    /// # Errors
    /// [`SharedJournalError`]: the database cannot be reached, or the log is none that this program can use.
    pub fn open(settings: &JournalSettings, of: RowsOf, on_fenced: OnFenced) -> Result<SharedRows, SharedJournalError> {
        let (lane, format) = Lane::of_rows(settings.clone(), of.place().0)?;
        let (identity, reader) = (format.identity, JournalReader::new(settings.clone()));
        Ok(SharedRows { of, identity, lane: Mutex::new(lane), reader, on_fenced })
    }

    /// The note of an auxiliary database that has all rows as of now.
    #[must_use]
    pub fn position(&self) -> Vec<u8> {
        self.position_at(self.lane.lock().commits(self.of.place().0).unwrap_or_default())
    }

    fn position_at(&self, commits: i64) -> Vec<u8> {
        self.identity.into_iter().chain(commits.to_be_bytes()).collect()
    }

    /// Passes all rows on, page by page, in the order of their keys.
    ///
    /// # Errors
    /// Fails when they cannot be read, and with the errors of `take`.
    pub fn each_page<E: From<SharedJournalError>>(
        &self,
        take: &mut dyn FnMut(Vec<RowPair>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.of.each_page(&self.reader, take)
    }

    /// Waits until it is known if a write took effect: what is not known must not be tried again.
    fn found_out(lane: &mut Lane, shard: Shard, before: Option<i64>) -> FirstVerdict {
        while let Err(error) = lane.find_out() {
            tracing::warn!(%error, "the outcome of a write of rows is sought");
            thread::sleep(RETRY_PAUSE);
        }
        match lane.commits(shard) {
            None => lane.verdict_without_hold(shard),
            now if now == before => FirstVerdict::Unavailable("the database of the log did not write it".to_owned()),
            Some(_) => FirstVerdict::Written,
        }
    }
}

impl FirstRows for SharedRows {
    fn write(&self, put: &[RowPair], removed: &[Vec<u8>]) -> Result<Vec<u8>, String> {
        let (shard, family) = self.of.place();
        let mut lane = self.lane.lock();
        let before = lane.commits(shard);
        let written = lane.write_rows(shard, |group| {
            put.iter().for_each(|(key, value)| group.add_row(shard, family, key, Some(value)));
            removed.iter().for_each(|key| group.add_row(shard, family, key, None));
        });
        let known = match written {
            FirstVerdict::Unknown(_) => SharedRows::found_out(&mut lane, shard, before),
            known => known,
        };
        match known {
            FirstVerdict::Written => Ok(self.position_at(lane.commits(shard).unwrap_or_default())),
            FirstVerdict::Unavailable(reason) | FirstVerdict::Unknown(reason) => Err(reason),
            FirstVerdict::Fenced => {
                (self.on_fenced)();
                Err(SharedJournalError::Fenced.to_string())
            }
        }
    }
}

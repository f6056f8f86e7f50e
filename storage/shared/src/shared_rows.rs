//! Rows that belong to no merchant's log: deliveries to webhooks, and the sandbox's book.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use till_storage::journal::first_commit::{FirstRows, FirstVerdict};
use till_storage::rows::RowPair;
use uuid::Uuid;

use crate::counts::Counts;
use crate::error::SharedJournalError;
use crate::lane::Lane;
use crate::reading::JournalReader;
use crate::settings::JournalSettings;
use crate::shard::{OF_BOOK, OF_DELIVERIES, Shard};
use crate::standing::{Found, OnFenced, Standing};

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

/// Rows that belong to no merchant's log, claimed by this process. When the database has lost some, the server goes on
/// with what it has of them.
pub struct SharedRows {
    of: RowsOf,
    identity: [u8; 16],
    held_before: Uuid,
    lane: Mutex<Lane>,
    standing: Arc<Standing>,
    incarnation: Uuid,
    reader: JournalReader,
}

impl SharedRows {
    /// Claims the rows for this process. `on_fenced` is called once another process has claimed them.
    ///
    /// # Errors
    /// [`SharedJournalError`]: the database cannot be reached, or the log is none that this program can use.
    pub fn open(settings: &JournalSettings, of: RowsOf, on_fenced: OnFenced) -> Result<SharedRows, SharedJournalError> {
        SharedRows::open_counted(settings, of, Arc::default(), on_fenced)
    }

    pub(crate) fn open_counted(
        settings: &JournalSettings,
        of: RowsOf,
        counts: Arc<Counts>,
        on_fenced: OnFenced,
    ) -> Result<SharedRows, SharedJournalError> {
        let shard = of.place().0;
        let (lane, claimed) = Lane::of_rows(settings.clone(), shard, counts, on_fenced)?;
        Ok(SharedRows {
            of,
            identity: claimed.format.identity,
            held_before: claimed.held_before.get(&shard).copied().flatten().unwrap_or_default(),
            standing: lane.standing(),
            incarnation: lane.incarnation(),
            lane: Mutex::new(lane),
            reader: JournalReader::new(settings.clone()),
        })
    }

    /// True when an auxiliary database with this note has all rows as of now. One that has more than there are, of the
    /// same holder, shows a loss, which is counted.
    #[must_use]
    pub fn has_all(&self, noted: Option<&[u8]>) -> bool {
        let noted = noted.unwrap_or_default();
        let is_same = noted == self.position_of(self.held_before, self.commits());
        let prefix = [&self.identity[..], self.held_before.as_bytes()].concat();
        let count =
            noted.strip_prefix(prefix.as_slice()).and_then(|count| count.try_into().ok()).map(i64::from_be_bytes);
        if count.is_some_and(|count| count > self.commits()) {
            self.standing.note_loss(self.of.place().0, count.unwrap_or_default(), self.commits());
        }
        is_same
    }

    /// The note of an auxiliary database that has all rows as of now. After a loss it is the note of none: the next
    /// start makes the database anew of what there is.
    #[must_use]
    pub fn position(&self) -> Vec<u8> {
        let holder = if self.standing.has_lost() { Uuid::nil() } else { self.incarnation };
        self.position_of(holder, self.commits())
    }

    fn commits(&self) -> i64 {
        self.standing.hold(self.of.place().0).map_or(0, |hold| hold.commits)
    }

    fn position_of(&self, holder: Uuid, commits: i64) -> Vec<u8> {
        [&self.identity[..], holder.as_bytes(), &commits.to_be_bytes()].concat()
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
    fn found_out(&self, before: i64) -> FirstVerdict {
        let shard = self.of.place().0;
        while !self.standing.wait_until_found(Instant::now() + Duration::from_secs(1)) {}
        match self.standing.knowledge(shard) {
            Found::Held(hold) if hold.commits == before + 1 => FirstVerdict::Written,
            Found::Held(_) => FirstVerdict::Unavailable("the database of the log did not write it".to_owned()),
            Found::Sought | Found::NotHeld => self.lane.lock().verdict_without_hold(shard),
        }
    }
}

impl FirstRows for SharedRows {
    fn write(&self, put: &[RowPair], removed: &[Vec<u8>]) -> Result<Vec<u8>, String> {
        let (shard, family) = self.of.place();
        let before = self.commits();
        let written = self.lane.lock().write_rows(shard, |group| {
            put.iter().for_each(|(key, value)| group.add_row(shard, family, key, Some(value)));
            removed.iter().for_each(|key| group.add_row(shard, family, key, None));
        });
        let known = match written {
            FirstVerdict::Unknown(_) => self.found_out(before),
            known => known,
        };
        match known {
            FirstVerdict::Written => Ok(self.position()),
            FirstVerdict::Unavailable(reason) | FirstVerdict::Unknown(reason) => Err(reason),
            FirstVerdict::Fenced => Err(SharedJournalError::Fenced.to_string()),
        }
    }
}

//! The sweeper: removes rows of metadata that nobody can see any more, in chunks, as commands.
//!
//! When a metadata record ends or its value is replaced, the items of its sets are invisible at once and their
//! rows stay. Such rows cannot change any more, so what is read of the store is what there is.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use till_domain::command::{Command, SweepMetadata};
use till_domain::event::Answer;
use till_domain::ids::{MerchantId, MetadataId};
use till_domain::metadata::{SetNumber, SweptItem};
use till_domain::records::{MetadataGarbage, MetadataItems, Rows, Unreadable};
use till_storage::shapes::MerchantReader;
use till_storage::vault::Keyring;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::named_tasks::{NamedTasks, Panicked};
use crate::registry::Registry;
use crate::store::{Store, first_garbage, items_below, sets_below};

/// Rows that one command removes: bounds the size of its record, and how long it keeps its merchant.
const SWEPT_AT_ONCE: usize = 256;
/// Commands of one merchant before it is another's turn.
const COMMANDS_A_TURN: usize = 32;
/// Merchants that are served at the same time: nobody waits for a sweep.
const SERVED_AT_ONCE: usize = 4;
/// How long a merchant that could not be served is left alone.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What a turn came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Nothing is left.
    Done,
    /// There is more.
    More,
}

/// Whose turn it is.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<MerchantId>,
    known: BTreeSet<MerchantId>,
    /// Those that got something to be swept while they were served.
    again: BTreeSet<MerchantId>,
    /// Those that could not be served, the longest ago first.
    failed: VecDeque<(Instant, MerchantId)>,
}

impl Queue {
    /// Notes a merchant, unless it is waiting already. One that is being served is served again.
    fn note(&mut self, merchant_id: MerchantId) {
        if self.known.insert(merchant_id) {
            self.waiting.push_back(merchant_id);
        } else {
            self.again.insert(merchant_id);
        }
    }

    fn take(&mut self) -> Option<MerchantId> {
        let merchant_id = self.waiting.pop_front()?;
        self.again.remove(&merchant_id);
        Some(merchant_id)
    }

    fn finish(&mut self, merchant_id: MerchantId, turn: Turn) {
        if turn == Turn::More || self.again.remove(&merchant_id) {
            self.waiting.push_back(merchant_id);
        } else {
            self.known.remove(&merchant_id);
        }
    }

    fn fail(&mut self, merchant_id: MerchantId, now: Instant) {
        self.failed.push_back((now, merchant_id));
    }

    fn take_up_failed(&mut self, now: Instant) {
        while let Some((since, merchant_id)) = self.failed.front().copied()
            && now.duration_since(since) >= RETRY_AFTER
        {
            self.failed.pop_front();
            self.waiting.push_back(merchant_id);
        }
    }
}

/// Sweeps, a few merchants at a time.
pub(crate) struct Sweeper {
    queue: Queue,
    serving: NamedTasks<MerchantId, Result<Turn, String>>,
    server: Arc<Server>,
}

impl Sweeper {
    pub(crate) fn new(store: Arc<dyn Store>, registry: Arc<Registry>, keyring: Arc<Keyring>) -> Sweeper {
        let server = Arc::new(Server { store, registry, keyring });
        Sweeper { queue: Queue::default(), serving: NamedTasks::new(), server }
    }

    /// Sweeps until nothing can be left to be swept any more.
    pub(crate) async fn run(mut self, mut left: UnboundedReceiver<MerchantId>) {
        loop {
            self.queue.take_up_failed(Instant::now());
            self.start();
            tokio::select! {
                merchant_id = left.recv() => match merchant_id {
                    Some(merchant_id) => self.queue.note(merchant_id),
                    None => return,
                },
                Some((merchant_id, served)) = self.serving.next() => self.finish(merchant_id, served),
                () = tokio::time::sleep(RETRY_AFTER), if !self.queue.failed.is_empty() => {}
            }
        }
    }

    fn start(&mut self) {
        while self.serving.len() < SERVED_AT_ONCE
            && let Some(merchant_id) = self.queue.take()
        {
            let server = Arc::clone(&self.server);
            self.serving.spawn(merchant_id, async move { server.serve(merchant_id).await });
        }
    }

    fn finish(&mut self, merchant_id: MerchantId, served: Result<Result<Turn, String>, Panicked>) {
        match served.unwrap_or_else(|panicked| Err(panicked.to_string())) {
            Ok(turn) => self.queue.finish(merchant_id, turn),
            Err(reason) => {
                tracing::warn!(%merchant_id, reason, "metadata could not be swept and is tried again");
                self.queue.fail(merchant_id, Instant::now());
            }
        }
    }
}

/// What serving a merchant takes.
struct Server {
    store: Arc<dyn Store>,
    registry: Arc<Registry>,
    keyring: Arc<Keyring>,
}

impl Server {
    async fn serve(&self, merchant_id: MerchantId) -> Result<Turn, String> {
        for _ in 0..COMMANDS_A_TURN {
            let Some(command) = self.next(merchant_id).map_err(|error| error.to_string())? else {
                return Ok(Turn::Done);
            };
            self.sweep(merchant_id, command).await?;
        }
        Ok(Turn::More)
    }

    /// What is to be swept next of a merchant.
    fn next(&self, merchant_id: MerchantId) -> Result<Option<SweepMetadata>, Unreadable> {
        let Some(id) = first_garbage(self.store.as_ref(), merchant_id)? else { return Ok(None) };
        let rows = MerchantReader::new(merchant_id, Some(Arc::clone(&self.keyring)), &*self.store);
        // Gone again: somebody else finished it.
        let Some(below) = rows.get::<MetadataGarbage>(id)? else { return Ok(None) };
        let items = self.items(merchant_id, id, below, &rows)?;
        let mut command = SweepMetadata { id, items, sets: Vec::new(), finished_below: None };
        if command.items.len() < SWEPT_AT_ONCE {
            command.sets = sets_below(self.store.as_ref(), merchant_id, id, below, SWEPT_AT_ONCE)?;
            command.finished_below = (command.sets.len() < SWEPT_AT_ONCE).then_some(below);
        }
        Ok(Some(command))
    }

    fn items(
        &self,
        merchant_id: MerchantId,
        id: MetadataId,
        below: SetNumber,
        rows: &MerchantReader<&dyn Store>,
    ) -> Result<Vec<SweptItem>, Unreadable> {
        let found = items_below(self.store.as_ref(), merchant_id, id, below, SWEPT_AT_ONCE)?;
        let item = |(set, hash)| {
            let position = rows.get::<MetadataItems>((id, set, hash))?;
            let gone = || Unreadable { reason: format!("an item of {id} is gone, though nobody else sweeps it") };
            Ok(SweptItem { set, hash, position: position.ok_or_else(gone)? })
        };
        found.into_iter().map(item).collect()
    }

    async fn sweep(&self, merchant_id: MerchantId, command: SweepMetadata) -> Result<(), String> {
        let answer = self.registry.carry_out(merchant_id, Command::SweepMetadata(command)).await?;
        if answer == Answer::Changed(false) {
            // To ask again at once would only spin.
            return Err("nothing of what is left was swept".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: MerchantId = MerchantId::from_bytes([1; 16]);
    const B: MerchantId = MerchantId::from_bytes([2; 16]);

    #[test]
    fn a_merchant_is_served_once_at_a_time_and_what_is_left_meanwhile_is_not_lost() {
        let mut queue = Queue::default();
        queue.note(A);
        queue.note(A);
        assert_eq!((queue.take(), queue.take()), (Some(A), None));
        queue.note(A);
        assert_eq!(queue.take(), None);
        queue.finish(A, Turn::Done);
        assert_eq!(queue.take(), Some(A));
        queue.finish(A, Turn::Done);
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn a_merchant_with_much_to_sweep_lets_others_go_first() {
        let mut queue = Queue::default();
        queue.note(A);
        queue.note(B);
        assert_eq!(queue.take(), Some(A));
        queue.finish(A, Turn::More);
        assert_eq!((queue.take(), queue.take()), (Some(B), Some(A)));
    }

    #[test]
    fn a_merchant_that_could_not_be_served_is_tried_again_later() {
        let mut queue = Queue::default();
        let now = Instant::now();
        queue.note(A);
        assert_eq!(queue.take(), Some(A));
        queue.fail(A, now);
        queue.take_up_failed(now);
        assert_eq!(queue.take(), None);
        queue.take_up_failed(now + RETRY_AFTER);
        assert_eq!(queue.take(), Some(A));
    }
}

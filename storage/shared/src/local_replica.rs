//! The part of the log that the local store has.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use parking_lot::Mutex;
use till_domain::ids::MerchantId;
use till_storage::family::Family;
use till_storage::journal::Append;
use uuid::Uuid;

use crate::append::sent_rows;
use crate::shard::{Holds, Shard, shard_of};

/// A number of commits of a shard, under one holder: the same number under another may be of other commits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Complete {
    pub(crate) holder: Uuid,
    pub(crate) commits: i64,
}

/// The rows of one merchant that the local store may lack, besides records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MissingRows {
    /// True when any of its rows of the vault may differ.
    pub(crate) whole_vault: bool,
    /// Rows that may differ.
    pub(crate) rows: BTreeSet<(Family, Vec<u8>)>,
}

#[derive(Debug, Default)]
struct State {
    merchants: HashMap<MerchantId, MissingRows>,
    /// The number of those merchants in each shard.
    lacking: HashMap<Shard, usize>,
    /// The commits of each shard up to which the store has everything: the process that held it, and their number then.
    complete: Vec<Complete>,
    /// Shards of which the database does not have exactly the commits that it acknowledged, with the number that it
    /// should have at least.
    lost: BTreeMap<Shard, i64>,
}

/// The part of the log that the local store has. No method waits for the database.
#[derive(Debug)]
pub(crate) struct LocalReplica {
    shards: u16,
    state: Mutex<State>,
}

impl LocalReplica {
    pub(crate) fn new(shards: u16) -> LocalReplica {
        let complete = vec![Complete::default(); usize::from(shards)];
        LocalReplica { shards, state: Mutex::new(State { complete, ..State::default() }) }
    }

    /// Takes over how far the store has everything, as it has noted.
    pub(crate) fn begin_at(&self, noted: &[Complete]) {
        let mut state = self.state.lock();
        state.complete.iter_mut().zip(noted).for_each(|(complete, noted)| *complete = *noted);
    }

    /// True when a merchant's log must be compared before it is claimed.
    pub(crate) fn may_lack(&self, merchant_id: MerchantId) -> bool {
        let state = self.state.lock();
        let is_lost = || state.lost.contains_key(&shard_of(merchant_id, self.shards));
        state.merchants.contains_key(&merchant_id) || (!state.lost.is_empty() && is_lost())
    }

    /// True when another process may have told callers something that the store lacks, or when the merchant's shard is
    /// lost. The merchant's rows must not be used for answers then.
    pub(crate) fn may_lack_what_was_told(&self, merchant_id: MerchantId) -> bool {
        let state = self.state.lock();
        let lacks = state.merchants.get(&merchant_id).is_some_and(|lacking| lacking.whole_vault);
        lacks || (!state.lost.is_empty() && state.lost.contains_key(&shard_of(merchant_id, self.shards)))
    }

    /// The rows of a merchant that the store may lack.
    pub(crate) fn lacking(&self, merchant_id: MerchantId) -> MissingRows {
        self.state.lock().merchants.get(&merchant_id).cloned().unwrap_or_default()
    }

    /// Merchants that must be compared, and can be.
    pub(crate) fn merchants(&self) -> Vec<MerchantId> {
        let state = self.state.lock();
        let is_lost = |merchant_id: &MerchantId| state.lost.contains_key(&shard_of(*merchant_id, self.shards));
        state.merchants.keys().filter(|merchant_id| !is_lost(merchant_id)).copied().collect()
    }

    /// The store may lack everything of a merchant.
    pub(crate) fn note_lacking(&self, merchant_id: MerchantId) {
        self.note(merchant_id, |lacking| lacking.whole_vault = true);
    }

    /// The store may lack what this batch writes.
    pub(crate) fn note_unwritten(&self, append: &Append) {
        self.note(append.merchant_id, |lacking| {
            lacking.rows.extend(sent_rows(append).map(|row| (row.family, row.key.to_vec())));
        });
    }

    fn note(&self, merchant_id: MerchantId, add: impl FnOnce(&mut MissingRows)) {
        let mut state = self.state.lock();
        let State { merchants, lacking, .. } = &mut *state;
        add(merchants.entry(merchant_id).or_insert_with(|| {
            *lacking.entry(shard_of(merchant_id, self.shards)).or_default() += 1;
            MissingRows::default()
        }));
    }

    /// The store has everything of a merchant.
    pub(crate) fn note_caught_up(&self, merchant_id: MerchantId) {
        let mut state = self.state.lock();
        if state.merchants.remove(&merchant_id).is_some()
            && let Some(count) = state.lacking.get_mut(&shard_of(merchant_id, self.shards))
        {
            *count = count.saturating_sub(1);
        }
    }

    /// The database does not have exactly the commits of a shard that it acknowledged: nothing of it is used any more.
    pub(crate) fn note_lost(&self, shard: Shard, expected: i64) {
        self.state.lock().lost.insert(shard, expected);
    }

    pub(crate) fn is_lost(&self, shard: Shard) -> bool {
        self.state.lock().lost.contains_key(&shard)
    }

    pub(crate) fn lost_count(&self) -> usize {
        self.state.lock().lost.len()
    }

    /// The commits of each shard up to which the store has everything once it has written the last group.
    pub(crate) fn complete(&self, holder: Uuid, holds: &Holds) -> Vec<Complete> {
        let mut state = self.state.lock();
        let State { lacking, complete, .. } = &mut *state;
        for (shard, hold) in holds {
            if lacking.get(shard).is_none_or(|count| *count == 0)
                && let Some(complete) = usize::try_from(*shard).ok().and_then(|shard| complete.get_mut(shard))
            {
                *complete = Complete { holder, commits: hold.commits };
            }
        }
        complete.clone()
    }
}

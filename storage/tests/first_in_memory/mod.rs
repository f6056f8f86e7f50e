//! A place that commits are written to first, in memory, with planned delays and failures.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use parking_lot::Mutex;
use till_domain::ids::MerchantId;
use till_storage::journal::first_commit::{FirstCommit, FirstVerdict};
use till_storage::journal::{Append, CommitNumber, Sequence};

/// The planned outcome of the next batches of a merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstFault {
    /// Somebody else holds the merchant's log.
    Fenced,
    /// Nothing is written.
    Unavailable,
    /// It is written, and the store is not told.
    UnknownWritten,
    /// It is lost, and the store is not told.
    UnknownLost,
    /// It is written, and there is no verdict on it and on those after it.
    NoVerdict,
}

#[derive(Debug, Default)]
struct Contents {
    /// The faults of the next groups, the next one first; none lets a group be written.
    faults: VecDeque<Option<(MerchantId, FirstFault)>>,
    delay: Duration,
    groups: usize,
    records: BTreeMap<(MerchantId, Sequence), Vec<u8>>,
    confirmed: CommitNumber,
}

/// A place that commits are written to first.
#[derive(Debug, Default)]
pub(crate) struct FirstInMemory {
    contents: Mutex<Contents>,
}

impl FirstInMemory {
    /// The group after `skipped` further ones has a fault, which the batches of one merchant meet.
    pub(crate) fn fail(&self, skipped: usize, merchant_id: MerchantId, fault: FirstFault) {
        let faults = &mut self.contents.lock().faults;
        let length = faults.len().max(skipped.saturating_add(1));
        faults.resize(length, None);
        faults[skipped] = Some((merchant_id, fault));
    }

    /// From now on each group takes this long.
    pub(crate) fn delay(&self, delay: Duration) {
        self.contents.lock().delay = delay;
    }

    /// True until the first group has arrived.
    pub(crate) fn has_not_begun(&self) -> bool {
        self.contents.lock().groups == 0
    }

    /// The records of a merchant, in order.
    pub(crate) fn records(&self, merchant_id: MerchantId) -> Vec<Vec<u8>> {
        let contents = self.contents.lock();
        let of_merchant =
            |((owner, _), bytes): (&(MerchantId, Sequence), &Vec<u8>)| (*owner == merchant_id).then(|| bytes.clone());
        contents.records.iter().filter_map(of_merchant).collect()
    }

    /// The last commit that the store has written after this place.
    pub(crate) fn confirmed(&self) -> CommitNumber {
        self.contents.lock().confirmed
    }
}

impl FirstCommit for FirstInMemory {
    fn commit(&self, batches: &[(CommitNumber, &Append)], _: CommitNumber) -> Vec<FirstVerdict> {
        let delay = {
            let mut contents = self.contents.lock();
            contents.groups += 1;
            contents.delay
        };
        std::thread::sleep(delay);
        let mut contents = self.contents.lock();
        let fault = contents.faults.pop_front().flatten();
        let mut verdicts = Vec::with_capacity(batches.len());
        for (_, append) in batches {
            let met = fault.filter(|(merchant_id, _)| *merchant_id == append.merchant_id).map(|(_, fault)| fault);
            let is_written = matches!(met, None | Some(FirstFault::UnknownWritten | FirstFault::NoVerdict));
            if is_written {
                let records = append.records.iter();
                contents
                    .records
                    .extend(records.map(|record| ((append.merchant_id, record.sequence), record.bytes.clone())));
            }
            let planned = || "planned".to_owned();
            verdicts.push(match met {
                None => FirstVerdict::Written,
                Some(FirstFault::Fenced) => FirstVerdict::Fenced,
                Some(FirstFault::Unavailable) => FirstVerdict::Unavailable(planned()),
                Some(FirstFault::UnknownWritten | FirstFault::UnknownLost) => FirstVerdict::Unknown(planned()),
                Some(FirstFault::NoVerdict) => break,
            });
        }
        verdicts
    }

    fn confirm(&self, last: CommitNumber) {
        self.contents.lock().confirmed = last;
    }
}

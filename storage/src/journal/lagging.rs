//! Merchants whose rows lag behind their claimed logs: a batch of theirs would be derived from rows that lack records.

use std::collections::HashSet;

use parking_lot::Mutex;
use till_domain::ids::MerchantId;

use crate::journal::Append;
use crate::journal::first_commit::{FirstCommit, FirstVerdict};
use crate::positions::{CommitNumber, Head};

/// The claimed merchants whose rows lag behind.
#[derive(Debug, Default)]
pub(crate) struct LaggingRows {
    merchants: Mutex<HashSet<MerchantId>>,
}

impl LaggingRows {
    /// Notes how far a merchant's rows are, and its log.
    pub(crate) fn note(&self, merchant_id: MerchantId, applied: Head, head: Head) {
        let mut merchants = self.merchants.lock();
        if applied == head {
            merchants.remove(&merchant_id);
        } else {
            merchants.insert(merchant_id);
        }
    }

    /// These as a judge of batches, unless there are none.
    pub(crate) fn judge(&self) -> Option<&dyn FirstCommit> {
        if self.merchants.lock().is_empty() { None } else { Some(self) }
    }
}

impl FirstCommit for LaggingRows {
    fn commit(&self, batches: &[(CommitNumber, &Append)], _: CommitNumber) -> Vec<FirstVerdict> {
        let merchants = self.merchants.lock();
        let verdict = |(_, append): &(CommitNumber, &Append)| match merchants.contains(&append.merchant_id) {
            true => FirstVerdict::Unavailable("the merchant's rows have not been caught up with its log".to_owned()),
            false => FirstVerdict::Written,
        };
        batches.iter().map(verdict).collect()
    }
}

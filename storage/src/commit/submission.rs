//! Submissions to the commit thread, and their verdicts.

use till_domain::ids::MerchantId;

use crate::journal::{Append, AppendVerdict};
use crate::positions::Head;

/// Called once with the verdict of an append, on the commit thread: it must be short and must not wait.
pub type AppendCompletion = Box<dyn FnOnce(&AppendVerdict) + Send>;

/// Called once with the verdict of a barrier, on the commit thread: it must be short and must not wait.
pub type BarrierCompletion = Box<dyn FnOnce(BarrierVerdict) + Send>;

/// A submission to the commit thread.
#[expect(clippy::large_enum_variant, reason = "nearly all are batches, and a box would be an allocation for each")]
pub enum Submission {
    /// A batch to write.
    Append {
        /// The batch.
        append: Append,
        /// The function to call with its verdict.
        completion: AppendCompletion,
    },
    /// An answer that depends on state that is staged but not yet durable.
    Barrier {
        /// The merchant whose state it is.
        merchant_id: MerchantId,
        /// The staged head that the answer was decided on.
        expected_head: Head,
        /// The function to call with its verdict.
        completion: BarrierCompletion,
    },
}

impl Submission {
    pub(super) fn byte_count(&self) -> usize {
        match self {
            Submission::Append { append, .. } => append.byte_count(),
            Submission::Barrier { .. } => size_of::<Submission>(),
        }
    }

    pub(super) fn record_count(&self) -> u64 {
        match self {
            Submission::Append { append, .. } => u64::try_from(append.records.len()).unwrap_or(u64::MAX),
            Submission::Barrier { .. } => 0,
        }
    }
}

/// The result of a barrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BarrierVerdict {
    /// The head that it waited for is durable.
    Passed,
    /// The head is not durable: a batch before it failed.
    Failed {
        /// The merchant's durable head at its turn.
        durable: Head,
    },
    /// The durable head could not be read.
    Unknown(String),
}

//! Group commit: one thread that gathers the waiting batches and writes them with one sync.

mod committer;
mod queue;
mod stats;

pub use committer::{AppendCompletion, BarrierCompletion, BarrierVerdict, Committer, Submission};
pub use queue::{GROUP_COMMIT_DELAY, QUEUE_BYTES_MAX, QUEUE_SUBMISSIONS_MAX, Rejected, RejectedBecause, Urgency};
pub use stats::{BUCKETS, CommitStats, Histogram};

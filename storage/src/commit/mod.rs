//! Group commit: one thread that gathers the waiting batches and writes them with one sync.

mod submission;
mod stats;
mod queue;
mod committer;

pub use committer::Committer;
pub use queue::{GROUP_COMMIT_DELAY, QUEUE_BYTES_MAX, QUEUE_SUBMISSIONS_MAX, Rejected, RejectedBecause, Urgency};
pub use stats::{BUCKETS, CommitStats, Histogram};
pub use submission::{AppendCompletion, BarrierCompletion, BarrierVerdict, Submission};

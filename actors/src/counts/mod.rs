//! Counts for metrics and for the edge: what durable records did, and merchants by their balance.

mod payment_outcomes;
mod record_counts;
mod overdrawn;
mod removed_rows;

pub(crate) use overdrawn::OverdrawnCounter;
pub use payment_outcomes::PaymentCounts;
pub(crate) use record_counts::Counted;
pub use record_counts::{ActionStep, Counts, RecordCounts};
pub use removed_rows::RemovedRows;

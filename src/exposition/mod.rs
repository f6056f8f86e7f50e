//! The metrics of `/metrics`: some are counted here, others are read from the parts that count them.

mod engine;
mod failures;
mod families;
mod journal;
mod process;
mod store;

pub use engine::{expose_archive, expose_calls, expose_engine};
pub use failures::count_failures_from_zero;
pub use families::Families;
pub use journal::expose_journal;
pub use process::{ProcessStart, expose_log_file, expose_process};
pub use store::{expose_store, expose_tables};

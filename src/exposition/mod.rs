//! The metrics of `/metrics`: some are counted here, others are read from the parts that count them.

mod engine;
mod failures;
mod families;
mod journal;
mod process;
mod store;

pub(crate) use engine::{expose_archive, expose_calls, expose_engine};
pub(crate) use failures::count_failures_from_zero;
pub(crate) use families::Families;
pub(crate) use journal::expose_journal;
pub(crate) use process::{ProcessStart, expose_log_file, expose_process};
pub(crate) use store::{expose_store, expose_tables};

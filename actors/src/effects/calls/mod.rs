//! The kinds of calls to acquirers: a file for each, and the table of all.

mod kind;
mod sources;
mod follow_up;
mod authorize;
mod cancel_action;
mod operation;
mod refund;
mod give_back;
mod payout;
mod evidence;
mod table;

pub(super) use kind::{Judged, PlannedCall};
pub(crate) use sources::CallSources;
pub(super) use sources::{NoResult, OpenRows};
pub use table::call_kinds;
pub(super) use table::{kind_of_late_answer, plan};

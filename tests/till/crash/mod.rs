//! Crashes: a loaded server is killed at a random moment and started again on the same data, and every promise is
//! checked.
//!
//! `TILL_CRASH_ROUNDS` sets the number of rounds, `TILL_CRASH_SEED` repeats the random choices of a printed seed (their
//! order over threads differs from run to run).

mod merchants;
mod object_kind;
mod metadata;
mod call_record;
mod recent_payments;
mod cards;
mod changer;
mod cashier;
mod disputer;
mod caller;
mod load;
mod shown;
mod truth;
mod reckoning;
mod inspection;
mod ledger_inspection;
pub(crate) mod exported_log;
mod sandbox;
mod calendar;
mod customer_story;
mod customer;
mod customers;
mod round;
mod stop;
mod power_cut;
mod checkpoint_prefix;
mod open_effects;
mod archived;
mod losing;
mod replicated;

/// Kill, start, check, again and again.
#[test]
fn rounds() {
    round::run_all();
}

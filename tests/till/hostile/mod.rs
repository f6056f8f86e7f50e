//! Hostile callers: every body gets an answer, which is not a 500, and a refused call changes nothing.
//!
//! `TILL_HOSTILE_CASES` sets a larger number of cases, `TILL_HOSTILE_SEED` repeats those of an earlier run.

mod bodies;
mod nasties;
mod calls;
mod world;

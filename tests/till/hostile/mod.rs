//! Hostile callers: whatever a body holds, there is an answer, it is no 500, and a refused call changes nothing.
//!
//! `TILL_HOSTILE_CASES` asks for more cases than the usual ones, `TILL_HOSTILE_SEED` for those of an earlier run.

mod bodies;
mod nasties;
mod calls;
mod world;

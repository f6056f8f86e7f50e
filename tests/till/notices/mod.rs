//! Notices of acquirers: which of them are genuine, and what these do.

mod genuine;
mod look_ups;
pub(crate) mod sender;

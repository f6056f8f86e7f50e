//! The built-in sandbox acquirer: play money, real book-keeping.

mod acquirer;
#[cfg(test)]
mod behaviour_tests;
pub mod book;
mod book_thread;
#[cfg(test)]
mod card_tests;
mod cards;
mod judgement;
mod queue;

pub use acquirer::SandboxAcquirer;
pub use judgement::PendingEnd;

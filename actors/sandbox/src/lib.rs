//! The built-in sandbox acquirer. It moves no real money, and keeps a durable book of its calls.

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

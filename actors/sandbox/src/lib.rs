//! The built-in sandbox acquirer. It moves no real money, and keeps a durable book of its calls.

mod acquirer;
#[cfg(test)]
mod action_tests;
mod actions;
mod acts;
mod answers;
#[cfg(test)]
mod behaviour_tests;
pub mod book;
mod book_thread;
#[cfg(test)]
mod card_tests;
mod cards;
mod due_answers;
mod judgement;
mod played;
#[cfg(test)]
#[path = "../../tests/promises/mod.rs"]
mod promises;
mod queue;

pub use acquirer::SandboxAcquirer;
pub use actions::{ActResult, ShownAction};
pub use book::{ActionId, ActionOutcome, ActionPage};
pub use judgement::PendingEnd;
pub use played::{PlayedAcquirer, PlayedAnswer};

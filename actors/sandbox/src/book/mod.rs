//! The sandbox acquirer's book: its requests and their results, kept apart from the merchants' logs so that the two can
//! be compared.

mod agreement;
mod contract;
mod line;
mod line_shapes;
mod memory;
mod rocks;
#[cfg(test)]
mod samples;
mod totals;

pub use contract::{Book, BookError, Entries};
pub use line::{
    AuthorizationState, AuthorizeOutcome, BookInstrument, BookLine, BookOperation, DeclineReason, FollowUp,
    PayoutOutcome,
};
pub use memory::{MemoryBook, NextWrite};
pub use rocks::RocksBook;
pub use totals::{MerchantTotals, totals_by_merchant};

//! The sandbox acquirer's book: its requests and their results, kept apart from the merchants' logs so that the two can
//! be compared.

mod action;
mod agreement;
mod contract;
mod line;
mod line_shapes;
mod memory;
mod promptpay;
mod rocks;
#[cfg(test)]
mod samples;
mod totals;

pub use action::{ActionId, ActionOutcome, ActionPage, BookAction, TakenAction, UnknownActionId};
pub use contract::{Book, BookError, Entries};
pub use line::{
    AuthorizationState, AuthorizeOutcome, BookInstrument, BookLine, BookOperation, FollowUp, PayoutOutcome,
};
pub use memory::{MemoryBook, NextWrite};
pub(crate) use promptpay::{bill_key, named_bill_key};
pub use rocks::RocksBook;
pub use totals::{MerchantTotals, totals_by_merchant};

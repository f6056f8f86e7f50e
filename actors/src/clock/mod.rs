//! Time and randomness, which the rules get from outside: the machine's clock, the time of each merchant, and the
//! months of time zones.

mod source;
mod calendar;
mod merchant_clocks;

pub(crate) use calendar::ZoneCalendar;
pub use merchant_clocks::MerchantClocks;
pub(crate) use source::random_16;
pub use source::{Clock, OsEntropy, SystemClock};

//! Expiry: expired rows are found among the committed ones, and their merchant is asked to remove them.
//!
//! Only rows decide: data that is kept between two visits merely saves reading again. The rules check every row that is
//! named to them, so that a wrong guess removes nothing.

mod throttle;
mod remover;
mod walk;

pub use remover::EXPIRY_PAUSE;
pub(crate) use remover::Remover;
pub(crate) use throttle::ScanThrottle;
pub(crate) use walk::ExpiryWalk;

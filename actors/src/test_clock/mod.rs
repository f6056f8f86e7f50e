//! Test clocks: the time of merchants, and its advance step by step.

mod merchant_clocks;
mod calls_under_way;
mod advancer;

pub(crate) use advancer::Advancer;
pub use merchant_clocks::MerchantClocks;

//! Authentication of callers.

mod api_key;
mod gate;
mod known_keys;
mod operator;

pub use api_key::KeyAuthentication;
pub(crate) use api_key::MerchantCaller;
pub(crate) use gate::PublicGate;
pub use operator::{AdminToken, Operator};

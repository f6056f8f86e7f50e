//! Who may call.

mod api_key;
mod gate;
mod operator;

pub use api_key::{KeyAuthentication, MerchantCaller};
pub use gate::PublicGate;
pub use operator::{AdminToken, Operator};

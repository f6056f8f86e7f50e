//! Who may call.

mod api_key;
mod operator;

pub use api_key::{KeyAuthentication, MerchantCaller};
pub use operator::{AdminToken, Operator};

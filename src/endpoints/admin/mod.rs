//! `/admin/...`: what the operator calls with the admin token.

mod about_merchant;
mod balances;
mod functions;
mod installations;
mod keys;
mod merchants;
mod payment_methods;

pub use functions::functions;
pub(crate) use merchants::fresh_merchant_id;

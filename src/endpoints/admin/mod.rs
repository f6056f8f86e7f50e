//! `/admin/...`: calls of the operator, with the admin token.

mod about_merchant;
mod balances;
mod functions;
mod identifier;
mod checkpoints;
mod disputes;
mod installations;
mod keys;
mod merchants;
mod payment_methods;
mod payments;
mod payouts;
mod refunds;
mod reload;
mod resume_effects;
mod rotate_vault_key;
mod status;
mod test_clock;
mod waiting;

pub use functions::functions;
pub use merchants::fresh_merchant_id;
pub use status::status_function;

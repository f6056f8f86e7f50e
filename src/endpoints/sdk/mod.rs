//! `/sdk/...`: calls of a customer's client on behalf of an installation, without a key.

mod check_status;
mod discover_next_action;
mod functions;
mod list_installment_plans;
mod retrieve_installation_settings;
mod retrieve_payment_session;
mod select_payment_method;
mod session;
mod tokenize_card;

pub use functions::functions;
pub use tokenize_card::card_facts;

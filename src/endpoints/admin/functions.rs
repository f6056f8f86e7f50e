//! The functions of `/admin`.

use std::sync::Arc;

use super::{
    balances, checkpoints, disputes, installations, keys, merchants, payment_methods, payments, payouts, refunds,
    reload, resume_effects, rotate_vault_key, test_clock,
};
use crate::access::Operator;
use crate::protocol::dispatch::{Function, endpoint};
use crate::service::Shared;

/// The functions of `/admin`, with the service that they use.
#[must_use]
pub fn functions(service: &Shared) -> Vec<Arc<dyn Function<Operator>>> {
    let of = |service: &Shared| Arc::clone(service);
    vec![
        endpoint(&merchants::CREATE_MERCHANT, of(service), merchants::create_merchant),
        endpoint(&merchants::UPDATE_MERCHANT, of(service), merchants::update_merchant),
        endpoint(&merchants::FIND_MERCHANT, of(service), merchants::find_merchant),
        endpoint(&merchants::LIST_MERCHANTS, of(service), merchants::list_merchants),
        endpoint(&merchants::SUSPEND_MERCHANT, of(service), merchants::suspend_merchant),
        endpoint(&merchants::RESUME_MERCHANT, of(service), merchants::resume_merchant),
        endpoint(&test_clock::ADVANCE_CLOCK, of(service), test_clock::advance_clock),
        endpoint(&keys::GENERATE_KEY, of(service), keys::generate_key),
        endpoint(&keys::REVOKE_KEY, of(service), keys::revoke_key),
        endpoint(&keys::FIND_KEY, of(service), keys::find_key),
        endpoint(&keys::LIST_KEYS, of(service), keys::list_keys),
        endpoint(&payments::FIND_PAYMENTS, of(service), payments::find_payments),
        endpoint(&installations::ADD_INSTALLATION, of(service), installations::add_installation),
        endpoint(&installations::LIST_INSTALLATIONS, of(service), installations::list_installations),
        endpoint(&installations::UPDATE_INSTALLATION, of(service), installations::update_installation),
        endpoint(&installations::REMOVE_INSTALLATION, of(service), installations::remove_installation),
        endpoint(&payment_methods::CONFIGURE_PAYMENT_METHOD, of(service), payment_methods::configure_payment_method),
        endpoint(&balances::OPEN_BALANCE, of(service), balances::open_balance),
        endpoint(&balances::ADD_TOPUP, of(service), balances::add_topup),
        endpoint(&balances::CHARGE_INVOICE, of(service), balances::charge_invoice),
        endpoint(&payouts::COMPLETE_PAYOUT, of(service), payouts::complete_payout),
        endpoint(&payouts::FAIL_PAYOUT, of(service), payouts::fail_payout),
        endpoint(&refunds::COMPLETE_REFUND, of(service), refunds::complete_refund),
        endpoint(&refunds::FAIL_REFUND, of(service), refunds::fail_refund),
        endpoint(&disputes::OPEN_DISPUTE, of(service), disputes::open_dispute),
        endpoint(&disputes::ESCALATE_DISPUTE, of(service), disputes::escalate_dispute),
        endpoint(&disputes::CLOSE_DISPUTE, of(service), disputes::close_dispute),
        endpoint(&checkpoints::CREATE_CHECKPOINT, of(service), checkpoints::create_checkpoint),
        endpoint(&resume_effects::RESUME_EFFECTS, of(service), resume_effects::resume_effects),
        endpoint(&reload::RELOAD_FILES, of(service), reload::reload),
        endpoint(&rotate_vault_key::ROTATE_VAULT_KEY, of(service), rotate_vault_key::rotate_vault_key),
    ]
}

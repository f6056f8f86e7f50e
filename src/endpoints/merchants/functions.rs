//! The functions of `/merchants`.

use std::sync::Arc;

use super::{
    balance_history, cards, contacts, deliveries, disputes, events, find_payment, get_balance, initiate_payment_flow,
    keys, list_activity_logs, list_payments, metadata, operations, payouts, plans, refunds, statements, team, topups,
    webhooks,
};
use crate::access::MerchantCaller;
use crate::protocol::declaration::DeliveryDeclaration;
use crate::protocol::dispatch::{Function, endpoint};
use crate::service::Shared;

/// The requests that the server sends to merchants.
pub static DELIVERED: [&DeliveryDeclaration; 1] = [&webhooks::DELIVERED_EVENT];

/// The functions of `/merchants`, with the service that they use.
#[must_use]
pub fn functions(service: &Shared) -> Vec<Arc<dyn Function<MerchantCaller>>> {
    let of = |service: &Shared| Arc::clone(service);
    vec![
        endpoint(
            &initiate_payment_flow::INITIATE_PAYMENT_FLOW,
            of(service),
            initiate_payment_flow::initiate_payment_flow,
        ),
        endpoint(&find_payment::FIND_PAYMENT, of(service), find_payment::find_payment),
        endpoint(&operations::CAPTURE_PAYMENT, of(service), operations::capture_payment),
        endpoint(&operations::VOID_PAYMENT, of(service), operations::void_payment),
        endpoint(&operations::REVERSE_PAYMENT, of(service), operations::reverse_payment),
        endpoint(&refunds::REFUND_PAYMENT, of(service), refunds::refund_payment),
        endpoint(&refunds::FIND_REFUND, of(service), refunds::find_refund),
        endpoint(&refunds::LIST_REFUNDS, of(service), refunds::list_refunds),
        endpoint(&refunds::LIST_REFUNDS_BY_PAYMENT, of(service), refunds::list_refunds_by_payment),
        endpoint(&disputes::FIND_DISPUTE, of(service), disputes::find_dispute),
        endpoint(&disputes::LIST_DISPUTES, of(service), disputes::list_disputes),
        endpoint(&disputes::CHALLENGE_DISPUTE, of(service), disputes::challenge_dispute),
        endpoint(&disputes::CONCEDE_DISPUTE, of(service), disputes::concede_dispute),
        endpoint(&contacts::ADD_CONTACT, of(service), contacts::add_contact),
        endpoint(&contacts::UPDATE_CONTACT, of(service), contacts::update_contact),
        endpoint(&contacts::REMOVE_CONTACT, of(service), contacts::remove_contact),
        endpoint(&contacts::FIND_CONTACT, of(service), contacts::find_contact),
        endpoint(&contacts::LIST_CONTACTS, of(service), contacts::list_contacts),
        endpoint(&cards::SAVE_CARD, of(service), cards::save_card),
        endpoint(&cards::FIND_CARD, of(service), cards::find_card),
        endpoint(&cards::LIST_CARDS, of(service), cards::list_cards),
        endpoint(&cards::SET_DEFAULT_CARD, of(service), cards::set_default_card),
        endpoint(&cards::FORGET_CARD, of(service), cards::forget_card),
        endpoint(&list_activity_logs::LIST_ACTIVITY_LOGS, of(service), list_activity_logs::list_activity_logs),
        endpoint(&balance_history::BALANCE_HISTORY, of(service), balance_history::balance_history),
        endpoint(&balance_history::LIST_ENTRIES_BY_PAYMENT, of(service), balance_history::list_entries_by_payment),
        endpoint(&get_balance::GET_BALANCE, of(service), get_balance::get_balance),
        endpoint(&payouts::SEND_PAYOUT, of(service), payouts::send_payout),
        endpoint(&payouts::FIND_PAYOUT, of(service), payouts::find_payout),
        endpoint(&payouts::LIST_PAYOUTS, of(service), payouts::list_payouts),
        endpoint(&topups::FIND_TOPUP, of(service), topups::find_topup),
        endpoint(&topups::LIST_TOPUPS, of(service), topups::list_topups),
        endpoint(&statements::LIST_STATEMENTS, of(service), statements::list_statements),
        endpoint(&statements::FIND_STATEMENT, of(service), statements::find_statement),
        endpoint(&statements::RETRIEVE_STATEMENT_DOCUMENT, of(service), statements::retrieve_statement_document),
        endpoint(&webhooks::CONNECT_WEBHOOK, of(service), webhooks::connect_webhook),
        endpoint(&webhooks::UPDATE_WEBHOOK, of(service), webhooks::update_webhook),
        endpoint(&webhooks::DISCONNECT_WEBHOOK, of(service), webhooks::disconnect_webhook),
        endpoint(&webhooks::RECONNECT_WEBHOOK, of(service), webhooks::reconnect_webhook),
        endpoint(&webhooks::ROTATE_WEBHOOK_SECRET, of(service), webhooks::rotate_webhook_secret),
        endpoint(&webhooks::FIND_WEBHOOK, of(service), webhooks::find_webhook),
        endpoint(&webhooks::LIST_WEBHOOKS, of(service), webhooks::list_webhooks),
        endpoint(&deliveries::TEST_WEBHOOK, of(service), deliveries::test_webhook),
        endpoint(&deliveries::REDELIVER_WEBHOOK, of(service), deliveries::redeliver_webhook),
        endpoint(&deliveries::LIST_WEBHOOK_DELIVERIES, of(service), deliveries::list_webhook_deliveries),
        endpoint(&events::LIST_EVENTS, of(service), events::list_events),
        endpoint(&events::FIND_EVENT, of(service), events::find_event),
        endpoint(&keys::GENERATE_KEY, of(service), keys::generate_key),
        endpoint(&keys::LIST_KEYS, of(service), keys::list_keys),
        endpoint(&keys::FIND_KEY, of(service), keys::find_key),
        endpoint(&keys::UPDATE_KEY, of(service), keys::update_key),
        endpoint(&keys::REVOKE_KEY, of(service), keys::revoke_key),
        endpoint(&team::INVITE_USER, of(service), team::invite_user),
        endpoint(&team::ACCEPT_INVITATION, of(service), team::accept_invitation),
        endpoint(&team::REMOVE_USER, of(service), team::remove_user),
        endpoint(&team::LIST_USERS, of(service), team::list_users),
        endpoint(&team::LIST_USER_INVITATIONS, of(service), team::list_user_invitations),
        endpoint(&plans::LIST_PLANS, of(service), plans::list_plans),
        endpoint(&plans::RETRIEVE_CURRENT_PLAN, of(service), plans::retrieve_current_plan),
        endpoint(&plans::SELECT_PLAN, of(service), plans::select_plan),
        endpoint(&list_payments::LIST_PAYMENTS, of(service), list_payments::list_payments),
    ]
    .into_iter()
    .chain(metadata::functions(service))
    .collect()
}

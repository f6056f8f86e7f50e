//! Events as JSON: their kind, and their fields.

use serde_json::{Value, json};
use till_domain::event::Event;
use till_domain::merchant::{Integration, PaymentMethod};

use super::disclosure::Disclosure;
use super::parts::{self, moment, text};

/// An event as its kind and its fields.
pub(super) fn event(event: &Event, disclosure: Disclosure) -> (&'static str, Value) {
    match event {
        Event::MerchantCreated { merchant_id, profile, integrations } => {
            let integrations: Vec<Value> =
                integrations.iter().map(|(method, integration)| method_of(*method, integration)).collect();
            let profile = parts::profile(profile);
            let fields =
                json!({ "merchant_id": merchant_id.to_string(), "profile": profile, "integrations": integrations });
            ("merchant_created", fields)
        }
        Event::SuspensionChanged { suspended } => ("suspension_changed", json!({ "suspended": suspended })),
        Event::CardNumbersInIdentifiersChanged { allowed } => {
            ("card_numbers_in_identifiers_changed", json!({ "allowed": allowed }))
        }
        Event::KeyGenerated { merchant_id: _, key } => ("key_generated", json!({ "key": parts::api_key(key) })),
        Event::KeyRevoked { key_id, at } => {
            ("key_revoked", json!({ "key_id": key_id.to_string(), "at": at.unix_seconds() }))
        }
        Event::KeyRenamed { key_id, name } => {
            ("key_renamed", json!({ "key_id": key_id.to_string(), "name": name.as_str() }))
        }
        Event::InstallationAdded(installation) => {
            ("installation_added", json!({ "installation": parts::installation(installation) }))
        }
        Event::InstallationUpdated(installation) => {
            ("installation_updated", json!({ "installation": parts::installation(installation) }))
        }
        Event::InstallationRemoved { installation_id } => {
            ("installation_removed", json!({ "installation_id": installation_id.to_string() }))
        }
        Event::PaymentMethodConfigured { method, integration } => {
            ("payment_method_configured", method_of(*method, integration))
        }
        Event::BalanceOpened => ("balance_opened", json!({})),
        Event::TopupAdded { topup, transaction } => {
            ("topup_added", json!({ "topup": parts::topup(topup), "transaction": parts::transaction(transaction) }))
        }
        Event::CardTokenized(token) => ("card_tokenized", json!({ "token": parts::token(token, disclosure) })),
        Event::TokenQueued { token_id, installation_id, position, first, expires_at } => {
            let fields = json!({
                "token_id": disclosure.token(*token_id),
                "installation_id": installation_id.to_string(),
                "position": position,
                "first": first,
                "expires_at": expires_at.unix_seconds(),
            });
            ("token_queued", fields)
        }
        Event::TokenKept { token_id } => ("token_kept", json!({ "token_id": disclosure.token(*token_id) })),
        Event::SessionCreated { session, token_used_up } => {
            let token = token_used_up.map_or(Value::Null, |id| disclosure.token(id));
            ("session_created", json!({ "session": parts::session(session, disclosure), "token_used_up": token }))
        }
        Event::CustomerCreated(customer) => {
            ("customer_created", json!({ "customer": parts::customer(customer, disclosure) }))
        }
        Event::CustomerUpdated { before, after } => (
            "customer_updated",
            json!({ "before": parts::customer(before, disclosure), "after": parts::customer(after, disclosure) }),
        ),
        Event::PaymentInitiated { .. }
        | Event::PaymentAuthorized { .. }
        | Event::PaymentFailed { .. }
        | Event::PaymentCaptured { .. }
        | Event::AuthorizationLapsed { .. }
        | Event::PaymentVoided { .. }
        | Event::TransactionSettled { .. }
        | Event::CardSaved { .. }
        | Event::DefaultCardSet { .. } => of_payment(event, disclosure),
        Event::UserInvited { .. }
        | Event::InvitationAccepted { .. }
        | Event::UserRemoved { .. }
        | Event::PlanSwitched { .. } => of_team(event, disclosure),
        Event::MetadataSaved { .. }
        | Event::MetadataSetFormed { .. }
        | Event::MetadataItemAdded { .. }
        | Event::MetadataItemRemoved { .. }
        | Event::MetadataEnded { .. }
        | Event::MetadataTimerMoved { .. }
        | Event::MetadataSwept { .. } => of_metadata(event, disclosure),
        Event::SessionsSwept { session_ids } => ("sessions_swept", json!({ "payment_session_ids": ids(session_ids) })),
        Event::TokensSwept { token_ids } => {
            let tokens: Vec<Value> = token_ids.iter().map(|id| disclosure.token(*id)).collect();
            ("tokens_swept", json!({ "token_ids": tokens }))
        }
        Event::AnswersSwept { scopes, created_merchants } => {
            let created: Vec<&str> = created_merchants.iter().map(|key| key.as_str()).collect();
            let scopes: Vec<Value> = scopes.iter().map(parts::scope).collect();
            ("answers_swept", json!({ "calls": scopes, "created_merchants": created }))
        }
    }
}

/// How payments of a method are carried out.
fn method_of(method: PaymentMethod, integration: &Integration) -> Value {
    json!({ "payment_method": method.name(), "integration": parts::integration(integration) })
}

fn ids<T: ToString>(ids: &[T]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

/// Payments, and what follows from them.
fn of_payment(event: &Event, disclosure: Disclosure) -> (&'static str, Value) {
    if let Event::PaymentInitiated { payment, effect: _ } = event {
        ("payment_initiated", json!({ "payment": parts::initiated(payment, disclosure) }))
    } else if let Event::PaymentAuthorized { payment_id, authorization } = event {
        let authorization = parts::authorization(authorization);
        ("payment_authorized", json!({ "payment_id": payment_id.to_string(), "authorization": authorization }))
    } else if let Event::PaymentFailed { payment_id, released_minor, failure } = event {
        let failure = parts::failure(failure);
        let fields = json!({ "payment_id": payment_id.to_string(), "released": released_minor, "failure": failure });
        ("payment_failed", fields)
    } else if let Event::PaymentCaptured { payment_id, released_minor, capture, transaction, activity } = event {
        let fields = json!({
            "payment_id": payment_id.to_string(),
            "released": released_minor,
            "capture": parts::capture(capture),
            "transaction": parts::transaction(transaction),
            "activity": parts::activity(activity, disclosure),
        });
        ("payment_captured", fields)
    } else if let Event::AuthorizationLapsed { payment_id, effect: _, lapses_at } = event {
        let fields = json!({ "payment_id": payment_id.to_string(), "lapses_at": lapses_at.unix_seconds() });
        ("authorization_lapsed", fields)
    } else if let Event::PaymentVoided { payment_id, released_minor, activity } = event {
        let activity = parts::activity(activity, disclosure);
        let fields = json!({ "payment_id": payment_id.to_string(), "released": released_minor, "activity": activity });
        ("payment_voided", fields)
    } else if let Event::TransactionSettled { transaction_id, settles_at, credit_minor, fee_minor, at } = event {
        let fields = json!({
            "transaction_id": transaction_id.to_string(),
            "settles_at": settles_at.unix_seconds(),
            "credit": credit_minor,
            "fee": fee_minor,
            "at": at.unix_seconds(),
        });
        ("transaction_settled", fields)
    } else if let Event::CardSaved { card, is_default, at } = event {
        let card = parts::card(card, disclosure);
        ("card_saved", json!({ "card": card, "is_default": is_default, "at": at.unix_seconds() }))
    } else if let Event::DefaultCardSet { customer_id, card_id, at } = event {
        let fields = json!({
            "customer_id": customer_id.to_string(),
            "card_id": card_id.to_string(),
            "at": at.unix_seconds(),
        });
        ("default_card_set", fields)
    } else {
        unreachable!("only events of payments are handed in")
    }
}

/// The team and the plan.
fn of_team(event: &Event, disclosure: Disclosure) -> (&'static str, Value) {
    if let Event::UserInvited { invitation, activity } = event {
        let (invitation, activity) = (parts::invitation(invitation, disclosure), parts::activity(activity, disclosure));
        ("user_invited", json!({ "invitation": invitation, "activity": activity }))
    } else if let Event::InvitationAccepted { user, activity } = event {
        let (user, activity) = (parts::user(user, disclosure), parts::activity(activity, disclosure));
        ("invitation_accepted", json!({ "user": user, "activity": activity }))
    } else if let Event::UserRemoved { user_id, activity } = event {
        let activity = parts::activity(activity, disclosure);
        ("user_removed", json!({ "user_id": user_id.to_string(), "activity": activity }))
    } else if let Event::PlanSwitched { choice, activity } = event {
        let fields = json!({
            "plan_id": choice.plan.id.to_string(),
            "plan_name": choice.plan.name.as_str(),
            "since": choice.since.unix_seconds(),
            "activity": parts::activity(activity, disclosure),
        });
        ("plan_switched", fields)
    } else {
        unreachable!("only events of the team and the plan are handed in")
    }
}

/// Metadata. What stands in it is the merchant's, and may be personal.
fn of_metadata(event: &Event, disclosure: Disclosure) -> (&'static str, Value) {
    if let Event::MetadataSaved { key, record, timer_was: _, document, garbage_below } = event {
        let document = document.as_ref().map_or(Value::Null, |document| disclosure.text(document.as_str()));
        let fields = json!({
            "key": key.as_str(),
            "record": parts::metadata_record(record),
            "document": document,
            "replaced_sets_below": garbage_below.map(|number| number.0),
        });
        ("metadata_saved", fields)
    } else if let Event::MetadataSetFormed { id, number, set, items } = event {
        let (set, items) = (parts::metadata_set(set), disclosure.text(items.as_str()));
        let fields = json!({ "metadata_id": id.to_string(), "set_number": number.0, "set": set, "items": items });
        ("metadata_set_formed", fields)
    } else if let Event::MetadataItemAdded { id, number, set, position, item } = event {
        let fields = json!({
            "metadata_id": id.to_string(),
            "set_number": number.0,
            "set": parts::metadata_set(set),
            "position": position,
            "item": disclosure.text(item.as_str()),
        });
        ("metadata_item_added", fields)
    } else if let Event::MetadataItemRemoved { id, number, set, position, hash: _ } = event {
        let set = parts::metadata_set(set);
        let fields = json!({ "metadata_id": id.to_string(), "set_number": number.0, "set": set, "position": position });
        ("metadata_item_removed", fields)
    } else if let Event::MetadataEnded { key, id, timer_due: _, garbage_below } = event {
        let below = garbage_below.map(|number| number.0);
        let fields = json!({ "key": key.as_str(), "metadata_id": id.to_string(), "replaced_sets_below": below });
        ("metadata_ended", fields)
    } else if let Event::MetadataTimerMoved { key, record, timer_was } = event {
        let fields = json!({
            "key": key.as_str(),
            "record": parts::metadata_record(record),
            "timer_was": moment(Some(*timer_was)),
        });
        ("metadata_timer_moved", fields)
    } else if let Event::MetadataSwept { id, items, sets, finished } = event {
        let sets: Vec<u32> = sets.iter().map(|number| number.0).collect();
        let fields = json!({ "metadata_id": text(Some(id)), "items": items.len(), "sets": sets, "finished": finished });
        ("metadata_swept", fields)
    } else {
        unreachable!("only events of metadata are handed in")
    }
}

//! Parts of what happened as JSON. Amounts are minor units and times Unix seconds, as callers see them. Digests and
//! fingerprints are left out: they say nothing to a person.

use serde_json::{Value, json};
use till_domain::activity::Activity;
use till_domain::card::{Card, CardFacts, SaveCard, Token};
use till_domain::command::{Caller, IdempotencyScope};
use till_domain::customer::{Contact, Customer, CustomerRef};
use till_domain::effect::{Effect, EffectKind, Timer, TimerKind};
use till_domain::event::Answer;
use till_domain::key::ApiKey;
use till_domain::ledger::{Account, Cause, Leg, Topup, Transaction};
use till_domain::merchant::{Installation, Integration, Profile};
use till_domain::metadata::{MetadataRecord, MetadataSet};
use till_domain::payment::{Authorization, Capture, Failure, Payment};
use till_domain::session::{Instrument, Session};
use till_domain::team::{Invitation, User};
use till_domain::time::Millis;

use super::disclosure::Disclosure;
use crate::endpoints::shapes::activity::ActivityShape;
use crate::endpoints::shapes::payment::PaymentShape;

/// An optional id or text.
pub(super) fn text<T: ToString>(value: Option<T>) -> Value {
    value.map_or(Value::Null, |value| Value::from(value.to_string()))
}

/// An optional instant.
pub(super) fn moment(at: Option<Millis>) -> Value {
    at.map_or(Value::Null, |at| Value::from(at.unix_seconds()))
}

pub(super) fn profile(profile: &Profile) -> Value {
    let Profile { name, currency, time_zone, settlement_delay_seconds, support_email, created_at, .. } = profile;
    let Profile { suspended, card_numbers_in_identifiers, .. } = profile;
    json!({
        "name": name.as_str(),
        "currency": currency.code(),
        "time_zone": time_zone.as_str(),
        "settlement_delay_seconds": settlement_delay_seconds,
        "support_email": support_email.as_ref().map(|email| email.as_str()),
        "created_at": created_at.unix_seconds(),
        "suspended": suspended,
        "card_numbers_in_identifiers": card_numbers_in_identifiers,
    })
}

pub(super) fn integration(integration: &Integration) -> Value {
    let Integration { acquirer, enabled, authorizes_without_capture, fee } = integration;
    json!({
        "acquirer": acquirer.name(),
        "enabled": enabled,
        "authorizes_without_capture": authorizes_without_capture,
        "fee_basis_points": fee.basis_points,
        "fee_fixed_amount": fee.fixed_minor,
    })
}

pub(super) fn installation(installation: &Installation) -> Value {
    let Installation { id, name, platform, identifier, created_at } = installation;
    json!({
        "installation_id": id.to_string(),
        "name": name.as_str(),
        "platform": platform.name(),
        "identifier": identifier.as_str(),
        "created_at": created_at.unix_seconds(),
    })
}

pub(super) fn api_key(key: &ApiKey) -> Value {
    let ApiKey { id, digest: _, display, name, api_version, created_at, expires_at, revoked_at } = key;
    json!({
        "key_id": id.to_string(),
        "display": display,
        "name": name.as_str(),
        "api_version": api_version,
        "created_at": created_at.unix_seconds(),
        "expires_at": moment(*expires_at),
        "revoked_at": moment(*revoked_at),
    })
}

fn card_facts(card: &CardFacts, disclosure: Disclosure) -> Value {
    let CardFacts { scheme, first_digits, last_digits, expiry, holder, fingerprint: _ } = card;
    json!({
        "scheme": scheme.name(),
        "first_digits": first_digits,
        "last_digits": last_digits,
        "expiration_date": format!("{:02}/{:02}", expiry.month, expiry.year % 100),
        "holder": disclosure.holder(holder),
    })
}

pub(super) fn token(token: &Token, disclosure: Disclosure) -> Value {
    let Token { id, installation_id, card, usage, created_at, expires_at, used } = token;
    json!({
        "token_id": disclosure.token(*id),
        "installation_id": installation_id.to_string(),
        "card": card_facts(card, disclosure),
        "usage": usage.name(),
        "created_at": created_at.unix_seconds(),
        "expires_at": moment(*expires_at),
        "used": used,
    })
}

pub(super) fn card(card: &Card, disclosure: Disclosure) -> Value {
    let Card { id, customer_id, external_id, card, created_at } = card;
    json!({
        "card_id": id.to_string(),
        "customer_id": customer_id.to_string(),
        "external_id": external_id.as_ref().map(|id| id.as_str()),
        "card": card_facts(card, disclosure),
        "created_at": created_at.unix_seconds(),
    })
}

fn contact(contact: &Contact, disclosure: Disclosure) -> Value {
    let Contact { email, mobile, name } = contact;
    json!({
        "email": disclosure.email(email.as_ref()),
        "mobile": disclosure.mobile(mobile.as_ref()),
        "name": disclosure.person(name.as_ref()),
    })
}

pub(super) fn customer(customer: &Customer, disclosure: Disclosure) -> Value {
    let Customer { id, external_id, email, mobile, name, default_card_id, created_at, updated_at } = customer;
    json!({
        "customer_id": id.to_string(),
        "external_id": external_id.as_ref().map(|id| id.as_str()),
        "email": disclosure.email(email.as_ref()),
        "mobile": disclosure.mobile(mobile.as_ref()),
        "name": disclosure.person(name.as_ref()),
        "default_card_id": text(*default_card_id),
        "created_at": created_at.unix_seconds(),
        "updated_at": updated_at.unix_seconds(),
    })
}

fn instrument(instrument: &Instrument, disclosure: Disclosure) -> Value {
    match instrument {
        Instrument::UnnamedCard => json!({ "kind": "card, not named yet" }),
        Instrument::Token { token_id, usage, card } => json!({
            "kind": "token",
            "token_id": disclosure.token(*token_id),
            "usage": usage.name(),
            "card": card_facts(card, disclosure),
        }),
        Instrument::SavedCard { card_id, owner, card } => json!({
            "kind": "saved card",
            "card_id": card_id.to_string(),
            "customer_id": owner.to_string(),
            "card": card_facts(card, disclosure),
        }),
        Instrument::Installment { plan, interest_bearer } => json!({
            "kind": "instalments",
            "plan": plan.id(),
            "interest_bearer": interest_bearer.name(),
        }),
    }
}

pub(super) fn session(session: &Session, disclosure: Disclosure) -> Value {
    let Session { id, installation_id, money, instrument: means, customer, created_at, expires_at, payment_id } =
        session;
    let reference = customer.id.as_ref().map(|reference| match reference {
        CustomerRef::Own(id) => id.to_string(),
        CustomerRef::External(id) => id.as_str().to_owned(),
    });
    json!({
        "payment_session_id": id.to_string(),
        "installation_id": installation_id.to_string(),
        "amount": money.amount.get(),
        "currency": money.currency.code(),
        "instrument": instrument(means, disclosure),
        "customer": reference,
        "contact": contact(&customer.contact, disclosure),
        "created_at": created_at.unix_seconds(),
        "expires_at": expires_at.unix_seconds(),
        "payment_id": text(*payment_id),
    })
}

/// A payment as `find-payment` answers it at `now`; personal data as `disclosure` says.
pub(super) fn payment(payment: &Payment, now: Millis, disclosure: Disclosure) -> Value {
    let mut shown = shape(PaymentShape::new(payment, now));
    let Contact { email, mobile, name } = &payment.contact;
    shown["customer_email"] = disclosure.email(email.as_ref());
    shown["customer_mobile"] = disclosure.mobile(mobile.as_ref());
    shown["customer_name"] = disclosure.person(name.as_ref());
    shown
}

/// A payment with what only the log says of it.
pub(super) fn initiated(payment: &Payment, disclosure: Disclosure) -> Value {
    let mut shown = self::payment(payment, payment.created_at, disclosure);
    shown["instrument"] = instrument(&payment.instrument, disclosure);
    shown["acquirer"] = Value::from(payment.acquirer.name());
    shown["save_card"] = text(payment.save_card.map(SaveCard::name));
    shown
}

pub(super) fn authorization(authorization: &Authorization) -> Value {
    let Authorization { acquirer_reference, at, lapses_at } = authorization;
    json!({ "acquirer_reference": acquirer_reference, "at": at.unix_seconds(), "lapses_at": moment(*lapses_at) })
}

pub(super) fn failure(failure: &Failure) -> Value {
    json!({ "failure_code": failure.code, "failure_message": failure.message })
}

pub(super) fn capture(capture: &Capture) -> Value {
    let Capture { amount_minor, fee_minor, transaction_id, at, settles_at } = capture;
    json!({
        "amount": amount_minor,
        "fee": fee_minor,
        "transaction_id": transaction_id.to_string(),
        "at": at.unix_seconds(),
        "settles_at": settles_at.unix_seconds(),
    })
}

pub(super) fn topup(topup: &Topup) -> Value {
    let Topup { id, external_id, amount, transaction_id, created_at } = topup;
    json!({
        "topup_id": id.to_string(),
        "external_id": external_id.as_ref().map(|id| id.as_str()),
        "amount": amount.get(),
        "transaction_id": transaction_id.to_string(),
        "created_at": created_at.unix_seconds(),
    })
}

pub(super) fn transaction(transaction: &Transaction) -> Value {
    let Transaction { id, cause, currency, legs, status, created_at, settles_at, effective_at, canceled_at } =
        transaction;
    json!({
        "transaction_id": id.to_string(),
        "cause": self::cause(*cause),
        "currency": currency.code(),
        "legs": legs.iter().map(leg).collect::<Vec<_>>(),
        "status": status.name(),
        "created_at": created_at.unix_seconds(),
        "settles_at": moment(*settles_at),
        "effective_at": moment(*effective_at),
        "canceled_at": moment(*canceled_at),
    })
}

/// The id of what a transaction was posted for.
pub(super) fn cause(cause: Cause) -> String {
    match cause {
        Cause::Topup(id) => id.to_string(),
        Cause::Capture(id) => id.to_string(),
    }
}

fn leg(leg: &Leg) -> Value {
    let Leg { entry_id, account, direction, entry_type, amount } = leg;
    let account = match account {
        Account::Balance => "balance",
        Account::AcquirerClearing => "acquirer_clearing",
        Account::BankClearing => "bank_clearing",
        Account::Fees => "fees",
    };
    json!({
        "entry_id": entry_id.to_string(),
        "account": account,
        "direction": direction.name(),
        "type": entry_type.name(),
        "amount": amount.get(),
    })
}

/// An entry of the activity log as it is answered; addresses as `disclosure` says.
pub(super) fn activity(activity: &Activity, disclosure: Disclosure) -> Value {
    let mut shown = shape(ActivityShape::new(activity));
    for member in ["actor_email", "user_email"] {
        let shown = &mut shown[member];
        if let Some(email) = shown.as_str().map(str::to_owned) {
            *shown = disclosure.text(&email);
        }
    }
    shown
}

/// What is answered, as a value that can be added to.
pub(super) fn shape(shape: impl serde::Serialize) -> Value {
    serde_json::to_value(shape).expect("a shape has a JSON form")
}

pub(super) fn invitation(invitation: &Invitation, disclosure: Disclosure) -> Value {
    let Invitation { id, email, created_at, expires_at, accepted } = invitation;
    json!({
        "invitation_id": id.to_string(),
        "email": disclosure.email(Some(email)),
        "created_at": created_at.unix_seconds(),
        "expires_at": expires_at.unix_seconds(),
        "user_id": text(accepted.map(|accepted| accepted.user_id)),
    })
}

pub(super) fn user(user: &User, disclosure: Disclosure) -> Value {
    let User { id, email, invitation_id, created_at } = user;
    json!({
        "user_id": id.to_string(),
        "email": disclosure.email(Some(email)),
        "invitation_id": invitation_id.to_string(),
        "created_at": created_at.unix_seconds(),
    })
}

pub(super) fn metadata_record(record: &MetadataRecord) -> Value {
    json!({
        "metadata_id": record.id.to_string(),
        "version": record.version,
        "bytesize": record.bytesize,
        "items": record.item_count,
        "created_at": record.created_at.unix_seconds(),
        "updated_at": record.updated_at.unix_seconds(),
        "expires_at": record.expires_at.unix_seconds(),
        "ttl_seconds": record.ttl_seconds,
    })
}

pub(super) fn metadata_set(set: &MetadataSet) -> Value {
    let MetadataSet { item_count, item_bytes, next_position } = set;
    json!({ "items": item_count, "item_bytes": item_bytes, "next_position": next_position })
}

/// A call to the acquirer.
pub(super) fn effect(effect: &Effect) -> Value {
    let kind = match effect.kind {
        EffectKind::Authorize => "authorize",
        EffectKind::Void => "void",
    };
    json!({ "effect": kind, "payment_id": effect.payment_id.to_string() })
}

/// An instant at which something is due.
pub(super) fn timer(timer: Timer) -> Value {
    let (kind, of) = match timer.kind {
        TimerKind::Settle(id) => ("settle", id.to_string()),
        TimerKind::Lapse(id) => ("lapse", id.to_string()),
        TimerKind::ExpireMetadata(id) => ("expire_metadata", id.to_string()),
    };
    json!({ "timer": kind, "of": of, "due": timer.due.unix_seconds() })
}

/// Who asked.
pub(super) fn caller(caller: Caller) -> String {
    match caller {
        Caller::ApiKey(id) => id.to_string(),
        Caller::Sdk(id) => id.to_string(),
        Caller::Operator => "operator".to_owned(),
        Caller::System => "till".to_owned(),
    }
}

/// Where an Idempotency-Key counts.
pub(super) fn scope(scope: &IdempotencyScope) -> Value {
    let IdempotencyScope { installation_id, endpoint, key } = scope;
    json!({ "endpoint": endpoint, "idempotency_key": key.as_str(), "installation_id": text(*installation_id) })
}

/// What a call was answered.
pub(super) fn answer(answer: &Answer, disclosure: Disclosure) -> Value {
    match answer {
        Answer::Merchant(id) => json!({ "merchant_id": id.to_string() }),
        Answer::Key { key_id, created_at } => {
            json!({ "key_id": key_id.to_string(), "created_at": created_at.unix_seconds() })
        }
        Answer::Installation(id) => json!({ "installation_id": id.to_string() }),
        Answer::Topup(id) => json!({ "topup_id": id.to_string() }),
        Answer::Token(id) => json!({ "token_id": disclosure.token(*id) }),
        Answer::Session(id) => json!({ "payment_session_id": id.to_string() }),
        Answer::Payment(id) => json!({ "payment_id": id.to_string() }),
        Answer::Changed(changed) => json!({ "changed": changed }),
        Answer::Invitation(id) => json!({ "invitation_id": id.to_string() }),
        Answer::User(id) => json!({ "user_id": id.to_string() }),
        Answer::Metadata { version, created_at, updated_at, expires_at } => json!({
            "version": version,
            "created_at": created_at.unix_seconds(),
            "updated_at": updated_at.unix_seconds(),
            "expires_at": expires_at.unix_seconds(),
        }),
    }
}

//! What the operator asks: merchants, keys, installations, payment methods, the balance.

use super::envelope::{Context, Decision, profile};
use super::posting;
use crate::command::{AddInstallation, AddTopup, CreateMerchant, GenerateKey};
use crate::event::{Answer, Event, VaultWrite};
use crate::ids::KeyId;
use crate::key::{ApiKey, KEYS_MAX};
use crate::ledger::Topup;
use crate::merchant::{INSTALLATIONS_MAX, Installation, Integration, PaymentMethod, Profile};
use crate::records::{KeyDirectory, MerchantState, Records, TopupsByExternalId};
use crate::refusal::{Refusal, Stop};

pub(super) fn create_merchant(
    state: &MerchantState,
    command: &CreateMerchant,
    context: &Context<'_>,
) -> (Decision, Answer) {
    let answer = Answer::Merchant(command.merchant_id);
    if state.profile.is_some() {
        return (Decision::nothing(), answer);
    }
    let profile = Profile {
        name: command.name.clone(),
        currency: command.currency,
        time_zone: command.time_zone.clone(),
        settlement_delay_seconds: command.settlement_delay_seconds,
        support_email: command.support_email.clone(),
        created_at: context.now,
        suspended: false,
    };
    let integrations = PaymentMethod::ALL.into_iter().map(|method| (method, Integration::initial())).collect();
    let event = Event::MerchantCreated { merchant_id: command.merchant_id, profile, integrations };
    (Decision::one(event), answer)
}

pub(super) fn set_suspended(state: &MerchantState, suspended: bool) -> (Decision, Answer) {
    let changes = state.profile.as_ref().is_some_and(|profile| profile.suspended != suspended);
    let decision = if changes { Decision::one(Event::SuspensionChanged { suspended }) } else { Decision::nothing() };
    (decision, Answer::Changed(changes))
}

/// The text of the key is kept, in the vault, only where a repeated call must be able to show it again.
pub(super) fn generate_key(
    records: &impl Records,
    command: &GenerateKey,
    may_be_repeated: bool,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), Stop> {
    if records.state().keys.len() >= KEYS_MAX {
        return Err(Refusal::TooMany { limit: KEYS_MAX }.into());
    }
    if let Some(owner) = records.get::<KeyDirectory>(command.digest)? {
        // 190 random bits do not repeat; a repeated digest is the caller's mistake, never a second key.
        return Ok((Decision::nothing(), Answer::Key { key_id: owner.key_id, created_at: context.now }));
    }
    let key = ApiKey {
        id: context.mint(),
        digest: command.digest,
        display: command.display.clone(),
        name: command.name.clone(),
        api_version: command.api_version.clone(),
        created_at: context.now,
        expires_at: command.expires_at,
        revoked_at: None,
    };
    let answer = Answer::Key { key_id: key.id, created_at: key.created_at };
    let keep_text = may_be_repeated.then_some(VaultWrite::KeepKeyText(key.id));
    let event = Event::KeyGenerated { merchant_id: command.merchant_id, key };
    Ok((Decision { events: vec![event], vault: keep_text.into_iter().collect() }, answer))
}

pub(super) fn revoke_key(
    state: &MerchantState,
    key_id: KeyId,
    context: &Context<'_>,
) -> Result<(Decision, Answer), Refusal> {
    let key = state.keys.get(&key_id).ok_or(Refusal::KeyNotFound)?;
    if key.revoked_at.is_some() {
        return Ok((Decision::nothing(), Answer::Changed(false)));
    }
    Ok((Decision::one(Event::KeyRevoked { key_id, at: context.now }), Answer::Changed(true)))
}

pub(super) fn add_installation(
    state: &MerchantState,
    command: &AddInstallation,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), Refusal> {
    if state.installations.len() >= INSTALLATIONS_MAX {
        return Err(Refusal::TooMany { limit: INSTALLATIONS_MAX });
    }
    let installation = Installation {
        id: context.mint(),
        name: command.name.clone(),
        platform: command.platform,
        identifier: command.identifier.clone(),
        created_at: context.now,
    };
    let answer = Answer::Installation(installation.id);
    Ok((Decision::one(Event::InstallationAdded(installation)), answer))
}

pub(super) fn configure_payment_method(
    state: &MerchantState,
    method: PaymentMethod,
    integration: Integration,
) -> (Decision, Answer) {
    let changes = state.integrations.get(&method) != Some(&integration);
    let event = Event::PaymentMethodConfigured { method, integration };
    let decision = if changes { Decision::one(event) } else { Decision::nothing() };
    (decision, Answer::Changed(changes))
}

pub(super) fn open_balance(state: &MerchantState) -> (Decision, Answer) {
    if state.balance.is_some() {
        return (Decision::nothing(), Answer::Changed(false));
    }
    (Decision::one(Event::BalanceOpened), Answer::Changed(true))
}

pub(super) fn add_topup(
    records: &impl Records,
    command: &AddTopup,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), Stop> {
    if let Some(external_id) = &command.external_id
        && let Some(topup_id) = records.get::<TopupsByExternalId>(external_id.clone())?
    {
        return Err(Refusal::TopupExternalIdTaken { topup_id }.into());
    }
    let state = records.state();
    posting::check_room(state, command.amount)?;
    let currency = profile(state)?.currency;
    let topup_id = context.mint();
    let transaction = posting::topup(topup_id, command.amount, currency, context);
    let topup = Topup {
        id: topup_id,
        external_id: command.external_id.clone(),
        amount: command.amount,
        transaction_id: transaction.id,
        created_at: context.now,
    };
    Ok((Decision::one(Event::TopupAdded { topup, transaction }), Answer::Topup(topup_id)))
}

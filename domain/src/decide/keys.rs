//! API keys, for calls of the operator and of the merchant's own program.

use super::context::{Context, Decision};
use super::team::check_limit_of;
use crate::command::GenerateKey;
use crate::event::{Answer, Event, VaultWrite};
use crate::ids::KeyId;
use crate::key::{ApiKey, KEYS_MAX, LIVE_KEYS_MAX};
use crate::records::{KeyDirectory, MerchantState, Records};
use crate::refusal::{DecisionError, Refusal};
use crate::text::Name;

/// The text of the key is kept, in the vault, only when a repeated call must be able to show it again.
pub(super) fn generate_key(
    records: &impl Records,
    command: &GenerateKey,
    may_be_repeated: bool,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    if command.expires_at.is_some_and(|end| end <= context.now) {
        return Err(Refusal::KeyEndPassed.into());
    }
    check_limit_of(command.role, command.refund_limit)?;
    check_room(records.state(), context)?;
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
        role: command.role,
        refund_limit: command.refund_limit,
    };
    let answer = Answer::Key { key_id: key.id, created_at: key.created_at };
    let keep_text = may_be_repeated.then_some(VaultWrite::KeepKeyText(key.id));
    let event = Event::KeyGenerated { merchant_id: command.merchant_id, key };
    Ok((Decision { events: vec![event], vault: keep_text.into_iter().collect() }, answer))
}

fn check_room(state: &MerchantState, context: &Context<'_>) -> Result<(), Refusal> {
    if state.keys.len() >= KEYS_MAX {
        return Err(Refusal::TooMany { kind: "API keys, former ones included", limit: KEYS_MAX });
    }
    if state.keys.values().filter(|key| key.is_live(context.now)).count() >= LIVE_KEYS_MAX {
        return Err(Refusal::TooMany { kind: "API keys", limit: LIVE_KEYS_MAX });
    }
    Ok(())
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

/// A revoked key can be renamed too: a name is for people who read lists.
pub(super) fn rename_key(state: &MerchantState, key_id: KeyId, name: &Name) -> Result<(Decision, Answer), Refusal> {
    let key = state.keys.get(&key_id).ok_or(Refusal::KeyNotFound)?;
    if key.name == *name {
        return Ok((Decision::nothing(), Answer::Changed(false)));
    }
    Ok((Decision::one(Event::KeyRenamed { key_id, name: name.clone() }), Answer::Changed(true)))
}

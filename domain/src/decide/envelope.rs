//! The steps of every command: checks that the caller may change something, replay of a repeated call, the record.

use super::caller::role_of;
use super::context::{Context, Decision};
use super::dispatch::dispatch;
use super::{checkouts, identifiers, preparations, statements, sweeping, webhook_events};
use crate::command::{AcquirerChange, Caller, Command, Idempotency, Request, WebhookChange};
use crate::event::{ANSWER_KEPT_SECONDS, Answer, Mutation, StoredAnswer, VaultWrite};
use crate::records::{Answers, MerchantState, Records, Unreadable};
use crate::refusal::{DecisionError, Refusal};
use crate::time::Millis;

/// The result of a request that is not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was carried out before, with this answer.
    Replayed(Answer),
    /// It changes nothing, with this answer.
    Unchanged(Answer),
    /// It takes effect with this record.
    Effective {
        /// The record to append.
        mutation: Box<Mutation>,
        /// The writes to the vault that belong to it.
        vault: Vec<VaultWrite>,
        /// The answer, to be given once both are durable.
        answer: Answer,
    },
}

/// The changes that `request` would make, or its refusal. Reads the records and changes nothing.
///
/// # Errors
/// [`DecisionError::Refused`] when the rules refuse it; [`DecisionError::Unreadable`] when a record that it depends on
/// cannot be read. In both cases nothing may be changed.
pub fn decide(records: &impl Records, request: &Request, context: &mut Context<'_>) -> Result<Outcome, DecisionError> {
    check_caller(records.state(), request, context.now)?;
    identifiers::check(records.state(), request)?;
    let earlier = earlier_answer(records, request.idempotency.as_ref())?;
    if let Some(answer) = replayed(earlier.as_ref(), request.idempotency.as_ref(), context.now)? {
        return Ok(Outcome::Replayed(answer));
    }
    check_not_suspended(records.state(), request)?;
    let (mut decision, answer) = dispatch(records, request, context)?;
    decision.events.extend(checkouts::events_after_payments(records, &decision.events, context)?);
    decision.events.extend(webhook_events::events_for_webhooks(records, &decision.events, context)?);
    decision.vault.extend(preparations::vault_writes(records, &decision.events)?);
    let months = statements::months_to_close(records, &decision.events, context)?;
    decision.events.splice(..0, months);
    // An expired answer is replaced by the new one, and its data in the vault is removed.
    let left = earlier.filter(|earlier| earlier.answer != answer);
    decision.vault.extend(left.and_then(|earlier| sweeping::vault_removal_of(earlier.answer)));
    Ok(outcome(request, decision, answer, context))
}

fn check_caller(state: &MerchantState, request: &Request, now: Millis) -> Result<(), Refusal> {
    let creates = matches!(request.command, Command::CreateMerchant(_));
    if state.profile.is_none() && !creates {
        return Err(Refusal::MerchantNotFound);
    }
    match request.caller {
        Caller::ApiKey(_) | Caller::User(_) => {
            let (role, refund_limit) = role_of(state, request.caller, now).ok_or(Refusal::CallerNotLive)?;
            let act = request.command.act();
            let may = act.is_some_and(|act| act.is_open_to(role, refund_limit));
            if may { Ok(()) } else { Err(Refusal::Forbidden { act, role }) }
        }
        Caller::Sdk(installation_id) => {
            let known = state.installations.contains_key(&installation_id);
            if known { Ok(()) } else { Err(Refusal::InstallationNotFound) }
        }
        Caller::Operator | Caller::System => Ok(()),
    }
}

/// The answer that is stored under the call's key, expired or not.
fn earlier_answer(
    records: &impl Records,
    idempotency: Option<&Idempotency>,
) -> Result<Option<StoredAnswer>, Unreadable> {
    idempotency.map_or(Ok(None), |idempotency| records.get::<Answers>(idempotency.scope.clone()))
}

fn replayed(
    earlier: Option<&StoredAnswer>,
    idempotency: Option<&Idempotency>,
    now: Millis,
) -> Result<Option<Answer>, Refusal> {
    let (Some(earlier), Some(idempotency)) = (earlier, idempotency) else { return Ok(None) };
    if !earlier.is_kept(now) {
        return Ok(None);
    }
    let is_same = earlier.fingerprint == idempotency.fingerprint;
    if is_same { Ok(Some(earlier.answer)) } else { Err(Refusal::IdempotencyKeyReused) }
}

/// Refuses most calls of a suspended merchant and of its customers. The operator and Till itself are not affected.
fn check_not_suspended(state: &MerchantState, request: &Request) -> Result<(), Refusal> {
    let suspended = state.profile.as_ref().is_some_and(|profile| profile.suspended);
    let refused = match request.caller {
        Caller::ApiKey(_) | Caller::User(_) | Caller::Sdk(_) => suspended && !request.command.works_while_suspended(),
        Caller::Operator | Caller::System => false,
    };
    if refused { Err(Refusal::MerchantSuspended) } else { Ok(()) }
}

/// The record of a decision. A call with a key leaves one even when it changed nothing, so that its answer is kept. A
/// call that is only judged has no answer yet.
fn outcome(request: &Request, decision: Decision, answer: Answer, context: &Context<'_>) -> Outcome {
    let is_only_judged = matches!(
        request.command,
        Command::JudgeAdvance(_)
            | Command::ChangeWebhook(_, WebhookChange::JudgeTest(_))
            | Command::ChangeAcquirer(_, AcquirerChange::Judge(_))
    );
    let kept = request.idempotency.as_ref().filter(|_| !is_only_judged).map(|idempotency| {
        let expires_at = context.now.plus_seconds(ANSWER_KEPT_SECONDS);
        (idempotency.scope.clone(), StoredAnswer { fingerprint: idempotency.fingerprint, answer, expires_at })
    });
    if decision.events.is_empty() && kept.is_none() {
        return Outcome::Unchanged(answer);
    }
    let mutation = Box::new(Mutation {
        at: context.now,
        caller: request.caller,
        last_id: context.last_id(),
        answer: kept,
        events: decision.events,
    });
    Outcome::Effective { mutation, vault: decision.vault, answer }
}

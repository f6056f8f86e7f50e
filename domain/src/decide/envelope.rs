//! The steps of every command: who asks, whether it was asked before, whether it may change anything.

use super::context::{Context, Decision};
use super::dispatch::dispatch;
use super::{identifiers, statements, sweeping, webhook_events};
use crate::command::{Caller, Command, Idempotency, Request};
use crate::event::{ANSWER_KEPT_SECONDS, Answer, Mutation, StoredAnswer, VaultWrite};
use crate::records::{Answers, MerchantState, Records, Unreadable};
use crate::refusal::{Refusal, Stop};
use crate::time::Millis;

/// What comes of a request that is not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was carried out before; this was answered.
    Replayed(Answer),
    /// It changes nothing, and says so.
    Unchanged(Answer),
    /// It takes effect with this record.
    Effective {
        /// The record to append.
        mutation: Box<Mutation>,
        /// What is written to the vault with it.
        vault: Vec<VaultWrite>,
        /// What to answer once both are durable.
        answer: Answer,
    },
}

/// What `request` would change, or why it is refused. Reads the records and changes nothing.
///
/// # Errors
/// [`Stop::Refused`] when the rules refuse it; [`Stop::Unreadable`] when a record that it rests on cannot
/// be read. Either way nothing may be changed.
pub fn decide(records: &impl Records, request: &Request, context: &mut Context<'_>) -> Result<Outcome, Stop> {
    check_caller(records.state(), request, context.now)?;
    identifiers::check(records.state(), request)?;
    let earlier = earlier_answer(records, request.idempotency.as_ref())?;
    if let Some(answer) = replayed(earlier.as_ref(), request.idempotency.as_ref(), context.now)? {
        return Ok(Outcome::Replayed(answer));
    }
    check_not_suspended(records.state(), request)?;
    let (mut decision, answer) = dispatch(records, request, context)?;
    decision.events.extend(webhook_events::following(records, &decision.events, context)?);
    let months = statements::before(records, &decision.events, context)?;
    decision.events.splice(..0, months);
    // An answer that is kept no longer gives way to the new one, and leaves nothing behind.
    let left = earlier.filter(|earlier| earlier.answer != answer);
    decision.vault.extend(left.and_then(|earlier| sweeping::kept_beside(earlier.answer)));
    Ok(outcome(request, decision, answer, context))
}

fn check_caller(state: &MerchantState, request: &Request, now: Millis) -> Result<(), Refusal> {
    let creates = matches!(request.command, Command::CreateMerchant(_));
    if state.profile.is_none() && !creates {
        return Err(Refusal::MerchantNotFound);
    }
    match request.caller {
        Caller::ApiKey(key_id) => {
            let live = state.keys.get(&key_id).is_some_and(|key| key.is_live(now));
            if live { Ok(()) } else { Err(Refusal::KeyNotLive) }
        }
        Caller::Sdk(installation_id) => {
            let known = state.installations.contains_key(&installation_id);
            if known { Ok(()) } else { Err(Refusal::InstallationNotFound) }
        }
        Caller::Operator | Caller::System => Ok(()),
    }
}

/// What stands under the call's name, kept still or not.
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

/// Most of a suspended merchant's own calls are refused, and all of its clients'; the operator and Till itself go on.
fn check_not_suspended(state: &MerchantState, request: &Request) -> Result<(), Refusal> {
    let suspended = state.profile.as_ref().is_some_and(|profile| profile.suspended);
    let refused = match request.caller {
        Caller::ApiKey(_) => suspended && !request.command.works_while_suspended(),
        Caller::Sdk(_) => suspended,
        Caller::Operator | Caller::System => false,
    };
    if refused { Err(Refusal::MerchantSuspended) } else { Ok(()) }
}

/// The record of a decision. A named call leaves one even when it changed nothing, so that its answer is kept; one that
/// is only judged is not answered yet.
fn outcome(request: &Request, decision: Decision, answer: Answer, context: &Context<'_>) -> Outcome {
    let is_only_judged = matches!(request.command, Command::JudgeAdvance(_));
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

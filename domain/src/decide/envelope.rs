//! What every command goes through: who asks, whether it was asked before, whether it may change anything.

use super::{acquirer, identifiers, initiate, installations, keys, metadata, operator, sdk, sweeping, team, timers};
use crate::command::{Caller, Command, Idempotency, Request, TeamChange};
use crate::event::{ANSWER_KEPT_SECONDS, Answer, Event, Mutation, StoredAnswer, VaultWrite};
use crate::ids::{Entropy, Id, IdPosition, RawId};
use crate::merchant::Profile;
use crate::records::{Answers, MerchantState, Records, Unreadable};
use crate::refusal::{Refusal, Stop};
use crate::time::Millis;

/// The time and the fresh ids of one decision.
pub struct Context<'a> {
    /// The later of the clock and the merchant's last event.
    pub now: Millis,
    last_id: IdPosition,
    entropy: &'a mut dyn Entropy,
}

impl<'a> Context<'a> {
    /// The context of the next decision on `state`, at `clock`.
    pub fn new(clock: Millis, state: &MerchantState, entropy: &'a mut dyn Entropy) -> Context<'a> {
        Context { now: clock.max(state.last_at), last_id: state.last_id, entropy }
    }

    /// A fresh id, greater than every earlier one of the merchant.
    pub fn mint<I: Id>(&mut self) -> I {
        self.last_id = self.last_id.next(self.now.0);
        I::from_raw(RawId::new(self.last_id, self.entropy.next_u64()))
    }
}

/// What a command changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decision {
    /// What happened, in order.
    pub events: Vec<Event>,
    /// What is written to the vault with it.
    pub vault: Vec<VaultWrite>,
}

impl Decision {
    /// Nothing to record.
    #[must_use]
    pub fn nothing() -> Decision {
        Decision::default()
    }

    /// One event.
    #[must_use]
    pub fn one(event: Event) -> Decision {
        Decision { events: vec![event], vault: Vec::new() }
    }

    /// The same with writes to the vault.
    #[must_use]
    pub fn with_vault(mut self, write: VaultWrite) -> Decision {
        self.vault.push(write);
        self
    }
}

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

fn dispatch(records: &impl Records, request: &Request, context: &mut Context<'_>) -> Result<(Decision, Answer), Stop> {
    let state = records.state();
    match &request.command {
        Command::CreateMerchant(command) => Ok(operator::create_merchant(state, command, context)),
        Command::SuspendMerchant => Ok(operator::set_suspended(state, true)),
        Command::ResumeMerchant => Ok(operator::set_suspended(state, false)),
        Command::UpdateMerchant(command) => Ok(operator::update_merchant(state, command)?),
        Command::GenerateKey(command) => {
            Ok(keys::generate_key(records, command, request.idempotency.is_some(), context)?)
        }
        Command::RevokeKey(key_id) => Ok(keys::revoke_key(state, *key_id, context)?),
        Command::RenameKey(key_id, name) => Ok(keys::rename_key(state, *key_id, name)?),
        Command::AddInstallation(command) => Ok(installations::add_installation(state, command, context)?),
        Command::UpdateInstallation(command) => Ok(installations::update_installation(state, command)?),
        Command::RemoveInstallation(id) => Ok(installations::remove_installation(state, *id)?),
        Command::ConfigurePaymentMethod(method, integration) => {
            Ok(operator::configure_payment_method(state, *method, *integration))
        }
        Command::OpenBalance => Ok(operator::open_balance(state)),
        Command::AddTopup(command) => operator::add_topup(records, command, context),
        Command::TokenizeCard(command) => Ok(sdk::tokenize_card(records, installation(request)?, command, context)?),
        Command::SelectPaymentMethod(command) => {
            sdk::select_payment_method(records, installation(request)?, command, context)
        }
        Command::InitiatePayment(command) => initiate::initiate_payment(records, command, context),
        Command::RecordAuthorization(payment_id, result) => {
            acquirer::record_authorization(records, *payment_id, result, context)
        }
        Command::RecordVoid(payment_id) => acquirer::record_void(records, *payment_id, context),
        Command::FireTimers(timers) => timers::fire_timers(records, timers, context),
        Command::ChangeTeam(merchant_id, change) => {
            let asker = team::Asker { state, merchant_id: *merchant_id, caller: request.caller };
            change_team(records, asker, change, context)
        }
        Command::AddToMetadataSet(command) => metadata::add_to_set(records, command, context),
        Command::RemoveFromMetadataSet(command) => metadata::remove_from_set(records, command, context),
        Command::SyncMetadata(command) => metadata::sync(records, command, context),
        Command::DeleteMetadata(command) => metadata::delete(records, command, context),
        Command::SweepMetadata(command) => Ok(metadata::sweep(records, command)?),
        Command::Sweep(expired) => Ok(sweeping::sweep(records, expired, context.now)?),
    }
}

fn change_team(
    records: &impl Records,
    asker: team::Asker<'_>,
    change: &TeamChange,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), Stop> {
    match change {
        TeamChange::InviteUser(email) => Ok(team::invite_user(asker, email, context)?),
        TeamChange::AcceptInvitation(id) => team::accept_invitation(records, asker, *id, context),
        TeamChange::RemoveUser(user_id) => Ok(team::remove_user(asker, *user_id, context)?),
        TeamChange::SelectPlan(plan_id) => Ok(team::select_plan(asker, *plan_id, context)?),
    }
}

fn installation(request: &Request) -> Result<crate::ids::InstallationId, Refusal> {
    match request.caller {
        Caller::Sdk(installation_id) => Ok(installation_id),
        Caller::ApiKey(_) | Caller::Operator | Caller::System => Err(Refusal::InstallationNotFound),
    }
}

/// The record of a decision. A named call leaves one even when it changed nothing, so that its answer is kept.
fn outcome(request: &Request, decision: Decision, answer: Answer, context: &Context<'_>) -> Outcome {
    let kept = request.idempotency.as_ref().map(|idempotency| {
        let expires_at = context.now.plus_seconds(ANSWER_KEPT_SECONDS);
        (idempotency.scope.clone(), StoredAnswer { fingerprint: idempotency.fingerprint, answer, expires_at })
    });
    if decision.events.is_empty() && kept.is_none() {
        return Outcome::Unchanged(answer);
    }
    let mutation = Box::new(Mutation {
        at: context.now,
        caller: request.caller,
        last_id: context.last_id,
        answer: kept,
        events: decision.events,
    });
    Outcome::Effective { mutation, vault: decision.vault, answer }
}

/// The profile of the merchant, which [`decide`] has found to be there for every command but its creation.
pub(super) fn profile(state: &MerchantState) -> Result<&Profile, Refusal> {
    state.profile.as_ref().ok_or(Refusal::MerchantNotFound)
}

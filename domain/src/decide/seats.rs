//! Signing in: the credentials of members, and the codes that each open once. Passwords, hashes and secrets are passed
//! beside the commands; whoever sends one has compared them.

use super::context::{Context, Decision};
use super::team::{Asker, accept_invitation};
use crate::activity::Actor;
use crate::command::SeatCommand;
use crate::event::{Answer, Event, VaultWrite};
use crate::ids::{InvitationId, UserId};
use crate::records::{MerchantState, Records};
use crate::refusal::{DecisionError, Refusal};
use crate::team::{CredentialsPart, CredentialsReset, RESET_LIFETIME_SECONDS, SeatChange, SignInCode, User};

/// Accepts an invitation as the invited person, who is signed in by that.
pub(super) fn join(
    records: &impl Records,
    asker: Asker<'_>,
    id: InvitationId,
    step: u64,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let (mut decision, answer) = accept_invitation(records, asker, id, context)?;
    for event in &mut decision.events {
        if let Event::InvitationAccepted { user, activity } = event {
            activity.actor = Actor::User { email: Some(user.email.clone()) };
            user.seat.credentials_at = Some(context.now);
            user.seat.last_signed_in_at = Some(context.now);
            user.seat.last_step = step;
            decision.vault.push(VaultWrite::KeepCredentials(user.id));
        }
    }
    Ok((decision, answer))
}

pub(super) fn change(
    state: &MerchantState,
    user_id: UserId,
    command: SeatCommand,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), Refusal> {
    let user = state.users.get(&user_id).ok_or(Refusal::UserNotFound)?;
    let (change, answer) = match command {
        SeatCommand::AllowReset => {
            let expires_at = context.now.plus_seconds(RESET_LIFETIME_SECONDS);
            let reset = CredentialsReset { id: context.mint(), expires_at };
            (SeatChange::ResetAllowed(reset), Answer::CredentialsReset(reset.id))
        }
        SeatCommand::Renew { id, step } => {
            let may = user.seat.may_be_reset(id, context.now);
            let set = SeatChange::CredentialsSet { part: CredentialsPart::All, step: Some(step) };
            if may { (set, Answer::Changed(true)) } else { return Err(Refusal::ResetOver) }
        }
        SeatCommand::Replace { part, step, session } => {
            check_session(user, session)?;
            (SeatChange::CredentialsSet { part, step }, Answer::Changed(true))
        }
        SeatCommand::SignIn { code, session } => {
            (SeatChange::SignedIn(used(user, code, session)?), Answer::Changed(true))
        }
        SeatCommand::UseCode { code, session } => {
            (SeatChange::CodeUsed(used(user, code, session)?), Answer::Changed(true))
        }
        SeatCommand::EndSessions => (SeatChange::SessionsEnded, Answer::Changed(true)),
    };
    let decision = Decision::one(Event::SeatChanged { user_id, change, at: context.now });
    let is_set = matches!(change, SeatChange::CredentialsSet { part: _, step: _ });
    Ok((if is_set { decision.with_vault(VaultWrite::KeepCredentials(user_id)) } else { decision }, answer))
}

/// The code, which was compared with the credentials of this session, when it was not used before.
fn used(user: &User, code: SignInCode, session: u32) -> Result<SignInCode, Refusal> {
    check_session(user, session)?;
    if user.seat.is_unused(code) { Ok(code) } else { Err(Refusal::CodeUsedUp) }
}

/// Refuses a session that was ended: the credentials may be others since.
fn check_session(user: &User, session: u32) -> Result<(), Refusal> {
    let is_live = user.seat.credentials_at.is_some() && user.sessions_ended == session;
    if is_live { Ok(()) } else { Err(Refusal::CallerNotLive) }
}

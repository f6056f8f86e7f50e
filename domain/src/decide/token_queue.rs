//! Multi-use tokens that no payment has used: each installation has a limited number of them, and they end.

use super::context::{Context, Decision};
use super::token_uses;
use crate::card::{Token, TokenQueue, UNUSED_TOKEN_LIFETIME_SECONDS, UNUSED_TOKENS_MAX};
use crate::event::{Event, VaultWrite};
use crate::ids::{InstallationId, TokenId};
use crate::records::{QueuedTokens, Records, TokenQueues, Tokens, Unreadable};
use crate::refusal::{DecisionError, Refusal};
use crate::session::Instrument;
use crate::time::Millis;

/// The maximum number of positions that the queue moves past when a token joins. It is more than one, so that empty
/// positions in front become fewer, and a queue that is too long becomes shorter.
const PASSED_MAX: usize = 2;

/// Queues a new token. Above the limit the oldest tokens of the installation are removed.
pub(super) fn queue(
    records: &impl Records,
    token: &Token,
    decision: &mut Decision,
    context: &Context<'_>,
) -> Result<(), Unreadable> {
    let mut queue = records.get::<TokenQueues>(token.installation_id)?.unwrap_or_default();
    let surplus = pass_front(records, token.installation_id, &mut queue)?;
    decision.events.push(queued(token, queue, context.now));
    if !surplus.is_empty() {
        decision.vault.extend(surplus.iter().copied().map(VaultWrite::ForgetTokenNumber));
        decision.events.push(Event::TokensSwept { token_ids: surplus });
    }
    Ok(())
}

/// The event by which a token takes the next position in its installation's queue.
pub(super) fn queued(token: &Token, queue: TokenQueue, now: Millis) -> Event {
    Event::TokenQueued {
        token_id: token.id,
        installation_id: token.installation_id,
        position: queue.next,
        first: queue.first,
        expires_at: now.plus_seconds(UNUSED_TOKEN_LIFETIME_SECONDS),
    }
}

/// Moves the front of the queue past positions whose token no longer waits, and, when the queue is full, past those
/// that still wait. Returns the latter.
fn pass_front(
    records: &impl Records,
    installation_id: InstallationId,
    queue: &mut TokenQueue,
) -> Result<Vec<TokenId>, Unreadable> {
    let mut surplus = Vec::new();
    for _ in 0..PASSED_MAX {
        let waiting = waiting_at_front(records, installation_id, *queue)?;
        if queue.is_empty() || (waiting.is_some() && queue.len() < UNUSED_TOKENS_MAX) {
            break;
        }
        surplus.extend(waiting);
        queue.first = queue.first.saturating_add(1);
    }
    Ok(surplus)
}

fn waiting_at_front(
    records: &impl Records,
    installation_id: InstallationId,
    queue: TokenQueue,
) -> Result<Option<TokenId>, Unreadable> {
    let Some(token_id) = records.get::<QueuedTokens>((installation_id, queue.first))? else { return Ok(None) };
    let token = records.shared::<Tokens>(token_id)?;
    Ok(token.filter(|token| token.awaits_first_payment()).map(|token| token.id))
}

/// The change of a multi-use token by its first payment.
///
/// # Errors
/// Refuses a session whose token was swept or erased meanwhile: the card's number does not exist any more.
pub(super) fn first_payment(records: &impl Records, instrument: &Instrument) -> Result<Option<Event>, DecisionError> {
    let Some(token_id) = instrument.multiple_token() else { return Ok(None) };
    let token = records.shared::<Tokens>(token_id)?.ok_or(Refusal::SessionNotActive { payment_id: None })?;
    if token_uses::is_erased(records, token_id)? {
        return Err(Refusal::SessionNotActive { payment_id: None }.into());
    }
    Ok(token.awaits_first_payment().then_some(Event::TokenKept { token_id }))
}

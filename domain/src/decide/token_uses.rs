//! The customers who used multi-use tokens: a token that only one customer used goes with that customer, or with the
//! saved card of its number.

use super::context::{Context, Decision};
use crate::card::{Card, TOKENS_PASSED_MAX, TokenUse};
use crate::event::{Event, VaultWrite};
use crate::ids::{CustomerId, TokenId};
use crate::records::{CustomerTokens, Customers, Records, TokenUses, Tokens, Unreadable};
use crate::time::Millis;

/// The change of a token by its use for a customer, or for nobody who is known. The earlier uses of a token that is
/// no longer stored are not known.
pub(super) fn used(
    records: &impl Records,
    token_id: TokenId,
    customer_id: Option<CustomerId>,
) -> Result<Option<Event>, Unreadable> {
    let before = records.shared::<TokenUses>(token_id)?;
    let changes =
        before.as_ref().is_none_or(|before| before.customer_id.is_some() && before.customer_id != customer_id);
    let is_known = before.is_some() || records.shared::<Tokens>(token_id)?.is_some();
    let customer_id = customer_id.filter(|_| is_known);
    Ok(changes.then_some(Event::TokenUsed { token_id, customer_id }))
}

/// Returns true for a token that only a removed customer used. It may still be stored.
pub(super) fn is_erased(records: &impl Records, token_id: TokenId) -> Result<bool, Unreadable> {
    let only_user = records.shared::<TokenUses>(token_id)?.and_then(|token_use| token_use.customer_id);
    only_user.map_or(Ok(false), |customer_id| Ok(records.shared::<Customers>(customer_id)?.is_none()))
}

/// Erases the tokens that only a removed customer used. When there are more than one step erases, a timer continues.
pub(super) fn erase_with_customer(
    records: &impl Records,
    customer_id: CustomerId,
    timer_was: Option<Millis>,
    context: &Context<'_>,
) -> Result<Vec<Event>, Unreadable> {
    if records.get::<CustomerTokens>(customer_id)?.is_none() {
        return Ok(Vec::new());
    }
    let (newest, rest) = newest_of(records, customer_id)?;
    let (mut token_ids, mut gone) = (Vec::new(), Vec::new());
    for token_id in newest {
        let is_stored = records.shared::<Tokens>(token_id)?.is_some();
        if is_stored { token_ids.push(token_id) } else { gone.push(token_id) }
    }
    Ok(vec![Event::CustomerTokensErased { customer_id, token_ids, gone, rest, timer_was, at: context.now }])
}

/// Erases the tokens with the number of a saved card that only its customer used, as far as they are among the newest.
pub(super) fn erase_with_card(records: &impl Records, card: &Card) -> Result<Option<Event>, Unreadable> {
    let (newest, _) = newest_of(records, card.customer_id)?;
    let mut token_ids = Vec::new();
    for token_id in newest {
        let token = records.shared::<Tokens>(token_id)?;
        if token.is_some_and(|token| token.card.fingerprint == card.card.fingerprint) {
            token_ids.push(token_id);
        }
    }
    Ok((!token_ids.is_empty()).then_some(Event::TokensErased { token_ids }))
}

/// The newest tokens that only a customer used, among at most [`TOKENS_PASSED_MAX`], and the next one after these.
fn newest_of(records: &impl Records, customer_id: CustomerId) -> Result<(Vec<TokenId>, Option<TokenId>), Unreadable> {
    let (mut token_ids, mut next) = (Vec::new(), records.get::<CustomerTokens>(customer_id)?);
    for _ in 0..TOKENS_PASSED_MAX {
        let Some(token_id) = next else { break };
        let token_use = records.get::<TokenUses>(token_id)?.unwrap_or(TokenUse { customer_id: None, older: None });
        token_ids.extend((token_use.customer_id == Some(customer_id)).then_some(token_id));
        next = token_use.older;
    }
    Ok((token_ids, next))
}

/// The writes to the vault that belong to the erasures among some events.
pub(super) fn vault_writes(events: &[Event]) -> Vec<VaultWrite> {
    let erased = events.iter().flat_map(erased_by);
    erased.flat_map(|id| [VaultWrite::ForgetTokenNumber(*id), VaultWrite::ForgetTokenKey(*id)]).collect()
}

fn erased_by(event: &Event) -> &[TokenId] {
    if let Event::TokensErased { token_ids } | Event::CustomerTokensErased { token_ids, .. } = event {
        token_ids
    } else {
        &[]
    }
}

impl Decision {
    /// Adds events with their writes to the vault.
    pub(super) fn with_erasures(mut self, events: impl IntoIterator<Item = Event>) -> Decision {
        let events: Vec<Event> = events.into_iter().collect();
        self.vault.extend(vault_writes(&events));
        self.events.extend(events);
        self
    }
}

//! The fold of the uses of multi-use tokens.

use crate::card::TokenUse;
use crate::effect::{Timer, TimerKind};
use crate::event::Event;
use crate::ids::{CustomerId, TokenId};
use crate::records::{CustomerTokens, Present, RowsMut, Timers, TokenUses, Tokens, Unreadable};

/// Folds an event of tokens' uses in; any other changes nothing here.
pub(super) fn apply(event: &Event, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    if let Event::TokenUsed { token_id, customer_id } = event {
        note_use(*token_id, *customer_id, rows)?;
    } else if let Event::TokensErased { token_ids } = event {
        token_ids.iter().for_each(|id| rows.remove::<Tokens>(*id));
    } else if let Event::CustomerTokensErased { customer_id, token_ids, gone, rest, timer_was, at } = event {
        token_ids.iter().for_each(|id| rows.remove::<Tokens>(*id));
        token_ids.iter().chain(gone).for_each(|id| rows.remove::<TokenUses>(*id));
        let timer = |due| Timer { due, kind: TimerKind::EraseTokens(*customer_id) };
        if let Some(timer_was) = timer_was {
            rows.remove::<Timers>(timer(*timer_was));
        }
        match rest {
            Some(rest) => {
                rows.put::<CustomerTokens>(*customer_id, *rest);
                rows.put::<Timers>(timer(*at), Present);
            }
            None => rows.remove::<CustomerTokens>(*customer_id),
        }
    }
    Ok(())
}

/// The first customer who uses a token has it alone, until it is used for another or for nobody.
fn note_use(token_id: TokenId, customer_id: Option<CustomerId>, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let token_use = match (rows.take::<TokenUses>(token_id)?, customer_id) {
        (Some(before), _) => TokenUse { customer_id: None, ..before },
        (None, None) => TokenUse { customer_id: None, older: None },
        (None, Some(customer_id)) => {
            let older = rows.get::<CustomerTokens>(customer_id)?;
            rows.put::<CustomerTokens>(customer_id, token_id);
            TokenUse { customer_id: Some(customer_id), older }
        }
    };
    rows.put::<TokenUses>(token_id, token_use);
    Ok(())
}

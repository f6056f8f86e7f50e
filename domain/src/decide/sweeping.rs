//! Removal of expired objects: old sessions, tokens that are used up or were never used, kept answers.

use super::context::Decision;
use crate::card::TokenUsage;
use crate::command::{Expired, IdempotencyScope};
use crate::customer::Contact;
use crate::effect::EffectId;
use crate::event::{Answer, Event, StoredAnswer, VaultWrite};
use crate::ids::{SessionId, TokenId, WebhookEventId};
use crate::records::{Answers, CreatedMerchants, Effects, Records, Sessions, Tokens, Unreadable, WebhookEvents};
use crate::session::Session;
use crate::text::IdempotencyKey;
use crate::time::Millis;
use std::collections::BTreeSet;

/// Removes those of `expired` that are. An object that does not exist, is not old enough or is still needed stays,
/// without a refusal; one that is named twice is removed once.
pub(super) fn sweep(
    records: &impl Records,
    expired: &[Expired],
    now: Millis,
) -> Result<(Decision, Answer), Unreadable> {
    let mut sweep = Sweep { records, now, swept: Swept::default() };
    for each in expired.iter().collect::<BTreeSet<&Expired>>() {
        match each {
            Expired::Session(session_id) => sweep.session(*session_id)?,
            Expired::Token(token_id) => sweep.token(*token_id)?,
            Expired::TokenOf(session_id) => sweep.token_of(*session_id)?,
            Expired::Answer(scope) => sweep.answer(scope)?,
            Expired::WebhookEvent(event_id) => sweep.webhook_event(*event_id)?,
        }
    }
    let decision = sweep.swept.into_decision();
    let changed = Answer::Changed(!decision.events.is_empty());
    Ok((decision, changed))
}

/// The removal of the data in the vault that is kept only while an answer is kept.
pub(super) const fn vault_removal_of(answer: Answer) -> Option<VaultWrite> {
    if let Answer::Key { key_id, created_at: _ } = answer { Some(VaultWrite::ForgetKeyText(key_id)) } else { None }
}

/// The objects that are removed, in order, with their data in the vault.
#[derive(Default)]
struct Swept {
    sessions: BTreeSet<SessionId>,
    tokens: BTreeSet<TokenId>,
    scopes: Vec<IdempotencyScope>,
    created_merchants: Vec<IdempotencyKey>,
    webhook_events: Vec<WebhookEventId>,
    vault: Vec<VaultWrite>,
}

impl Swept {
    fn into_decision(self) -> Decision {
        let Swept { sessions, tokens, scopes, created_merchants, webhook_events, mut vault } = self;
        vault.extend(tokens.iter().copied().map(VaultWrite::ForgetTokenNumber));
        vault.extend(tokens.iter().copied().map(VaultWrite::ForgetTokenKey));
        let mut events = Vec::new();
        if !sessions.is_empty() {
            events.push(Event::SessionsSwept { session_ids: sessions.into_iter().collect() });
        }
        if !tokens.is_empty() {
            events.push(Event::TokensSwept { token_ids: tokens.into_iter().collect() });
        }
        if !scopes.is_empty() {
            events.push(Event::AnswersSwept { scopes, created_merchants });
        }
        if !webhook_events.is_empty() {
            events.push(Event::WebhookEventsSwept { event_ids: webhook_events });
        }
        Decision { events, vault }
    }
}

/// A sweep under way.
struct Sweep<'a, R> {
    records: &'a R,
    now: Millis,
    swept: Swept,
}

impl<R: Records> Sweep<'_, R> {
    fn session(&mut self, id: SessionId) -> Result<(), Unreadable> {
        let Some(session) = self.records.get::<Sessions>(id)? else { return Ok(()) };
        if !session.is_forgotten(self.now) || self.is_needed(&session)? {
            return Ok(());
        }
        // A used token is found through its session only, so it must not outlive the session.
        self.used_token(&session)?;
        if session.customer.contact != Contact::default() {
            self.swept.vault.push(VaultWrite::ForgetSessionKey(id));
        }
        self.swept.sessions.insert(id);
        Ok(())
    }

    fn token(&mut self, id: TokenId) -> Result<(), Unreadable> {
        let Some(token) = self.records.get::<Tokens>(id)?.filter(|token| !token.used) else { return Ok(()) };
        let goes = match token.usage {
            TokenUsage::Single => token.has_ended(self.now),
            TokenUsage::Multiple => token.is_forgotten(self.now),
        };
        if goes {
            self.swept.tokens.insert(id);
        }
        Ok(())
    }

    fn token_of(&mut self, id: SessionId) -> Result<(), Unreadable> {
        let Some(session) = self.records.get::<Sessions>(id)? else { return Ok(()) };
        if session.has_ended(self.now) && !self.is_needed(&session)? {
            self.used_token(&session)?;
        }
        Ok(())
    }

    /// A used token stays until its own end, so that a caller who selects it again learns that it is used up.
    fn used_token(&mut self, session: &Session) -> Result<(), Unreadable> {
        let Some(id) = session.instrument.single_token() else { return Ok(()) };
        if self.records.get::<Tokens>(id)?.is_some_and(|token| token.has_ended(self.now)) {
            self.swept.tokens.insert(id);
        }
        Ok(())
    }

    /// Returns true while a call to the acquirer is open that needs the card's number, or may lead to another call.
    fn is_needed(&self, session: &Session) -> Result<bool, Unreadable> {
        let Some(payment_id) = session.payment_id else { return Ok(false) };
        Ok(self.records.get::<Effects>(EffectId::operation(payment_id))?.is_some())
    }

    fn answer(&mut self, scope: &IdempotencyScope) -> Result<(), Unreadable> {
        let Some(stored) = self.records.get::<Answers>(scope.clone())? else { return Ok(()) };
        if stored.is_kept(self.now) {
            return Ok(());
        }
        self.swept.vault.extend(vault_removal_of(stored.answer));
        self.created_merchant(scope, &stored)?;
        self.swept.scopes.push(scope.clone());
        Ok(())
    }

    fn webhook_event(&mut self, id: WebhookEventId) -> Result<(), Unreadable> {
        let event = self.records.shared::<WebhookEvents>(id)?;
        let wall_clock = Millis(self.now.0.saturating_sub(self.records.state().clock_offset_ms()));
        if event.is_some_and(|event| event.is_forgotten(wall_clock)) {
            self.swept.webhook_events.push(id);
        }
        Ok(())
    }

    /// The name under which this merchant was created, unless it is another's: see decision 15.
    fn created_merchant(&mut self, scope: &IdempotencyScope, stored: &StoredAnswer) -> Result<(), Unreadable> {
        let Answer::Merchant(merchant_id) = stored.answer else { return Ok(()) };
        let created = self.records.get::<CreatedMerchants>(scope.key.clone())?;
        if created.is_some_and(|created| created.merchant_id == merchant_id) {
            self.swept.created_merchants.push(scope.key.clone());
        }
        Ok(())
    }
}

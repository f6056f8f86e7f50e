//! A walk through one table of one merchant in search of expired rows, the oldest first.

use std::sync::Arc;
use till_domain::card::{SINGLE_TOKEN_LIFETIME_SECONDS, Token, TokenUsage, UNUSED_TOKEN_LIFETIME_SECONDS};
use till_domain::command::Expired;
use till_domain::effect::EffectId;
use till_domain::ids::{IdPosition, MerchantId, RawId};
use till_domain::records::{AnyKey, AnyRow, Effects, Rows, Tokens, Unreadable};
use till_domain::session::{SESSION_KEPT_SECONDS, SESSION_LIFETIME_SECONDS, Session};
use till_domain::time::Millis;
use till_domain::webhook::EVENT_KEPT_SECONDS;
use till_storage::keys::KeyRange;
use till_storage::rows::ScanDirection;
use till_storage::shapes::{self, MerchantReader, StaysSealed, TableKind};

use crate::store::Store;

/// Rows of one page, and so what one command names at most: bounds the size of its record.
pub(super) const PAGE_ROWS: usize = 256;

/// The kind of rows that a walk looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walk {
    /// Tokens for one use that nobody selected, and those for several uses that an older version of the program made
    /// without an end.
    UnusedTokens,
    /// Tokens for several uses that no payment has used until their end. They end in the order of their ids, but for
    /// minutes: a visit goes no further than the first that is to end later.
    WaitingTokens,
    /// Tokens for one use, by the session that used them up: their numbers go long before the session does.
    UsedTokens,
    /// Sessions, used or not.
    Sessions,
    /// Events that webhooks were told.
    WebhookEvents,
    /// Kept answers. Their keys tell no time, so that all are looked at.
    Answers,
}

impl Walk {
    /// Every walk.
    pub(crate) const ALL: [Walk; 6] =
        [Walk::UnusedTokens, Walk::WaitingTokens, Walk::UsedTokens, Walk::Sessions, Walk::WebhookEvents, Walk::Answers];

    const fn table(self) -> TableKind {
        match self {
            Walk::UnusedTokens | Walk::WaitingTokens => TableKind::Tokens,
            Walk::UsedTokens | Walk::Sessions => TableKind::Sessions,
            Walk::WebhookEvents => TableKind::WebhookEvents,
            Walk::Answers => TableKind::Answers,
        }
    }

    /// The least age of an expired row, in seconds, where its key tells when it was made.
    const fn age_seconds(self) -> Option<u64> {
        match self {
            Walk::UnusedTokens => Some(SINGLE_TOKEN_LIFETIME_SECONDS),
            Walk::WaitingTokens => Some(UNUSED_TOKEN_LIFETIME_SECONDS + SESSION_LIFETIME_SECONDS),
            Walk::UsedTokens => Some(SESSION_LIFETIME_SECONDS),
            Walk::Sessions => Some(SESSION_LIFETIME_SECONDS + SESSION_KEPT_SECONDS),
            Walk::WebhookEvents => Some(EVENT_KEPT_SECONDS),
            Walk::Answers => None,
        }
    }

    /// True when a page must be looked at again. A token for several uses that a payment used stays for good, a used
    /// one whose payment waits still goes with its session, and no row comes between old ones, but for answers.
    pub(super) const fn looks_again_at(self, page: &Page) -> bool {
        match self {
            Walk::UnusedTokens | Walk::WaitingTokens | Walk::UsedTokens | Walk::WebhookEvents => false,
            Walk::Sessions => page.expired.len() < page.rows,
            Walk::Answers => true,
        }
    }

    /// The keys of the rows that are old enough at `now`.
    pub(super) fn range(self, merchant_id: MerchantId, now: Millis) -> KeyRange {
        let Some(age_seconds) = self.age_seconds() else { return shapes::table_range(merchant_id, self.table()) };
        let made_by = now.0.saturating_sub(age_seconds.saturating_mul(1_000));
        let too_young = RawId::new(IdPosition { millis: made_by.saturating_add(1), counter: 0 }, 0);
        shapes::range_before_id(merchant_id, self.table(), too_young)
    }
}

/// Some rows in order, and what of them has expired.
#[derive(Debug)]
pub(super) struct Page {
    /// The rows that have expired.
    pub(super) expired: Vec<Expired>,
    /// The number of rows that were read.
    pub(super) rows: usize,
    /// The first key behind the last of them.
    pub(super) behind: Option<Vec<u8>>,
    /// True when one of them expires later, and those behind it later still.
    pub(super) expires_later: bool,
}

impl Page {
    /// True when no more rows follow.
    pub(super) const fn is_last(&self) -> bool {
        self.rows < PAGE_ROWS
    }
}

/// Finds expired rows in the store.
#[derive(Clone)]
pub(super) struct Finder {
    pub(super) store: Arc<dyn Store>,
}

impl Finder {
    /// The next rows of a range, and what of them has expired at `now`.
    ///
    /// # Errors
    /// [`Unreadable`] when they cannot be had. A single row that is damaged is passed over: `till verify`
    /// names it, and others must not wait for it.
    pub(super) fn page(
        &self,
        walk: Walk,
        merchant_id: MerchantId,
        (lower, upper): &KeyRange,
        now: Millis,
    ) -> Result<Page, Unreadable> {
        let found = self.store.scan(walk.table().family(), lower, upper, ScanDirection::Forward, PAGE_ROWS)?;
        // The smallest key that is greater has one byte more.
        let behind = found.last().map(|(key, _)| [key.as_slice(), &[0]].concat());
        // Sealed fields stay so: they do not tell whether a row has expired.
        let look = Look { walk, now, rows: MerchantReader::new(merchant_id, None, &*self.store) };
        let (mut expired, mut expires_later) = (Vec::new(), false);
        for (key, value) in &found {
            match look.at(key, value) {
                Ok(Found::Expired(found)) => expired.push(found),
                Ok(Found::ExpiresLater) => expires_later = true,
                Ok(Found::Stays) => {}
                Err(error) => tracing::warn!(%merchant_id, ?walk, %error, "a row cannot be read, and is not swept"),
            }
        }
        Ok(Page { expired, rows: found.len(), behind, expires_later })
    }
}

/// The outcome of a row.
enum Found {
    /// It has expired.
    Expired(Expired),
    /// It expires, and no row behind it does so earlier.
    ExpiresLater,
    /// It is none of what the walk looks for.
    Stays,
}

impl From<Option<Expired>> for Found {
    fn from(expired: Option<Expired>) -> Found {
        expired.map_or(Found::Stays, Found::Expired)
    }
}

struct Look<'a> {
    walk: Walk,
    now: Millis,
    rows: MerchantReader<&'a dyn Store>,
}

impl Look<'_> {
    fn at(&self, key: &[u8], value: &[u8]) -> Result<Found, Unreadable> {
        let (_, parts) = shapes::decode_key(self.walk.table().family(), key).map_err(unreadable)?;
        let shapes::KeyParts::Row(key) = parts else { return Ok(Found::Stays) };
        match (self.walk, shapes::decode_row(&key, value, &StaysSealed)?, key) {
            (Walk::UnusedTokens, AnyRow::Tokens(token), _) => {
                let is_unused = token.usage == TokenUsage::Single && !token.used && token.has_ended(self.now);
                let goes = is_unused || (token.awaits_first_payment() && token.expires_at.is_none());
                Ok(goes.then_some(Expired::Token(token.id)).into())
            }
            (Walk::WaitingTokens, AnyRow::Tokens(token), _) => Ok(self.waiting_token(&token)),
            (Walk::UsedTokens, AnyRow::Sessions(session), _) => Ok(self.used_token(&session)?.into()),
            (Walk::Sessions, AnyRow::Sessions(session), _) => Ok(self.session(&session)?.into()),
            (Walk::Answers, AnyRow::Answers(stored), AnyKey::Answers(scope)) => {
                Ok((!stored.is_kept(self.now)).then_some(Expired::Answer(scope)).into())
            }
            (Walk::WebhookEvents, AnyRow::WebhookEvents(event), _) => {
                Ok(event.is_forgotten(self.now).then_some(Expired::WebhookEvent(event.id)).into())
            }
            // A row of a table is of that kind: its key was decoded as such.
            (
                Walk::UnusedTokens
                | Walk::WaitingTokens
                | Walk::UsedTokens
                | Walk::Sessions
                | Walk::WebhookEvents
                | Walk::Answers,
                _,
                _,
            ) => Ok(Found::Stays),
        }
    }

    /// One without an end waits for its place in the queue.
    fn waiting_token(&self, token: &Token) -> Found {
        match token.awaits_first_payment() {
            true if token.is_forgotten(self.now) => Found::Expired(Expired::Token(token.id)),
            true => Found::ExpiresLater,
            false => Found::Stays,
        }
    }

    fn used_token(&self, session: &Session) -> Result<Option<Expired>, Unreadable> {
        let Some(token_id) = session.instrument.single_token() else { return Ok(None) };
        let goes = session.has_ended(self.now)
            && self.rows.get::<Tokens>(token_id)?.is_some_and(|token| token.has_ended(self.now))
            && !self.is_needed(session)?;
        Ok(goes.then_some(Expired::TokenOf(session.id)))
    }

    fn session(&self, session: &Session) -> Result<Option<Expired>, Unreadable> {
        let goes = session.is_forgotten(self.now) && !self.is_needed(session)?;
        Ok(goes.then_some(Expired::Session(session.id)))
    }

    fn is_needed(&self, session: &Session) -> Result<bool, Unreadable> {
        let Some(payment_id) = session.payment_id else { return Ok(false) };
        Ok(self.rows.get::<Effects>(EffectId::operation(payment_id))?.is_some())
    }
}

fn unreadable(error: impl std::fmt::Display) -> Unreadable {
    Unreadable { reason: error.to_string() }
}

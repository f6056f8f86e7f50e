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
use till_storage::rows::{RowRange, RowReader};
use till_storage::shapes::{self, MerchantReader, StaysSealed, TableKind};

use crate::background::BackgroundRows;
use crate::store::Store;

/// Rows of one page, which is the limit of what one command names: it bounds the size of its record.
pub(super) const PAGE_ROWS: usize = 256;

till_domain::word_enum! {
    /// The kind of rows that a walk looks for.
    pub(crate) enum ExpiryWalk {
        /// Tokens for one use that nobody selected.
        UnusedTokens,
        /// Tokens for several uses that no payment has used until their end. They end in the order of their ids, up to
        /// minutes: a visit ends at the first one that expires later.
        WaitingTokens,
        /// Tokens for one use, by the session that used them: their numbers are removed long before the session.
        UsedTokens,
        /// Sessions, used or not.
        Sessions,
        /// Events for webhooks, which are kept by the wall clock.
        WebhookEvents,
        /// Kept answers. Their keys contain no time, so that all are read.
        Answers,
    }
}

impl ExpiryWalk {
    const fn table(self) -> TableKind {
        match self {
            ExpiryWalk::UnusedTokens | ExpiryWalk::WaitingTokens => TableKind::Tokens,
            ExpiryWalk::UsedTokens | ExpiryWalk::Sessions => TableKind::Sessions,
            ExpiryWalk::WebhookEvents => TableKind::WebhookEvents,
            ExpiryWalk::Answers => TableKind::Answers,
        }
    }

    /// The least age of an expired row, in seconds, if its key contains the time at which it was made.
    const fn age_seconds(self) -> Option<u64> {
        match self {
            ExpiryWalk::UnusedTokens => Some(SINGLE_TOKEN_LIFETIME_SECONDS),
            ExpiryWalk::WaitingTokens => Some(UNUSED_TOKEN_LIFETIME_SECONDS + SESSION_LIFETIME_SECONDS),
            ExpiryWalk::UsedTokens => Some(SESSION_LIFETIME_SECONDS),
            ExpiryWalk::Sessions => Some(SESSION_LIFETIME_SECONDS + SESSION_KEPT_SECONDS),
            ExpiryWalk::WebhookEvents => Some(EVENT_KEPT_SECONDS),
            ExpiryWalk::Answers => None,
        }
    }

    /// True when a page must be read again. A token for several uses that a payment used stays for good, a used one
    /// whose payment still waits is removed with its session, and no row is inserted between old ones, except for
    /// answers.
    pub(super) const fn must_be_read_again(self, page: &ExpiryPage) -> bool {
        match self {
            ExpiryWalk::UnusedTokens
            | ExpiryWalk::WaitingTokens
            | ExpiryWalk::UsedTokens
            | ExpiryWalk::WebhookEvents => false,
            ExpiryWalk::Sessions => page.expired.len() < page.rows,
            ExpiryWalk::Answers => true,
        }
    }

    /// The keys of the rows that may be old enough at `now`.
    pub(super) fn range(self, merchant_id: MerchantId, now: Millis) -> KeyRange {
        let Some(age_seconds) = self.age_seconds() else { return shapes::table_range(merchant_id, self.table()) };
        let made_by = now.0.saturating_sub(age_seconds.saturating_mul(1_000));
        let too_young = RawId::new(IdPosition { millis: made_by.saturating_add(1), counter: 0 }, 0);
        shapes::range_before_id(merchant_id, self.table(), too_young)
    }
}

/// Some rows in order, and the expired ones among them.
#[derive(Debug)]
pub(super) struct ExpiryPage {
    /// The rows that have expired.
    pub(super) expired: Vec<Expired>,
    /// The number of rows that were read.
    pub(super) rows: usize,
    /// The first key after the last of them.
    pub(super) next_key: Option<Vec<u8>>,
    /// True when one of them expires later, and all after it later still.
    pub(super) expires_later: bool,
}

impl ExpiryPage {
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
    /// Reads the next rows of a range, and finds those that have expired at `now`.
    ///
    /// # Errors
    /// [`Unreadable`] when they cannot be read. A single damaged row is skipped: `till verify` reports it, and other
    /// rows must not wait for it.
    pub(super) fn page(
        &self,
        walk: ExpiryWalk,
        merchant_id: MerchantId,
        (lower, upper): &KeyRange,
        now: Millis,
    ) -> Result<ExpiryPage, Unreadable> {
        let rows = BackgroundRows(&*self.store);
        let found = rows.scan(RowRange::forward(walk.table().family(), lower, upper), PAGE_ROWS)?;
        // The smallest key that is greater has one byte more.
        let next_key = found.last().map(|(key, _)| [key.as_slice(), &[0]].concat());
        // Sealed fields stay sealed: they do not affect expiry.
        let look = Look { walk, now, rows: MerchantReader::new(merchant_id, None, rows) };
        let (mut expired, mut expires_later) = (Vec::new(), false);
        for (key, value) in &found {
            match look.judge_row(key, value) {
                Ok(RowJudgement::Expired(found)) => expired.push(found),
                Ok(RowJudgement::ExpiresLater) => expires_later = true,
                Ok(RowJudgement::Stays) => {}
                Err(error) => tracing::warn!(%merchant_id, ?walk, %error, "a row cannot be read, and is not removed"),
            }
        }
        Ok(ExpiryPage { expired, rows: found.len(), next_key, expires_later })
    }
}

/// The judgement of a row.
enum RowJudgement {
    /// It has expired.
    Expired(Expired),
    /// It expires, and no row after it expires earlier.
    ExpiresLater,
    /// The walk does not look for it.
    Stays,
}

impl From<Option<Expired>> for RowJudgement {
    fn from(expired: Option<Expired>) -> RowJudgement {
        expired.map_or(RowJudgement::Stays, RowJudgement::Expired)
    }
}

struct Look<'a> {
    walk: ExpiryWalk,
    now: Millis,
    rows: MerchantReader<BackgroundRows<'a>>,
}

impl Look<'_> {
    fn judge_row(&self, key: &[u8], value: &[u8]) -> Result<RowJudgement, Unreadable> {
        let (_, parts) = shapes::decode_key(self.walk.table().family(), key).map_err(unreadable)?;
        let shapes::KeyParts::Row(key) = parts else { return Ok(RowJudgement::Stays) };
        match (self.walk, shapes::decode_row(&key, value, &StaysSealed)?, key) {
            (ExpiryWalk::UnusedTokens, AnyRow::Tokens(token), _) => {
                let is_unused = token.usage == TokenUsage::Single && !token.used && token.has_ended(self.now);
                Ok(is_unused.then_some(Expired::Token(token.id)).into())
            }
            (ExpiryWalk::WaitingTokens, AnyRow::Tokens(token), _) => Ok(self.waiting_token(&token)),
            (ExpiryWalk::UsedTokens, AnyRow::Sessions(session), _) => Ok(self.used_token(&session)?.into()),
            (ExpiryWalk::Sessions, AnyRow::Sessions(session), _) => Ok(self.session(&session)?.into()),
            (ExpiryWalk::Answers, AnyRow::Answers(stored), AnyKey::Answers(scope)) => {
                Ok((!stored.is_kept(self.now)).then_some(Expired::Answer(scope)).into())
            }
            (ExpiryWalk::WebhookEvents, AnyRow::WebhookEvents(event), _) => {
                let id = Expired::WebhookEvent(event.id);
                Ok(if event.is_forgotten(self.now) { RowJudgement::Expired(id) } else { RowJudgement::ExpiresLater })
            }
            // A row of a table has that kind: its key was decoded as such.
            (
                ExpiryWalk::UnusedTokens
                | ExpiryWalk::WaitingTokens
                | ExpiryWalk::UsedTokens
                | ExpiryWalk::Sessions
                | ExpiryWalk::WebhookEvents
                | ExpiryWalk::Answers,
                _,
                _,
            ) => Ok(RowJudgement::Stays),
        }
    }

    /// Judges a waiting token. One without an end counts as expiring later: [`ExpiryWalk::UnusedTokens`] removes it.
    fn waiting_token(&self, token: &Token) -> RowJudgement {
        match token.awaits_first_payment() {
            true if token.is_forgotten(self.now) => RowJudgement::Expired(Expired::Token(token.id)),
            true => RowJudgement::ExpiresLater,
            false => RowJudgement::Stays,
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

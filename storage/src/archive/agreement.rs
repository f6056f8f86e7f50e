//! The sandbox's book, brought to the moment that the logs are restored to: what a log knows as done is in it.
//!
//! The book is not archived. A line that the logs know the result of can be written anew from the payment; a line that
//! they do not know yet belongs to a call that is open, and is made when the call is made again.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use till_domain::ids::MerchantId;
use till_domain::merchant::AcquirerName;
use till_domain::payment::{Payment, PaymentStatus};
use till_domain::session::Instrument;

use crate::engine::time_limit::within;
use crate::sandbox_book::{
    AuthorizeOutcome, Book, BookError, BookInstrument, BookLine, DeclineReason, Deed, FollowUp, RocksBook, Standing,
};

use super::ArchiveError;

/// What stands before the sandbox's own references in payments.
const OWN_PREFIX: &str = "sandbox:";

/// Lines written with one sync.
const LINES_AT_ONCE: usize = 1_024;

/// The book of a store that is being restored.
pub(super) struct Agreement {
    book: RocksBook,
    changed: BTreeMap<String, BookLine>,
}

impl Agreement {
    /// Of the book in this directory, which may be missing. There are damaged logs that RocksDB does not come back from.
    pub(super) fn open(limit: Duration, directory: &Path) -> Result<Agreement, ArchiveError> {
        let directory = directory.to_owned();
        let book = within(limit, move || RocksBook::open(&directory)).unwrap_or(Err(BookError::TimedOut))?;
        Ok(Agreement { book, changed: BTreeMap::new() })
    }

    /// Makes the book know what the log knows of a payment.
    pub(super) fn meet(&mut self, merchant: MerchantId, payment: &Payment) -> Result<(), ArchiveError> {
        match payment.acquirer {
            AcquirerName::Sandbox => {}
        }
        for line in lines_of(merchant, payment) {
            let known = match self.changed.get(&line.reference) {
                Some(known) => Some(known.clone()),
                None => self.book.line(&line.reference)?,
            };
            let line = known.map_or(line.clone(), |known| at_least(known, &line));
            self.changed.insert(line.reference.clone(), line);
        }
        if self.changed.len() >= LINES_AT_ONCE { self.write() } else { Ok(()) }
    }

    /// Writes what is not written yet.
    pub(super) fn finish(mut self) -> Result<(), ArchiveError> {
        self.write()
    }

    fn write(&mut self) -> Result<(), ArchiveError> {
        let lines: Vec<BookLine> = std::mem::take(&mut self.changed).into_values().collect();
        if lines.is_empty() { Ok(()) } else { Ok(self.book.write(&lines)?) }
    }
}

/// The line that there is, with everything done to its authorization that the other one has.
fn at_least(known: BookLine, line: &BookLine) -> BookLine {
    let (Some(had), Some(has)) = (standing(&known), standing(line)) else { return known };
    let merged = Standing {
        settles_at_once: had.settles_at_once,
        captured_minor: had.captured_minor.max(has.captured_minor),
        voided_minor: had.voided_minor.max(has.voided_minor),
        refunded_minor: had.refunded_minor.max(has.refunded_minor),
    };
    match known.deed {
        Deed::Authorize { instrument, capture, outcome: _ } => {
            let outcome = AuthorizeOutcome::Approved(merged);
            BookLine { deed: Deed::Authorize { instrument, capture, outcome }, ..known }
        }
        Deed::FollowUp { .. } => known,
    }
}

fn standing(line: &BookLine) -> Option<Standing> {
    match &line.deed {
        Deed::Authorize { outcome: AuthorizeOutcome::Approved(standing), .. } => Some(*standing),
        Deed::Authorize { outcome: AuthorizeOutcome::Declined(_), .. } | Deed::FollowUp { .. } => None,
    }
}

/// The lines of a payment whose result is recorded.
fn lines_of(merchant: MerchantId, payment: &Payment) -> Vec<BookLine> {
    let Some((reference, outcome, at)) = authorization_of(payment) else { return Vec::new() };
    let Some(instrument) = instrument_of(&payment.instrument) else { return Vec::new() };
    let line = |reference: String, deed| BookLine {
        reference,
        merchant,
        payment: payment.id,
        money: payment.money,
        asked_at_ms: at,
        deed,
    };
    let void = (payment.status == PaymentStatus::Voided).then(|| {
        let deed = Deed::FollowUp { what: FollowUp::Void, authorization: reference.clone(), declined: None };
        line(format!("{}/void", payment.id), deed)
    });
    let deed = Deed::Authorize { instrument, capture: payment.capture_mode, outcome };
    std::iter::once(line(reference, deed)).chain(void).collect()
}

/// Under which reference it was authorized, what came of it and when; none of one that the sandbox was not asked for.
fn authorization_of(payment: &Payment) -> Option<(String, AuthorizeOutcome, u64)> {
    let reference = format!("{}/authorize", payment.id);
    if let Some(authorization) = &payment.authorization {
        let own = authorization.acquirer_reference.strip_prefix(OWN_PREFIX).map(str::to_owned);
        let voided = payment.status == PaymentStatus::Voided;
        let standing = Standing {
            settles_at_once: payment.capture.is_some_and(|capture| capture.settles_at == capture.at),
            captured_minor: payment.capture.map_or(0, |capture| capture.amount_minor),
            voided_minor: if voided { payment.money.amount.get() } else { 0 },
            refunded_minor: payment.refunded_minor,
        };
        return Some((own.unwrap_or(reference), AuthorizeOutcome::Approved(standing), authorization.at.0));
    }
    let reason = DeclineReason::of_code(&payment.failure.as_ref()?.code)?;
    Some((reference, AuthorizeOutcome::Declined(reason), payment.created_at.0))
}

fn instrument_of(instrument: &Instrument) -> Option<BookInstrument> {
    match instrument {
        Instrument::Token { card, .. } | Instrument::SavedCard { card, .. } => Some(BookInstrument::Card {
            first_six: card.first_digits.as_bytes().try_into().ok()?,
            last_four: card.last_digits.as_bytes().try_into().ok()?,
        }),
        Instrument::Installment { plan, .. } => Some(BookInstrument::Installment { plan: plan.id().to_owned() }),
        Instrument::UnnamedCard => None,
    }
}

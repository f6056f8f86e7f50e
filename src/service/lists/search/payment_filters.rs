//! The filters of payments, and the ranges of indexes that they are.

use std::ops::Bound;

use till_domain::ids::{CustomerId, PaymentId};
use till_domain::merchant::PaymentMethod;
use till_domain::money::AMOUNT_MAX_MINOR;
use till_domain::payment::{CaptureTime, Payment, PaymentStatus};
use till_domain::records::{PaymentsByAmount, PaymentsByCapture, Unreadable};
use till_domain::time::Millis;
use till_storage::rows::ScanDirection;
use till_storage::shapes::{MerchantView, PaymentIndex};

use super::known_entries::few_entries;
use super::merge::EntrySource;
use super::payment_terms::PaymentTerms;
use super::search::Selection;
use crate::service::submission::Reader;

/// Different amounts within a range that are walked side by side at most.
const AMOUNTS_MAX: usize = 8;

/// An amount, or the amounts from one to another, in minor units, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AmountRange {
    /// The smallest amount.
    pub min_minor: u64,
    /// The largest amount.
    pub max_minor: u64,
}

impl AmountRange {
    const fn contains(self, amount_minor: u64) -> bool {
        self.min_minor <= amount_minor && amount_minor <= self.max_minor
    }
}

/// The filters of a list of payments. All that are given must hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct PaymentFilters {
    pub status: Option<PaymentStatus>,
    /// The payment method.
    pub method: Option<PaymentMethod>,
    /// The time of creation: from one instant, inclusive, to another, exclusive.
    pub created: Option<(Millis, Millis)>,
    /// The time of capture: from one instant, inclusive, to another, exclusive.
    pub captured: Option<(Millis, Millis)>,
    /// The amount that was asked for.
    pub amount: Option<AmountRange>,
    pub customer_id: Option<CustomerId>,
    /// Some payments, the oldest first.
    pub payment_ids: Option<Vec<PaymentId>>,
    /// A text that the payment is looked for by.
    pub terms: Option<String>,
}

impl PaymentFilters {
    /// The payments that pass the filters.
    ///
    /// # Errors
    /// [`Unreadable`] when an index cannot be read.
    pub(crate) fn selection(&self, reader: &Reader<'_>) -> Result<Selection<PaymentIndex>, Unreadable> {
        self.select_from(&reader.view())
    }

    pub(super) fn select_from(&self, view: &MerchantView<'_>) -> Result<Selection<PaymentIndex>, Unreadable> {
        let mut selection = Selection::default();
        if let Some((from, until)) = self.created {
            selection.recorded(from, until);
        }
        if let Some(terms) = &self.terms {
            PaymentTerms::find(terms, view)?.select(&mut selection);
        }
        if let Some(customer_id) = self.customer_id {
            selection.any_of(vec![PaymentIndex::Customer(customer_id)]);
        }
        if let Some(payment_ids) = &self.payment_ids {
            selection.any_source(vec![EntrySource::Known(payment_ids.as_slice().into())]);
        }
        if let Some(range) = self.amount {
            select_amounts(range, &mut selection);
        }
        if let Some((from, until)) = self.captured {
            select_captured(from, until, view, &mut selection)?;
        }
        if self.status.is_some() || self.method.is_some() {
            self.select_status(&mut selection);
        }
        Ok(selection)
    }

    /// The index is by status and method, so that either is a union. A payment that is PENDING is found by its open
    /// effect.
    fn select_status(&self, selection: &mut Selection<PaymentIndex>) {
        let (status, method) = (self.status, self.method);
        let statuses = PaymentStatus::ALL.into_iter().filter(|one| status.is_none_or(|wanted| *one == wanted));
        let (pending, others): (Vec<_>, Vec<_>) = statuses.partition(|one| *one == PaymentStatus::Pending);
        let methods = || PaymentMethod::ALL.into_iter().filter(|one| method.is_none_or(|wanted| *one == wanted));
        let mut indexes: Vec<PaymentIndex> =
            others.iter().flat_map(|status| methods().map(|method| PaymentIndex::Status(*status, method))).collect();
        if pending.is_empty() {
            return selection.any_of(indexes);
        }
        indexes.push(PaymentIndex::WithOpenEffect);
        let passes = move |payment: &Payment| {
            status.is_none_or(|wanted| payment.status == wanted)
                && method.is_none_or(|wanted| payment.instrument.method() == wanted)
        };
        if status.is_some() {
            selection.any_of(indexes);
            selection.passing(passes);
        } else {
            let sources: Vec<_> = indexes.into_iter().map(EntrySource::Index).collect();
            selection.frequent(passes, PaymentIndex::All, move |_| Ok(Some(sources.clone())));
        }
    }
}

/// Keeps the payments of a range of amounts: few payments by themselves, few amounts by their ranges of the index, and
/// otherwise those whose rows say so.
fn select_amounts(range: AmountRange, selection: &mut Selection<PaymentIndex>) {
    if range.min_minor == range.max_minor {
        selection.any_of(vec![PaymentIndex::Amount(range.min_minor)]);
    } else {
        let passes = move |payment: &Payment| range.contains(payment.money.amount.get());
        selection.frequent(passes, PaymentIndex::All, move |view| Ok(few_payments_or_amounts(range, view)?));
    }
}

/// The payments of a range of amounts, when either they or their amounts are few.
fn few_payments_or_amounts(
    range: AmountRange,
    view: &MerchantView<'_>,
) -> Result<Option<Vec<EntrySource<PaymentIndex>>>, Unreadable> {
    let (oldest, newest) = (PaymentId::from_bytes([u8::MIN; 16]), PaymentId::from_bytes([u8::MAX; 16]));
    let keys = (range.min_minor, oldest)..=(range.max_minor, newest);
    let scan = |limit| view.scan_keys::<PaymentsByAmount>(keys.clone(), ScanDirection::Forward, limit);
    if let Some(known) = few_entries(|limit| Ok(scan(limit)?.into_iter().map(|(_, id)| id).collect()))? {
        return Ok(Some(vec![known]));
    }
    let amounts = few_amounts(range, view)?;
    let source = |amount_minor| EntrySource::Index(PaymentIndex::Amount(amount_minor));
    Ok(amounts.map(|amounts| amounts.into_iter().map(source).collect()))
}

/// The different amounts of a merchant's payments within a range; none when they are more than [`AMOUNTS_MAX`].
fn few_amounts(range: AmountRange, view: &MerchantView<'_>) -> Result<Option<Vec<u64>>, Unreadable> {
    let newest = PaymentId::from_bytes([u8::MAX; 16]);
    let (mut after, mut amounts) =
        (Bound::Included((range.min_minor, PaymentId::from_bytes([u8::MIN; 16]))), Vec::new());
    while amounts.len() <= AMOUNTS_MAX {
        let keys = (after, Bound::Included((range.max_minor.min(AMOUNT_MAX_MINOR), newest)));
        let next = view.scan_keys::<PaymentsByAmount>(keys, ScanDirection::Forward, 1)?;
        let Some((amount_minor, _)) = next.into_iter().next() else { return Ok(Some(amounts)) };
        amounts.push(amount_minor);
        after = Bound::Excluded((amount_minor, newest));
    }
    Ok(None)
}

/// Keeps the payments that were captured from one instant, inclusive, to another, exclusive: those captured at once,
/// whose ids tell the time, and those captured later, by days of UTC. The rows decide at the ends.
fn select_captured(
    from: Millis,
    until: Millis,
    view: &MerchantView<'_>,
    selection: &mut Selection<PaymentIndex>,
) -> Result<(), Unreadable> {
    let days = capture_days(from, until, view)?.map_or(0..0, |(first, last)| first..last.saturating_add(1));
    let at_once = PaymentIndex::CapturedAtOnce(from, until);
    selection.any_of([at_once].into_iter().chain(days.rev().map(PaymentIndex::CaptureDay)).collect());
    let captured_at = |payment: &Payment| payment.capture.map(|capture| capture.at);
    selection.passing(move |payment| captured_at(payment).is_some_and(|at| (from..until).contains(&at)));
    Ok(())
}

/// The first and the last day of UTC between two instants on which payments were captured that were made earlier.
fn capture_days(from: Millis, until: Millis, view: &MerchantView<'_>) -> Result<Option<(u32, u32)>, Unreadable> {
    let (oldest, newest) = (PaymentId::from_bytes([u8::MIN; 16]), PaymentId::from_bytes([u8::MAX; 16]));
    let keys = (CaptureTime::day_of(from).max(CaptureTime::Day(1)), oldest)..=(CaptureTime::day_of(until), newest);
    let end = |direction| -> Result<Option<u32>, Unreadable> {
        let keys = view.scan_keys::<PaymentsByCapture>(keys.clone(), direction, 1)?;
        let day =
            |(time, _): &(CaptureTime, PaymentId)| if let CaptureTime::Day(day) = time { Some(*day) } else { None };
        Ok(keys.first().and_then(day))
    };
    Ok(end(ScanDirection::Forward)?.zip(end(ScanDirection::Backward)?))
}

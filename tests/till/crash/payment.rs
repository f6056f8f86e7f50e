//! The expected state of a payment, from its initiation and the accepted operations, once every call is answered.

use std::collections::BTreeMap;

use super::call_record::Sale;
use super::cards::Fate;
use super::dispute::{Change, Dispute};

/// A payment with its accepted operations, and the state that follows from them.
#[derive(Debug)]
pub(super) struct KnownPayment {
    pub(super) sale: Sale,
    /// Amounts of accepted captures: several when the acquirer refuses them.
    pub(super) captures: Vec<u64>,
    voids: usize,
    reversals: usize,
    /// Accepted refunds by id.
    pub(super) refunds: BTreeMap<String, Refund>,
    /// Disputes by id.
    pub(super) disputes: BTreeMap<String, Dispute>,
}

/// An accepted refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refund {
    pub(super) minor: u64,
    pub(super) external_id: Option<String>,
}

/// The accepted operations of a payment, and what is known of its disputes.
#[derive(Debug, Clone)]
pub(super) enum Accepted {
    Capture(u64),
    Void,
    Reversal,
    Refund(String, Refund),
    Dispute(String, Change),
}

impl KnownPayment {
    /// A payment without accepted operations.
    pub(super) fn new(sale: Sale) -> KnownPayment {
        KnownPayment {
            sale,
            captures: Vec::new(),
            voids: 0,
            reversals: 0,
            refunds: BTreeMap::new(),
            disputes: BTreeMap::new(),
        }
    }

    /// Records an accepted operation.
    pub(super) fn note(&mut self, accepted: Accepted) {
        match accepted {
            Accepted::Capture(minor) => self.captures.push(minor),
            Accepted::Void => self.voids += 1,
            Accepted::Reversal => self.reversals += 1,
            Accepted::Dispute(id, change) => self.disputes.entry(id.clone()).or_default().note(&id, change),
            Accepted::Refund(id, refund) => {
                let before = self.refunds.insert(id.clone(), refund);
                assert!(before.is_none(), "{id} was answered to two calls: {before:?}, {:?}", self.refunds[&id]);
            }
        }
    }

    /// Fails unless the payment has one end, and no more was returned than captured.
    pub(super) fn assert_possible(&self, id: &str) {
        let taken = match self.sale.fate {
            Fate::Declined(_) => {
                let nothing = self.captures.is_empty() && self.voids == 0;
                assert!(nothing, "something was accepted of {id}, which the acquirer declined: {self:?}");
                0
            }
            Fate::CaptureRefused(_) => 0,
            Fate::Approved | Fate::RefundsRefused(_) | Fate::Disputed => {
                self.captures.len() + usize::from(self.sale.capture)
            }
        };
        assert!(taken + self.voids <= 1, "{id} is captured or voided once: {self:?}");
        assert!(self.reversals <= taken, "{id} is reversed once and captured before: {self:?}");
        assert!(self.captures.iter().all(|minor| *minor <= self.sale.minor), "{id} is captured up to its amount");
        assert!(self.taken_back_minor() <= self.captured_minor(), "more of {id} is taken back than captured: {self:?}");
        let given_back = self.taken_back_minor() == 0 || !self.is_reversed();
        assert!(given_back, "{id} is reversed, and refunded or disputed: {self:?}");
        let of_its_card = self.disputes.values().filter(|dispute| dispute.is_of_its_card()).count();
        let is_disputed = self.sale.fate == Fate::Disputed && self.captured_minor() > 0;
        assert_eq!(of_its_card, usize::from(is_disputed), "{id} is disputed once where its card is: {self:?}");
        let fits = self.refunds.values().all(|refund| refund.minor <= self.captured_minor());
        assert!(fits, "a refund of {id} is of more than was captured: {self:?}");
    }

    /// The captured amount.
    pub(super) fn captured_minor(&self) -> u64 {
        match (self.sale.fate, self.sale.capture) {
            (Fate::Declined(_) | Fate::CaptureRefused(_), _) => 0,
            (Fate::Approved | Fate::RefundsRefused(_) | Fate::Disputed, true) => self.sale.minor,
            (Fate::Approved | Fate::RefundsRefused(_) | Fate::Disputed, false) => {
                self.captures.first().copied().unwrap_or(0)
            }
        }
    }

    /// The refunded amount.
    pub(super) fn refunded_minor(&self) -> u64 {
        let gives_back = self.sale.fate.refund_failure().is_none();
        if gives_back { self.refunds.values().map(|refund| refund.minor).sum() } else { 0 }
    }

    /// The amount of disputes that are lost or conceded.
    pub(super) fn charged_back_minor(&self) -> u64 {
        self.disputes.values().map(Dispute::charged_back_minor).sum()
    }

    /// The amount in dispute: at most one dispute is open at a time.
    fn disputed_minor(&self) -> u64 {
        self.disputes.values().map(Dispute::undecided_minor).sum()
    }

    /// The amount that is refunded, charged back or in dispute.
    fn taken_back_minor(&self) -> u64 {
        self.refunded_minor() + self.charged_back_minor() + self.disputed_minor()
    }

    /// True when an amount is left that can be refunded.
    pub(super) fn is_refundable(&self) -> bool {
        let may_be = matches!(self.status(), "SUCCESSFUL" | "PARTIALLY_REFUNDED" | "DISPUTED");
        may_be && self.taken_back_minor() < self.captured_minor()
    }

    /// True when the authorization was voided.
    pub(super) fn is_given_up(&self) -> bool {
        self.voids > 0 || self.fails_by_its_capture()
    }

    /// True when the payment was reversed.
    pub(super) fn is_reversed(&self) -> bool {
        self.reversals > 0
    }

    /// True when the acquirer refused the capture that belongs to the authorization.
    pub(super) fn fails_by_its_capture(&self) -> bool {
        self.sale.capture && matches!(self.sale.fate, Fate::CaptureRefused(_))
    }

    /// The status.
    pub(super) fn status(&self) -> &'static str {
        match (self.captured_minor(), self.refunded_minor(), self.charged_back_minor()) {
            _ if self.failure().is_some() => "FAILED",
            _ if self.is_given_up() => "VOIDED",
            (0, _, _) => "AUTHORIZED",
            _ if self.is_reversed() => "REVERSED",
            _ if self.disputed_minor() > 0 => "DISPUTED",
            (captured, refunded, 0) if captured == refunded => "REFUNDED",
            (captured, refunded, charged_back) if captured == refunded + charged_back => "REVERSED",
            (_, 0, _) => "SUCCESSFUL",
            _ => "PARTIALLY_REFUNDED",
        }
    }

    /// The code with which the payment failed.
    pub(super) fn failure(&self) -> Option<&'static str> {
        match self.sale.fate {
            Fate::Declined(code) => Some(code),
            Fate::CaptureRefused(code) if self.sale.capture => Some(code),
            Fate::CaptureRefused(_) | Fate::Approved | Fate::RefundsRefused(_) | Fate::Disputed => None,
        }
    }

    /// The code of the last refused capture, while the authorization is valid.
    pub(super) fn refused_capture(&self) -> Option<&'static str> {
        match self.sale.fate {
            Fate::CaptureRefused(code) if !self.captures.is_empty() && !self.is_given_up() => Some(code),
            Fate::CaptureRefused(_) | Fate::Declined(_) | Fate::Approved | Fate::RefundsRefused(_) | Fate::Disputed => {
                None
            }
        }
    }
}

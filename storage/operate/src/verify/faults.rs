//! Collects the faults of a verification.

use till_domain::ids::MerchantId;
use till_storage::shapes::TableKind;

use super::concern::is_harmless;
use super::fault::{Fault, FaultLocation, Wrong};

/// Collects faults: the first ones in full, the others by number only.
#[derive(Debug)]
pub(super) struct Faults {
    kept: Vec<Fault>,
    kept_max: usize,
    counts: FaultCounts,
}

/// Numbers of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FaultCounts {
    /// All faults.
    pub(super) all: u64,
    /// The harmless ones.
    pub(super) harmless: u64,
}

impl FaultCounts {
    pub(super) const NONE: FaultCounts = FaultCounts { all: 0, harmless: 0 };

    /// The numbers of these faults.
    pub(super) fn of<'a>(faults: impl IntoIterator<Item = &'a Fault>) -> FaultCounts {
        let mut counts = FaultCounts::NONE;
        faults.into_iter().for_each(|fault| counts.note(fault));
        counts
    }

    /// Adds one fault.
    pub(super) fn note(&mut self, fault: &Fault) {
        self.all += 1;
        self.harmless += u64::from(is_harmless(fault));
    }

    /// The sum of both.
    pub(super) const fn plus(self, others: FaultCounts) -> FaultCounts {
        FaultCounts { all: self.all + others.all, harmless: self.harmless + others.harmless }
    }

    /// The difference of both.
    pub(super) const fn minus(self, others: FaultCounts) -> FaultCounts {
        FaultCounts {
            all: self.all.saturating_sub(others.all),
            harmless: self.harmless.saturating_sub(others.harmless),
        }
    }
}

impl Faults {
    pub(super) const fn new(kept_max: usize) -> Faults {
        Faults { kept: Vec::new(), kept_max, counts: FaultCounts::NONE }
    }

    /// Notes a fault, unless a fault at this location is known already.
    pub(super) fn add(&mut self, merchant_id: Option<MerchantId>, location: FaultLocation, wrong: Wrong) {
        let fault = Fault { merchant_id, location, wrong };
        if self.knows(merchant_id, &fault.location) {
            return;
        }
        self.counts.note(&fault);
        if self.kept.len() < self.kept_max {
            self.kept.push(fault);
        }
    }

    /// The first one.
    pub(super) fn first(&self) -> Option<&Fault> {
        self.kept.first()
    }

    /// True when a fault at this location is known.
    pub(super) fn knows(&self, merchant_id: Option<MerchantId>, location: &FaultLocation) -> bool {
        self.kept.iter().any(|known| known.merchant_id == merchant_id && known.location == *location)
    }

    /// True when a fault in a row of a merchant's table is known.
    pub(super) fn knows_rows_of(&self, merchant_id: MerchantId, table: TableKind) -> bool {
        let is_of_table = |location: &FaultLocation| matches!(location, FaultLocation::Row(name) if name.is_of(table));
        self.kept.iter().any(|known| known.merchant_id == Some(merchant_id) && is_of_table(&known.location))
    }

    /// Adds faults by number only.
    pub(super) const fn add_counted_only(&mut self, counted_only: FaultCounts) {
        self.counts = self.counts.plus(counted_only);
    }

    pub(super) fn into_parts(self) -> (Vec<Fault>, FaultCounts) {
        (self.kept, self.counts)
    }
}

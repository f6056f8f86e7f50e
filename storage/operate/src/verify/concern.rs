//! What a fault concerns, and so whether the log can put it right.

use till_storage::family::Family;

use super::report::{Fault, Place, Wrong};

/// What a fault concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concern {
    /// The log, or the store as a whole: nothing can be derived of it.
    Log,
    /// A sealed row that cannot be had: what is derived without it would lack what the log has.
    Vault,
    /// What follows from the log.
    Derived,
    /// A card number too many or too few, or the sandbox's book: neither follows from the log, and neither stands in
    /// the way of what does.
    Beside,
}

impl Concern {
    /// What a fault concerns.
    #[must_use]
    pub fn of(fault: &Fault) -> Concern {
        match &fault.place {
            Place::Store | Place::Records { .. } | Place::Head => Concern::Log,
            Place::Applied | Place::Snapshot(_) => Concern::Derived,
            Place::Row(name) => of_row(name.family, &fault.wrong),
            Place::Rows { family, .. } => of_row(*family, &fault.wrong),
            Place::Book | Place::BookLine(_) => Concern::Beside,
        }
    }

    /// Whether a server may run with it as it is.
    #[must_use]
    pub const fn is_harmless(self) -> bool {
        matches!(self, Concern::Beside)
    }

    /// Whether a repair must not begin.
    #[must_use]
    pub const fn forbids_repair(self) -> bool {
        match self {
            Concern::Log | Concern::Vault => true,
            Concern::Derived | Concern::Beside => false,
        }
    }
}

fn of_row(family: Family, wrong: &Wrong) -> Concern {
    if matches!(wrong, Wrong::NumberMissing | Wrong::NumberLeft | Wrong::KeyLeft) {
        return Concern::Beside;
    }
    match family {
        Family::Journal | Family::Meta => Concern::Log,
        Family::Vault if *wrong == Wrong::NoMerchant => Concern::Beside,
        Family::Vault => Concern::Vault,
        Family::Rows | Family::Indexes | Family::Effects | Family::Timers | Family::Snapshots | Family::Directory => {
            Concern::Derived
        }
    }
}

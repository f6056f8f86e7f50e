//! The data that a fault concerns, which decides if the log can repair it.

use till_storage::family::Family;

use super::fault::{Fault, FaultLocation, Wrong};

/// The data that a fault concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concern {
    /// The log, or the store as a whole: nothing can be derived from it.
    Log,
    /// A sealed row that cannot be opened: rows derived without it would lack data that the log has.
    Vault,
    /// Data that follows from the log.
    Derived,
    /// A surplus or missing card number, the sandbox's book, or the deliveries of webhooks: none of them follows from
    /// the log, and none prevents the repair of data that does.
    Beside,
}

impl Concern {
    /// The data that this fault concerns.
    #[must_use]
    pub fn of(fault: &Fault) -> Concern {
        match &fault.location {
            FaultLocation::Store | FaultLocation::Records { .. } | FaultLocation::Head => Concern::Log,
            FaultLocation::Applied | FaultLocation::Snapshot { .. } => Concern::Derived,
            FaultLocation::Row(name) => of_row(name.family, &fault.wrong),
            FaultLocation::Rows { family, .. } => of_row(*family, &fault.wrong),
            FaultLocation::Deliveries | FaultLocation::Book | FaultLocation::BookLine { .. } => Concern::Beside,
        }
    }

    /// True when a repair must not begin.
    #[must_use]
    pub const fn forbids_repair(self) -> bool {
        match self {
            Concern::Log | Concern::Vault => true,
            Concern::Derived | Concern::Beside => false,
        }
    }
}

/// True when a server may run with a fault as it is.
pub(super) fn is_harmless(fault: &Fault) -> bool {
    Concern::of(fault) == Concern::Beside
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

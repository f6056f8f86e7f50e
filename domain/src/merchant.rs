//! Merchants: who they are, what they take payments with, where they take them.

use crate::ids::InstallationId;
use crate::money::{Currency, FeeRate};
use crate::text::{Email, InstallationIdentifier, Name, TimeZone};
use crate::time::Millis;

/// How long captured money is held when the operator names nothing else: two days.
pub const SETTLEMENT_DELAY_DEFAULT_SECONDS: u64 = 172_800;
/// The longest settlement delay: a year.
pub const SETTLEMENT_DELAY_MAX_SECONDS: u64 = 31_536_000;
/// The longest time that one call advances a test clock by: 400 days.
pub const ADVANCE_MAX_SECONDS: u64 = 400 * 86_400;
/// Most installations of one merchant: they are part of its bounded state.
pub const INSTALLATIONS_MAX: usize = 1_000;

/// What the operator said of a merchant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: Name,
    /// The one currency of its account.
    pub currency: Currency,
    /// In which its days begin.
    pub time_zone: TimeZone,
    /// How long captured money is held before it is effective, in seconds.
    pub settlement_delay_seconds: u64,
    /// Shown as the actor of what an operator does.
    pub support_email: Option<Email>,
    /// When it was created.
    pub created_at: Millis,
    /// Whether its calls that change something are refused.
    pub suspended: bool,
    /// True when its identifiers may look like card numbers.
    pub card_numbers_in_identifiers: bool,
}

/// The clock of a merchant that tests advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TestClock {
    /// The time by which the merchant is ahead of the wall clock, in milliseconds. It only grows.
    pub offset_ms: u64,
}

/// A kind of payment method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaymentMethod {
    /// A card, by token or saved.
    Card,
    /// Instalments by a plan.
    Installment,
}

impl PaymentMethod {
    /// Every method, in the order of the documents.
    pub const ALL: [PaymentMethod; 2] = [PaymentMethod::Card, PaymentMethod::Installment];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            PaymentMethod::Card => "CARD",
            PaymentMethod::Installment => "INSTALLMENT",
        }
    }

    /// The name that a customer reads.
    #[must_use]
    pub const fn display_name(self) -> &'static str {
        match self {
            PaymentMethod::Card => "Card",
            PaymentMethod::Installment => "Instalments",
        }
    }
}

/// An acquirer that Till knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AcquirerName {
    /// The built-in one, which moves no money.
    Sandbox,
}

impl AcquirerName {
    /// Every acquirer.
    pub const ALL: [AcquirerName; 1] = [AcquirerName::Sandbox];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            AcquirerName::Sandbox => "sandbox",
        }
    }
}

/// How a merchant's payments of one method are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integration {
    /// By whom.
    pub acquirer: AcquirerName,
    /// Whether the method can be chosen now.
    pub enabled: bool,
    /// Whether an authorization can stand without a capture.
    pub authorizes_without_capture: bool,
    /// What a captured payment costs the merchant.
    pub fee: FeeRate,
}

impl Integration {
    /// What a new merchant has for every method: enabled on the sandbox, no fee.
    #[must_use]
    pub const fn initial() -> Integration {
        Integration {
            acquirer: AcquirerName::Sandbox,
            enabled: true,
            authorizes_without_capture: true,
            fee: FeeRate { basis_points: 0, fixed_minor: 0 },
        }
    }
}

/// Where a client SDK runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Platform {
    /// A web site.
    Web,
    /// An iOS app.
    Ios,
    /// An Android app.
    Android,
    /// A payment terminal.
    Terminal,
}

impl Platform {
    /// Every platform, in the order of the documents.
    pub const ALL: [Platform; 4] = [Platform::Web, Platform::Ios, Platform::Android, Platform::Terminal];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Platform::Web => "WEB",
            Platform::Ios => "IOS",
            Platform::Android => "ANDROID",
            Platform::Terminal => "TERMINAL",
        }
    }
}

/// One installation of a client SDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// Its id.
    pub id: InstallationId,
    /// What the merchant calls it.
    pub name: Name,
    /// Where it runs.
    pub platform: Platform,
    /// Which one there: for `Web` the origin that may call from a browser.
    pub identifier: InstallationIdentifier,
    /// When it was added.
    pub created_at: Millis,
}

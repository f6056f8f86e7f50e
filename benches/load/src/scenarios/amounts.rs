//! Amounts that are paid, in minor units.

/// The amount of an initiation.
pub(super) const INITIATED_MINOR: u64 = 10_000;

/// The amount of a partial capture of a payment of [`INITIATED_MINOR`].
pub(super) const CAPTURED_PART_MINOR: u64 = 6_000;

/// Refunds that together pay back all of a payment of [`INITIATED_MINOR`].
pub(super) const REFUNDS_OF_A_PAYMENT: usize = 4;

/// The amount of each of these refunds.
pub(super) const REFUNDED_PART_MINOR: u64 = 2_500;

/// The amount of a payout: the sandbox pays it at once.
pub(super) const PAYOUT_MINOR: u64 = 100;

/// The top-up that a merchant's payouts are paid from: enough for ten million of them.
pub(super) const FUNDS_MINOR: u64 = 1_000_000_000;

/// The currency of merchants that are made for a run.
pub(super) const CURRENCY: &str = "THB";

/// The test card that succeeds.
pub(super) const CARD: &str = "4242424242424242";

/// The test card that succeeds and settles at once.
pub(super) const CARD_SETTLING_AT_ONCE: &str = "4000000000000077";

/// The test card whose issuer asks the customer for 3-D Secure.
pub(super) const CARD_ASKING: &str = "4000002760003184";

/// The test card that is declined.
pub(super) const CARD_DECLINED: &str = "4000000000000002";

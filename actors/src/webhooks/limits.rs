//! The limits of what deliveries do at once, for all merchants together.

/// Endpoints that are sent events at the same time. Each of them may have one attempt at any time.
pub(super) const ENDPOINTS_MAX: usize = 1_024;
/// Attempts beside the first of each endpoint. They make deliveries faster, and none waits for them.
pub(super) const FURTHER_ATTEMPTS_MAX: usize = 512;
/// Attempts that merchants make to try their endpoints and that always have room.
const TESTS_MAX: usize = 256;
/// Attempts in all. Each has one socket.
pub(super) const ATTEMPTS_MAX: usize = ENDPOINTS_MAX + FURTHER_ATTEMPTS_MAX + TESTS_MAX;
/// Names that are looked up.
pub(super) const LOOKUPS_MAX: usize = 256;
/// Sockets of one look-up: the system's resolver asks three servers at most.
const LOOKUP_SOCKETS: usize = 3;
/// One merchant has an eighth of each at most.
pub(super) const MERCHANT_PARTS: usize = 8;

/// Sockets that deliveries have open at once, at most: 1,792 of attempts, and 3 for each of 256 names that are looked
/// up.
pub const SOCKETS_MAX: usize = ATTEMPTS_MAX + LOOKUPS_MAX * LOOKUP_SOCKETS;

/// The part of a limit that deliveries with this number of sockets have, so that a merchant has its part of it, too.
pub(super) fn part_of(limit: usize, sockets: usize) -> usize {
    (limit * sockets.min(SOCKETS_MAX) / SOCKETS_MAX).max(MERCHANT_PARTS)
}

const _: () = assert!(SOCKETS_MAX == 2_560, "it is told to operators: docs/limits.md");
const _: () = assert!(
    till_domain::webhook::WEBHOOKS_MAX < ENDPOINTS_MAX / MERCHANT_PARTS,
    "each of a merchant's webhooks has a turn"
);

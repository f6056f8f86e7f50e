//! The cards that customers pay with.

use crate::harness::CARD;

/// The customer disputes the whole capture as soon as it is made.
pub(super) const DISPUTED: &str = "4000000000000259";

/// The acquirer authorizes the payment, and refuses every capture.
pub(super) const REFUSING_CAPTURES: &str = "4000000000003055";

/// Cards by their numbers. The first calls of two cards time out: one is carried out, one is not. The refunds of one
/// fail after a second, and three are declined.
pub(super) const CARDS: [&str; 15] = [
    CARD,
    CARD,
    CARD,
    CARD,
    "5555555555554444",
    "4000000000000077",
    "4000000000003063",
    "4000000000003097",
    DISPUTED,
    DISPUTED,
    REFUSING_CAPTURES,
    "4000000000005126",
    "4000000000000002",
    "4000000000009995",
    "4000000000000119",
];

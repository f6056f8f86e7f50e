//! The cards that customers pay with, and what the acquirer does about their payments.

use crate::harness::CARD;

/// The acquirer's treatment of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The acquirer carries out every call.
    Approved,
    /// The acquirer declines the payment with this code.
    Declined(&'static str),
    /// The acquirer authorizes the payment, and refuses every capture with this code.
    CaptureRefused(&'static str),
    /// The acquirer carries out every call except refunds, which fail with this code after a second.
    RefundsRefused(&'static str),
    /// The acquirer carries out every call, and the customer disputes the whole capture as soon as it is made.
    Disputed,
}

impl Fate {
    /// The code with which refunds fail, if they do.
    pub(super) const fn refund_failure(self) -> Option<&'static str> {
        match self {
            Fate::RefundsRefused(code) => Some(code),
            Fate::Approved | Fate::Disputed | Fate::Declined(_) | Fate::CaptureRefused(_) => None,
        }
    }
}

/// Cards with the treatment of their payments. The first calls of two cards time out: one is carried out, one is not.
pub(super) const CARDS: [(&str, Fate); 15] = [
    (CARD, Fate::Approved),
    (CARD, Fate::Approved),
    (CARD, Fate::Approved),
    (CARD, Fate::Approved),
    ("5555555555554444", Fate::Approved),
    ("4000000000000077", Fate::Approved),
    ("4000000000003063", Fate::Approved),
    ("4000000000003097", Fate::Approved),
    ("4000000000000259", Fate::Disputed),
    ("4000000000000259", Fate::Disputed),
    ("4000000000003055", Fate::CaptureRefused("capture_failed")),
    ("4000000000005126", Fate::RefundsRefused("refund_failed")),
    ("4000000000000002", Fate::Declined("card_declined")),
    ("4000000000009995", Fate::Declined("insufficient_funds")),
    ("4000000000000119", Fate::Declined("processing_error")),
];

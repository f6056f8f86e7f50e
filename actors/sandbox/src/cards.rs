//! How the sandbox's cards behave: by number, with the numbers that the field knows.

use crate::book::DeclineReason;
use till_storage::vault::CardNumber;

/// What becomes of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// It is authorized, and settles after the merchant's delay.
    Approve,
    /// It is authorized, and settles at once.
    ApproveAndSettleAtOnce,
    /// It is declined.
    Decline(DeclineReason),
}

impl Behaviour {
    /// The behaviour of a card.
    pub(super) fn of(number: &CardNumber) -> Behaviour {
        match number.expose_digits() {
            "4000000000000002" => Behaviour::Decline(DeclineReason::CardDeclined),
            "4000000000009995" => Behaviour::Decline(DeclineReason::InsufficientFunds),
            "4000000000000069" => Behaviour::Decline(DeclineReason::ExpiredCard),
            "4000000000000127" => Behaviour::Decline(DeclineReason::IncorrectCvc),
            "4000000000000119" => Behaviour::Decline(DeclineReason::ProcessingError),
            // There is no page yet on which its holder could be authenticated.
            "4000003800000446" => Behaviour::Decline(DeclineReason::AuthenticationRequired),
            "4000000000000077" => Behaviour::ApproveAndSettleAtOnce,
            // Among them 4242424242424242, and 4000000000000259, whose dispute comes later.
            _ => Behaviour::Approve,
        }
    }
}

/// The code and the message of a reason, as merchants see them.
pub(super) const fn code_and_message(reason: DeclineReason) -> (&'static str, &'static str) {
    let message = match reason {
        DeclineReason::CardDeclined => "The card was declined.",
        DeclineReason::InsufficientFunds => "The card has insufficient funds.",
        DeclineReason::ExpiredCard => "The card has expired.",
        DeclineReason::IncorrectCvc => "The card's security code is incorrect.",
        DeclineReason::ProcessingError => "An error occurred while the card was processed. Try again.",
        DeclineReason::AuthenticationRequired => "The card requires its holder to be authenticated.",
        DeclineReason::UnknownAuthorization => {
            "There is no approved authorization of this payment under the reference."
        }
        DeclineReason::AlreadyCaptured => "The authorization was captured already.",
        DeclineReason::AlreadyVoided => "The authorization was given up already.",
        DeclineReason::NotCaptured => "The authorization was not captured.",
        DeclineReason::WrongAmount => "The amount does not fit what the authorization has left.",
    };
    (reason.code(), message)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn decline_code(number: &str) -> Option<&'static str> {
        match Behaviour::of(&CardNumber::parse(number).expect("a card number")) {
            Behaviour::Approve | Behaviour::ApproveAndSettleAtOnce => None,
            Behaviour::Decline(reason) => Some(code_and_message(reason).0),
        }
    }

    #[test]
    fn each_published_number_behaves_as_published() {
        for (number, code) in [
            ("4242424242424242", None),
            ("4000000000000002", Some("card_declined")),
            ("4000000000009995", Some("insufficient_funds")),
            ("4000000000000069", Some("expired_card")),
            ("4000000000000127", Some("incorrect_cvc")),
            ("4000000000000119", Some("processing_error")),
            ("4000003800000446", Some("authentication_required")),
            ("4000000000000259", None),
            ("4000000000000077", None),
        ] {
            assert_eq!(decline_code(number), code, "{number}");
        }
    }

    #[test]
    fn any_other_number_succeeds_and_only_one_settles_at_once() {
        let behaviour = |number| Behaviour::of(&CardNumber::parse(number).expect("a card number"));
        for number in ["4242424242424242", "5555555555554444", "378282246310005", "4000000000000259"] {
            assert_eq!(behaviour(number), Behaviour::Approve, "{number}");
        }
        assert_eq!(behaviour("4000000000000077"), Behaviour::ApproveAndSettleAtOnce);
    }

    #[test]
    fn every_reason_has_a_code_of_its_own_and_a_sentence() {
        let codes: BTreeSet<_> = DeclineReason::ALL.into_iter().map(|reason| code_and_message(reason).0).collect();
        assert_eq!(codes.len(), DeclineReason::ALL.len());
        assert!(DeclineReason::ALL.into_iter().all(|reason| code_and_message(reason).1.ends_with('.')));
    }
}

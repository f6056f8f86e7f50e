//! The behaviour of the sandbox's methods of payment. That of a card depends on its number, a common test card number;
//! that of the others on the amount.

use std::time::Duration;

use crate::book::{ActionPage, BookInstrument};
use till_domain::command::AuthenticationResult;
use till_domain::customer_action::{AuthenticationFlow, AuthenticationStatus};
use till_domain::failure::FailureCode;
use till_domain::money::Money;
use till_storage::vault::CardNumber;

/// Delay of the answers to calls for the slow card.
const LATE_ANSWER: Duration = Duration::from_secs(5);

/// The result of a payment's authorization, once its customer has acted with success where that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// It is authorized, and settles after the merchant's delay.
    Approve,
    /// It is authorized, and settles at once.
    ApproveAndSettleAtOnce,
    /// It is declined.
    Decline(FailureCode),
}

/// The way of a payment's authorization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AuthorizationPlan {
    /// The page on which the customer must act first.
    pub(super) asks: Option<ActionPage>,
    /// The authentication of the card, when its result is known without a challenge.
    pub(super) authentication: Option<AuthenticationResult>,
    /// The result.
    pub(super) behaviour: Behaviour,
}

impl AuthorizationPlan {
    /// The plan of a card.
    pub(super) fn of_card(number: &CardNumber, is_saved: bool) -> AuthorizationPlan {
        match number.expose_digits() {
            "4000002760003184" | "4000003800000446" => AuthorizationPlan::challenge(Behaviour::Approve),
            "4000002500003155" if !is_saved => AuthorizationPlan::challenge(Behaviour::Approve),
            "4000008260003178" => AuthorizationPlan::challenge(Behaviour::Decline(FailureCode::InsufficientFunds)),
            "4000008400001629" => AuthorizationPlan::challenge(Behaviour::Decline(FailureCode::CardDeclined)),
            "4000008400001280" => {
                AuthorizationPlan::refused(AuthenticationStatus::Unavailable, FailureCode::AuthenticationUnavailable)
            }
            "4000008400001611" => {
                AuthorizationPlan::refused(AuthenticationStatus::Rejected, FailureCode::AuthenticationRejected)
            }
            "378282246310005" => AuthorizationPlan::unauthenticated(Behaviour::Approve),
            digits => AuthorizationPlan {
                authentication: Some(AuthenticationResult {
                    flow: AuthenticationFlow::Frictionless,
                    status: AuthenticationStatus::Authenticated,
                    eci: Some(ECI_AUTHENTICATED),
                    version: None,
                }),
                ..AuthorizationPlan::unauthenticated(Behaviour::of(digits))
            },
        }
    }

    /// The plan of a method whose customer confirms on a page, by the last two digits of the amount.
    pub(super) fn of_method(page: ActionPage, money: Money) -> AuthorizationPlan {
        match AmountBehaviour::of(money) {
            Some(AmountBehaviour::MethodUnavailable) => {
                AuthorizationPlan::unauthenticated(Behaviour::Decline(FailureCode::MethodUnavailable))
            }
            None
            | Some(
                AmountBehaviour::AsksLate | AmountBehaviour::SucceedsLate | AmountBehaviour::SucceedsAfterDeadline,
            ) => AuthorizationPlan { asks: Some(page), ..AuthorizationPlan::unauthenticated(Behaviour::Approve) },
        }
    }

    /// The plan of a payment without an authentication and without an action.
    pub(super) const fn unauthenticated(behaviour: Behaviour) -> AuthorizationPlan {
        AuthorizationPlan { asks: None, authentication: None, behaviour }
    }

    const fn challenge(behaviour: Behaviour) -> AuthorizationPlan {
        AuthorizationPlan { asks: Some(ActionPage::Challenge), ..AuthorizationPlan::unauthenticated(behaviour) }
    }

    fn refused(status: AuthenticationStatus, reason: FailureCode) -> AuthorizationPlan {
        let flow = AuthenticationFlow::Frictionless;
        let authentication = AuthenticationResult { flow, status, eci: None, version: None };
        AuthorizationPlan {
            authentication: Some(authentication),
            ..AuthorizationPlan::unauthenticated(Behaviour::Decline(reason))
        }
    }
}

/// The electronic commerce indicator of an authenticated card.
pub(super) const ECI_AUTHENTICATED: u8 = 5;

/// The behaviour of PromptPay and mobile banking by the last two digits of the amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AmountBehaviour {
    /// The address or text comes five seconds late.
    AsksLate,
    /// It fails at once.
    MethodUnavailable,
    /// The result comes five seconds after the customer has paid.
    SucceedsLate,
    /// The success comes by itself, five seconds after the customer's time is over.
    SucceedsAfterDeadline,
}

impl AmountBehaviour {
    /// The behaviour for an amount; none for an ordinary one.
    pub(super) const fn of(money: Money) -> Option<AmountBehaviour> {
        match money.amount.get() % 100 {
            91 => Some(AmountBehaviour::AsksLate),
            92 => Some(AmountBehaviour::MethodUnavailable),
            93 => Some(AmountBehaviour::SucceedsLate),
            94 => Some(AmountBehaviour::SucceedsAfterDeadline),
            _ => None,
        }
    }
}

impl Behaviour {
    /// The behaviour of a card with these digits that is authenticated without a question.
    fn of(digits: &str) -> Behaviour {
        match digits {
            "4000000000000002" => Behaviour::Decline(FailureCode::CardDeclined),
            "4000000000009995" => Behaviour::Decline(FailureCode::InsufficientFunds),
            "4000000000000069" => Behaviour::Decline(FailureCode::ExpiredCard),
            "4000000000000127" => Behaviour::Decline(FailureCode::IncorrectCvc),
            "4000000000000119" => Behaviour::Decline(FailureCode::ProcessingError),
            "4000000000000077" => Behaviour::ApproveAndSettleAtOnce,
            // Among them 4242424242424242, and 4000000000000259, whose payments are disputed once they are captured.
            _ => Behaviour::Approve,
        }
    }

    /// The reason for which it declines.
    pub(super) const fn declines(self) -> Option<FailureCode> {
        match self {
            Behaviour::Approve | Behaviour::ApproveAndSettleAtOnce => None,
            Behaviour::Decline(reason) => Some(reason),
        }
    }
}

/// The handling of the calls for an instrument, whether or not its authorization is approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Handling {
    /// They are carried out and answered at once.
    AtOnce,
    /// The authorization is not captured, and every capture is declined.
    CaptureFails,
    /// A refund is pending until the operator ends it.
    RefundWaitsForOperator,
    /// A refund is pending for a second, and then fails.
    RefundFailsLater,
    /// The first call under a reference is carried out, and gets no answer.
    FirstCallTimesOutDone,
    /// The first call under a reference is not carried out, and gets no answer.
    FirstCallTimesOutUndone,
    /// They are carried out at once, and answered after [`LATE_ANSWER`].
    AnswersLate,
    /// They are carried out at once and answered, and the same answer is sent once more.
    AnswersTwice,
}

impl Handling {
    /// The handling of an instrument. It depends only on the digits of the card that may be shown, since the book keeps
    /// no others and calls after an authorization know the card from the book.
    pub(super) fn of(instrument: &BookInstrument) -> Handling {
        let BookInstrument::Card { first_six, last_four } = instrument else { return Handling::AtOnce };
        match (first_six, last_four) {
            (b"400000", b"3055") => Handling::CaptureFails,
            (b"400000", b"7726") => Handling::RefundWaitsForOperator,
            (b"400000", b"5126") => Handling::RefundFailsLater,
            (b"400000", b"3063") => Handling::FirstCallTimesOutDone,
            (b"400000", b"3097") => Handling::FirstCallTimesOutUndone,
            (b"400000", b"3238") => Handling::AnswersLate,
            (b"400000", b"3220") => Handling::AnswersTwice,
            _ => Handling::AtOnce,
        }
    }

    /// The delay of an answer.
    pub(super) const fn answer_delay(self) -> Duration {
        match self {
            Handling::AnswersLate => LATE_ANSWER,
            Handling::AtOnce
            | Handling::CaptureFails
            | Handling::RefundWaitsForOperator
            | Handling::RefundFailsLater
            | Handling::FirstCallTimesOutDone
            | Handling::FirstCallTimesOutUndone
            | Handling::AnswersTwice => Duration::ZERO,
        }
    }
}

/// True for the card whose payments are disputed as soon as they are captured.
pub(super) fn is_disputed(instrument: &BookInstrument) -> bool {
    matches!(instrument, BookInstrument::Card { first_six, last_four } if (first_six, last_four) == (b"400000",
        b"0259"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(number: &str) -> AuthorizationPlan {
        AuthorizationPlan::of_card(&CardNumber::parse(number).expect("a card number"), false)
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
            ("4000000000000259", None),
            ("4000000000000077", None),
        ] {
            assert_eq!(plan(number).behaviour.declines().map(FailureCode::name), code, "{number}");
        }
    }

    #[test]
    fn any_other_number_succeeds_and_only_one_settles_at_once() {
        for number in ["4242424242424242", "5555555555554444", "378282246310005", "4000000000000259"] {
            assert_eq!(plan(number).behaviour, Behaviour::Approve, "{number}");
        }
        assert_eq!(plan("4000000000000077").behaviour, Behaviour::ApproveAndSettleAtOnce);
    }

    #[test]
    fn a_card_is_handled_by_its_digits_and_an_instalment_at_once() {
        let handling = |first_six: &[u8; 6], last_four: &[u8; 4]| {
            Handling::of(&BookInstrument::Card { first_six: *first_six, last_four: *last_four })
        };
        for (last_four, expected) in [
            (b"3055", Handling::CaptureFails),
            (b"7726", Handling::RefundWaitsForOperator),
            (b"5126", Handling::RefundFailsLater),
            (b"3063", Handling::FirstCallTimesOutDone),
            (b"3097", Handling::FirstCallTimesOutUndone),
            (b"3238", Handling::AnswersLate),
            (b"0002", Handling::AtOnce),
        ] {
            assert_eq!(handling(b"400000", last_four), expected, "{last_four:?}");
            assert_eq!(handling(b"424242", last_four), Handling::AtOnce, "another card with the same last digits");
        }
        let instalment = BookInstrument::Installment { plan: "4000000000007726".to_owned() };
        assert_eq!(Handling::of(&instalment), Handling::AtOnce);
    }
}

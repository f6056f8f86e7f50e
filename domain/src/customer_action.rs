//! The customer's part of a payment: the step that the acquirer asks of the customer, and the result of the card's
//! authentication.

use crate::text::{ActionAddress, QrText};
use crate::time::Millis;

/// The step that a customer is asked to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CustomerStep {
    /// Open an address, where the issuer, the bank or the wallet asks for a confirmation.
    Redirect(ActionAddress),
    /// Scan a QR code with this text.
    DisplayQr(QrText),
    /// Open the page that the acquirer has prepared, whose address is in the preparation of the payment only.
    AcquirerPage,
}

/// An action of the customer that the acquirer waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerAction {
    /// The step that the customer is asked to take.
    pub step: CustomerStep,
    /// True when it authenticates a card: a 3-D Secure challenge.
    pub authenticates: bool,
    /// The instant at which it was recorded.
    pub recorded_at: Millis,
    /// The instant until which the customer can act.
    pub expires_at: Millis,
}

/// The stage of the one action of a payment. A payment that never asked its customer has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionStage {
    /// The customer must act until this instant: `next_action` is set.
    Open(Millis),
    /// The customer has acted, or the action has ended in another way.
    Over,
}

word_enum! {
    /// The way in which a card was authenticated: `flow` of `authentication`.
    pub enum AuthenticationFlow: name {
        /// The issuer asked the customer.
        Challenge => "CHALLENGE",
        /// The issuer recognized the customer without a question.
        Frictionless => "FRICTIONLESS",
    }

    /// The result of an authentication: EMV 3-D Secure's `transStatus`.
    pub enum AuthenticationStatus: name {
        /// Authenticated.
        Authenticated => "Y",
        /// Attempted: the issuer vouches without having authenticated.
        Attempted => "A",
        /// Not authenticated.
        NotAuthenticated => "N",
        /// Not possible.
        Unavailable => "U",
        /// Refused by the issuer without a question.
        Rejected => "R",
        /// The challenge is open.
        Challenged => "C",
    }
}

word_enum! {
    /// A version of EMV 3-D Secure, or of 3-D Secure 1.
    pub enum AuthenticationVersion: name {
        /// 3-D Secure 1.
        V1_0_2 => "1.0.2",
        /// The first of EMV that was used.
        V2_1_0 => "2.1.0",
        /// That of the sandbox.
        V2_2_0 => "2.2.0",
        /// The third.
        V2_3_0 => "2.3.0",
        /// Its correction.
        V2_3_1 => "2.3.1",
    }
}

/// An authentication of a card by 3-D Secure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Authentication {
    /// The way.
    pub flow: AuthenticationFlow,
    /// The result.
    pub status: AuthenticationStatus,
    /// The electronic commerce indicator: a number of two digits, when the scheme gives one.
    pub eci: Option<u8>,
    /// The version, when the acquirer tells it with the result. The sandbox has one only.
    pub version: Option<AuthenticationVersion>,
    /// The instant at which the result was recorded; none while the challenge is open, and when nobody answered it.
    pub at: Option<Millis>,
}

impl Authentication {
    /// A challenge that the customer has not answered.
    #[must_use]
    pub const fn challenged() -> Authentication {
        Authentication {
            flow: AuthenticationFlow::Challenge,
            status: AuthenticationStatus::Challenged,
            eci: None,
            version: None,
            at: None,
        }
    }

    /// The authentication after its payment has ended: a challenge that nobody answered was not passed.
    #[must_use]
    pub fn at_end_of_payment(self) -> Authentication {
        match self.status {
            AuthenticationStatus::Challenged => {
                Authentication { status: AuthenticationStatus::NotAuthenticated, ..self }
            }
            AuthenticationStatus::Authenticated
            | AuthenticationStatus::Attempted
            | AuthenticationStatus::NotAuthenticated
            | AuthenticationStatus::Unavailable
            | AuthenticationStatus::Rejected => self,
        }
    }
}

/// An approval that came after the end of a payment: its money is given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateSuccess {
    /// The instant at which it was recorded.
    pub received_at: Millis,
    /// The instant at which the acquirer confirmed that the money is back.
    pub returned_at: Option<Millis>,
}

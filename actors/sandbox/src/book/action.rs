//! The action that a customer is asked for, as a line of the book keeps it.

use std::fmt;
use std::str::FromStr;

use till_actors::acquirer::{NamedCall, PaymentStep};
use till_domain::failure::FailureCode;
use till_domain::ids::PaymentId;
use till_domain::money::Money;

use super::promptpay;

till_domain::word_enum! {
    /// A page on which the sandbox plays the party that asks the customer.
    pub enum ActionPage: name {
        /// The card's issuer, which authenticates its holder: a 3-D Secure challenge.
        Challenge => "challenge",
        /// The customer's bank.
        Bank => "bank",
        /// The wallet on the customer's phone, which has scanned a QR code.
        Wallet => "wallet",
    }

    /// The answer of a customer to an action.
    pub enum ActionOutcome: name {
        /// Passed the challenge, approved the payment, or paid.
        Succeed => "succeed",
        /// Failed the challenge, or declined to pay.
        Fail => "fail",
        /// Left the page by its button.
        Cancel => "cancel",
    }
}

impl ActionPage {
    /// True when the page has a button for an outcome: a wallet has none to cancel.
    #[must_use]
    pub fn offers(self, outcome: ActionOutcome) -> bool {
        (self, outcome) != (ActionPage::Wallet, ActionOutcome::Cancel)
    }

    /// The path of the page for an action.
    #[must_use]
    pub fn path(self, id: ActionId) -> String {
        format!("/sandbox/{}/{id}", self.name())
    }

    /// The seconds that a customer has.
    pub(crate) const fn lifetime_seconds(self) -> u64 {
        match self {
            ActionPage::Challenge => 600,
            ActionPage::Bank => 1_800,
            ActionPage::Wallet => 900,
        }
    }
}

/// The id of an action, which is the capability to act: the payment's id, which leads to the line, and 16 random bytes.
/// As text it is 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionId(pub [u8; 32]);

impl ActionId {
    /// The id of the action of a payment with this random secret.
    #[must_use]
    pub fn new(payment: PaymentId, secret: [u8; 16]) -> ActionId {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&payment.to_bytes());
        bytes[16..].copy_from_slice(&secret);
        ActionId(bytes)
    }

    /// The reference of the line that an action with this id would be in.
    pub(crate) fn authorization(self) -> String {
        let payment = self.0.first_chunk().copied().map(PaymentId::from_bytes).expect("an id has 32 bytes");
        NamedCall::first(payment, PaymentStep::Authorize).to_string()
    }
}

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The text is not the id of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not the id of an action: 64 lower-case hexadecimal digits")]
pub struct UnknownActionId;

impl FromStr for ActionId {
    type Err = UnknownActionId;

    fn from_str(text: &str) -> Result<ActionId, UnknownActionId> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != 64 || !text.bytes().all(is_digit) {
            return Err(UnknownActionId);
        }
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().enumerate() {
            let pair = &text[place * 2..place * 2 + 2];
            *byte = u8::from_str_radix(pair, 16).map_err(|_| UnknownActionId)?;
        }
        Ok(ActionId(bytes))
    }
}

/// An action that a customer was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookAction {
    /// Its id.
    pub id: ActionId,
    /// The page on which the customer acts.
    pub page: ActionPage,
    /// The text of the QR code that leads to the page of a wallet.
    pub qr_text: Option<String>,
    /// The path to which the customer comes back.
    pub return_path: String,
    /// The reason for which the authorization is declined although the customer acts with success.
    pub declines: Option<FailureCode>,
    /// The time from which the customer can act, in milliseconds since the Unix epoch, as all times here.
    pub given_at_ms: u64,
    /// The customer's answer; none until there is one.
    pub taken: Option<TakenAction>,
    /// The time at which the success comes; none while none is to come.
    pub succeeds_at_ms: Option<u64>,
    /// The time at which the action was canceled.
    pub canceled_at_ms: Option<u64>,
}

impl BookAction {
    /// An action that is asked for. The book's thread adds the time.
    pub(crate) fn asked(
        page: ActionPage,
        secret: [u8; 16],
        payment: PaymentId,
        money: Money,
        return_path: String,
    ) -> BookAction {
        BookAction {
            id: ActionId::new(payment, secret),
            page,
            qr_text: (page == ActionPage::Wallet).then(|| promptpay::qr_text(payment, money)),
            return_path,
            declines: None,
            given_at_ms: 0,
            taken: None,
            succeeds_at_ms: None,
            canceled_at_ms: None,
        }
    }

    /// The path of the page.
    pub(crate) fn path(&self) -> String {
        self.page.path(self.id)
    }
}

/// The answer of a customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakenAction {
    /// The answer.
    pub outcome: ActionOutcome,
    /// The time at which it was given.
    pub at_ms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_from_its_text_and_leads_to_its_line() {
        let payment = PaymentId::from_bytes([7; 16]);
        let id = ActionId::new(payment, [0xab; 16]);
        let text = id.to_string();
        assert_eq!(text, format!("{}{}", "07".repeat(16), "ab".repeat(16)));
        assert_eq!(text.parse(), Ok(id));
        assert_eq!(id.authorization(), format!("{payment}/authorize"));
    }

    #[test]
    fn other_texts_are_no_ids() {
        let good = "07".repeat(32);
        for text in
            ["", &good[1..], &format!("{good}0"), &good.replace('7', "G"), &good.replace('7', "A"), &"ä".repeat(32)]
        {
            assert_eq!(text.parse::<ActionId>(), Err(UnknownActionId), "{text}");
        }
    }
}

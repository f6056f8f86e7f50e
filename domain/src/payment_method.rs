//! Payment methods.

use crate::money::Currency;

word_enum! {
    /// A kind of payment method.
    pub enum PaymentMethod: name, display_name {
        /// A card, by token or saved.
        Card => "CARD" | "Card",
        /// Instalments by a plan.
        Installment => "INSTALLMENT" | "Instalments",
        /// A transfer from a bank account in Thailand that a QR code asks for.
        PromptPay => "PROMPTPAY" | "PromptPay QR",
        /// A confirmation in the customer's banking app or on its bank's page.
        MobileBanking => "MOBILE_BANKING" | "Mobile banking",
    }
}

/// The largest amount of a PromptPay code, in minor units: its text has room for twelve digits.
pub const PROMPT_PAY_MAX_MINOR: u64 = 999_999_999_999;

impl PaymentMethod {
    /// The methods that are enabled for a new merchant. The operator enables the others.
    pub const ON_AT_FIRST: [PaymentMethod; 2] = [PaymentMethod::Card, PaymentMethod::Installment];

    /// The one currency in which the method pays; none for a method that pays in any.
    #[must_use]
    pub const fn only_currency(self) -> Option<Currency> {
        match self {
            PaymentMethod::PromptPay => Some(Currency::from_bytes(*b"THB")),
            PaymentMethod::Card | PaymentMethod::Installment | PaymentMethod::MobileBanking => None,
        }
    }

    /// False for a method by which money is paid at once or not at all.
    #[must_use]
    pub const fn can_authorize_without_capture(self) -> bool {
        match self {
            PaymentMethod::Card | PaymentMethod::Installment => true,
            PaymentMethod::PromptPay | PaymentMethod::MobileBanking => false,
        }
    }
}

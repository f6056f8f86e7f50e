//! The steps whose latencies are recorded separately, and the faults of a call.

use std::str::FromStr;

use clap::ValueEnum;

use crate::client::{CallFailure, HttpAnswer};

/// A part of an operation whose latency is recorded separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum MeasuredStep {
    /// A balance is read.
    GetBalance,
    /// A payment is initiated.
    InitiatePaymentFlow,
    /// All steps of a flow.
    #[value(name = "the whole flow")]
    Flow,
    /// A card becomes a token.
    #[value(name = "flow: tokenize-card")]
    TokenizeCard,
    /// A token becomes a session.
    #[value(name = "flow: select-payment-method")]
    SelectPaymentMethod,
    /// A session becomes a payment.
    #[value(name = "flow: initiate-payment-flow")]
    InitiateOfFlow,
    /// All that a customer does about a payment that asks for it.
    #[value(name = "customer: the whole part")]
    CustomerPart,
    /// The client waits until the payment asks its customer.
    #[value(name = "customer: from the answer until asked")]
    UntilAsked,
    /// The address of the page is read.
    #[value(name = "customer: get-redirect-url")]
    GetRedirectUrl,
    /// The text of the QR code is read.
    #[value(name = "customer: retrieve-qr-data")]
    RetrieveQrData,
    /// The QR code leads to a page.
    #[value(name = "customer: scan of the QR code")]
    ScanQrCode,
    /// The form of the page is sent.
    #[value(name = "customer: form of the page")]
    SendForm,
    /// The browser comes back from the page.
    #[value(name = "customer: way back")]
    ComeBack,
    /// The outcome is waited for.
    #[value(name = "customer: from the form until successful")]
    UntilSuccessful,
    /// The payment is waited for.
    #[value(name = "flow: from the answer until captured")]
    UntilCaptured,
    /// The ledger's entry is waited for.
    #[value(name = "flow: from captured until the entry is settled")]
    UntilSettled,
    /// All steps of a checkout.
    #[value(name = "the whole checkout")]
    Checkout,
    /// A checkout is started.
    #[value(name = "checkout: start-checkout")]
    StartCheckout,
    /// Its page is opened.
    #[value(name = "checkout: the page")]
    OpenCheckout,
    /// The customer's card becomes a token.
    #[value(name = "checkout: tokenize-card")]
    TokenizeForCheckout,
    /// The checkout is paid.
    #[value(name = "checkout: pay-checkout")]
    PayCheckout,
    /// The shop waits until it finds the checkout paid.
    #[value(name = "checkout: from the answer until completed")]
    UntilCompleted,
    /// A payment is captured, whole or in part.
    CapturePayment,
    /// A payment is voided.
    VoidPayment,
    /// A payment is refunded in part.
    RefundPayment,
    /// A payout is sent.
    SendPayout,
    /// An item is added to a set.
    AddToMetadataSet,
    /// A page of the activity log is read.
    ListActivityLogs,
    /// A page of the ledger is read.
    BalanceHistory,
}

impl MeasuredStep {
    /// Its name in reports and in conditions.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().expect("no step is hidden").get_name().to_owned()
    }
}

/// The reason that an operation did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The call failed: refused by the server, or without an answer.
    Failed {
        /// The code under which it is counted.
        code: String,
        /// The beginning of the answer, or the reason that there is none.
        excerpt: String,
    },
    /// The call was answered, and the answer is wrong.
    Wrong(String),
    /// The objects that were made beforehand, such as sessions, are used up.
    NothingLeft,
}

impl Trouble {
    /// An answer that differs from the expected one.
    pub(crate) fn wrong(expected: &str, answer: &HttpAnswer<'_>) -> Trouble {
        Trouble::Wrong(format!("expected {expected}, got {}", answer.excerpt()))
    }

    /// The id in an answer.
    pub(crate) fn unless_id<T: FromStr>(expected: &str, answer: &HttpAnswer<'_>) -> Result<T, Trouble> {
        answer.id().and_then(|id| id.parse().ok()).ok_or_else(|| Trouble::wrong(expected, answer))
    }

    /// Nothing more than that something was done.
    pub(crate) fn unless_true(answer: &HttpAnswer<'_>) -> Result<(), Trouble> {
        if answer.body == b"true" { Ok(()) } else { Err(Trouble::wrong("true", answer)) }
    }

    /// The answer of a call that succeeded.
    pub(crate) fn unless_accepted(answer: Result<HttpAnswer<'_>, CallFailure>) -> Result<HttpAnswer<'_>, Trouble> {
        let answer = answer.map_err(Trouble::of_failure)?;
        if answer.is_success() {
            return Ok(answer);
        }
        Err(Trouble::Failed { code: answer.error_code(), excerpt: answer.excerpt() })
    }

    /// The reason that there is no answer; None when there is one.
    pub(crate) fn unanswered(&self) -> Option<&str> {
        match self {
            Trouble::Failed { code, excerpt } if CallFailure::CODES_WITHOUT_ANSWER.contains(&code.as_str()) => {
                Some(excerpt)
            }
            Trouble::Failed { .. } | Trouble::Wrong(_) | Trouble::NothingLeft => None,
        }
    }

    /// A call without an answer.
    pub(crate) fn of_failure(failure: CallFailure) -> Trouble {
        Trouble::Failed { code: failure.code().to_owned(), excerpt: failure.to_string() }
    }
}

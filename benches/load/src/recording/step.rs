//! The steps whose latencies are recorded separately, and the faults of a call.

use super::super::client::{CallFailure, HttpAnswer};

/// A part of an operation whose latency is recorded separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MeasuredStep {
    GetBalance,
    Initiate,
    Flow,
    TokenizeCard,
    SelectPaymentMethod,
    InitiateOfFlow,
    UntilCaptured,
    UntilSettled,
    CapturePayment,
    VoidPayment,
    RefundPayment,
    SendPayout,
    AddToSet,
    AddToSetVersioned,
    ListActivity,
    BalanceHistory,
}

impl MeasuredStep {
    /// Its name in reports.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            MeasuredStep::GetBalance => "get-balance",
            MeasuredStep::Initiate => "initiate-payment-flow",
            MeasuredStep::Flow => "the whole flow",
            MeasuredStep::TokenizeCard => "flow: tokenize-card",
            MeasuredStep::SelectPaymentMethod => "flow: select-payment-method",
            MeasuredStep::InitiateOfFlow => "flow: initiate-payment-flow",
            MeasuredStep::UntilCaptured => "flow: from the answer until captured",
            MeasuredStep::UntilSettled => "flow: from captured until the entry is settled",
            MeasuredStep::CapturePayment => "capture-payment",
            MeasuredStep::VoidPayment => "void-payment",
            MeasuredStep::RefundPayment => "refund-payment",
            MeasuredStep::SendPayout => "send-payout",
            MeasuredStep::AddToSet => "add-to-metadata-set",
            MeasuredStep::AddToSetVersioned => "add-to-metadata-set, of these with a version",
            MeasuredStep::ListActivity => "list-activity-logs",
            MeasuredStep::BalanceHistory => "balance-history",
        }
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

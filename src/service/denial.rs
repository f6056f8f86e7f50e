//! Converts denials by the actors into errors of the interface. No other file knows both.

use serde_json::{Value, json};
use till_actors::{Denied, FailedOutcome};
use till_domain::money::Money;
use till_domain::payment::OperationKind;
use till_domain::refusal::{ArgumentFault, Refusal};

use crate::protocol::api_error::{ApiError, CallEffect, Code};
use crate::protocol::fault::Fault;

/// The advised delay before a retry when the service could not carry out a command.
pub const RETRY_AFTER_SECONDS: u32 = 1;

/// The advised delay before a retry while events are being delivered to the webhook again, in seconds.
const REDELIVERY_RETRY_SECONDS: u32 = 30;

/// The error for a denial.
pub(super) fn to_api_error(denied: &Denied) -> ApiError {
    match denied {
        Denied::Refused(refusal) => refused(refusal),
        Denied::Unavailable { outcome, reason } => {
            tracing::warn!(%reason, ?outcome, "a command was not carried out");
            let outcome = match outcome {
                FailedOutcome::NotDone => CallEffect::NotDone,
                FailedOutcome::Unknown => CallEffect::Unknown,
            };
            ApiError::unavailable(outcome, RETRY_AFTER_SECONDS).because(reason.to_string())
        }
    }
}

/// The error for a refusal.
#[must_use]
pub fn refused(refusal: &Refusal) -> ApiError {
    if let Refusal::CardNumbersGiven { arguments } = refusal {
        let fault = |argument: &&str| Fault::invalid(argument, refusal.to_string());
        return ApiError::invalid_arguments(&arguments.iter().flatten().map(fault).collect::<Vec<Fault>>());
    }
    if let Some(argument) = refusal.argument() {
        return ApiError::invalid_arguments(&[fault(refusal, argument)]);
    }
    if let Refusal::RedeliveryUnderWay = refusal {
        return ApiError::too_many(refusal.to_string(), REDELIVERY_RETRY_SECONDS);
    }
    // The domain and the interface use the same names; a test compares them.
    let code = Code::from_name(refusal.code()).unwrap_or(Code::UnhandledError);
    let error = ApiError::new(code, refusal.to_string());
    match details(refusal) {
        Some(details) => error.with_details(details),
        None => error,
    }
}

fn fault(refusal: &Refusal, ArgumentFault { argument, missing }: ArgumentFault) -> Fault {
    if let Refusal::VersionMismatch { current } = refusal {
        Fault::version_mismatch(argument, *current)
    } else if let Refusal::NotASet = refusal {
        Fault::not_a_set(argument, refusal.to_string())
    } else if missing {
        Fault::missing_because(argument, refusal.to_string())
    } else {
        Fault::invalid(argument, refusal.to_string())
    }
}

fn details(refusal: &Refusal) -> Option<Value> {
    match refusal {
        Refusal::SessionNotActive { payment_id: Some(payment_id) } => {
            Some(json!({ "argument": "payment_session_id", "payment_id": payment_id.to_string() }))
        }
        Refusal::AmountMismatch { given, session } => Some(difference(given, session)),
        Refusal::ExternalIdTaken { payment_id } => {
            Some(json!({ "argument": "external_id", "payment_id": payment_id.to_string() }))
        }
        Refusal::TopupExternalIdTaken { topup_id } => {
            Some(json!({ "argument": "external_id", "topup_id": topup_id.to_string() }))
        }
        Refusal::PayoutExternalIdTaken { payout_id } => {
            Some(json!({ "argument": "external_id", "payout_id": payout_id.to_string() }))
        }
        Refusal::InvoiceExternalIdTaken { invoice_id } => {
            Some(json!({ "argument": "external_id", "invoice_id": invoice_id.to_string() }))
        }
        Refusal::RefundExternalIdTaken { refund_id } => {
            Some(json!({ "argument": "external_id", "refund_id": refund_id.to_string() }))
        }
        Refusal::InvalidState { status, operation } | Refusal::NotRefundable { status, operation } => {
            Some(json!({ "status": status.name(), "operation": operation.map(OperationKind::name) }))
        }
        Refusal::DisputeState { status, has_evidence: _ } => Some(json!({ "status": status.name() })),
        Refusal::HasEnded { what: _, status } => Some(json!({ "status": status })),
        Refusal::AmountExceedsPayment { limit_minor } => Some(json!({ "limit": limit_minor })),
        Refusal::InsufficientBalance { available_minor } => Some(json!({ "available": available_minor })),
        Refusal::RefundNotCovered { available_minor, pending_minor, is_reversible: _ } => {
            Some(json!({ "available": available_minor, "pending": pending_minor }))
        }
        Refusal::TooMany { kind: _, limit } | Refusal::TooManySecrets { limit } => Some(json!({ "limit": limit })),
        Refusal::ContactTaken { argument, customer_id } => {
            Some(json!({ "argument": argument, "contact_id": customer_id.to_string() }))
        }
        Refusal::CardExternalIdTaken { card_id } | Refusal::CardHasExternalId { card_id } => {
            Some(json!({ "argument": "external_id", "card_id": card_id.to_string() }))
        }
        Refusal::AlreadyMember { user_id } => Some(json!({ "argument": "email", "user_id": user_id.to_string() })),
        Refusal::AlreadyInvited { invitation_id } => {
            Some(json!({ "argument": "email", "invitation_id": invitation_id.to_string() }))
        }
        Refusal::InvitationAccepted { user_id } => Some(json!({ "user_id": user_id.to_string() })),
        Refusal::SessionNotActive { payment_id: None } => argument("payment_session_id"),
        Refusal::MerchantNotFound => argument("merchant_id"),
        Refusal::InstallationNotFound => argument("installation_id"),
        Refusal::WebhookNotFound => argument("webhook_id"),
        Refusal::WebhookEventNotFound => argument("event_id"),
        Refusal::WebhookNotConnected { status } => Some(json!({ "status": status.name() })),
        Refusal::KeyNotFound => argument("key_id"),
        Refusal::TokenNotFound => argument("token"),
        Refusal::CustomerNotFound => argument("customer_id"),
        Refusal::ContactNotFound => argument("contact_id"),
        Refusal::CardNotFound => argument("card_id"),
        Refusal::PaymentNotFound => argument("payment_id"),
        Refusal::DisputeNotFound => argument("dispute_id"),
        Refusal::RefundNotFound => argument("refund_id"),
        Refusal::PayoutNotFound => argument("payout_id"),
        Refusal::UserNotFound => argument("user_id"),
        Refusal::InvitationNotFound => argument("invitation_id"),
        Refusal::PlanNotFound => argument("plan_id"),
        Refusal::KeyNotLive
        | Refusal::MerchantSuspended
        | Refusal::RedeliveryUnderWay
        | Refusal::TokenAlreadyUsed
        | Refusal::IdempotencyKeyReused
        | Refusal::KeyEndPassed
        | Refusal::CurrencyNotConfigured { .. }
        | Refusal::MethodNotEnabled
        | Refusal::AuthorizationOnlyNotSupported
        | Refusal::InterestBearerMissing { .. }
        | Refusal::InterestBearerMismatch { .. }
        | Refusal::CustomerRequired
        | Refusal::CustomerMismatch
        | Refusal::CardIdMissing
        | Refusal::TokenForOneUse
        | Refusal::TotalTooLarge
        | Refusal::VersionMismatch { .. }
        | Refusal::NoTestClock
        | Refusal::ClockNotForward { .. }
        | Refusal::ClockTooFar { .. }
        | Refusal::NotASet
        | Refusal::CardNumbersGiven { .. }
        | Refusal::MetadataItemsExceeded
        | Refusal::MetadataBytesExceeded
        | Refusal::MetadataDocumentExceeded
        | Refusal::MetadataSetsExceeded => None,
    }
}

/// Details with the argument whose object does not exist.
fn argument(name: &'static str) -> Option<Value> {
    Some(json!({ "argument": name }))
}

/// The argument to correct first, and the session's values: amounts in two currencies cannot be compared.
fn difference(given: &Money, session: &Money) -> Value {
    let argument = if given.currency == session.currency { "amount" } else { "currency" };
    let session = json!({ "amount": session.amount.get(), "currency": session.currency.code() });
    json!({ "argument": argument, "session": session })
}

#[cfg(test)]
mod tests {
    use super::*;
    use till_domain::ids::{
        CardId, CustomerId, InvitationId, InvoiceId, PaymentId, PayoutId, RefundId, TopupId, UserId,
    };
    use till_domain::money::{AmountMinor, Currency};
    use till_domain::payment::PaymentStatus;
    use till_domain::session::InterestBearer;
    use till_domain::time::Millis;
    use till_domain::webhook::WebhookStatus;

    const PAYMENT: PaymentId = PaymentId::from_bytes([1; 16]);
    const THB: Currency = Currency::from_bytes(*b"THB");
    const USD: Currency = Currency::from_bytes(*b"USD");

    fn money(minor: u64, currency: Currency) -> Money {
        Money { amount: AmountMinor::new(minor).unwrap_or_else(|| panic!("{minor}")), currency }
    }

    fn every_refusal() -> Vec<Refusal> {
        vec![
            Refusal::KeyNotLive,
            Refusal::MerchantNotFound,
            Refusal::MerchantSuspended,
            Refusal::IdempotencyKeyReused,
            Refusal::InstallationNotFound,
            Refusal::WebhookNotFound,
            Refusal::WebhookEventNotFound,
            Refusal::WebhookNotConnected { status: WebhookStatus::Disabled },
            Refusal::RedeliveryUnderWay,
            Refusal::TooManySecrets { limit: 3 },
            Refusal::KeyNotFound,
            Refusal::KeyEndPassed,
            Refusal::TooMany { kind: "users", limit: 7 },
            Refusal::CurrencyNotConfigured { currency: THB },
            Refusal::TokenNotFound,
            Refusal::TokenAlreadyUsed,
            Refusal::MethodNotEnabled,
            Refusal::SessionNotActive { payment_id: None },
            Refusal::SessionNotActive { payment_id: Some(PAYMENT) },
            Refusal::AmountMismatch { given: money(1, THB), session: money(2, THB) },
            Refusal::AuthorizationOnlyNotSupported,
            Refusal::InterestBearerMissing { fixed: InterestBearer::Customer },
            Refusal::InterestBearerMismatch { fixed: InterestBearer::Customer },
            Refusal::CustomerNotFound,
            Refusal::ContactNotFound,
            Refusal::ContactTaken { argument: "contact_email", customer_id: CustomerId::from_bytes([8; 16]) },
            Refusal::CardExternalIdTaken { card_id: CardId::from_bytes([9; 16]) },
            Refusal::CardHasExternalId { card_id: CardId::from_bytes([9; 16]) },
            Refusal::TokenForOneUse,
            Refusal::CustomerRequired,
            Refusal::CustomerMismatch,
            Refusal::CardIdMissing,
            Refusal::CardNotFound,
            Refusal::ExternalIdTaken { payment_id: PAYMENT },
            Refusal::TopupExternalIdTaken { topup_id: TopupId::from_bytes([2; 16]) },
            Refusal::InvoiceExternalIdTaken { invoice_id: InvoiceId::from_bytes([6; 16]) },
            Refusal::PayoutExternalIdTaken { payout_id: PayoutId::from_bytes([7; 16]) },
            Refusal::PaymentNotFound,
            Refusal::RefundExternalIdTaken { refund_id: RefundId::from_bytes([5; 16]) },
            Refusal::InvalidState { status: PaymentStatus::Authorized, operation: Some(OperationKind::Void) },
            Refusal::NotRefundable { status: PaymentStatus::Pending, operation: None },
            Refusal::AmountExceedsPayment { limit_minor: 7 },
            Refusal::InsufficientBalance { available_minor: -7 },
            Refusal::RefundNotCovered { available_minor: -7, pending_minor: 3, is_reversible: true },
            Refusal::RefundNotFound,
            Refusal::PayoutNotFound,
            Refusal::HasEnded { what: "refund", status: "FAILED" },
            Refusal::UserNotFound,
            Refusal::InvitationNotFound,
            Refusal::PlanNotFound,
            Refusal::AlreadyMember { user_id: UserId::from_bytes([3; 16]) },
            Refusal::AlreadyInvited { invitation_id: InvitationId::from_bytes([4; 16]) },
            Refusal::InvitationAccepted { user_id: UserId::from_bytes([3; 16]) },
            Refusal::TotalTooLarge,
            Refusal::VersionMismatch { current: 3 },
            Refusal::NoTestClock,
            Refusal::ClockNotForward { now: Millis(1_743_500_000_000) },
            Refusal::ClockTooFar { latest: Millis(1_743_500_000_000) },
            Refusal::NotASet,
            Refusal::CardNumbersGiven { arguments: [Some("external_id"), None, None, None, None] },
            Refusal::MetadataItemsExceeded,
            Refusal::MetadataBytesExceeded,
            Refusal::MetadataDocumentExceeded,
            Refusal::MetadataSetsExceeded,
        ]
    }

    #[test]
    fn every_refusal_keeps_its_code_and_its_argument() {
        for refusal in every_refusal() {
            let error = refused(&refusal);
            assert_eq!(error.code().name(), refusal.code(), "{refusal:?}");
            assert_eq!(refusal.argument().is_some(), refusal.code() == "INVALID_ARGUMENTS", "{refusal:?}");
        }
    }

    #[test]
    fn every_argument_that_is_a_card_number_is_named() {
        let arguments = [Some("external_id"), Some("customer_id"), None, None, None];
        let error = refused(&Refusal::CardNumbersGiven { arguments });
        let faults = error.details().and_then(Value::as_array).expect("an array of faults");
        let named: Vec<&Value> = faults.iter().map(|fault| &fault["argument"]).collect();
        assert_eq!(named, ["external_id", "customer_id"]);
        assert!(faults.iter().all(|fault| fault["type"] == "invalid"), "{faults:?}");
    }

    #[test]
    fn a_repeated_initiation_finds_its_payment_in_the_details() {
        let error = refused(&Refusal::SessionNotActive { payment_id: Some(PAYMENT) });
        let expected = json!({ "argument": "payment_session_id", "payment_id": PAYMENT.to_string() });
        assert_eq!(error.details(), Some(&expected));
        let error = refused(&Refusal::ExternalIdTaken { payment_id: PAYMENT });
        assert_eq!(error.details(), Some(&json!({ "argument": "external_id", "payment_id": PAYMENT.to_string() })));
    }

    #[test]
    fn an_invalid_state_names_the_status_and_the_open_operation() {
        let details = |refusal: Refusal| refused(&refusal).details().cloned().unwrap_or_default();
        let (status, operation) = (PaymentStatus::Authorized, Some(OperationKind::Capture));
        let expected = json!({ "status": "AUTHORIZED", "operation": "CAPTURE" });
        assert_eq!(details(Refusal::InvalidState { status, operation }), expected);
        let expected = json!({ "status": "AUTHORIZED", "operation": null });
        assert_eq!(details(Refusal::NotRefundable { status, operation: None }), expected);
    }

    #[test]
    fn a_refusal_names_its_argument_once_and_ends_as_a_sentence() {
        for refusal in every_refusal() {
            let message = refused(&refusal).message().to_owned();
            assert!(message.ends_with('.') && !message.ends_with(".."), "{message}");
            let Some(ArgumentFault { argument, .. }) = refusal.argument() else { continue };
            assert!(message.starts_with(&format!("{argument}: ")), "{message}");
            assert!(!refusal.to_string().starts_with(argument), "{message}");
        }
    }

    #[test]
    fn a_refusal_as_not_found_names_its_argument() {
        for refusal in every_refusal().iter().filter(|refusal| refusal.code() == "NOT_FOUND") {
            let error = refused(refusal);
            let argument = error.details().and_then(|details| details["argument"].as_str()).unwrap_or_default();
            assert!(!argument.is_empty(), "{refusal:?}");
        }
    }

    #[test]
    fn a_mismatch_of_the_price_names_the_difference_and_the_session() {
        let of = |given| {
            let error = refused(&Refusal::AmountMismatch { given, session: money(900, THB) });
            let sentence = error.message().split_inclusive('.').next().unwrap_or_default().to_owned();
            (sentence, error.details().cloned().unwrap_or_default())
        };
        let session = json!({ "amount": 900, "currency": "THB" });
        for (given, sentence, argument) in [
            (money(901, THB), "The amount is not the payment session's, 900 minor units of THB.", "amount"),
            (money(900, USD), "The currency is not the payment session's, THB.", "currency"),
            (money(901, USD), "Amount and currency are not the payment session's, 900 minor units of THB.", "currency"),
        ] {
            assert_eq!(of(given), (sentence.to_owned(), json!({ "argument": argument, "session": session })));
        }
    }

    #[test]
    fn a_key_that_is_no_longer_live_reads_as_an_unknown_one() {
        assert_eq!(refused(&Refusal::KeyNotLive), ApiError::unauthorized());
    }

    #[test]
    fn a_denied_call_says_whether_its_outcome_is_known() {
        let unknown = to_api_error(&Denied::unknown("a sync failed"));
        assert_eq!(unknown.details(), Some(&json!({ "outcome": "unknown" })));
        assert!(!unknown.message().contains("sync"), "the reason is for the operator");
        let not_done = to_api_error(&Denied::not_done("full"));
        assert_eq!(not_done.details(), Some(&json!({ "outcome": "not_done" })));
    }
}

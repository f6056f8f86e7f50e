//! Declines: every row of the table of failure codes, and the results of 3-D Secure.

use serde_json::{Value, json};
use till_actors::acquirer::{CallAnswer, CallDone, Prepared};
use till_domain::customer_action::AuthenticationStatus;
use till_domain::failure::{Failure, FailureCode};

use crate::shop::{GOOD_CARD, Means, Moved, Payment, Shop, declined_by};

/// The rows of the contract's table, by the issuer's or Stripe's word.
const ROWS: [(&str, FailureCode); 34] = [
    ("generic_decline", FailureCode::CardDeclined),
    ("insufficient_funds", FailureCode::InsufficientFunds),
    ("expired_card", FailureCode::ExpiredCard),
    ("incorrect_cvc", FailureCode::IncorrectCvc),
    ("invalid_cvc", FailureCode::IncorrectCvc),
    ("processing_error", FailureCode::ProcessingError),
    ("authentication_required", FailureCode::AuthenticationFailed),
    ("card_velocity_exceeded", FailureCode::LimitExceeded),
    ("withdrawal_count_limit_exceeded", FailureCode::LimitExceeded),
    ("incorrect_number", FailureCode::InvalidCard),
    ("invalid_number", FailureCode::InvalidCard),
    ("invalid_account", FailureCode::InvalidCard),
    ("invalid_expiry_month", FailureCode::InvalidCard),
    ("invalid_expiry_year", FailureCode::InvalidCard),
    ("lost_card", FailureCode::LostOrStolenCard),
    ("stolen_card", FailureCode::LostOrStolenCard),
    ("pickup_card", FailureCode::LostOrStolenCard),
    ("restricted_card", FailureCode::LostOrStolenCard),
    ("fraudulent", FailureCode::SuspectedFraud),
    ("merchant_blacklist", FailureCode::SuspectedFraud),
    ("security_violation", FailureCode::SuspectedFraud),
    ("highest_risk_level", FailureCode::SuspectedFraud),
    ("card_not_supported", FailureCode::CardNotSupported),
    ("currency_not_supported", FailureCode::CardNotSupported),
    ("issuer_not_available", FailureCode::IssuerNotAvailable),
    ("try_again_later", FailureCode::IssuerNotAvailable),
    ("reenter_transaction", FailureCode::IssuerNotAvailable),
    ("amount_too_small", FailureCode::AmountNotAllowed),
    ("amount_too_large", FailureCode::AmountNotAllowed),
    ("charge_expired_for_capture", FailureCode::AuthorizationExpired),
    ("do_not_honor", FailureCode::CardDeclined),
    ("call_issuer", FailureCode::CardDeclined),
    ("a word of next year", FailureCode::CardDeclined),
    ("payment_intent_authentication_failure", FailureCode::AuthenticationFailed),
];
const CARD: &str = "4000990000000012";

fn failure(answer: CallAnswer) -> Failure {
    match answer {
        CallAnswer::Declined { failure, .. } => failure,
        other => panic!("{other:?}"),
    }
}

impl Shop {
    /// The card does this from now on.
    fn card_does(&self, outcome: &Value) {
        self.fake.control("POST", "cards", &json!({ "number": CARD, "outcome": outcome }));
    }

    async fn declined(&self, payment: Payment) -> Failure {
        let payment = self.prepared(payment).await;
        let answer = self.act(payment.authorize()).await;
        assert_eq!(self.found(&payment.authorize()).await, answer);
        failure(answer)
    }

    async fn refused(&self, payment: Payment) -> Failure {
        match self.prepare(&payment).await {
            Ok(Prepared::Declined(failure)) => failure,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn each_word_of_the_table_is_one_of_our_codes_and_is_kept() {
    let shop = Shop::open();
    for (word, code) in ROWS {
        // As the issuer's word beside a general one, and as Stripe's own.
        for outcome in [json!({ "decline": "card_declined", "decline_code": word }), json!({ "decline": word })] {
            shop.card_does(&outcome);
            let failure = shop.declined(shop.payment(Means::Number(CARD))).await;
            assert_eq!(failure.code, code, "{word}");
            assert_eq!(failure.acquirer_code.as_ref().map(|word| word.as_str()), Some(word));
        }
    }
    assert_eq!(shop.moved(), Moved { charges: 0, refunds: 0 });
}

#[tokio::test]
async fn a_word_that_is_too_long_or_not_printable_is_not_kept() {
    let shop = Shop::open();
    for word in ["x".repeat(65), "caf\u{e9}".to_owned()] {
        shop.card_does(&json!({ "decline": "card_declined", "decline_code": word }));
        let failure = shop.declined(shop.payment(Means::Number(CARD))).await;
        assert_eq!(failure, FailureCode::CardDeclined.into());
    }
}

#[tokio::test]
async fn what_stripe_refuses_before_an_attempt_is_declined_with_its_code() {
    let shop = Shop::open();
    for means in [Means::Page, Means::PromptPay, Means::Number(GOOD_CARD)] {
        for (minor, word) in [(500, "amount_too_small"), (100_000_000, "amount_too_large")] {
            let failure = shop.refused(Payment { minor, ..shop.payment(means) }).await;
            assert_eq!(failure.code, FailureCode::AmountNotAllowed);
            assert_eq!(failure.acquirer_code.as_ref().map(|word| word.as_str()), Some(word));
        }
    }
    let failure = shop.refused(Payment { email: "ada@shop", ..shop.payment(Means::Page) }).await;
    assert_eq!(failure.code, FailureCode::AcquirerRefusedRequest);
    let payment = shop.prepared(Payment { email: "ada@shop", ..shop.payment(Means::PromptPay) }).await;
    assert_eq!(declined_by(&shop.act(payment.authorize()).await), FailureCode::AcquirerRefusedRequest);
}

#[tokio::test]
async fn an_account_without_card_numbers_is_told_apart() {
    let shop = Shop::with(json!({ "raw_card_numbers": false }));
    let failure = shop.refused(shop.payment(Means::Number(GOOD_CARD))).await;
    assert_eq!(failure, FailureCode::AcquirerRefusedCardNumbers.into());
    shop.prepared(shop.payment(Means::Page)).await;
}

#[tokio::test]
async fn a_number_that_stripe_does_not_take_is_an_invalid_card() {
    let shop = Shop::open();
    shop.fake.control("POST", "clock", &json!({ "offset_seconds": 1_000_000_000 }));
    let failure = shop.refused(shop.payment(Means::Number(GOOD_CARD))).await;
    assert_eq!(failure.code, FailureCode::InvalidCard);
    assert_eq!(failure.acquirer_code.as_ref().map(|word| word.as_str()), Some("invalid_expiry_year"));
}

#[tokio::test]
async fn a_hold_that_lapsed_at_stripe_is_an_expired_authorization() {
    let shop = Shop::open();
    shop.card_does(&json!({ "hold_seconds": 0 }));
    let (payment, own) = shop.paid(shop.held(Means::Number(CARD))).await;
    shop.fake.control("POST", "clock", &json!({ "offset_seconds": 60 }));
    let capture = payment.capture(&own, payment.minor);
    assert_eq!(declined_by(&shop.act(capture).await), FailureCode::AuthorizationExpired);
    assert_eq!(declined_by(&shop.found(&payment.authorize()).await), FailureCode::AuthorizationExpired);
}

#[tokio::test]
async fn each_result_of_3_d_secure_is_one_of_ours() {
    let rows = [
        (json!({ "result": "authenticated" }), Some(AuthenticationStatus::Authenticated)),
        (json!({ "result": "attempt_acknowledged" }), Some(AuthenticationStatus::Attempted)),
        (json!({ "result": "failed" }), Some(AuthenticationStatus::NotAuthenticated)),
        (json!({ "result": "failed", "result_reason": "rejected" }), Some(AuthenticationStatus::Rejected)),
        (json!({ "result": "not_supported" }), Some(AuthenticationStatus::Unavailable)),
        (json!({ "result": "processing_error" }), Some(AuthenticationStatus::Unavailable)),
        (json!({ "result": "exempted" }), None),
        (json!({ "result": "data_share_only" }), None),
    ];
    let shop = Shop::open();
    for (result, status) in rows {
        shop.card_does(&json!({ "three_d_secure": result }));
        let payment = shop.prepared(shop.payment(Means::Number(CARD))).await;
        let CallAnswer::Done(CallDone::Approved(approved)) = shop.act(payment.authorize()).await else { panic!() };
        assert_eq!(approved.authentication.map(|it| it.status), status, "{result}");
        shop.card_does(&json!({ "three_d_secure": result, "decline": "card_declined" }));
        let payment = shop.prepared(shop.payment(Means::Number(CARD))).await;
        let CallAnswer::Declined { authentication, .. } = shop.act(payment.authorize()).await else { panic!() };
        assert_eq!(authentication.map(|it| it.status), status, "{result}");
    }
}

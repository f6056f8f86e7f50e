//! Answers that are lost, broken or about something else, and requests that never arrive.

use serde_json::json;
use till_actors::acquirer::{
    AcquirerCall, AcquirerUnavailable, CallAnswer, CallDone, ListedBalance, LookedUp, UnansweredOutcome,
};
use till_domain::time::Millis;

use crate::fake::Fake;
use crate::shop::{
    CHALLENGED_CARD, GOOD_CARD, MINOR, Means, Moved, Payment, Shop, account_at, moved_reference, own_reference,
    required,
};

const CONFIRM: &str = "/v1/payment_intents/*/confirm";
const CAPTURE: &str = "/v1/payment_intents/*/capture";
const CANCEL: &str = "/v1/payment_intents/*/cancel";
const INTENT: &str = "/v1/payment_intents/pi_*";
const SESSIONS: &str = "/v1/checkout/sessions";
const SESSION: &str = "/v1/checkout/sessions/cs_*";
const EXPIRE: &str = "/v1/checkout/sessions/*/expire";
const REFUNDS: &str = "/v1/refunds";

/// Faults of an answer, each with what is known of the call then.
const FAULTS: [(&str, UnansweredOutcome); 18] = [
    ("huge_amount", UnansweredOutcome::Mismatch),
    ("smaller_amount", UnansweredOutcome::Mismatch),
    ("other_currency", UnansweredOutcome::Mismatch),
    ("other_reference", UnansweredOutcome::Mismatch),
    ("test_mode", UnansweredOutcome::Mismatch),
    ("half_json", UnansweredOutcome::Unknown),
    ("html", UnansweredOutcome::Unknown),
    ("huge_body", UnansweredOutcome::Unknown),
    ("redirect", UnansweredOutcome::Unknown),
    ("cut_answer", UnansweredOutcome::Unknown),
    ("lost_answer", UnansweredOutcome::Unknown),
    ("lost_request", UnansweredOutcome::Unknown),
    ("error_500", UnansweredOutcome::Unknown),
    ("stored_500", UnansweredOutcome::Unknown),
    ("unauthorized", UnansweredOutcome::CredentialsRefused),
    ("forbidden", UnansweredOutcome::CredentialsRefused),
    ("limited", UnansweredOutcome::Limited),
    ("conflict", UnansweredOutcome::Limited),
];

fn outcome<T: std::fmt::Debug>(answer: Result<T, AcquirerUnavailable>) -> UnansweredOutcome {
    match answer {
        Ok(answer) => panic!("{answer:?}"),
        Err(error) => error.outcome,
    }
}

#[tokio::test]
async fn a_wrong_answer_to_an_authorization_neither_approves_nor_declines() {
    let shop = Shop::open();
    for (fault, expected) in FAULTS {
        let payment = shop.prepared(shop.payment(Means::Number(GOOD_CARD))).await;
        shop.fake.fault(fault, "POST", CONFIRM);
        assert_eq!(shop.outcome(payment.authorize()).await, expected, "{fault}");
        shop.fake.fault(fault, "GET", INTENT);
        assert_eq!(outcome(shop.stripe.look_up(&payment.authorize()).await), expected, "{fault}");
        own_reference(shop.carry_out(|| payment.authorize()).await);
    }
    assert_eq!(shop.moved(), Moved { charges: FAULTS.len(), refunds: 0 });
}

#[tokio::test]
async fn a_wrong_answer_to_a_page_is_asked_for_again() {
    let shop = Shop::open();
    for (fault, expected) in FAULTS {
        let payment = shop.payment(Means::Page);
        shop.fake.fault(fault, "POST", SESSIONS);
        assert_eq!(outcome(shop.prepare(&payment).await), expected, "{fault}");
        let payment = shop.prepared(payment).await;
        shop.fake.enter_card(payment.page(), GOOD_CARD);
        shop.fake.fault(fault, "GET", SESSION);
        assert_eq!(outcome(shop.stripe.look_up(&payment.authorize()).await), expected, "{fault}");
        own_reference(shop.found(&payment.authorize()).await);
    }
    assert_eq!(shop.moved(), Moved { charges: FAULTS.len(), refunds: 0 });
}

#[tokio::test]
async fn a_wrong_answer_to_a_promptpay_code_is_found_out() {
    let shop = Shop::open();
    for (fault, expected) in FAULTS {
        let payment = shop.payment(Means::PromptPay);
        shop.fake.fault(fault, "POST", "/v1/payment_intents");
        assert_eq!(outcome(shop.prepare(&payment).await), expected, "{fault}");
        let payment = shop.prepared(payment).await;
        shop.fake.fault(fault, "POST", CONFIRM);
        assert_eq!(shop.outcome(payment.authorize()).await, expected, "{fault}");
        required(shop.carry_out(|| payment.authorize()).await);
    }
}

#[tokio::test]
async fn a_wrong_answer_to_a_number_leaves_an_intent_that_nobody_is_charged_for() {
    let shop = Shop::open();
    for path in ["/v1/payment_methods", "/v1/payment_intents"] {
        for (fault, expected) in FAULTS {
            let changes_nothing = path == "/v1/payment_methods" && expected == UnansweredOutcome::Mismatch;
            let payment = shop.payment(Means::Number(GOOD_CARD));
            shop.fake.fault(fault, "POST", path);
            match shop.prepare(&payment).await {
                Err(error) => assert_eq!(error.outcome, expected, "{path} {fault}"),
                Ok(prepared) => assert!(changes_nothing, "{path} {fault}: {prepared:?}"),
            }
        }
    }
    assert_eq!(shop.moved(), Moved { charges: 0, refunds: 0 });
}

#[tokio::test]
async fn a_wrong_answer_to_a_capture_is_found_out() {
    let shop = Shop::open();
    for (fault, expected) in FAULTS {
        let (payment, own) = shop.paid(shop.held(Means::Number(GOOD_CARD))).await;
        shop.fake.fault(fault, "POST", CAPTURE);
        assert_eq!(shop.outcome(payment.capture(&own, MINOR)).await, expected, "{fault}");
        shop.carry_out(|| payment.capture(&own, MINOR)).await;
        shop.fake.fault(fault, "GET", INTENT);
        assert_eq!(outcome(shop.stripe.look_up(&payment.capture(&own, MINOR)).await), expected, "{fault}");
        moved_reference(shop.found(&payment.capture(&own, MINOR)).await);
    }
    let charges = shop.fake.ask("charges");
    assert!(charges.iter().all(|charge| charge["captured"] == true && charge["amount_refunded"] == 0));
}

#[tokio::test]
async fn a_wrong_answer_to_a_void_is_found_out() {
    let shop = Shop::open();
    for (fault, expected) in FAULTS {
        let (payment, own) = shop.paid(shop.held(Means::Number(GOOD_CARD))).await;
        // A canceled intent has an amount, but none that can be captured.
        shop.fake.fault(fault, "POST", CANCEL);
        assert_eq!(shop.outcome(payment.void(&own)).await, expected, "{fault}");
        moved_reference(shop.carry_out(|| payment.void(&own)).await);
    }
}

#[tokio::test]
async fn a_wrong_answer_to_a_cancellation_is_found_out() {
    let shop = Shop::open();
    for (fault, expected) in FAULTS {
        for (means, path) in [(Means::Page, EXPIRE), (Means::Number(CHALLENGED_CARD), CANCEL)] {
            let payment = shop.prepared(shop.payment(means)).await;
            shop.act(payment.authorize()).await;
            shop.fake.fault(fault, "POST", path);
            assert_eq!(shop.outcome(payment.cancel(true)).await, expected, "{fault}");
            let answer = shop.carry_out(|| payment.cancel(true)).await;
            assert_eq!(answer, CallAnswer::Done(CallDone::Canceled), "{fault}");
        }
    }
}

/// Refunds have no mode, and their list tells a reference of another payment.
#[tokio::test]
async fn a_wrong_answer_to_a_refund_gives_nothing_back_twice() {
    let shop = Shop::open();
    let has_mode = |(fault, _): &(&str, UnansweredOutcome)| *fault != "test_mode";
    for (fault, expected) in FAULTS.into_iter().filter(has_mode) {
        let (payment, own) = shop.paid(shop.payment(Means::Number(GOOD_CARD))).await;
        let step = shop.refund_step();
        let refund = || payment.refund(step, &own, MINOR / 2);
        shop.fake.fault(fault, "POST", REFUNDS);
        assert_eq!(shop.outcome(refund()).await, expected, "{fault}");
        moved_reference(shop.carry_out(refund).await);
        shop.fake.fault(fault, "GET", REFUNDS);
        assert_eq!(outcome(shop.stripe.look_up(&refund()).await), expected, "{fault}");
        assert_eq!(shop.moved_of(&payment), 1, "{fault}");
    }
}

#[tokio::test]
async fn what_cannot_be_reached_was_not_sent() {
    let fake = Fake::start();
    let tls = fake.url().replace("http://127.0.0.1", "https://127.0.0.1");
    let port = { std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port() };
    let closed = format!("http://127.0.0.1:{port}");
    let listed = ListedBalance { from: Millis(0), before: Millis(1_000), after: None };
    for url in [tls.as_str(), closed.as_str(), "https://stripe.invalid"] {
        let error = account_at(url, "sk_live_x").list(&listed).await.expect_err("no answer");
        assert_eq!(error.outcome, UnansweredOutcome::NotSent, "{url}: {error}");
    }
}

#[tokio::test]
async fn nothing_is_charged_or_given_back_twice_whatever_is_lost() {
    let shop = Shop::open();
    let faults = json!({
        "seed": 7,
        "probabilities": {
            "lost_answer": 0.2, "lost_request": 0.1, "cut_answer": 0.05, "limited": 0.1, "stored_500": 0.1,
            "html": 0.05,
        },
    });
    shop.fake.control("POST", "faults", &faults);
    let count = 30;
    for number in 0..count {
        if number % 10 == 9 {
            shop.fake.control("DELETE", "keys", &json!({}));
        }
        let payment = shop.prepare_surely(shop.held(Means::Number(GOOD_CARD))).await;
        let own = own_reference(shop.carry_out(|| payment.authorize()).await);
        moved_reference(shop.carry_out(|| payment.capture(&own, MINOR)).await);
        let step = shop.refund_step();
        moved_reference(shop.carry_out(|| payment.refund(step, &own, MINOR)).await);
    }
    shop.fake.control("DELETE", "faults", &json!({}));
    assert_eq!(shop.moved(), Moved { charges: count, refunds: count });
    let charges = shop.fake.ask("charges");
    assert!(charges.iter().all(|charge| charge["amount_captured"] == MINOR && charge["amount_refunded"] == MINOR));
}

#[tokio::test]
async fn a_silent_acquirer_is_unknown_after_the_time_limit_of_a_look_up() {
    let shop = Shop::open();
    let payment = shop.prepared(shop.payment(Means::Number(GOOD_CARD))).await;
    shop.fake.plan(&json!({ "fault": "silent", "seconds": 12.0, "method": "GET", "path": INTENT }));
    let begun = std::time::Instant::now();
    assert_eq!(outcome(shop.stripe.look_up(&payment.authorize()).await), UnansweredOutcome::Unknown);
    assert!((9..12).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    assert_eq!(shop.look_up(&payment.authorize()).await, LookedUp::NotDone);
}

impl Shop {
    /// The refunds that Till made of a payment.
    fn moved_of(&self, payment: &Payment) -> usize {
        let refunds = self.fake.ask("refunds");
        let is_of = |reference: &str| reference.starts_with(&payment.id.to_string());
        refunds.iter().filter(|refund| refund["reference"].as_str().is_some_and(is_of)).count()
    }
}

#[tokio::test]
async fn a_payment_that_was_not_prepared_is_not_made() {
    let shop = Shop::open();
    let payment = shop.payment(Means::Number(GOOD_CARD));
    assert_eq!(shop.outcome(payment.authorize()).await, UnansweredOutcome::NotSent);
    assert_eq!(shop.look_up(&payment.authorize()).await, LookedUp::NotDone);
    let AcquirerCall::Authorize(mut request) = payment.authorize() else { unreachable!() };
    request.instrument = None;
    let answer = shop.stripe.prepare(&AcquirerCall::Authorize(request)).await;
    assert_eq!(outcome(answer), UnansweredOutcome::NotSent);
}

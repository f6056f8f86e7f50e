//! The table of calls, row by row: prepared, made, looked up.

use serde_json::json;
use till_actors::acquirer::{
    AcquirerCall, ApprovedAuthorization, Awaited, CallAnswer, CallDone, Connector, Instrument, ListedBalance, LookedUp,
    NamedCall, Preparation, Prepared, UnansweredOutcome,
};
use till_domain::acquirer::AccountMode;
use till_domain::card::{CardAtAcquirer, CardExpiry, CardScheme};
use till_domain::command::AuthenticationResult;
use till_domain::customer_action::{AuthenticationFlow, AuthenticationStatus, AuthenticationVersion, CustomerStep};
use till_domain::failure::FailureCode;
use till_domain::time::Millis;
use zeroize::Zeroizing;

use crate::fake::Fake;
use crate::shop::{
    CHALLENGED_CARD, GOOD_CARD, MINOR, Means, Moved, PUBLIC_URL, Payment, Shop, address, connector_to, declined_by,
    moved_reference, own_reference, required,
};

fn approved(answer: CallAnswer) -> ApprovedAuthorization {
    match answer {
        CallAnswer::Done(CallDone::Approved(approved)) => approved,
        other => panic!("{other:?}"),
    }
}

fn canceled() -> CallAnswer {
    CallAnswer::Done(CallDone::Canceled)
}

/// The pages of the fake for the QR codes that it shows.
fn qr_page(shop: &Shop, payment: &Payment) -> String {
    let intents = shop.fake.ask("intents");
    let intent = intents.iter().find(|intent| intent["id"] == payment.object()).expect("it is there");
    let page = &intent["next_action"]["promptpay_display_qr_code"]["hosted_instructions_url"];
    page.as_str().expect("an address").to_owned()
}

#[tokio::test]
async fn an_account_is_checked_by_a_call_that_changes_nothing() {
    for (live, mode) in [(true, AccountMode::Live), (false, AccountMode::Test)] {
        let shop = Shop::with(json!({ "livemode": live }));
        let checked = connector_to(&shop.fake.url()).check(shop.secret.clone(), mode).await;
        assert_eq!(checked, Ok(shop.account.clone()));
    }
    let check = |url: &str| connector_to(url).check(Zeroizing::new("sk_live_unknown".to_owned()), AccountMode::Live);
    let fake = Fake::start();
    for (url, outcome) in [
        (fake.url().as_str(), UnansweredOutcome::CredentialsRefused),
        ("https://stripe.invalid", UnansweredOutcome::NotSent),
    ] {
        assert_eq!(check(url).await.map_err(|error| error.outcome), Err(outcome));
    }
}

#[tokio::test]
async fn changes_of_the_balance_are_listed_with_our_references() {
    let shop = Shop::open();
    let (payment, own) = shop.paid(shop.payment(Means::Number(GOOD_CARD))).await;
    let step = shop.refund_step();
    let refund = moved_reference(shop.act(payment.refund(step, &own, 100)).await);
    let (from, to) = (payment.created_at, payment.created_at.plus_seconds(3_600));
    let list = |from, before, after| shop.stripe.list(&ListedBalance { from, before, after });
    let page = list(from, to, None).await.expect("a page");
    assert_eq!((page.changes.len(), &page.next), (2, &None));
    let [back, charge] = [&page.changes[0], &page.changes[1]];
    assert_eq!((back.amount_minor, back.fee_minor, back.kind.as_str()), (-100, 0, "refund"));
    assert_eq!(back.reference, Some(NamedCall::first(payment.id, step).to_string()));
    assert_eq!(back.source, Some(refund));
    assert_eq!((charge.amount_minor, charge.fee_minor, charge.currency.as_str()), (20_000, 730, "THB"));
    assert_eq!(charge.reference, Some(format!("{}/authorize", payment.id)));
    assert_eq!(charge.payment, Some(own.clone()));
    for _ in 0..100 {
        shop.fake.control("POST", &format!("intents/{own}/refund"), &json!({ "amount": 1 }));
    }
    let first = list(from, to, None).await.expect("a page");
    assert_eq!(first.changes.len(), 100);
    assert_eq!(first.changes[0].reference, None);
    let last = list(from, to, first.next.clone()).await.expect("a page");
    assert_eq!(last, page);
    let earlier = list(Millis(0), from, None).await.expect("a page");
    assert_eq!(earlier.changes, []);
}

#[tokio::test]
async fn a_payment_at_the_page_is_asked_for_there_and_found_when_it_is_paid() {
    let shop = Shop::open();
    let payment = shop.prepared(shop.payment(Means::Page)).await;
    assert!(payment.object().starts_with("cs_live_"), "{:?}", payment.prepared);
    let asked = shop.act(payment.authorize()).await;
    let action = required(asked.clone());
    assert_eq!((address(&action), action.authenticates, action.lifetime_seconds), (payment.page(), false, 1_800));
    assert_eq!(shop.found(&payment.authorize()).await, asked);
    let back = shop.fake.enter_card(payment.page(), GOOD_CARD);
    assert_eq!(back, Some(format!("{PUBLIC_URL}{}", payment.return_path())));
    let found = approved(shop.found(&payment.authorize()).await);
    let card = CardAtAcquirer {
        scheme: CardScheme::Visa,
        last_digits: "4242".to_owned(),
        expiry: CardExpiry { year: 2040, month: 12 },
    };
    assert_eq!((found.captured, found.capture_before, found.card), (true, None, Some(card)));
    assert!(found.acquirer_reference.starts_with("pi_"), "{}", found.acquirer_reference);
    assert_eq!(shop.moved(), Moved { charges: 1, refunds: 0 });
}

#[tokio::test]
async fn a_page_is_asked_for_with_all_that_the_customer_sees() {
    let shop = Shop::open();
    let payment = shop.prepared(shop.held(Means::Page)).await;
    let forms = shop.fake.ask("forms");
    let address = format!("{PUBLIC_URL}{}", payment.return_path());
    let references =
        json!({ "till_reference": format!("{}/authorize", payment.id), "till_payment": payment.id.to_string() });
    let price = json!({ "currency": "thb", "unit_amount": "20000", "product_data": { "name": "order 7" } });
    let expected = json!({
        "mode": "payment",
        "allowed_payment_method_types": ["card"],
        "adaptive_pricing": { "enabled": "false" },
        "line_items": [{ "quantity": "1", "price_data": price }],
        "expires_at": (payment.created_at.unix_seconds() + 5_400).to_string(),
        "success_url": address,
        "cancel_url": address,
        "locale": "th",
        "customer_email": "ada@shop.example",
        "payment_method_options": { "card": { "capture_method": "manual" } },
        "payment_intent_data": { "description": "order 7", "metadata": references },
        "metadata": references,
    });
    assert_eq!(forms[0]["form"], expected);
}

#[tokio::test]
async fn a_declined_card_leaves_the_page_open() {
    let shop = Shop::open();
    let payment = shop.prepared(shop.payment(Means::Page)).await;
    let asked = shop.act(payment.authorize()).await;
    shop.fake.enter_card(payment.page(), "4000000000009995");
    assert_eq!(shop.found(&payment.authorize()).await, asked);
    shop.fake.enter_card(payment.page(), GOOD_CARD);
    approved(shop.found(&payment.authorize()).await);
}

#[tokio::test]
async fn a_charge_of_the_page_that_is_under_way_is_pending_until_it_ends() {
    for (end, is_paid) in [("paid", true), ("insufficient_funds", false)] {
        let shop = Shop::open();
        let outcome = json!({ "number": "4000990000000004", "outcome": { "processing_seconds": 1e9 } });
        shop.fake.control("POST", "cards", &outcome);
        let payment = shop.prepared(shop.payment(Means::Page)).await;
        shop.fake.enter_card(payment.page(), "4000990000000004");
        let pending = CallAnswer::Pending(Awaited::Time);
        assert_eq!(shop.found(&payment.authorize()).await, pending);
        assert_eq!(shop.act(payment.cancel(false)).await, pending);
        let intent = shop.fake.ask("intents")[0]["id"].as_str().expect("an id").to_owned();
        shop.fake.control("POST", &format!("intents/{intent}/end"), &json!({ "answer": end }));
        let found = shop.found(&payment.authorize()).await;
        let found_canceled = shop.found(&payment.cancel(false)).await;
        if is_paid {
            assert_eq!(found, found_canceled);
            approved(found);
        } else {
            assert_eq!(declined_by(&found), FailureCode::InsufficientFunds);
            assert_eq!(found_canceled, canceled());
        }
    }
}

#[tokio::test]
async fn a_number_is_prepared_then_confirmed_and_charged_once() {
    let shop = Shop::open();
    let payment = shop.prepared(shop.payment(Means::Number(GOOD_CARD))).await;
    assert!(payment.object().starts_with("pi_"), "{:?}", payment.prepared);
    assert_eq!(shop.moved(), Moved { charges: 0, refunds: 0 });
    assert_eq!(shop.look_up(&payment.authorize()).await, LookedUp::NotDone);
    let answer = shop.act(payment.authorize()).await;
    assert_eq!(shop.found(&payment.authorize()).await, answer);
    let approved = approved(answer);
    assert_eq!((approved.acquirer_reference.as_str(), approved.captured), (payment.object(), true));
    assert_eq!(shop.act(payment.authorize()).await, shop.found(&payment.authorize()).await);
    assert_eq!(shop.moved(), Moved { charges: 1, refunds: 0 });
}

#[tokio::test]
async fn a_hold_tells_until_when_it_can_be_captured() {
    let shop = Shop::with(json!({ "hold_seconds": 86_400 }));
    for means in [Means::Page, Means::Number(GOOD_CARD)] {
        let payment = shop.prepared(shop.held(means)).await;
        let asked = shop.act(payment.authorize()).await;
        if matches!(asked, CallAnswer::NeedsAction(_)) {
            shop.fake.enter_card(payment.page(), GOOD_CARD);
        }
        let found = approved(shop.found(&payment.authorize()).await);
        let Millis(before) = found.capture_before.expect("it is told");
        let Millis(made) = payment.created_at;
        assert!((86_390_000..86_460_000).contains(&(before - made)), "{before} {made}");
        assert!(!found.captured);
    }
}

#[tokio::test]
async fn a_challenge_is_asked_for_and_its_result_is_found() {
    let answers = [
        ("authenticate", Some((AuthenticationStatus::Authenticated, Some(5)))),
        ("attempt", Some((AuthenticationStatus::Attempted, Some(6)))),
        ("unavailable", Some((AuthenticationStatus::Unavailable, Some(7)))),
        ("fail", None),
        ("reject", None),
    ];
    for (given, expected) in answers {
        let shop = Shop::open();
        let payment = shop.prepared(shop.payment(Means::Number(CHALLENGED_CARD))).await;
        let asked = shop.act(payment.authorize()).await;
        assert_eq!(shop.found(&payment.authorize()).await, asked);
        let action = required(asked);
        assert_eq!((action.authenticates, action.lifetime_seconds), (true, 600));
        let back = shop.fake.post(address(&action), &format!("answer={given}")).expect("it leads back");
        assert!(back.starts_with(&format!("{PUBLIC_URL}{}?", payment.return_path())), "{back}");
        let found = shop.found(&payment.authorize()).await;
        match expected {
            Some((status, eci)) => {
                let (flow, version) = (AuthenticationFlow::Challenge, Some(AuthenticationVersion::V2_2_0));
                assert_eq!(approved(found).authentication, Some(AuthenticationResult { flow, status, eci, version }));
            }
            None => assert_eq!(declined_by(&found), FailureCode::AuthenticationFailed),
        }
    }
}

#[tokio::test]
async fn a_promptpay_code_is_shown_and_its_end_is_found() {
    let shop = Shop::open();
    for (end, code) in [
        ("paid", None),
        ("failed", Some(FailureCode::PaymentDeclined)),
        ("lapsed", Some(FailureCode::CustomerActionTimedOut)),
    ] {
        let payment = shop.prepared(shop.payment(Means::PromptPay)).await;
        assert_eq!(shop.look_up(&payment.authorize()).await, LookedUp::NotDone);
        let asked = shop.act(payment.authorize()).await;
        assert_eq!(shop.found(&payment.authorize()).await, asked);
        let action = required(asked);
        assert_eq!((action.authenticates, action.lifetime_seconds), (false, 900));
        assert!(matches!(&action.step, CustomerStep::DisplayQr(text) if text.as_str().starts_with("000201")));
        shop.fake.control("POST", &format!("intents/{}/end", payment.object()), &json!({ "answer": end }));
        let found = shop.found(&payment.authorize()).await;
        match code {
            None => assert!(approved(found).captured),
            Some(code) => assert_eq!(declined_by(&found), code),
        }
    }
}

#[tokio::test]
async fn a_page_that_is_canceled_cannot_be_paid() {
    let shop = Shop::open();
    let payment = shop.prepared(shop.payment(Means::Page)).await;
    assert_eq!(shop.look_up(&payment.cancel(true)).await, LookedUp::NotDone);
    assert_eq!(shop.act(payment.cancel(true)).await, canceled());
    assert_eq!(shop.found(&payment.cancel(true)).await, canceled());
    shop.fake.enter_card(payment.page(), GOOD_CARD);
    assert_eq!(declined_by(&shop.found(&payment.authorize()).await), FailureCode::CustomerActionTimedOut);
    assert_eq!(shop.act(payment.cancel(true)).await, canceled(), "a repetition");
    assert_eq!(shop.moved(), Moved { charges: 0, refunds: 0 });
}

#[tokio::test]
async fn a_page_that_was_paid_is_too_late_to_cancel() {
    let shop = Shop::open();
    for payment in [shop.payment(Means::Page), shop.held(Means::Page)] {
        let payment = shop.prepared(payment).await;
        shop.fake.enter_card(payment.page(), GOOD_CARD);
        let answer = shop.act(payment.cancel(false)).await;
        assert_eq!(shop.found(&payment.cancel(false)).await, answer);
        assert_eq!(shop.found(&payment.authorize()).await, answer);
        approved(answer);
    }
}

#[tokio::test]
async fn a_page_whose_address_is_forgotten_is_still_looked_up_and_canceled() {
    let shop = Shop::open();
    let mut payment = shop.prepared(shop.payment(Means::Page)).await;
    let Some(Preparation { page, .. }) = &mut payment.prepared else { panic!("it is prepared") };
    *page = None;
    assert_eq!(shop.found(&payment.authorize()).await, CallAnswer::Pending(Awaited::Time));
    assert_eq!(shop.act(payment.cancel(false)).await, canceled());
}

#[tokio::test]
async fn an_action_is_canceled_with_the_reason() {
    let shop = Shop::open();
    for means in [Means::Number(CHALLENGED_CARD), Means::PromptPay] {
        for (deadline_passed, code) in
            [(true, FailureCode::CustomerActionTimedOut), (false, FailureCode::CanceledByCustomer)]
        {
            let payment = shop.prepared(shop.payment(means)).await;
            shop.act(payment.authorize()).await;
            assert_eq!(shop.look_up(&payment.cancel(deadline_passed)).await, LookedUp::NotDone);
            assert_eq!(shop.act(payment.cancel(deadline_passed)).await, canceled());
            assert_eq!(declined_by(&shop.found(&payment.authorize()).await), code);
        }
    }
    assert_eq!(shop.moved(), Moved { charges: 0, refunds: 0 });
}

#[tokio::test]
async fn an_action_that_was_taken_is_too_late_to_cancel() {
    let shop = Shop::open();
    let payment = shop.prepared(shop.payment(Means::PromptPay)).await;
    shop.act(payment.authorize()).await;
    shop.fake.post(&qr_page(&shop, &payment), "answer=paid");
    approved(shop.act(payment.cancel(true)).await);
    let unprepared = shop.payment(Means::Page);
    assert_eq!(shop.act(unprepared.cancel(true)).await, canceled(), "nobody can pay what was never made ready");
}

#[tokio::test]
async fn a_capture_takes_a_part_once_and_releases_the_rest() {
    let shop = Shop::open();
    let (payment, own) = shop.paid(shop.held(Means::Number(GOOD_CARD))).await;
    let capture = || payment.capture(&own, MINOR - 1);
    assert_eq!(shop.look_up(&capture()).await, LookedUp::NotDone);
    let answer = shop.act(capture()).await;
    assert_eq!(shop.found(&capture()).await, answer);
    assert_eq!(shop.act(capture()).await, answer, "a repetition");
    assert!(moved_reference(answer).starts_with("ch_"));
    assert_eq!(declined_by(&shop.act(payment.void(&own)).await), FailureCode::AlreadyCaptured);
    let charge = &shop.fake.ask("charges")[0];
    assert_eq!((charge["amount_captured"].as_u64(), charge["amount_refunded"].as_u64()), (Some(MINOR - 1), Some(1)));
    assert_eq!(shop.moved(), Moved { charges: 1, refunds: 0 });
}

#[tokio::test]
async fn a_void_releases_the_hold_and_nothing_is_captured_after_it() {
    let shop = Shop::open();
    let (payment, own) = shop.paid(shop.held(Means::Number(GOOD_CARD))).await;
    assert_eq!(shop.look_up(&payment.void(&own)).await, LookedUp::NotDone);
    let answer = shop.act(payment.void(&own)).await;
    assert_eq!(shop.found(&payment.void(&own)).await, answer);
    assert_eq!(shop.act(payment.void(&own)).await, answer, "a repetition");
    assert_eq!(moved_reference(answer), own);
    let capture = payment.capture(&own, MINOR);
    assert_eq!(declined_by(&shop.act(capture).await), FailureCode::AuthorizationExpired);
}

#[tokio::test]
async fn a_capture_above_the_hold_takes_nothing() {
    let shop = Shop::open();
    let (payment, own) = shop.paid(shop.held(Means::Number(GOOD_CARD))).await;
    assert_eq!(shop.outcome(payment.capture(&own, MINOR + 1)).await, UnansweredOutcome::Mismatch);
    assert_eq!(shop.fake.ask("charges")[0]["captured"], false);
}

#[tokio::test]
async fn refunds_are_found_by_their_reference() {
    let shop = Shop::open();
    let (payment, own) = shop.paid(shop.payment(Means::Number(GOOD_CARD))).await;
    let steps = [shop.refund_step(), shop.refund_step(), shop.refund_step()];
    let refund = |step| payment.refund(step, &own, MINOR / 2);
    for step in &steps[..2] {
        assert_eq!(shop.look_up(&refund(*step)).await, LookedUp::NotDone);
        let answer = shop.act(refund(*step)).await;
        assert_eq!(shop.found(&refund(*step)).await, answer);
        assert!(moved_reference(answer).starts_with("re_"));
    }
    assert_eq!(declined_by(&shop.act(refund(steps[2])).await), FailureCode::AcquirerRefusedRequest);
    assert_eq!(shop.moved(), Moved { charges: 1, refunds: 2 });
}

#[tokio::test]
async fn a_refund_is_found_on_a_further_page_of_the_list() {
    let shop = Shop::open();
    let (payment, own) = shop.paid(shop.payment(Means::Number(GOOD_CARD))).await;
    let first = shop.refund_step();
    let answer = shop.act(payment.refund(first, &own, 1)).await;
    for _ in 0..120 {
        shop.fake.control("POST", &format!("intents/{own}/refund"), &json!({ "amount": 1 }));
    }
    assert_eq!(shop.found(&payment.refund(first, &own, 1)).await, answer);
    assert_eq!(shop.look_up(&payment.refund(shop.refund_step(), &own, 1)).await, LookedUp::NotDone);
}

#[tokio::test]
async fn a_refund_that_waits_is_pending_until_it_ends() {
    for (means, awaited, prefix) in
        [(Means::Number("4000000000007726"), Awaited::Time, "re_"), (Means::PromptPay, Awaited::Decision, "pyr_")]
    {
        let shop = Shop::open();
        let payment = shop.prepared(shop.payment(means)).await;
        if matches!(shop.act(payment.authorize()).await, CallAnswer::NeedsAction(_)) {
            shop.fake.post(&qr_page(&shop, &payment), "answer=paid");
        }
        let own = own_reference(shop.found(&payment.authorize()).await);
        for (status, code) in [("succeeded", None), ("failed", Some(FailureCode::RefundFailed))] {
            let step = shop.refund_step();
            let refund = || payment.refund(step, &own, 100);
            assert_eq!(shop.act(refund()).await, CallAnswer::Pending(awaited));
            assert_eq!(shop.found(&refund()).await, CallAnswer::Pending(awaited));
            shop.end_refund(NamedCall::first(payment.id, step), status);
            let found = shop.found(&refund()).await;
            match code {
                None => assert!(moved_reference(found).starts_with(prefix)),
                Some(code) => assert_eq!(declined_by(&found), code),
            }
        }
    }
}

#[tokio::test]
async fn a_payment_of_another_kind_is_not_prepared() {
    let shop = Shop::open();
    let AcquirerCall::Authorize(mut request) = shop.payment(Means::Page).authorize() else { unreachable!() };
    request.instrument = Some(Instrument::MobileBanking);
    let answer = shop.stripe.prepare(&AcquirerCall::Authorize(request)).await;
    assert!(matches!(answer, Ok(Prepared::Declined(_))), "{answer:?}");
}

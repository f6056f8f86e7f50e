//! Effects: carried out at least once, done exactly once, recorded once.

use std::sync::Arc;
use std::time::Duration;
use till_actors::Answered;
use till_domain::card::TokenUsage;
use till_domain::command::{
    ApprovedAuthorization, AuthorizationResult, CallResult, Caller, ChallengeDispute, Command, MovedMoney, OpenDispute,
    RecordOperation, RefundPayment,
};
use till_domain::dispute::DisputeStatus;
use till_domain::event::Answer;
use till_domain::failure::FailureCode;
use till_domain::ids::PaymentId;
use till_domain::money::AmountMinor;
use till_domain::payment::{OperationKind, PENDING_LIFETIME_SECONDS, PaymentRef, PaymentStatus};
use till_domain::records::Disputes;
use till_domain::session::Instrument;
use till_domain::text::Evidence;
use till_sandbox::book::NextWrite;
use till_storage::family::Family;
use till_storage::vault::{CardNumberOf, VaultKey};

use crate::acquirer::CallTreatment;
use crate::promises::CallFault;
use crate::shop::{PRICE_MINOR, SETTLEMENT_DELAY_SECONDS, by, initiate};
use crate::world::{EngineWorld, done, eventually};

fn id_of(answer: Answer) -> PaymentId {
    let Answer::Payment(id) = answer else { panic!("{answer:?} is no payment") };
    id
}

#[actix_rt::test]
async fn a_call_that_times_out_captures_exactly_once() {
    use NextWrite::{TimesOutDone, TimesOutUndone};
    for writes in [[TimesOutUndone, TimesOutDone], [TimesOutDone, TimesOutUndone]] {
        let world = EngineWorld::start();
        let shop = world.open_shop().await;
        world.book.plan_writes(writes);
        let payment = world.pay(&shop, |words| words).await;
        world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
        assert!(world.script.calls() >= 2, "asked again");
        assert_eq!(world.book_totals(&shop).captured_minor, u128::from(PRICE_MINOR));
        assert_eq!(world.totals(&shop).held_credit_minor, PRICE_MINOR);
        world.assert_book_equals_ledger(&shop);
    }
}

#[actix_rt::test]
async fn a_result_that_was_not_recorded_is_looked_up() {
    let (world, shop) = EngineWorld::with_shop().await;
    let store = Arc::clone(&world.store);
    let fail = move || store.fail_append(0, till_storage::memory::AppendFault::Unavailable);
    world.script.next([CallTreatment::After(Box::new(fail))]);
    let payment = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    assert_eq!((world.script.calls(), world.script.carried_out().len()), (2, 1), "{:?}", world.script.calls_made());
    world.assert_book_equals_ledger(&shop);
}

#[actix_rt::test]
async fn an_unanswered_payment_expires_and_a_late_capture_is_refunded() {
    let (world, shop) = EngineWorld::with_shop().await;
    world.script.do_not_answer(Some(shop.merchant_id));
    let payment = world.pay(&shop, |words| words).await;
    world.clock.pass_seconds(PENDING_LIFETIME_SECONDS);
    let is_expired = || world.payment(&shop, payment).status == PaymentStatus::Expired;
    eventually("the payment expires", is_expired).await;
    world.script.do_not_answer(None);
    eventually("every call is answered", || world.count(Family::Effects, &shop) == 0).await;
    assert_eq!(world.payment(&shop, payment).status, PaymentStatus::Expired);
    assert_eq!(world.engine.counts().records().late_successes, 1);
    let book = world.book_totals(&shop);
    assert_eq!((book.captured_minor, book.refunded_minor), (u128::from(PRICE_MINOR), u128::from(PRICE_MINOR)));
}

#[actix_rt::test]
async fn a_refund_has_a_reference_of_its_own_at_the_acquirer() {
    let (world, shop) = EngineWorld::with_shop().await;
    let payment = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    for minor in [1_000, 2_000] {
        let command = RefundPayment {
            payment: PaymentRef::Own(id_of(payment)),
            amount: AmountMinor::new(minor),
            external_id: None,
            reason: None,
        };
        done(world.submit(shop.merchant_id, by(Caller::System, Command::RefundPayment(command))).await);
    }
    eventually("both are paid", || world.payment(&shop, payment).confirmed_refund_minor == 3_000).await;
    assert_eq!(world.payment(&shop, payment).status, PaymentStatus::PartiallyRefunded);
    assert_eq!(world.book_totals(&shop).refunded_minor, 3_000);
}

#[actix_rt::test]
async fn evidence_is_submitted_again_until_it_is_taken() {
    let (world, shop) = EngineWorld::with_shop().await;
    let payment = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    let open = OpenDispute { payment: PaymentRef::Own(id_of(payment)), amount: None, reason: None };
    let opened = world.submit(shop.merchant_id, by(Caller::Operator, Command::OpenDispute(open))).await;
    let Answer::Dispute(dispute_id) = done(opened) else { panic!("no dispute was opened") };
    world.script.do_not_answer(Some(shop.merchant_id));
    let evidence = Evidence::new("winning_evidence").expect("evidence");
    let command = Command::ChallengeDispute(ChallengeDispute { dispute_id, evidence });
    done(world.submit(shop.merchant_id, by(Caller::System, command)).await);
    let asked = world.script.calls();
    eventually("it is asked again", || world.script.calls() > asked + 1).await;
    assert_eq!(world.find::<Disputes>(&shop, dispute_id).map(|it| it.status), Some(DisputeStatus::Challenged));
    let world = world.restart();
    let is_won = || world.find::<Disputes>(&shop, dispute_id).is_some_and(|it| it.status == DisputeStatus::Won);
    eventually("the evidence wins", is_won).await;
    assert_eq!(world.script.carried_out(), [format!("{dispute_id}/evidence")]);
    assert_eq!(world.count(Family::Effects, &shop), 0);
}

#[actix_rt::test]
async fn a_result_for_a_closed_effect_changes_nothing() {
    let (world, shop) = EngineWorld::with_shop().await;
    let payment = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    let before = crate::world::derived(&world.store);
    let approved = AuthorizationResult::Approved(ApprovedAuthorization {
        acquirer_reference: "late".to_owned(),
        captured: true,
        settles_at_once: true,
        is_disputed: false,
        authentication: None,
        capture_before: None,
        card: None,
    });
    let declined = AuthorizationResult::Declined { failure: FailureCode::CardDeclined.into(), authentication: None };
    for result in [approved, declined] {
        let late = by(Caller::System, Command::RecordAuthorization(id_of(payment), result));
        let reply = world.submit(shop.merchant_id, late).await;
        assert_eq!(reply, Ok(Answered { answer: Answer::Changed(false), replayed: false }));
    }
    let record = RecordOperation {
        payment_id: id_of(payment),
        kind: OperationKind::Void,
        attempt: 1,
        result: CallResult::Done(MovedMoney::of("late")),
    };
    let late = by(Caller::System, Command::RecordOperation(record));
    assert_eq!(done(world.submit(shop.merchant_id, late).await), Answer::Changed(false));
    assert_eq!(crate::world::derived(&world.store), before);
}

#[actix_rt::test]
async fn a_security_code_is_kept_until_there_is_an_answer() {
    let (world, shop) = EngineWorld::with_shop().await;
    let token_id = world.token_with_code(&shop, TokenUsage::Multiple, "123").await;
    let (first, second) = (world.session_of(&shop, token_id).await, world.session_of(&shop, token_id).await);
    world.script.next([CallTreatment::Fault(CallFault::RequestLost)]);
    let payment = done(world.submit(shop.merchant_id, initiate(first).by(&shop)).await);
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    eventually("the code is forgotten", || world.security_codes.is_empty()).await;
    let payment = done(world.submit(shop.merchant_id, initiate(second).by(&shop)).await);
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    let code = Some("123".to_owned());
    assert_eq!(world.script.security_codes(), [code.clone(), code, None]);
}

#[actix_rt::test]
async fn a_call_that_panics_is_made_again_and_is_counted_no_more() {
    let (world, shop) = EngineWorld::with_shop().await;
    world.script.next([CallTreatment::Panic, CallTreatment::Panic]);
    let payment = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    eventually("no call is counted", || world.engine.running_effects() == 0).await;
    assert_eq!((world.script.calls(), world.script.carried_out().len()), (5, 1), "three calls and two look-ups");
    world.assert_book_equals_ledger(&shop);
}

#[actix_rt::test]
async fn unanswered_effects_do_not_delay_other_merchants() {
    let world = EngineWorld::start();
    let (silent, other) = (world.open_shop().await, world.open_shop().await);
    world.script.do_not_answer(Some(silent.merchant_id));
    for session_id in world.sessions(&silent, 1_100).await {
        done(world.submit(silent.merchant_id, initiate(session_id).by(&silent)).await);
    }
    let payment = world.pay(&other, |words| words).await;
    world.settles_down_as(&other, payment, PaymentStatus::Successful).await;
    assert_eq!(world.count(Family::Effects, &silent), 1_100);
}

#[actix_rt::test]
async fn calls_that_hang_delay_no_other_merchant() {
    let world = EngineWorld::start();
    let (hanging, other) = (world.open_shop().await, world.open_shop().await);
    let until = world.script.hang(hanging.merchant_id);
    for session_id in world.sessions(&hanging, 1_100).await {
        done(world.submit(hanging.merchant_id, initiate(session_id).by(&hanging)).await);
    }
    eventually("as many calls as one merchant may have are under way", || world.script.calls() == 256).await;
    let payment = world.pay(&other, |words| words).await;
    world.settles_down_as(&other, payment, PaymentStatus::Successful).await;
    eventually("no others are", || world.engine.running_effects() == 256).await;
    assert_eq!((world.count(Family::Effects, &hanging), world.engine.open_effects().count), (1_100, 1_100));
    drop(until);
    eventually("all are carried out", || world.count(Family::Effects, &hanging) == 0).await;
    world.assert_book_equals_ledger(&hanging);
}

#[actix_rt::test]
async fn a_card_is_saved_with_its_number() {
    let (world, shop) = EngineWorld::with_shop().await;
    let token_id = world.token(&shop, TokenUsage::Multiple).await;
    let session_id = world.session_of(&shop, token_id).await;
    let request = initiate(session_id).email("somchai@example.com").save_card().by(&shop);
    let payment = done(world.submit(shop.merchant_id, request).await);
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    // The key ring is no row here: the token's number, the card's, the customer's key and the API key's text.
    let number_of = |of| VaultKey::CardNumber { merchant: shop.merchant_id, of }.encode().to_vec();
    let kept: Vec<_> = world.store.dump(Family::Vault).into_iter().map(|(key, _)| key).collect();
    assert!(kept.contains(&number_of(CardNumberOf::Token(token_id))));
    let saved = number_of(CardNumberOf::Card(till_domain::ids::CardId::from_bytes([0; 16])));
    let (kind_and_merchant, _) = saved.split_at(saved.len() - 16);
    assert_eq!(kept.iter().filter(|key| key.starts_with(kind_and_merchant)).count(), 1);
}

#[actix_rt::test]
async fn a_payment_without_its_card_number_is_recorded() {
    let (world, shop) = EngineWorld::with_shop().await;
    let token_id = world.token(&shop, TokenUsage::Multiple).await;
    let session_id = world.session_of(&shop, token_id).await;
    let key = VaultKey::CardNumber { merchant: shop.merchant_id, of: CardNumberOf::Token(token_id) }.encode();
    let store = Arc::clone(&world.store);
    let forget = move || store.lose(Family::Vault, &key);
    world.script.next([CallTreatment::After(Box::new(forget))]);
    let request = initiate(session_id).email("somchai@example.com").save_card().by(&shop);
    let payment = done(world.submit(shop.merchant_id, request).await);
    let payment = world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    assert!(matches!(payment.instrument, Instrument::Token { .. }));
    world.assert_book_equals_ledger(&shop);
}

#[actix_rt::test]
async fn many_payments_with_time_outs_leave_book_and_ledger_equal() {
    let world = EngineWorld::start();
    let mut shops = Vec::new();
    for _ in 0..5 {
        shops.push(world.open_shop().await);
    }
    let cycle = [NextWrite::Succeeds, NextWrite::TimesOutDone, NextWrite::Succeeds, NextWrite::TimesOutUndone];
    world.book.plan_writes(cycle.into_iter().cycle().take(80));
    for _ in 0..30 {
        for shop in &shops {
            world.pay(shop, |words| words).await;
        }
    }
    for shop in &shops {
        eventually("everything is carried out", || world.count(Family::Effects, shop) == 0).await;
        assert_eq!(world.book_totals(shop).approved, 30);
        world.assert_book_equals_ledger(shop);
    }
}

#[actix_rt::test]
async fn a_paused_engine_takes_calls_but_runs_no_effects_or_timers() {
    let (world, shop) = EngineWorld::with_shop().await;
    let settling = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, settling, PaymentStatus::Successful).await;
    let world = world.restart_paused();
    assert!(world.engine.is_paused());
    let calls = world.script.calls();
    world.clock.pass_seconds(SETTLEMENT_DELAY_SECONDS);
    let payment = world.pay(&shop, |words| words).await;
    actix_rt::time::sleep(Duration::from_millis(300)).await;
    assert_eq!((world.script.calls(), world.totals(&shop).effective_credit_minor), (calls, 0));
    assert_eq!(world.payment(&shop, payment).status, PaymentStatus::Pending);
    assert!(world.engine.resume() && !world.engine.resume() && !world.engine.is_paused());
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    eventually("it settles", || world.totals(&shop).effective_credit_minor == PRICE_MINOR).await;
    world.assert_book_equals_ledger(&shop);
    let later = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, later, PaymentStatus::Successful).await;
}

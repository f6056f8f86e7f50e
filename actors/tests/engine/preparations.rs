//! What an acquirer prepares is durable before anything is sent that moves money, and is what is sent.

use std::sync::Arc;
use till_domain::card::TokenUsage;
use till_domain::command::{Caller, CapturePayment, Command};
use till_domain::customer_action::CustomerStep;
use till_domain::event::Answer;
use till_domain::ids::PaymentId;
use till_domain::payment::{PENDING_LIFETIME_SECONDS, PaymentRef, PaymentStatus};
use till_domain::preparation::Preparation;
use till_domain::records::{CustomerActions, Preparations};
use till_storage::family::Family;
use till_storage::memory::AppendFault;
use till_storage::vault::{SubjectKind, VaultKey};

use crate::acquirer::{CallTreatment, PAGES, Preparing};
use crate::promises::CallFault;
use crate::shop::{TestShop, by, initiate};
use crate::world::{EngineWorld, done, eventually};

/// The time for which an authorization may wait until it is sent.
const UNSENT_LIFETIME_SECONDS: u64 = 60;

/// The card whose holder is asked first.
const ASKING: &str = "4000002760003184";

async fn preparing(preparing: Preparing) -> (EngineWorld, TestShop) {
    let (world, shop) = EngineWorld::with_shop().await;
    world.script.prepare(preparing);
    (world, shop)
}

fn id_of(payment: Answer) -> PaymentId {
    let Answer::Payment(id) = payment else { panic!("{payment:?} is no payment") };
    id
}

fn recorded(world: &EngineWorld, shop: &TestShop, payment: Answer) -> Option<Preparation> {
    world.find::<Preparations>(shop, id_of(payment))
}

/// The id of what was prepared, as recorded.
fn recorded_id(world: &EngineWorld, shop: &TestShop, payment: Answer) -> Option<String> {
    recorded(world, shop, payment).map(|prepared| prepared.acquirer_reference)
}

/// The calls without their references.
fn words(world: &EngineWorld) -> Vec<String> {
    let calls = world.script.calls_made().into_iter();
    calls.map(|call| call.split(' ').next().unwrap_or_default().to_owned()).collect()
}

/// The keys of pages in the vault.
fn page_keys(world: &EngineWorld) -> usize {
    let is_page = |key: &[u8]| {
        matches!(VaultKey::decode(key), Some(VaultKey::SubjectKey { subject, .. })
            if subject.kind == SubjectKind::AcquirerPage)
    };
    world.store.dump(Family::Vault).iter().filter(|(key, _)| is_page(key)).count()
}

/// True when the address of a page is anywhere in the store.
fn has_address(world: &EngineWorld) -> bool {
    let holds = |bytes: &[u8]| bytes.windows(PAGES.len()).any(|part| part == PAGES.as_bytes());
    Family::ALL.iter().any(|family| world.store.dump(*family).iter().any(|(key, value)| holds(key) || holds(value)))
}

async fn asked(world: &EngineWorld, shop: &TestShop) -> Answer {
    let token = world.token_of(shop, TokenUsage::Single, ASKING).await;
    let session = world.session_of(shop, token).await;
    let payment = done(world.submit(shop.merchant_id, initiate(session).by(shop)).await);
    eventually("the customer is asked", || world.payment(shop, payment).open_action_until().is_some()).await;
    payment
}

#[actix_rt::test]
async fn a_preparation_is_durable_before_the_call_that_names_it() {
    let (world, shop) = preparing(Preparing::WithoutPage).await;
    let store = Arc::clone(&world.store);
    let count = move || store.dump(Family::Rows).iter().filter(|(key, _)| key.get(16) == Some(&85)).count();
    let (seen, at_the_call) = std::sync::mpsc::channel();
    world.script.next([CallTreatment::After(Box::new(move || seen.send(count()).expect("the test waits")))]);
    let payment = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    assert_eq!(at_the_call.recv(), Ok(1));
    assert_eq!(words(&world), ["prepare", "authorize"]);
    assert_eq!(world.script.named(), [recorded_id(&world, &shop, payment)]);
    world.assert_book_equals_ledger(&shop);
}

#[actix_rt::test]
async fn an_acquirer_that_prepares_nothing_leaves_no_record_of_it() {
    let (world, shop) = EngineWorld::with_shop().await;
    let payment = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    assert_eq!((words(&world), recorded(&world, &shop, payment)), (vec!["authorize".to_owned()], None));
}

#[actix_rt::test]
async fn a_preparation_whose_answer_is_lost_is_made_again_without_a_look_up() {
    for fault in [CallFault::AnswerLost, CallFault::RequestLost, CallFault::NotSent] {
        let (world, shop) = preparing(Preparing::WithPage).await;
        world.script.next_of("prepare", fault);
        let payment = world.pay(&shop, |words| words).await;
        world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
        assert_eq!(words(&world), ["prepare", "prepare", "authorize"], "{fault:?}");
        assert_eq!(recorded_id(&world, &shop, payment), world.script.prepared().pop(), "{fault:?}");
        assert_eq!(world.script.named(), [recorded_id(&world, &shop, payment)], "{fault:?}");
    }
}

#[actix_rt::test]
async fn a_preparation_that_could_not_be_recorded_is_not_used() {
    let (world, shop) = preparing(Preparing::WithoutPage).await;
    let release = world.script.hold_preparation();
    let payment = world.pay(&shop, |words| words).await;
    eventually("it is prepared", || world.script.calls() == 1).await;
    world.store.fail_append(0, AppendFault::Unavailable);
    release.send(()).expect("the acquirer waits");
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    assert_eq!(words(&world), ["prepare", "prepare", "authorize"]);
    assert_eq!(world.script.named(), [Some("prepared-2".to_owned())]);
    assert_eq!(recorded_id(&world, &shop, payment).as_deref(), Some("prepared-2"));
}

#[actix_rt::test]
async fn a_call_that_an_earlier_process_prepared_is_looked_up_and_made() {
    let (world, shop) = preparing(Preparing::WithoutPage).await;
    world.script.fall_silent_once_prepared();
    let payment = world.pay(&shop, |words| words).await;
    eventually("it is recorded", || recorded(&world, &shop, payment).is_some()).await;
    let world = world.restart();
    world.script.prepare(Preparing::WithoutPage);
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    let words = words(&world);
    assert_eq!(
        (words.first().map(String::as_str), words.last().map(String::as_str)),
        (Some("look"), Some("authorize"))
    );
    assert!(!words.contains(&"prepare".to_owned()), "{words:?}");
    assert_eq!(world.script.named(), [Some("prepared-1".to_owned())]);
    world.assert_book_equals_ledger(&shop);
}

#[actix_rt::test]
async fn a_call_that_an_earlier_process_did_not_prepare_was_never_made() {
    let (world, shop) = preparing(Preparing::WithoutPage).await;
    world.script.do_not_answer(Some(shop.merchant_id));
    let payment = world.pay(&shop, |words| words).await;
    eventually("it is asked", || world.script.calls() > 0).await;
    let world = world.restart_paused();
    world.script.prepare(Preparing::WithoutPage);
    world.engine.resume();
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    assert_eq!(words(&world), ["prepare", "authorize"], "nothing is looked up or waited for");
}

#[actix_rt::test]
async fn a_prepared_call_whose_answer_is_lost_is_looked_up() {
    let (world, shop) = preparing(Preparing::WithoutPage).await;
    world.script.next_of("authorize", CallFault::AnswerLost);
    let payment = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    assert_eq!(words(&world), ["prepare", "authorize", "look"]);
    world.assert_book_equals_ledger(&shop);
}

#[actix_rt::test]
async fn a_payment_that_ends_while_it_is_prepared_is_canceled_and_not_made() {
    let (world, shop) = preparing(Preparing::WithPage).await;
    let release = world.script.hold_preparation();
    let payment = world.pay(&shop, |words| words).await;
    eventually("it is prepared", || world.script.calls() == 1).await;
    world.clock.pass_seconds(PENDING_LIFETIME_SECONDS);
    let expire = by(Caller::System, Command::ExpirePayment(id_of(payment)));
    assert_eq!(done(world.submit(shop.merchant_id, expire).await), Answer::Changed(true));
    release.send(()).expect("the acquirer waits");
    eventually("nothing is open", || world.count(Family::Effects, &shop) == 0).await;
    assert_eq!(words(&world), ["prepare", "cancel"]);
    assert_eq!(world.script.named(), [Some("prepared-1".to_owned())], "the page that is to expire");
    assert_eq!((world.payment(&shop, payment).status, page_keys(&world)), (PaymentStatus::Expired, 0));
}

#[actix_rt::test]
async fn a_refused_preparation_declines_the_payment() {
    let (world, shop) = preparing(Preparing::Declines).await;
    let payment = world.pay(&shop, |words| words).await;
    let failed = world.settles_down_as(&shop, payment, PaymentStatus::Failed).await;
    assert_eq!(failed.failure.map(|failure| failure.code.name()), Some("invalid_card"));
    assert_eq!((words(&world), recorded(&world, &shop, payment)), (vec!["prepare".to_owned()], None));
}

#[actix_rt::test]
async fn the_address_of_a_page_is_only_sealed_and_opens_until_the_payment_ends() {
    let (world, shop) = preparing(Preparing::WithPage).await;
    let payment = asked(&world, &shop).await;
    let action = world.find::<CustomerActions>(&shop, id_of(payment)).expect("the customer is asked");
    assert_eq!(action.step, CustomerStep::AcquirerPage);
    let page = recorded(&world, &shop, payment).and_then(|prepared| prepared.page).expect("it can be opened");
    assert_eq!((page.as_str(), page_keys(&world)), (format!("{PAGES}prepared-1").as_str(), 1));
    assert!(!has_address(&world));
    let void = by(Caller::Operator, Command::VoidPayment(PaymentRef::Own(id_of(payment))));
    done(world.submit(shop.merchant_id, void).await);
    eventually("it is canceled", || world.count(Family::Effects, &shop) == 0).await;
    let prepared = recorded(&world, &shop, payment).expect("the id is kept");
    assert_eq!((prepared.acquirer_reference.as_str(), prepared.page), ("prepared-1", None));
    assert_eq!((page_keys(&world), has_address(&world)), (0, false));
    assert_eq!(world.script.named(), vec![Some("prepared-1".to_owned()); 2], "the cancellation names it, too");
    let world = world.restart();
    assert_eq!(recorded(&world, &shop, payment).and_then(|prepared| prepared.page), None);
}

#[actix_rt::test]
async fn an_authorization_that_cannot_be_sent_for_a_minute_fails() {
    let faults = || std::iter::repeat_with(|| CallTreatment::Fault(CallFault::NotSent)).take(1_000);
    for is_prepared in [true, false] {
        let (world, shop) = EngineWorld::with_shop().await;
        if is_prepared {
            world.script.prepare(Preparing::WithoutPage);
            world.script.do_not_answer(Some(shop.merchant_id));
        }
        world.script.next(faults());
        let payment = world.pay(&shop, |words| words).await;
        world.clock.pass_seconds(UNSENT_LIFETIME_SECONDS - 1);
        let calls = world.script.calls();
        eventually("it is tried again", || world.script.calls() > calls + 2).await;
        assert_eq!(world.payment(&shop, payment).status, PaymentStatus::Pending);
        world.clock.pass_seconds(1);
        let failed = world.settles_down_as(&shop, payment, PaymentStatus::Failed).await;
        assert_eq!(failed.failure.map(|failure| failure.code.name()), Some("acquirer_not_available"));
        eventually("nothing is open", || world.engine.open_effects().count == 0).await;
    }
}

#[actix_rt::test]
async fn a_capture_that_cannot_be_sent_waits() {
    let (world, shop) = EngineWorld::with_shop().await;
    let payment = world.pay(&shop, |words| words.authorize_only()).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Authorized).await;
    world.script.next((0..3).map(|_| CallTreatment::Fault(CallFault::NotSent)));
    let capture = CapturePayment { payment: PaymentRef::Own(id_of(payment)), amount: None };
    done(world.submit(shop.merchant_id, by(Caller::Operator, Command::CapturePayment(capture))).await);
    world.clock.pass_seconds(2 * UNSENT_LIFETIME_SECONDS);
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    world.assert_book_equals_ledger(&shop);
}

//! The consequences of the acquirer's answer to an authorization: capture, fee, settlement, activity.

use crate::words::*;
use crate::world::{ScenarioWorld, assert_legs, raw_id};
use till_domain::activity::{Activity, ActivityObject, ActivityType, Actor};
use till_domain::apply::apply_rows;
use till_domain::effect::{EffectId, EffectKind};
use till_domain::event::Answer;
use till_domain::failure::FailureCode;
use till_domain::ids::{PaymentId, RefundId};
use till_domain::ledger::{Account, Cause, Direction, EntryStatus, EntryType};
use till_domain::merchant::{PaymentMethod, SETTLEMENT_DELAY_DEFAULT_SECONDS};
use till_domain::payment::{AUTHORIZATION_LIFETIME_SECONDS, PaymentStatus};
use till_domain::records::{Activities, Effects, Entries, MemoryRows, Rows, RowsMut, Transactions};
use till_domain::session::InterestBearer;

/// A pending payment of a fresh card session.
fn pending(world: &mut ScenarioWorld) -> PaymentId {
    let session = world.card_session();
    world.payment(initiate(session))
}

#[test]
fn an_initiated_payment_requests_its_authorization_at_once() {
    let (world, id) = ScenarioWorld::open_with(pending);
    let effect = world.look_up::<Effects>(EffectId::operation(id));
    assert_eq!((effect.kind, effect.opened_at), (EffectKind::Authorize, world.clock));
}

#[test]
fn two_refunds_and_an_operation_are_open_at_once_independently() {
    let (mut world, id) = ScenarioWorld::open_with(pending);
    let operation = EffectId::operation(id);
    let refunds = [1, 2].map(|number| EffectId { refund_id: Some(RefundId::from_bytes([number; 16])), ..operation });
    let (mut rows, effect) = (world.rows.clone(), world.look_up::<Effects>(operation));
    refunds.into_iter().for_each(|refund| rows.put::<Effects>(refund, effect.clone()));
    let are_open = |rows: &MemoryRows| {
        [operation, refunds[0], refunds[1]].map(|id| rows.get::<Effects>(id).ok().flatten().is_some())
    };
    assert_eq!(are_open(&rows), [true, true, true]);
    world.when(result(id, approved_and_captured())).answers(Answer::Changed(true));
    apply_rows(world.log.last().expect("the result"), &mut rows).expect("in memory");
    assert_eq!(are_open(&rows), [false, true, true]);
    rows.remove::<Effects>(refunds[0]);
    assert_eq!(are_open(&rows), [false, false, true]);
}

#[test]
fn an_approved_payment_is_captured_by_itself() {
    let (mut world, id) = ScenarioWorld::open_with(pending);
    world.after_seconds(2);
    world.when(result(id, approved_and_captured())).answers(Answer::Changed(true));
    let payment = world.payment_row(id);
    assert_eq!(payment.status, PaymentStatus::Successful);
    let capture = payment.capture.expect("it was captured");
    assert_eq!((capture.amount_minor, capture.fee_minor, capture.at), (PRICE_MINOR, 0, world.clock));
    let authorization = payment.authorization.expect("it was authorized");
    assert_eq!((authorization.at, authorization.lapses_at), (world.clock, None));
}

#[test]
fn an_automatic_capture_is_an_activity_of_the_system() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let id = world.captured(initiate(session));
    let activities = world.all::<Activities>();
    assert_eq!(activities.len(), 1);
    let Activity { at, activity_type, actor, object, .. } = activities[0].clone();
    assert_eq!((activity_type, actor), (ActivityType::PaymentCaptured, Actor::System));
    assert_eq!((object, at), (ActivityObject::Payment(id), world.clock));
}

#[test]
fn a_payment_without_capture_is_authorized_and_lapses_in_7_days() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let id = world.authorized(initiate(session));
    let payment = world.payment_row(id);
    assert_eq!((payment.status, payment.capture), (PaymentStatus::Authorized, None));
    let lapses_at = payment.authorization.and_then(|authorization| authorization.lapses_at);
    assert_eq!(lapses_at, Some(world.clock.plus_seconds(AUTHORIZATION_LIFETIME_SECONDS)));
    assert_eq!((world.all::<Transactions>().len(), world.all::<Activities>().len()), (0, 0));
}

#[test]
fn an_unrequested_capture_by_the_acquirer_does_not_count() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let id = world.payment(initiate(session).authorize_only());
    world.given(result(id, approved_and_captured()));
    assert_eq!(world.payment_row(id).status, PaymentStatus::Authorized);
}

#[test]
fn a_declined_payment_keeps_the_reason_and_posts_nothing() {
    let (mut world, id) = ScenarioWorld::open_with(pending);
    world.when(result(id, declined())).answers(Answer::Changed(true));
    let payment = world.payment_row(id);
    assert_eq!(payment.status, PaymentStatus::Failed);
    assert_eq!(payment.failure, Some(FailureCode::CardDeclined.into()));
    assert_eq!((world.all::<Transactions>().len(), world.all::<Activities>().len()), (0, 0));
    assert_eq!(world.state.balance, None, "a declined payment does not open the balance");
}

#[test]
fn a_result_that_comes_twice_changes_nothing_the_second_time() {
    let (mut world, id) = ScenarioWorld::open_with(pending);
    world.given(result(id, approved_and_captured()));
    for again in [approved_and_captured(), approved(), declined()] {
        world.when(result(id, again)).changes_nothing(Answer::Changed(false));
    }
}

#[test]
fn an_approval_after_a_decline_is_given_back() {
    let (mut world, id) = ScenarioWorld::open_with(pending);
    world.given(result(id, declined()));
    world.when(result(id, approved_and_captured())).answers(Answer::Changed(true));
    assert_eq!(world.payment_row(id).status, PaymentStatus::Failed);
    assert_eq!(world.look_up::<Effects>(EffectId::operation(id)).kind, EffectKind::RefundLate);
    assert_eq!(world.state.balance, None, "what is given back posts nothing");
}

#[test]
fn a_result_for_an_authorized_payment_changes_nothing() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let id = world.authorized(initiate(session));
    world.when(result(id, approved())).changes_nothing(Answer::Changed(false));
    world.when(result(id, declined())).changes_nothing(Answer::Changed(false));
}

#[test]
fn a_result_for_an_unknown_payment_changes_nothing() {
    let mut world = ScenarioWorld::open();
    let unknown = raw_id(9, PaymentId::from_raw);
    world.when(result(unknown, approved())).changes_nothing(Answer::Changed(false));
    world.when(void_done(unknown)).changes_nothing(Answer::Changed(false));
}

#[test]
fn an_unrequested_void_changes_nothing() {
    let (mut world, id) = ScenarioWorld::open_with(pending);
    world.when(void_done(id)).changes_nothing(Answer::Changed(false));
    world.given(result(id, approved_and_captured()));
    world.when(void_done(id)).changes_nothing(Answer::Changed(false));
    let session = world.card_session();
    let authorized = world.authorized(initiate(session));
    world.when(void_done(authorized)).changes_nothing(Answer::Changed(false));
}

#[test]
fn a_suspended_merchants_open_authorization_is_still_recorded() {
    let (mut world, id) = ScenarioWorld::open_with(pending);
    world.given(suspend());
    world.when(result(id, approved_and_captured())).answers(Answer::Changed(true));
}

#[test]
fn a_capture_posts_gross_and_fee_in_one_balanced_transaction() {
    let mut world = ScenarioWorld::open();
    world.given(configure(PaymentMethod::Card, with_fee(250, 10)));
    let session = world.card_session();
    let id = world.captured(initiate(session));
    let transaction = world.transaction_of(id);
    assert_legs(
        &transaction,
        &[
            (Account::Balance, Direction::Credit, EntryType::Payment, 10_000),
            (Account::Balance, Direction::Debit, EntryType::PaymentFee, 260),
            (Account::AcquirerClearing, Direction::Debit, EntryType::Payment, 10_000),
            (Account::Fees, Direction::Credit, EntryType::PaymentFee, 260),
        ],
    );
    assert_eq!(transaction.cause, Cause::Capture(id));
}

#[test]
fn a_captured_amount_is_pending_less_its_fee_until_it_settles() {
    let mut world = ScenarioWorld::open();
    world.given(configure(PaymentMethod::Card, with_fee(250, 10)));
    let session = world.card_session();
    let id = world.captured(initiate(session));
    assert_eq!(world.balance(), (0, 9_740));
    let transaction = world.transaction_of(id);
    assert_eq!(transaction.status, EntryStatus::OnHold);
    assert_eq!(transaction.settles_at, Some(world.clock.plus_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS)));
}

#[test]
fn the_fee_is_rounded_half_up_and_the_capture_remembers_it() {
    for (price_minor, fee_minor) in [(20, 1), (19, 0), (60, 2), (59, 1), (10_000, 250)] {
        let mut world = ScenarioWorld::open();
        world.given(configure(PaymentMethod::Card, with_fee(250, 0)));
        let token = world.token(1, till_domain::card::TokenUsage::Single);
        let session = world.session(select_token(token).money(thb(price_minor)));
        let id = world.captured(initiate(session).money(thb(price_minor)));
        let capture = world.payment_row(id).capture.expect("it was captured");
        assert_eq!(capture.fee_minor, fee_minor, "of {price_minor}");
    }
}

#[test]
fn a_fee_is_at_most_the_amount_itself() {
    let mut world = ScenarioWorld::open();
    world.given(configure(PaymentMethod::Card, with_fee(250, PRICE_MINOR)));
    let session = world.card_session();
    let id = world.captured(initiate(session));
    assert_eq!(world.payment_row(id).capture.map(|capture| capture.fee_minor), Some(PRICE_MINOR));
    assert_eq!(world.totals().pending_minor(), 0);
}

#[test]
fn a_fee_of_zero_posts_nothing() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let id = world.captured(initiate(session));
    let entries: Vec<_> = world.all::<Entries>().iter().map(|entry| entry.entry_type).collect();
    assert_eq!(entries, [EntryType::Payment]);
    assert_eq!(world.transaction_of(id).legs.len(), 2);
}

#[test]
fn the_fee_is_that_of_the_method_at_the_time_of_capture() {
    let mut world = ScenarioWorld::with_fees();
    let card = world.card_session();
    let card = world.payment(initiate(card));
    let installment = world.session(select_installment(InterestBearer::Merchant));
    let installment = world.payment(initiate(installment).bearer(InterestBearer::Merchant));
    world.given(configure(PaymentMethod::Card, with_fee(200, 0)));
    for (id, fee_minor) in [(card, 200), (installment, 0)] {
        world.given(result(id, approved_and_captured()));
        assert_eq!(world.payment_row(id).capture.map(|capture| capture.fee_minor), Some(fee_minor));
    }
    world.given(configure(PaymentMethod::Card, with_fee(300, 0)));
    assert_eq!(world.payment_row(card).capture.map(|capture| capture.fee_minor), Some(200));
}

#[test]
fn a_payment_of_a_method_disabled_since_is_still_captured() {
    let (mut world, id) = ScenarioWorld::open_with(pending);
    world.given(configure(PaymentMethod::Card, disabled()));
    world.given(result(id, approved_and_captured()));
    assert_eq!(world.payment_row(id).status, PaymentStatus::Successful);
}

#[test]
fn a_card_that_settles_at_once_ignores_the_settlement_delay() {
    let mut world = ScenarioWorld::with_fees();
    let id = pending(&mut world);
    world.given(result(id, approved_captured_and_settled()));
    let transaction = world.transaction_of(id);
    assert_eq!((transaction.status, transaction.effective_at), (EntryStatus::Effective, Some(world.clock)));
    assert_eq!(world.balance(), (9_900, 0));
    assert_eq!(world.timers_of_payments(), []);
    assert_eq!(world.payment_row(id).capture.map(|capture| capture.settles_at), Some(world.clock));
}

#[test]
fn without_a_settlement_delay_a_capture_is_effective_at_once() {
    let mut world = ScenarioWorld::settling_after(0);
    let session = world.card_session();
    let id = world.captured(initiate(session));
    assert_eq!(world.transaction_of(id).status, EntryStatus::Effective);
    assert_eq!(world.totals().available_minor(), 10_000);
    assert_eq!(world.timers_of_payments(), []);
}

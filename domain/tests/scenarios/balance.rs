//! The balance: opening, top-ups, and the limit of its totals.

use crate::words::*;
use crate::world::{ScenarioWorld, assert_legs};
use till_domain::card::TokenUsage;
use till_domain::event::Answer;
use till_domain::ids::PaymentId;
use till_domain::ledger::{Account, BalanceTotals, Cause, Direction, EntryStatus, EntryType};
use till_domain::merchant::SETTLEMENT_DELAY_DEFAULT_SECONDS;
use till_domain::money::AMOUNT_MAX_MINOR;
use till_domain::payment::AUTHORIZATION_LIFETIME_SECONDS;
use till_domain::records::{Entries, Invoices, Topups, Transactions};
use till_domain::refusal::Refusal;

/// Initiates a payment of this amount, which must be accepted.
fn pending(world: &mut ScenarioWorld, minor: u64) -> PaymentId {
    let token = world.token(1, TokenUsage::Single);
    let session = world.session(select_token(token).money(thb(minor)));
    world.payment(initiate(session).money(thb(minor)))
}

/// Checks that a payment of this amount would exceed a limit.
fn has_no_room_for(world: &mut ScenarioWorld, minor: u64) {
    let token = world.token(1, TokenUsage::Single);
    let session = world.session(select_token(token).money(thb(minor)));
    world.when(initiate(session).money(thb(minor))).refused(Refusal::TotalTooLarge);
}

#[test]
fn a_new_merchant_has_no_balance() {
    assert_eq!(ScenarioWorld::open().state.balance, None);
}

#[test]
fn the_operator_opens_the_balance_once() {
    let mut world = ScenarioWorld::open();
    world.when(open_balance()).answers(Answer::Changed(true));
    assert_eq!(world.state.balance, Some(BalanceTotals::default()));
    world.when(open_balance()).changes_nothing(Answer::Changed(false));
}

#[test]
fn a_topup_opens_the_balance_by_itself() {
    let mut world = ScenarioWorld::open();
    world.given(topup(500));
    assert_eq!(world.totals().available_minor(), 500);
    world.when(open_balance()).changes_nothing(Answer::Changed(false));
    assert_eq!(world.totals().available_minor(), 500);
}

#[test]
fn a_capture_opens_the_balance_by_itself() {
    let (mut world, id) = ScenarioWorld::open_with(|world| pending(world, 500));
    assert_eq!(world.state.balance, None, "a payment that is only initiated posts nothing");
    world.given(result(id, approved_and_captured()));
    assert_eq!(world.totals().pending_minor(), 500);
}

#[test]
fn a_topup_is_an_effective_credit_against_the_bank() {
    let (world, id) = ScenarioWorld::open_with(|world| world.topup(topup_known_as(500, "bank-1")));
    let row = world.look_up::<Topups>(id);
    assert_eq!((row.amount.get(), row.external_id), (500, Some(external("bank-1"))));
    let transaction = world.look_up::<Transactions>(row.transaction_id);
    assert_eq!((transaction.cause, transaction.status), (Cause::Topup(id), EntryStatus::Effective));
    assert_legs(
        &transaction,
        &[
            (Account::Balance, Direction::Credit, EntryType::AddPrefund, 500),
            (Account::BankClearing, Direction::Debit, EntryType::AddPrefund, 500),
        ],
    );
    assert_eq!(world.all::<Entries>()[0].effective_at, Some(world.clock));
}

#[test]
fn a_repeated_topup_external_id_is_a_conflict_naming_the_first() {
    let (mut world, topup_id) = ScenarioWorld::open_with(|world| world.topup(topup_known_as(500, "bank-1")));
    world.when(topup_known_as(700, "bank-1")).refused(Refusal::TopupExternalIdTaken { topup_id });
    world.when(topup_known_as(700, "bank-2")).takes_effect();
}

#[test]
fn topups_without_external_id_never_conflict() {
    let mut world = ScenarioWorld::open();
    world.given(topup(500));
    world.given(topup(500));
    assert_eq!(world.totals().available_minor(), 1_000);
}

#[test]
fn a_topups_and_a_payments_external_ids_do_not_meet() {
    let mut world = ScenarioWorld::open();
    world.given(topup_known_as(500, "ref-1"));
    let session = world.card_session();
    world.when(initiate(session).external_id("ref-1")).takes_effect();
}

#[test]
fn topups_are_accepted_up_to_exactly_the_largest_total() {
    let mut world = ScenarioWorld::open();
    world.given(topup(AMOUNT_MAX_MINOR - 1));
    world.when(topup(2)).refused(Refusal::TotalTooLarge);
    world.given(topup(1));
    world.when(topup(1)).refused(Refusal::TotalTooLarge);
    has_no_room_for(&mut world, 1);
}

#[test]
fn a_taken_topup_external_id_is_refused_before_a_large_total() {
    let mut world = ScenarioWorld::open();
    let topup_id = world.topup(topup_known_as(AMOUNT_MAX_MINOR, "bank-1"));
    world.when(topup_known_as(1, "bank-1")).refused(Refusal::TopupExternalIdTaken { topup_id });
}

#[test]
fn capturable_amounts_count_towards_the_largest_total() {
    let mut world = ScenarioWorld::open();
    pending(&mut world, AMOUNT_MAX_MINOR - 10);
    world.when(topup(11)).refused(Refusal::TotalTooLarge);
    has_no_room_for(&mut world, 11);
    pending(&mut world, 10);
    world.when(topup(1)).refused(Refusal::TotalTooLarge);
}

#[test]
fn a_declined_payment_makes_its_room_free_again() {
    let (mut world, id) = ScenarioWorld::open_with(|world| pending(world, AMOUNT_MAX_MINOR));
    has_no_room_for(&mut world, 1);
    world.given(result(id, declined()));
    assert_eq!(world.state.reserved_minor, 0);
    pending(&mut world, AMOUNT_MAX_MINOR);
}

#[test]
fn a_captured_payment_is_counted_in_the_total_and_not_reserved() {
    let (mut world, id) = ScenarioWorld::open_with(|world| pending(world, AMOUNT_MAX_MINOR - 10));
    world.given(result(id, approved_and_captured()));
    assert_eq!(world.state.reserved_minor, 0);
    has_no_room_for(&mut world, 11);
    pending(&mut world, 10);
}

#[test]
fn a_settled_payment_still_counts_towards_the_largest_total() {
    let (mut world, id) = ScenarioWorld::open_with(|world| pending(world, AMOUNT_MAX_MINOR - 10));
    world.given(result(id, approved_and_captured()));
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    world.fire_all();
    has_no_room_for(&mut world, 11);
    world.given(topup(10));
}

#[test]
fn a_voided_payment_makes_its_room_free_again_and_not_before() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Single));
    let session = world.session(select_token(token).money(thb(AMOUNT_MAX_MINOR)));
    let id = world.authorized(initiate(session).money(thb(AMOUNT_MAX_MINOR)));
    world.after_seconds(AUTHORIZATION_LIFETIME_SECONDS);
    world.fire_all();
    world.when(topup(1)).refused(Refusal::TotalTooLarge);
    world.given(void_done(id));
    world.given(topup(AMOUNT_MAX_MINOR));
}

#[test]
fn an_invoice_is_an_effective_debit_and_may_overdraw() {
    let mut world = ScenarioWorld::open();
    world.given(topup(500));
    let Answer::Invoice(id) = world.given(invoice_known_as(700, "bill-1")) else { panic!("an invoice was asked for") };
    let row = world.look_up::<Invoices>(id);
    assert_eq!((row.amount.get(), row.external_id), (700, Some(external("bill-1"))));
    let transaction = world.look_up::<Transactions>(row.transaction_id);
    assert_eq!((transaction.cause, transaction.status), (Cause::Invoice(id), EntryStatus::Effective));
    assert_legs(
        &transaction,
        &[
            (Account::Balance, Direction::Debit, EntryType::Invoice, 700),
            (Account::Invoices, Direction::Credit, EntryType::Invoice, 700),
        ],
    );
    assert_eq!(world.totals().available_minor(), -200);
}

#[test]
fn an_invoice_opens_the_balance_by_itself() {
    let mut world = ScenarioWorld::open();
    world.given(invoice(1));
    assert_eq!(world.totals().available_minor(), -1);
}

#[test]
fn a_repeated_invoice_external_id_is_a_conflict() {
    let mut world = ScenarioWorld::open();
    let Answer::Invoice(invoice_id) = world.given(invoice_known_as(1, "bill-1")) else { panic!("no invoice") };
    world.when(invoice_known_as(AMOUNT_MAX_MINOR, "bill-1")).refused(Refusal::InvoiceExternalIdTaken { invoice_id });
    world.when(invoice_known_as(1, "bill-2")).takes_effect();
    world.when(topup_known_as(1, "bill-1")).takes_effect();
}

#[test]
fn invoices_are_charged_up_to_exactly_the_largest_total() {
    let mut world = ScenarioWorld::open();
    pending(&mut world, 10);
    world.given(invoice(AMOUNT_MAX_MINOR - 11));
    world.when(invoice(2)).refused(Refusal::TotalTooLarge);
    world.given(invoice(1));
    world.when(invoice(1)).refused(Refusal::TotalTooLarge);
}

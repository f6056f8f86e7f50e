//! Accounts at acquirers: contract, section 17.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::acquirer::{
    ACCOUNT_KEPT_SECONDS, ACQUIRERS_MAX, AccountMode, AccountSecret, AcquirerName, AcquirerRef, CardEntry,
};
use till_domain::command::{AcquirerChange, AddAcquirer, Command, KnownAccount, PublicAddress, UpdateAcquirer};
use till_domain::event::{Answer, VaultWrite};
use till_domain::ids::AcquirerId;
use till_domain::merchant::{Integration, PaymentMethod};
use till_domain::payment::OperationKind;
use till_domain::records::{AcquirerAccounts, AcquirerDirectory, AcquirerUses};
use till_domain::refusal::Refusal;
use till_domain::text::Name;

const CHANGED: Answer = Answer::Changed(true);
const UNCHANGED: Answer = Answer::Changed(false);
const TEST: AccountMode = AccountMode::Test;
const LIVE: AccountMode = AccountMode::Live;

fn unknown() -> AcquirerId {
    raw_id(9, AcquirerId::from_raw)
}

fn untried(mode: AccountMode) -> KnownAccount {
    KnownAccount { account: None, ..known(mode, "") }
}

/// An account at which cards are.
fn with_cards(world: &mut ScenarioWorld) -> AcquirerId {
    let id = world.account();
    world.given(configure(PaymentMethod::Card, at_account(id)));
    id
}

/// The methods that are enabled, with their acquirers.
fn enabled(world: &ScenarioWorld) -> Vec<(PaymentMethod, AcquirerRef)> {
    let all = world.state.integrations.iter().filter(|(_, integration)| integration.enabled);
    all.map(|(method, integration)| (*method, integration.acquirer)).collect()
}

#[test]
fn an_account_is_added_with_its_secrets_in_the_vault() {
    let mut world = ScenarioWorld::open();
    let command = AddAcquirer { has_webhook_secret: true, ..new_account(known(TEST, "acct_1")) };
    let (answer, written) = world.when(change_account(AcquirerChange::Add(command))).writes_to_the_vault();
    let Answer::Acquirer(id) = answer else { panic!("{answer:?} is no account") };
    let secrets = [AccountSecret::Calls, AccountSecret::Notices];
    assert_eq!(written, secrets.map(|secret| VaultWrite::KeepAccountSecret(id, secret)));
    let account = world.look_up::<AcquirerAccounts>(id);
    assert_eq!((account.mode, account.account.as_deref(), account.created_at), (TEST, Some("acct_1"), world.clock));
    assert!(account.has_webhook_secret);
    assert!(enabled(&world).iter().all(|(_, acquirer)| *acquirer == AcquirerRef::Sandbox), "no method uses it yet");
}

#[test]
fn a_merchant_has_at_most_ten_accounts() {
    let mut world = ScenarioWorld::open();
    for number in 0..ACQUIRERS_MAX {
        world.given(add_account(known(TEST, &format!("acct_{number}"))));
    }
    let refusal = Refusal::TooMany { kind: "accounts at acquirers", limit: ACQUIRERS_MAX };
    world.when(add_account(known(TEST, "acct_more"))).refused(refusal);
}

#[test]
fn the_same_account_twice_is_a_conflict_and_names_the_first() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::account);
    world.when(add_account(known(TEST, "acct_1"))).refused(Refusal::AccountTaken { acquirer_id: id });
    world.when(add_account(known(TEST, "acct_2"))).takes_effect();
    // Nobody knows which account an untried secret is of.
    world.when(add_account(untried(TEST))).takes_effect();
}

#[test]
fn a_merchant_with_a_test_clock_has_no_account() {
    ScenarioWorld::on_test_clock().when(add_account(known(TEST, "acct_1"))).refused(Refusal::AccountWithTestClock);
}

#[test]
fn the_place_where_a_card_is_entered_can_be_changed() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::account);
    let page = UpdateAcquirer { card_entry: Some(CardEntry::Page), ..account_update(id) };
    world.when(update_account(page)).answers(CHANGED);
    assert_eq!(world.look_up::<AcquirerAccounts>(id).card_entry, CardEntry::Page);
}

#[test]
fn real_money_disables_the_sandbox() {
    let mut world = ScenarioWorld::open();
    let id = world.given_account(add_account(known(LIVE, "acct_1")));
    assert_eq!(enabled(&world), []);
    let refusal = Refusal::MoneyOfOtherMode { mode: LIVE };
    world.when(configure(PaymentMethod::Card, Integration::initial())).refused(refusal);
    world.when(configure(PaymentMethod::Card, disabled())).refused(refusal);
    world.when(add_account(known(TEST, "acct_2"))).refused(refusal);
    world.when(configure(PaymentMethod::Card, at_account(id))).answers(CHANGED);
    let paid = world.held();
    assert_eq!(world.payment_row(paid).acquirer, AcquirerRef::Account(AcquirerName::Stripe, id));
    assert_eq!(world.state.mode_of_payments, Some(LIVE));
    // A further account of real money mixes nothing.
    world.when(add_account(known(LIVE, "acct_3"))).takes_effect();
}

#[test]
fn real_money_is_refused_after_a_payment_or_an_account_of_play_money() {
    let (mut world, _) = ScenarioWorld::open_with(ScenarioWorld::account);
    let refusal = Refusal::MoneyOfOtherMode { mode: TEST };
    world.when(add_account(known(LIVE, "acct_2"))).refused(refusal);
    let (mut world, _) = ScenarioWorld::open_with(ScenarioWorld::held);
    world.when(add_account(known(LIVE, "acct_1"))).refused(refusal);
    world.when(add_account(known(TEST, "acct_1"))).takes_effect();
}

#[test]
fn an_account_of_real_money_without_payments_gives_the_sandbox_back() {
    let mut world = ScenarioWorld::open();
    let id = world.given_account(add_account(known(LIVE, "acct_1")));
    world.given(configure(PaymentMethod::Card, at_account(id)));
    let disabled = Integration { enabled: false, ..at_account(id) };
    world.given(configure(PaymentMethod::Card, disabled));
    world.when(remove_account(id)).answers(CHANGED);
    let card = world.state.integrations[&PaymentMethod::Card];
    assert_eq!((card.acquirer, card.enabled), (AcquirerRef::Sandbox, false), "no setting names what is gone");
    world.when(configure(PaymentMethod::Card, Integration::initial())).answers(CHANGED);
}

#[test]
fn an_update_changes_what_it_names() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::account);
    world.when(update_account(account_update(id))).changes_nothing(UNCHANGED);
    let name = Some(Name::new("Phuket").expect("a name"));
    let (_, written) = world.when(update_account(UpdateAcquirer { name, ..account_update(id) })).writes_to_the_vault();
    assert_eq!(written, [], "no secret was given");
    assert_eq!(world.look_up::<AcquirerAccounts>(id).name.as_str(), "Phuket");
    let secret_hint = "sk_test_...1111".to_owned();
    let new = KnownAccount { secret_hint: secret_hint.clone(), ..known(TEST, "acct_1") };
    let update = UpdateAcquirer { known: Some(new), ..account_update(id) };
    let of_notices = UpdateAcquirer { has_webhook_secret: true, ..account_update(id) };
    // Nobody can tell a secret from the one before.
    for (update, secret) in [(update, AccountSecret::Calls), (of_notices, AccountSecret::Notices)] {
        for _ in 0..2 {
            let (answer, written) = world.when(update_account(update.clone())).writes_to_the_vault();
            assert_eq!((answer, written), (CHANGED, vec![VaultWrite::KeepAccountSecret(id, secret)]));
        }
    }
    let account = world.look_up::<AcquirerAccounts>(id);
    assert_eq!((account.secret_hint, account.has_webhook_secret), (secret_hint, true));
}

#[test]
fn a_secret_of_another_account_is_a_conflict() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::account);
    let with = |known: KnownAccount| update_account(UpdateAcquirer { known: Some(known), ..account_update(id) });
    world.when(with(known(TEST, "acct_2"))).refused(Refusal::SecretOfOtherAccount);
    world.when(with(known(LIVE, "acct_1"))).refused(Refusal::SecretOfOtherAccount);
    world.when(with(untried(LIVE))).refused(Refusal::SecretOfOtherAccount);
    world.when(with(untried(TEST))).answers(CHANGED);
    assert_eq!(world.look_up::<AcquirerAccounts>(id).account.as_deref(), Some("acct_1"), "it is known from before");
}

#[test]
fn the_first_tried_secret_tells_the_account() {
    let (mut world, taken) = ScenarioWorld::open_with(ScenarioWorld::account);
    let id = world.given_account(add_account(untried(TEST)));
    let with = |known: KnownAccount| update_account(UpdateAcquirer { known: Some(known), ..account_update(id) });
    world.when(with(known(TEST, "acct_1"))).refused(Refusal::AccountTaken { acquirer_id: taken });
    world.when(with(known(TEST, "acct_2"))).answers(CHANGED);
    assert_eq!(world.look_up::<AcquirerAccounts>(id).account.as_deref(), Some("acct_2"));
}

#[test]
fn a_judged_change_is_refused_like_the_change_and_leaves_no_record() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::account);
    let judged = |change: AcquirerChange| change_account(AcquirerChange::Judge(Box::new(change)));
    let add = |account: &str| AcquirerChange::Add(new_account(known(TEST, account)));
    world.when(judged(add("acct_1")).named("call-1")).refused(Refusal::AccountTaken { acquirer_id: id });
    world.when(judged(add("acct_2")).named("call-1")).changes_nothing(UNCHANGED);
    assert_eq!(world.state.acquirers.len(), 1);
}

#[test]
fn an_unknown_account_is_refused() {
    let mut world = ScenarioWorld::open();
    world.when(update_account(account_update(unknown()))).refused(Refusal::AcquirerNotFound);
    world.when(remove_account(unknown())).refused(Refusal::AcquirerNotFound);
    let card = configure(PaymentMethod::Card, at_account(unknown()));
    world.when(card).refused(Refusal::ConfiguredAcquirerNotFound);
}

#[test]
fn removing_an_account_erases_its_secrets() {
    let mut world = ScenarioWorld::open();
    let command = AddAcquirer { has_webhook_secret: true, ..new_account(known(TEST, "acct_1")) };
    let id = world.given_account(change_account(AcquirerChange::Add(command)));
    assert_eq!(world.look_up::<AcquirerDirectory>(id), world.merchant_id);
    let (_, written) = world.when(remove_account(id)).writes_to_the_vault();
    let secrets = [AccountSecret::Calls, AccountSecret::Notices];
    assert_eq!(written, secrets.map(|secret| VaultWrite::ForgetAccountSecret(id, secret)));
    assert!(world.account_secrets.is_empty());
    assert_eq!((world.find::<AcquirerAccounts>(id), world.find::<AcquirerDirectory>(id)), (None, None));
    world.when(add_account(known(TEST, "acct_1"))).takes_effect();
}

#[test]
fn an_account_stays_while_a_method_is_enabled_at_it() {
    let (mut world, id) = ScenarioWorld::open_with(with_cards);
    let refusal = Refusal::AccountConfigured { method: PaymentMethod::Card };
    world.when(remove_account(id)).refused(refusal);
    world.given(configure(PaymentMethod::Card, Integration::initial()));
    world.when(remove_account(id)).answers(CHANGED);
}

#[test]
fn an_account_stays_for_180_days_after_its_last_payment_or_refund() {
    let (mut world, id) = ScenarioWorld::open_with(with_cards);
    let paid = world.held();
    world.given(configure(PaymentMethod::Card, Integration::initial()));
    let in_use = |world: &ScenarioWorld| {
        let used = world.look_up::<AcquirerUses>(id);
        let removable_at = used.last_at.plus_seconds(ACCOUNT_KEPT_SECONDS);
        Refusal::AccountInUse { open_payments: used.open_payments, removable_at }
    };
    world.after_seconds(ACCOUNT_KEPT_SECONDS - 1);
    let refusal = in_use(&world);
    world.when(remove_account(id)).refused(refusal);
    let refunded = world.refund(refund(paid).part(100));
    assert_eq!(world.look_up::<AcquirerUses>(id).last_at, world.clock, "a refund counts anew");
    world.after_seconds(ACCOUNT_KEPT_SECONDS);
    let refusal = in_use(&world);
    assert!(matches!(refusal, Refusal::AccountInUse { open_payments: 1, .. }), "{refusal:?}");
    world.when(remove_account(id)).refused(refusal);
    world.given(refund_answered(refunded, succeeded()));
    world.when(remove_account(id)).answers(CHANGED);
    assert_eq!(world.find::<AcquirerUses>(id), None);
}

#[test]
fn a_call_that_is_open_after_the_end_of_its_payment_keeps_the_account() {
    let (mut world, id) = ScenarioWorld::open_with(with_cards);
    let session = world.card_session();
    let payment = world.payment(initiate(session));
    world.after_seconds(till_domain::payment::PENDING_LIFETIME_SECONDS);
    world.given(expire(payment));
    let open = |world: &ScenarioWorld| world.look_up::<AcquirerUses>(id).open_payments;
    assert_eq!(open(&world), 1, "the acquirer may still authorize it");
    world.given(result(payment, approved_and_captured()));
    assert_eq!(open(&world), 1, "the money is given back");
    world.given(given_back(payment, succeeded()));
    assert_eq!(open(&world), 0);
}

#[test]
fn a_reversal_keeps_the_account_while_it_is_open() {
    let (mut world, id) = ScenarioWorld::open_with(with_cards);
    let payment = world.held();
    let open = |world: &ScenarioWorld| world.look_up::<AcquirerUses>(id).open_payments;
    assert_eq!(open(&world), 0);
    world.given(reverse(payment));
    assert_eq!(open(&world), 1);
    world.given(operation_answered(payment, OperationKind::Reverse, 1, succeeded()));
    assert_eq!(open(&world), 0);
}

#[test]
fn a_payment_keeps_the_account_with_which_it_began() {
    let (mut world, first) = ScenarioWorld::open_with(with_cards);
    let payment = world.settled();
    let second = world.given_account(add_account(known(TEST, "acct_2")));
    world.given(configure(PaymentMethod::Card, at_account(second)));
    let expected = AcquirerRef::Account(AcquirerName::Stripe, first);
    assert_eq!(world.payment_row(payment).acquirer, expected);
    world.given(refund(payment).part(100));
    assert_eq!(world.payment_row(payment).acquirer, expected);
    assert_eq!(world.look_up::<AcquirerUses>(first).open_payments, 1);
    assert_eq!(world.find::<AcquirerUses>(second), None);
}

#[test]
fn payments_of_an_account_that_was_removed_are_neither_refunded_nor_reversed() {
    let mut world = ScenarioWorld::settling_after(2 * ACCOUNT_KEPT_SECONDS);
    let id = with_cards(&mut world);
    let payment = world.held();
    world.given(configure(PaymentMethod::Card, Integration::initial()));
    world.after_seconds(ACCOUNT_KEPT_SECONDS);
    world.given(remove_account(id));
    let status = world.payment_row(payment).status;
    world.when(reverse(payment)).refused(Refusal::InvalidState { status, operation: None });
    world.when(refund(payment).part(100)).refused(Refusal::NotRefundable { status, operation: None });
}

#[test]
fn a_method_is_configured_to_an_account_that_can_carry_it_out() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::account);
    let acquirer = AcquirerName::Stripe;
    for method in [PaymentMethod::Installment, PaymentMethod::MobileBanking] {
        world.when(configure(method, at_account(id))).refused(Refusal::MethodNotCarriedOut { acquirer });
    }
    let at_once = Integration { authorizes_without_capture: false, ..at_account(id) };
    world.when(configure(PaymentMethod::PromptPay, at_once)).refused(Refusal::SupportEmailMissing);
    world.when(configure(PaymentMethod::Card, at_account(id))).answers(CHANGED);
    world.when(configure(PaymentMethod::Card, at_account(id))).changes_nothing(UNCHANGED);
}

#[test]
fn prompt_pay_at_an_account_needs_an_address_for_customers_without_one() {
    let mut world = ScenarioWorld::empty();
    let mut ask = create_merchant(world.merchant_id);
    if let Command::CreateMerchant(merchant) = &mut ask.command {
        merchant.support_email = Some(email("support@shop.example"));
    }
    world.given(ask);
    let id = world.account();
    let at_once = Integration { authorizes_without_capture: false, ..at_account(id) };
    world.when(configure(PaymentMethod::PromptPay, at_once)).answers(CHANGED);
}

#[test]
fn a_currency_with_other_minor_units_at_the_acquirer_is_refused() {
    let mut world = ScenarioWorld::empty();
    let mut ask = create_merchant(world.merchant_id);
    let currency = "ISK".parse().expect("a currency");
    if let Command::CreateMerchant(merchant) = &mut ask.command {
        merchant.currency = currency;
    }
    world.given(ask);
    let id = world.account();
    let acquirer = AcquirerName::Stripe;
    world
        .when(configure(PaymentMethod::Card, at_account(id)))
        .refused(Refusal::CurrencyNotTaken { currency, acquirer });
}

#[test]
fn customers_must_find_back_from_the_acquirer() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::account);
    let card = |address| configure_behind(address, PaymentMethod::Card, at_account(id));
    world.when(card(PublicAddress::Unknown)).refused(Refusal::PublicAddressMissing { is_http: false });
    world.when(card(PublicAddress::Http)).answers(CHANGED);
    let mut world = ScenarioWorld::open();
    let id = world.given_account(add_account(known(LIVE, "acct_1")));
    let card = |address| configure_behind(address, PaymentMethod::Card, at_account(id));
    world.when(card(PublicAddress::Http)).refused(Refusal::PublicAddressMissing { is_http: true });
    world.when(card(PublicAddress::Https)).answers(CHANGED);
    // The sandbox needs no address.
    let mut world = ScenarioWorld::open();
    let disabled = configure_behind(PublicAddress::Unknown, PaymentMethod::Card, disabled());
    world.when(disabled).answers(CHANGED);
}

#[test]
fn money_at_an_account_is_not_paid_out_by_call() {
    let mut world = ScenarioWorld::open();
    world.given(topup(1_000));
    with_cards(&mut world);
    world.when(payout(100)).refused(Refusal::PayoutsNotSupported);
    world.given(configure(PaymentMethod::Card, Integration::initial()));
    world.when(payout(100)).takes_effect();
    let mut world = ScenarioWorld::open();
    world.given(topup(1_000));
    world.given(add_account(known(LIVE, "acct_1")));
    world.when(payout(100)).refused(Refusal::PayoutsNotSupported);
}

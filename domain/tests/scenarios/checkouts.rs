//! Checkouts: every cell of the table, at most one payment that lives, the reference that follows the newest payment,
//! customers and their cards, the end of what is kept of them.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::card::TokenUsage;
use till_domain::checkout::{
    CHECKOUT_PAYMENTS_MAX, CHECKOUTS_ERASED_MAX, CheckoutLine, CheckoutStatus, OPEN_CHECKOUTS_MAX,
};
use till_domain::command::{AuthorizationResult, CheckoutChoice, Command};
use till_domain::customer::{CardRef, CustomerFields};
use till_domain::event::{Answer, VaultWrite};
use till_domain::ids::{CheckoutId, InstallationId, PaymentId, SessionId};
use till_domain::merchant::{PROMPT_PAY_MAX_MINOR, PaymentMethod};
use till_domain::payment::{OperationKind, PaymentStatus};
use till_domain::records::{Checkouts, CheckoutsByExternalId, PaymentsByExternalId, WebhookEvents};
use till_domain::refusal::{MethodObstacle, Refusal};
use till_domain::session::InstallmentPlan;
use till_domain::text::Name;
use till_domain::webhook::{EventCheckout, WebhookEventKind};

const CHANGED: Answer = Answer::Changed(true);
const UNCHANGED: Answer = Answer::Changed(false);

/// A merchant with all methods, and a checkout of the usual price.
fn open() -> (ScenarioWorld, CheckoutId) {
    open_with(|start| start)
}

fn open_with(change: impl FnOnce(StartCall) -> StartCall) -> (ScenarioWorld, CheckoutId) {
    let mut world = shop();
    let start = change(start_checkout(world.first_installation()));
    let id = world.checkout(start);
    (world, id)
}

fn shop() -> ScenarioWorld {
    let mut world = ScenarioWorld::open();
    for method in [PaymentMethod::PromptPay, PaymentMethod::MobileBanking] {
        world.given(configure(method, with_fee(0, 0)));
    }
    world
}

fn pay(world: &mut ScenarioWorld, ask: Ask) -> (SessionId, PaymentId) {
    let Answer::Session(session_id) = world.given(ask) else { panic!("a session was asked for") };
    let payment_id = world.look_up::<till_domain::records::Sessions>(session_id).payment_id;
    (session_id, payment_id.expect("it was initiated"))
}

fn bank() -> CheckoutChoice {
    CheckoutChoice::MobileBanking
}

fn card(world: &mut ScenarioWorld, number: u8) -> CheckoutChoice {
    CheckoutChoice::Token(world.token(number, TokenUsage::Single))
}

/// A checkout with a payment in progress.
fn in_progress() -> (ScenarioWorld, CheckoutId, SessionId, PaymentId) {
    let (mut world, id) = open();
    let (session, payment) = pay(&mut world, pay_checkout(id, bank()));
    (world, id, session, payment)
}

fn status(world: &ScenarioWorld, id: CheckoutId) -> CheckoutStatus {
    world.look_up::<Checkouts>(id).status
}

fn told(world: &ScenarioWorld) -> Vec<WebhookEventKind> {
    world.all::<WebhookEvents>().into_iter().map(|event| event.kind).collect()
}

#[test]
fn a_payment_is_made_as_the_checkout_says() {
    let (mut world, id) =
        open_with(|start| start.external_id("order-1").customer(customer_fields().email("a@b.example")));
    let choice = card(&mut world, 1);
    let (session, payment) = pay(&mut world, pay_checkout(id, choice));
    let row = world.payment_row(payment);
    assert_eq!((row.checkout_id, row.external_id, row.money), (Some(id), Some(external("order-1")), thb(PRICE_MINOR)));
    assert!(row.customer_id.is_some(), "the checkout names a customer");
    let checkout = world.look_up::<Checkouts>(id);
    assert_eq!((checkout.in_progress, checkout.payments), (true, vec![payment]));
    world.given(result(payment, approved_and_captured()));
    assert_eq!(status(&world, id), CheckoutStatus::Completed);
    assert_eq!(told(&world), [WebhookEventKind::PaymentCompleted, WebhookEventKind::CheckoutCompleted]);
    let events = world.all::<WebhookEvents>();
    let expected = EventCheckout { id, has_external_id: true };
    assert!(events.iter().all(|event| event.checkout == Some(expected) && event.payment_id == Some(payment)));
    let again = card(&mut world, 2);
    world.when(pay_checkout(id, again)).changes_nothing(Answer::Session(session));
}

#[test]
fn an_authorization_completes_it_when_nothing_is_captured() {
    let (mut world, id) = open_with(StartCall::authorize_only);
    let choice = card(&mut world, 1);
    let (_, payment) = pay(&mut world, pay_checkout(id, choice));
    world.given(result(payment, approved()));
    assert_eq!(status(&world, id), CheckoutStatus::Completed);
    world.given(void(payment));
    world.given(void_done(payment));
    assert_eq!(
        (status(&world, id), world.payment_row(payment).status),
        (CheckoutStatus::Completed, PaymentStatus::Voided)
    );
}

#[test]
fn a_capture_that_is_refused_leaves_it_open() {
    let (mut world, id) = open();
    let choice = card(&mut world, 1);
    let (_, payment) = pay(&mut world, pay_checkout(id, choice));
    world.given(result(payment, approved()));
    assert_eq!((status(&world, id), world.look_up::<Checkouts>(id).in_progress), (CheckoutStatus::Open, true));
    world.given(operation_answered(payment, OperationKind::Capture, 1, refused()));
    world.given(operation_answered(payment, OperationKind::Void, 2, succeeded()));
    assert_eq!(world.payment_row(payment).status, PaymentStatus::Failed);
    assert_eq!((status(&world, id), world.look_up::<Checkouts>(id).in_progress), (CheckoutStatus::Open, false));
    pay(&mut world, pay_checkout(id, bank()));
}

#[test]
fn every_way_to_pay_a_second_time_leads_to_the_first_payment() {
    let (mut world, id, session, payment) = in_progress();
    for ask in [pay_checkout(id, bank()), pay_checkout(id, CheckoutChoice::PromptPay)] {
        world.when(ask).changes_nothing(Answer::Session(session));
    }
    // The acquirer has not asked the customer yet: nothing can be given up.
    world.when(pay_instead(id, bank(), session)).changes_nothing(Answer::Session(session));
    world.given(result(payment, challenge_required()));
    world.given(result(payment, AuthorizationResult::Processing));
    world.when(pay_instead(id, bank(), session)).changes_nothing(Answer::Session(session));
}

#[test]
fn another_way_to_pay_gives_the_payment_in_progress_up() {
    let (mut world, id, session, payment) = in_progress();
    world.given(result(payment, scan_required()));
    let (other_session, other) = pay(&mut world, pay_instead(id, CheckoutChoice::PromptPay, session));
    assert_ne!((session, payment), (other_session, other));
    assert_eq!(world.payment_row(payment).status, PaymentStatus::Failed);
    assert_eq!(world.look_up::<Checkouts>(id).payments, [payment, other]);
    // The first tab gives up what is over: the payment in progress is the answer.
    world.when(pay_instead(id, bank(), session)).changes_nothing(Answer::Session(other_session));
    world.given(result(payment, approved_and_captured()));
    assert!(world.payment_row(payment).late_success.is_some(), "its money is given back");
    assert_eq!(status(&world, id), CheckoutStatus::Open);
}

#[test]
fn a_session_of_another_checkout_is_not_given_up() {
    let (mut world, id, _, _) = in_progress();
    let other = world.checkout(start_checkout(world.first_installation()));
    let (others_session, _) = pay(&mut world, pay_checkout(other, bank()));
    let unused = world.card_session();
    for session in [others_session, unused, raw_id(9, SessionId::from_raw)] {
        world.when(pay_instead(id, bank(), session)).refused(Refusal::ReplacedSessionNotFound);
    }
}

#[test]
fn a_payment_that_ends_reopens_it_and_passes_its_reference_on() {
    let (mut world, id) = open_with(|start| start.external_id("order-1"));
    let (_, first) = pay(&mut world, pay_checkout(id, bank()));
    world.given(result(first, declined()));
    assert_eq!(world.payment_row(first).external_id, Some(external("order-1")), "it is the newest");
    let (_, second) = pay(&mut world, pay_checkout(id, bank()));
    assert_eq!(
        (world.payment_row(first).external_id, world.payment_row(second).external_id),
        (None, Some(external("order-1")))
    );
    assert_eq!(world.find::<PaymentsByExternalId>(external("order-1")), Some(second));
    let failed = world.all::<WebhookEvents>().into_iter().next().expect("the failure was told");
    assert_eq!(failed.checkout, Some(EventCheckout { id, has_external_id: true }), "as of the event");
}

#[test]
fn a_void_by_the_merchant_reopens_it() {
    let (mut world, id, _, payment) = in_progress();
    world.given(result(payment, challenge_required()));
    world.given(void(payment));
    assert_eq!((status(&world, id), world.look_up::<Checkouts>(id).in_progress), (CheckoutStatus::Open, false));
}

#[test]
fn it_expires_at_its_instant_and_takes_no_payment_before_that_is_recorded() {
    let (mut world, id) = open_with(|start| start.lifetime(60).external_id("order-1"));
    world.clock.0 += 60_000 - 1;
    world.when(fire(world.timers())).changes_nothing(UNCHANGED);
    assert!(world.look_up::<Checkouts>(id).takes_payments(world.clock));
    world.clock.0 += 1;
    let expired = Refusal::CheckoutState { status: CheckoutStatus::Expired };
    world.when(pay_checkout(id, bank())).refused(expired);
    world.when(fire(world.timers())).answers(CHANGED);
    assert_eq!((status(&world, id), told(&world)), (CheckoutStatus::Expired, vec![WebhookEventKind::CheckoutExpired]));
    world.when(pay_checkout(id, bank())).refused(expired);
    assert_eq!(world.find::<CheckoutsByExternalId>(external("order-1")), None, "without a payment it has no reference");
    world.checkout(start_checkout(world.first_installation()).external_id("order-1"));
}

#[test]
fn a_payment_in_progress_decides_after_its_time() {
    for (answer, end) in [(declined(), CheckoutStatus::Expired), (approved_and_captured(), CheckoutStatus::Completed)] {
        let (mut world, id) = open_with(|start| start.lifetime(60));
        let (session, payment) = pay(&mut world, pay_checkout(id, bank()));
        world.after_seconds(60);
        world.when(fire(world.timers())).answers(CHANGED);
        assert_eq!(status(&world, id), CheckoutStatus::Open);
        world.when(pay_checkout(id, bank())).changes_nothing(Answer::Session(session));
        world.given(result(payment, answer));
        assert_eq!(status(&world, id), end);
    }
}

#[test]
fn the_merchant_ends_it_once() {
    let (mut world, id) = open();
    world.when(expire_checkout(id)).answers(CHANGED);
    assert_eq!(status(&world, id), CheckoutStatus::Expired);
    world.when(expire_checkout(id)).changes_nothing(UNCHANGED);
    let (mut world, id, session, payment) = in_progress();
    world.given(result(payment, challenge_required()));
    world.when(expire_checkout(id)).answers(CHANGED);
    world.when(expire_checkout(id)).changes_nothing(UNCHANGED);
    let closed = Refusal::CheckoutState { status: CheckoutStatus::Open };
    world.when(pay_instead(id, bank(), session)).refused(closed);
    world.given(cancel_session(session));
    assert_eq!(status(&world, id), CheckoutStatus::Expired);
    world.when(expire_checkout(raw_id(9, CheckoutId::from_raw))).refused(Refusal::CheckoutNotFound);
}

#[test]
fn a_completed_one_cannot_be_ended() {
    let (mut world, id, session, payment) = in_progress();
    world.given(result(payment, approved_and_captured()));
    world.when(expire_checkout(id)).changes_nothing(UNCHANGED);
    world.given(refund(payment));
    assert_eq!(status(&world, id), CheckoutStatus::Completed);
    world.when(pay_instead(id, bank(), session)).changes_nothing(Answer::Session(session));
}

#[test]
fn the_tenth_payment_is_the_last() {
    let (mut world, id) = open();
    for attempt in 1..=CHECKOUT_PAYMENTS_MAX {
        assert_eq!(status(&world, id), CheckoutStatus::Open, "before attempt {attempt}");
        let (_, payment) = pay(&mut world, pay_checkout(id, bank()));
        world.given(result(payment, declined()));
    }
    assert_eq!(status(&world, id), CheckoutStatus::Expired);
    world.when(pay_checkout(id, bank())).refused(Refusal::CheckoutState { status: CheckoutStatus::Expired });
}

#[test]
fn only_its_own_installation_pays_it() {
    let (mut world, id) = open();
    world.given(add_installation());
    let other = world.state.installations.keys().copied().find(|other| *other != world.first_installation());
    let ask = pay_checkout(id, bank()).by(TestCaller::ClientOf(other.expect("it was added")));
    world.when(ask).refused(Refusal::CheckoutNotFound);
    let unknown = raw_id(9, InstallationId::from_raw);
    world.when(start_checkout(unknown)).refused(Refusal::InstallationNotFound);
}

#[test]
fn methods_are_those_that_are_enabled_and_capture_as_asked() {
    let methods = |world: &ScenarioWorld, id| world.look_up::<Checkouts>(id).methods;
    let (mut world, id) = open();
    assert_eq!(methods(&world, id), PaymentMethod::ALL);
    let authorizes = world.checkout(start_checkout(world.first_installation()).authorize_only());
    assert_eq!(methods(&world, authorizes), [PaymentMethod::Card, PaymentMethod::Installment]);
    let mut large = start_checkout(world.first_installation());
    large.0.money = thb(PROMPT_PAY_MAX_MINOR + 1);
    let large = world.checkout(large);
    assert!(!methods(&world, large).contains(&PaymentMethod::PromptPay));
    let mut only = start_checkout(world.first_installation()).authorize_only();
    only.0.methods = vec![PaymentMethod::PromptPay];
    let why = |obstacle| {
        let of = |method| (method == PaymentMethod::PromptPay).then_some(obstacle);
        Refusal::NoMethodLeft { obstacles: PaymentMethod::ALL.map(of) }
    };
    world.when(only.clone()).refused(why(MethodObstacle::CapturesAtOnce));
    (only.0.capture, only.0.money) = (true, thb(PROMPT_PAY_MAX_MINOR + 1));
    world.when(only.clone()).refused(why(MethodObstacle::AmountTooLarge));
    world.given(configure(PaymentMethod::PromptPay, disabled()));
    world.when(only).refused(why(MethodObstacle::NotEnabled));
    world.when(pay_checkout(authorizes, bank())).refused(Refusal::MethodNotEnabled);
    world.given(configure(PaymentMethod::MobileBanking, disabled()));
    world.when(pay_checkout(id, bank())).refused(Refusal::MethodNotEnabled);
    let currency = "THB".parse().expect("a currency");
    let mut foreign = start_checkout(world.first_installation());
    foreign.0.money = usd(1);
    world.when(foreign).refused(Refusal::CurrencyNotConfigured { currency });
}

#[test]
fn a_reference_belongs_to_one_payment_or_checkout() {
    let (mut world, id) = open_with(|start| start.external_id("order-1"));
    let installation = world.first_installation();
    let session = world.card_session();
    let taken = |payment_id, checkout_id| Refusal::ExternalIdTaken { payment_id, checkout_id };
    world.when(initiate(session).external_id("order-1")).refused(taken(None, Some(id)));
    world.when(start_checkout(installation).external_id("order-1")).refused(taken(None, Some(id)));
    let (_, payment) = pay(&mut world, pay_checkout(id, bank()));
    world.when(initiate(session).external_id("order-1")).refused(taken(Some(payment), Some(id)));
    let plain = world.payment(initiate(session).external_id("order-2"));
    world.when(start_checkout(installation).external_id("order-2")).refused(taken(Some(plain), None));
}

#[test]
fn saved_cards_are_offered_to_the_customer_of_the_checkout_only() {
    let mut world = shop();
    let own = world.saved_card(7, "a@b.example");
    let others = world.saved_card(8, "c@d.example");
    let owner = world.look_up::<till_domain::records::Cards>(own).customer_id;
    let offered = world.checkout(
        start_checkout(world.first_installation()).offered_to(customer_fields().own(owner).email("new@b.example")),
    );
    let choice = |card_id| CheckoutChoice::SavedCard(CardRef::Own(card_id));
    world.when(pay_checkout(offered, choice(others))).refused(Refusal::CardNotFound);
    let plain = world.checkout(start_checkout(world.first_installation()).customer(customer_fields().own(owner)));
    world.when(pay_checkout(plain, choice(own))).refused(Refusal::CardNotFound);
    let mut saving = pay_checkout(plain, CheckoutChoice::Token(world.token(9, TokenUsage::Multiple)));
    let Command::PayCheckout(command) = &mut saving.command else { panic!("it is one") };
    command.saves_card = true;
    world.when(saving.clone()).refused(Refusal::SavingNotOffered);
    let (_, payment) = pay(&mut world, pay_checkout(offered, choice(own)));
    assert_eq!(world.payment_row(payment).customer_id, Some(owner));
    world.given(result(payment, declined()));
    let Command::PayCheckout(command) = &mut saving.command else { panic!("it is one") };
    command.checkout_id = offered;
    let (_, payment) = pay(&mut world, saving);
    world.given(result(payment, approved_and_captured()));
    assert_eq!(world.cards_of(owner).len(), 2, "the card was saved");
}

#[test]
fn a_removed_customer_is_erased_from_open_checkouts_and_never_made_anew() {
    let mut world = shop();
    let person = customer_fields().known_as("own-8").email("a@b.example").mobile("+66812345678");
    let customer = world.customer(person);
    let installation = world.first_installation();
    let names = [
        customer_fields().own(customer).called("Ada"),
        customer_fields().known_as("own-8").called("Ada"),
        customer_fields().email("a@b.example"),
        customer_fields().email("other@b.example").mobile("+66812345678"),
        customer_fields().own(customer).email("a@b.example").mobile("+66812345678"),
    ];
    let named = names.map(|fields| world.checkout(start_checkout(installation).customer(fields)));
    let mut other = || world.checkout(start_checkout(installation).customer(customer_fields().email("b@b.example")));
    let others = [other(), other()];
    world.given(expire_checkout(named[2]));
    let (_, in_progress) = pay(&mut world, pay_checkout(named[1], bank()));
    let (_, vault) = world.when(remove_contact(customer)).writes_to_the_vault();
    let open = [named[0], named[1], named[3], named[4]];
    assert!(open.into_iter().all(|id| vault.contains(&VaultWrite::ForgetCheckoutKey(id))), "{vault:?}");
    for id in open {
        assert_eq!(world.look_up::<Checkouts>(id).customer, CustomerFields::default());
    }
    world.given(result(in_progress, declined()));
    for id in open {
        let (_, payment) = pay(&mut world, pay_checkout(id, bank()));
        let row = world.payment_row(payment);
        assert_eq!((row.customer_id, row.contact), (None, till_domain::customer::Contact::default()));
    }
    assert_eq!(world.all::<till_domain::records::Customers>(), [], "nobody was made anew");
    for id in others {
        assert_eq!(world.look_up::<Checkouts>(id).customer, customer_fields().email("b@b.example"));
    }
    let gone = start_checkout(world.first_installation()).customer(customer_fields().own(customer));
    world.when(gone).refused(Refusal::CustomerNotFound);
}

#[test]
fn a_customer_of_too_many_open_checkouts_is_not_removed() {
    let mut world = shop();
    let person = customer_fields().email("a@b.example");
    let customer = world.customer(person.clone());
    let installation = world.first_installation();
    let start = || start_checkout(installation).customer(person.clone()).into();
    (0..CHECKOUTS_ERASED_MAX).for_each(|_| world.accepted_without_checks(start()));
    let last = world.checkout(start_checkout(installation).customer(customer_fields().own(customer)));
    let refusal = Refusal::CustomerOfOpenCheckouts { limit: CHECKOUTS_ERASED_MAX };
    world.when(remove_contact(customer)).refused(refusal);
    world.given(expire_checkout(last));
    world.when(remove_contact(customer)).answers(CHANGED);
    let checkouts = world.all::<Checkouts>();
    assert!(checkouts.iter().all(|checkout| checkout.id == last || checkout.customer == CustomerFields::default()));
}

#[test]
fn a_checkout_that_takes_no_new_payment_says_so_whatever_is_replaced() {
    let (mut world, id, session, payment) = in_progress();
    let unknown = raw_id(9, SessionId::from_raw);
    world.when(pay_instead(id, bank(), unknown)).refused(Refusal::ReplacedSessionNotFound);
    world.given(result(payment, challenge_required()));
    world.given(expire_checkout(id));
    let refusal = |status| Refusal::CheckoutState { status };
    for replaced in [session, unknown] {
        world.when(pay_instead(id, bank(), replaced)).refused(refusal(CheckoutStatus::Open));
    }
    world.given(result(payment, declined()));
    for replaced in [session, unknown] {
        world.when(pay_instead(id, bank(), replaced)).refused(refusal(CheckoutStatus::Expired));
    }
}

#[test]
fn its_customer_is_erased_25_hours_after_its_end() {
    let (mut world, id) = open_with(|start| start.customer(customer_fields().email("a@b.example")));
    world.given(expire_checkout(id));
    world.clock.0 += 25 * 3_600_000 - 1;
    world.when(fire(world.timers())).changes_nothing(UNCHANGED);
    world.clock.0 += 1;
    let (_, vault) = world.when(fire(world.timers())).writes_to_the_vault();
    assert_eq!(vault, [VaultWrite::ForgetCheckoutKey(id)]);
    assert_eq!(world.look_up::<Checkouts>(id).customer, CustomerFields::default());
}

#[test]
fn the_number_of_open_ones_is_limited() {
    let mut world = shop();
    world.state.open_checkouts = OPEN_CHECKOUTS_MAX;
    let ask = start_checkout(world.first_installation()).into();
    world.refused_without_checks(ask, Refusal::TooManyOpenCheckouts { limit: OPEN_CHECKOUTS_MAX });
}

#[test]
fn a_suspended_merchants_checkouts_are_not_paid_but_ended() {
    let (mut world, id) = open();
    world.given(suspend());
    world.when(pay_checkout(id, bank())).refused(Refusal::MerchantSuspended);
    world.when(start_checkout(world.first_installation())).refused(Refusal::MerchantSuspended);
    world.when(expire_checkout(id)).answers(CHANGED);
}

#[test]
fn instalments_are_borne_as_the_checkout_says() {
    let (mut world, id) = open();
    let (session, payment) =
        pay(&mut world, pay_checkout(id, CheckoutChoice::Installment(InstallmentPlan::SandboxThreeMonths)));
    assert_eq!(world.payment_row(payment).session_id, session);
    assert_eq!(world.payment_row(payment).instrument.method(), PaymentMethod::Installment);
}

#[test]
fn lines_are_kept() {
    let line = |name, amount_minor| CheckoutLine { name: Name::new(name).expect("a name"), amount_minor, quantity: 1 };
    let lines = [line("Tea", 12_000), line("Voucher", -2_000)];
    let (world, id) = open_with(|mut start| {
        start.0.lines = lines.to_vec();
        start
    });
    assert_eq!(world.look_up::<Checkouts>(id).lines, lines);
}

#[test]
fn the_page_that_shows_it_is_of_the_installations_web_site() {
    let (mut world, _) = open();
    let installation = world.first_installation();
    let page = |url: &str| start_checkout(installation).page(url);
    let taken = ["https://shop.example", "https://shop.example/pay?a=1", "https://shop.example#pay"].map(&page);
    let foreign = [
        "https://other.example/pay",
        "https://shop.example.evil.example/",
        "https://shop.example@evil.example/",
        "https://shop.example:8443/",
        "http://shop.example/",
    ];
    let foreign = foreign.map(&page);
    for start in foreign {
        world.when(start).refused(Refusal::PageOfAnotherOrigin);
    }
    for start in taken {
        let id = world.checkout(start.clone());
        assert_eq!(world.look_up::<Checkouts>(id).page_url, start.0.page_url);
    }
}

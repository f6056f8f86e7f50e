//! A card that is entered at the acquirer's page: what the acquirer is told of the customer, what it tells of the card,
//! and when it is asked again.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use till_actors::CallTimes;
use till_actors::acquirer::{
    Acquirer, AcquirerAnswer, AcquirerCall, ApprovedAuthorization, CallAnswer, CallDone, Instrument, LookedUp,
    Preparation, Prepared,
};
use till_domain::acquirer::CardEntry;
use till_domain::card::{CardAtAcquirer, CardExpiry, CardScheme};
use till_domain::checkout::{CHECKOUT_LIFETIME_MAX_SECONDS, Locale};
use till_domain::command::{
    AcquirerChange, Caller, CheckoutChoice, Command, PayCheckout, PublicAddress, RequiredAction, SelectPaymentMethod,
    Selection, StartCheckout, UpdateAcquirer,
};
use till_domain::customer::CustomerFields;
use till_domain::customer_action::CustomerStep;
use till_domain::event::Answer;
use till_domain::ids::AcquirerId;
use till_domain::merchant::{Integration, PaymentMethod};
use till_domain::payment::PaymentStatus;
use till_domain::session::InterestBearer;
use till_domain::text::{ActionAddress, QrText, ReturnUrl};

use crate::acquirer::PAGES;
use crate::shop::{InitiateRequest, PRICE_MINOR, SUPPORT_EMAIL, TestShop, by, initiate, person, thb};
use crate::world::{EngineWorld, Settings, done, eventually};

/// An acquirer that asks every customer to act, and decides when the test pays.
#[derive(Clone, Default)]
pub(crate) struct PlayedPages(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    /// The language and the e-mail address of each authorization that was prepared.
    told: Vec<(Option<Locale>, Option<String>)>,
    is_paid: bool,
    look_ups: usize,
}

impl PlayedPages {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().expect("no test panics with the pages in hand")
    }

    fn told(&self) -> Vec<(Option<Locale>, Option<String>)> {
        self.pages().told.clone()
    }

    fn look_ups(&self) -> usize {
        self.pages().look_ups
    }

    fn pay(&self) {
        self.pages().is_paid = true;
    }
}

fn asks(call: &AcquirerCall) -> CallAnswer {
    let is_page = matches!(
        call,
        AcquirerCall::Authorize(request) if matches!(request.instrument, Some(Instrument::AcquirerPage { .. }))
    );
    let step = if is_page {
        CustomerStep::Redirect(ActionAddress::from_stored(format!("{PAGES}cs_1")))
    } else {
        CustomerStep::DisplayQr(QrText::from_stored("000201".to_owned()))
    };
    CallAnswer::NeedsAction(RequiredAction { step, authenticates: false, lifetime_seconds: 1_800 })
}

fn approves() -> CallAnswer {
    let expiry = CardExpiry { year: 2049, month: 12 };
    CallAnswer::Done(CallDone::Approved(ApprovedAuthorization {
        acquirer_reference: "pi_1".to_owned(),
        captured: true,
        settles_at_once: false,
        is_disputed: false,
        authentication: None,
        capture_before: None,
        card: Some(CardAtAcquirer { scheme: CardScheme::Visa, last_digits: "4242".to_owned(), expiry }),
    }))
}

impl Acquirer for PlayedPages {
    fn prepare(&self, call: &AcquirerCall) -> AcquirerAnswer<'_, Prepared> {
        let AcquirerCall::Authorize(request) = call else { panic!("only authorizations are prepared: {call:?}") };
        let locale = match request.instrument {
            Some(Instrument::AcquirerPage { locale }) => locale,
            _ => None,
        };
        self.pages().told.push((locale, request.email.as_ref().map(|email| email.as_str().to_owned())));
        let page = Some(ActionAddress::from_stored(format!("{PAGES}cs_1")));
        let ready =
            Prepared::Ready(Preparation { payment_id: request.payment, acquirer_reference: "cs_1".to_owned(), page });
        Box::pin(async { Ok(ready) })
    }

    fn act(&self, call: AcquirerCall) -> AcquirerAnswer<'_, CallAnswer> {
        Box::pin(async move { Ok(asks(&call)) })
    }

    fn look_up(&self, call: &AcquirerCall) -> AcquirerAnswer<'_, LookedUp> {
        let mut pages = self.pages();
        pages.look_ups += 1;
        let answer = if pages.is_paid { approves() } else { asks(call) };
        Box::pin(async { Ok(LookedUp::Found(answer)) })
    }
}

impl EngineWorld {
    /// A merchant whose cards are entered at the acquirer's page. Nothing is looked up by itself.
    async fn with_page(between_look_ups: Duration) -> (EngineWorld, TestShop, AcquirerId, PlayedPages) {
        let hours = Duration::from_secs(36_000);
        let call_times = CallTimes { between_look_ups, customer_asked_again: hours, ..CallTimes::default() };
        let world = EngineWorld::start_with(Settings { call_times, ..Settings::default() });
        let shop = world.open_shop().await;
        let (acquirer_id, pages) = (world.open_account(&shop).await, world.connector.play_pages());
        let update = UpdateAcquirer {
            acquirer_id,
            name: None,
            known: None,
            card_entry: Some(CardEntry::Page),
            has_webhook_secret: false,
        };
        world.change_account(&shop, AcquirerChange::Update(update), None).await;
        (world, shop, acquirer_id, pages)
    }

    async fn pay_by(
        &self,
        shop: &TestShop,
        selection: Selection,
        words: impl FnOnce(InitiateRequest) -> InitiateRequest,
    ) -> Answer {
        let command = SelectPaymentMethod { money: thb(PRICE_MINOR), selection, customer: CustomerFields::default() };
        let request = by(Caller::Sdk(shop.installation_id), Command::SelectPaymentMethod(command));
        let Answer::Session(session) = done(self.submit(shop.merchant_id, request).await) else {
            panic!("no session was made")
        };
        done(self.submit(shop.merchant_id, words(initiate(session)).by(shop)).await)
    }

    /// A payment whose customer is on the page.
    async fn asked_at_page(&self, shop: &TestShop) -> Answer {
        let payment = self.pay_by(shop, Selection::UnnamedCard, |words| words).await;
        eventually("the customer is asked", || self.payment(shop, payment).open_action_until().is_some()).await;
        payment
    }

    fn comes_back(&self, shop: &TestShop, payment: Answer) {
        let Answer::Payment(id) = payment else { panic!("{payment:?} is no payment") };
        self.engine.look_up_authorization(shop.merchant_id, id);
    }
}

#[actix_rt::test]
async fn the_page_has_the_language_of_the_checkout_and_the_address_of_its_customer() {
    let (world, shop, _, pages) = EngineWorld::with_page(Duration::ZERO).await;
    let start = StartCheckout {
        installation_id: shop.installation_id,
        external_id: None,
        money: thb(PRICE_MINOR),
        lines: Vec::new(),
        capture: true,
        methods: Vec::new(),
        interest_bearer: InterestBearer::Customer,
        locale: Some(Locale::Thai),
        return_url: ReturnUrl::new("https://shop.example/return").expect("a URL of proper form"),
        cancel_url: None,
        page_url: None,
        customer: person("ada@shop.example"),
        offers_saved_cards: false,
        lifetime_seconds: CHECKOUT_LIFETIME_MAX_SECONDS,
    };
    let start = by(Caller::ApiKey(shop.key_id), Command::StartCheckout(start));
    let Answer::Checkout(checkout_id) = done(world.submit(shop.merchant_id, start).await) else {
        panic!("no checkout was started")
    };
    let pay = PayCheckout { checkout_id, choice: CheckoutChoice::AcquirerPage, saves_card: false, replaces: None };
    let pay = by(Caller::Sdk(shop.installation_id), Command::PayCheckout(pay));
    done(world.submit(shop.merchant_id, pay).await);
    let ada = Some("ada@shop.example".to_owned());
    eventually("it is prepared", || pages.told() == [(Some(Locale::Thai), ada.clone())]).await;
    world.asked_at_page(&shop).await;
    assert_eq!(pages.told().last(), Some(&(None, None)), "a payment without checkout and customer");
}

#[actix_rt::test]
async fn promptpay_without_a_customers_address_has_the_merchants() {
    let (world, shop, acquirer_id, pages) = EngineWorld::with_page(Duration::ZERO).await;
    let integration = Integration { authorizes_without_capture: false, ..Integration::initial() };
    let account = Some((acquirer_id, PublicAddress::Https));
    let configure = Command::ConfigurePaymentMethod(PaymentMethod::PromptPay, integration, account);
    done(world.submit(shop.merchant_id, by(Caller::Operator, configure)).await);
    world.pay_by(&shop, Selection::PromptPay, |words| words).await;
    eventually("it is prepared", || pages.told() == [(None, Some(SUPPORT_EMAIL.to_owned()))]).await;
    world.pay_by(&shop, Selection::PromptPay, |words| words.email("ada@shop.example")).await;
    eventually("it is prepared", || pages.told().len() == 2).await;
    assert_eq!(pages.told()[1].1.as_deref(), Some("ada@shop.example"));
}

#[actix_rt::test]
async fn a_customer_who_comes_back_is_asked_for_at_once() {
    let (world, shop, _, pages) = EngineWorld::with_page(Duration::ZERO).await;
    let payment = world.asked_at_page(&shop).await;
    pages.pay();
    assert_eq!(pages.look_ups(), 0, "the acquirer has not been asked since");
    world.comes_back(&shop, payment);
    let paid = world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    assert_eq!(paid.instrument.display_name(), "Visa 4242", "the acquirer has told the card");
    assert_eq!(pages.look_ups(), 1);
    world.comes_back(&shop, payment);
    world.asked_at_page(&shop).await;
    assert_eq!(pages.look_ups(), 1, "a payment that has ended is not asked for");
}

#[actix_rt::test]
async fn a_customer_who_comes_back_again_and_again_is_asked_for_once_in_a_while() {
    let (world, shop, _, pages) = EngineWorld::with_page(Duration::from_secs(600)).await;
    let payment = world.asked_at_page(&shop).await;
    world.comes_back(&shop, payment);
    eventually("it is looked up", || pages.look_ups() == 1).await;
    (0..5).for_each(|_| world.comes_back(&shop, payment));
    world.asked_at_page(&shop).await;
    assert_eq!(pages.look_ups(), 1, "the time is not over");
    world.clock.pass_seconds(600);
    eventually("it is looked up", || pages.look_ups() == 2).await;
    world.asked_at_page(&shop).await;
    assert_eq!(pages.look_ups(), 2, "once");
}

//! A shop with an account at the fake, and its payments.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use till_actors::acquirer::{
    Acquirer, AcquirerCall, AcquirerUnavailable, AuthorizeRequest, CallAnswer, CallDone, CancelRequest, Connector,
    FollowUpRequest, Instrument, LookedUp, NamedCall, PaymentStep, Preparation, Prepared, ReturnPath,
    UnansweredOutcome,
};
use till_actors::security_codes::SecurityCode;
use till_domain::acquirer::{AcquirerAccount, CardEntry};
use till_domain::address_secret::AddressSecret;
use till_domain::card::CardExpiry;
use till_domain::checkout::Locale;
use till_domain::command::RequiredAction;
use till_domain::customer_action::CustomerStep;
use till_domain::failure::FailureCode;
use till_domain::ids::{AcquirerId, MerchantId, PaymentId, RefundId, SessionId};
use till_domain::money::{AmountMinor, Money};
use till_domain::payment::CaptureMode;
use till_domain::text::{Email, ExternalId, Name};
use till_domain::time::Millis;
use till_storage::vault::CardNumber;
use till_stripe::StripeConnector;
use zeroize::Zeroizing;

use crate::fake::Fake;

pub(crate) const GOOD_CARD: &str = "4242424242424242";
pub(crate) const CHALLENGED_CARD: &str = "4000002500003155";
pub(crate) const PUBLIC_URL: &str = "https://till.example";
pub(crate) const MERCHANT: MerchantId = MerchantId::from_bytes([1; 16]);
/// The amount of a payment.
pub(crate) const MINOR: u64 = 20_000;
/// The attempts at a call that must end.
const ATTEMPTS_MAX: usize = 200;

pub(crate) struct Shop {
    pub(crate) fake: Fake,
    pub(crate) stripe: Arc<dyn Acquirer>,
    pub(crate) secret: Zeroizing<String>,
    pub(crate) account: String,
    next: Cell<u32>,
}

/// The means of a payment.
#[derive(Clone, Copy)]
pub(crate) enum Means {
    Page,
    Number(&'static str),
    PromptPay,
}

pub(crate) struct Payment {
    pub(crate) id: PaymentId,
    pub(crate) means: Means,
    pub(crate) capture: CaptureMode,
    pub(crate) minor: u64,
    pub(crate) email: &'static str,
    pub(crate) created_at: Millis,
    pub(crate) prepared: Option<Preparation>,
}

impl Shop {
    /// A shop with a live account.
    pub(crate) fn open() -> Shop {
        Shop::with(json!({}))
    }

    /// A shop with an account of these settings.
    pub(crate) fn with(mut settings: Value) -> Shop {
        let fake = Fake::start();
        settings["rate_per_second"] = json!(100_000);
        let registered = fake.control("POST", "accounts", &settings);
        let secret = Zeroizing::new(registered["secret"].as_str().expect("a secret").to_owned());
        let stripe = account_at(&fake.url(), &secret);
        let account = registered["account"].as_str().expect("an id").to_owned();
        Shop { fake, stripe, secret, account, next: Cell::new(1) }
    }

    pub(crate) fn number(&self) -> u32 {
        self.next.replace(self.next.get() + 1)
    }

    pub(crate) fn payment(&self, means: Means) -> Payment {
        let mut bytes = [7; 16];
        bytes[12..].copy_from_slice(&self.number().to_be_bytes());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        Payment {
            id: PaymentId::from_bytes(bytes),
            means,
            capture: CaptureMode::Automatic,
            minor: MINOR,
            email: "ada@shop.example",
            created_at: Millis(0).plus_seconds(now),
            prepared: None,
        }
    }

    pub(crate) fn held(&self, means: Means) -> Payment {
        Payment { capture: CaptureMode::Manual, ..self.payment(means) }
    }

    /// The answer to one request to prepare.
    pub(crate) async fn prepare(&self, payment: &Payment) -> Result<Prepared, AcquirerUnavailable> {
        self.stripe.prepare(&payment.authorize()).await
    }

    /// A payment that is prepared.
    pub(crate) async fn prepared(&self, mut payment: Payment) -> Payment {
        match self.prepare(&payment).await {
            Ok(Prepared::Ready(preparation)) => payment.prepared = Some(preparation),
            other => panic!("{other:?}"),
        }
        payment
    }

    pub(crate) async fn act(&self, call: AcquirerCall) -> CallAnswer {
        self.stripe.act(call).await.unwrap_or_else(|error| panic!("{error:?}"))
    }

    pub(crate) async fn outcome(&self, call: AcquirerCall) -> UnansweredOutcome {
        match self.stripe.act(call).await {
            Ok(answer) => panic!("{answer:?}"),
            Err(error) => error.outcome,
        }
    }

    pub(crate) async fn look_up(&self, call: &AcquirerCall) -> LookedUp {
        self.stripe.look_up(call).await.unwrap_or_else(|error| panic!("{error:?}"))
    }

    pub(crate) async fn found(&self, call: &AcquirerCall) -> CallAnswer {
        match self.look_up(call).await {
            LookedUp::Found(answer) => answer,
            LookedUp::NotDone => panic!("not done"),
        }
    }

    /// A payment by a card's number that is paid or held, and Stripe's id of it.
    pub(crate) async fn paid(&self, payment: Payment) -> (Payment, String) {
        let payment = self.prepared(payment).await;
        let reference = own_reference(self.act(payment.authorize()).await);
        (payment, reference)
    }

    /// Carries a call out that was made before, as Till does: every repetition looks up first.
    pub(crate) async fn carry_out(&self, call: impl Fn() -> AcquirerCall) -> CallAnswer {
        for _ in 0..ATTEMPTS_MAX {
            match self.stripe.look_up(&call()).await {
                Ok(LookedUp::Found(answer)) => return answer,
                Ok(LookedUp::NotDone) => {}
                Err(_) => continue,
            }
            if let Ok(answer) = self.stripe.act(call()).await {
                return answer;
            }
        }
        panic!("it does not end");
    }

    /// Prepares a payment as Till does: again, until there is an answer.
    pub(crate) async fn prepare_surely(&self, mut payment: Payment) -> Payment {
        for _ in 0..ATTEMPTS_MAX {
            match self.prepare(&payment).await {
                Ok(Prepared::Ready(preparation)) => {
                    payment.prepared = Some(preparation);
                    return payment;
                }
                Ok(other) => panic!("{other:?}"),
                Err(_) => {}
            }
        }
        panic!("it does not end");
    }

    pub(crate) fn refund_step(&self) -> PaymentStep {
        let mut bytes = [9; 16];
        bytes[12..].copy_from_slice(&self.number().to_be_bytes());
        PaymentStep::Refund(RefundId::from_bytes(bytes))
    }

    /// Ends a refund that waits.
    pub(crate) fn end_refund(&self, reference: NamedCall, status: &str) {
        let refunds = self.fake.ask("refunds");
        let refund = refunds.iter().find(|refund| refund["reference"] == reference.to_string()).expect("it is there");
        let id = refund["id"].as_str().expect("an id");
        self.fake.control("POST", &format!("refunds/{id}/end"), &json!({ "status": status }));
    }

    /// The number of charges and refunds.
    pub(crate) fn moved(&self) -> Moved {
        let charges = self.fake.ask("charges");
        let refunds = self.fake.ask("refunds");
        let ours = refunds.iter().filter(|refund| !refund["reference"].is_null());
        Moved { charges: charges.len(), refunds: ours.count() }
    }
}

/// The number of charges that moved or hold money, and of refunds that Till made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) charges: usize,
    pub(crate) refunds: usize,
}

impl Payment {
    pub(crate) fn authorize(&self) -> AcquirerCall {
        AcquirerCall::Authorize(AuthorizeRequest {
            reference: NamedCall::first(self.id, PaymentStep::Authorize),
            merchant: MERCHANT,
            payment: self.id,
            money: thb(self.minor),
            instrument: Some(self.means.instrument()),
            capture: self.capture,
            return_path: self.return_path(),
            description: Some(ExternalId::new("order 7").expect("an id")),
            email: Some(Email::new(self.email).expect("an address")),
            created_at: self.created_at,
            prepared: self.prepared.clone(),
        })
    }

    pub(crate) fn return_path(&self) -> ReturnPath {
        let secret = AddressSecret::from_bytes([5; 16]);
        ReturnPath { merchant: MERCHANT, session: SessionId::from_bytes([3; 16]), secret }
    }

    pub(crate) fn cancel(&self, deadline_passed: bool) -> AcquirerCall {
        AcquirerCall::Cancel(CancelRequest {
            reference: NamedCall::first(self.id, PaymentStep::Cancel),
            merchant: MERCHANT,
            payment: self.id,
            money: thb(self.minor),
            deadline_passed,
            prepared: self.prepared.clone(),
        })
    }

    pub(crate) fn follow_up(&self, step: PaymentStep, own: &str, minor: u64) -> FollowUpRequest {
        FollowUpRequest {
            reference: NamedCall::first(self.id, step),
            acquirer_reference: own.to_owned(),
            merchant: MERCHANT,
            payment: self.id,
            money: thb(minor),
        }
    }

    pub(crate) fn capture(&self, own: &str, minor: u64) -> AcquirerCall {
        AcquirerCall::Capture(self.follow_up(PaymentStep::Capture, own, minor))
    }

    pub(crate) fn void(&self, own: &str) -> AcquirerCall {
        AcquirerCall::Void(self.follow_up(PaymentStep::Void, own, self.minor))
    }

    pub(crate) fn refund(&self, step: PaymentStep, own: &str, minor: u64) -> AcquirerCall {
        AcquirerCall::Refund(self.follow_up(step, own, minor))
    }

    /// Stripe's id of what was made ready.
    pub(crate) fn object(&self) -> &str {
        &self.prepared.as_ref().expect("it is prepared").acquirer_reference
    }

    /// The address of the card page.
    pub(crate) fn page(&self) -> &str {
        self.prepared.as_ref().and_then(|prepared| prepared.page.as_ref()).expect("it has a page").as_str()
    }
}

impl Means {
    pub(crate) fn instrument(self) -> Instrument {
        match self {
            Means::Page => Instrument::AcquirerPage { locale: Some(Locale::Thai) },
            Means::PromptPay => Instrument::PromptPay,
            Means::Number(digits) => Instrument::Card {
                number: CardNumber::parse(digits).expect("a card number"),
                expiry: CardExpiry { year: 2040, month: 12 },
                security_code: Some(SecurityCode::parse("123").expect("a security code")),
                is_saved: false,
            },
        }
    }
}

pub(crate) fn connector_to(url: &str) -> StripeConnector {
    StripeConnector::new(url, Some(PUBLIC_URL)).expect("a URL")
}

pub(crate) fn account_at(url: &str, secret: &str) -> Arc<dyn Acquirer> {
    let mode = till_stripe::NAME.offer().mode_of_secret(secret).expect("a secret");
    let account = AcquirerAccount {
        id: AcquirerId::from_bytes([9; 16]),
        acquirer: till_stripe::NAME,
        name: Name::new("Shop").expect("a name"),
        mode,
        account: None,
        card_entry: CardEntry::Page,
        secret_hint: String::new(),
        has_webhook_secret: false,
        created_at: Millis(0),
    };
    connector_to(url).open(&account, Zeroizing::new(secret.to_owned()))
}

pub(crate) fn thb(minor: u64) -> Money {
    Money { amount: AmountMinor::new(minor).expect("an amount"), currency: "THB".parse().expect("a currency") }
}

pub(crate) fn own_reference(answer: CallAnswer) -> String {
    match answer {
        CallAnswer::Done(CallDone::Approved(approved)) => approved.acquirer_reference,
        other => panic!("{other:?}"),
    }
}

/// Stripe's id of the money that moved.
pub(crate) fn moved_reference(answer: CallAnswer) -> String {
    match answer {
        CallAnswer::Done(CallDone::Moved(moved)) => moved.acquirer_reference,
        other => panic!("{other:?}"),
    }
}

/// The code of a decline.
pub(crate) fn declined_by(answer: &CallAnswer) -> FailureCode {
    match answer {
        CallAnswer::Declined { failure, .. } => failure.code,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn required(answer: CallAnswer) -> RequiredAction {
    match answer {
        CallAnswer::NeedsAction(required) => required,
        other => panic!("{other:?}"),
    }
}

/// The address to which the customer is sent.
pub(crate) fn address(required: &RequiredAction) -> &str {
    match &required.step {
        CustomerStep::Redirect(address) => address.as_str(),
        CustomerStep::AcquirerPage | CustomerStep::DisplayQr(_) => panic!("{required:?}"),
    }
}

//! A merchant with an account at the fake of Stripe.

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

use super::fake::StripeFake;
use crate::harness::{ApiAnswer, PATIENCE, RawAnswer, Server, Shop, Start, Wire, first_answer, merged, run_command};

/// The address under which customers reach the server, as far as the acquirer knows. Real money needs https.
pub(crate) const PUBLIC_URL: &str = "https://till.example";
/// The secret of the account's notices.
pub(crate) const OF_NOTICES: &str = "whsec_EXAMPLE0000000000000000";
/// Times of calls are divided by this, so that no test waits for a minute.
pub(crate) const DIVISOR: u64 = 20;
/// A limit that no test reaches.
const CALLS_PER_SECOND: u64 = 100_000;

/// A server, a fake, and a merchant with a live account at it.
pub(crate) struct AtStripe {
    pub(crate) fake: StripeFake,
    pub(crate) server: Server,
    pub(crate) account: Account,
}

/// A merchant with an account.
#[derive(Clone)]
pub(crate) struct Account {
    pub(crate) shop: Shop,
    /// The account's id in Till.
    pub(crate) acquirer_id: String,
    /// Its id at the fake.
    pub(crate) name: String,
    pub(crate) secret: String,
}

/// The settings of a server that calls this fake, with the times of calls divided by this.
pub(crate) fn start(fake: &StripeFake, divisor: u64) -> Start {
    Start::default()
        .with("TILL_STRIPE_URL", &fake.url())
        .with("TILL_PUBLIC_URL", PUBLIC_URL)
        .with("TILL_ACQUIRER_TIMES_DIVIDED_BY", &divisor.to_string())
}

impl AtStripe {
    /// An account that takes card numbers.
    pub(crate) fn by_number() -> AtStripe {
        AtStripe::with(|start| start, "NUMBER")
    }

    /// An account whose cards are entered in this way, at a server with these settings.
    pub(crate) fn with(settings: impl FnOnce(Start) -> Start, card_entry: &str) -> AtStripe {
        let fake = StripeFake::start();
        let server = settings(start(&fake, DIVISOR)).server();
        let account = Account::open(&server, &fake, card_entry, &json!({}));
        AtStripe { fake, server, account }
    }
}

impl Account {
    /// A new merchant in THB, whose cards and PromptPay codes go to an account with these settings at the fake.
    pub(crate) fn open(server: &Server, fake: &StripeFake, card_entry: &str, settings: &Value) -> Account {
        let settings = merged(&json!({ "rate_per_second": CALLS_PER_SECOND }), settings);
        let made = fake.control("POST", "accounts", &settings);
        let merchant = json!({ "name": "Shop", "currency": "THB", "support_email": "help@shop.example" });
        let shop = server.shop_with(merchant);
        let text = |name: &str| made[name].as_str().expect("a text").to_owned();
        let (name, secret) = (text("account"), text("secret"));
        let acquirer_id = added(server, &shop, &secret, &json!({ "card_entry": card_entry })).id();
        let account = Account { shop, acquirer_id, name, secret };
        account.configure(server, "CARD", &json!({})).ok();
        account
    }

    /// Configures a payment method to the account.
    pub(crate) fn configure(&self, server: &Server, method: &str, more: &Value) -> ApiAnswer {
        server.configure(&self.shop, method, &merged(&json!({ "acquirer": self.acquirer_id }), more))
    }

    /// The same merchant on a restarted server.
    #[must_use]
    pub(crate) fn on(&self, server: &Server) -> Account {
        Account { shop: self.shop.on(server), ..self.clone() }
    }

    /// Initiates a payment by a card's number.
    pub(crate) fn begin(&self, number: &str, minor: u64, more: &Value) -> String {
        self.shop.initiate(&self.shop.session_of(number, minor), minor, more).id()
    }

    /// A payment by a card's number, once it is not pending any more.
    pub(crate) fn pay(&self, number: &str, minor: u64, more: &Value) -> Value {
        self.shop.settled(&self.begin(number, minor, more))
    }

    /// Makes a call about a payment, and waits until the acquirer has answered.
    #[track_caller]
    pub(crate) fn operate(&self, endpoint: &str, payment: &Value, more: &Value) -> Value {
        let named = json!({ "payment_id": payment["payment_id"] });
        self.shop.call(endpoint, &merged(&named, more)).ok();
        let id = payment["payment_id"].as_str().expect("an id");
        first_answer(PATIENCE, "still open", || self.shop.payment(id), |now| now["operation"].is_null())
    }

    /// A refund, once the acquirer has answered.
    pub(crate) fn refund(&self, payment: &Value, minor: u64) -> Value {
        let body = json!({ "payment_id": payment["payment_id"], "amount": minor });
        self.refunded(&self.shop.call("refund-payment", &body).id())
    }

    /// The refund once the acquirer has answered.
    pub(crate) fn refunded(&self, refund_id: &str) -> Value {
        let find = || self.shop.call("find-refund", &json!({ "refund_id": refund_id })).ok();
        first_answer(PATIENCE, "still pending", find, |refund| refund["status"] != "PENDING")
    }

    /// What `till reconcile` finds from yesterday to today. It ends with 1 when there are differences.
    #[track_caller]
    pub(crate) fn reconciled(&self, server: &Server) -> Value {
        let today = Timestamp::now();
        let yesterday = today.checked_sub(24.hours()).expect("there is a day before");
        let [from, to] = [yesterday, today].map(|instant| instant.strftime("%Y-%m-%d").to_string());
        let account = ["--merchant-id", self.shop.merchant_id.as_str(), "--acquirer-id", self.acquirer_id.as_str()];
        let arguments = [&["reconcile"], &account[..], &["--from", &from, "--to", &to]].concat();
        let (code, output, errors) = run_command(server.command(), &arguments);
        let found: Value = serde_json::from_str(&output).unwrap_or_else(|_| panic!("no JSON: {output}{errors}"));
        assert_eq!(code, Some(i32::from(found["count"] != 0)), "{found}{errors}");
        found
    }

    /// The address, or the text of the code, that the customer of a payment is shown.
    pub(crate) fn asked(&self, payment_id: &str) -> String {
        let find = || self.shop.payment(payment_id);
        let payment = first_answer(PATIENCE, "nothing is asked", find, |payment| !payment["next_action"].is_null());
        let next = &payment["next_action"];
        let step = next["redirect_url"].as_str().or(next["qr_data"].as_str());
        step.unwrap_or_else(|| panic!("nothing to follow: {payment}")).to_owned()
    }
}

/// Adds an account by its secret.
pub(crate) fn added(server: &Server, shop: &Shop, secret: &str, more: &Value) -> ApiAnswer {
    let body = json!({
        "merchant_id": shop.merchant_id, "acquirer": "stripe", "name": "Bangkok", "secret": secret,
        "webhook_secret": OF_NOTICES,
    });
    server.admin("add-acquirer", &merged(&body, more))
}

/// Follows an acquirer's page back to the server. Its answer has status 0 when it does not listen any more.
#[track_caller]
pub(crate) fn come_back(server: &Server, page: &RawAnswer) -> RawAnswer {
    let location = page.header("location").unwrap_or_else(|| panic!("it leads nowhere: {page:?}"));
    let path = location.strip_prefix(PUBLIC_URL).unwrap_or_else(|| panic!("it leads elsewhere: {location}"));
    Wire::to(server).attempt("GET", path, &[], b"")
}

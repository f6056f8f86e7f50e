//! Cards that are entered at the acquirer's page, as far as no acquirer is asked: contract, sections 9.1 and 20.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, CARD, Server, Shop, Start, merged, thb};

const MINOR: u64 = 12_500;

/// A shop with a token of several uses and a saved card of `ada`, whose cards are entered at a page from now on. Nobody
/// listens where its acquirer is.
struct Moved {
    server: Server,
    shop: Shop,
    account: String,
    token: String,
    card_id: String,
    sessions: [String; 2],
}

impl Moved {
    fn start() -> Moved {
        let start = Start::default().with("TILL_PUBLIC_URL", "https://till.example");
        let server = start.with("TILL_STRIPE_URL", "http://127.0.0.1:1").server();
        let shop = server.shop_with(json!({ "name": "Shop", "currency": "THB" }));
        let (_, card_id) = shop.saved_card(&json!({ "customer_id": "ada" }));
        let token = shop.token_of(CARD, "MULTIPLE");
        let sessions = [shop.session(MINOR), shop.saved_card_session(&card_id, MINOR)];
        let added = json!({
            "merchant_id": shop.merchant_id, "acquirer": "stripe", "name": "Bangkok", "unchecked": true,
            "secret": "sk_test_EXAMPLE000000000000001234",
        });
        let account = server.admin("add-acquirer", &added).id();
        assert_eq!(server.configure(&shop, "CARD", &json!({ "acquirer": account })).ok(), true);
        Moved { server, shop, account, token, card_id, sessions }
    }

    /// Cards are entered there from now on.
    fn enter_at(&self, card_entry: &str) {
        let body = json!({
            "merchant_id": self.shop.merchant_id, "acquirer_id": self.account, "card_entry": card_entry,
        });
        assert_eq!(self.server.admin("update-acquirer", &body).ok(), true);
    }

    fn select(&self, more: &Value) -> ApiAnswer {
        let body = merged(&thb(MINOR), &json!({ "payment_method": "CARD" }));
        self.shop.sdk("select-payment-method", &merged(&body, more))
    }
}

/// The method and the place where a card is entered, of all offered methods.
fn entries(answer: &Value) -> Vec<Value> {
    let methods = answer["payment_methods"].as_array().expect("an array");
    methods.iter().map(|method| json!([method["name"], method["card_entry"]])).collect()
}

#[test]
fn forms_are_told_where_a_card_is_entered() {
    let moved = Moved::start();
    let settings = || entries(&moved.shop.sdk("retrieve-installation-settings", &json!({})).ok());
    let more = json!({ "customer_id": "ada", "offer_saved_cards": true });
    let address = moved.shop.start_checkout(MINOR, &more);
    let checkout = address.rsplit('/').next().expect("a segment");
    let offered = || moved.shop.sdk("retrieve-checkout", &json!({ "checkout_id": checkout })).ok();
    assert_eq!(settings(), [json!(["CARD", "PAGE"]), json!(["INSTALLMENT", null])]);
    assert_eq!((entries(&offered()), &offered()["saved_cards"]), (settings(), &json!([])));
    moved.enter_at("NUMBER");
    assert_eq!(settings()[0], json!(["CARD", "FORM"]));
    assert_eq!(entries(&offered()), settings());
    assert_eq!(offered()["saved_cards"][0]["card_id"], moved.card_id);
}

#[test]
fn a_card_that_is_given_is_not_supported() {
    let moved = Moved::start();
    let (shop, token, card_id) = (&moved.shop, &moved.token, &moved.card_id);
    let card = json!({ "number": CARD, "name": "Ada", "expiration_date": "12/49", "security_code": "123" });
    shop.sdk("tokenize-card", &card).refused("NOT_SUPPORTED");
    for named in [json!({ "token": token }), json!({ "card_id": card_id })] {
        moved.select(&named).refused("NOT_SUPPORTED");
    }
    for session in &moved.sessions {
        shop.initiate(session, MINOR, &json!({ "customer_id": "ada" })).refused("NOT_SUPPORTED");
        assert_eq!(shop.payment_session(session)["status"], "ACTIVE");
    }
    let session = moved.select(&json!({})).id();
    shop.initiate(&session, MINOR, &json!({ "card_id": card_id })).refused("NOT_SUPPORTED");
    let checkout = shop.start_checkout(MINOR, &json!({ "customer_id": "ada", "offer_saved_cards": true }));
    let checkout = json!({ "checkout_id": checkout.rsplit('/').next(), "payment_method": "CARD" });
    for named in [json!({ "token": token }), json!({ "card_id": card_id })] {
        shop.sdk("pay-checkout", &merged(&checkout, &named)).refused("NOT_SUPPORTED");
    }
}

#[test]
fn a_card_that_is_entered_at_the_page_is_not_named_and_not_known_yet() {
    let moved = Moved::start();
    let shop = &moved.shop;
    let session = moved.select(&json!({})).id();
    let paid = shop.payment(&shop.initiate(&session, MINOR, &json!({})).id());
    assert_eq!((&paid["status"], &paid["card"], &paid["customer_id"]), (&json!("PENDING"), &Value::Null, &Value::Null));
    assert_eq!((&paid["payment_method"], &paid["payment_method_display_name"]), (&json!("CARD"), &json!("Card")));
    assert_eq!((&paid["acquirer"], &paid["acquirer_id"]), (&json!("stripe"), &json!(moved.account)));
    let checkout = shop.start_checkout(MINOR, &json!({}));
    let pay = json!({ "checkout_id": checkout.rsplit('/').next(), "payment_method": "CARD" });
    let session = shop.sdk("pay-checkout", &pay).id();
    assert_eq!(shop.payment_session(&session)["payment_method_display_name"], "Card");
    moved.enter_at("NUMBER");
    let checkout = shop.start_checkout(MINOR, &json!({}));
    let pay = merged(&pay, &json!({ "checkout_id": checkout.rsplit('/').next() }));
    assert_eq!(shop.sdk("pay-checkout", &pay).faults(), ["missing token"]);
    let session = moved.select(&json!({})).id();
    assert_eq!(shop.initiate(&session, MINOR, &json!({})).faults(), ["missing card_id"]);
}

//! A merchant with everything that it needs for payments.

use serde_json::{Map, Value, json};
use till_domain::card::CardScheme;

use super::client::{ApiAnswer, Client};
use super::server::Server;
use super::waiting::{PATIENCE, first_answer};

/// The card that always succeeds.
pub(crate) const CARD: &str = "4242424242424242";

/// An amount in the currency of the tests, as an argument.
pub(crate) fn thb(minor: u64) -> Value {
    json!({ "amount": minor.to_string(), "currency": "THB" })
}

/// A merchant with an installation, a key and an open balance.
#[derive(Clone)]
pub(crate) struct Shop {
    /// Its id.
    pub(crate) merchant_id: String,
    /// Its installation.
    pub(crate) installation_id: String,
    /// The uid of its key.
    pub(crate) key_id: String,
    /// Its API key.
    pub(crate) key: String,
    client: Client,
}

impl Shop {
    pub(super) fn create(admin: &Client, client: Client, merchant: &Value) -> Shop {
        let call = |endpoint: &str, body: &Value| admin.post(&format!("/admin/{endpoint}"), body);
        let merchant_id = call("create-merchant", merchant).id();
        let installation = json!({
            "merchant_id": merchant_id, "name": "Web shop", "platform": "WEB", "identifier": "https://shop.example",
        });
        let installation_id = call("add-installation", &installation).id();
        let key = call("generate-key", &json!({ "merchant_id": merchant_id, "name": "Server" })).ok();
        call("open-balance", &json!({ "merchant_id": merchant_id })).ok();
        let text = |name: &str| key[name].as_str().expect("a string").to_owned();
        Shop { merchant_id, installation_id, key_id: text("key_id"), key: text("key"), client }
    }

    /// The members by which another process can name the merchant, see [`Shop::known`].
    pub(crate) fn known_as(&self) -> Value {
        let Shop { merchant_id, installation_id, key_id, key, client: _ } = self;
        json!({ "merchant_id": merchant_id, "installation_id": installation_id, "key_id": key_id, "key": key })
    }

    /// A merchant that another process made.
    pub(crate) fn known(server: &Server, known: &Value) -> Shop {
        let text = |name: &str| known[name].as_str().expect("a string").to_owned();
        Shop {
            merchant_id: text("merchant_id"),
            installation_id: text("installation_id"),
            key_id: text("key_id"),
            key: text("key"),
            client: server.client(),
        }
    }

    /// The same merchant on a restarted server.
    #[must_use]
    pub(crate) fn on(&self, server: &Server) -> Shop {
        Shop { client: server.client(), ..self.clone() }
    }

    /// A client with its key.
    pub(crate) fn client(&self) -> Client {
        self.client.clone().bearer(&self.key)
    }

    /// Calls one of the merchants' endpoints with its key.
    pub(crate) fn call(&self, endpoint: &str, body: &Value) -> ApiAnswer {
        self.client().post(&format!("/merchants/{endpoint}"), body)
    }

    /// Calls an SDK endpoint for its installation.
    pub(crate) fn sdk(&self, endpoint: &str, body: &Value) -> ApiAnswer {
        self.client.post(&format!("/sdk/{endpoint}"), &self.named(body))
    }

    /// The body with its merchant and installation.
    pub(crate) fn named(&self, body: &Value) -> Value {
        let named = json!({ "merchant_id": self.merchant_id, "installation_id": self.installation_id });
        merged(&named, body)
    }

    /// A token of a card.
    pub(crate) fn token_of(&self, number: &str, usage: &str) -> String {
        let code = if CardScheme::of_digits(number) == CardScheme::Amex { "1234" } else { "123" };
        let card = json!({
            "number": number, "name": "Ada Example", "expiration_date": "12/49", "security_code": code, "usage": usage,
        });
        self.sdk("tokenize-card", &card).id()
    }

    /// A card session with a fresh SINGLE token of the card that succeeds.
    pub(crate) fn session(&self, minor: u64) -> String {
        self.session_of(CARD, minor)
    }

    /// The same with a token of another card.
    pub(crate) fn session_of(&self, number: &str, minor: u64) -> String {
        let token = self.token_of(number, "SINGLE");
        self.session_with(minor, &json!({ "token": token }))
    }

    /// A card session with the members of `more`.
    pub(crate) fn session_with(&self, minor: u64, more: &Value) -> String {
        let body = merged(&merged(&thb(minor), &json!({ "payment_method": "CARD" })), more);
        self.sdk("select-payment-method", &body).id()
    }

    /// An instalment session.
    pub(crate) fn installment_session(&self, minor: u64, interest_bearer: &str) -> String {
        let more = json!({
            "payment_method": "INSTALLMENT", "installment_plan_id": "sandbox_3_months",
            "interest_bearer": interest_bearer,
        });
        self.session_with(minor, &more)
    }

    /// The arguments of an initiation with all that is required.
    pub(crate) fn initiation(&self, session: &str, minor: u64) -> Value {
        let required = json!({
            "payment_session_id": session, "capture": true, "return_url": "https://shop.example/done",
        });
        merged(&thb(minor), &required)
    }

    /// Initiates with these arguments on top of the required ones.
    pub(crate) fn initiate(&self, session: &str, minor: u64, more: &Value) -> ApiAnswer {
        self.call("initiate-payment-flow", &merged(&self.initiation(session, minor), more))
    }

    /// The arguments of a new checkout: all that is required, and these.
    pub(crate) fn checkout_of(&self, minor: u64, more: &Value) -> Value {
        let required = json!({
            "installation_id": self.installation_id, "return_url": "https://shop.example/done",
        });
        merged(&merged(&thb(minor), &required), more)
    }

    /// Starts such a checkout; returns its address.
    pub(crate) fn start_checkout(&self, minor: u64, more: &Value) -> String {
        self.call("start-checkout", &self.checkout_of(minor, more)).id()
    }

    /// A payment of the card that succeeds, captured.
    pub(crate) fn pay(&self, minor: u64) -> String {
        let payment = self.initiate(&self.session(minor), minor, &json!({})).id();
        self.settled(&payment);
        payment
    }

    /// A payment of the card that succeeds, once it is not pending any more, with these arguments on top of the
    /// required ones.
    pub(crate) fn pay_with(&self, minor: u64, more: &Value) -> Value {
        let payment = self.initiate(&self.session(minor), minor, more).id();
        self.settled(&payment)
    }

    /// A payment of a multi-use token of a card, with these arguments on top of the required ones.
    pub(crate) fn pay_with_token(&self, number: &str, more: &Value) -> Value {
        let token = self.token_of(number, "MULTIPLE");
        let session = self.session_with(100, &json!({ "token": token }));
        self.settled(&self.initiate(&session, 100, more).id())
    }

    /// A card of a customer saved as the default through a payment; returns the customer's and the card's id.
    pub(crate) fn saved_card(&self, customer: &Value) -> (String, String) {
        let paid = self.pay_with_token(CARD, &merged(customer, &json!({ "save_card": "DEFAULT" })));
        let text = |value: &Value| value.as_str().expect("a string").to_owned();
        let customer_id = text(&paid["customer_id"]);
        let card_id = text(&self.contact(&customer_id)["default_card_id"]);
        (customer_id, card_id)
    }

    /// A card session of a saved card.
    pub(crate) fn saved_card_session(&self, card_id: &str, minor: u64) -> String {
        self.session_with(minor, &json!({ "card_id": card_id }))
    }

    /// A user who was invited and has joined.
    pub(crate) fn join(&self, email: &str) -> String {
        let invitation = self.call("invite-user", &json!({ "email": email })).id();
        self.call("accept-invitation", &json!({ "invitation_id": invitation })).id()
    }

    /// A customer.
    pub(crate) fn contact(&self, contact_id: &str) -> Value {
        self.call("find-contact", &json!({ "contact_id": contact_id })).ok()
    }

    /// A payment as it is now.
    pub(crate) fn payment(&self, payment_id: &str) -> Value {
        self.call("find-payment", &json!({ "payment_id": payment_id })).ok()
    }

    /// A session as its client sees it.
    pub(crate) fn payment_session(&self, session: &str) -> Value {
        self.sdk("retrieve-payment-session", &json!({ "payment_session_id": session })).ok()
    }

    /// An object of the package document with these members, and null for every other one that is declared.
    pub(crate) fn declared(&self, object: &str, members: &Value) -> Value {
        self.declared_in("/merchants", object, members)
    }

    /// The same of the package at this path.
    pub(crate) fn declared_in(&self, package: &str, object: &str, members: &Value) -> Value {
        let document = self.client().get(package).ok();
        let objects = document["objects"].as_array().expect("the document declares objects");
        let found = objects.iter().find(|declared| declared["name"] == object).expect("it is declared");
        let attributes = found["attributes"].as_array().expect("an object has attributes").iter();
        let names = attributes.map(|attribute| attribute["name"].as_str().expect("an attribute has a name").to_owned());
        merged(&names.map(|name| (name, Value::Null)).collect::<Map<String, Value>>().into(), members)
    }

    /// The balance.
    pub(crate) fn balance(&self) -> Value {
        self.call("get-balance", &json!({})).ok()
    }

    /// Everything that the merchant can read of itself and of these payments, sessions and customers, for comparisons.
    pub(crate) fn picture(&self, ids: &[&str]) -> Vec<Value> {
        let mut seen = vec![self.balance()];
        seen.extend(self.all("balance-history"));
        seen.extend(self.all("list-activity-logs"));
        seen.extend(ids.iter().map(|id| match id.split('_').next() {
            Some("pse") => self.payment_session(id),
            Some("ctc") => self.contact(id),
            _ => self.payment(id),
        }));
        seen
    }

    /// The payment once it is not pending any more.
    pub(crate) fn settled(&self, payment_id: &str) -> Value {
        first_answer(PATIENCE, "still pending", || self.payment(payment_id), |payment| payment["status"] != "PENDING")
    }

    /// All entries of a list, page by page from the newest.
    pub(crate) fn all(&self, endpoint: &str) -> Vec<Value> {
        self.all_of(endpoint, &json!({}))
    }

    /// All entries of a list that pass these filters.
    pub(crate) fn all_of(&self, endpoint: &str, filters: &Value) -> Vec<Value> {
        let pages = self.follow(endpoint, &merged(&json!({ "per_page": 100 }), filters), "next");
        pages.iter().flat_map(entries_of).cloned().collect()
    }

    /// The pages of a list from `body` on, each requested by the body in `member` of the page before.
    pub(crate) fn follow(&self, endpoint: &str, body: &Value, member: &str) -> Vec<Value> {
        let mut pages = vec![self.call(endpoint, body).ok()];
        while let Some(next) = pages.last().map(|page| page[member].clone()).filter(|next| !next.is_null()) {
            pages.push(self.call(endpoint, &next).ok());
        }
        pages
    }
}

/// The entries of a page.
pub(crate) fn entries_of(page: &Value) -> &Vec<Value> {
    page["page"].as_array().unwrap_or_else(|| panic!("no page: {page}"))
}

/// The members of this name of the entries of a page.
pub(crate) fn ids_of(page: &Value, member: &str) -> Vec<String> {
    entries_of(page).iter().map(|entry| entry[member].as_str().expect("an id").to_owned()).collect()
}

/// A well-formed id of the same kind and time that belongs to no object.
pub(crate) fn id_of_nothing(id: &str) -> String {
    let alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
    let (head, tail) = id.split_at(id.len() - 5);
    let turned = tail.chars().map(|letter| {
        let place = alphabet.find(letter).expect("ids are of this alphabet");
        alphabet.chars().nth((place + 7) % 32).expect("it has 32 letters")
    });
    head.chars().chain(turned).collect()
}

/// An object with the members of both; the second wins.
pub(crate) fn merged(first: &Value, second: &Value) -> Value {
    let members = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let mut all: Map<String, Value> = members(first);
    all.extend(members(second));
    Value::Object(all)
}

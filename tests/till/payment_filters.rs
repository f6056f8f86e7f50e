//! The filters of `list-payments`, alone and together, against the list itself.

use serde_json::{Value, json};

use crate::harness::{PATIENCE, Server, Shop, TestDice, id_of_nothing, merged, wait_until};
use crate::long_lists::{PAYMENTS, read_while_writing};

/// Combinations of filters that are compared.
const COMBINATIONS: usize = 160;
/// Days on which payments are made.
const DAYS: usize = 5;
/// Payments of a day.
const PAYMENTS_A_DAY: usize = 32;
const CONTACTS: [&str; 4] = ["ann", "bob", "cy", "dee"];
const DECLINED: &str = "4000000000000002";
const DISPUTED: &str = "4000000000000259";

/// A merchant that has sold for some days by its test clock.
struct Seller {
    server: Server,
    shop: Shop,
}

impl Seller {
    fn new() -> Seller {
        let server = Server::start();
        let merchant = json!({ "name": "Filters", "currency": "THB", "test_clock": true });
        let shop = server.shop_with(merchant);
        let topup = json!({ "merchant_id": shop.merchant_id, "amount": 10_000_000 });
        server.admin("add-topup", &topup).ok(); // For refunds of captures that have settled.
        Seller { server, shop }
    }

    /// A payment of one of several courses.
    fn sell(&self, number: usize, dice: &mut TestDice) {
        let minor = dice.pick(&[100, 250, 9_900, 7 + u64::try_from(number).expect("small")]);
        let mut more = json!({});
        if dice.in_hundred(60) {
            let external_id = format!("{}-{number}", dice.pick(&["order", "Order", "4242"]));
            more = merged(&more, &json!({ "external_id": external_id }));
        }
        if dice.in_hundred(60) {
            let contact = dice.pick(&CONTACTS);
            let customer = json!({ "customer_id": contact, "customer_email": format!("{contact}@shop.example") });
            more = merged(&more, &customer);
        }
        match dice.between(0, 9) {
            0 | 1 => {
                let session = self.shop.installment_session(minor, "merchant");
                let more = merged(&more, &json!({ "interest_bearer": "merchant" }));
                let payment = self.shop.initiate(&session, minor, &more).id();
                self.shop.settled(&payment);
            }
            2 => self.sell_by_card(DECLINED, minor, &more),
            3 => self.sell_by_card(DISPUTED, minor, &more),
            4 | 5 => self.sell_by_card(CARD_FOR_LATER, minor, &merged(&more, &json!({ "capture": false }))),
            _ => self.sell_by_card(crate::harness::CARD, minor, &more),
        }
    }

    fn sell_by_card(&self, card: &str, minor: u64, more: &Value) {
        let payment = self.shop.initiate(&self.shop.session_of(card, minor), minor, more).id();
        self.shop.settled(&payment);
    }

    /// Captures, voids and refunds some of the payments that are there.
    fn go_on(&self, dice: &mut TestDice) {
        for payment in self.shop.all("list-payments") {
            let named = json!({ "payment_id": payment["payment_id"] });
            if payment["capturable"] == true && dice.in_hundred(50) {
                let call = if dice.in_hundred(70) { "capture-payment" } else { "void-payment" };
                self.shop.call(call, &named).ok();
            } else if payment["refundable"] == true && dice.in_hundred(15) {
                let part = if dice.in_hundred(50) { json!({ "amount": 1 }) } else { json!({}) };
                self.shop.call("refund-payment", &merged(&named, &part)).ok();
            } else if payment["reversible"] == true && dice.in_hundred(10) {
                self.shop.call("reverse-payment", &named).ok();
            }
        }
    }

    /// Takes the clock to the next day; whatever the acquirer was asked for is done then.
    fn next_day(&self) {
        let named = json!({ "merchant_id": self.shop.merchant_id });
        let now = self.server.admin("find-merchant", &named).ok()["test_clock"]["now"].as_u64();
        let now = now.expect("a merchant with a test clock has a time");
        let body = merged(&named, &json!({ "to": now + 86_400 + 1_234 }));
        self.server.admin("advance-clock", &body).ok();
    }
}

/// A card that succeeds, with last digits of its own.
const CARD_FOR_LATER: &str = "4000056655665556";

/// Filters and their meaning, told by the payments as they are listed.
struct Drawn {
    body: Value,
    passes: Box<dyn Fn(&Value) -> bool>,
}

fn of(body: Value, passes: impl Fn(&Value) -> bool + 'static) -> Drawn {
    Drawn { body, passes: Box::new(passes) }
}

/// A filter of one argument.
fn drawn(payments: &[Value], dice: &mut TestDice) -> Drawn {
    let one = payments[dice.index(payments.len())].clone();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match dice.between(0, 9) {
        0 => {
            let status = one["status"].clone();
            of(json!({ "status": status }), move |payment| payment["status"] == status)
        }
        1 => {
            let method = one["payment_method"].clone();
            of(json!({ "payment_method": method }), move |payment| payment["payment_method"] == method)
        }
        2 | 3 => {
            let member = dice.pick(&["created_at", "captured_at"]);
            let (from, until) =
                (seconds(&one["created_at"]), seconds(&payments[dice.index(payments.len())]["created_at"]));
            let (from, until) = (from.min(until), from.max(until));
            of(json!({ member: format!("{}..{}", instant(from), instant(until)) }), move |payment| {
                payment[member].as_u64().is_some_and(|at| from <= at && at <= until)
            })
        }
        4 => {
            let day = seconds(&one["created_at"]) / 86_400;
            let member = dice.pick(&["created_at", "captured_at"]);
            of(json!({ member: &instant(day * 86_400)[..10] }), move |payment| {
                payment[member].as_u64().is_some_and(|at| at / 86_400 == day)
            })
        }
        5 => {
            let amount = one["amount"].clone();
            of(json!({ "amount": amount.to_string() }), move |payment| payment["amount"] == amount)
        }
        6 => {
            let (min, max) = (dice.between(1, 300), dice.between(90, 10_000));
            let (min, max) = (min.min(max), min.max(max));
            of(json!({ "amount": format!("{min}..{max}") }), move |payment| {
                (min..=max).contains(&seconds(&payment["amount"]))
            })
        }
        7 => {
            let contact = dice.pick(&CONTACTS);
            let email = format!("{contact}@shop.example");
            of(json!({ "contact_id": contact }), move |payment| payment["customer_email"] == email.as_str())
        }
        8 => {
            let contact = dice.pick(&CONTACTS);
            let email = format!("{contact}@shop.example");
            of(json!({ "terms": email.to_uppercase() }), move |payment| payment["customer_email"] == email.as_str())
        }
        _ => {
            let terms = match dice.between(0, 3) {
                0 => text(&one["payment_id"]),
                1 => text(&one["external_id"]),
                2 => dice.pick(&["4242", "0259", "5556", "0000"]).to_owned(),
                _ => dice.pick(&["order-", "Order", "o", "424", "nothing"]).to_owned(),
            };
            let terms = if terms.is_empty() { "order-1".to_owned() } else { terms };
            of(json!({ "terms": terms }), move |payment| {
                text(&payment["external_id"]).starts_with(&terms)
                    || payment["payment_id"] == terms.as_str()
                    || payment["card"]["last_digits"] == terms.as_str()
            })
        }
    }
}

/// A number: seconds since 1970, or an amount.
fn seconds(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// A second in the form of the filters.
fn instant(unix_seconds: u64) -> String {
    let seconds = i64::try_from(unix_seconds).expect("a time of a test");
    jiff::Timestamp::from_second(seconds).expect("a time of a test").to_string()
}

#[test]
fn combined_filters_of_payments_are_exact_beside_writers() {
    let seller = Seller::new();
    let seed = TestDice::seed("TILL_FILTER_SEED");
    println!("TILL_FILTER_SEED={seed}");
    let mut dice = TestDice::new(seed);
    for day in 0..DAYS {
        (0..PAYMENTS_A_DAY).for_each(|number| seller.sell(day * PAYMENTS_A_DAY + number, &mut dice));
        seller.go_on(&mut dice);
        seller.next_day();
    }
    let payments = seller.shop.all("list-payments");
    let statuses: std::collections::BTreeSet<String> =
        payments.iter().map(|payment| payment["status"].to_string()).collect();
    assert!(statuses.len() >= 7, "{statuses:?}");
    let (mut found, mut several) = (0, 0);
    let read = || {
        for _ in 0..COMBINATIONS {
            let filters: Vec<Drawn> = (0..=dice.index(3)).map(|_| drawn(&payments, &mut dice)).collect();
            let mut body = json!({ "per_page": dice.between(1, 100) });
            let mut kept: std::collections::BTreeMap<String, Drawn> = std::collections::BTreeMap::new();
            for filter in filters {
                let name = filter.body.as_object().and_then(|body| body.keys().next().cloned()).expect("an argument");
                kept.insert(name, filter);
            }
            kept.values().for_each(|filter| body = merged(&body, &filter.body));
            let passing = payments.iter().filter(|payment| kept.values().all(|filter| (filter.passes)(payment)));
            let expected: Vec<String> =
                passing.map(|payment| payment["payment_id"].as_str().expect("an id").to_owned()).collect();
            PAYMENTS.page_both_ways(&seller.shop, &body, &expected);
            found += expected.len();
            several += usize::from(!expected.is_empty() && kept.len() > 1);
        }
    };
    read_while_writing(read, |number| {
        let minor = 100 + u64::try_from(number % 200).expect("small");
        let more = json!({ "customer_id": "ann", "external_id": format!("order-late-{number}") });
        seller.shop.initiate(&seller.shop.session(minor), minor, &more).id();
    });
    println!("{found} payments found, by {several} combinations of several filters");
    assert!(found > 1_000 && several > 30, "the filters find something: {found} payments, {several} combinations");
}

#[test]
fn the_status_filter_follows_a_payment_through_its_life() {
    let (_server, shop) = Server::with_shop();
    let card = shop.session(500);
    let payment = shop.initiate(&card, 500, &json!({ "capture": false })).id();
    let listed = |status: &str| PAYMENTS.found(&shop, &json!({ "status": status }));
    let only = std::slice::from_ref(&payment);
    shop.settled(&payment);
    assert_eq!(listed("AUTHORIZED"), only);
    assert!(listed("PENDING").is_empty() && listed("SUCCESSFUL").is_empty());
    assert!(PAYMENTS.found(&shop, &json!({ "captured_at": "2020-01-01.." })).is_empty());
    shop.call("capture-payment", &json!({ "payment_id": payment })).ok();
    wait_until(PATIENCE, "it is not captured", || listed("SUCCESSFUL") == only);
    assert!(listed("AUTHORIZED").is_empty());
    assert_eq!(PAYMENTS.found(&shop, &json!({ "captured_at": "2020-01-01.." })), only);
    shop.call("refund-payment", &json!({ "payment_id": payment })).ok();
    wait_until(PATIENCE, "it is not refunded", || listed("REFUNDED") == only);
    assert!(listed("SUCCESSFUL").is_empty());
}

#[test]
fn faulty_filters_of_payments_name_the_argument_and_the_form() {
    let (_server, shop) = Server::with_shop();
    let refused = |filter: Value| shop.call("list-payments", &filter).faults();
    assert_eq!(refused(json!({ "status": "PAID" })), ["invalid status"]);
    assert_eq!(refused(json!({ "payment_method": "card" })), ["invalid payment_method"]);
    assert_eq!(
        refused(json!({ "captured_at": "soon", "created_at": "2020-13" })),
        ["invalid created_at", "invalid captured_at"]
    );
    for amount in
        [json!(".."), json!("9..1"), json!("1...2"), json!("-1"), json!(0), json!("1.5"), json!("1..0"), json!("")]
    {
        assert_eq!(refused(json!({ "amount": amount })), ["invalid amount"], "{amount}");
    }
    assert_eq!(refused(json!({ "terms": "" })), ["invalid terms"]);
    for amount in [json!(7), json!("7"), json!("7.."), json!("..7"), json!("7..7")] {
        assert_eq!(shop.call("list-payments", &json!({ "amount": amount })).ok()["page"], json!([]), "{amount}");
    }
}

#[test]
fn a_filter_by_an_id_that_names_nothing_finds_nothing() {
    let (server, shop) = Server::with_shop();
    let payment = shop.pay(300);
    let other = server.shop().pay_with(300, &json!({ "customer_id": "ann" }));
    let unknown = |id: &str| id_of_nothing(id);
    let of_other = |member: &str| other[member].as_str().expect("an id").to_owned();
    for (list, filter) in [
        ("list-payments", json!({ "contact_id": "nobody" })),
        ("list-payments", json!({ "contact_id": unknown(&of_other("customer_id")) })),
        ("list-payments", json!({ "contact_id": of_other("customer_id"), "status": "SUCCESSFUL" })),
        ("list-payments", json!({ "checkout_id": "order-of-nobody" })),
        ("list-payments", json!({ "checkout_id": "chk_01h2e8kqvbfwea724h75qc655w", "amount": 300 })),
        ("list-disputes", json!({ "payment_id": unknown(&payment) })),
        ("list-events", json!({ "payment_id": of_other("payment_id") })),
        ("list-webhook-deliveries", json!({ "webhook_id": "whe_01h2e8kqvbfwea724h75qc655w" })),
        ("list-webhook-deliveries", json!({ "event_id": "evt_01h2e8kqvbfwea724h75qc655w" })),
        ("list-activity-logs", json!({ "object_id": of_other("payment_id") })),
        ("balance-history", json!({ "payment_id": "order-of-nobody" })),
    ] {
        assert_eq!(shop.call(list, &filter).ok()["page"], json!([]), "{list} {filter}");
    }
    for filter in
        [json!({ "actor_email": "nobody@shop.example" }), json!({ "actor_key_id": "key_01h2e8kqvbfwea724h75qc655w" })]
    {
        shop.call("list-activity-logs", &filter).refused("NOT_FOUND");
    }
    for (list, named) in [
        ("list-refunds-by-payment", json!({ "payment_id": "order-of-nobody" })),
        ("list-entries-by-payment", json!({ "payment_id": "order-of-nobody" })),
        ("list-cards", json!({ "contact_id": "nobody" })),
    ] {
        shop.call(list, &named).refused("NOT_FOUND");
    }
    let merchant = server.admin("create-merchant", &json!({ "name": "New", "currency": "THB" })).id();
    let key = server.admin("generate-key", &json!({ "merchant_id": merchant, "name": "Server" })).ok();
    let without_balance = server.client().bearer(key["key"].as_str().expect("a key"));
    without_balance
        .post("/merchants/balance-history", &json!({ "payment_id": "order-of-nobody" }))
        .refused("NOT_FOUND");
}

#[test]
fn a_removed_customer_is_found_by_no_filter_of_payments() {
    let (_server, shop) = Server::with_shop();
    let customer = json!({ "customer_id": "ann", "customer_email": "ann@shop.example" });
    let payment = shop.pay_with(300, &customer);
    let id = payment["payment_id"].as_str().expect("an id").to_owned();
    let contact_id = payment["customer_id"].as_str().expect("an id").to_owned();
    for terms in ["ann@shop.example", &contact_id] {
        assert_eq!(PAYMENTS.found(&shop, &json!({ "terms": terms })), std::slice::from_ref(&id), "{terms}");
    }
    assert_eq!(PAYMENTS.found(&shop, &json!({ "contact_id": contact_id })), std::slice::from_ref(&id));
    shop.call("remove-contact", &json!({ "contact_id": contact_id })).ok();
    for terms in ["ann@shop.example", &contact_id] {
        assert!(PAYMENTS.found(&shop, &json!({ "terms": terms })).is_empty(), "{terms}");
    }
    assert!(PAYMENTS.found(&shop, &json!({ "contact_id": contact_id })).is_empty());
    assert_eq!(PAYMENTS.found(&shop, &json!({ "amount": 300 })), [id]);
}

#[test]
fn a_payment_is_found_by_the_address_that_it_shows() {
    let (_server, shop) = Server::with_shop();
    let of = |payment: &Value| payment["payment_id"].as_str().expect("an id").to_owned();
    let ann = of(&shop.pay_with(100, &json!({ "customer_id": "ann", "customer_email": "ann@shop.example" })));
    let bert = of(&shop.pay_with(200, &json!({ "customer_id": "bert", "customer_email": "bert@shop.example" })));
    let shown = shop.pay_with(300, &json!({ "customer_id": "bert", "customer_email": "ann@shop.example" }));
    assert_eq!(shown["customer_email"], "ann@shop.example");
    let lent = of(&shown);
    let found = |terms: &str| PAYMENTS.found(&shop, &json!({ "terms": terms }));
    assert_eq!(found("Ann@Shop.example"), [lent.clone(), ann.clone()]);
    shop.call("update-contact", &json!({ "contact_id": "bert", "contact_email": "b@new.example" })).ok();
    assert_eq!(found("bert@shop.example"), std::slice::from_ref(&bert), "the address on the receipt");
    assert_eq!(found("b@new.example"), [lent, bert], "the address of now");
    shop.call("remove-contact", &json!({ "contact_id": "bert" })).ok();
    assert_eq!(found("ann@shop.example"), [ann]);
    assert!(found("bert@shop.example").is_empty() && found("b@new.example").is_empty());
}

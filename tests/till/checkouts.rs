//! Checkouts by the calls of the merchant and of the customer's device: contract, section 9.6. The rules are tested in
//! the domain; here are shapes, refusals and one path of each promise.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, PATIENCE, Server, Shop, first_answer, merged, wait_until};
use crate::pages::browser::{Asked, Browser, CHALLENGED, METHODS, enable, page_of};

const MINOR: u64 = 123_450;

fn shop(server: &Server) -> Shop {
    shop_with(server, json!({}))
}

fn shop_with(server: &Server, more: Value) -> Shop {
    let shop = server.shop_with(merged(&json!({ "name": "Tea & Co", "currency": "THB" }), &more));
    METHODS.iter().for_each(|method| enable(server, &shop, method));
    shop
}

fn body(shop: &Shop, more: &Value) -> Value {
    shop.checkout_of(MINOR, more)
}

/// Starts a checkout; returns the last segment of its address.
fn start(shop: &Shop, more: &Value) -> String {
    shop.start_checkout(MINOR, more).rsplit('/').next().expect("a segment").to_owned()
}

/// The id in the last segment of a checkout's address.
fn id_of(checkout: &str) -> &str {
    checkout.split_once('.').expect("an id and a secret").0
}

fn found(shop: &Shop, checkout: &str) -> Value {
    shop.call("find-checkout", &json!({ "checkout_id": checkout })).ok()
}

fn pay(shop: &Shop, checkout: &str, more: &Value) -> ApiAnswer {
    shop.sdk("pay-checkout", &merged(&json!({ "checkout_id": checkout }), more))
}

fn by_bank(shop: &Shop, checkout: &str) -> String {
    pay(shop, checkout, &json!({ "payment_method": "MOBILE_BANKING" })).id()
}

fn offered(shop: &Shop, checkout: &str) -> Value {
    shop.sdk("retrieve-checkout", &json!({ "checkout_id": checkout })).ok()
}

/// The checkout once it has this status.
fn becomes(shop: &Shop, checkout: &str, status: &str) -> Value {
    first_answer(PATIENCE, status, || found(shop, checkout), |found| found["status"] == status)
}

/// The newest payment of a checkout, once its customer must act.
fn asked(shop: &Shop, checkout: &str, session: &str) -> Asked {
    let payment = found(shop, checkout)["payment_id"].as_str().expect("a payment").to_owned();
    let next = |payment: &Value| payment["next_action"].clone();
    let payment_row = first_answer(PATIENCE, "nothing is asked", || shop.payment(&payment), |it| next(it).is_object());
    let step = match next(&payment_row)["redirect_url"].as_str() {
        Some(url) => format!("/{}", url.splitn(4, '/').nth(3).expect("an absolute address")),
        None => next(&payment_row)["qr_data"].as_str().expect("a text").to_owned(),
    };
    Asked { session: session.to_owned(), payment, step }
}

/// The events of a merchant, the oldest first: name, status, external id.
fn events(shop: &Shop) -> Vec<[Value; 3]> {
    let events = shop.all("list-events").into_iter().rev();
    events.map(|event| ["event", "status", "external_id"].map(|member| event[member].clone())).collect()
}

#[test]
fn a_started_checkout_is_found_as_it_was_given() {
    let (server, shop) = Server::with(shop);
    let given = json!({
        "external_id": "order-1", "cancel_url": "https://shop.example/cart", "capture": false,
        "page_url": "https://shop.example/pay?order=1",
        "payment_methods": ["INSTALLMENT", "CARD"], "interest_bearer": "merchant", "locale": "th", "expires_in": 600,
        "lines": [
            { "name": "Tea", "amount": "61725", "quantity": 2 }, { "name": "Mug", "amount": 500 },
            { "name": "Voucher", "amount": "-500" },
        ],
        "customer_id": "customer-1", "customer_email": "A@b.example", "customer_mobile": "+66812345678",
        "customer_name": "Ada", "offer_saved_cards": true,
    });
    let url = shop.call("start-checkout", &body(&shop, &given)).id();
    let (page, reference) = url.rsplit_once('/').expect("a segment");
    assert_eq!(page, format!("{}/pay/{}", server.public(), shop.merchant_id));
    let id = id_of(reference);
    let checkout = found(&shop, id);
    let expected = json!({
        "checkout_id": id, "url": url, "external_id": "order-1", "installation_id": shop.installation_id,
        "status": "OPEN", "amount": MINOR, "currency": "THB", "payment_methods": ["CARD", "INSTALLMENT"],
        "capture": false, "return_url": "https://shop.example/done", "cancel_url": "https://shop.example/cart",
        "page_url": "https://shop.example/pay?order=1", "locale": "th",
        "lines": [
            { "name": "Tea", "amount": 61_725, "quantity": 2 }, { "name": "Mug", "amount": 500, "quantity": 1 },
            { "name": "Voucher", "amount": -500, "quantity": 1 },
        ],
        "customer_id": "customer-1",
        "customer_email": "a@b.example", "customer_mobile": "+66812345678", "customer_name": "Ada", "payment_id": null,
        "attempts": 0, "created_at": checkout["created_at"], "expires_at": checkout["expires_at"], "completed_at": null,
    });
    assert_eq!(shop.declared("checkout", &checkout), expected);
    assert_eq!(checkout["expires_at"].as_u64(), checkout["created_at"].as_u64().map(|at| at + 600));
    for named in ["order-1", reference] {
        assert_eq!(found(&shop, named), checkout, "it is found by the merchant's reference and by its address, too");
    }
}

#[test]
fn defaults_are_those_of_the_contract() {
    let (_server, shop) = Server::with(shop);
    let checkout = found(&shop, &start(&shop, &json!({})));
    assert_eq!(checkout["payment_methods"], json!(["CARD", "INSTALLMENT", "PROMPTPAY", "MOBILE_BANKING"]));
    assert_eq!((&checkout["capture"], &checkout["cancel_url"]), (&json!(true), &json!("https://shop.example/done")));
    assert_eq!((&checkout["locale"], &checkout["lines"]), (&Value::Null, &json!([])));
    assert_eq!(checkout["expires_at"].as_u64(), checkout["created_at"].as_u64().map(|at| at + 86_400));
}

#[test]
fn every_method_pays_it_and_the_customer_comes_back_with_both_ids() {
    let (_server, shop, browser) = Browser::with(shop);
    let token = || json!({ "payment_method": "CARD", "token": shop.token_of(CHALLENGED, "SINGLE") });
    let plan = json!({ "payment_method": "INSTALLMENT", "installment_plan_id": "sandbox_3_months" });
    for choice in
        [json!({ "payment_method": "MOBILE_BANKING" }), json!({ "payment_method": "PROMPTPAY" }), token(), plan]
    {
        let checkout = start(&shop, &json!({}));
        let session = pay(&shop, &checkout, &choice).id();
        if choice["payment_method"] != "INSTALLMENT" {
            let asked = asked(&shop, &checkout, &session);
            browser.post(&page_of(&browser, &asked), "outcome=succeed");
        }
        let completed = becomes(&shop, &checkout, "COMPLETED");
        assert_eq!(completed["attempts"], 1);
        assert!(completed["completed_at"].is_u64());
        let payment = completed["payment_id"].as_str().expect("it was paid").to_owned();
        let row = shop.payment(&payment);
        assert_eq!((&row["status"], &row["checkout_id"]), (&json!("SUCCESSFUL"), &json!(id_of(&checkout))), "{row}");
        let back = browser.get(&format!("/return/{}/{session}", shop.merchant_id));
        let expected = format!("https://shop.example/done?payment_id={payment}&checkout_id={}", id_of(&checkout));
        assert_eq!((back.status, back.header("location")), (303, Some(&*expected)));
        assert_eq!(offered(&shop, &checkout)["payment_session_id"], json!(session));
    }
}

#[test]
fn a_second_tab_and_a_lost_answer_lead_to_the_one_payment() {
    let (_server, shop) = Server::with(shop);
    let checkout = start(&shop, &json!({}));
    let sessions: Vec<String> = std::thread::scope(|scope| {
        let tabs: Vec<_> = (0..8).map(|_| scope.spawn(|| by_bank(&shop, &checkout))).collect();
        tabs.into_iter().map(|tab| tab.join().expect("it was answered")).collect()
    });
    assert!(sessions.iter().all(|session| *session == sessions[0]), "{sessions:?}");
    assert_eq!(found(&shop, &checkout)["attempts"], 1);
}

#[test]
fn another_way_to_pay_takes_the_reference_over() {
    let (_server, shop) = Server::with(shop);
    let checkout = start(&shop, &json!({ "external_id": "order-1" }));
    let first = by_bank(&shop, &checkout);
    let given_up = asked(&shop, &checkout, &first);
    let choice = json!({ "payment_method": "PROMPTPAY", "replaces": first });
    let second = pay(&shop, &checkout, &choice).id();
    assert_ne!(first, second);
    assert_eq!(pay(&shop, &checkout, &choice).id(), second, "the first one is over by now");
    let (before, now) = (shop.payment(&given_up.payment), shop.payment("order-1"));
    assert_eq!([&before["status"], &before["failure_code"]], [&json!("FAILED"), &json!("canceled_by_customer")]);
    assert_eq!((&before["external_id"], &before["checkout_id"]), (&Value::Null, &json!(id_of(&checkout))));
    assert_eq!((&now["payment_session_id"], &now["external_id"]), (&json!(second), &json!("order-1")));
    let both = shop.all_of("list-payments", &json!({ "checkout_id": "order-1" }));
    let ids: Vec<&Value> = both.iter().map(|payment| &payment["payment_id"]).collect();
    assert_eq!(ids, [&now["payment_id"], &before["payment_id"]]);
    let event = json!(["payment_completed", "FAILED", "order-1"]);
    wait_until(PATIENCE, "it is told", || events(&shop).iter().any(|told| json!(told) == event));
}

#[test]
fn a_decline_leaves_it_open_and_says_why() {
    let (_server, shop) = Server::with(shop);
    let checkout = start(&shop, &json!({}));
    let declined = json!({ "payment_method": "CARD", "token": shop.token_of("4000000000009995", "SINGLE") });
    pay(&shop, &checkout, &declined).id();
    let reopened = first_answer(
        PATIENCE,
        "it is declined",
        || offered(&shop, &checkout),
        |offered| offered["failure_code"] == "insufficient_funds",
    );
    assert_eq!(reopened["status"], "OPEN");
    pay(&shop, &checkout, &declined).refused("TOKEN_ALREADY_USED");
    let good = json!({ "payment_method": "CARD", "token": shop.token_of("4242424242424242", "SINGLE") });
    pay(&shop, &checkout, &good).id();
    let completed = becomes(&shop, &checkout, "COMPLETED");
    assert_eq!((&completed["attempts"], &offered(&shop, &checkout)["failure_code"]), (&json!(2), &Value::Null));
    let told: Vec<Value> = events(&shop).into_iter().map(|[event, status, _]| json!([event, status])).collect();
    let expected = [
        json!(["payment_completed", "FAILED"]),
        json!(["payment_completed", "SUCCESSFUL"]),
        json!(["checkout_completed", "COMPLETED"]),
    ];
    assert_eq!(told, expected);
    let completed_event = &shop.all("list-events")[0];
    assert_eq!(completed_event["checkout_id"], json!(id_of(&checkout)));
    assert_eq!((&completed_event["payment_id"], &completed_event["amount"]), (&completed["payment_id"], &json!(MINOR)));
}

#[test]
fn what_a_device_is_offered() {
    let (_server, shop) = Server::with(shop);
    let (customer, card) = shop.saved_card(&json!({ "customer_email": "ada@shop.example" }));
    let more = json!({
        "customer_id": customer, "offer_saved_cards": true, "cancel_url": "https://shop.example/cart?a=1#top",
        "payment_methods": ["CARD", "INSTALLMENT"],
    });
    let checkout = start(&shop, &more);
    let offered = offered(&shop, &checkout);
    assert_eq!(shop.declared_in("/sdk", "offered_checkout", &offered), offered);
    assert_eq!((&offered["merchant_name"], &offered["amount"]), (&json!("Tea & Co"), &json!(MINOR)));
    assert_eq!(
        offered["return_url"],
        json!(format!("https://shop.example/cart?a=1&checkout_id={}#top", id_of(&checkout)))
    );
    let names: Vec<&Value> =
        offered["payment_methods"].as_array().expect("a list").iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["CARD", "INSTALLMENT"]);
    let saved = json!([{ "card_id": card, "display_name": "Visa 4242", "expiration_date": "12/49" }]);
    assert_eq!(offered["saved_cards"], saved);
    let plan = json!({
        "installment_plan_id": "sandbox_3_months", "name": "Sandbox instalments, 3 months", "terms": 3,
        "interest_bearers": ["customer", "merchant"], "interest_rate": "1.00", "monthly_amount": 42_385,
        "total_amount": 127_154,
    });
    assert_eq!((&offered["installment_plans"], &offered["is_sandbox"]), (&json!([plan]), &json!(true)));
    pay(&shop, &checkout, &json!({ "payment_method": "CARD", "card_id": card })).id();
    let payment = becomes(&shop, &checkout, "COMPLETED")["payment_id"].clone();
    assert_eq!(shop.payment(payment.as_str().expect("an id"))["customer_id"], json!(customer));
    let over = shop.sdk("retrieve-checkout", &json!({ "checkout_id": checkout })).ok();
    assert_eq!(over["saved_cards"], json!([]), "whoever finds the address later sees nobody's cards");
}

#[test]
fn a_plan_whose_interest_the_merchant_pays_tells_no_cost() {
    let (_server, shop) = Server::with(shop);
    let offered = offered(&shop, &start(&shop, &json!({ "interest_bearer": "merchant" })));
    let plan = &offered["installment_plans"][0];
    let cost = ["interest_rate", "monthly_amount", "total_amount"].map(|member| plan[member].clone());
    assert_eq!(cost, [Value::Null, Value::Null, Value::Null]);
    let listed = |more: Value| shop.sdk("list-installment-plans", &more).ok()[0].clone();
    let cost = |plan: Value| [plan["interest_rate"].clone(), plan["total_amount"].clone()];
    assert_eq!(cost(listed(json!({}))), [json!("1.00"), Value::Null]);
    assert_eq!(cost(listed(json!({ "amount": "10000" }))), [json!("1.00"), json!(10_300)]);
}

#[test]
fn refusals_of_a_start_name_what_to_send() {
    let (_server, shop) = Server::with(shop);
    let refused = |more: Value| shop.call("start-checkout", &body(&shop, &more));
    let line = |amount: u64| json!([{ "name": "Tea", "amount": amount, "quantity": 2 }]);
    for (more, fault) in [
        (json!({ "currency": "EUR" }), "invalid currency"),
        (json!({ "lines": line(1) }), "invalid lines"),
        (json!({ "lines": [] }), "invalid lines"),
        (json!({ "lines": [{ "name": "Tea" }] }), "invalid lines"),
        (json!({ "lines": [{ "name": "Tea", "amount": MINOR, "price": 1 }] }), "invalid lines"),
        (json!({ "lines": [{ "name": "4242 4242 4242 4242", "amount": MINOR }] }), "invalid lines"),
        (
            json!({ "lines": (0..101).map(|_| json!({ "name": "Tea", "amount": 1 })).collect::<Vec<_>>() }),
            "invalid lines",
        ),
        (json!({ "offer_saved_cards": true }), "invalid offer_saved_cards"),
        (json!({ "expires_in": 59 }), "invalid expires_in"),
        (json!({ "expires_in": 86_401 }), "invalid expires_in"),
        (json!({ "locale": "fr" }), "invalid locale"),
        (json!({ "payment_methods": [] }), "invalid payment_methods"),
        (json!({ "payment_methods": ["CARD", "CARD"] }), "invalid payment_methods"),
        (json!({ "external_id": "pay_01h2e8kqvbfwea724h75qc655w" }), "invalid external_id"),
        (json!({ "external_id": "chk_01h2e8kqvbfwea724h75qc655w" }), "invalid external_id"),
        (json!({ "external_id": "chk_01h2e8kqvbfwea724h75qc655w.01h2e8kqvbfwea724h75qc655w" }), "invalid external_id"),
        (json!({ "lines": [{ "name": "Tea", "amount": 0 }, { "name": "Mug", "amount": MINOR }] }), "invalid lines"),
        (json!({ "lines": [{ "name": "Voucher", "amount": -1 }] }), "invalid lines"),
        (json!({ "page_url": "https://other.example/pay" }), "invalid page_url"),
        (json!({ "return_url": "/done" }), "invalid return_url"),
    ] {
        assert_eq!(refused(more.clone()).faults(), [fault], "{more}");
    }
    assert_eq!(
        refused(json!({ "installation_id": "ins_01h2e8kqvbfwea724h75qc655w" })).refused("NOT_FOUND")["argument"],
        "installation_id"
    );
    assert_eq!(
        refused(json!({ "customer_id": "ctc_01h2e8kqvbfwea724h75qc655w" })).refused("NOT_FOUND")["argument"],
        "customer_id"
    );
    refused(json!({ "payment_methods": ["PROMPTPAY"], "capture": false })).refused("NOT_SUPPORTED");
    assert_eq!(shop.all("list-checkouts"), Vec::<Value>::new(), "nothing was started");
}

#[test]
fn refusals_of_a_device_name_what_to_send() {
    let (_server, shop) = Server::with(shop);
    let checkout = start(&shop, &json!({ "payment_methods": ["CARD", "INSTALLMENT", "MOBILE_BANKING"] }));
    let token = shop.token_of("4242424242424242", "MULTIPLE");
    for (more, fault) in [
        (json!({ "payment_method": "CARD" }), "missing token"),
        (json!({ "payment_method": "CARD", "token": token, "card_id": "c" }), "invalid card_id"),
        (json!({ "payment_method": "CARD", "token": token, "save_card": true }), "invalid save_card"),
        (json!({ "payment_method": "INSTALLMENT" }), "missing installment_plan_id"),
        (json!({ "payment_method": "MOBILE_BANKING", "token": token }), "invalid token"),
    ] {
        assert_eq!(pay(&shop, &checkout, &more).faults(), [fault], "{more}");
    }
    pay(&shop, &checkout, &json!({ "payment_method": "PROMPTPAY" })).refused("NOT_SUPPORTED");
    let unknown = pay(&shop, "chk_01h2e8kqvbfwea724h75qc655w", &json!({ "payment_method": "MOBILE_BANKING" }));
    assert_eq!(unknown.refused("NOT_FOUND")["argument"], "checkout_id");
    let replaces = json!({ "payment_method": "MOBILE_BANKING", "replaces": shop.session(100) });
    assert_eq!(pay(&shop, &checkout, &replaces).refused("NOT_FOUND")["argument"], "replaces");
    let card =
        json!({ "payment_method": "CARD", "card_id": shop.saved_card(&json!({ "customer_email": "a@b.example" })).1 });
    assert_eq!(pay(&shop, &checkout, &card).refused("NOT_FOUND")["argument"], "card_id");
    assert_eq!(found(&shop, &checkout)["attempts"], 0);
}

#[test]
fn a_reference_is_taken_once_among_payments_and_checkouts() {
    let (_server, shop) = Server::with(shop);
    let checkout = start(&shop, &json!({ "external_id": "order-1" }));
    let again = shop.call("start-checkout", &body(&shop, &json!({ "external_id": "order-1" })));
    let taken = json!({ "argument": "external_id", "payment_id": null, "checkout_id": id_of(&checkout) });
    assert_eq!(again.refused("CONFLICT"), taken);
    let initiation = shop.initiate(&shop.session(100), 100, &json!({ "external_id": "order-1" }));
    assert_eq!(initiation.refused("CONFLICT"), taken);
    by_bank(&shop, &checkout);
    let payment = found(&shop, &checkout)["payment_id"].clone();
    let initiation = shop.initiate(&shop.session(100), 100, &json!({ "external_id": "order-1" }));
    assert_eq!(initiation.refused("CONFLICT"), merged(&taken, &json!({ "payment_id": payment })));
    let ended = start(&shop, &json!({ "external_id": "order-2" }));
    assert_eq!(shop.call("expire-checkout", &json!({ "checkout_id": "order-2" })).ok(), true);
    start(&shop, &json!({ "external_id": "order-2" }));
    assert_eq!(found(&shop, &ended)["status"], "EXPIRED");
}

#[test]
fn an_ended_checkout_is_listed_told_and_takes_no_payment() {
    let (_server, shop) = Server::with(shop);
    let (ended, open) = (start(&shop, &json!({ "external_id": "order-1" })), start(&shop, &json!({})));
    let expire = || shop.call("expire-checkout", &json!({ "checkout_id": ended })).ok();
    assert_eq!((expire(), expire()), (json!(true), json!(false)));
    let refused = pay(&shop, &ended, &json!({ "payment_method": "MOBILE_BANKING" })).refused("INVALID_STATE");
    assert_eq!(refused, json!({ "status": "EXPIRED" }));
    let listed = |filters: Value| -> Vec<Value> {
        shop.all_of("list-checkouts", &filters).into_iter().map(|checkout| checkout["checkout_id"].clone()).collect()
    };
    let [open, ended] = [&open, &ended].map(|checkout| json!(id_of(checkout)));
    assert_eq!(listed(json!({})), [open.clone(), ended.clone()]);
    assert_eq!(listed(json!({ "status": "EXPIRED" })), [ended]);
    assert_eq!(listed(json!({ "status": "OPEN", "created_at": "today" })), [open]);
    assert_eq!(listed(json!({ "status": "COMPLETED" })), [] as [Value; 0]);
    assert_eq!(events(&shop), [[json!("checkout_expired"), json!("EXPIRED"), json!("order-1")]]);
    let unknown = shop.call("expire-checkout", &json!({ "checkout_id": "order-9" }));
    assert_eq!(unknown.refused("NOT_FOUND")["argument"], "checkout_id");
}

#[test]
fn large_checkouts_are_listed_as_they_are_found() {
    let (_server, shop) = Server::with(shop);
    let line = json!({ "name": "\u{1f375}".repeat(255), "amount": 10, "quantity": 1 });
    let large = json!({ "amount": 1_000, "lines": vec![line; 100] });
    let ids = [start(&shop, &large), start(&shop, &json!({})), start(&shop, &large)];
    let newest_first: Vec<Value> = ids.iter().rev().map(|id| found(&shop, id)).collect();
    for filter in [json!({}), json!({ "status": "OPEN" })] {
        assert_eq!(shop.call("list-checkouts", &filter).ok()["page"], json!(newest_first), "{filter}");
    }
}

#[test]
fn time_ends_it_and_erases_its_customer() {
    let server = Server::start();
    let shop = shop_with(&server, json!({ "test_clock": true }));
    let person = json!({ "customer_name": "Ada", "customer_email": "ada@shop.example", "expires_in": 60 });
    let checkout = start(&shop, &person);
    let created = found(&shop, &checkout)["created_at"].as_u64().expect("a time");
    let advance = |to: u64| {
        server.admin("advance-clock", &json!({ "merchant_id": shop.merchant_id, "to": to })).ok();
    };
    advance(created + 61);
    let expired = becomes(&shop, &checkout, "EXPIRED");
    assert_eq!(expired["customer_name"], "Ada");
    advance(created + 62 + 25 * 3_600);
    let erased = |found: &Value| found["customer_name"].is_null() && found["customer_email"].is_null();
    first_answer(PATIENCE, "it is erased", || found(&shop, &checkout), erased);
}

#[test]
fn a_method_that_is_left_out_is_told_with_its_reason() {
    let (_server, shop) = Server::with(shop);
    let more = json!({ "payment_methods": ["PROMPTPAY", "MOBILE_BANKING"], "capture": false });
    let details = shop.call("start-checkout", &body(&shop, &more)).refused("NOT_SUPPORTED");
    let reason = "CAPTURES_AT_ONCE";
    assert_eq!(details, json!({ "payment_methods": { "PROMPTPAY": reason, "MOBILE_BANKING": reason } }));
}

#[test]
fn an_id_without_its_secret_opens_nothing() {
    let (server, shop) = Server::with(shop);
    let (checkout, other) = (start(&shop, &json!({})), start(&shop, &json!({})));
    let (id, secret) = checkout.split_once('.').expect("an id and a secret");
    let others_secret = other.split_once('.').expect("an id and a secret").1;
    let nobodys = "chk_01h2e8kqvbfwea724h75qc655w";
    let browser = Browser::of(&server);
    let answers = |reference: &str| {
        let choice = json!({ "checkout_id": reference, "payment_method": "MOBILE_BANKING" });
        let calls = [
            shop.sdk("retrieve-checkout", &json!({ "checkout_id": reference })).body,
            shop.sdk("pay-checkout", &choice).body,
        ];
        let pages =
            [format!("/pay/{}/{reference}", shop.merchant_id), format!("/frame/{}/{reference}", shop.merchant_id)];
        let pages = pages.map(|path| {
            let page = browser.get(&path);
            (page.status, page.body)
        });
        (calls, pages)
    };
    let unknown = answers(nobodys);
    assert_eq!([&unknown.0[0][0], &unknown.0[1][0]], ["NOT_FOUND", "NOT_FOUND"]);
    let references = [id.to_owned(), format!("{id}.{others_secret}"), format!("{nobodys}.{secret}")];
    for reference in references {
        assert_eq!(answers(&reference), unknown, "{reference}");
    }
    let posted = browser.post(&format!("/pay/{}/{id}", shop.merchant_id), "action=pay&payment_method=PROMPTPAY");
    assert_eq!((posted.status, &found(&shop, id)["attempts"]), (404, &json!(0)));
    for malformed in [format!("{id}."), format!("{id}.{}", &secret[1..]), format!("{checkout}.{secret}")] {
        let answer = shop.sdk("retrieve-checkout", &json!({ "checkout_id": malformed }));
        assert_eq!(answer.faults(), ["invalid checkout_id"], "{malformed}");
    }
    assert_eq!(offered(&shop, &checkout)["checkout_id"], json!(id));
}

#[test]
fn another_installation_does_not_see_it() {
    let (server, shop) = Server::with(shop);
    let checkout = start(&shop, &json!({}));
    let installation = json!({
        "merchant_id": shop.merchant_id, "name": "Other", "platform": "WEB", "identifier": "https://other.example",
    });
    let other = server.admin("add-installation", &installation).id();
    let named = json!({ "merchant_id": shop.merchant_id, "installation_id": other, "checkout_id": checkout });
    let client = server.client();
    assert_eq!(client.post("/sdk/retrieve-checkout", &named).refused("NOT_FOUND")["argument"], "checkout_id");
    let paid = client.post("/sdk/pay-checkout", &merged(&named, &json!({ "payment_method": "MOBILE_BANKING" })));
    assert_eq!(paid.refused("NOT_FOUND")["argument"], "checkout_id");
}

#[test]
fn a_kill_between_attempts_loses_nothing() {
    let (mut server, shop) = Server::with(shop);
    let checkout = start(&shop, &json!({ "external_id": "order-1", "customer_name": "Ada" }));
    let session = by_bank(&shop, &checkout);
    let before = found(&shop, &checkout);
    server.kill();
    server.restart();
    let shop = shop.on(&server);
    let url = |mut found: Value| {
        found["url"].take();
        found
    };
    assert_eq!(url(found(&shop, &checkout)), url(before));
    assert_eq!(by_bank(&shop, &checkout), session);
    let browser = Browser::of(&server);
    let asked = asked(&shop, &checkout, &session);
    browser.post(&page_of(&browser, &asked), "outcome=succeed");
    becomes(&shop, &checkout, "COMPLETED");
    assert!(server.stop());
}

#[test]
fn the_operator_sets_the_color_of_pages() {
    let (server, shop) = Server::with(shop);
    let set =
        |color: &str| server.admin("update-merchant", &json!({ "merchant_id": shop.merchant_id, "color": color }));
    assert_eq!((set("#0a7fff").ok(), set("#0a7fff").ok()), (json!(true), json!(false)));
    assert_eq!(set("#0A7FFF").faults(), ["invalid color"]);
    let merchant = server.admin("find-merchant", &json!({ "merchant_id": shop.merchant_id })).ok();
    assert_eq!(merchant["color"], "#0a7fff");
}

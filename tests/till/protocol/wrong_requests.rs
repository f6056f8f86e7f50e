//! Requests in the words of other payment services: a refusal leads to what was meant, never to another act.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Server, Shop, merged};
use crate::pages::browser::enable;

/// A call that does what the caller meant.
struct Way {
    /// The words of a refusal that lead here: the name of a function or of an argument, or what to do.
    words: &'static str,
    path: String,
    body: Value,
    idempotency_key: Option<&'static str>,
}

/// A wrong request with all calls that do what its caller means.
struct Wrong {
    path: &'static str,
    body: Value,
    ways: Vec<Way>,
}

fn way(words: &'static str, function: &str, body: Value) -> Way {
    Way { words, path: format!("/merchants/{function}"), body, idempotency_key: None }
}

fn wrong(path: &'static str, body: Value, ways: Vec<Way>) -> Wrong {
    Wrong { path, body, ways }
}

/// The grade of the answer to a wrong request.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    /// The refusal leads to another act or another thing.
    Misled,
    /// It says what is wrong, and not what to do.
    Told,
    /// It names a way that works, or the request was taken.
    Led,
}

/// The names of the functions of both public interfaces.
fn functions(server: &Server) -> BTreeSet<String> {
    let named = |package: &str| {
        let document = server.client().get(package).ok();
        let endpoints = document["endpoints"].as_array().expect("an array").clone();
        endpoints.into_iter().map(|endpoint| endpoint["name"].as_str().expect("a name").to_owned())
    };
    named("/merchants").chain(named("/sdk")).collect()
}

/// The last segments of suggested paths, and suggested arguments.
fn suggestions(answer: &ApiAnswer) -> Vec<String> {
    let details = answer.details();
    let faults = details.as_array().cloned().unwrap_or_else(|| vec![details]);
    let suggested = faults.iter().filter_map(|fault| fault["suggestion"].as_str());
    suggested.map(|path| path.rsplit('/').next().expect("a segment").to_owned()).collect()
}

/// Grades the answer by what it says, and follows each way that it names.
fn grade(shop: &Shop, functions: &BTreeSet<String>, wrong: &Wrong) -> Grade {
    let answer = shop.client().post(wrong.path, &wrong.body);
    if answer.status == 200 {
        return Grade::Led;
    }
    let is_way = |name: &str| wrong.ways.iter().any(|way| way.words == name || way.path.ends_with(&format!("/{name}")));
    let message = answer.message();
    let words = message.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
    let mut named: Vec<String> = words.filter(|word| functions.contains(*word)).map(str::to_owned).collect();
    named.extend(suggestions(&answer));
    if !named.iter().all(|name| is_way(name)) {
        return Grade::Misled;
    }
    // A name counts where it is suggested, or is a function's; the names of arguments with faults do not.
    let is_told = |way: &&Way| {
        named.iter().any(|name| name == way.words) || (way.words.contains(' ') && message.contains(way.words))
    };
    let followed: Vec<&Way> = wrong.ways.iter().filter(is_told).collect();
    for way in &followed {
        let client = shop.client();
        let client = way.idempotency_key.map_or(client.clone(), |key| client.idempotency_key(key));
        let done = client.post(&way.path, &way.body);
        assert_eq!(done.status, 200, "{} names {}: {}", wrong.path, way.words, done.body);
    }
    if followed.is_empty() { Grade::Told } else { Grade::Led }
}

fn checkout(shop: &Shop, more: &Value) -> Value {
    shop.checkout_of(5_000, more)
}

fn without(body: &Value, name: &str) -> Value {
    let mut body = body.clone();
    body.as_object_mut().expect("an object").remove(name);
    body
}

/// Functions that other services have.
fn of_functions(shop: &Shop) -> Vec<Wrong> {
    let start = || way("start-checkout", "start-checkout", checkout(shop, &json!({})));
    let initiate = || way("initiate-payment-flow", "initiate-payment-flow", shop.initiation(&shop.session(700), 700));
    let of = |payment: &str| json!({ "payment_id": payment });
    let paid = shop.pay(900);
    let authorized = shop.initiate(&shop.session(800), 800, &json!({ "capture": false })).id();
    shop.settled(&authorized);
    let ended = shop.call("start-checkout", &checkout(shop, &json!({}))).id();
    let ended = ended.rsplit('/').next().expect("a segment");
    let ended = shop.call("find-checkout", &json!({ "checkout_id": ended })).ok()["checkout_id"].clone();
    let token = shop.token_of("4242424242424242", "SINGLE");
    let select = json!({ "amount": 700, "currency": "THB", "payment_method": "CARD", "token": token });
    let select =
        Way { path: "/sdk/select-payment-method".to_owned(), ..way("select-payment-method", "", shop.named(&select)) };
    let refund = || way("refund-payment", "refund-payment", merged(&of(&paid), &json!({ "amount": 100 })));
    let contact = json!({ "contact_email": "ada@shop.example" });
    vec![
        wrong("/merchants/create-checkout", json!({}), vec![start()]),
        wrong("/merchants/create_checkout", json!({}), vec![start()]),
        wrong("/v1/checkout/sessions", json!({}), vec![start()]),
        wrong("/merchants/create-payment-link", json!({}), vec![start()]),
        wrong("/merchants/create-refund", json!({}), vec![refund()]),
        wrong("/merchants/create-customer", json!({}), vec![way("add-contact", "add-contact", contact)]),
        wrong("/merchants/list-customers", json!({}), vec![way("list-contacts", "list-contacts", json!({}))]),
        wrong(
            "/merchants/cancel-payment",
            of(&authorized),
            vec![
                way("void-payment", "void-payment", of(&authorized)),
                refund(),
                way("expire-checkout", "expire-checkout", json!({ "checkout_id": ended })),
            ],
        ),
        wrong("/merchants/create-subscription", json!({}), vec![start(), select, initiate()]),
        wrong(
            "/v1/payment_intents",
            json!({}),
            vec![
                start(),
                initiate(),
                way("find-payment", "find-payment", of(&paid)),
                way("list-payments", "list-payments", json!({})),
            ],
        ),
    ]
}

/// Arguments that other services have.
fn of_arguments(shop: &Shop) -> Vec<Wrong> {
    let paid = shop.pay(900);
    let lines = json!([{ "name": "Tea", "amount": 5_000 }]);
    let start = |more: Value| checkout(shop, &more);
    let success = without(&start(json!({ "success_url": "https://shop.example/done" })), "return_url");
    let list = |tried: &str, value: &str| {
        let found = way("terms", "list-payments", json!({ "terms": value }));
        wrong("/merchants/list-payments", json!({ tried: value }), vec![found])
    };
    let noted = json!({ "key": "order-1", "metadata": { "description": "Tea" } });
    let keys = |more: Value| merged(&json!({ "name": "Server" }), &more);
    let start_path = "/merchants/start-checkout";
    vec![
        wrong(start_path, success, vec![way("return_url", "start-checkout", start(json!({})))]),
        wrong(
            start_path,
            start(json!({ "line_items": lines })),
            vec![way("lines", "start-checkout", start(json!({ "lines": lines })))],
        ),
        wrong(
            start_path,
            start(json!({ "description": "Tea" })),
            vec![
                way("sync-metadata", "sync-metadata", noted),
                way("names of lines of start-checkout", "start-checkout", start(json!({ "lines": lines }))),
            ],
        ),
        wrong(
            start_path,
            start(json!({ "mode": "payment" })),
            vec![way("leave it out", "start-checkout", start(json!({})))],
        ),
        wrong(
            start_path,
            start(json!({ "idempotency_key": "order-1" })),
            vec![Way {
                idempotency_key: Some("order-1"),
                ..way("the header Idempotency-Key", "start-checkout", start(json!({})))
            }],
        ),
        wrong(
            "/merchants/refund-payment",
            json!({ "payment_id": paid, "amount_to_refund": 100 }),
            vec![way("amount", "refund-payment", json!({ "payment_id": paid, "amount": 100 }))],
        ),
        list("external_id", "order-1"),
        list("search", "order-1"),
        list("email", "ada@shop.example"),
        wrong(
            "/merchants/send-payout",
            json!({ "amount": 100, "destination": "bank" }),
            vec![way("leave it out", "send-payout", json!({ "amount": 100 }))],
        ),
        wrong(
            "/merchants/generate-key",
            keys(json!({ "permissions": ["refunds"] })),
            vec![way("leave it out", "generate-key", keys(json!({})))],
        ),
        wrong(
            "/merchants/invite-user",
            json!({ "email": "ada@shop.example", "role": "admin" }),
            vec![way("role_id", "invite-user", json!({ "email": "ada@shop.example", "role_id": "OWNER" }))],
        ),
    ]
}

/// Values of the wrong kind.
fn of_values(shop: &Shop) -> Vec<Wrong> {
    let url = shop.call("start-checkout", &checkout(shop, &json!({}))).id();
    let id = url.rsplit('/').next().expect("a segment");
    let session = shop.session(600);
    let asked = Way {
        path: "/sdk/retrieve-payment-session".to_owned(),
        ..way("retrieve-payment-session", "", shop.named(&json!({ "payment_session_id": session })))
    };
    let scanned = |more: Value| checkout(shop, &merged(&json!({ "payment_methods": ["PROMPTPAY"] }), &more));
    let discount = json!([{ "name": "Tea", "amount": 6_000 }, { "name": "Discount", "amount": -1_000 }]);
    vec![
        wrong(
            "/merchants/find-checkout",
            json!({ "checkout_id": url }),
            vec![
                way("the last segment alone", "find-checkout", json!({ "checkout_id": id })),
                way("list-checkouts", "list-checkouts", json!({})),
            ],
        ),
        wrong(
            "/merchants/find-payment",
            json!({ "payment_id": session }),
            vec![
                asked,
                way("initiate-payment-flow", "initiate-payment-flow", shop.initiation(&session, 600)),
                way("list-payments", "list-payments", json!({})),
            ],
        ),
        wrong("/merchants/start-checkout", checkout(shop, &json!({ "lines": discount })), vec![]),
        wrong(
            "/merchants/start-checkout",
            scanned(json!({ "capture": false })),
            vec![
                way("Leave payment_methods out", "start-checkout", checkout(shop, &json!({ "capture": false }))),
                way("needs capture: true", "start-checkout", scanned(json!({ "capture": true }))),
            ],
        ),
        wrong(
            "/merchants/generate-key",
            json!({ "name": "Server", "expires_at": "2030-01-01" }),
            vec![way("in Unix seconds", "generate-key", json!({ "name": "Server", "expires_at": 1_893_456_000 }))],
        ),
        wrong(
            "/merchants/list-events",
            json!({ "event": "payment_completed" }),
            vec![way("must be one of: ", "list-events", json!({ "event": "PAYMENT_COMPLETED" }))],
        ),
    ]
}

#[test]
fn requests_in_the_words_of_other_services_are_led_to_what_was_meant() {
    let server = Server::start();
    let shop = server.shop_with(json!({ "name": "Shop", "currency": "THB" }));
    enable(&server, &shop, "PROMPTPAY");
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": 1_000_000 })).ok();
    let functions = functions(&server);
    let all = [of_functions(&shop), of_arguments(&shop), of_values(&shop)];
    let all: Vec<Wrong> = all.into_iter().flatten().collect();
    assert_eq!(all.len(), 28);
    let graded = |wrong: &Wrong| (grade(&shop, &functions, wrong), format!("{} {}", wrong.path, wrong.body));
    let grades: Vec<(Grade, String)> = all.iter().map(graded).collect();
    let of = |grade: Grade| -> Vec<&String> {
        grades.iter().filter(|(given, _)| *given == grade).map(|(_, request)| request).collect()
    };
    assert_eq!(of(Grade::Misled), [""; 0]);
    assert!(of(Grade::Told).len() <= 5, "{:#?}", of(Grade::Told));
}

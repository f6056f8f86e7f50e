//! Many calls at once: each change happens once.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use actix_web::body::to_bytes;
use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Backstage, Server, Shop, id_of_nothing};

/// Callers at once.
const CALLERS: usize = 200;

/// The answers of calls that all start at the same moment.
fn at_once<T: Sync>(inputs: &[T], call: impl Fn(&T) -> ApiAnswer + Sync) -> Vec<ApiAnswer> {
    let start = Barrier::new(inputs.len());
    thread::scope(|scope| {
        let callers: Vec<_> = inputs
            .iter()
            .map(|input| {
                scope.spawn(|| {
                    start.wait();
                    call(input)
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().expect("a caller ends well")).collect()
    })
}

/// The payment of the only successful answer; the others.
#[track_caller]
fn the_winner(answers: Vec<ApiAnswer>) -> (String, Vec<ApiAnswer>) {
    let (mut winners, losers): (Vec<ApiAnswer>, Vec<ApiAnswer>) =
        answers.into_iter().partition(|answer| answer.status == 200);
    assert_eq!(winners.len(), 1, "exactly one payment");
    (winners.remove(0).id(), losers)
}

/// Checks that exactly this payment was captured, once.
#[track_caller]
fn assert_only(shop: &Shop, payment: &str, minor: u64) {
    shop.settled(payment);
    let history = shop.all("balance-history");
    assert_eq!(history.iter().map(|entry| entry["amount"].as_u64()).collect::<Vec<_>>(), [Some(minor)]);
    let activity = shop.all("list-activity-logs");
    assert_eq!(activity.iter().map(|entry| entry["object_id"].clone()).collect::<Vec<_>>(), [json!(payment)]);
    assert_eq!(shop.balance()["pending"], minor);
}

#[test]
fn of_200_sessions_with_one_external_id_exactly_one_pays() {
    let (_server, shop) = Server::with_shop();
    let token = shop.token_of(crate::harness::CARD, "MULTIPLE");
    let sessions: Vec<String> = (0..CALLERS).map(|_| shop.session_with(100, &json!({ "token": token }))).collect();
    let more = json!({ "external_id": "order-1", "customer_email": "ada@example.com" });
    let (payment, losers) = the_winner(at_once(&sessions, |session| shop.initiate(session, 100, &more)));
    assert_eq!(losers.len(), CALLERS - 1);
    for loser in &losers {
        let expected = json!({ "argument": "external_id", "payment_id": payment });
        assert_eq!(loser.refused("CONFLICT"), expected, "the winner, and never one that was not made");
    }
    assert_only(&shop, &payment, 100);
    let paid_with = shop.payment(&payment)["payment_session_id"].clone();
    let usable = sessions.iter().filter(|session| shop.payment_session(session)["status"] == "ACTIVE");
    assert!(usable.clone().all(|session| paid_with != json!(session)));
    assert_eq!(usable.count(), CALLERS - 1);
}

#[test]
fn of_200_calls_with_one_session_exactly_one_pays() {
    let (_server, shop) = Server::with_shop();
    let session = shop.session(100);
    let calls: Vec<Value> = (0..CALLERS).map(|number| json!({ "external_id": format!("order-{number}") })).collect();
    let (payment, losers) = the_winner(at_once(&calls, |more| shop.initiate(&session, 100, more)));
    for loser in &losers {
        let expected = json!({ "argument": "payment_session_id", "payment_id": payment });
        assert_eq!(loser.refused("NOT_FOUND"), expected);
    }
    assert_only(&shop, &payment, 100);
    let external_ids = calls.iter().map(|more| json!({ "payment_id": more["external_id"] }));
    let found = external_ids.filter(|body| shop.call("find-payment", body).status == 200).count();
    assert_eq!(found, 1, "a loser's external_id is free");
}

#[test]
fn one_idempotency_key_100_times_at_once_is_one_payment() {
    let (_server, shop) = Server::with_shop();
    let body = shop.initiation(&shop.session(100), 100);
    let path = "/merchants/initiate-payment-flow";
    let client = shop.client().idempotency_key("order-1");
    let answers = at_once(&[(); 100], |()| client.post(path, &body));
    let fresh = answers.iter().filter(|answer| answer.header("idempotent-replayed").is_none()).count();
    assert_eq!(fresh, 1, "one was carried out, the others waited for it");
    let payment = answers[0].clone().id();
    assert!(answers.iter().all(|answer| answer.status == 200 && answer.body == json!(payment)));
    assert_only(&shop, &payment, 100);
}

#[test]
fn one_key_at_once_with_different_bodies_is_one_payment() {
    let (_server, shop) = Server::with_shop();
    let session = shop.session(100);
    let client = shop.client().idempotency_key("order-1");
    let bodies: Vec<Value> = (0..50)
        .map(|number| {
            crate::harness::merged(
                &shop.initiation(&session, 100),
                &json!({ "external_id": format!("order-{number}") }),
            )
        })
        .collect();
    let (payment, losers) = the_winner(at_once(&bodies, |body| client.post("/merchants/initiate-payment-flow", body)));
    losers.iter().for_each(|loser| assert_eq!(loser.refused("IDEMPOTENCY_KEY_REUSED"), Value::Null));
    assert_only(&shop, &payment, 100);
}

#[test]
fn of_100_selections_of_a_single_use_token_one_gets_a_session() {
    let (_server, shop) = Server::with_shop();
    let body = json!({ "amount": 100, "currency": "THB", "payment_method": "CARD",
        "token": shop.token_of(crate::harness::CARD, "SINGLE") });
    let (session, losers) = the_winner(at_once(&[(); 100], |()| shop.sdk("select-payment-method", &body)));
    losers.iter().for_each(|loser| assert_eq!(loser.refused("TOKEN_ALREADY_USED"), Value::Null));
    assert_only(&shop, &shop.initiate(&session, 100, &json!({})).id(), 100);
}

#[test]
fn payments_at_once_for_one_new_customer_make_one_customer() {
    let (_server, shop) = Server::with_shop();
    let token = shop.token_of(crate::harness::CARD, "MULTIPLE");
    let sessions: Vec<String> = (0..50).map(|_| shop.session_with(100, &json!({ "token": token }))).collect();
    let more = json!({ "customer_id": "ada", "customer_email": "ada@example.com", "save_card": "DEFAULT" });
    let answers = at_once(&sessions, |session| shop.initiate(session, 100, &more));
    let payments: Vec<Value> = answers.into_iter().map(|answer| shop.settled(&answer.id())).collect();
    let customer = shop.contact("ada");
    assert!(payments.iter().all(|payment| payment["customer_id"] == customer["contact_id"]));
    assert!(customer["default_card_id"].is_string());
    assert_eq!(shop.balance()["pending"], 5_000);
    assert_eq!((shop.all("balance-history").len(), shop.all("list-activity-logs").len()), (50, 50));
}

#[test]
fn refused_calls_at_once_leave_a_session_that_still_pays() {
    let (_server, shop) = Server::with_shop();
    let session = shop.session(100);
    let before = shop.picture(&[&session]);
    let wrong = [
        json!({ "amount": "99" }),
        json!({ "customer_id": "ctc_1" }),
        json!({ "payment_session_id": id_of_nothing(&session) }),
    ];
    let calls: Vec<&Value> = wrong.iter().cycle().take(99).collect();
    assert!(at_once(&calls, |more| shop.initiate(&session, 100, more)).iter().all(|answer| answer.status == 400));
    assert_eq!(shop.picture(&[&session]), before);
    assert_only(&shop, &shop.initiate(&session, 100, &json!({})).id(), 100);
}

#[test]
fn many_merchants_at_once_each_get_their_own_payment() {
    let server = Server::start();
    let shops: Vec<(Shop, String)> = (0..20)
        .map(|_| {
            let shop = server.shop();
            let session = shop.session(100);
            (shop, session)
        })
        .collect();
    let answers = at_once(&shops, |(shop, session)| shop.initiate(session, 100, &json!({ "external_id": "order-1" })));
    for ((shop, _), answer) in shops.iter().zip(answers) {
        let payment = answer.id();
        assert_only(shop, &payment, 100);
        assert_eq!(shop.payment("order-1")["payment_id"], payment);
    }
}

#[actix_web::test]
async fn a_merchant_whose_creator_was_lost_is_found_by_the_next_call() {
    let stage = Backstage::start();
    let body = json!({ "name": "Shop", "currency": "THB" });
    stage.store().hold_appends();
    let mut first = Box::pin(stage.named("once", "create-merchant", &body));
    while stage.in_flight() == 0 {
        assert!(goes_on_for(&mut first, Duration::from_millis(1)).await, "it waits for the commit");
    }
    drop(first);
    let mut second = Box::pin(stage.named("once", "create-merchant", &body));
    assert!(goes_on_for(&mut second, Duration::from_millis(200)).await, "it waits for the first one's commit");
    assert_eq!(stage.in_flight(), 1, "it has not begun to make another merchant");
    stage.store().resume_appends();
    let second = second.await;
    assert_eq!(second.status(), 200);
    assert_eq!(second.headers().get("idempotent-replayed").and_then(|value| value.to_str().ok()), Some("true"));
    let merchants = stage.named("none", "list-merchants", &json!({})).await;
    let merchants = to_bytes(merchants.into_body()).await.unwrap_or_else(|error| panic!("{error}"));
    let merchants: Value = serde_json::from_slice(&merchants).expect("JSON");
    assert_eq!(merchants["page"].as_array().map(Vec::len), Some(1));
}

/// Polls a call for this time. True when it has not been answered by then.
async fn goes_on_for(call: &mut (impl Future + Unpin), time: Duration) -> bool {
    actix_web::rt::time::timeout(time, call).await.is_err()
}

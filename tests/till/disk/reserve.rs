//! The reserve: writes are refused while there is one byte less.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Server, Shop, Start, merged};

#[track_caller]
fn is_not_done(answer: &ApiAnswer) {
    assert_eq!((answer.status, answer.code()), (503, "UNAVAILABLE"), "{}", answer.body);
    assert_eq!(answer.details(), json!({ "outcome": "not_done" }));
    assert!(answer.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok()));
}

/// Checks that a merchant can change nothing, and read everything.
#[track_caller]
pub(super) fn writes_are_refused(server: &Server, shop: &Shop, session: &str, payment: &str) {
    let before = shop.picture(&[payment, session]);
    is_not_done(&shop.initiate(session, 100, &json!({})));
    is_not_done(&shop.call("invite-user", &json!({ "email": "ada@shop.example" })));
    is_not_done(
        &shop.sdk("select-payment-method", &json!({ "amount": 1, "currency": "THB", "payment_method": "CARD" })),
    );
    assert_eq!(shop.picture(&[payment, session]), before);
    assert_ne!(server.admin("create-checkpoint", &json!({})).status, 200, "the reserve is not for copies");
}

/// Checks that the operator can act, and that a merchant can end a key and a webhook, while other calls are refused all
/// the time.
fn urgent_changes_are_made(server: &Server, shop: &Shop, webhook: &str) {
    let of_shop = json!({ "merchant_id": shop.merchant_id });
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !has_ended.load(Relaxed) {
                    is_not_done(&shop.call("add-to-metadata-set", &json!({ "key": "a", "value": 1 })));
                }
            });
        }
        let generate = json!({ "merchant_id": shop.merchant_id, "name": "second" });
        let key = done(|| server.admin("generate-key", &generate));
        assert_eq!(done(|| shop.call("revoke-key", &json!({ "key_id": key["key_id"] }))), true);
        assert_eq!(done(|| shop.call("disconnect-webhook", &json!({ "webhook_id": webhook }))), true);
        has_ended.store(true, Relaxed);
    });
    assert_eq!(
        done(|| server.admin("add-topup", &merged(&of_shop, &json!({ "amount": 1 })))).as_str().map(|id| &id[..4]),
        Some("tup_")
    );
    assert_eq!(done(|| server.admin("suspend-merchant", &of_shop)), true);
    assert_eq!(done(|| server.admin("resume-merchant", &of_shop)), true);
}

/// The answer of a call that may have to be repeated, since it was decided on a change that was refused.
#[track_caller]
pub(super) fn done(call: impl Fn() -> ApiAnswer) -> Value {
    let answer = (0..10).map(|_| call()).find(|answer| answer.status != 503);
    answer.expect("it is done at the latest the tenth time").ok()
}

#[test]
fn while_the_reserve_is_used_up_writes_fail_and_reads_succeed() {
    let (mut server, shop) = Server::with_shop();
    let webhook = shop.call(
        "connect-webhook",
        &json!({ "name": "a", "destination_url": "https://shop.example/hook", "events": ["*"] }),
    );
    let webhook = webhook.ok()["webhook_id"].as_str().expect("an id").to_owned();
    let (payment, session) = (shop.pay(100), shop.session(100));
    assert!(server.stop());
    let data = server.data().to_owned();
    let without_space = Start::default().with("TILL_DISK_RESERVE_BYTES", &u64::MAX.to_string());
    let mut full = without_space.server_in(&data);
    writes_are_refused(&full, &shop.on(&full), &session, &payment);
    urgent_changes_are_made(&full, &shop.on(&full), &webhook);
    assert!(full.stop(), "it can be stopped without space");
    let server = Start::default().server_in(&data);
    let shop = shop.on(&server);
    let paid = shop.initiate(&session, 100, &json!({})).id();
    assert_eq!(shop.settled(&paid)["status"], "SUCCESSFUL");
}

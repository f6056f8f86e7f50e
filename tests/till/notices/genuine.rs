//! Judging: a notice is genuine by the secret of its account, and all others are refused alike.

use std::collections::BTreeSet;

use serde_json::json;

use super::sender::{NoticeSender, about};
use crate::harness::{RawAnswer, Server, Wire, chunked, id_of_nothing, now_seconds};

/// A reference of nothing.
const NOTHING: &str = "pay_01h2e8kqvbfwea724h75qc655w/authorize";

fn notices(server: &Server, result: &str) -> Option<f64> {
    server.metric(&format!("till_acquirer_notices_total{{result=\"{result}\"}}"))
}

/// An answer without what differs from request to request.
fn alike(answer: RawAnswer) -> (u16, BTreeSet<(String, String)>, Vec<u8>) {
    let differs = |name: &str| name == "x-request-id" || name == "date";
    (answer.status, answer.headers.into_iter().filter(|(name, _)| !differs(name)).collect(), answer.body)
}

#[test]
fn what_is_not_genuine_is_refused_with_the_same_bytes() {
    let (server, shop) = Server::with_shop();
    let [own, other] = ["first", "second"].map(|name| NoticeSender::add(&server, &shop.merchant_id, name));
    let removed = NoticeSender::add(&server, &shop.merchant_id, "third");
    let named = json!({ "merchant_id": shop.merchant_id, "acquirer_id": removed.acquirer_id });
    server.admin("remove-acquirer", &named).ok();
    let silent = json!({
        "merchant_id": shop.merchant_id, "acquirer": "stripe", "name": "A", "secret": "sk_test_0000000000000000",
        "unchecked": true,
    });
    let silent = server.admin("add-acquirer", &silent).id();
    let (wire, body, now) = (Wire::to(&server), about(NOTHING), now_seconds());
    let send = |path: &str, signature: &str| wire.receive("POST", path, &[("Stripe-Signature", signature)], &body);
    let path = |id: &str| format!("/acquirers/{id}/notices");
    let genuine = own.signature(now, &body);
    let expected = wire.receive("POST", &own.path(), &[], &body);
    assert_eq!(expected.clone().answer().refused("FORBIDDEN"), json!(null));
    let expected = alike(expected);
    for (case, answer) in [
        ("the signature of another account", send(&own.path(), &other.signature(now, &body))),
        ("too old", send(&own.path(), &own.signature(now - 301, &body))),
        ("of the future", send(&own.path(), &own.signature(now + 310, &body))),
        ("v0 only", send(&own.path(), &format!("t={now},v0={}", own.code(now, &body)))),
        ("another body", send(&own.path(), &own.signature(now, b"{}"))),
        ("nothing in the header", send(&own.path(), "")),
        ("an unknown account", send(&path(&id_of_nothing(&own.acquirer_id)), &genuine)),
        ("what is no id", send(&path("x"), &genuine)),
        ("an account without a secret", send(&path(&silent), &genuine)),
        ("a removed account", send(&removed.path(), &removed.signature(now, &body))),
    ] {
        assert_eq!(alike(answer), expected, "{case}");
    }
    assert_eq!(notices(&server, "refused"), Some(11.0));
    assert_eq!((send(&own.path(), &genuine).status, notices(&server, "ignored")), (200, Some(1.0)));
}

#[test]
fn a_genuine_notice_is_taken_whatever_its_form() {
    let (server, shop) = Server::with_shop();
    let own = NoticeSender::add(&server, &shop.merchant_id, "first");
    let (wire, now) = (Wire::to(&server), now_seconds());
    for body in [b"".to_vec(), b"\xff no JSON".to_vec(), b"[".repeat(1 << 20), about(NOTHING)] {
        let answer = own.send(&server, &body);
        assert_eq!((answer.status, answer.body.as_slice()), (200, b"true".as_slice()));
        let signature = format!("t={now},v1={},v0=0,v1={}", "0".repeat(64), own.code(now, &body));
        let headers = [("Stripe-Signature", signature.as_str()), ("Content-Type", "text/plain; charset=utf-8")];
        assert_eq!(wire.receive("POST", &own.path(), &headers, &body).status, 200, "one of several codes counts");
    }
    for late in [now - 290, now + 290] {
        let body = about(NOTHING);
        let headers = [("Stripe-Signature", &*own.signature(late, &body))];
        assert_eq!(wire.receive("POST", &own.path(), &headers, &body).status, 200);
    }
}

#[test]
fn other_methods_and_larger_bodies_are_refused() {
    let (server, shop) = Server::with_shop();
    let own = NoticeSender::add(&server, &shop.merchant_id, "first");
    let (wire, body) = (Wire::to(&server), vec![b' '; 2 << 20]);
    let get = wire.receive("GET", &own.path(), &[], b"");
    assert_eq!((get.status, get.header("allow")), (405, Some("POST")));
    assert_eq!(get.answer().code(), "METHOD_NOT_ALLOWED");
    for path in [own.path() + "/", format!("/acquirers/{}", own.acquirer_id), "/acquirers//notices".to_owned()] {
        assert_eq!(wire.send("POST", &path, &[], b"").code(), "UNKNOWN_ENDPOINT", "{path}");
    }
    let signature = own.signature(now_seconds(), &body);
    let signed = [("Stripe-Signature", signature.as_str())];
    let unknown = format!("/acquirers/{}/notices", id_of_nothing(&own.acquirer_id));
    for path in [&own.path(), &unknown] {
        let answer = wire.send("POST", path, &signed, &body);
        assert_eq!((answer.status, answer.code()), (413, "BODY_TOO_LARGE"), "{path}");
    }
    let in_chunks = [("Stripe-Signature", signature.as_str()), ("Transfer-Encoding", "chunked")];
    assert_eq!(wire.send("POST", &own.path(), &in_chunks, &chunked(&body)).status, 413);
}

#[test]
fn an_account_has_a_rate_which_strangers_do_not_use_up() {
    let (server, shop) = Server::with_shop();
    let [own, other] = ["first", "second"].map(|name| NoticeSender::add(&server, &shop.merchant_id, name));
    let (body, client) = (about(NOTHING), server.client());
    let send = |sender: &NoticeSender, signer: &NoticeSender| {
        let signed = client.clone().header("Stripe-Signature", &signer.signature(now_seconds(), &body));
        signed.post_bytes(&sender.path(), &body)
    };
    assert!((0..1_200).all(|_| send(&own, &other).status == 400));
    let taken =
        (0..5_000).find_map(|number| Some((number, send(&own, &own))).filter(|(_, answer)| answer.status != 200));
    let (taken, refused) = taken.expect("one is refused");
    assert_eq!((refused.status, refused.details()), (429, json!({ "limit_per_second": 100 })), "{}", refused.body);
    assert!(taken >= 1_000, "{taken}");
    assert_eq!((send(&own, &other).status, send(&other, &other).status), (400, 200));
    assert!(notices(&server, "limited").is_some_and(|count| count >= 1.0));
}

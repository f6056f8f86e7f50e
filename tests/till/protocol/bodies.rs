//! Bodies: the rules for JSON, for objects and for the size.

use std::io::Write;

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Server, Wire, chunked, received};

/// Bytes of a body, at most.
const BODY_MAX: usize = 1 << 20;

/// Posts bytes to an endpoint that takes `per_page` and changes nothing.
struct Poster {
    wire: Wire,
    key: String,
}

impl Poster {
    fn new(server: &Server) -> Poster {
        Poster { wire: Wire::to(server), key: format!("Bearer {}", server.shop().key) }
    }

    fn post(&self, body: &[u8]) -> ApiAnswer {
        self.post_with(&[], body)
    }

    fn post_with(&self, more: &[(&str, &str)], body: &[u8]) -> ApiAnswer {
        let own = [("Content-Type", "application/json"), ("Authorization", self.key.as_str())];
        self.wire.send("POST", "/merchants/list-activity-logs", &[&own, more].concat(), body)
    }

    /// True when the body could be parsed as JSON: else the refusal names no argument.
    #[track_caller]
    fn is_malformed(&self, body: &[u8]) -> bool {
        let answer = self.post(body);
        answer.status != 200 && answer.refused("INVALID_ARGUMENTS") == json!([])
    }
}

fn nested(levels: usize) -> String {
    // The body itself is level 1.
    format!("{{\"x\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1))
}

#[test]
fn a_body_that_is_not_one_json_object_is_malformed() {
    let (_server, poster) = Server::with(Poster::new);
    let bodies: [&[u8]; 40] = [
        b"",
        b" ",
        b"\n",
        b"{",
        b"}",
        b"[]",
        b"\"\"",
        b"null",
        b"1",
        b"true",
        b"{}{}",
        b"{} x",
        b"{},",
        b"{'a':1}",
        b"{a:1}",
        b"{\"a\":1,}",
        b"{\"a\" 1}",
        b"{\"a\":}",
        b"{\"a\":01}",
        b"{\"a\":+1}",
        b"{\"a\":.5}",
        b"{\"a\":1.}",
        b"{\"a\":NaN}",
        b"{\"a\":Infinity}",
        b"{\"a\":0x1}",
        b"{\"a\":tru}",
        b"{\"a\":\"\\x\"}",
        b"{\"a\":\"\n\"}",
        b"{\"a\":\"\0\"}",
        b"{\"a\":1}\0",
        b"\xEF\xBB\xBF{}",
        b"{\"a\":\"\xFF\"}",
        b"{\"a\":\"\xC0\x80\"}",
        b"{\"a\":\"\xED\xA0\x80\"}",
        b"{\"a\":\"\\ud800\"}",
        b"{\"a\":\"\\udc00\\ud800\"}",
        b"{\"a\":\"\\ud800x\"}",
        b"/**/{}",
        b"{\"a\":1 // b\n}",
        b"\xFE\xFF\0{\0}",
    ];
    for body in bodies {
        assert!(poster.is_malformed(body), "{}", String::from_utf8_lossy(body));
    }
    poster.post(b" \t\r\n{ } \n").ok();
    assert_eq!(
        poster.post(b"{\"a\":\"\\ud83d\\ude00\"}").faults(),
        ["unknown a"],
        "a pair of surrogates is a character"
    );
}

#[test]
fn a_key_twice_in_any_object_is_malformed() {
    let (_server, poster) = Server::with(Poster::new);
    for body in [
        r#"{"per_page":1,"per_page":1}"#,
        r#"{"per_page":1,"per_p\u0061ge":2}"#,
        r#"{"x":{"a":1,"a":1}}"#,
        r#"{"x":[{"y":{"z":[{"a":1,"b":2,"a":3}]}}]}"#,
        r#"{"":1,"":2}"#,
    ] {
        assert!(poster.is_malformed(body.as_bytes()), "{body}");
    }
    assert_eq!(poster.post(br#"{"x":{"a":1},"y":{"a":1}}"#).faults(), ["unknown x", "unknown y"]);
}

#[test]
fn a_body_may_nest_64_levels_and_no_more() {
    let (_server, poster) = Server::with(Poster::new);
    assert_eq!(poster.post(nested(64).as_bytes()).faults(), ["unknown x"]);
    for levels in [65, 66, 127, 128, 129, 1_000, 100_000] {
        assert!(poster.is_malformed(nested(levels).as_bytes()), "{levels}");
    }
    let objects = format!("{}1{}", "{\"a\":".repeat(65), "}".repeat(65));
    assert!(poster.is_malformed(objects.as_bytes()));
}

#[test]
fn numbers_that_json_cannot_hold_exactly_are_malformed() {
    let (_server, poster) = Server::with(Poster::new);
    for number in [
        "9007199254740992",
        "-9007199254740992",
        "18446744073709551616",
        "1e16",
        "-1e16",
        "9007199254740992.5",
        "1e20",
        "1e309",
        "-1e309",
        "1e400",
        "1e-400",
        "123456789012345678901234567890",
    ] {
        assert!(poster.is_malformed(format!("{{\"x\":{number}}}").as_bytes()), "{number}");
        assert!(poster.is_malformed(format!("{{\"x\":[{{\"y\":{number}}}]}}").as_bytes()), "{number}");
    }
    for number in ["9007199254740991", "-9007199254740991", "1e15", "-0", "0.1", "1E+2", "5e-324"] {
        assert_eq!(poster.post(format!("{{\"x\":{number}}}").as_bytes()).faults(), ["unknown x"], "{number}");
    }
}

#[test]
fn an_integer_is_one_by_value() {
    let (_server, poster) = Server::with(Poster::new);
    for three in ["3", "3.0", "3.000", "3e0", "0.3e1", "30e-1", "300E-2"] {
        poster.post(format!("{{\"per_page\":{three}}}").as_bytes()).ok();
    }
    for other in ["3.5", "0", "-1", "101", "1e2000e", "\"3\"", "true", "[3]", "{}", "9007199254740991", "1e300"] {
        let answer = poster.post(format!("{{\"per_page\":{other}}}").as_bytes());
        answer.refused("INVALID_ARGUMENTS");
    }
}

#[test]
fn text_with_control_characters_is_refused() {
    let server = Server::start();
    for name in ["a\u{0}b", "\n", "\u{7f}", "\u{85}", "a\tb"] {
        let answer = server.admin("create-merchant", &json!({ "name": name, "currency": "THB" }));
        assert_eq!(answer.faults(), ["invalid name"], "{name:?}");
    }
}

#[test]
fn a_body_of_one_mebibyte_is_taken_and_one_byte_more_is_not() {
    let (_server, poster) = Server::with(Poster::new);
    let padded = |length: usize| [b"{}".as_slice(), &vec![b' '; length - 2]].concat();
    poster.post(&padded(BODY_MAX)).ok();
    let over = poster.post(&padded(BODY_MAX + 1));
    assert_eq!((over.status, over.code()), (413, "BODY_TOO_LARGE"));
    let in_chunks = [("Transfer-Encoding", "chunked")];
    poster.post_with(&in_chunks, &chunked(&padded(BODY_MAX))).ok();
    let over = poster.post_with(&in_chunks, &chunked(&padded(BODY_MAX + 1)));
    assert_eq!((over.status, over.code()), (413, "BODY_TOO_LARGE"));
    for announced in ["1048577", "4294967296", "18446744073709551615"] {
        let answer = poster.post_with(&[("Content-Length", announced)], b"");
        assert_eq!((answer.status, answer.code()), (413, "BODY_TOO_LARGE"), "{announced}");
        assert_eq!(answer.body.as_array().map(Vec::len), Some(3));
    }
}

/// The answers to a body of `/sdk`, in one piece and in chunks.
fn sdk_answers(wire: &Wire, path: &str, body: &[u8]) -> [(u16, String); 2] {
    let json = ("Content-Type", "application/json");
    let in_chunks = [json, ("Transfer-Encoding", "chunked")];
    [wire.send("POST", path, &[json], body), wire.send("POST", path, &in_chunks, &chunked(body))]
        .map(|answer| (answer.status, answer.code().to_owned()))
}

#[test]
fn a_device_s_body_is_at_most_64_kib() {
    let (_server, wire) = Server::with(Wire::to);
    let padded = |length: usize| [b"{\"x\":1}".as_slice(), &vec![b' '; length - 7]].concat();
    for path in ["/sdk/check-status", "/sdk"] {
        for (status, code) in sdk_answers(&wire, path, &padded(1 << 16)) {
            assert_eq!((status, code.as_str()), (400, "INVALID_ARGUMENTS"), "{path}");
        }
        for (status, code) in sdk_answers(&wire, path, &padded((1 << 16) + 1)) {
            assert_eq!((status, code.as_str()), (413, "BODY_TOO_LARGE"), "{path}");
        }
    }
}

#[test]
fn metadata_may_have_more_values_than_other_arguments() {
    let (_server, shop) = Server::with_shop();
    let many = vec![0; 500_000];
    let record = json!({ "key": "many", "metadata": many });
    assert_eq!(shop.call("sync-metadata", &record).ok()["metadata"].as_array().map(Vec::len), Some(500_000));
    for body in [json!({ "key": many, "metadata": 1 }), json!({ "key": "k", "metadata": 1, "x": many })] {
        let answer = shop.call("sync-metadata", &body);
        assert_eq!(answer.refused("INVALID_ARGUMENTS"), json!([]));
        assert!(answer.message().contains("more than 1000 values"), "{}", answer.message());
    }
}

#[test]
fn a_body_that_breaks_off_changes_nothing() {
    let (server, shop) = Server::with_shop();
    let session = shop.session(100);
    let body = shop.initiation(&session, 100).to_string();
    let mut stream = Wire::to(&server).connect();
    let head = format!(
        "POST /merchants/initiate-payment-flow HTTP/1.1\r\nHost: a\r\nContent-Type: \
            application/json\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
        shop.key,
        body.len() + 1
    );
    stream.write_all(head.as_bytes()).expect("the server reads");
    stream.write_all(body.as_bytes()).expect("the server reads");
    stream.shutdown(std::net::Shutdown::Write).expect("it can be ended");
    assert_ne!(received(&mut stream).status, 200);
    let status = shop.sdk("retrieve-payment-session", &json!({ "payment_session_id": session })).ok();
    assert_eq!(status["status"], "ACTIVE");
    shop.initiate(&session, 100, &json!({})).ok();
}

#[test]
fn an_answer_is_any_json_value_bare() {
    let (server, shop) = Server::with_shop();
    let string = server.admin("create-merchant", &json!({ "name": "A", "currency": "THB" })).ok();
    assert!(string.is_string());
    assert_eq!(server.admin("open-balance", &json!({ "merchant_id": string })).ok(), Value::Bool(true));
    assert!(shop.call("get-balance", &json!({})).ok().is_object());
    assert!(shop.sdk("list-installment-plans", &json!({})).ok().is_array());
}

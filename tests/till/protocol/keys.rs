//! API keys: their form, and the refusals of invalid ones.

use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::harness::{ApiAnswer, Client, Server, Wire, now_seconds};

/// The characters of a key, in the order of their values.
const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// CRC-32 (ISO-HDLC), bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

/// The six check characters at the end of a key.
fn check_characters(random: &str) -> String {
    let mut rest = crc32(random.as_bytes()) as usize;
    let mut characters = Vec::new();
    for _ in 0..6 {
        characters.insert(0, BASE62[rest % 62]);
        rest /= 62;
    }
    String::from_utf8(characters).expect("they are ASCII")
}

fn ask(server: &Server, key: &str) -> ApiAnswer {
    Client::new(server.public()).bearer(key).post("/merchants/get-balance", &json!({}))
}

#[test]
fn a_key_ends_in_the_checksum_of_its_random_part() {
    assert_eq!(crc32(b"123456789"), 0xCBF4_3926, "the check value of the algorithm's catalogue");
    let server = Server::start();
    let key = server.shop().key;
    let rest = key.strip_prefix("sk_").expect("keys begin with sk_");
    assert_eq!(rest.len(), 38);
    assert!(rest.bytes().all(|byte| BASE62.contains(&byte)), "{rest}");
    assert_eq!(rest[32..], check_characters(&rest[..32]));
}

#[test]
fn a_refused_key_reveals_only_a_fault_of_its_form() {
    let (server, shop) = Server::with_shop();
    ask(&server, &shop.key).ok();
    let random = "0123456789abcdefghijABCDEFGHIJ00";
    let unknown = format!("sk_{random}{}", check_characters(random));
    let flipped = format!("{}{}", &shop.key[..40], if shop.key.ends_with('0') { '1' } else { '0' });
    let key_id = shop.key_id.clone();
    let revoked = server.admin("generate-key", &json!({ "merchant_id": shop.merchant_id, "name": "R" })).ok();
    let revocation = json!({ "merchant_id": shop.merchant_id, "key_id": revoked["key_id"] });
    server.admin("revoke-key", &revocation).ok();
    let revoked = revoked["key"].as_str().expect("a key").to_owned();
    let cut_short = shop.key[..20].to_owned();
    let cases = [
        (unknown, "is not valid: it is unknown, has expired or was revoked."),
        (revoked, "is not valid: it is unknown, has expired or was revoked."),
        (flipped, "is mistyped or cut short"),
        (cut_short, "is mistyped or cut short"),
        ("sk_".to_owned(), "is mistyped or cut short"),
        (format!("{}0", shop.key), "is mistyped or cut short"),
        (key_id, "is not an API key"),
        ("x".to_owned(), "is not an API key"),
        ("x".repeat(8000), "is not an API key"),
    ];
    for (key, problem) in cases {
        let answer = ask(&server, &key);
        answer.refused("UNAUTHORIZED");
        assert!(answer.message().contains(problem), "{key}: {}", answer.message());
        assert!(key.len() < 4 || !answer.body.to_string().contains(&key), "{key}");
    }
}

#[test]
fn a_missing_or_doubled_key_or_another_scheme_is_refused() {
    let server = Server::start();
    let key = format!("Bearer {}", server.shop().key);
    let bare = key.trim_start_matches("Bearer ").to_owned();
    let basic = format!("Basic {bare}");
    let two = format!("Bearer {bare} {bare}");
    let wire = Wire::to(&server);
    let json = ("Content-Type", "application/json");
    let cases: [Vec<(&str, &str)>; 7] = [
        vec![json],
        vec![json, ("Authorization", "Bearer")],
        vec![json, ("Authorization", "Bearer ")],
        vec![json, ("Authorization", &bare)],
        vec![json, ("Authorization", &basic)],
        vec![json, ("Authorization", &two)],
        vec![json, ("Authorization", &key), ("Authorization", &key)],
    ];
    for headers in cases {
        wire.send("POST", "/merchants/get-balance", &headers, b"{}").refused("UNAUTHORIZED");
    }
    let lower = key.replace("Bearer", "bearer");
    wire.send("POST", "/merchants/get-balance", &[json, ("Authorization", &lower)], b"{}").ok();
    let in_query = format!("/merchants/get-balance?api_key={bare}&access_token={bare}");
    wire.send("POST", &in_query, &[json], b"{}").refused("UNAUTHORIZED");
}

#[test]
fn the_refusal_names_the_missing_credential_and_its_header() {
    let server = Server::start();
    let missing = server.client().post("/merchants/get-balance", &json!({}));
    missing.refused("UNAUTHORIZED");
    let expected =
        "The header Authorization is missing. Send the API key in the header Authorization: Bearer <API_KEY>.";
    assert_eq!(missing.message(), expected);
    let missing = Client::new(server.admin_address()).post("/admin/list-merchants", &json!({}));
    missing.refused("UNAUTHORIZED");
    let expected =
        "The header Authorization is missing. Send the admin token in the header Authorization: Bearer <ADMIN_TOKEN>.";
    assert_eq!(missing.message(), expected);
}

#[test]
fn the_refusal_of_the_wrong_credential_names_the_right_one() {
    let (server, shop) = Server::with_shop();
    let key_at_admin = Client::new(server.admin_address()).bearer(&shop.key).post("/admin/list-merchants", &json!({}));
    key_at_admin.refused("UNAUTHORIZED");
    assert!(key_at_admin.message().contains("take the admin token"), "{}", key_at_admin.message());
    let token_at_merchants = server.client().bearer("admin-token-of-a-test").post("/merchants/get-balance", &json!({}));
    token_at_merchants.refused("UNAUTHORIZED");
    assert!(token_at_merchants.message().contains("begins with sk_"), "{}", token_at_merchants.message());
}

#[test]
fn a_revoked_key_is_refused_from_the_next_call_on() {
    let (server, shop) = Server::with_shop();
    let other = server.admin("generate-key", &json!({ "merchant_id": shop.merchant_id, "name": "B" })).ok();
    let revocation = json!({ "merchant_id": shop.merchant_id, "key_id": shop.key_id });
    let session = shop.session(100);
    ask(&server, &shop.key).ok();
    assert_eq!(server.admin("revoke-key", &revocation).ok(), true);
    ask(&server, &shop.key).refused("UNAUTHORIZED");
    shop.initiate(&session, 100, &json!({})).refused("UNAUTHORIZED");
    ask(&server, other["key"].as_str().expect("a key")).ok();
    assert_eq!(server.admin("revoke-key", &revocation).ok(), false);
}

#[test]
fn a_key_is_refused_once_it_has_expired() {
    let (server, shop) = Server::with_shop();
    let body = json!({ "merchant_id": shop.merchant_id, "name": "Short", "expires_at": now_seconds() + 3 });
    let key = server.admin("generate-key", &body).ok()["key"].as_str().expect("a key").to_owned();
    ask(&server, &key).ok();
    thread::sleep(Duration::from_millis(3_500));
    let answer = ask(&server, &key);
    answer.refused("UNAUTHORIZED");
    assert!(answer.message().contains("has expired"), "{}", answer.message());
    ask(&server, &shop.key).ok();
}

#[test]
fn a_key_gives_access_only_to_records_of_its_merchant() {
    let (server, mine, theirs) = Server::with_shops();
    let payment = theirs.pay(100);
    mine.call("find-payment", &json!({ "payment_id": payment })).refused("NOT_FOUND");
    mine.initiate(&theirs.session(100), 100, &json!({})).refused("NOT_FOUND");
    assert_eq!(mine.call("list-activity-logs", &json!({})).ok()["page"], json!([]));
    let admin = Client::new(server.admin_address()).bearer(&mine.key);
    admin.post("/admin/list-merchants", &json!({})).refused("UNAUTHORIZED");
    ask(&server, "admin-token-of-a-test").refused("UNAUTHORIZED");
}

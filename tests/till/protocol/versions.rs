//! Versions: the places where a caller names one, and the refusal of one that does not exist.

use serde_json::json;

use crate::harness::{Server, Wire};

/// The only version.
const VERSION: &str = "2025-04-01";
/// The media type of every body.
const JSON: (&str, &str) = ("Content-Type", "application/json");

#[test]
fn a_version_is_named_by_prefix_header_or_query_or_all_of_them() {
    let (server, shop) = Server::with_shop();
    let client = shop.client();
    let named = client.clone().header("Api-Version", VERSION);
    for answer in [
        client.post("/merchants/get-balance", &json!({})),
        client.post("/2025-04-01/merchants/get-balance", &json!({})),
        client.post("/merchants/get-balance?api_version=2025-04-01", &json!({})),
        client.post("/merchants/get-balance?other=1&api_version=2025%2D04%2D01", &json!({})),
        named.post("/merchants/get-balance", &json!({})),
        named.post("/2025-04-01/merchants/get-balance?api_version=2025-04-01", &json!({})),
    ] {
        assert_eq!(answer.header("api-version"), Some(VERSION));
        answer.ok();
    }
    let sdk = server.client().post("/2025-04-01/sdk/retrieve-installation-settings", &shop.named(&json!({})));
    assert_eq!(sdk.header("api-version"), Some(VERSION));
    sdk.ok();
    server.admin_client().post("/2025-04-01/admin/list-merchants", &json!({})).ok();
}

#[test]
fn an_unknown_version_is_refused_wherever_it_is_named() {
    let server = Server::start();
    let key = format!("Bearer {}", server.shop().key);
    let (public, admin) = (Wire::to(&server), Wire::new(server.admin_address()));
    for unknown in ["2025-04-02", "2025-4-1", "latest", "v1", "1", "2025-04-01x"] {
        let header = ("Api-Version", unknown);
        let bearer = ("Authorization", key.as_str());
        let in_query = format!("/merchants/get-balance?api_version={unknown}");
        for (named_in, answer) in [
            ("path", public.send("POST", &format!("/{unknown}/merchants/get-balance"), &[JSON, bearer], b"{}")),
            ("query", public.send("POST", &in_query, &[JSON, bearer], b"{}")),
            ("header", public.send("POST", "/merchants/get-balance", &[JSON, bearer, header], b"{}")),
            ("path", public.send("POST", &format!("/{unknown}/sdk/check-status"), &[JSON], b"{}")),
            ("header", public.send("POST", "/sdk/check-status", &[JSON, header], b"{}")),
            ("header", public.send("POST", "/merchants/available-api-versions", &[JSON, header], b"{}")),
            ("header", public.send("GET", "/merchants", &[header], b"")),
            ("path", admin.send("POST", &format!("/{unknown}/admin/list-merchants"), &[JSON], b"{}")),
            ("header", admin.send("GET", "/admin", &[header], b"")),
        ] {
            let expected = json!({ "versions": [VERSION], "named_in": named_in });
            assert_eq!(answer.refused("BAD_VERSION"), expected, "{unknown}");
            assert!(answer.message().contains(unknown), "{}", answer.message());
        }
    }
    for empty in ["/merchants/get-balance?api_version=", "/merchants/get-balance?api_version"] {
        public.send("POST", empty, &[JSON], b"{}").refused("BAD_VERSION");
    }
    public.send("POST", "/merchants/get-balance", &[JSON, ("Api-Version", "")], b"{}").refused("BAD_VERSION");
}

#[test]
fn two_versions_that_disagree_are_refused() {
    let (_server, wire) = Server::with(Wire::to);
    let (known, unknown) = (("Api-Version", VERSION), ("Api-Version", "2024-01-01"));
    for answer in [
        wire.send("POST", "/2025-04-01/merchants/get-balance", &[JSON, unknown], b"{}"),
        wire.send("POST", "/merchants/get-balance?api_version=2024-01-01", &[JSON, known], b"{}"),
        wire.send("POST", "/2025-04-01/merchants/get-balance?api_version=2024-01-01", &[JSON], b"{}"),
        wire.send("POST", "/merchants/get-balance", &[JSON, known, unknown], b"{}"),
        wire.send("POST", "/merchants/get-balance?api_version=2025-04-01&api_version=x", &[JSON], b"{}"),
    ] {
        answer.refused("BAD_VERSION");
    }
}

#[test]
fn the_versions_can_be_asked_for_without_a_key() {
    let server = Server::start();
    let client = server.client();
    assert_eq!(client.post("/merchants/available-api-versions", &json!({})).ok(), json!([VERSION]));
    assert_eq!(client.post("/2025-04-01/merchants/available-api-versions", &json!({})).ok(), json!([VERSION]));
    let extra = client.post("/merchants/available-api-versions", &json!({ "a": 1 }));
    assert_eq!(extra.faults(), ["unknown a"]);
}

#[test]
fn a_key_is_pinned_to_the_newest_version() {
    let (server, shop) = Server::with_shop();
    let body = json!({ "name": "Pinned" });
    let named = shop.client().header("Api-Version", VERSION).post("/merchants/generate-key", &body).ok();
    let unnamed = shop.call("generate-key", &body).ok();
    let of_shop = json!({ "name": "Pinned", "merchant_id": shop.merchant_id });
    let operators = server.admin_client().header("Api-Version", VERSION).post("/admin/generate-key", &of_shop).ok();
    for key in [&named, &unnamed, &operators] {
        let client = server.client().bearer(key["key"].as_str().expect("a key"));
        let answer = client.post("/merchants/get-balance", &json!({}));
        assert_eq!(answer.header("api-version"), Some(VERSION), "the call itself names none");
        client.header("Api-Version", "2024-01-01").post("/merchants/get-balance", &json!({})).refused("BAD_VERSION");
    }
    let unknown = shop.client().header("Api-Version", "2024-01-01").post("/merchants/generate-key", &body);
    unknown.refused("BAD_VERSION");
    let keys = shop.all("list-keys");
    assert_eq!(keys.len(), 4, "no key was made for a version that there is not");
}

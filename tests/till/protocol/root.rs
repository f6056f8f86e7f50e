//! `GET /`: the entry point for somebody who knows only the host.

use serde_json::{Value, json};

use crate::harness::{Client, Server, Wire};

/// The `Accept` header of a browser that opens an address.
const OPENED: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

#[test]
fn a_program_gets_the_addresses_of_the_documents() {
    let server = Server::start();
    for (base, packages) in [(server.public(), &["merchants", "sdk"][..]), (server.admin_address(), &["admin"])] {
        let root = Client::new(base).get("/").ok();
        let named =
            [&root["docs"], &root["openapi"]].into_iter().chain(packages.iter().map(|name| &root["packages"][*name]));
        for address in named.map(|address| address.as_str().expect("an address")) {
            let path = address.strip_prefix(base).expect("on this listener");
            assert_eq!(Client::new(base).get(path).status, 200, "{address}");
        }
        assert_eq!(root["packages"].as_object().map(serde_json::Map::len), Some(packages.len()));
    }
}

#[test]
fn a_browser_is_taken_to_the_pages() {
    let (server, wire) = Server::with(Wire::to);
    let opened = wire.receive("GET", "/", &[("Accept", OPENED)], b"");
    assert_eq!((opened.status, opened.header("location")), (308, Some("/docs/")));
    let told = wire.receive("GET", "/", &[("Accept", "*/*")], b"");
    assert_eq!((told.status, told.header("content-type")), (200, Some("application/json")));
    let posted = Client::new(server.public()).post("/", &json!({}));
    assert_eq!((posted.status, posted.code(), posted.details()), (405, "METHOD_NOT_ALLOWED", Value::Null));
}

//! Pages and documents that anybody may ask for, from many connections of one address without a pause, and a list of
//! large rows: see `heavy_load.rs`.

use serde_json::{Value, json};

use super::closed_loop::{PreparedRequest, key_of};
use super::heavy_load::{COMPRESSED, HeavyCalls, campaign, many_connections};
use crate::harness::{PATIENCE, Server, Shop, first_answer, merged};
use crate::pages::browser::{Browser, enable};

/// Bytes of a name of a line: the longest, of characters of four bytes.
const LINE_CHARACTERS: usize = 255;

/// Starts a checkout of this number of lines with the longest names; returns its address on the server.
fn checkout(shop: &Shop, lines: usize) -> String {
    let line = json!({ "name": "\u{1f375}".repeat(LINE_CHARACTERS), "amount": 100 });
    let minor = u64::try_from(100 * lines).expect("small");
    let url = shop.start_checkout(minor, &json!({ "lines": vec![line; lines] }));
    url[url.find("/pay/").expect("a path")..].to_owned()
}

fn shop_in_baht(server: &Server) -> Shop {
    let shop = server.shop_with(json!({ "name": "Tea", "currency": "THB" }));
    enable(server, &shop, "PROMPTPAY");
    shop
}

/// The address of the picture of a QR code that waits to be scanned.
fn picture(server: &Server, shop: &Shop) -> String {
    let checkout = checkout(shop, 1);
    let checkout_id = checkout.rsplit('/').next().expect("a segment");
    let paid = json!({ "checkout_id": checkout_id, "payment_method": "PROMPTPAY" });
    let session = shop.sdk("pay-checkout", &paid).id();
    let path = format!("/pay/{}/qr/{session}", shop.merchant_id);
    let browser = Browser::of(server);
    first_answer(PATIENCE, "no code is shown", || browser.get(&path).status, |status| *status == 200);
    path
}

/// Has the request made from many connections, all of which get one of these statuses.
#[track_caller]
fn ask(server: &Server, name: &'static str, request: &PreparedRequest, expected: &'static [u16]) {
    let calls = HeavyCalls::alike(name, request, many_connections());
    HeavyCalls { expected, ..calls }.delay_no_light_calls(server);
}

#[test]
fn forms_of_many_fields_delay_no_light_calls() {
    let server = Server::start();
    let path = checkout(&shop_in_baht(&server), 1);
    let fields = "a&".repeat(32_700);
    ask(&server, "forms of 32,700 fields", &PreparedRequest::form(&path, &fields), &[413]);
    let few = HeavyCalls::alike("the same, 64 connections", &PreparedRequest::form(&path, &fields), 64);
    HeavyCalls { expected: &[413], ..few }.delay_no_light_calls(&server);
    ask(&server, "the same to the sandbox", &PreparedRequest::form("/sandbox/scan", &fields), &[413]);
}

#[test]
fn forms_of_as_many_fields_and_bytes_as_may_be_delay_no_light_calls() {
    let server = Server::start();
    let path = checkout(&shop_in_baht(&server), 1);
    let fields = vec![format!("a={}", "%41".repeat(330)); 64].join("&");
    ask(&server, "forms of 64 fields and 64 KiB", &PreparedRequest::form(&path, &fields), &[303]);
    ask(&server, "the same to the sandbox", &PreparedRequest::form("/sandbox/scan", &fields), &[404]);
}

#[test]
fn pictures_of_qr_codes_delay_no_light_calls() {
    let server = Server::start();
    let path = picture(&server, &shop_in_baht(&server));
    ask(&server, "pictures of a QR code", &PreparedRequest::get(&path, ""), &[200]);
}

#[test]
fn long_heads_of_pages_delay_no_light_calls() {
    let server = Server::start();
    let path = checkout(&shop_in_baht(&server), 1);
    let query = |length: usize| PreparedRequest::get(&format!("{path}?{}", "a&".repeat(length / 2)), "");
    let languages = |length: usize| {
        PreparedRequest::get(&path, &format!("Accept-Language: {}\r\n", "en;q=0.1,".repeat(length / 9)))
    };
    ask(&server, "a query of 58 KB", &query(58_000), &[414]);
    ask(&server, "a query of 8 KiB", &query(8 << 10), &[200]);
    ask(&server, "Accept-Language of 75 KB", &languages(75_000), &[431]);
    ask(&server, "Accept-Language of 8 KB", &languages(8_000), &[200]);
}

#[test]
fn compressed_pages_of_large_checkouts_delay_no_light_calls() {
    let server = Server::start();
    let path = checkout(&shop_in_baht(&server), 100);
    ask(&server, "pages of 100 lines, compressed", &PreparedRequest::get(&path, COMPRESSED), &[200]);
}

#[test]
fn pages_after_a_large_record_delay_no_light_calls() {
    let (server, shop) = Server::with(shop_in_baht);
    let path = checkout(&shop, 1);
    let large = json!({ "key": "large", "metadata": { "text": "x".repeat(1_000_000) } });
    shop.call("sync-metadata", &large).ok();
    ask(&server, "pages after a record of 1 MB", &PreparedRequest::get(&path, ""), &[200]);
}

#[test]
fn lists_of_large_checkouts_delay_no_light_calls() {
    let (server, shop) = Server::with(shop_in_baht);
    (0..if campaign().is_some() { 100 } else { 20 }).for_each(|_| drop(checkout(&shop, 100)));
    for filter in [json!({}), json!({ "status": "OPEN" })] {
        let body: Value = merged(&json!({ "per_page": 100 }), &filter);
        let list = PreparedRequest::post("/merchants/list-checkouts", &key_of(&shop), &body.to_string());
        HeavyCalls::alike("lists of checkouts of 10 MB, 64 connections", &list, 64).delay_no_light_calls(&server);
        ask(&server, "lists of checkouts of 10 MB", &list, &[200]);
    }
}

/// The call that finds a checkout of 100 lines, compressed.
fn compressed_checkout(shop: &Shop) -> PreparedRequest {
    let checkout = checkout(shop, 100);
    let id = checkout.rsplit('/').next().expect("a segment");
    let body = json!({ "checkout_id": id.split('.').next().expect("the id") });
    PreparedRequest::post("/merchants/find-checkout", &(key_of(shop) + COMPRESSED), &body.to_string())
}

#[test]
fn compressed_documents_delay_no_compressed_answer_of_a_merchant() {
    let request = PreparedRequest::get("/openapi.json", COMPRESSED);
    let calls = HeavyCalls::alike("compressed documents beside a compressed answer", &request, many_connections());
    HeavyCalls { read: compressed_checkout, ..calls }.delay_no_light_calls(&Server::start());
}

//! Texts of callers on pages and in the log: contract, section 15.

use std::fs::read_to_string;

use serde_json::json;

use super::browser::{Browser, by_method, challenged, form, page, page_of, return_path, shop_with_all_methods};
use crate::harness::{Server, Start};

/// Markup, quotes of both kinds, and what begins an entity.
const MARKUP: &str = "</dd><script>alert('1')</script>\"onload=\"x&lt;<b>";

/// The marks of [`MARKUP`] that must not stand on a page as they were written.
const RAW: [&str; 5] = ["<script", "</dd><s", "'1'", "\"onload", "<b>"];

#[track_caller]
fn is_escaped(text: &str) {
    for raw in RAW {
        assert!(!text.contains(raw), "{raw} in {text}");
    }
}

/// The name of a merchant is on the pages of actions, on that of a paid wallet, and on the one that waits.
#[test]
fn a_merchants_name_is_escaped_on_every_page() {
    let server = Server::start();
    let shop = shop_with_all_methods(&server, &json!({ "name": MARKUP }));
    let browser = Browser::of(&server);
    let (card, bank) = (challenged(&shop, &json!({})), by_method(&shop, "MOBILE_BANKING"));
    let bill = by_method(&shop, "PROMPTPAY");
    let wallet = page_of(&browser, &bill);
    let waiting = return_path(&shop, &bank);
    for path in [&card.step, &bank.step, &wallet, &waiting, &format!("{waiting}?waited=30")] {
        let text = page(&browser.get(path), 200);
        is_escaped(&text);
        assert!(text.contains("&#60;script&#62;alert(&#39;1&#39;)"), "the name is there: {text}");
        assert!(text.contains("x&#38;lt;&#60;b&#62;"), "an entity is no entity: {text}");
    }
    let sent = page(&browser.post(&wallet, "outcome=succeed"), 200);
    is_escaped(&sent);
    assert!(sent.contains("&#60;script&#62;"), "{sent}");
}

#[test]
fn a_shops_address_is_escaped_where_it_is_a_link_and_no_script_where_it_is_a_redirect() {
    let (_server, shop, browser) = Browser::with(|server| shop_with_all_methods(server, &json!({})));
    let address = format!("https://shop.example/{MARKUP}?a={MARKUP}#{MARKUP}");
    let asked = challenged(&shop, &json!({ "return_url": address }));
    let waiting = return_path(&shop, &asked);
    let text = page(&browser.get(&format!("{waiting}?waited=30")), 200);
    is_escaped(&text);
    assert!(text.contains("https://shop.example/&#60;/dd&#62;&#60;script&#62;"), "the link is there: {text}");
    assert_eq!(browser.post(&asked.step, "outcome=succeed").status, 303);
    shop.settled(&asked.payment);
    let sent = browser.get(&waiting);
    let begin = address.split('#').next().expect("a part before the fragment");
    let expected = format!("{begin}&payment_id={}#{MARKUP}", asked.payment);
    assert_eq!((sent.status, sent.header("location")), (303, Some(&*expected)), "byte for byte");
    assert!(sent.body.is_empty(), "nothing to be shown: {sent:?}");
}

/// A return address is http or https, whatever else it holds.
#[test]
fn a_return_address_is_never_a_script() {
    let (_server, shop) = Server::with_shop();
    let session = shop.session(100);
    for address in [
        "javascript:alert(1)",
        "data:text/html,x",
        "//evil.example/",
        "/done",
        "https:shop.example",
        "https:///",
        "ftp://shop.example/",
        "https://shop.example/\r\nSet-Cookie: a=b",
        " https://shop.example/",
    ] {
        let refused = shop.initiate(&session, 100, &json!({ "return_url": address }));
        assert_eq!(refused.faults(), ["invalid return_url"], "{address:?}");
    }
}

#[test]
fn what_a_browser_sends_is_on_no_page() {
    let (_server, shop, browser) = Browser::with(|server| shop_with_all_methods(server, &json!({})));
    let asked = challenged(&shop, &json!({}));
    let encoded = form(&[("text", MARKUP), ("outcome", MARKUP), (MARKUP, MARKUP)]);
    let waiting = return_path(&shop, &asked);
    for (answer, status) in [
        (browser.post("/sandbox/scan", &encoded), 404),
        (browser.post(&asked.step, &encoded), 400),
        (browser.get(&format!("/sandbox/bank/{}", form(&[("", MARKUP)]))), 404),
        (browser.get(&format!("{}?{encoded}", asked.step)), 200),
        (browser.get(&format!("{waiting}?waited={encoded}")), 200),
        (browser.get(&format!("/return/x/{}", form(&[("", MARKUP)]))), 404),
        (browser.send("GET", "/return/x/y", &[("X-Request-Id", MARKUP), ("Referer", MARKUP)], b""), 404),
        (browser.send("GET", "/return/x/y", &[("Host", "evil.example"), ("X-Forwarded-Host", MARKUP)], b""), 404),
    ] {
        let text = page(&answer, status);
        is_escaped(&text);
        for sent in ["script", "alert", "onload", "evil.example"] {
            assert!(!text.contains(sent), "{sent} in {text}");
        }
    }
}

/// The addresses of actions and sessions are capabilities, and so is the text of a QR code: whoever has it pays.
#[test]
fn no_capability_is_in_the_log_whatever_is_done_with_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log");
    let mut server = Start::default().recording(&log).with("TILL_LOG_FILTER", "debug").server();
    let shop = shop_with_all_methods(&server, &json!({}));
    let browser = Browser::of(&server);
    let mut capabilities = Vec::new();
    for asked in [challenged(&shop, &json!({})), by_method(&shop, "MOBILE_BANKING"), by_method(&shop, "PROMPTPAY")] {
        let path = page_of(&browser, &asked);
        let id = path.rsplit('/').next().expect("a last segment").to_owned();
        let back = return_path(&shop, &asked);
        for mistyped in [
            format!("{path}/"),
            path.to_uppercase(),
            format!("/2025-04-01{path}"),
            format!("/sandbox/{id}"),
            format!("/sandbox/elsewhere/{id}"),
            format!("{back}/"),
            format!("/return/{}", asked.session),
            format!("/merchants/{}", asked.session),
            format!("/sandbox/scan?text={id}"),
            format!("{path}%20"),
            format!("{}?address={path}", back),
        ] {
            browser.get(&mistyped);
            browser.post(&mistyped, "outcome=fail");
            browser.send("PUT", &mistyped, &[], b"");
        }
        browser.send("GET", "/sandbox/scan", &[("Referer", &path), ("X-Request-Id", "the-last-one")], b"");
        browser.send("POST", &path, &[("Origin", "https://evil.example")], b"outcome=fail");
        browser.send("BREW", &path, &[], b"");
        browser.post(&path, &format!("outcome={id}"));
        browser.post(&path, "outcome=succeed");
        browser.get(&path);
        shop.settled(&asked.payment);
        browser.get(&back);
        capabilities.extend([id, asked.session]);
        capabilities.extend(Some(asked.step).filter(|step| !step.starts_with('/')));
    }
    assert!(server.stop());
    let text = read_to_string(&log).expect("it was written").to_lowercase();
    assert!(text.contains("/sandbox/wallet/{action}") && text.contains("the-last-one"), "requests are logged");
    for capability in capabilities {
        let found = text.lines().find(|line| line.contains(&capability.to_lowercase()));
        assert_eq!(found, None, "{capability}");
    }
}

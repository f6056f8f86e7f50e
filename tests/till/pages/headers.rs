//! The headers of every page, of every redirect and of every page that refuses: contract, section 15.

use std::io::Write;

use rustls::version::TLS13;
use serde_json::json;

use super::browser::{
    Asked, Browser, asked, by_method, challenged, checks_headers, each, form_target, leads_back, page, page_of,
    return_path, shop_with_all_methods,
};
use crate::harness::{Pair, RawAnswer, Shop, Start, connect, received_from};

const FORM: [(&str, &str); 1] = [("Content-Type", "application/x-www-form-urlencoded")];

/// Payments whose customers must act, and the paths of their pages: challenge, bank, wallet.
fn open_pages(shop: &Shop, browser: &Browser) -> [(Asked, String); 3] {
    let asked = [challenged(shop, &json!({})), by_method(shop, "MOBILE_BANKING"), by_method(shop, "PROMPTPAY")];
    asked.map(|asked| {
        let path = page_of(browser, &asked);
        (asked, path)
    })
}

/// The origins beside its own to which a form of the answer may lead.
fn leads_to(answer: &RawAnswer) -> String {
    checks_headers(answer);
    form_target(answer)
}

#[test]
fn every_page_has_the_headers_whatever_it_answers() {
    let (_server, shop, browser) = Browser::with(|server| shop_with_all_methods(server, &json!({})));
    each(&open_pages(&shop, &browser), |(asked, path)| {
        let (begin, last) = path.split_at(path.len() - 1);
        let of_nothing = [begin, if last == "0" { "1" } else { "0" }].concat();
        let (open, shop_origin) = (browser.get(path), "https://shop.example");
        assert_eq!((open.status, leads_to(&open).as_str()), (200, shop_origin));
        for (status, answer) in [
            (400, browser.post(path, "outcome=other")),
            (403, browser.post_with(path, &[("Sec-Fetch-Site", "cross-site")], "outcome=succeed")),
            (404, browser.get(&of_nothing)),
            (404, browser.post(&of_nothing, "outcome=succeed")),
            (405, browser.send("PUT", path, &[], b"")),
            (413, browser.send("POST", path, &FORM, &[b'x'; 64 * 1024 + 1])),
            (415, browser.send("POST", path, &[("Content-Type", "multipart/form-data")], b"outcome=succeed")),
        ] {
            page(&answer, status);
            assert_eq!(leads_to(&answer), "", "only a page with a form of its own leads elsewhere");
        }
        let acted = browser.post(path, "outcome=fail");
        leads_back(&acted, &shop, asked);
        checks_headers(&acted);
        assert!(acted.body.is_empty(), "{acted:?}");
        for expired in [browser.get(path), browser.post(path, "outcome=fail")] {
            page(&expired, 410);
            assert_eq!(leads_to(&expired), "");
        }
    });
}

#[test]
fn pages_without_an_action_have_the_headers_too() {
    let (_server, shop, browser) = Browser::with(|server| shop_with_all_methods(server, &json!({})));
    let waiting = by_method(&shop, "PROMPTPAY");
    let back = return_path(&shop, &waiting);
    let paid = by_method(&shop, "PROMPTPAY");
    let sent = browser.post(&page_of(&browser, &paid), "outcome=succeed");
    shop.settled(&paid.payment);
    for (status, answer) in [
        (200, sent),
        (200, browser.get("/sandbox/scan")),
        (404, browser.post("/sandbox/scan", "text=nothing")),
        (403, browser.post_with("/sandbox/scan", &[("Origin", "https://evil.example")], "text=nothing")),
        (405, browser.send("DELETE", "/sandbox/scan", &[], b"")),
        (413, browser.send("POST", "/sandbox/scan", &FORM, &[b'x'; 64 * 1024 + 1])),
        (415, browser.send("POST", "/sandbox/scan", &[], b"text=nothing")),
        (200, browser.get(&back)),
        (200, browser.get(&format!("{back}?waited=30"))),
        (404, browser.get("/return/x/y")),
        (405, browser.post(&back, "")),
    ] {
        page(&answer, status);
        assert_eq!(leads_to(&answer), "");
    }
    let scanned = browser.post("/sandbox/scan", &super::browser::form(&[("text", &waiting.step)]));
    let gone = browser.get(&return_path(&shop, &paid));
    for redirect in [scanned, gone] {
        assert_eq!((redirect.status, leads_to(&redirect).as_str()), (303, ""));
    }
}

#[test]
fn a_form_may_lead_to_the_shops_origin_and_to_nothing_else_that_its_address_holds() {
    let (_server, shop, browser) = Browser::with_shop();
    for (return_url, origin) in [
        ("https://shop.example:443/done?a=1#b", "https://shop.example"),
        ("http://shop.example:8080", "http://shop.example:8080"),
        ("https://user:word@shop.example/", "https://shop.example"),
        ("https://ร้าน.example:8443/จ่าย", "https://xn--q3ct9b5e.example:8443"),
        ("https://[2001:db8::1]:8443/", "https://[2001:db8::1]:8443"),
        ("https://shop.example;sandbox/", ""),
        ("https://shop.example,x/", ""),
        ("https://'none'/", ""),
    ] {
        let session = shop.session_of(super::browser::CHALLENGED, 100);
        let made = shop.initiate(&session, 100, &json!({ "return_url": return_url }));
        if made.status == 400 && origin.is_empty() {
            assert_eq!(made.faults(), ["invalid return_url"]);
            continue;
        }
        let asked = asked(&shop, session, made.id());
        assert_eq!(leads_to(&browser.get(&asked.step)), origin, "{return_url}");
    }
}

#[test]
fn a_page_that_came_by_tls_is_asked_for_by_tls_for_a_year() {
    let pair = Pair::new();
    let (server, shop) = pair.start().server_with_shop();
    let asked = challenged(&shop, &json!({}));
    for (path, status) in [(asked.step.as_str(), 200), ("/sandbox/scan", 200), ("/return/x/y", 404)] {
        let mut connection = connect(server.public(), &[pair.der()], &[&TLS13]);
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        connection.write_all(request.as_bytes()).expect("it listens");
        let answer = received_from(&mut connection);
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(answer.header("strict-transport-security"), Some("max-age=31536000"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    }
    let next = shop.payment(&asked.payment)["next_action"]["redirect_url"].clone();
    assert_eq!(next, [server.public(), &asked.step].concat(), "the address has the scheme that the caller came by");
}

#[test]
fn a_refused_page_says_when_to_try_again() {
    let server = Start::default().with("TILL_SDK_CALLS_PER_SECOND_PER_ADDRESS", "1").server();
    let browser = Browser::of(&server);
    for path in ["/sandbox/scan", "/return/x/y", "/sandbox/bank/x"] {
        let refused = (0..100).map(|_| browser.get(path)).find(|answer| answer.status == 429);
        let refused = refused.expect("many within a second are too many");
        page(&refused, 429);
        let seconds: u64 = refused.header("retry-after").and_then(|text| text.parse().ok()).expect("seconds");
        assert!((1..=2).contains(&seconds), "{seconds}");
        assert_eq!(leads_to(&refused), "");
    }
}

//! The order of judgement of pages, and what all of them have: contract, section 15.

use std::fs::read_to_string;

use serde_json::json;

use super::browser::{Browser, challenged, checks_headers, page, return_path};
use crate::harness::{Server, Start};

#[test]
fn pages_take_get_head_and_the_posts_of_their_forms() {
    let (_server, shop, browser) = Browser::with_shop();
    let asked = challenged(&shop, &json!({}));
    for method in ["PUT", "DELETE", "OPTIONS", "PATCH"] {
        for (path, allow) in [(&asked.step, "GET, HEAD, POST"), (&return_path(&shop, &asked), "GET, HEAD")] {
            let refused = browser.send(method, path, &[], b"");
            page(&refused, 405);
            assert_eq!(refused.header("allow"), Some(allow));
        }
    }
    page(&browser.post(&return_path(&shop, &asked), ""), 405);
}

#[test]
fn everything_below_the_paths_of_pages_is_a_page() {
    let (server, shop, browser) = Browser::with_shop();
    let asked = challenged(&shop, &json!({}));
    for root in ["pay", "return", "frame", "sandbox", "js", "assets"] {
        let capitals = root.to_ascii_uppercase();
        for path in [
            format!("/{root}"),
            format!("/{root}/"),
            format!("//{root}/{}/x", shop.merchant_id),
            format!("/{root}/{}", shop.merchant_id),
            format!("/{root}/a/b/c/d/e"),
            format!("/{root}/a//b"),
            format!("/{capitals}{}", asked.step.strip_prefix("/sandbox").expect("it is one of the sandbox's")),
        ] {
            for (method, headers) in [("GET", [("Accept", "application/json")]), ("POST", [("Accept", "text/html")])] {
                let refused = browser.send(method, &path, &headers, b"");
                let id = refused.header("x-request-id").expect("an id").to_owned();
                let text = page(&refused, 404);
                assert!(text.contains("<h1>Page not found</h1>") && text.contains(&id), "{text}");
            }
        }
    }
    for other in ["/payments", "/payload/x", "/merchants/pay", "/returns", "/", "/js2/x"] {
        assert_ne!(browser.get(other).header("content-type"), Some("text/html; charset=utf-8"), "{other}");
    }
    let admin = Browser::at(server.admin_address());
    assert_eq!(admin.get("/pay/x").header("content-type"), Some("application/json"), "it has no such pages");
}

#[test]
fn a_link_with_a_slash_too_many_at_its_end_works() {
    let (_server, shop, browser) = Browser::with_shop();
    let asked = challenged(&shop, &json!({}));
    page(&browser.get(&format!("{}/", asked.step)), 200);
    page(&browser.get(&format!("{}//", return_path(&shop, &asked))), 200);
    assert_eq!(browser.post(&format!("{}/", asked.step), "outcome=succeed").status, 303);
    assert_eq!(shop.settled(&asked.payment)["status"], "SUCCESSFUL");
}

#[test]
fn head_is_answered_like_get_and_changes_nothing() {
    let (server, shop, browser) = Browser::with_shop();
    let asked = challenged(&shop, &json!({}));
    let wire = |method: &str| {
        let request = format!("{method} {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", asked.step);
        crate::harness::Wire::new(server.public()).exchange_and_end(request.as_bytes())
    };
    let (head, get) = (wire("HEAD"), wire("GET"));
    assert_eq!((head.status, head.body.len()), (200, 0));
    checks_headers(&head);
    assert_eq!(head.header("content-length"), get.header("content-length"));
    page(&browser.get(&asked.step), 200);
    assert_eq!(shop.payment(&asked.payment)["status"], "PENDING");
}

#[test]
fn a_form_is_judged_by_origin_type_size_and_text_in_this_order() {
    let (_server, shop, browser) = Browser::with_shop();
    let asked = challenged(&shop, &json!({}));
    let path = asked.step.as_str();
    let json = ("Content-Type", "application/json");
    let foreign = ("Origin", "https://evil.example");
    page(&browser.send("POST", path, &[json, foreign], b"{}"), 403);
    page(&browser.post_with(path, &[("Origin", "null"), ("Sec-Fetch-Site", "cross-site")], "outcome=succeed"), 403);
    page(&browser.post_with(path, &[("Sec-Fetch-Site", "same-site")], "outcome=succeed"), 403);
    page(&browser.send("POST", path, &[json], b"{}"), 415);
    page(&browser.send("POST", path, &[], b"outcome=succeed"), 415);
    page(&browser.post(path, &"x".repeat(64 * 1024 + 1)), 413);
    page(&browser.post(path, &format!("outcome=succeed{}", "&a".repeat(64))), 413);
    let bytes = [("Content-Type", "application/x-www-form-urlencoded")];
    page(&browser.send("POST", path, &bytes, b"outcome=\xff"), 400);
    for form in ["", "outcome=", "outcome=SUCCEED", "outcome=succeed&outcome=succeed", "other=succeed"] {
        page(&browser.post(path, form), 400);
    }
    assert_eq!(shop.payment(&asked.payment)["next_action"]["type"], "REDIRECT", "nothing was done");
    let own = [("Origin", "null"), ("Sec-Fetch-Site", "same-origin")];
    let form = format!("outcome=succeed&x={}{}", "x".repeat(60_000), "&a".repeat(62));
    assert_eq!(browser.post_with(path, &own, &form).status, 303, "64 fields");
}

#[test]
fn a_long_address_or_head_is_refused_by_pages_and_by_no_call() {
    let (_server, shop, browser) = Browser::with_shop();
    let long = "x".repeat(8 * 1024);
    let path = "/sandbox/scan";
    page(&browser.get(&format!("{path}?{long}")), 200);
    page(&browser.get(&format!("{path}?{long}x")), 414);
    page(&browser.get(&format!("/return/{long}x/y")), 414);
    page(&browser.send("GET", path, &[("Accept-Language", &long[..8_000])], b""), 200);
    page(&browser.send("GET", path, &[("Accept-Language", &long)], b""), 431);
    page(&browser.post_with(path, &[("Cookie", &long)], "text=a"), 431);
    let client = shop.client().header("Cookie", &long);
    client.post(&format!("/merchants/get-balance?{long}"), &json!({})).ok();
}

#[test]
fn pages_count_as_calls_of_their_address() {
    let server = Start::default().with("TILL_SDK_CALLS_PER_SECOND_PER_ADDRESS", "1").server();
    let browser = Browser::of(&server);
    let refused = (0..10).map(|_| browser.get("/sandbox/scan")).find(|answer| answer.status != 200);
    let refused = refused.expect("ten within a second are too many");
    page(&refused, 429);
    assert!(refused.header("retry-after").is_some());
}

#[test]
fn the_style_is_kept_for_a_year_under_a_name_with_its_hash() {
    let server = Server::start();
    let browser = Browser::of(&server);
    let text = page(&browser.get("/sandbox/scan"), 200);
    let begin = text.find("/assets/style-").expect("it names its style");
    let path = text[begin..].split('"').next().expect("a quoted address");
    let style = browser.get(path);
    assert_eq!((style.status, style.header("content-type")), (200, Some("text/css; charset=utf-8")));
    assert_eq!(style.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(browser.get("/assets/style-0000000000000000.css").status, 404);
    assert!(style.body.len() + text.len() < 50 * 1024);
}

#[test]
fn pages_are_compressed_for_browsers_that_ask_for_it() {
    let (server, shop) = Server::with_shop();
    let asked = challenged(&shop, &json!({}));
    let compressed = Browser::of(&server).send("GET", &asked.step, &[("Accept-Encoding", "gzip")], b"");
    assert_eq!((compressed.status, compressed.header("vary")), (200, Some("Accept-Encoding")));
    assert!(compressed.header("content-encoding") == Some("gzip") || compressed.body.len() < 1_024);
}

#[test]
fn the_log_and_metrics_name_pages_by_their_pattern() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log");
    let (mut server, shop) = Start::default().recording(&log).with("TILL_LOG_FILTER", "info").server_with_shop();
    let browser = Browser::of(&server);
    let asked = challenged(&shop, &json!({}));
    page(&browser.get(&asked.step), 200);
    page(&browser.post_with(&asked.step, &[("Origin", "https://evil.example")], "outcome=fail"), 403);
    assert_eq!(browser.post(&asked.step, "outcome=succeed").status, 303);
    page(&browser.post(&asked.step, "outcome=succeed"), 410);
    browser.get(&return_path(&shop, &asked));
    let counted = |code: &str| {
        server
            .metric(&format!("till_http_requests_total{{code=\"{code}\",endpoint=\"/sandbox/challenge/{{action}}\"}}"))
    };
    assert_eq!((counted("OK"), counted("FORBIDDEN"), counted("INVALID_STATE")), (Some(2.0), Some(1.0), Some(1.0)));
    assert!(server.stop());
    let text = read_to_string(&log).expect("it was written");
    let capability = asked.step.rsplit('/').next().expect("a last segment");
    assert!(!text.contains(capability) && !text.contains(&asked.session), "{text}");
    assert!(
        text.contains("/sandbox/challenge/{action}") && text.contains("/return/{merchant_id}/{payment_session_id}")
    );
}

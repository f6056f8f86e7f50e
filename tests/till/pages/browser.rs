//! Shared by the tests of pages: customers who act, and the rules for every page.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{RawAnswer, Server, Shop, Wire, merged};

/// The headers of section 15 that every page has, beside its content security policy.
pub(super) const HEADERS: [(&str, &str); 7] = [
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "payment=(), camera=(), microphone=(), geolocation=()"),
    ("x-robots-tag", "noindex"),
    ("cache-control", "no-store"),
];

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

/// A browser without script, cookies and a mind of its own: it follows no redirect.
pub(crate) struct Browser(Wire);

impl Browser {
    /// A new server, a merchant of it, and a browser.
    pub(crate) fn with_shop() -> (Server, Shop, Browser) {
        Browser::with(Server::shop)
    }

    /// The same, with what makes the merchant.
    pub(crate) fn with(make: impl FnOnce(&Server) -> Shop) -> (Server, Shop, Browser) {
        let (server, shop) = Server::with(make);
        let browser = Browser::of(&server);
        (server, shop, browser)
    }

    pub(crate) fn of(server: &Server) -> Browser {
        Browser::at(server.public())
    }

    /// A browser that opens the pages of a server at this address.
    pub(crate) fn at(base: &str) -> Browser {
        Browser(Wire::new(base))
    }

    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> RawAnswer {
        self.0.receive(method, path, headers, body)
    }

    /// Posts a form to a server that may be killed meanwhile: the answer has status 0 then.
    pub(crate) fn attempt(&self, path: &str, form: &str) -> RawAnswer {
        self.0.attempt("POST", path, &[FORM], form.as_bytes())
    }

    /// Opens a page of such a server.
    pub(crate) fn attempt_get(&self, path: &str) -> RawAnswer {
        self.0.attempt("GET", path, &[], b"")
    }

    pub(crate) fn get(&self, path: &str) -> RawAnswer {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, form: &str) -> RawAnswer {
        self.post_with(path, &[], form)
    }

    pub(crate) fn post_with(&self, path: &str, headers: &[(&str, &str)], form: &str) -> RawAnswer {
        self.send("POST", path, &[&[FORM], headers].concat(), form.as_bytes())
    }
}

/// The text of a page. Checks what holds for every page.
#[track_caller]
pub(crate) fn page(answer: &RawAnswer, status: u16) -> String {
    let text = String::from_utf8(answer.body.clone()).expect("a page is UTF-8");
    assert_eq!(answer.status, status, "{text}");
    checks_headers(answer);
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(text.contains("<html lang=\"en\" dir=\"ltr\">") && text.contains("<main>"), "{text}");
    assert_eq!(text.matches("<h1>").count(), 1, "{text}");
    for inline in ["<script", "style=", "<style", "onclick", "data:", "javascript:"] {
        assert!(!text.contains(inline), "{inline} in {text}");
    }
    text
}

/// Checks the headers of section 15.
#[track_caller]
pub(super) fn checks_headers(answer: &RawAnswer) {
    for (name, value) in HEADERS {
        assert_eq!(answer.header(name), Some(value), "{name} of {answer:?}");
    }
    let policy = answer.header("content-security-policy").expect("a policy");
    for part in ["default-src 'none'; ", "form-action 'self'", "frame-ancestors 'none'; ", "base-uri 'none'; "] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(policy.ends_with("require-trusted-types-for 'script'") && !policy.contains("unsafe"), "{policy}");
    assert!(answer.header("x-request-id").is_some() && answer.header("api-version").is_none());
    assert_eq!(answer.header("strict-transport-security"), None, "it came without TLS");
}

/// The origin of the shop in these tests, as a form may lead there.
#[track_caller]
pub(super) fn form_target(answer: &RawAnswer) -> String {
    let policy = answer.header("content-security-policy").expect("a policy");
    let part = policy.split("; ").find(|part| part.starts_with("form-action")).expect("it names forms");
    part.strip_prefix("form-action 'self'").expect("'self' comes first").trim().to_owned()
}

/// A payment whose customer must act.
pub(crate) struct Asked {
    pub(crate) session: String,
    pub(crate) payment: String,
    /// The path of the page, or the text of the QR code.
    pub(crate) step: String,
}

/// A card that asks for a challenge.
pub(crate) const CHALLENGED: &str = "4000002760003184";

/// The methods that show pages or codes of their own, which a new merchant does not have.
pub(crate) const METHODS: [&str; 2] = ["PROMPTPAY", "MOBILE_BANKING"];

pub(crate) fn enable(server: &Server, shop: &Shop, method: &str) {
    server.configure(shop, method, &json!({ "authorizes_without_capture": false })).ok();
}

/// The body of the call that enables a method.
pub(crate) fn enabled(shop: &Shop, method: &str) -> Value {
    json!({
        "merchant_id": shop.merchant_id, "payment_method": method, "acquirer": "sandbox", "enabled": true,
        "authorizes_without_capture": false,
    })
}

/// A merchant in THB that has all methods, with the members of `more`.
pub(super) fn shop_with_all_methods(server: &Server, more: &Value) -> Shop {
    let shop = server.shop_with(merged(&json!({ "name": "Shop", "currency": "THB" }), more));
    METHODS.iter().for_each(|method| enable(server, &shop, method));
    shop
}

/// A card payment that asks for a challenge.
pub(crate) fn challenged(shop: &Shop, more: &Value) -> Asked {
    let session = shop.session_of(CHALLENGED, 123_450);
    initiated(shop, session, 123_450, more)
}

/// A payment by another method, which is enabled.
pub(crate) fn by_method(shop: &Shop, method: &str) -> Asked {
    let session = shop.session_with(123_450, &json!({ "payment_method": method }));
    initiated(shop, session, 123_450, &json!({}))
}

fn initiated(shop: &Shop, session: String, minor: u64, more: &Value) -> Asked {
    let payment = shop.initiate(&session, minor, more).id();
    asked(shop, session, payment)
}

/// The payment once its customer must act.
pub(super) fn asked(shop: &Shop, session: String, payment: String) -> Asked {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let next = shop.payment(&payment)["next_action"].clone();
        if let Some(url) = next["redirect_url"].as_str() {
            let path = url.splitn(4, '/').nth(3).expect("an absolute address");
            return Asked { session, payment, step: format!("/{path}") };
        }
        if let Some(text) = next["qr_data"].as_str() {
            return Asked { session, payment, step: text.to_owned() };
        }
        assert!(Instant::now() < until, "nothing is asked: {}", shop.payment(&payment));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The path of the page on which the customer acts; a wallet finds it by the text of the QR code.
pub(crate) fn page_of(browser: &Browser, asked: &Asked) -> String {
    if asked.step.starts_with('/') {
        return asked.step.clone();
    }
    let scanned = browser.post("/sandbox/scan", &form(&[("text", &asked.step)]));
    assert_eq!(scanned.status, 303);
    scanned.header("location").expect("the wallet's page").to_owned()
}

/// The fields of a form, encoded.
pub(super) fn form(fields: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// Checks that an answer sends the customer back to this server, by the session's path with a secret of this way back.
#[track_caller]
pub(super) fn leads_back(answer: &RawAnswer, shop: &Shop, asked: &Asked) {
    let location = answer.header("location").unwrap_or_default();
    let (path, secret) = location.split_once('.').unwrap_or((location, ""));
    assert_eq!((answer.status, path, secret.len()), (303, &*return_path(shop, asked), 26), "{location}");
}

/// The path to which the customer comes back, without its secret.
pub(super) fn return_path(shop: &Shop, asked: &Asked) -> String {
    format!("/return/{}/{}", shop.merchant_id, asked.session)
}

/// Checks all cases at the same time, each on a thread of its own.
pub(super) fn each<T: Sync>(cases: &[T], check: impl Fn(&T) + Sync) {
    std::thread::scope(|scope| cases.iter().for_each(|case| drop(scope.spawn(|| check(case)))));
}

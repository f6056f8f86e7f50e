//! The page of a checkout as a browser without script uses it, and the frame and files of a shop's own page: contract,
//! sections 9.6, 9.7 and 15. What it looks like, and what its scripts do, is tested in a browser.

use std::fs::read_to_string;

use serde_json::{Value, json};

use super::browser::{Browser, HEADERS, form, page_of, shop_with_all_methods};
use crate::harness::{PATIENCE, RawAnswer, Server, Shop, Start, first_answer, merged, wait_until};

/// A merchant with all methods, a checkout of it, and a browser.
struct Customer {
    server: Server,
    shop: Shop,
    browser: Browser,
    id: String,
    /// The last segment of its address.
    reference: String,
    path: String,
}

impl Customer {
    fn of(more: &Value) -> Customer {
        let server = Server::start();
        let shop = shop_with_all_methods(&server, &json!({ "name": "Tea & <b>Co</b>" }));
        Customer::at(server, shop, more)
    }

    fn at(server: Server, shop: Shop, more: &Value) -> Customer {
        let more = merged(&json!({ "cancel_url": "https://shop.example/cart" }), more);
        let url = shop.start_checkout(123_450, &more);
        let path = url.strip_prefix(server.public()).expect("an address of the server").to_owned();
        let reference = path.rsplit('/').next().expect("a segment").to_owned();
        let id = reference.split_once('.').expect("an id and a secret").0.to_owned();
        Customer { browser: Browser::of(&server), server, shop, id, reference, path }
    }

    /// The text of the page, after the checks that hold for every page.
    #[track_caller]
    fn page(&self) -> String {
        shown(&self.browser.get(&self.path), 200)
    }

    /// The text of the page once it shows this.
    #[track_caller]
    fn page_with(&self, text: &str) -> String {
        first_answer(PATIENCE, text, || self.page(), |page| page.contains(text))
    }

    /// Posts the form; it is answered with a redirect to the page itself.
    #[track_caller]
    fn posts(&self, fields: &[(&str, &str)]) {
        let answer = self.browser.post(&self.path, &form(fields));
        assert_eq!((answer.status, answer.header("location")), (303, Some(&*self.path)));
    }

    /// Chooses to pay by bank; returns the address of the bank.
    #[track_caller]
    fn goes_to_the_bank(&self) -> String {
        self.posts(&[("action", "pay"), ("payment_method", "MOBILE_BANKING")]);
        linked(&self.page_with("Continue to your bank"), "/sandbox/bank/").to_owned()
    }

    fn found(&self) -> Value {
        self.shop.call("find-checkout", &json!({ "checkout_id": self.id })).ok()
    }

    fn session(&self) -> String {
        let offered = self.shop.sdk("retrieve-checkout", &json!({ "checkout_id": self.reference })).ok();
        offered["payment_session_id"].as_str().expect("a session").to_owned()
    }
}

/// The text of a page of checkout or frame. Checks headers and markup.
#[track_caller]
fn shown(answer: &RawAnswer, status: u16) -> String {
    let text = String::from_utf8(answer.body.clone()).expect("a page is UTF-8");
    assert_eq!(answer.status, status, "{text}");
    for (name, value) in HEADERS {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    assert_eq!(answer.header("set-cookie"), None);
    assert_eq!(text.matches("<h1").count(), 1, "{text}");
    for inline in ["<script>", "style=", "<style", " onclick", "javascript:"] {
        assert!(!text.contains(inline), "{inline} in {text}");
    }
    assert!(answer.body.len() < 50_000);
    text
}

/// The address in a page that begins with this.
#[track_caller]
fn linked<'t>(text: &'t str, beginning: &str) -> &'t str {
    let begin = text.find(beginning).unwrap_or_else(|| panic!("no {beginning}: {text}"));
    text[begin..].split('"').next().expect("its end")
}

fn policy(answer: &RawAnswer) -> &str {
    answer.header("content-security-policy").expect("a policy")
}

/// Checks a frame that the shop's own pages may hold; returns its text.
#[track_caller]
fn framed(browser: &Browser, path: &str) -> String {
    let answer = browser.get(path);
    assert!(policy(&answer).contains("frame-ancestors https://shop.example;"), "{}", policy(&answer));
    assert_eq!(answer.header("cross-origin-resource-policy"), Some("cross-origin"));
    String::from_utf8(answer.body).expect("UTF-8")
}

/// Checks a frame that no page may hold.
#[track_caller]
fn says_nothing(browser: &Browser, path: &str) {
    let answer = browser.get(path);
    assert!(policy(&answer).contains("frame-ancestors 'none'"), "{path}");
    assert!(answer.body.len() < 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
}

/// An installation that is no web site.
fn app(server: &Server, shop: &Shop) -> String {
    let app = json!({ "name": "App", "platform": "IOS", "identifier": "example.shop" });
    server.admin("add-installation", &merged(&json!({ "merchant_id": shop.merchant_id }), &app)).id()
}

const SUCCEED: &str = "outcome=succeed";

#[test]
fn the_choice_shows_amount_lines_and_methods_and_escapes_every_text() {
    let lines = json!([{ "name": "<script>alert('1')</script>", "amount": "123450" }]);
    let customer = Customer::of(&json!({ "lines": lines }));
    let text = customer.page();
    for part in
        ["THB\u{a0}1,234.50", "Choose how to pay", "PromptPay QR", "Mobile banking", "Instalments", "Card number"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("<b>Co") && !text.contains("<script>alert"), "{text}");
    assert!(text.contains(&format!("https://shop.example/cart?checkout_id={}", customer.id)), "{text}");
}

#[test]
fn a_bank_is_paid_without_script() {
    let customer = Customer::of(&json!({}));
    customer.posts(&[("action", "pay"), ("payment_method", "MOBILE_BANKING")]);
    let text = customer.page_with("Confirm with your bank");
    assert!(text.contains("Continue to your bank") && text.contains("Pay another way"), "{text}");
    assert!(text.contains("http-equiv=\"refresh\" content=\"5\""), "it loads itself again without script: {text}");
    let acted = customer.browser.post(linked(&text, "/sandbox/bank/"), SUCCEED);
    let back = acted.header("location").expect("the way back").to_owned();
    customer.page_with("Payment successful");
    let found = customer.found();
    let shop = customer.browser.get(&back);
    let expected = format!(
        "https://shop.example/done?payment_id={}&checkout_id={}",
        found["payment_id"].as_str().expect("paid"),
        customer.id
    );
    assert_eq!((shop.status, shop.header("location")), (303, Some(&*expected)));
    assert_eq!((&found["status"], &found["attempts"]), (&json!("COMPLETED"), &json!(1)));
    customer.posts(&[("action", "pay"), ("payment_method", "MOBILE_BANKING")]);
    assert_eq!(customer.found()["attempts"], 1, "a reload never pays");
}

#[test]
fn a_qr_code_is_shown_and_can_be_given_up_for_another_way() {
    let customer = Customer::of(&json!({}));
    customer.posts(&[("action", "pay"), ("payment_method", "PROMPTPAY")]);
    let text = customer.page_with("Scan to pay");
    assert!(text.contains("<svg") && text.contains("Open the sandbox wallet") && text.contains("00020101"), "{text}");
    let given_up = customer.session();
    customer.posts(&[("action", "another_way"), ("replaces", &given_up)]);
    let text = customer.page_with("Choose how to pay");
    assert!(text.contains("You cancelled this payment") && !text.contains("Payment failed"), "{text}");
    customer.posts(&[
        ("action", "pay"),
        ("payment_method", "INSTALLMENT"),
        ("installment_plan_id", "sandbox_3_months"),
    ]);
    customer.page_with("Payment successful");
    assert_eq!(customer.found()["attempts"], 2);
}

#[test]
fn a_form_that_asks_for_nothing_possible_changes_nothing() {
    let customer = Customer::of(&json!({}));
    for fields in [
        &[][..],
        &[("action", "pay")],
        &[("action", "pay"), ("payment_method", "CARD")],
        &[("action", "pay"), ("payment_method", "CARD"), ("card_id", "crd_01h2e8kqvbfwea724h75qc655w")],
        &[("action", "pay"), ("payment_method", "INSTALLMENT"), ("installment_plan_id", "other")],
        &[("action", "another_way"), ("replaces", "pse_01h2e8kqvbfwea724h75qc655w")],
        &[("action", "another_way"), ("replaces", "x")],
    ] {
        customer.posts(fields);
    }
    assert_eq!(customer.found()["attempts"], 0);
    let foreign = customer.browser.post_with(
        &customer.path,
        &[("Sec-Fetch-Site", "cross-site")],
        "action=pay&payment_method=PROMPTPAY",
    );
    assert_eq!((foreign.status, customer.found()["attempts"].as_u64()), (403, Some(0)));
}

#[test]
fn a_session_of_another_checkout_is_not_given_up() {
    let customer = Customer::of(&json!({}));
    let others = customer.shop.session_with(100, &json!({ "payment_method": "MOBILE_BANKING" }));
    let payment = customer.shop.initiate(&others, 100, &json!({})).id();
    wait_until(PATIENCE, "it asks", || customer.shop.payment(&payment)["next_action"].is_object());
    customer.posts(&[("action", "another_way"), ("replaces", &others)]);
    assert_eq!(customer.shop.payment(&payment)["status"], "PENDING");
}

#[test]
fn a_failed_payment_leads_back_to_the_page_and_an_ended_one_to_the_shop() {
    let customer = Customer::of(&json!({}));
    let step = customer.goes_to_the_bank();
    let back = customer.browser.post(&step, "outcome=fail").header("location").expect("the way back").to_owned();
    let text = customer.page_with("Payment failed");
    assert!(text.contains("Your bank declined this payment"), "{text}");
    let again = customer.browser.get(&back);
    assert_eq!((again.status, again.header("location")), (303, Some(&*customer.path)));
    customer.shop.call("expire-checkout", &json!({ "checkout_id": customer.id })).ok();
    let text = customer.page();
    assert!(text.contains("This checkout has expired") && text.contains("shop.example/cart"), "{text}");
    let ended = customer.browser.get(&back);
    assert!(ended.header("location").is_some_and(|to| to.starts_with("https://shop.example/done?")), "{ended:?}");
}

#[test]
fn a_session_without_the_secret_of_its_way_back_leads_to_no_checkout() {
    let of_page = json!({ "page_url": "https://shop.example/pay?order=1" });
    for (more, with_secret) in [(json!({}), None), (of_page, Some("https://shop.example/pay?order=1&checkout_id="))] {
        let customer = Customer::of(&more);
        let step = customer.goes_to_the_bank();
        let bank = customer.browser.get(&step);
        assert!(policy(&bank).contains("form-action 'self' https://shop.example;"), "{}", policy(&bank));
        let session = customer.session();
        let back = customer.browser.post(&step, "outcome=fail").header("location").expect("the way back").to_owned();
        let alone = format!("/return/{}/{session}", customer.shop.merchant_id);
        let (begin, secret) = back.split_once('.').expect("a secret");
        assert_eq!(begin, alone);
        customer.page_with("Payment failed");
        let lead = |path: &str| customer.browser.get(path).header("location").map(str::to_owned);
        let page = with_secret.map_or(customer.path.clone(), |page| format!("{page}{}", customer.id));
        assert_eq!(lead(&back).as_ref(), Some(&page));
        let cart = format!("https://shop.example/cart?checkout_id={}", customer.id);
        assert_eq!(lead(&alone), Some(if with_secret.is_some() { page } else { cart }));
        assert_eq!(customer.browser.get(&format!("{alone}.{}", customer.reference)).status, 404);
        let others = format!("{alone}.{}", secret.chars().rev().collect::<String>());
        assert_eq!(customer.browser.get(&others).status, 404);
    }
}

#[test]
fn the_language_is_the_customers_then_the_checkouts_then_the_browsers() {
    let customer = Customer::of(&json!({ "locale": "de" }));
    let of = |path: &str, accepted: &str| {
        shown(&customer.browser.send("GET", path, &[("Accept-Language", accepted)], b""), 200)
    };
    assert!(of(&customer.path, "ja").contains("<html lang=\"de\" dir=\"ltr\">"));
    let arabic = of(&format!("{}?lang=ar", customer.path), "ja");
    assert!(arabic.contains("<html lang=\"ar\" dir=\"rtl\">") && arabic.contains("1,234.50"), "{arabic}");
    assert!(of(&customer.path, "ja").contains("1.234,50"));
    let Customer { server, shop, .. } = customer;
    let customer = Customer::at(server, shop, &json!({}));
    let accepted = customer.browser.send("GET", &customer.path, &[("Accept-Language", "th-TH,en;q=0.5")], b"");
    assert!(shown(&accepted, 200).contains("<html lang=\"th\""));
    let kept = customer.browser.post(&format!("{}?lang=th", customer.path), "action=pay");
    assert_eq!(kept.header("location"), Some(&*format!("{}?lang=th", customer.path)));
}

#[test]
fn unknown_suspended_and_removed_checkouts_are_pages() {
    let customer = Customer::of(&json!({}));
    let Customer { server, shop, browser, id, reference, path } = &customer;
    for unknown in [
        format!("/pay/{}/chk_01h2e8kqvbfwea724h75qc655w", shop.merchant_id),
        format!("/pay/{}/{id}", shop.merchant_id),
        format!("/pay/mer_01h2e8kqvbfwea724h75qc655w/{reference}"),
        "/pay/x/y".to_owned(),
    ] {
        let text = shown(&browser.get(&unknown), 404);
        assert!(text.contains("Page not found") && !text.contains("shop.example") && !text.contains("Tea"), "{text}");
    }
    server.admin("suspend-merchant", &json!({ "merchant_id": shop.merchant_id })).ok();
    let text = shown(&browser.get(path), 200);
    assert!(text.contains("Payments are not possible at the moment") && text.contains("shop.example/cart"), "{text}");
    customer.posts(&[("action", "pay"), ("payment_method", "PROMPTPAY")]);
    assert_eq!(customer.found()["attempts"], 0);
    server.admin("resume-merchant", &json!({ "merchant_id": shop.merchant_id })).ok();
    let installation = json!({ "merchant_id": shop.merchant_id, "installation_id": shop.installation_id });
    server.admin("remove-installation", &installation).ok();
    shown(&browser.get(path), 404);
}

#[test]
fn the_color_of_the_merchant_is_a_style_sheet_of_its_own() {
    let customer = Customer::of(&json!({}));
    let color = json!({ "merchant_id": customer.shop.merchant_id, "color": "#0a7d55" });
    customer.server.admin("update-merchant", &color).ok();
    let text = customer.page();
    let path = linked(&text, "/pay/color/0a7d55-");
    let whole = customer.browser.get(path);
    assert_eq!((whole.status, whole.header("content-type")), (200, Some("text/css; charset=utf-8")));
    assert!(whole.body.len() > 5_000 && whole.body.ends_with(b":root{--merchant-deep:#0a7d55}"));
    let of_another_style = path.replace(&path[path.len() - 20..], "0123456789abcdef.css");
    assert_eq!(customer.browser.get(&of_another_style).status, 404);
    let sheet = customer.browser.get("/pay/color/0a7d55.css");
    assert_eq!(sheet.header("content-type"), Some("text/css; charset=utf-8"));
    assert_eq!(sheet.body, b":root{--merchant-deep:#0a7d55}");
    assert_eq!(customer.browser.get("/pay/color/red.css").status, 404);
}

#[test]
fn files_have_a_hash_in_their_names_and_the_script_its_integrity() {
    let customer = Customer::of(&json!({}));
    let text = customer.page();
    for beginning in ["/assets/checkout-", "/assets/checkout-"] {
        let file = customer.browser.get(linked(&text, beginning));
        assert_eq!((file.status, file.header("cache-control")), (200, Some("public, max-age=31536000, immutable")));
        assert_eq!(file.header("cross-origin-resource-policy"), Some("same-origin"));
    }
    let integrity: Value = serde_json::from_slice(&customer.browser.get("/js/v1/integrity").body).expect("JSON");
    let url = integrity["url"].as_str().expect("an address");
    let path = url.strip_prefix("http://localhost").expect("an address of the server, as the request names it");
    let (named, newest) = (customer.browser.get(path), customer.browser.get("/js/v1/till.js"));
    assert_eq!(named.body, newest.body);
    let digest = integrity["integrity"].as_str().and_then(|text| text.strip_prefix("sha384-")).expect("a digest");
    assert_eq!(digest.len(), 64, "the Base64 of 48 bytes");
    for (answer, cache) in [(&named, "public, max-age=31536000, immutable"), (&newest, "public, max-age=300")] {
        assert_eq!(answer.header("content-type"), Some("text/javascript; charset=utf-8"));
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("cross-origin"));
        assert_eq!(answer.header("cache-control"), Some(cache));
    }
}

#[test]
fn only_the_installations_own_pages_hold_the_frame() {
    let (server, shop, browser) = Browser::with(|server| shop_with_all_methods(server, &json!({})));
    let path = format!("/frame/{}/{}", shop.merchant_id, shop.installation_id);
    let text = framed(&browser, &path);
    assert!(text.contains("Card number") && text.contains("PromptPay QR"), "{text}");
    says_nothing(&browser, &format!("/frame/{}/{}", shop.merchant_id, app(&server, &shop)));
    says_nothing(&browser, &format!("/frame/{}/ins_01h2e8kqvbfwea724h75qc655w", shop.merchant_id));
    says_nothing(&browser, "/frame/x/y");
    server.admin("suspend-merchant", &json!({ "merchant_id": shop.merchant_id })).ok();
    says_nothing(&browser, &path);
}

#[test]
fn a_checkout_is_framed_by_its_shop_and_its_whole_address_alone() {
    let customer = Customer::of(&json!({}));
    let Customer { server, shop, browser, id, path, .. } = &customer;
    let whole = path.replace("/pay/", "/frame/");
    let text = framed(browser, &whole);
    assert!(text.contains("Pay <bdi>THB\u{a0}1,234.50</bdi>") && text.contains("data-state=\"choosing\""), "{text}");
    let secret = whole.rsplit('.').next().expect("a secret");
    let of_app = shop.start_checkout(100, &json!({ "installation_id": app(server, shop) }));
    for other in [
        format!("/frame/{}/{id}", shop.merchant_id),
        format!("/frame/{}/chk_01h2e8kqvbfwea724h75qc655w.{secret}", shop.merchant_id),
        whole.replace(secret, "aaaaaaaaaaaaaaaaaaaaaaaaaa"),
        format!("{whole}a"),
        of_app.strip_prefix(server.public()).expect("an address of the server").replace("/pay/", "/frame/"),
    ] {
        says_nothing(browser, &other);
    }
    let posted = browser.post(&whole, "action=pay&payment_method=PROMPTPAY");
    assert_eq!((posted.status, customer.found()["attempts"].as_u64()), (405, Some(0)), "the frame has no form");
    server.admin("suspend-merchant", &json!({ "merchant_id": shop.merchant_id })).ok();
    says_nothing(browser, &whole);
}

#[test]
fn the_picture_of_a_qr_code_is_gone_once_it_is_paid() {
    let customer = Customer::of(&json!({}));
    customer.posts(&[("action", "pay"), ("payment_method", "PROMPTPAY")]);
    customer.page_with("Scan to pay");
    let Customer { server: _, shop, browser, .. } = &customer;
    let session = customer.session();
    let path = format!("/pay/{}/qr/{session}", shop.merchant_id);
    assert_eq!(browser.get(&path).status, 200);
    let payment = customer.found()["payment_id"].as_str().expect("a payment").to_owned();
    let text = shop.payment(&payment)["next_action"]["qr_data"].as_str().expect("a text").to_owned();
    let asked = super::browser::Asked { session, payment, step: text };
    browser.post(&page_of(browser, &asked), SUCCEED);
    wait_until(PATIENCE, "it is gone", || browser.get(&path).status == 404);
}

#[test]
fn the_qr_code_of_the_page_is_a_png_as_long_as_it_can_be_scanned() {
    let customer = Customer::of(&json!({}));
    customer.posts(&[("action", "pay"), ("payment_method", "PROMPTPAY")]);
    let text = customer.page_with("Scan to pay");
    let session = customer.session();
    let path = format!("/pay/{}/qr/{session}", customer.shop.merchant_id);
    assert!(text.contains(&format!("<a class=\"other\" href=\"{path}\" download=\"promptpay-qr.png\"")), "{text}");
    assert!(text.contains(&format!("<img src=\"{path}\"")), "{text}");
    let picture = customer.browser.get(&path);
    assert_eq!((picture.status, picture.header("content-type")), (200, Some("image/png")));
    assert_eq!(picture.header("cache-control"), Some("no-store"));
    assert!(picture.body.starts_with(b"\x89PNG\r\n\x1a\n") && picture.body.len() < 4_000);
    for unknown in ["pse_01h2e8kqvbfwea724h75qc655w", "x"] {
        let answer = customer.browser.get(&format!("/pay/{}/qr/{unknown}", customer.shop.merchant_id));
        assert_eq!(answer.status, 404);
    }
    customer.posts(&[("action", "another_way"), ("replaces", &session)]);
    customer.page_with("Choose how to pay");
    assert_eq!(customer.browser.get(&path).status, 404, "nobody scans a code that was given up");
}

#[test]
fn every_page_has_an_icon_and_so_has_a_browsers_first_look() {
    let customer = Customer::of(&json!({}));
    let pages = [customer.path.as_str(), "/sandbox/scan", "/return/x/y", "/pay/x/y"];
    for text in pages.map(|path| String::from_utf8(customer.browser.get(path).body).expect("UTF-8")) {
        let icon = customer.browser.get(linked(&text, "/assets/icon-"));
        assert_eq!((icon.status, icon.header("content-type")), (200, Some("image/svg+xml")));
        assert_eq!(icon.header("cache-control"), Some("public, max-age=31536000, immutable"));
        let first = customer.browser.get("/favicon.ico");
        assert_eq!((first.status, &first.body), (200, &icon.body));
    }
}

#[test]
fn the_tenth_decline_says_why_no_other_attempt_is_possible() {
    let customer = Customer::of(&json!({ "amount": "123492", "payment_methods": ["MOBILE_BANKING"] }));
    for attempt in 1..=10 {
        customer.posts(&[("action", "pay"), ("payment_method", "MOBILE_BANKING")]);
        customer.page_with("This payment cannot be made at the moment.");
        assert_eq!(customer.found()["attempts"], attempt);
    }
    let text = customer.page_with("This checkout has expired");
    assert!(text.contains("No further attempt is possible here") && text.contains("shop.example/cart"), "{text}");
}

#[test]
fn the_log_names_the_page_by_its_pattern() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log");
    let server = Start::default().recording(&log).with("TILL_LOG_FILTER", "info").server();
    let shop = shop_with_all_methods(&server, &json!({}));
    let mut customer = Customer::at(server, shop, &json!({}));
    customer.page();
    customer.posts(&[("action", "pay"), ("payment_method", "MOBILE_BANKING")]);
    customer.page_with("Confirm with your bank");
    let session = customer.session();
    assert!(customer.server.stop());
    let text = read_to_string(&log).expect("it was written");
    assert!(text.contains("/pay/{merchant_id}/{checkout_id}"), "{text}");
    assert!(!text.contains(&customer.id) && !text.contains(&session), "a capability in the log: {text}");
}

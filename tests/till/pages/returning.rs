//! `/return/...`: contract, section 9.4.

use serde_json::json;

use super::browser::{Browser, by_method, challenged, checks_headers, each, enable, leads_back, page, return_path};
use crate::harness::{Server, id_of_nothing};

/// A return address, the address that `get-return-url` answers for it, and that of the redirect.
const RETURNED: [(&str, &str, &str); 11] = [
    ("https://shop.example", "https://shop.example?OWN", "https://shop.example?OWN"),
    ("https://shop.example/#top", "https://shop.example/?OWN#top", "https://shop.example/?OWN#top"),
    ("https://shop.example/done?", "https://shop.example/done?OWN", "https://shop.example/done?OWN"),
    ("http://shop.example:8080/?a=1&b", "http://shop.example:8080/?a=1&b&OWN", "http://shop.example:8080/?a=1&b&OWN"),
    (
        "https://shop.example/d%2Fe%2f?a=%2F&payment_id=x&b=+%20#top?x=1#y",
        "https://shop.example/d%2Fe%2f?a=%2F&b=+%20&OWN#top?x=1#y",
        "https://shop.example/d%2Fe%2f?a=%2F&b=+%20&OWN#top?x=1#y",
    ),
    (
        "https://shop.example/?payment_id=1&a=2&payment%5Fid=3&payment_id",
        "https://shop.example/?a=2&OWN",
        "https://shop.example/?a=2&OWN",
    ),
    (
        "https://shop.example/?checkout_id=chk&PAYMENT_ID=1&xpayment_id=2",
        "https://shop.example/?checkout_id=chk&PAYMENT_ID=1&xpayment_id=2&OWN",
        "https://shop.example/?checkout_id=chk&PAYMENT_ID=1&xpayment_id=2&OWN",
    ),
    (
        "https://Shop.Example:443/./a/../b//c?url=https://x.example/?y=1",
        "https://Shop.Example:443/./a/../b//c?url=https://x.example/?y=1&OWN",
        "https://Shop.Example:443/./a/../b//c?url=https://x.example/?y=1&OWN",
    ),
    (
        "https://bücher.example:8443/ü?ü=1#ü",
        "https://bücher.example:8443/ü?ü=1&OWN#ü",
        "https://xn--bcher-kva.example:8443/%C3%BC?%C3%BC=1&OWN#%C3%BC",
    ),
    (
        "https://ร้าน.example/จ่าย?ชื่อ=ก#ข",
        "https://ร้าน.example/จ่าย?ชื่อ=ก&OWN#ข",
        "https://xn--q3ct9b5e.example/%E0%B8%88%E0%B9%88%E0%B8%B2%E0%B8%A2?%E0%B8%8A%E0%B8%B7%E0%B9%88%E0%B8%AD=%E0%B8%81&OWN#%E0%B8%82",
    ),
    (
        "https://日本語.example/注文?番号=１",
        "https://日本語.example/注文?番号=１&OWN",
        "https://xn--wgv71a119e.example/%E6%B3%A8%E6%96%87?%E7%95%AA%E5%8F%B7=%EF%BC%91&OWN",
    ),
];

#[test]
fn an_ended_payment_leads_to_the_shop_with_its_id() {
    let (_server, shop, browser) = Browser::with_shop();
    each(&RETURNED, |(given, told, expected)| {
        let asked = challenged(&shop, &json!({ "return_url": given }));
        let own = format!("payment_id={}", asked.payment);
        let (told, expected) = (told.replace("OWN", &own), expected.replace("OWN", &own));
        leads_back(&browser.post(&asked.step, "outcome=succeed"), &shop, &asked);
        let paid = shop.settled(&asked.payment);
        assert_eq!(paid["return_url"], *given, "as it was given");
        let body = json!({ "payment_session_id": asked.session });
        assert_eq!(shop.sdk("get-return-url", &body).id(), told);
        let sent = browser.get(&return_path(&shop, &asked));
        assert_eq!(sent.status, 303);
        checks_headers(&sent);
        assert_eq!(sent.header("location"), Some(&*expected));
        let path = return_path(&shop, &asked);
        assert_eq!(browser.send("HEAD", &path, &[("Connection", "close")], b"").header("location"), Some(&*expected));
    });
}

#[test]
fn a_payment_without_an_outcome_shows_a_page_that_waits() {
    let (server, shop) = Server::with_shop();
    enable(&server, &shop, "MOBILE_BANKING");
    let browser = Browser::of(&server);
    let asked = by_method(&shop, "MOBILE_BANKING");
    let path = return_path(&shop, &asked);
    let text = page(&browser.get(&path), 200);
    assert!(text.contains("<h1>Processing your payment</h1>") && text.contains("http-equiv=\"refresh\""), "{text}");
    assert!(text.contains("Continue to your bank") && !text.contains("shop.example"), "{text}");
    let late = page(&browser.get(&format!("{path}?waited=30")), 200);
    assert!(late.contains(&format!("https://shop.example/done?payment_id={}", asked.payment)), "{late}");
    shop.sdk("cancel-payment-session", &json!({ "payment_session_id": asked.session })).ok();
    assert_eq!(browser.get(&path).status, 303);
}

#[test]
fn a_session_without_a_payment_is_a_page_that_names_no_shop() {
    let (server, shop, browser) = Browser::with_shop();
    let unused = shop.session(100);
    let (merchant, other) = (&shop.merchant_id, server.shop().merchant_id);
    let asked = challenged(&shop, &json!({}));
    for path in [
        format!("/return/{merchant}/{unused}"),
        format!("/return/{merchant}/{}", id_of_nothing(&unused)),
        format!("/return/{}/{}", id_of_nothing(merchant), asked.session),
        format!("/return/{other}/{}", asked.session),
        format!("/return/{merchant}/x"),
        "/return/x/y".to_owned(),
    ] {
        let text = page(&browser.get(&path), 404);
        assert!(text.contains("<h1>Page not found</h1>") && !text.contains("shop.example"), "{text}");
    }
    assert!(page(&browser.get("/return/x"), 404).contains("<h1>Page not found</h1>"));
}

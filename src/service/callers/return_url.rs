//! The shop's page that a customer comes back to after a payment.

use till_domain::checkout::Checkout;
use till_domain::payment::Payment;
#[cfg(feature = "pages")]
use till_domain::text::ReturnUrl;
use url::form_urlencoded;
#[cfg(feature = "pages")]
use url::form_urlencoded::byte_serialize;
#[cfg(feature = "pages")]
use url::{Position, Url};

/// The payment's `return_url` with the id of the payment, and that of its checkout, appended: contract, section 9.4.
#[must_use]
pub(crate) fn returned_to(payment: &Payment) -> String {
    let checkout = payment.checkout_id.map(|id| format!("checkout_id={id}"));
    let own = [format!("payment_id={}", payment.id)].into_iter().chain(checkout);
    with_appended(payment.return_url.as_str(), &own.collect::<Vec<_>>())
}

/// The page of the shop to which a customer goes who gives a checkout up.
#[must_use]
pub(crate) fn given_up_to(checkout: &Checkout) -> String {
    with_appended(checkout.given_up_url().as_str(), &[format!("checkout_id={}", checkout.id)])
}

/// The page of the shop that shows a checkout in a frame.
#[cfg(feature = "pages")]
#[must_use]
pub(crate) fn framed_at(checkout: &Checkout) -> Option<String> {
    let page = checkout.page_url.as_ref()?;
    Some(with_appended(page.as_str(), &[format!("checkout_id={}", checkout.id)]))
}

/// An address with these parameters appended, which replace those of their names. All else, and the fragment, stays as
/// the merchant gave it, byte for byte.
fn with_appended(given: &str, own: &[String]) -> String {
    let (address, fragment) = given.split_once('#').map_or((given, None), |(address, rest)| (address, Some(rest)));
    let (page, query) = address.split_once('?').map_or((address, None), |(page, query)| (page, Some(query)));
    let given = query.filter(|query| !query.is_empty());
    let kept = given.into_iter().flat_map(|query| query.split('&')).filter(|pair| !is_replaced(pair, own));
    let pairs: Vec<&str> = kept.chain(own.iter().map(String::as_str)).collect();
    let fragment = fragment.map_or(String::new(), |fragment| format!("#{fragment}"));
    format!("{page}?{}{fragment}", pairs.join("&"))
}

/// An address as a `Location` header has it: a host in other letters in punycode, other bytes beyond ASCII
/// percent-encoded, and all else byte for byte.
#[cfg(feature = "pages")]
#[must_use]
pub(crate) fn in_ascii(address: &str) -> String {
    let begin = address.find("://").map_or(0, |scheme| scheme + 3);
    let length = address[begin..].find(['/', '?', '#', '\\']).unwrap_or(address.len() - begin);
    let (scheme, authority, rest) = (&address[..begin], &address[begin..begin + length], &address[begin + length..]);
    let host_begin = authority.rfind('@').map_or(0, |at| at + 1);
    let (user, host) = authority.split_at(host_begin);
    let parsed = Url::parse(address).ok().filter(|_| !host.is_ascii());
    let host = parsed.as_ref().map_or(host, |url| &url[Position::BeforeHost..Position::AfterPort]);
    [scheme, &encoded(user), host, &encoded(rest)].concat()
}

/// A text with its bytes beyond ASCII percent-encoded.
#[cfg(feature = "pages")]
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            0..=0x7f => encoded.push(char::from(byte)),
            0x80.. => encoded.extend(byte_serialize(&[byte])),
        }
    }
    encoded
}

/// The origin of a shop's page, in ASCII.
#[cfg(feature = "pages")]
#[must_use]
pub(crate) fn origin_of(page: &ReturnUrl) -> Option<String> {
    let origin = Url::parse(page.as_str()).ok()?.origin();
    origin.is_tuple().then(|| origin.ascii_serialization())
}

/// True for a parameter that is appended anew.
fn is_replaced(pair: &str, own: &[String]) -> bool {
    let name = form_urlencoded::parse(pair.as_bytes()).next().map(|(name, _)| name);
    let is_named = |appended: &String| appended.split('=').next() == name.as_deref();
    own.iter().any(is_named)
}

#[cfg(test)]
mod tests {
    use till_domain::acquirer::AcquirerRef;
    use till_domain::ids::{CheckoutId, PaymentId, SessionId};
    use till_domain::money::{AmountMinor, Money};
    use till_domain::session::Instrument;
    use till_domain::text::ReturnUrl;
    use till_domain::time::Millis;

    use super::*;

    #[cfg(feature = "pages")]
    #[test]
    fn a_location_is_ascii_and_otherwise_as_it_was_given() {
        for (given, expected) in [
            ("https://shop.example/d%2Fe?a=%2f&b='#top", "https://shop.example/d%2Fe?a=%2f&b='#top"),
            ("HTTPS://Shop.Example:443?x", "HTTPS://Shop.Example:443?x"),
            ("https://u:p@shop.example:8443/../x", "https://u:p@shop.example:8443/../x"),
            ("https://ร้าน.example:8443/จ?ก=1#ข", "https://xn--q3ct9b5e.example:8443/%E0%B8%88?%E0%B8%81=1#%E0%B8%82"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("https://é@shop.example/", "https://%C3%A9@shop.example/"),
        ] {
            assert_eq!(in_ascii(given), expected, "{given}");
        }
    }

    #[test]
    fn only_the_ids_of_payment_and_checkout_are_appended() {
        let id = PaymentId::from_bytes([1; 16]);
        for (given, expected) in [
            ("https://shop.example/done", "https://shop.example/done?ID"),
            ("https://shop.example", "https://shop.example?ID"),
            ("https://shop.example/?", "https://shop.example/?ID"),
            ("https://shop.example/done?a=1&b=%2F", "https://shop.example/done?a=1&b=%2F&ID"),
            ("https://shop.example/d%2Fe?a=%2f#top?x", "https://shop.example/d%2Fe?a=%2f&ID#top?x"),
            ("https://shop.example/?payment_id=1&a=2&payment%5Fid=3", "https://shop.example/?a=2&ID"),
            ("https://shop.example/?a=1&&b=2&", "https://shop.example/?a=1&&b=2&&ID"),
            ("https://shop.example/?&payment_id=1&&a", "https://shop.example/?&&a&ID"),
            ("https://ร้าน.example/จ่าย?ชื่อ=ก#ข", "https://ร้าน.example/จ่าย?ชื่อ=ก&ID#ข"),
        ] {
            let money =
                Money { amount: AmountMinor::new(1).expect("in range"), currency: "THB".parse().expect("an ISO code") };
            let session = (SessionId::from_bytes([2; 16]), money, Instrument::MobileBanking);
            let return_url = ReturnUrl::from_stored(given.to_owned());
            let payment = Payment::of_session(id, session, AcquirerRef::Sandbox, return_url, Millis(0));
            assert_eq!(returned_to(&payment), expected.replace("ID", &format!("payment_id={id}")), "{given}");
            let checkout_id = CheckoutId::from_bytes([3; 16]);
            let paid = Payment { checkout_id: Some(checkout_id), ..payment };
            let own = format!("payment_id={id}&checkout_id={checkout_id}");
            assert_eq!(returned_to(&paid), expected.replace("ID", &own), "{given}");
        }
    }

    #[test]
    fn only_what_is_appended_is_replaced() {
        let given = "https://shop.example/?payment_id=1&checkout_id=2";
        let appended = |names: &[&'static str]| {
            let own: Vec<String> = names.iter().map(|name| format!("{name}=3")).collect();
            with_appended(given, &own)
        };
        assert_eq!(appended(&["payment_id"]), "https://shop.example/?checkout_id=2&payment_id=3");
        assert_eq!(appended(&["checkout_id"]), "https://shop.example/?payment_id=1&checkout_id=3");
        assert_eq!(appended(&["payment_id", "checkout_id"]), "https://shop.example/?payment_id=3&checkout_id=3");
    }
}

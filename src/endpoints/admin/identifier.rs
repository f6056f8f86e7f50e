//! The identifier of an installation. For a web site it is the origin of its pages, exactly as browsers send it:
//! another spelling would never match, and nobody would be told.
//!
//! Source: the HTML standard, section 7.1.1 (origins) and the Fetch standard, section 3.1 (`Origin` header).

use till_domain::merchant::Platform;
use till_domain::text::InstallationIdentifier;
use url::{Host, Origin, Url};

/// Checks and converts an identifier for a platform.
///
/// # Errors
/// A message with the form to send, and the correct spelling of this text where it can be derived.
pub(super) fn identifier_on(
    platform: Platform,
    text: InstallationIdentifier,
) -> Result<InstallationIdentifier, String> {
    match platform {
        Platform::Web => web_origin(text),
        Platform::Ios | Platform::Android | Platform::Terminal => Ok(text),
    }
}

fn web_origin(text: InstallationIdentifier) -> Result<InstallationIdentifier, String> {
    let meant = meant_origin(text.as_str());
    match meant {
        Some(origin) if origin == text.as_str() => Ok(text),
        Some(origin) => Err(format!("is not an origin as browsers send it: send {origin}")),
        None => Err("is not an origin as browsers send it: send http or https and the host, such as \
                     https://shop.example, with the port unless it is the default one"
            .to_owned()),
    }
}

/// The origin that a text probably means, with or without a scheme, in the form in which browsers send it.
fn meant_origin(text: &str) -> Option<String> {
    let with_scheme = Url::parse(text).ok().and_then(|url| serialized(&url));
    // Text without a scheme may parse as well: in `localhost:3000` the parser takes the host for the scheme.
    let without = || Url::parse(&format!("https://{text}")).ok().filter(is_plausible_host);
    with_scheme.or_else(|| without().and_then(|url| serialized(&url)))
}

fn serialized(url: &Url) -> Option<String> {
    let is_web = matches!(url.scheme(), "http" | "https");
    let origin = url.origin();
    let has_wildcard = matches!(&origin, Origin::Tuple(_, Host::Domain(name), _) if name.contains('*'));
    (is_web && origin.is_tuple() && !has_wildcard).then(|| origin.ascii_serialization())
}

/// True when a text without a scheme may mean this host: `null` and `javascript` do not.
fn is_plausible_host(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.contains('.') || name == "localhost",
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn web(text: &str) -> Result<String, String> {
        let text = InstallationIdentifier::new(text).expect("a plain text");
        identifier_on(Platform::Web, text).map(|identifier| identifier.as_str().to_owned())
    }

    #[test]
    fn a_web_installation_takes_an_origin_as_browsers_send_it() {
        for origin in [
            "https://shop.example",
            "http://shop.example",
            "http://localhost:3000",
            "https://shop.example:8443",
            "http://127.0.0.1:8080",
            "http://[::1]:3000",
            "https://xn--bcher-kva.example",
        ] {
            assert_eq!(web(origin), Ok(origin.to_owned()));
        }
    }

    #[test]
    fn another_spelling_of_an_origin_is_refused_with_the_right_one() {
        for (text, origin) in [
            ("https://shop.example/", "https://shop.example"),
            ("https://shop.example/checkout?a=b#c", "https://shop.example"),
            ("http://localhost:3000/checkout", "http://localhost:3000"),
            ("https://SHOP.example", "https://shop.example"),
            ("HTTPS://shop.example", "https://shop.example"),
            ("https://shop.example:443", "https://shop.example"),
            ("http://shop.example:80", "http://shop.example"),
            ("https://user:secret@shop.example", "https://shop.example"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("http://127.1", "http://127.0.0.1"),
            (" https://shop.example", "https://shop.example"),
            ("shop.example", "https://shop.example"),
            ("shop.example:8443/a", "https://shop.example:8443"),
            ("localhost:3000", "https://localhost:3000"),
            ("//shop.example", "https://shop.example"),
        ] {
            assert_eq!(web(text), Err(format!("is not an origin as browsers send it: send {origin}")), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_no_origin_is_refused_with_an_example() {
        for text in [
            "*",
            "null",
            "javascript:alert(1)",
            "https://a b",
            "https://*.shop.example",
            "*.shop.example",
            "https://",
            "file:///srv/shop",
            "ftp://shop.example",
            "chrome-extension://abcdefgh",
            "data:text/html,x",
            "shop",
            "https://shop.example:99999",
        ] {
            let message = web(text).expect_err(text);
            assert!(message.contains("such as https://shop.example, with the port"), "{text}: {message}");
        }
    }

    #[test]
    fn other_platforms_keep_their_identifiers_as_text() {
        for platform in [Platform::Ios, Platform::Android, Platform::Terminal] {
            let text = InstallationIdentifier::new("th.example.Shop/1").expect("a plain text");
            assert_eq!(identifier_on(platform, text.clone()), Ok(text));
        }
    }
}

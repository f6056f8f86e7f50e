//! Addresses of people: e-mail, telephone, web.

use email_address::{EmailAddress, Options};
use url::Url;

use super::text::{has_any, printable};
use crate::json::Json;

/// The limit of bytes of a return address.
const URL_BYTES_MAX: usize = 2048;

/// The limits of the digits of a telephone number, by E.164.
const MOBILE_DIGITS_MIN: usize = 8;
const MOBILE_DIGITS_MAX: usize = 15;

/// An e-mail address, kept as written. Two addresses that differ only in letter case are the same; readers compare them
/// so.
///
/// The message describes the form to send.
/// The message says what form to send.
pub fn email(value: &Json) -> Result<String, String> {
    let options = Options::default().without_display_text().without_domain_literal();
    EmailAddress::parse_with_options(printable(value)?, options)
        .map(|address| address.as_str().to_owned())
        .map_err(|_| "is not an e-mail address; send one such as name@example.com".to_owned())
}

/// A telephone number in E.164 form: `+` and 8 to 15 digits, the first of them a country code's and so not 0.
///
/// # Errors
/// The message describes the form to send.
pub fn mobile(value: &Json) -> Result<String, String> {
    let text = printable(value)?;
    let digits = text.strip_prefix('+').unwrap_or("");
    let is_sound = (MOBILE_DIGITS_MIN..=MOBILE_DIGITS_MAX).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0');
    is_sound.then(|| text.to_owned()).ok_or_else(|| {
        format!(
            "is not a number in E.164 form; send + and {MOBILE_DIGITS_MIN} to {MOBILE_DIGITS_MAX} digits, country \
            code first"
        )
    })
}

/// An absolute http or https address of at most 2,048 bytes, kept as written.
///
/// # Errors
/// The message describes the form to send.
pub fn return_url(value: &Json) -> Result<String, String> {
    let text = printable(value)?;
    if text.len() > URL_BYTES_MAX {
        return Err(format!("must be at most {URL_BYTES_MAX} bytes long, not {}", text.len()));
    }
    if has_any(text, char::is_whitespace) {
        return Err("must not contain spaces; encode them as %20".to_owned());
    }
    let is_sound = after_scheme(text).is_some_and(|rest| names_a_plain_host(rest) || is_read_as_an_address(text, rest));
    is_sound
        .then(|| text.to_owned())
        .ok_or_else(|| "is not an absolute http or https address; send one with scheme and host".to_owned())
}

/// The text after the scheme, when that is `http://` or `https://` in full.
fn after_scheme(text: &str) -> Option<&str> {
    let follows = |prefix: &str| {
        let (start, rest) = text.split_at_checked(prefix.len())?;
        start.eq_ignore_ascii_case(prefix).then_some(rest)
    };
    follows("http://").or_else(|| follows("https://"))
}

/// True when the rest begins with labels of small letters, digits and single hyphens, the last of which begins with a
/// letter, as nearly all do. URL parsers accept these, whatever path follows.
fn names_a_plain_host(rest: &str) -> bool {
    let host = rest.as_bytes().split(|byte| matches!(byte, b'/' | b'?' | b'#')).next().unwrap_or_default();
    let is_plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    let is_single = |pair: &[u8]| pair != b"--";
    let is_label = |label: &[u8]| !label.is_empty() && label.iter().all(is_plain) && label.windows(2).all(is_single);
    let mut labels = host.split(|byte| *byte == b'.');
    let begins_with_a_letter = |label: &[u8]| label.first().is_some_and(u8::is_ascii_lowercase);
    labels.clone().next_back().is_some_and(begins_with_a_letter) && labels.all(is_label)
}

/// True when a URL parser finds a host. It is more lenient than this check: it accepts `https:host` and
/// `https:///host`, too.
fn is_read_as_an_address(text: &str, rest: &str) -> bool {
    !rest.starts_with(['/', '\\']) && Url::parse(text).is_ok_and(|url| url.has_host())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(parse: fn(&Json) -> Result<String, String>, text: &str) -> bool {
        match parse(&Json::String(text.to_owned())) {
            Ok(read) => {
                assert_eq!(read, text, "the value is kept as written");
                true
            }
            Err(message) => {
                assert!(text.len() < 8 || !message.contains(text), "{message} repeats {text}");
                false
            }
        }
    }

    #[test]
    fn e_mail_addresses_are_told_from_other_text() {
        for good in ["a@b.co", "First.Last+tag@Sub.Example.COM", "o'hara@example.org", "用户@例子.测试"] {
            assert!(accepts(email, good), "{good}");
        }
        for bad in
            ["", "a", "a@", "@b.co", "a b@c.co", "a@b@c.co", "Name <a@b.co>", "a@[127.0.0.1]", "a@b..co", "a@b.co\n"]
        {
            assert!(!accepts(email, bad), "{bad}");
        }
        assert!(!accepts(email, &format!("{}@example.com", "a".repeat(300))));
    }

    #[test]
    fn mobile_numbers_are_in_e_164_form() {
        for good in ["+66812345678", "+12345678", "+123456789012345"] {
            assert!(accepts(mobile, good), "{good}");
        }
        for bad in [
            "",
            "+",
            "66812345678",
            "+1234567",
            "+1234567890123456",
            "+66 81234567",
            "+6681234567a",
            "++6681234567",
            "+06812345678",
            "+٦٦٨١٢٣٤٥٦٧٨",
        ] {
            assert!(!accepts(mobile, bad), "{bad}");
        }
    }

    #[test]
    fn hosts_accepted_without_the_parser_are_accepted_by_it() {
        let hosts = [
            "shop.example",
            "localhost",
            "a-b.c1",
            "1.a",
            "0x1.a0",
            "-a.b-",
            "a..b",
            "a.",
            ".a",
            "",
            "1",
            "a.1",
            "1.2.3.4",
            "xn--a.b",
            "a--b",
            "A.b",
            "a_b",
            "a:80",
            "a:99999",
            "user@a",
            "[::1]",
            "例子",
            "a%41",
            "a\\b",
            "a^b",
        ];
        for host in hosts {
            for behind in ["", "/", "/done?x=1#y", "?x", "#y", "/%zz", "/@:[]\\^|é"] {
                let rest = format!("{host}{behind}");
                let text = format!("https://{rest}");
                assert!(!names_a_plain_host(&rest) || is_read_as_an_address(&text, &rest), "{text}");
            }
        }
        assert!(names_a_plain_host("shop.example/done") && names_a_plain_host("localhost"));
    }

    #[test]
    fn return_addresses_are_absolute_http() {
        for good in
            ["https://shop.example/done?x=1#y", "http://localhost:3000/", "HTTPS://例子.测试/é", "https://[::1]/"]
        {
            assert!(accepts(return_url, good), "{good}");
        }
        for bad in [
            "",
            "/done",
            "//shop.example",
            "shop.example",
            "https:shop.example",
            "https:/shop.example",
            "https:///shop.example",
            "https://\\shop.example",
            "https://",
            "ftp://a.b/",
            "javascript:alert(1)",
            " https://a.b/",
            "https://a.b/c d",
            "https://a.b/\u{a0}",
            "https://a b/",
            "https://a.b:99999/",
            "data:text/html,x",
        ] {
            assert!(!accepts(return_url, bad), "{bad}");
        }
        let long = |length: usize| format!("https://a.b/{}", "x".repeat(length - 12));
        assert!(accepts(return_url, &long(2048)) && !accepts(return_url, &long(2049)));
    }
}

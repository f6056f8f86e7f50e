//! The `Idempotency-Key` header, with which a caller may repeat a call.

use actix_web::http::header::{HeaderMap, HeaderName};

use crate::fault::{Fault, IDEMPOTENCY_KEY};

static NAME: HeaderName = HeaderName::from_static("idempotency-key");

/// The limit of characters of a key.
const LENGTH_MAX: usize = 255;

/// True when the request has such a header, well-formed or not.
pub(super) fn is_given(headers: &HeaderMap) -> bool {
    headers.contains_key(&NAME)
}

/// The request's key: 1 to 255 visible ASCII characters and spaces, in one header. Spaces and tabs around a header's
/// value do not belong to it (RFC 9110, section 5.5).
pub(super) fn read(headers: &HeaderMap) -> Result<Option<String>, Fault> {
    let mut values = headers.get_all(&NAME);
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Fault::invalid(IDEMPOTENCY_KEY, "is given twice; send one"));
    }
    checked(value.as_bytes())
}

/// The key that a form of a page has in a field.
pub(super) fn of_text(key: Option<&str>) -> Result<Option<String>, Fault> {
    key.map_or(Ok(None), |key| checked(key.as_bytes()))
}

fn checked(key: &[u8]) -> Result<Option<String>, Fault> {
    let key = key.trim_ascii();
    if !(1..=LENGTH_MAX).contains(&key.len()) || !key.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ') {
        let message = format!("must be 1 to {LENGTH_MAX} visible ASCII characters and spaces");
        return Err(Fault::invalid(IDEMPOTENCY_KEY, message));
    }
    Ok(std::str::from_utf8(key).ok().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn of(values: &[&[u8]]) -> Result<Option<String>, Fault> {
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_bytes(value).unwrap_or_else(|error| panic!("{error}"));
            headers.append(HeaderName::from_static("idempotency-key"), value);
        }
        read(&headers)
    }

    #[test]
    fn a_key_of_visible_characters_and_spaces_is_kept_whole() {
        assert_eq!(of(&[]), Ok(None));
        let longest = "~".repeat(255);
        for key in ["a", "order:17/retry!", "order 17, first  try", &longest] {
            assert_eq!(of(&[key.as_bytes()]), Ok(Some(key.to_owned())));
        }
    }

    #[test]
    fn blanks_around_a_key_are_no_part_of_it() {
        let longest = format!(" {} ", "~".repeat(255));
        assert_eq!(of(&[b" \torder 17\t "]), Ok(Some("order 17".to_owned())));
        assert_eq!(of(&[longest.as_bytes()]), Ok(Some("~".repeat(255))));
    }

    #[test]
    fn any_other_key_is_refused() {
        let long = "x".repeat(256);
        for values in [&[&b""[..]][..], &[b" "], &["é".as_bytes()], &[long.as_bytes()], &[b"a", b"a"], &[b"a\tb"]] {
            assert!(of(values).is_err(), "{values:?}");
        }
    }
}

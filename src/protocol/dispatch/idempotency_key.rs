//! The header by which a caller may ask twice.

use actix_web::http::header::HeaderMap;

use crate::protocol::fault::{Fault, IDEMPOTENCY_KEY};

/// Characters of a key, at most.
const LENGTH_MAX: usize = 255;

/// The request's key: 1 to 255 visible ASCII characters, in one header.
pub(super) fn read(headers: &HeaderMap) -> Result<Option<String>, Fault> {
    let mut values = headers.get_all("idempotency-key");
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Fault::invalid(IDEMPOTENCY_KEY, "is given twice; send one"));
    }
    let bytes = value.as_bytes();
    if !(1..=LENGTH_MAX).contains(&bytes.len()) || !bytes.iter().all(u8::is_ascii_graphic) {
        return Err(Fault::invalid(IDEMPOTENCY_KEY, format!("must be 1 to {LENGTH_MAX} visible ASCII characters")));
    }
    Ok(value.to_str().ok().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};

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
    fn a_key_of_visible_characters_is_kept_whole() {
        assert_eq!(of(&[]), Ok(None));
        let longest = "~".repeat(255);
        for key in ["a", "order:17/retry!", &longest] {
            assert_eq!(of(&[key.as_bytes()]), Ok(Some(key.to_owned())));
        }
    }

    #[test]
    fn any_other_key_is_refused() {
        let long = "x".repeat(256);
        for values in [&[&b""[..]][..], &[b"a b"], &["é".as_bytes()], &[long.as_bytes()], &[b"a", b"a"], &[b"a\tb"]] {
            assert!(of(values).is_err(), "{values:?}");
        }
    }
}

//! The bearer token of a request.

use actix_web::http::header::{AUTHORIZATION, HeaderMap};

const SCHEME: &[u8] = b"bearer";

/// The token of the one `Authorization: Bearer <token>` header. None when the header is missing, stands there
/// twice, has another scheme, or holds no single token.
pub(super) fn token(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION);
    let value = values.next().filter(|_| values.next().is_none())?.as_bytes();
    let (scheme, rest) = value.split_at_checked(SCHEME.len())?;
    let start = rest.iter().position(|byte| *byte != b' ')?;
    let end = rest.iter().rposition(|byte| *byte != b' ')?;
    let token = &rest[start..=end];
    let is_one_token = start > 0 && token.iter().all(u8::is_ascii_graphic);
    let token = if scheme.eq_ignore_ascii_case(SCHEME) && is_one_token { token } else { return None };
    std::str::from_utf8(token).ok()
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn of(values: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap_or_else(|error| panic!("{error}")));
        }
        token(&headers).map(str::to_owned)
    }

    #[test]
    fn the_scheme_is_bearer_in_any_letter_case() {
        for value in ["Bearer sk_1", "bearer sk_1", "BEARER sk_1", "Bearer   sk_1"] {
            assert_eq!(of(&[value]).as_deref(), Some("sk_1"), "{value}");
        }
    }

    #[test]
    fn anything_but_one_token_is_no_token() {
        for values in [
            &[][..],
            &["Bearer"],
            &["Bearer "],
            &["Basic c2s="],
            &["sk_1"],
            &["Bearer a b"],
            &["Bearer sk_1", "Bearer sk_1"],
            &["Bearersk_1"],
            &["Bearer\tsk_1"],
            &["Bearer sk_1\t"],
            &["Bearer \tsk_1"],
            &["Bearex sk_1"],
        ] {
            assert_eq!(of(values), None, "{values:?}");
        }
    }
}

//! The bearer token of a request.

use actix_web::http::header::{AUTHORIZATION, HeaderMap};

/// The token of the one `Authorization: Bearer <token>` header. None when the header is missing, stands there
/// twice, has another scheme, or holds no single token.
pub(super) fn token(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION);
    let value = values.next().filter(|_| values.next().is_none())?;
    let (scheme, rest) = value.to_str().ok()?.split_once(' ')?;
    let token = rest.trim_matches(' ');
    let is_one_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    (scheme.eq_ignore_ascii_case("bearer") && is_one_token).then_some(token)
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
        ] {
            assert_eq!(of(values), None, "{values:?}");
        }
    }
}

//! The bearer token of a request.

use actix_web::http::header::{AUTHORIZATION, HeaderMap};

/// A reason why a request shows no token. It repeats nothing of the header, which may hold a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoToken {
    /// There is no such header.
    #[error("The header Authorization is missing.")]
    Missing,
    /// There are several.
    #[error("The header Authorization occurs more than once.")]
    Twice,
    /// The scheme is `Basic`, which carries user names and passwords.
    #[error("The header Authorization has the scheme Basic instead of Bearer.")]
    Basic,
    /// The scheme is another one, or missing.
    #[error("The header Authorization does not begin with the word Bearer and a space.")]
    NotBearer,
    /// Nothing, or more than one word, follows the scheme.
    #[error("The header Authorization does not have exactly one token after the word Bearer.")]
    NotOneToken,
}

/// The token of the one `Authorization: Bearer <token>` header.
pub(super) fn token(headers: &HeaderMap) -> Result<&str, NoToken> {
    let mut values = headers.get_all(AUTHORIZATION);
    let value = values.next().ok_or(NoToken::Missing)?.as_bytes();
    if values.next().is_some() {
        return Err(NoToken::Twice);
    }
    let end = value.iter().position(|byte| *byte == b' ').unwrap_or(value.len());
    let (scheme, rest) = value.split_at(end);
    if !scheme.eq_ignore_ascii_case(b"bearer") {
        return Err(if scheme.eq_ignore_ascii_case(b"basic") { NoToken::Basic } else { NoToken::NotBearer });
    }
    one_token(rest).ok_or(NoToken::NotOneToken)
}

/// The only word between spaces.
fn one_token(text: &[u8]) -> Option<&str> {
    let start = text.iter().position(|byte| *byte != b' ')?;
    let end = text.iter().rposition(|byte| *byte != b' ')?;
    let token = &text[start..=end];
    token.iter().all(u8::is_ascii_graphic).then(|| std::str::from_utf8(token).ok())?
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn of(values: &[&str]) -> Result<String, NoToken> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap_or_else(|error| panic!("{error}")));
        }
        token(&headers).map(str::to_owned)
    }

    #[test]
    fn the_scheme_is_bearer_in_any_letter_case() {
        for value in ["Bearer sk_1", "bearer sk_1", "BEARER sk_1", "Bearer   sk_1"] {
            assert_eq!(of(&[value]).as_deref(), Ok("sk_1"), "{value}");
        }
    }

    #[test]
    fn anything_but_one_token_is_no_token_and_says_why() {
        for (values, problem) in [
            (&[][..], NoToken::Missing),
            (&["Bearer sk_1", "Bearer sk_1"], NoToken::Twice),
            (&["Basic c2s="], NoToken::Basic),
            (&["sk_1"], NoToken::NotBearer),
            (&["Bearersk_1"], NoToken::NotBearer),
            (&["Bearex sk_1"], NoToken::NotBearer),
            (&["Bearer\tsk_1"], NoToken::NotBearer),
            (&["Bearer"], NoToken::NotOneToken),
            (&["Bearer "], NoToken::NotOneToken),
            (&["Bearer a b"], NoToken::NotOneToken),
            (&["Bearer sk_1\t"], NoToken::NotOneToken),
            (&["Bearer \tsk_1"], NoToken::NotOneToken),
        ] {
            assert_eq!(of(values), Err(problem), "{values:?}");
        }
    }
}

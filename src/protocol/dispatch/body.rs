//! A request's body: whether it may be read, and reading it within its limit.

use std::time::Duration;

use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use actix_web::web;
use futures_util::StreamExt;
use zeroize::Zeroize;

use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::json::{Malformed, Object, parse_object};

/// Bytes of a body, at most: 1 MiB.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// How long a body may take to arrive. A mebibyte in this time is 35 kB/s.
const ARRIVAL_MAX: Duration = Duration::from_secs(30);

/// A call's arguments. Those with card data are overwritten when the call is over.
pub(super) struct Body {
    members: Object,
    carries_card_data: bool,
}

impl Body {
    /// The arguments.
    pub(super) fn members(&self) -> &Object {
        &self.members
    }

    /// Reads the arguments out of the bytes, which are overwritten too when they hold card data.
    pub(super) fn parse(mut bytes: Vec<u8>, carries_card_data: bool) -> Result<Body, ApiError> {
        let parsed = parse_object(&bytes).map_err(|malformed| ApiError::malformed(&malformed));
        if carries_card_data {
            bytes.zeroize();
        }
        parsed.map(|members| Body { members, carries_card_data })
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if self.carries_card_data {
            self.members.values_mut().for_each(Zeroize::zeroize);
        }
    }
}

/// Refuses a body that is not plain `application/json`. Parameters of the media type change nothing.
pub(super) fn check_media_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let mut types = headers.get_all(CONTENT_TYPE);
    let only = types.next().filter(|_| types.next().is_none());
    let media_type = only.and_then(|value| value.to_str().ok()).and_then(|value| value.split(';').next());
    if !media_type.is_some_and(|name| name.trim().eq_ignore_ascii_case("application/json")) {
        return Err(ApiError::new(Code::UnsupportedMediaType, "Send the body with Content-Type: application/json."));
    }
    let is_plain = |value: &str| value.split(',').all(|coding| coding.trim().eq_ignore_ascii_case("identity"));
    if !headers.get_all(CONTENT_ENCODING).all(|value| value.to_str().is_ok_and(is_plain)) {
        return Err(ApiError::new(Code::UnsupportedMediaType, "Send the body without Content-Encoding."));
    }
    Ok(())
}

/// Reads a whole body, and never more than its limit.
pub(super) async fn read(headers: &HeaderMap, payload: web::Payload) -> Result<Vec<u8>, ApiError> {
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok()).unwrap_or(0);
    let announced = usize::try_from(announced).unwrap_or(usize::MAX);
    if announced > BODY_BYTES_MAX {
        return Err(too_large());
    }
    let collected = tokio::time::timeout(ARRIVAL_MAX, collect(payload, announced)).await;
    collected.unwrap_or_else(|_| Err(incomplete()))
}

async fn collect(mut payload: web::Payload, announced: usize) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::with_capacity(announced);
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| incomplete())?;
        if bytes.len() + chunk.len() > BODY_BYTES_MAX {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn too_large() -> ApiError {
    ApiError::new(Code::BodyTooLarge, format!("The body is larger than {BODY_BYTES_MAX} bytes."))
}

fn incomplete() -> ApiError {
    ApiError::malformed(&Malformed::new("the body did not arrive whole"))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};

    use super::*;

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| {
            (name.clone(), HeaderValue::from_str(value).unwrap_or_else(|error| panic!("{error}")))
        });
        let mut headers = HeaderMap::new();
        pairs.for_each(|(name, value)| headers.append(name, value));
        headers
    }

    #[test]
    fn json_is_taken_with_any_parameters() {
        for value in ["application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;x=y"]
        {
            assert!(check_media_type(&headers(&[(CONTENT_TYPE, value)])).is_ok(), "{value}");
        }
        assert!(
            check_media_type(&headers(&[(CONTENT_TYPE, "application/json"), (CONTENT_ENCODING, "identity")])).is_ok()
        );
    }

    #[test]
    fn any_other_media_type_or_encoding_is_refused() {
        for pairs in [
            &[][..],
            &[(CONTENT_TYPE, "text/plain")],
            &[(CONTENT_TYPE, "application/jsonx")],
            &[(CONTENT_TYPE, "application/problem+json")],
            &[(CONTENT_TYPE, "application/json"), (CONTENT_TYPE, "text/plain")],
            &[(CONTENT_TYPE, "application/json"), (CONTENT_ENCODING, "gzip")],
            &[(CONTENT_TYPE, "")],
        ] {
            let refused =
                check_media_type(&headers(pairs)).is_err_and(|error| error.code() == Code::UnsupportedMediaType);
            assert!(refused, "{pairs:?}");
        }
    }
}

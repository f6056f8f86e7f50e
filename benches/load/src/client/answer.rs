//! The answer of a call, or the reason that there is none.

use std::io;

use serde_json::Value;

/// The most headers of an answer; a Till server sends about ten.
pub(super) const HEADERS_MAX: usize = 32;

/// An answer that borrows from the buffer of its connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HttpAnswer<'c> {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The bytes before the body.
    pub(super) head: &'c [u8],
    /// The body.
    pub(crate) body: &'c [u8],
}

/// The reason that a call has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallFailure {
    /// Nobody listens there.
    #[error("the connection was refused")]
    Refused,
    /// The connection ended before the answer did.
    #[error("the connection was closed")]
    Closed,
    /// The answer did not arrive in time.
    #[error("there was no answer in time")]
    TimedOut,
    /// The bytes that arrived are not HTTP with a `Content-Length`.
    #[error("the answer is not HTTP with a Content-Length")]
    NotHttp,
    /// The connection with TLS could not be made.
    #[error("{0}")]
    Tls(TlsFailure),
    /// The operating system refused the connection.
    #[error("the operating system refuses: {0}")]
    System(std::io::ErrorKind),
}

/// The reason why a connection with TLS cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TlsFailure {
    /// No trusted authority issued the certificate.
    #[error("no trusted authority issued the server's certificate; name further ones with --ca-file FILE")]
    UnknownIssuer,
    /// It is another server's.
    #[error("the server's certificate is for another name")]
    OtherName,
    /// It is too old, or too new.
    #[error("the server's certificate has expired, or is not valid yet")]
    NotValidNow,
    /// It has a form or a use that is not a server's.
    #[error("the server's certificate is not for servers: the certificate of an authority cannot be used")]
    Unfit,
    /// The server speaks something else.
    #[error("the server does not speak TLS")]
    NotTls,
    /// Anything else, such as no common version.
    #[error("the TLS handshake failed")]
    Handshake,
}

impl TlsFailure {
    fn of(error: &rustls::Error) -> TlsFailure {
        use rustls::{CertificateError, Error};
        match error {
            // A trusted certificate may have the issuer's name and another key.
            Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
                TlsFailure::UnknownIssuer
            }
            Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ) => TlsFailure::OtherName,
            Error::InvalidCertificate(
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. },
            ) => TlsFailure::NotValidNow,
            Error::InvalidCertificate(_) => TlsFailure::Unfit,
            Error::InvalidMessage(_) => TlsFailure::NotTls,
            _ => TlsFailure::Handshake,
        }
    }
}

impl CallFailure {
    /// The codes of calls without an answer.
    pub(crate) const CODES_WITHOUT_ANSWER: [&str; 5] = [
        CallFailure::Refused.code(),
        CallFailure::Closed.code(),
        CallFailure::TimedOut.code(),
        CallFailure::Tls(TlsFailure::Handshake).code(),
        CallFailure::System(std::io::ErrorKind::Other).code(),
    ];

    /// The code under which the failure is counted.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            CallFailure::Refused => "(connection refused)",
            CallFailure::Closed => "(connection closed)",
            CallFailure::TimedOut => "(no answer in time)",
            CallFailure::NotHttp => "(not HTTP)",
            CallFailure::Tls(_) => "(TLS)",
            CallFailure::System(_) => "(system)",
        }
    }

    /// The failure that an error of the connection is.
    pub(super) fn of(error: &io::Error) -> CallFailure {
        if let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            return CallFailure::Tls(TlsFailure::of(error));
        }
        match error.kind() {
            io::ErrorKind::ConnectionRefused => CallFailure::Refused,
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => {
                CallFailure::Closed
            }
            kind => CallFailure::System(kind),
        }
    }
}

#[cfg(test)]
impl<'c> HttpAnswer<'c> {
    /// An answer without headers.
    pub(crate) const fn example(status: u16, body: &'c [u8]) -> HttpAnswer<'c> {
        HttpAnswer { status, head: b"", body }
    }
}

impl HttpAnswer<'_> {
    /// True when the call succeeded.
    pub(crate) const fn is_success(&self) -> bool {
        self.status == 200
    }

    /// The address to which the answer leads; None when it leads nowhere.
    pub(crate) fn location(&self) -> Option<&str> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut headers);
        response.parse(self.head).ok()?;
        let location = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("location"))?;
        std::str::from_utf8(location.value).ok()
    }

    /// The text of an answer that is one JSON string without escapes, such as an id.
    pub(crate) fn id(&self) -> Option<&str> {
        let inner = self.body.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let is_plain = inner.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        if is_plain { std::str::from_utf8(inner).ok() } else { None }
    }

    /// The body as JSON; null when it is not JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(self.body).unwrap_or(Value::Null)
    }

    /// The code of an error, or the status when it has none.
    pub(crate) fn error_code(&self) -> String {
        let json = self.json();
        json.get(0).and_then(Value::as_str).map_or_else(|| format!("(HTTP {})", self.status), str::to_owned)
    }

    /// The beginning of the body, for a person.
    pub(crate) fn excerpt(&self) -> String {
        let text = String::from_utf8_lossy(self.body);
        let beginning: String = text.chars().take(160).collect();
        format!("{} {}{}", self.status, beginning, if beginning.len() < text.len() { "..." } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &[u8]) -> HttpAnswer<'_> {
        HttpAnswer::example(400, body)
    }

    #[test]
    fn an_id_is_one_plain_json_string() {
        assert_eq!(answer(b"\"pay_01\"").id(), Some("pay_01"));
        for body in [b"pay_01".as_slice(), b"\"pay_01", b"\"pay\\u0020\"", b"\"", b"null", b""] {
            assert_eq!(answer(body).id(), None);
        }
    }

    #[test]
    fn an_answer_leads_where_its_header_says() {
        let leads = |head: &[u8]| HttpAnswer { head, ..answer(b"") }.location().map(str::to_owned);
        assert_eq!(leads(b"HTTP/1.1 303 See Other\r\nLocation: /return/a/b\r\n\r\n"), Some("/return/a/b".to_owned()));
        assert_eq!(leads(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"), None);
    }

    #[test]
    fn an_error_is_counted_under_its_code_or_its_status() {
        assert_eq!(answer(b"[\"CONFLICT\",\"taken\",null]").error_code(), "CONFLICT");
        assert_eq!(answer(b"<html>").error_code(), "(HTTP 400)");
    }
}

//! Raw endpoints: other programs post there, without a key, bodies in a form of their own, such as notices of
//! acquirers.

use actix_web::http::header::HeaderMap;

use crate::api_error::ApiError;

/// Judges a body, and does what it asks for. It runs on any thread.
pub type JudgeBody = Box<dyn FnOnce(&[u8]) -> Result<(), ApiError> + Send>;

/// An endpoint that takes bodies in a form of their senders, and answers `true`.
pub trait RawEndpoint: Send + Sync {
    /// Its path, where a segment in braces stands for any text. It is the endpoint's name in the log and in metrics.
    fn pattern(&self) -> &'static str;

    /// Judges a request by its head, before anything of its body is read: by the texts at the segments in braces, and
    /// by the headers.
    ///
    /// # Errors
    /// The refusal of the request; its body is not read.
    fn open(&self, texts: &[String], headers: &HeaderMap) -> Result<JudgeBody, ApiError>;
}

//! A call that has passed every check but that of its arguments. It can be sent to another thread.

use std::sync::Arc;

use super::answer::Answer;
use super::body::{Body, BodyBytes};
use super::call::{Call, CallContext, Function};
use super::concurrency::HeldPermit;
use super::encoding::{Coding, encode};
use super::hooks::AuthenticatedCaller;
use crate::api_error::ApiError;

/// A call whose body is not parsed yet.
pub(super) struct CheckedCall<C> {
    pub(super) function: Arc<dyn Function<C>>,
    pub(super) context: CallContext<C>,
    pub(super) bytes: BodyBytes,
}

impl<C: AuthenticatedCaller> CheckedCall<C> {
    /// A copy of the call, for another attempt.
    pub(super) fn copied(&self) -> CheckedCall<C> {
        CheckedCall { function: Arc::clone(&self.function), context: self.context.clone(), bytes: self.bytes.copied() }
    }

    /// Parses the body and carries out the call, which may give its permit back before its end.
    pub(super) async fn answer(self, permit: HeldPermit) -> Result<Answer, ApiError> {
        let body = Body::parse(self.bytes, self.context.declaration)?;
        let reply = self.function.call(Call { context: self.context, body, permit }).await?;
        let replayed = reply.is_replayed();
        Ok(Answer::Json { json: reply.into_json(), replayed })
    }
}

impl Answer {
    /// A text in a coding.
    pub(super) fn encoded(text: String, replayed: bool, coding: Coding) -> Answer {
        match encode(text, || coding) {
            (bytes, Some(coding)) => Answer::Compressed { bytes, coding, replayed },
            (bytes, None) => Answer::Json { json: String::from_utf8(bytes).unwrap_or_default(), replayed },
        }
    }
}

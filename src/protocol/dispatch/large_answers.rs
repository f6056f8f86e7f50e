//! Large answers: handed to the connection in slices, as fast as it is read from, and bounded together.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use actix_web::HttpResponse;
use actix_web::body::{BodySize, MessageBody};
use actix_web::web::Bytes;

/// Bytes of a slice. An answer that is no larger goes out at once. A connection keeps room for two of them.
pub(in crate::protocol) const SLICE_BYTES: usize = 16 * 1024;

/// Bytes of all large answers that are not fetched yet, at most: 256 MiB.
const UNFETCHED_BYTES_MAX: usize = 256 << 20;

/// Room for large answers, of one listener.
#[derive(Debug, Clone)]
pub(super) struct AnswerRoom {
    taken: Arc<AtomicUsize>,
    bytes_max: usize,
}

impl Default for AnswerRoom {
    fn default() -> AnswerRoom {
        AnswerRoom { taken: Arc::default(), bytes_max: UNFETCHED_BYTES_MAX }
    }
}

/// What an answer has taken of the room. Dropping it gives it back.
#[derive(Debug)]
pub(super) struct Share {
    room: AnswerRoom,
    byte_count: usize,
}

/// There are too many answers that nobody fetches.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoRoom;

impl AnswerRoom {
    /// Takes room for an answer; a small one needs none.
    ///
    /// # Errors
    /// [`NoRoom`].
    pub(super) fn take(&self, byte_count: usize) -> Result<Option<Share>, NoRoom> {
        if byte_count <= SLICE_BYTES {
            return Ok(None);
        }
        let taken = self.taken.fetch_add(byte_count, Ordering::Relaxed) + byte_count;
        let share = Share { room: self.clone(), byte_count };
        if taken > self.bytes_max { Err(NoRoom) } else { Ok(Some(share)) }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.room.taken.fetch_sub(self.byte_count, Ordering::Relaxed);
    }
}

/// A body that is handed on slice by slice, with the room that it takes.
struct Slices {
    left: Bytes,
    _share: Share,
}

impl MessageBody for Slices {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(u64::try_from(self.left.len()).unwrap_or(u64::MAX))
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        let length = self.left.len().min(SLICE_BYTES);
        Poll::Ready((length > 0).then(|| Ok(self.left.split_to(length))))
    }
}

/// The response with its body in slices.
pub(super) fn in_slices(response: HttpResponse, share: Share) -> HttpResponse {
    response.map_body(|_, body| match body.try_into_bytes() {
        Ok(left) => Slices { left, _share: share }.boxed(),
        Err(body) => body,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_answers_have_a_bound_together_and_small_ones_are_always_given() {
        let room = AnswerRoom { taken: Arc::default(), bytes_max: 3 * SLICE_BYTES };
        let first = room.take(2 * SLICE_BYTES);
        assert!(matches!(first, Ok(Some(_))) && matches!(room.take(SLICE_BYTES), Ok(None)));
        assert!(matches!(room.take(2 * SLICE_BYTES), Err(NoRoom)));
        drop(first);
        assert_eq!(room.taken.load(Ordering::Relaxed), 0);
        assert!(matches!(room.take(3 * SLICE_BYTES), Ok(Some(_))));
    }

    #[actix_web::test]
    async fn slices_are_the_answer() {
        let text = "0123456789".repeat(20_000);
        let share = AnswerRoom::default().take(text.len()).ok().flatten().expect("there is room");
        let response = in_slices(HttpResponse::Ok().body(text.clone()), share);
        assert_eq!(response.body().size(), BodySize::Sized(200_000));
        let bytes = actix_web::body::to_bytes(response.into_body()).await;
        assert!(bytes.is_ok_and(|bytes| bytes == text.as_bytes()));
    }
}

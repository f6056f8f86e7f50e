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
pub(super) const UNFETCHED_BYTES_MAX: usize = 256 << 20;

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
pub(in crate::protocol) struct Share {
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
        let share = self.take_anyway(byte_count);
        if share.is_some() && self.taken.load(Ordering::Relaxed) > self.bytes_max { Err(NoRoom) } else { Ok(share) }
    }

    /// The same for an answer that must be given: its room may be more than there is.
    pub(super) fn take_anyway(&self, byte_count: usize) -> Option<Share> {
        (byte_count > SLICE_BYTES).then(|| {
            self.taken.fetch_add(byte_count, Ordering::Relaxed);
            Share { room: self.clone(), byte_count }
        })
    }

    /// Whether there is none left.
    pub(super) fn is_full(&self) -> bool {
        self.taken.load(Ordering::Relaxed) >= self.bytes_max
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
    _share: Option<Share>,
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

/// The response with its body in slices, if that is large: the web server copies whatever it is handed in one piece, so
/// that a connection which is not read from would keep all of it.
pub(super) fn in_slices(response: HttpResponse, share: Option<Share>) -> HttpResponse {
    let is_large = matches!(response.body().size(), BodySize::Sized(bytes) if bytes > SLICE_BYTES as u64);
    if !is_large {
        return response;
    }
    response.map_body(|_, body| match body.try_into_bytes() {
        Ok(left) => Slices { left, _share: share }.boxed(),
        Err(body) => body,
    })
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;

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

    #[test]
    fn an_answer_that_must_be_given_is_counted_and_leaves_no_room_for_others() {
        let room = AnswerRoom { taken: Arc::default(), bytes_max: 2 * SLICE_BYTES };
        assert!(!room.is_full() && room.take_anyway(SLICE_BYTES).is_none());
        let given = room.take_anyway(3 * SLICE_BYTES);
        assert!(given.is_some() && room.is_full());
        assert!(matches!(room.take(SLICE_BYTES + 1), Err(NoRoom)));
        drop(given);
        assert!(!room.is_full());
    }

    #[actix_web::test]
    async fn slices_are_the_answer() {
        let text = "0123456789".repeat(20_000);
        let share = AnswerRoom::default().take_anyway(text.len());
        let response = in_slices(HttpResponse::Ok().body(text.clone()), share);
        assert_eq!(response.body().size(), BodySize::Sized(200_000));
        let mut body = pin!(response.into_body());
        let mut slices = Vec::new();
        while let Some(slice) = poll_fn(|context| body.as_mut().poll_next(context)).await {
            slices.push(slice.unwrap_or_else(|error| panic!("{error}")));
        }
        assert_eq!(slices.iter().map(Bytes::len).max(), Some(SLICE_BYTES));
        assert_eq!(slices.concat(), text.as_bytes());
    }
}

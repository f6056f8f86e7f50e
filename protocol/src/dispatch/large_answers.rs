//! Large answers are handed to the connection in slices, as fast as the client reads. The bytes of all large answers
//! together have a limit.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::HttpResponse;
use actix_web::body::{BodySize, MessageBody};
use actix_web::web::Bytes;

use crate::memory_budget::{Exhausted, MemoryBudget, Reservation};

/// The size of a slice in bytes. An answer that is no larger is sent at once. A connection buffers at most two slices.
pub(crate) const SLICE_BYTES: usize = 16 * 1024;

/// The limit of the bytes of all large answers that clients have not fetched yet: 256 MiB.
pub(super) const UNFETCHED_BYTES_MAX: usize = 256 << 20;

/// The memory budget for the large answers of one listener.
pub(super) fn budget() -> MemoryBudget {
    MemoryBudget::of(UNFETCHED_BYTES_MAX)
}

/// Reserves memory for a large answer until the client has fetched it. A small answer needs no reservation. An answer
/// that must be given gets its reservation even above the limit.
///
/// # Errors
/// [`Exhausted`] when the budget does not have enough bytes left and the answer need not be given.
pub(super) fn reserve(
    budget: &MemoryBudget,
    bytes: usize,
    must_be_given: bool,
) -> Result<Option<Reservation>, Exhausted> {
    if bytes <= SLICE_BYTES {
        return Ok(None);
    }
    let mut reservation = budget.reservation();
    match reservation.grow_to(bytes) {
        Err(Exhausted) if !must_be_given => Err(Exhausted),
        Ok(()) | Err(Exhausted) => Ok(Some(reservation)),
    }
}

/// A body that is sent slice by slice. Its memory stays reserved until the body is dropped.
struct Slices {
    left: Bytes,
    _share: Option<Reservation>,
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

/// Splits the body of a large response into slices; a small response is returned unchanged. The web server copies a
/// body that it gets in one piece, so a connection whose client does not read would keep the whole body in memory.
pub(super) fn in_slices(response: HttpResponse, share: Option<Reservation>) -> HttpResponse {
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
    fn an_answer_that_must_be_given_may_exceed_the_budget() {
        let budget = MemoryBudget::of(2 * SLICE_BYTES);
        assert!(matches!(reserve(&budget, SLICE_BYTES, true), Ok(None)) && !budget.is_exhausted());
        let given = reserve(&budget, 3 * SLICE_BYTES, true);
        assert!(matches!(given, Ok(Some(_))) && budget.is_exhausted());
        assert!(matches!(reserve(&budget, SLICE_BYTES + 1, false), Err(Exhausted)));
        assert!(matches!(reserve(&budget, SLICE_BYTES, false), Ok(None)), "a small answer needs no reservation");
        drop(given);
        assert!(!budget.is_exhausted());
    }

    #[actix_web::test]
    async fn the_slices_together_are_the_whole_answer() {
        let text = "0123456789".repeat(20_000);
        let share = reserve(&budget(), text.len(), true).unwrap_or_default();
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

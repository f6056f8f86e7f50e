//! The threads that read requests. Every caller waits for them, so work on them must not take longer than a millisecond
//! or two: a call that turns out to need more is restarted on the worker pool.

use std::cell::Cell;

use super::api_error::ApiError;

/// Bytes of a body or of an answer above which a call belongs on the worker pool: 64 KiB. Parsing or writing them as
/// JSON takes up to two milliseconds.
pub const LARGE_BYTES: usize = 64 * 1024;

thread_local! {
    static IS_HERE: Cell<bool> = const { Cell::new(false) };
}

/// Marks the calling thread as one that reads requests.
pub fn mark() {
    IS_HERE.set(true);
}

/// True on a thread that reads requests.
pub fn is_here() -> bool {
    IS_HERE.get()
}

/// Refuses work on this number of bytes on a thread that reads requests.
///
/// # Errors
/// [`ApiError::for_worker_pool`].
pub fn check_bytes(bytes: u64) -> Result<(), ApiError> {
    if is_here() && bytes > LARGE_BYTES as u64 { Err(ApiError::for_worker_pool()) } else { Ok(()) }
}

/// The bytes of rows that may be read for one answer on this thread.
pub fn row_bytes_max() -> usize {
    if is_here() { LARGE_BYTES } else { usize::MAX }
}

/// Yields to the other calls of a worker thread, during a scan of rows that has taken some time already.
///
/// # Errors
/// [`ApiError::for_worker_pool`] on a thread that reads requests: the scan must be restarted on the worker pool.
pub async fn interrupt_scan() -> Result<(), ApiError> {
    if is_here() {
        return Err(ApiError::for_worker_pool());
    }
    tokio::task::yield_now().await;
    Ok(())
}

//! Limits the rate at which rows are scanned, so that payments are not delayed.

use std::time::Duration;

/// Rows between two pauses.
const ROWS_BETWEEN_PAUSES: usize = 256;
/// The length of a pause: with the rows before it, at most 10,240 rows a second.
const PAUSE_LENGTH: Duration = Duration::from_millis(25);
/// The cost of a read without its rows, in rows: it seeks the first of them.
const READ_COST_ROWS: usize = 8;

/// Counts rows, and pauses.
#[derive(Debug, Default)]
pub(crate) struct ScanThrottle {
    rows: usize,
}

impl ScanThrottle {
    /// Counts rows that were read, and pauses after [`ROWS_BETWEEN_PAUSES`] of them.
    pub(crate) async fn pause_after(&mut self, rows: usize) {
        self.rows += rows + READ_COST_ROWS;
        while self.rows >= ROWS_BETWEEN_PAUSES {
            self.rows -= ROWS_BETWEEN_PAUSES;
            tokio::time::sleep(PAUSE_LENGTH).await;
        }
    }
}

//! Limits the rate at which rows are scanned, so that payments are not delayed.

use std::time::Duration;

/// Rows between two pauses.
const ROWS_BETWEEN_RESTS: usize = 256;
/// The length of a pause: with the rows before it, at most 10,240 rows a second.
const REST: Duration = Duration::from_millis(25);
/// The cost of a read without its rows, in rows: it seeks the first of them.
const LOOK_COST_ROWS: usize = 8;

/// Counts rows, and pauses.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    rows: usize,
}

impl Pace {
    /// Counts rows that were read, and pauses after [`ROWS_BETWEEN_RESTS`] of them.
    pub(crate) async fn rest_after(&mut self, rows: usize) {
        self.rows += rows + LOOK_COST_ROWS;
        while self.rows >= ROWS_BETWEEN_RESTS {
            self.rows -= ROWS_BETWEEN_RESTS;
            tokio::time::sleep(REST).await;
        }
    }
}

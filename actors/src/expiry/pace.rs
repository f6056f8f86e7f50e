//! The pace at which rows are scanned: so slow that payments are not delayed.

use std::time::Duration;

/// Rows between two rests.
const ROWS_BETWEEN_RESTS: usize = 256;
/// The length of a rest: with the rows before it, at most 10,240 rows a second.
const REST: Duration = Duration::from_millis(25);
/// The cost of a look beside its rows, in rows: it seeks the first of them.
const LOOK_COST_ROWS: usize = 8;

/// Counts rows, and rests.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    rows: usize,
}

impl Pace {
    /// So many rows were looked at.
    pub(crate) async fn rest_after(&mut self, rows: usize) {
        self.rows += rows + LOOK_COST_ROWS;
        while self.rows >= ROWS_BETWEEN_RESTS {
            self.rows -= ROWS_BETWEEN_RESTS;
            tokio::time::sleep(REST).await;
        }
    }
}

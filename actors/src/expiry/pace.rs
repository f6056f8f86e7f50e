//! How fast rows are looked at: so slowly that nobody who pays notices.

use std::time::Duration;

/// Rows between two rests.
const ROWS_BETWEEN_RESTS: usize = 256;
/// How long a rest is: with the rows before it, at most 10,240 rows a second.
const REST: Duration = Duration::from_millis(25);
/// What a look costs beside its rows, in rows: finding where they begin.
const LOOK_COST_ROWS: usize = 8;

/// Counts rows, and rests.
#[derive(Debug, Default)]
pub(super) struct Pace {
    rows: usize,
}

impl Pace {
    /// So many rows were looked at.
    pub(super) async fn rest_after(&mut self, rows: usize) {
        self.rows += rows + LOOK_COST_ROWS;
        while self.rows >= ROWS_BETWEEN_RESTS {
            self.rows -= ROWS_BETWEEN_RESTS;
            tokio::time::sleep(REST).await;
        }
    }
}

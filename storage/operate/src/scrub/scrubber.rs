//! The thread that reads all tables again and again, each about once in a given time.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use till_storage::turns::Turns;

use super::inspector::TableInspector;
use crate::priority::give_way;

/// The longest pause before the first tables, and while there are none.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// The running scrub. Dropping it ends it.
pub struct Scrubber {
    thread: Turns,
}

impl Scrubber {
    /// Starts the scrub, which reads each table about once in the time `every`. It goes on where an earlier process
    /// was.
    ///
    /// # Errors
    /// The system's: no thread.
    pub fn start(tables: Arc<TableInspector>, every: Duration) -> io::Result<Scrubber> {
        let thread = Turns::start("scrub", move |stop| {
            give_way();
            let mut pause = PAUSE_MAX.min(every);
            while !stop.wait(pause) {
                pause = tables.inspect_next().map_or(PAUSE_MAX.min(every), |(bytes, all)| share_of(every, bytes, all));
            }
        })?;
        Ok(Scrubber { thread })
    }

    /// Ends it, and waits for the tables that are being read.
    pub fn stop(&self) {
        self.thread.stop();
    }
}

/// The share of these bytes in the time for all.
fn share_of(every: Duration, byte_count: u64, total: u64) -> Duration {
    let share = every.as_millis() * u128::from(byte_count) / u128::from(total.max(1));
    Duration::from_millis(u64::try_from(share).unwrap_or(u64::MAX)).min(every)
}

//! Progress of the generation, and its summary.

use std::fmt;
use std::io::Write;
use std::time::{Duration, Instant};

use till_domain::ids::MerchantId;

use super::trade::PaymentCourse;

/// The least time between two lines of progress.
const EVERY: Duration = Duration::from_secs(2);

/// The progress of a generation, on standard error.
pub(super) struct GenerationProgress {
    total: u64,
    done: u64,
    started: Instant,
    /// The time of the last line, and the number of payments in it.
    last: (Instant, u64),
}

impl GenerationProgress {
    /// Begins with a total of payments.
    pub(super) fn start(total: u64) -> GenerationProgress {
        let started = Instant::now();
        GenerationProgress { total, done: 0, started, last: (started, 0) }
    }

    /// Counts payments that are made, and writes a line when the last one is long ago.
    pub(super) fn count_made(&mut self, payments: u64) {
        self.done += payments;
        let since = self.last.0.elapsed();
        if since >= EVERY {
            let line = line(self.done, self.total, rate(self.done - self.last.1, since), self.started.elapsed());
            self.last = (Instant::now(), self.done);
            let _ = writeln!(std::io::stderr(), "{line}"); // The reader may have closed its end.
        }
    }
}

fn line(done: u64, total: u64, each_second: u64, elapsed: Duration) -> String {
    let percent = u128::from(done) * 100 / u128::from(total.max(1));
    format!("{done} of {total} payments ({percent} %), {each_second} a second, after {} s", elapsed.as_secs())
}

fn rate(count: u64, time: Duration) -> u64 {
    let millis = time.as_millis().max(1);
    u64::try_from(u128::from(count) * 1_000 / millis).unwrap_or(u64::MAX)
}

/// The contents of the generated store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Each merchant with the number of its payments, the hot one first.
    pub merchants: Vec<(MerchantId, u64)>,
    /// Payments that were declined.
    pub declined: u64,
    /// Payments that were authorized without capture. Those that lapsed since are voided.
    pub authorized_only: u64,
    /// Records written to the logs.
    pub records: u64,
    /// The time from the first command to the closed store.
    pub took: Duration,
    /// The growth of the data directory on the disk.
    pub bytes: u64,
}

impl Summary {
    /// A summary of merchants with the number of their payments each.
    pub(super) fn new(merchants: Vec<(MerchantId, u64)>, records: u64, took: Duration, bytes: u64) -> Summary {
        let count = |kind| merchants.iter().map(|(_, payments)| PaymentCourse::count(kind, *payments)).sum();
        let (declined, authorized_only) = (count(PaymentCourse::Declined), count(PaymentCourse::AuthorizedOnly));
        Summary { declined, authorized_only, merchants, records, took, bytes }
    }
}

/// Merchants that a summary names one by one.
const MERCHANTS_NAMED: usize = 10;

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let payments: u64 = self.merchants.iter().map(|(_, payments)| payments).sum();
        let Summary { declined, authorized_only, records, bytes, .. } = self;
        let captured = payments - declined - authorized_only;
        writeln!(f, "{payments} payments of {} merchants, in {records} records", self.merchants.len())?;
        writeln!(f, "{captured} captured, {authorized_only} authorized only, {declined} declined")?;
        for (merchant_id, payments) in self.merchants.iter().take(MERCHANTS_NAMED) {
            writeln!(f, "{merchant_id}: {payments} payments")?;
        }
        if let Some(more) = self.merchants.len().checked_sub(MERCHANTS_NAMED).filter(|more| *more > 0) {
            writeln!(f, "and {more} merchants more")?;
        }
        let each_second = rate(payments, self.took);
        writeln!(f, "{each_second} payments a second, {} ms in all", self.took.as_millis())?;
        write!(f, "{} bytes on the disk for each payment, {bytes} in all", bytes / payments.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_the_rate_and_the_bytes_of_a_payment() {
        let merchants = (1..=12).map(|byte| (MerchantId::from_bytes([byte; 16]), 100)).collect();
        let summary = Summary::new(merchants, 5_000, Duration::from_secs(2), 2_400_000);
        let text = summary.to_string();
        let first = format!("{}: 100 payments", MerchantId::from_bytes([1; 16]));
        for line in [
            "1200 payments of 12 merchants, in 5000 records",
            "1152 captured, 24 authorized only, 24 declined",
            &first,
            "and 2 merchants more",
            "600 payments a second, 2000 ms in all",
            "2000 bytes on the disk for each payment, 2400000 in all",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
        }
    }

    #[test]
    fn a_line_of_progress_has_the_count_and_the_total() {
        let line = line(250, 1_000, 125, Duration::from_secs(3));
        assert_eq!(line, "250 of 1000 payments (25 %), 125 a second, after 3 s");
    }
}

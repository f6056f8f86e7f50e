//! Checks several merchants at a time, with a thread for each processor, the longest logs first: so that a merchant
//! with half of all records is not left for the end.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::iter::from_fn;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use till_domain::ids::MerchantId;
use till_storage::journal::Head;
use till_storage::rows::RowReader;

use super::directory::Directory;
use super::fault::Fault;
use super::faults::{FaultCounts, Faults};
use super::job::Job;
use super::merchant::{self, MerchantCheck};
use super::report::VerifyProgress;
use super::scratch::{self, ScratchError};
use super::strays::Merchants;

/// Time between two reports of progress.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// Checks every merchant, and calls `visit` with each result and the part of the directory that was checked, in the
/// order in which they are done. Faults are noted in the order of merchants.
pub(super) fn check_merchants(
    rows: &(dyn RowReader + Sync),
    merchants: &Merchants,
    job: &mut Job<'_>,
    visit: &mut dyn FnMut(MerchantId, MerchantCheck, Directory),
) -> Result<(), ScratchError> {
    let queue = Mutex::new(longest_first(merchants).into_iter());
    let told = Mutex::new(vec![VerifyProgress::default(); threads()]);
    let (keyring, acquirer, compares_rows, options) = (job.keyring, job.acquirer, job.compares_rows, job.options);
    let mut faults =
        FaultsByMerchant { kept: BTreeMap::new(), kept_max: options.faults_kept, counts: FaultCounts::NONE };
    let checked = thread::scope(|scope| {
        let (sender, receiver) = channel();
        for number in 0..threads() {
            let (sender, queue, told) = (sender.clone(), &queue, &told);
            scope.spawn(move || {
                let options = options.of_thread(number);
                let mut tell = |progress: &VerifyProgress| told.lock()[number] = *progress;
                let mut job = Job { acquirer, compares_rows, ..Job::new(rows, keyring, &options, &mut tell) };
                for (merchant_id, head) in from_fn(|| queue.lock().next()) {
                    let mut directory = Directory::default();
                    let checked = merchant::check(merchant_id, head, &mut directory, &mut job);
                    job.tell();
                    let faults = std::mem::replace(&mut job.faults, Faults::new(options.faults_kept));
                    // After a failure nobody receives any more.
                    if sender.send((merchant_id, checked, directory, faults)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(TELL_EVERY) {
                Ok((merchant_id, checked, directory, found)) => {
                    job.progress.merchants += 1;
                    faults.note(merchant_id, found);
                    visit(merchant_id, checked?, directory);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            (job.tell)(&sum(job.progress, &told.lock()));
        }
    });
    job.progress = sum(job.progress, &told.lock());
    faults.tell(&mut job.faults);
    scratch::remove(&job.options.scratch); // Each thread has removed its own part.
    checked
}

/// Threads that read at the same time.
pub(super) fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn longest_first(merchants: &Merchants) -> Vec<(MerchantId, Option<Head>)> {
    let mut order: Vec<_> = merchants.iter().map(|(merchant_id, head)| (*merchant_id, *head)).collect();
    order.sort_by_key(|(_, head)| Reverse(head.map(|head| head.sequence)));
    order
}

/// Adds the counts of every thread.
fn sum(progress: VerifyProgress, told: &[VerifyProgress]) -> VerifyProgress {
    let (records, rows) = (told.iter().map(|told| told.records), told.iter().map(|told| told.rows));
    let (records, rows) = (progress.records + records.sum::<u64>(), progress.rows + rows.sum::<u64>());
    VerifyProgress { records, rows, ..progress }
}

/// Faults of merchants that are done in any order: the first ones in the order of merchants in full, up to the limit of
/// the report, the others by number only.
struct FaultsByMerchant {
    /// By merchant, and in the order in which they were found.
    kept: BTreeMap<(MerchantId, usize), Fault>,
    kept_max: usize,
    /// All of them.
    counts: FaultCounts,
}

impl FaultsByMerchant {
    fn note(&mut self, merchant_id: MerchantId, faults: Faults) {
        let (kept, counts) = faults.into_parts();
        self.counts = self.counts.plus(counts);
        self.kept.extend(kept.into_iter().enumerate().map(|(number, fault)| ((merchant_id, number), fault)));
        while self.kept.len() > self.kept_max {
            self.kept.pop_last();
        }
    }

    /// Adds all of them after other faults.
    fn tell(self, faults: &mut Faults) {
        faults.add_counted_only(self.counts.minus(FaultCounts::of(self.kept.values())));
        self.kept.into_values().for_each(|fault| faults.add(fault.merchant_id, fault.location, fault.wrong));
    }
}

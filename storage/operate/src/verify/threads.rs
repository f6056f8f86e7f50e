//! Checks several merchants at a time, with a thread for each processor, the longest logs first: so that a merchant
//! with half of all records is not left for the end.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use till_domain::ids::MerchantId;
use till_storage::journal::Head;
use till_storage::rows::RowReader;

use super::directory::Directory;
use super::job::Job;
use super::merchant::{self, MerchantCheck};
use super::report::{FaultCounts, Faults, VerifyProgress};
use super::scratch::{self, ScratchError};
use super::strays::Merchants;
use super::verifier::VerifyOptions;

/// Time between two reports of progress.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// The result of a thread about a merchant.
struct MerchantResult {
    checked: MerchantCheck,
    faults: Faults,
    directory: Directory,
}

type ThreadAnswer = (MerchantId, Result<MerchantResult, ScratchError>);

/// Checks every merchant, and calls `visit` with each result and the part of the directory that was checked, in the
/// order in which they are done. Faults are noted in the order of merchants.
pub(super) fn check_merchants(
    rows: &(dyn RowReader + Sync),
    merchants: &Merchants,
    job: &mut Job<'_>,
    visit: &mut dyn FnMut(MerchantId, MerchantCheck, Directory),
) -> Result<(), ScratchError> {
    let order = longest_first(merchants);
    let work = CheckQueue { order: &order, next: AtomicUsize::new(0) };
    let told: Vec<Mutex<VerifyProgress>> = (0..threads()).map(|_| Mutex::default()).collect();
    let mut faults = FaultsByMerchant::new(job.options.faults_kept);
    let options: Vec<VerifyOptions> = (0..told.len()).map(|number| job.options.of_thread(number)).collect();
    let (keyring, acquirer, compares_rows) = (job.keyring, job.acquirer, job.compares_rows);
    let checked = thread::scope(|scope| {
        let (sender, receiver) = channel();
        for (options, told) in options.iter().zip(&told) {
            let (sender, work) = (sender.clone(), &work);
            scope.spawn(move || {
                let mut tell = |progress: &VerifyProgress| *lock(told) = *progress;
                let (faults, progress) = (Faults::new(options.faults_kept), VerifyProgress::default());
                work.run(
                    Job { rows, keyring, options, acquirer, compares_rows, faults, progress, tell: &mut tell },
                    &sender,
                );
            });
        }
        drop(sender);
        gather(&receiver, &work, &told, job, &mut |merchant_id, found: MerchantResult| {
            faults.note(merchant_id, found.faults);
            visit(merchant_id, found.checked, found.directory);
        })
    });
    add(&mut job.progress, &told);
    faults.tell(&mut job.faults);
    remove_scratch(&job.options.scratch);
    checked
}

/// Threads that read at the same time.
pub(super) fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn longest_first(merchants: &Merchants) -> Vec<(MerchantId, Option<Head>)> {
    let mut order: Vec<_> = merchants.iter().map(|(merchant_id, head)| (*merchant_id, *head)).collect();
    order.sort_by_key(|(_, head)| std::cmp::Reverse(head.map(|head| head.sequence)));
    order
}

/// The merchants that are to be checked.
struct CheckQueue<'a> {
    order: &'a [(MerchantId, Option<Head>)],
    /// The index of the next merchant.
    next: AtomicUsize,
}

impl CheckQueue<'_> {
    /// Checks one merchant after the other, until none is left.
    fn run(&self, mut job: Job<'_>, answers: &Sender<ThreadAnswer>) {
        while let Some((merchant_id, head)) = self.order.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let mut directory = Directory::default();
            let checked = merchant::check(*merchant_id, *head, &mut directory, &mut job);
            job.tell();
            let faults = std::mem::replace(&mut job.faults, Faults::new(job.options.faults_kept));
            let found = checked.map(|checked| MerchantResult { checked, faults, directory });
            if answers.send((*merchant_id, found)).is_err() {
                return;
            }
        }
    }

    /// Lets no thread begin with another merchant.
    fn stop(&self) {
        self.next.store(self.order.len(), Ordering::Relaxed);
    }
}

/// Receives the results until there are no more, and reports the progress of all threads meanwhile.
fn gather(
    answers: &Receiver<ThreadAnswer>,
    work: &CheckQueue<'_>,
    told: &[Mutex<VerifyProgress>],
    job: &mut Job<'_>,
    visit: &mut dyn FnMut(MerchantId, MerchantResult),
) -> Result<(), ScratchError> {
    let mut result = Ok(());
    loop {
        match answers.recv_timeout(TELL_EVERY) {
            Ok((merchant_id, Ok(found))) => {
                job.progress.merchants += 1;
                visit(merchant_id, found);
            }
            Ok((_, Err(error))) => {
                work.stop();
                result = result.and(Err(error));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return result,
        }
        let mut progress = job.progress;
        add(&mut progress, told);
        (job.tell)(&progress);
    }
}

/// Adds the counts of every thread.
fn add(progress: &mut VerifyProgress, told: &[Mutex<VerifyProgress>]) {
    for told in told {
        let VerifyProgress { records, rows, .. } = *lock(told);
        progress.records += records;
        progress.rows += rows;
    }
}

fn lock(told: &Mutex<VerifyProgress>) -> MutexGuard<'_, VerifyProgress> {
    told.lock()
}

/// Removes the scratch directory, from which each thread has removed its own part.
fn remove_scratch(directory: &Path) {
    if let Err(error) = scratch::remove(directory) {
        tracing::warn!(directory = %directory.display(), %error, "a directory is left over and can be removed");
    }
}

/// Faults of merchants that are done in any order: the first ones in the order of merchants in full, up to the limit of
/// the report, the others by number only.
struct FaultsByMerchant {
    kept: BTreeMap<MerchantId, Faults>,
    kept_count: usize,
    kept_max: usize,
    /// The faults that are known by number only.
    counted_only: FaultCounts,
}

impl FaultsByMerchant {
    const fn new(kept_max: usize) -> FaultsByMerchant {
        FaultsByMerchant { kept: BTreeMap::new(), kept_count: 0, kept_max, counted_only: FaultCounts::NONE }
    }

    fn note(&mut self, merchant_id: MerchantId, faults: Faults) {
        if faults.first().is_none() {
            self.counted_only = self.counted_only.with(faults.counts());
            return;
        }
        self.kept_count += faults.kept_count();
        self.kept.insert(merchant_id, faults);
        self.forget_last();
    }

    /// Drops the faults of the last merchants while those before them are enough.
    fn forget_last(&mut self) {
        while let Some(last) = self.kept.last_entry() {
            let without = self.kept_count - last.get().kept_count();
            if without < self.kept_max {
                return;
            }
            self.kept_count = without;
            self.counted_only = self.counted_only.with(last.remove().counts());
        }
    }

    /// Adds all of them after other faults.
    fn tell(self, faults: &mut Faults) {
        self.kept.into_values().for_each(|of_merchant| faults.absorb(of_merchant));
        faults.add_counted_only(self.counted_only);
    }
}

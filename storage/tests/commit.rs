//! The commit thread: order, groups, barriers, and failed writes.

mod fixtures;

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fixtures::{Chain, merchant};
use till_domain::ids::MerchantId;
use till_storage::commit::{
    BarrierVerdict, Committer, GROUP_COMMIT_DELAY, QUEUE_BYTES_MAX, RejectedBecause, Submission, Urgency,
};
use till_storage::family::Family;
use till_storage::journal::record::BODY_LEN_MAX;
use till_storage::journal::{Append, AppendVerdict, CommitNumber, Head, Journal};
use till_storage::memory::{AppendFault, MemoryStore};

/// The signal with which a process aborts.
const SIGABRT: i32 = 6;

const SHOP: MerchantId = merchant(1);
const CAFE: MerchantId = merchant(2);

/// Longer than any test: a background write with this delay waits for another submission, or for the end.
const FOR_EVER: Duration = Duration::from_secs(3_600);

#[derive(Debug, Clone, PartialEq, Eq)]
enum CompletedSubmission {
    Append(&'static str, AppendVerdict),
    Barrier(&'static str, BarrierVerdict),
}

struct Bench {
    store: Arc<MemoryStore>,
    committer: Committer,
    fatal: Arc<Mutex<Vec<String>>>,
    outcomes: Receiver<CompletedSubmission>,
    sender: Sender<CompletedSubmission>,
}

impl Bench {
    fn new() -> Bench {
        Bench::with_delay(GROUP_COMMIT_DELAY)
    }

    /// A bench in which background writes are delayed for this time.
    fn with_delay(delay: Duration) -> Bench {
        let store = Arc::new(MemoryStore::new());
        let fatal = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&fatal);
        let on_fatal = move |reason| heard.lock().expect("not poisoned").push(reason);
        let journal: Arc<dyn Journal> = Arc::<MemoryStore>::clone(&store);
        let committer = Committer::start(journal, delay, Box::new(on_fatal)).expect("a thread");
        let (sender, outcomes) = channel();
        Bench { store, committer, fatal, outcomes, sender }
    }

    fn append(&self, name: &'static str, append: Append) -> Submission {
        let sender = self.sender.clone();
        let completion = move |verdict: &AppendVerdict| {
            sender.send(CompletedSubmission::Append(name, verdict.clone())).expect("heard")
        };
        Submission::Append { append, completion: Box::new(completion) }
    }

    fn barrier(&self, name: &'static str, merchant_id: MerchantId, expected_head: Head) -> Submission {
        let sender = self.sender.clone();
        let completion = move |verdict| sender.send(CompletedSubmission::Barrier(name, verdict)).expect("heard");
        Submission::Barrier { merchant_id, expected_head, completion: Box::new(completion) }
    }

    fn submit(&self, submission: Submission) {
        self.committer.submit(submission, Urgency::Urgent).expect("there is room");
    }

    fn submit_background(&self, submission: Submission) {
        self.committer.submit(submission, Urgency::Background).expect("there is room");
    }

    fn next(&self) -> CompletedSubmission {
        self.outcomes.recv_timeout(Duration::from_secs(10)).expect("every submission is completed")
    }

    /// Submits all of them while an append is held, so that they make one group.
    fn submit_as_one_group(&self, submissions: Vec<Submission>) {
        self.store.hold_appends();
        let mut opener = Chain::claim(&*self.store, merchant(99));
        self.submit(self.append("opener", opener.batch(&[b"held"])));
        while self.committer.stats().queued() > 0 {
            std::thread::yield_now();
        }
        submissions.into_iter().for_each(|submission| self.submit(submission));
        self.store.resume_appends();
        assert!(matches!(self.next(), CompletedSubmission::Append("opener", AppendVerdict::Committed(_))));
    }
}

fn committed(name: &'static str, number: u64) -> CompletedSubmission {
    CompletedSubmission::Append(name, AppendVerdict::Committed(CommitNumber(number)))
}

#[test]
fn waiting_batches_are_one_group_and_completed_in_order() {
    let bench = Bench::new();
    let (mut shop, mut cafe) = (Chain::claim(&*bench.store, SHOP), Chain::claim(&*bench.store, CAFE));
    bench.submit_as_one_group(vec![
        bench.append("shop 1", shop.batch(&[b"1"])),
        bench.append("cafe 1", cafe.batch(&[b"1"])),
        bench.append("shop 2", shop.batch(&[b"2"])),
    ]);
    assert_eq!(bench.next(), committed("shop 1", 2));
    assert_eq!(bench.next(), committed("cafe 1", 3));
    assert_eq!(bench.next(), committed("shop 2", 4));
    bench.committer.stop();
    let stats = bench.committer.stats();
    assert_eq!((stats.groups(), stats.batches(), stats.committed(), stats.last_group_batches()), (2, 4, 4, 3));
    assert_eq!(stats.append_micros().counts().iter().sum::<u64>(), 2);
    assert_eq!((stats.queued(), stats.queued_bytes()), (0, 0));
}

#[test]
fn a_barrier_passes_after_the_batch_that_it_depends_on() {
    let bench = Bench::new();
    let mut shop = Chain::claim(&*bench.store, SHOP);
    let first = shop.batch(&[b"1"]);
    let (empty, one) = (Head::EMPTY, shop.head);
    bench.submit_as_one_group(vec![
        bench.barrier("on nothing", SHOP, empty),
        bench.append("first", first),
        bench.barrier("on the first", SHOP, one),
        bench.append("second", shop.batch(&[b"2"])),
        bench.barrier("on the second", SHOP, shop.head),
    ]);
    assert_eq!(bench.next(), CompletedSubmission::Barrier("on nothing", BarrierVerdict::Passed));
    assert_eq!(bench.next(), committed("first", 2));
    assert_eq!(bench.next(), CompletedSubmission::Barrier("on the first", BarrierVerdict::Passed));
    assert_eq!(bench.next(), committed("second", 3));
    assert_eq!(bench.next(), CompletedSubmission::Barrier("on the second", BarrierVerdict::Passed));
    bench.submit(bench.barrier("alone", SHOP, shop.head));
    assert_eq!(bench.next(), CompletedSubmission::Barrier("alone", BarrierVerdict::Passed));
}

#[test]
fn a_barrier_fails_with_the_batch_it_rests_on() {
    let bench = Bench::new();
    let mut shop = Chain::claim(&*bench.store, SHOP);
    let dropped = shop.batch(&[b"never submitted"]);
    let stale = shop.batch(&[b"stale"]);
    bench.submit_as_one_group(vec![
        bench.append("stale", stale),
        bench.barrier("on the stale one", SHOP, shop.head),
        bench.barrier("on nothing", SHOP, Head::EMPTY),
    ]);
    let durable = Head::EMPTY;
    assert_eq!(bench.next(), CompletedSubmission::Append("stale", AppendVerdict::Stale { durable }));
    assert_eq!(bench.next(), CompletedSubmission::Barrier("on the stale one", BarrierVerdict::Failed { durable }));
    assert_eq!(bench.next(), CompletedSubmission::Barrier("on nothing", BarrierVerdict::Passed));
    bench.store.fail_append(0, AppendFault::Unavailable);
    bench.submit(bench.append("unavailable", dropped));
    bench.submit(bench.barrier("on the unavailable one", SHOP, shop.head));
    assert!(matches!(bench.next(), CompletedSubmission::Append("unavailable", AppendVerdict::Unavailable(_))));
    assert_eq!(
        bench.next(),
        CompletedSubmission::Barrier("on the unavailable one", BarrierVerdict::Failed { durable })
    );
}

#[test]
fn a_barrier_with_an_unreadable_head_neither_passes_nor_fails() {
    let bench = Bench::new();
    bench.store.fail_reads(Family::Meta, b"H");
    bench.submit(bench.barrier("unreadable", SHOP, Head::EMPTY));
    assert!(matches!(bench.next(), CompletedSubmission::Barrier("unreadable", BarrierVerdict::Unknown(_))));
}

#[test]
fn an_uncertain_write_completes_its_group_and_ends_all_writes() {
    for fault in [AppendFault::AmbiguousLost, AppendFault::AmbiguousWritten] {
        let bench = Bench::new();
        let mut shop = Chain::claim(&*bench.store, SHOP);
        bench.store.fail_append(1, fault);
        bench.submit_as_one_group(vec![
            bench.append("uncertain", shop.batch(&[b"1"])),
            bench.barrier("on the uncertain one", SHOP, shop.head),
        ]);
        assert!(matches!(bench.next(), CompletedSubmission::Append("uncertain", AppendVerdict::Ambiguous(_))));
        assert!(matches!(bench.next(), CompletedSubmission::Barrier(_, BarrierVerdict::Unknown(_))));
        bench.committer.stop();
        assert_eq!(bench.fatal.lock().expect("not poisoned").len(), 1);
        let rejected = bench.committer.submit(bench.append("late", shop.batch(&[b"2"])), Urgency::Urgent);
        assert_eq!(rejected.expect_err("it has stopped").because, RejectedBecause::Stopped);
    }
}

#[test]
fn batches_after_an_uncertain_write_are_not_written() {
    let bench = Bench::new();
    let mut shop = Chain::claim(&*bench.store, SHOP);
    bench.store.fail_append(0, AppendFault::AmbiguousLost);
    bench.store.hold_appends();
    bench.submit(bench.append("uncertain", shop.batch(&[b"1"])));
    while bench.committer.stats().queued() > 0 {
        std::thread::yield_now();
    }
    bench.submit(bench.append("behind", shop.batch(&[b"2"])));
    bench.submit(bench.barrier("on another merchant", CAFE, Head::EMPTY));
    bench.store.resume_appends();
    assert!(matches!(bench.next(), CompletedSubmission::Append("uncertain", AppendVerdict::Ambiguous(_))));
    assert!(matches!(bench.next(), CompletedSubmission::Append("behind", AppendVerdict::Unavailable(_))));
    assert!(matches!(bench.next(), CompletedSubmission::Barrier("on another merchant", BarrierVerdict::Unknown(_))));
}

#[test]
fn a_completion_that_panics_harms_no_other() {
    let bench = Bench::new();
    let mut shop = Chain::claim(&*bench.store, SHOP);
    let completion = Box::new(|_: &AppendVerdict| panic!("as planned"));
    bench.submit(Submission::Append { append: shop.batch(&[b"1"]), completion });
    bench.submit(bench.append("next", shop.batch(&[b"2"])));
    assert_eq!(bench.next(), committed("next", 2));
}

#[test]
fn stopping_completes_waiting_batches_and_rejects_new_ones() {
    let bench = Bench::new();
    let mut shop = Chain::claim(&*bench.store, SHOP);
    for _ in 0..100 {
        bench.submit(bench.append("before", shop.batch(&[b"body"])));
    }
    bench.committer.stop();
    assert_eq!(bench.outcomes.try_iter().count(), 100);
    let rejected = bench.committer.submit(bench.append("after", shop.batch(&[b"body"])), Urgency::Urgent);
    assert_eq!(rejected.expect_err("it has stopped").because, RejectedBecause::Stopped);
    assert_eq!(bench.committer.stats().rejected(), 1);
}

#[test]
fn a_full_queue_rejects_and_returns_a_submission() {
    let bench = Bench::new();
    bench.store.hold_appends();
    let mut shop = Chain::claim(&*bench.store, SHOP);
    let large = shop.batch(&[&vec![7; BODY_LEN_MAX]]);
    // One submission may be with the journal already, so one more than the queue holds.
    let submit = |name| bench.committer.submit(bench.append(name, large.clone()), Urgency::Urgent);
    let accepted = (0..QUEUE_BYTES_MAX / BODY_LEN_MAX + 1).map_while(|_| submit("large").ok()).count();
    let rejected = submit("too many").expect_err("it is full");
    assert_eq!(rejected.because, RejectedBecause::Full);
    let Submission::Append { append, .. } = rejected.submission else { panic!("it was an append") };
    assert!(append == large, "what was submitted comes back");
    bench.store.resume_appends();
    bench.committer.stop();
    assert_eq!(bench.outcomes.try_iter().count(), accepted);
}

#[test]
fn background_writes_are_written_with_the_next_urgent_one() {
    let bench = Bench::with_delay(FOR_EVER);
    let (mut shop, mut cafe) = (Chain::claim(&*bench.store, SHOP), Chain::claim(&*bench.store, CAFE));
    bench.submit_background(bench.append("shop 1", shop.batch(&[b"1"])));
    bench.submit_background(bench.append("cafe 1", cafe.batch(&[b"1"])));
    assert_eq!(bench.committer.stats().queued(), 2);
    bench.submit(bench.append("shop 2", shop.batch(&[b"2"])));
    assert_eq!(bench.next(), committed("shop 1", 1));
    assert_eq!(bench.next(), committed("cafe 1", 2));
    assert_eq!(bench.next(), committed("shop 2", 3));
    bench.committer.stop();
    let stats = bench.committer.stats();
    assert_eq!((stats.groups(), stats.last_group_batches()), (1, 3));
    assert_eq!(stats.commit_micros().counts().iter().sum::<u64>(), 1, "only what somebody waited for is timed");
}

#[test]
fn an_urgent_barrier_takes_along_the_batches_it_depends_on() {
    let bench = Bench::with_delay(FOR_EVER);
    let mut shop = Chain::claim(&*bench.store, SHOP);
    bench.submit_background(bench.append("first", shop.batch(&[b"1"])));
    bench.submit_background(bench.barrier("nobody's", SHOP, shop.head));
    bench.submit(bench.barrier("somebody's", SHOP, shop.head));
    assert_eq!(bench.next(), committed("first", 1));
    assert_eq!(bench.next(), CompletedSubmission::Barrier("nobody's", BarrierVerdict::Passed));
    assert_eq!(bench.next(), CompletedSubmission::Barrier("somebody's", BarrierVerdict::Passed));
}

#[test]
fn a_lone_background_write_is_written_after_its_delay() {
    let delay = Duration::from_millis(50);
    let bench = Bench::with_delay(delay);
    let mut shop = Chain::claim(&*bench.store, SHOP);
    // Once while the thread still looks at the queue after its start, once when it sleeps, once after a group.
    for number in 1..=3 {
        let start = Instant::now();
        bench.submit_background(bench.append("alone", shop.batch(&[b"body"])));
        assert_eq!(bench.next(), committed("alone", number));
        assert!(start.elapsed() >= delay, "{:?}", start.elapsed());
        if number == 1 {
            std::thread::sleep(delay * 2);
        }
    }
}

#[test]
fn many_background_writes_do_not_wait_for_the_whole_delay() {
    let bench = Bench::with_delay(FOR_EVER);
    let mut shop = Chain::claim(&*bench.store, SHOP);
    let mut submitted = 0;
    while bench.committer.stats().groups() == 0 && submitted < 10_000 {
        bench.submit_background(bench.append("one of many", shop.batch(&[b"body"])));
        submitted += 1;
        if submitted % 100 == 0 {
            // On a busy machine the commit thread gets no processor while this one submits.
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    assert!((100..10_000).contains(&submitted), "{submitted}");
    bench.committer.stop();
    assert_eq!(bench.outcomes.try_iter().count(), submitted);
}

#[test]
fn stopping_does_not_wait_for_the_delay() {
    let bench = Bench::with_delay(FOR_EVER);
    let mut shop = Chain::claim(&*bench.store, SHOP);
    bench.submit_background(bench.append("last", shop.batch(&[b"body"])));
    bench.committer.stop();
    assert_eq!(bench.outcomes.try_iter().collect::<Vec<_>>(), [committed("last", 1)]);
}

/// Tells a process of this test that it is the one to abort.
const ENDING: &str = "TILL_TEST_ABORT_PANICS";

#[test]
fn a_panic_in_the_abort_callback_also_ends_the_process() {
    if std::env::var_os(ENDING).is_some() {
        panic_in_the_abort_callback();
        std::process::exit(0); // The process was not ended.
    }
    let test = std::env::current_exe().expect("it has a path");
    let name = "a_panic_in_the_abort_callback_also_ends_the_process";
    let ended = Command::new(test).args(["--exact", name]).env(ENDING, "1").output().expect("it can be started");
    assert_eq!(ended.status.signal(), Some(SIGABRT), "{ended:?}");
}

/// Aborts the process, or returns when nothing did.
fn panic_in_the_abort_callback() {
    let store = Arc::new(MemoryStore::new());
    let journal: Arc<dyn Journal> = Arc::<MemoryStore>::clone(&store);
    let committer =
        Committer::start(journal, GROUP_COMMIT_DELAY, Box::new(|reason| panic!("{reason}"))).expect("a thread");
    store.fail_append(0, AppendFault::AmbiguousLost);
    let append = Chain::claim(&*store, SHOP).batch(&[b"1"]);
    let submission = Submission::Append { append, completion: Box::new(|_| {}) };
    committer.submit(submission, Urgency::Urgent).expect("there is room");
    committer.stop();
}

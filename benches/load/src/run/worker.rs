//! One thread of the load tester: a runtime of its own, its share of the connections, and no lock.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Barrier, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use tokio::task::LocalSet;

use crate::client::Connection;
use crate::recording::{Interval, MeasuredStep, Recorder, RunTally, Silence, Trouble, Window};
use crate::scenarios::{Ending, LoadClient, RunContext};
use crate::schedule::{CallSchedule, Turns, keep_pace};

/// The time after the end in which calls that were due before it may still be made.
const LATE_MAX: Duration = Duration::from_secs(10);

/// The pause of a connection after a call without an answer, so that calls to a server that refuses connections do not
/// take up the processor.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(10);

/// The time without any answer to a thread's calls after which the server counts as unreachable.
const UNREACHABLE_AFTER: Duration = Duration::from_secs(5);

/// The pause between two checks for an early end of the run.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The number of a thread among all threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThreadNumber {
    pub(super) thread: usize,
    pub(super) threads: usize,
}

/// The common begin of all threads.
pub(super) struct Begin {
    /// The barrier of all threads and the thread that sets the time of the begin.
    pub(super) ready: Barrier,
    /// True when a thread cannot begin, so that no thread does.
    pub(super) has_failed: AtomicBool,
    /// The time at which calls begin.
    pub(super) at: OnceLock<Instant>,
}

/// The results of a thread.
pub(super) struct Worked {
    pub(super) tally: RunTally,
    /// The time at which the last counted operation ended.
    pub(super) last: Instant,
    /// Calls that were due and never made.
    pub(super) never_made: u64,
}

/// Makes the calls of one thread's share of a run.
pub(super) fn work(
    world: &Arc<RunContext>,
    place: ThreadNumber,
    begin: &Begin,
    intervals: Sender<Interval>,
) -> anyhow::Result<Worked> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("failed to start a thread's runtime")?;
    runtime.block_on(LocalSet::new().run_until(work_in_runtime(world, place, begin, intervals)))
}

async fn work_in_runtime(
    world: &Arc<RunContext>,
    place: ThreadNumber,
    begin: &Begin,
    intervals: Sender<Interval>,
) -> anyhow::Result<Worked> {
    let opened = open(world, place).await;
    begin.has_failed.fetch_or(opened.is_err(), Ordering::SeqCst);
    begin.ready.wait();
    begin.ready.wait();
    let connections = opened?;
    if begin.has_failed.load(Ordering::SeqCst) {
        bail!("another thread could not begin");
    }
    let start = *begin.at.get().expect("it is named between the two waits");
    let window = window(world, start);
    let recorder = Rc::new(RefCell::new(Recorder::new(window, intervals)));
    let turns = Rc::new(turns(world, place, start, window));
    let count = connections.len();
    let run = |(number, connection)| {
        let client = LoadClient::new(connection, number, Rc::clone(&recorder));
        tokio::task::spawn_local(repeat(Arc::clone(world), Rc::clone(&turns), client, count))
    };
    let tasks: Vec<_> = connections.into_iter().map(run).collect();
    tokio::select! {
        kept = keep_pace(&turns, count) => kept.context("failed to keep time")?,
        () = end_of(world) => turns.close(),
    }
    for task in tasks {
        task.await.map_err(|error| anyhow!("a connection's task ended: {error}"))?;
    }
    let recorder = Rc::into_inner(recorder).expect("all tasks have ended").into_inner();
    // Each connection has tried again: the run ended before the server counted as unreachable.
    if let Some(silence) = recorder.silence().filter(|silence| silence.calls > count) {
        world.end(Ending::Unreachable(silence.reason.clone()));
    }
    let never_made = if world.is_over() { 0 } else { turns.never_made() };
    let (tally, last) = recorder.finish();
    Ok(Worked { tally, last, never_made })
}

/// Opens this thread's share of the connections, each with its number among all.
async fn open(world: &RunContext, place: ThreadNumber) -> anyhow::Result<Vec<(usize, Connection)>> {
    let mut connections = Vec::new();
    for number in (place.thread..world.plan.connections).step_by(place.threads) {
        let mut connection = Connection::new(world.public());
        let opened = connection.open().await;
        opened.with_context(|| format!("failed to open connection {} to {}", number + 1, world.public()))?;
        connections.push((number, connection));
    }
    Ok(connections)
}

fn window(world: &RunContext, start: Instant) -> Window {
    let (measured, duration) = (start + *world.plan.warm_up, *world.plan.duration);
    Window { start: measured, end: measured + duration, interval: Interval::length(duration) }
}

fn turns(world: &RunContext, place: ThreadNumber, start: Instant, window: Window) -> Turns {
    let number = |number: usize| u64::try_from(number).expect("a number of threads fits");
    let Some(rates) = world.plan.rates() else { return Turns::closed(start, window.end) };
    let (threads, thread) = (number(place.threads), number(place.thread));
    let pace = CallSchedule { start, end: window.end, rates, threads, thread };
    Turns::open(pace, window.end + LATE_MAX, world.plan.patience.map(|patience| *patience))
}

/// Waits for the early end of the run.
async fn end_of(world: &RunContext) {
    while !world.is_over() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// The work of a connection: one operation after the other, as long as there are turns.
async fn repeat(world: Arc<RunContext>, turns: Rc<Turns>, mut client: LoadClient, connections: usize) {
    while let Some(intended) = turns.next().await {
        if world.is_over() {
            return;
        }
        client.intended = intended;
        let outcome = world.perform(&mut client).await;
        if matches!(outcome, Err(Trouble::NothingLeft)) {
            world.end(Ending::UsedUp);
        }
        record(&world, &client, outcome, connections).await;
        if let Err(trouble) = world.act_as_customer(&mut client).await {
            record(&world, &client, Err(trouble), connections).await;
        }
    }
}

/// Records the end of the current operation, or the failure of its customer, with a pause when there was no answer.
async fn record(world: &RunContext, client: &LoadClient, outcome: Result<MeasuredStep, Trouble>, connections: usize) {
    let is_unanswered = matches!(&outcome, Err(Trouble::Failed { code, .. }) if code.starts_with('('));
    client.recorder.borrow_mut().record_end(client.intended, Instant::now(), outcome);
    if let Some(silence) = client.recorder.borrow().silence().filter(|silence| is_long(silence, connections)) {
        world.end(Ending::Unreachable(silence.reason.clone()));
    }
    if is_unanswered {
        tokio::time::sleep(PAUSE_AFTER_FAILURE).await;
    }
}

/// True when the silence is so long that the server counts as unreachable. More calls failed than there are
/// connections, because the server may have closed each of them once while it was idle.
fn is_long(silence: &Silence, connections: usize) -> bool {
    silence.since.elapsed() >= UNREACHABLE_AFTER && silence.calls > connections
}

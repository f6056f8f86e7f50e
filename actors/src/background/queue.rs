//! A queue of background work: the subjects that wait until they are due, that are being served, and that failed.
//!
//! Subjects may belong to lanes, such as the calls of one merchant. Of a lane at most a part is served at once: what is
//! due beyond that waits for its lane, and takes none of the places of other lanes. A subject outside of all lanes
//! waits for none.

use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use till_domain::ids::MerchantId;
use till_domain::time::Millis;
use tokio::sync::Notify;

/// The instant of work that is due at once, whatever the clock shows.
pub(crate) const AT_ONCE: Millis = Millis(0);

/// The longest sleep until the next due instant, since the clock may be set meanwhile.
const SLEEP_MAX: Duration = Duration::from_millis(200);

/// The pauses before a subject that could not be served is tried again. They double from failure to failure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retry {
    pub(crate) pause_first: Duration,
    pub(crate) pause_max: Duration,
}

/// The merchants whose subjects are lanes, and the limit of each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes<S> {
    pub(crate) lane_of: fn(S) -> MerchantId,
    /// Limit of the subjects of one lane that are served at once.
    pub(crate) served_max: usize,
}

/// Subjects that have work due. Each is in the queue once, even when it is added several times. `P` is data that was
/// prepared for its first attempt.
#[derive(Debug)]
pub(crate) struct WorkQueue<S, P = ()> {
    state: Mutex<WorkQueueState<S, P>>,
    /// Notified whenever a subject is added or is no longer being served.
    pub(super) changed: Notify,
}

#[derive(Debug)]
struct WorkQueueState<S, P> {
    entries: BTreeMap<S, SubjectEntry<P>>,
    waiting: WaitingSubjects<S>,
    /// Subjects that failed, by the instant at which they are tried again.
    failed: BTreeSet<(Instant, S)>,
    served: usize,
    /// None when subjects are of no lane.
    lanes: Option<Lanes<S>>,
    /// The lanes of which something is being served.
    busy: BTreeMap<MerchantId, BusyLane<S>>,
}

/// A lane of which something is being served.
#[derive(Debug)]
struct BusyLane<S> {
    served: usize,
    /// Its subjects that are due beyond its limit, in the order of waiting subjects.
    held: BTreeSet<(Millis, u64, S)>,
}

/// Subjects that wait, by the instant at which they are due, then in the order in which they were added.
#[derive(Debug)]
struct WaitingSubjects<S> {
    by_due: BTreeSet<(Millis, u64, S)>,
    next_number: u64,
}

impl<S: Ord> WaitingSubjects<S> {
    fn push(&mut self, subject: S, due: Millis) -> SubjectState {
        let number = self.next_number;
        self.next_number += 1;
        self.by_due.insert((due, number, subject));
        SubjectState::Waiting(number)
    }
}

#[derive(Debug)]
struct SubjectEntry<P> {
    /// The instant at which it was added.
    since: Instant,
    /// The instant at which it is due.
    due: Millis,
    progress: SubjectState,
    /// The pause after the last failure.
    pause: Duration,
    /// False when what is done now tries nothing, and says nothing of the next attempt.
    is_attempt: bool,
    /// False when it belongs to no lane.
    has_lane: bool,
    prepared: Option<P>,
    /// The instant at which it became or becomes due since somebody asked for it.
    hastened: Option<Millis>,
}

#[derive(Debug, Clone, Copy)]
enum SubjectState {
    /// The subject waits; its number gives the order in which subjects were added.
    Waiting(u64),
    /// The subject is being served; the instant is the earliest for which it was added again meanwhile.
    Served(Option<Millis>),
    /// The subject failed, and is tried again at this instant.
    Failed(Instant),
    /// The subject is due, and waits for its lane.
    Held,
}

impl<S, P> Default for WorkQueue<S, P> {
    fn default() -> WorkQueue<S, P> {
        WorkQueue::of_lanes(None)
    }
}

impl<S, P> WorkQueue<S, P> {
    fn of_lanes(lanes: Option<Lanes<S>>) -> WorkQueue<S, P> {
        let waiting = WaitingSubjects { by_due: BTreeSet::new(), next_number: 0 };
        let (entries, failed, busy) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        let state = WorkQueueState { entries, waiting, failed, served: 0, lanes, busy };
        WorkQueue { state: Mutex::new(state), changed: Notify::new() }
    }
}

impl<S: Copy + Ord, P> WorkQueue<S, P> {
    /// An empty queue whose subjects belong to lanes.
    pub(crate) fn with_lanes(lanes: Lanes<S>) -> WorkQueue<S, P> {
        WorkQueue::of_lanes(Some(lanes))
    }

    /// Adds a subject, unless it waits for an earlier instant already. One that is being served is served again.
    pub(crate) fn add(&self, subject: S, due: Millis, prepared: Option<P>) {
        self.state.lock().add(subject, due, prepared);
        self.changed.notify_one();
    }

    /// Makes a subject due now, after a failure too, or `pause` after the last time when that is not over. One that is
    /// being served is served again. One that is not in the queue is not added.
    pub(crate) fn hasten(&self, subject: S, now: Millis, pause: Duration) {
        self.state.lock().hasten(subject, now, pause);
        self.changed.notify_one();
    }

    /// Adds a subject as [`WorkQueue::add`] does. It belongs to no lane.
    pub(crate) fn add_outside_lanes(&self, subject: S, due: Millis, prepared: Option<P>) {
        let mut state = self.state.lock();
        state.add(subject, due, prepared);
        state.exclude(subject);
        self.changed.notify_one();
    }

    /// A subject that is being served belongs to no lane from now on.
    pub(crate) fn leave_lane(&self, subject: S) {
        if self.state.lock().exclude(subject) {
            self.changed.notify_one();
        }
    }

    /// A subject that is being served only waits on: the pause after its last failure is kept.
    pub(crate) fn keep_pause(&self, subject: S) {
        self.state.lock().entries.entry(subject).and_modify(|entry| entry.is_attempt = false);
    }

    /// Takes the next subject that is due, with that instant and the data prepared for it, unless `served_max` are
    /// being served. It is not taken again before it is finished or failed.
    pub(super) fn take_due(&self, clock: Millis, now: Instant, served_max: usize) -> Option<(S, Millis, Option<P>)> {
        let mut state = self.state.lock();
        if state.served < served_max { state.take_due(clock, now) } else { None }
    }

    /// Records that a subject was served, and the instant at which it has more work due, if any.
    pub(super) fn finish(&self, subject: S, next: Option<Millis>, now: Instant) {
        self.state.lock().finish(subject, next, now);
        self.changed.notify_one();
    }

    /// Records that a subject could not be served. It is tried again after a pause, and after subjects that are due at
    /// the same instant.
    pub(super) fn fail(&self, subject: S, retry: Retry, now: Instant) {
        self.state.lock().fail(subject, retry, now);
        self.changed.notify_one();
    }

    /// The time to sleep until another subject can be taken: at most [`SLEEP_MAX`] when it waits for the clock, and
    /// none when there is no such subject or `served_max` are being served.
    pub(super) fn until_due(&self, clock: Millis, now: Instant, served_max: usize) -> Option<Duration> {
        let state = self.state.lock();
        if state.served >= served_max {
            return None;
        }
        let due = state.waiting.by_due.first();
        let due = due.map(|(due, _, _)| Duration::from_millis(due.0.saturating_sub(clock.0)).min(SLEEP_MAX));
        let again = state.failed.first().map(|(again, _)| again.duration_since(now));
        due.into_iter().chain(again).min()
    }

    /// The number of subjects that are being served.
    pub(crate) fn served(&self) -> usize {
        self.state.lock().served
    }

    /// The number of subjects that failed when they were last served.
    pub(crate) fn failing(&self) -> usize {
        self.state.lock().entries.values().filter(|entry| !entry.pause.is_zero()).count()
    }

    /// Calls `see` with every subject and the instant at which it was added.
    pub(crate) fn each(&self, mut see: impl FnMut(S, Instant)) {
        self.state.lock().entries.iter().for_each(|(subject, entry)| see(*subject, entry.since));
    }

    /// The earliest instant at which a subject is or was due. Reads every subject.
    pub(crate) fn earliest_due(&self) -> Option<Millis> {
        self.state.lock().entries.values().map(|entry| entry.due).min()
    }
}

impl<S: Copy + Ord, P> WorkQueueState<S, P> {
    fn add(&mut self, subject: S, due: Millis, prepared: Option<P>) {
        let Some(entry) = self.entries.get_mut(&subject) else {
            let progress = self.waiting.push(subject, due);
            let (since, pause, has_lane) = (Instant::now(), Duration::ZERO, self.lanes.is_some());
            let (is_attempt, hastened) = (true, None);
            let entry = SubjectEntry { since, due, progress, pause, is_attempt, has_lane, prepared, hastened };
            self.entries.insert(subject, entry);
            return;
        };
        match entry.progress {
            SubjectState::Waiting(number) if due < entry.due => {
                self.waiting.by_due.remove(&(entry.due, number, subject));
                (entry.due, entry.progress) = (due, self.waiting.push(subject, due));
                entry.since = Instant::now();
            }
            SubjectState::Waiting(_) | SubjectState::Held => {}
            SubjectState::Served(again) => entry.progress = SubjectState::Served(earliest(again, Some(due))),
            SubjectState::Failed(_) => entry.due = entry.due.min(due),
        }
    }

    fn hasten(&mut self, subject: S, now: Millis, pause: Duration) {
        let after = |at: Millis| Millis(at.0.saturating_add(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)));
        let Some(entry) = self.entries.get_mut(&subject) else { return };
        let next = |last: Millis| if last > now { last } else { now.max(after(last)) };
        // The clock may have been set back.
        let due = entry.hastened.map_or(now, next).min(after(now));
        entry.hastened = Some(due);
        let is_sooner = |again: Instant| Instant::now() + Duration::from_millis(due.0 - now.0) < again;
        match entry.progress {
            SubjectState::Waiting(number) if due < entry.due => {
                self.waiting.by_due.remove(&(entry.due, number, subject));
            }
            SubjectState::Failed(again) if is_sooner(again) => _ = self.failed.remove(&(again, subject)),
            SubjectState::Served(again) => {
                entry.progress = SubjectState::Served(earliest(again, Some(due)));
                return;
            }
            SubjectState::Waiting(_) | SubjectState::Failed(_) | SubjectState::Held => return,
        }
        (entry.due, entry.progress) = (due, self.waiting.push(subject, due));
    }

    fn take_due(&mut self, clock: Millis, now: Instant) -> Option<(S, Millis, Option<P>)> {
        while self.failed.first().is_some_and(|(again, _)| *again <= now) {
            let (_, subject) = self.failed.pop_first()?;
            let entry = self.entries.get_mut(&subject)?;
            entry.progress = self.waiting.push(subject, entry.due);
        }
        loop {
            let waiting = *self.waiting.by_due.first().filter(|(due, _, _)| *due <= clock)?;
            self.waiting.by_due.pop_first();
            let entry = self.entries.get_mut(&waiting.2)?;
            if !entry.has_lane || enter_lane(self.lanes, &mut self.busy, waiting) {
                (entry.progress, entry.is_attempt) = (SubjectState::Served(None), true);
                self.served += 1;
                return Some((waiting.2, entry.due, entry.prepared.take()));
            }
            entry.progress = SubjectState::Held;
        }
    }

    /// Takes a subject out of its lane; true when it was being served there.
    fn exclude(&mut self, subject: S) -> bool {
        let Some(entry) = self.entries.get_mut(&subject).filter(|entry| entry.has_lane) else { return false };
        entry.has_lane = false;
        let is_served = matches!(entry.progress, SubjectState::Served(_));
        if is_served {
            self.leave_lane(subject);
        }
        is_served
    }

    /// Ends the service of a subject.
    fn end(&mut self, subject: S, had_lane: bool) {
        self.served -= 1;
        if had_lane {
            self.leave_lane(subject);
        }
    }

    /// The first that waits for a subject's lane goes on.
    fn leave_lane(&mut self, subject: S) {
        let Some(lanes) = self.lanes else { return };
        let lane_of = (lanes.lane_of)(subject);
        let Some(lane) = self.busy.get_mut(&lane_of) else { return };
        lane.served -= 1;
        while let Some(first) = lane.held.pop_first() {
            self.waiting.by_due.insert(first);
            let Some(entry) = self.entries.get_mut(&first.2) else { continue };
            entry.progress = SubjectState::Waiting(first.1);
            if entry.has_lane {
                return;
            }
        }
        if lane.served == 0 {
            self.busy.remove(&lane_of);
        }
    }

    fn finish(&mut self, subject: S, next: Option<Millis>, now: Instant) {
        let Some(entry) = self.entries.get_mut(&subject) else { return };
        let (SubjectState::Served(again), has_lane) = (entry.progress, entry.has_lane) else { return };
        match earliest(again, next) {
            Some(due) => {
                // What was added meanwhile is new. Otherwise the same work goes on.
                entry.since = if again.is_some() { now } else { entry.since };
                entry.due = due;
                entry.pause = if entry.is_attempt { Duration::ZERO } else { entry.pause };
                entry.progress = self.waiting.push(subject, due);
            }
            None => _ = self.entries.remove(&subject),
        }
        self.end(subject, has_lane);
    }

    fn fail(&mut self, subject: S, retry: Retry, now: Instant) {
        let Some(entry) = self.entries.get_mut(&subject) else { return };
        if let SubjectState::Served(Some(again)) = entry.progress {
            entry.due = entry.due.min(again);
        }
        let has_lane = entry.has_lane;
        entry.pause = (entry.pause * 2).clamp(retry.pause_first, retry.pause_max);
        let again = now + entry.pause;
        entry.progress = SubjectState::Failed(again);
        self.failed.insert((again, subject));
        self.end(subject, has_lane);
    }
}

/// Counts a subject as served, or holds it back; true when its lane has room.
fn enter_lane<S: Copy + Ord>(
    lanes: Option<Lanes<S>>,
    busy: &mut BTreeMap<MerchantId, BusyLane<S>>,
    waiting: (Millis, u64, S),
) -> bool {
    let Some(Lanes { lane_of, served_max }) = lanes else { return true };
    let lane = busy.entry(lane_of(waiting.2)).or_insert(BusyLane { served: 0, held: BTreeSet::new() });
    let has_room = lane.served < served_max;
    if has_room {
        lane.served += 1;
    } else {
        lane.held.insert(waiting);
    }
    has_room
}

fn earliest(one: Option<Millis>, other: Option<Millis>) -> Option<Millis> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY: Retry = Retry { pause_first: Duration::from_secs(1), pause_max: Duration::from_secs(30) };

    const MAX: usize = 3;

    const HASTE_PAUSE: Duration = Duration::from_secs(2);

    /// An empty queue, and the present instant.
    fn queue() -> (WorkQueue<char>, Instant) {
        (WorkQueue::default(), Instant::now())
    }

    fn subjects(queue: &WorkQueue<char>) -> usize {
        let mut count = 0;
        queue.each(|_, _| count += 1);
        count
    }

    fn take(queue: &WorkQueue<char>, clock: u64, now: Instant) -> Option<char> {
        queue.take_due(Millis(clock), now, MAX).map(|(subject, _, _)| subject)
    }

    #[test]
    fn a_subject_is_failing_until_it_is_served_without_an_error() {
        let (queue, now) = queue();
        ['a', 'b'].into_iter().for_each(|subject| queue.add(subject, Millis(1), None));
        assert_eq!(queue.failing(), 0);
        assert_eq!(take(&queue, 9, now), Some('a'));
        queue.fail('a', RETRY, now);
        assert_eq!(queue.failing(), 1);
        assert_eq!(take(&queue, 9, now), Some('b'));
        assert_eq!(take(&queue, 9, now + RETRY.pause_first), Some('a'));
        assert_eq!(queue.failing(), 1, "while it is tried again");
        queue.finish('a', Some(Millis(99)), now);
        assert_eq!(queue.failing(), 0);
    }

    #[test]
    fn a_subject_is_taken_at_its_earliest_instant_and_once() {
        let (queue, now) = queue();
        for (subject, due) in [('a', 30), ('a', 10), ('a', 20), ('b', 15)] {
            queue.add(subject, Millis(due), None);
        }
        assert_eq!(queue.until_due(Millis(4), now, MAX), Some(Duration::from_millis(6)));
        assert_eq!([9, 15, 15, 99].map(|clock| take(&queue, clock, now)), [None, Some('a'), Some('b'), None]);
        assert_eq!((subjects(&queue), queue.served()), (2, 2));
    }

    #[test]
    fn work_added_while_its_subject_is_served_waits_for_the_end() {
        let (queue, now) = queue();
        queue.add('a', Millis(10), None);
        assert_eq!(take(&queue, 10, now), Some('a'));
        queue.add('a', Millis(7), None);
        queue.add('a', Millis(8), None);
        assert_eq!(take(&queue, 99, now), None);
        queue.finish('a', Some(Millis(50)), now);
        assert_eq!(take(&queue, 6, now), None);
        assert_eq!(queue.take_due(Millis(99), now, MAX), Some(('a', Millis(7), None)), "nothing is due before 7");
        queue.finish('a', None, now);
        assert_eq!((subjects(&queue), queue.until_due(Millis(99), now, MAX)), (0, None));
    }

    #[test]
    fn at_most_the_allowed_number_of_subjects_is_served_at_once() {
        let (queue, now) = queue();
        for subject in ['a', 'b', 'c', 'd'] {
            queue.add(subject, AT_ONCE, None);
        }
        assert_eq!([0; 4].map(|clock| take(&queue, clock, now)), [Some('a'), Some('b'), Some('c'), None]);
        assert_eq!(queue.until_due(Millis(0), now, MAX), None);
        queue.finish('b', None, now);
        assert_eq!(queue.until_due(Millis(0), now, MAX), Some(Duration::ZERO));
        assert_eq!(take(&queue, 0, now), Some('d'));
    }

    /// An empty queue of letters, whose lanes have one place each: that of small letters and that of capitals.
    fn queue_of_lanes() -> WorkQueue<char> {
        let lane_of = |letter: char| MerchantId::from_bytes([u8::from(letter.is_uppercase()); 16]);
        WorkQueue::with_lanes(Lanes { lane_of, served_max: 1 })
    }

    #[test]
    fn a_full_lane_holds_back_its_subjects_and_no_others() {
        let (queue, now) = (queue_of_lanes(), Instant::now());
        ['a', 'b', 'c', 'A', 'B'].into_iter().for_each(|subject| queue.add(subject, AT_ONCE, None));
        assert_eq!([0; 3].map(|clock| take(&queue, clock, now)), [Some('a'), Some('A'), None]);
        assert_eq!((queue.served(), queue.until_due(AT_ONCE, now, MAX)), (2, None), "nothing is asked for in vain");
        queue.finish('a', None, now);
        assert_eq!([0; 2].map(|clock| take(&queue, clock, now)), [Some('b'), None], "in their order");
        queue.fail('b', RETRY, now);
        assert_eq!([0; 2].map(|clock| take(&queue, clock, now)), [Some('c'), None]);
        let later = now + RETRY.pause_first;
        assert_eq!(take(&queue, 0, later), None, "what failed waits for its lane, too");
        queue.finish('c', None, now);
        queue.finish('A', None, now);
        assert_eq!([0; 3].map(|clock| take(&queue, clock, later)), [Some('B'), Some('b'), None]);
        ['b', 'B'].into_iter().for_each(|subject| queue.finish(subject, None, now));
        assert_eq!((subjects(&queue), queue.served()), (0, 0));
    }

    #[test]
    fn a_subject_outside_of_all_lanes_waits_for_none() {
        let (queue, now) = (queue_of_lanes(), Instant::now());
        ['a', 'b', 'c'].into_iter().for_each(|subject| queue.add(subject, AT_ONCE, None));
        queue.add_outside_lanes('d', AT_ONCE, None);
        assert_eq!([0; 3].map(|clock| take(&queue, clock, now)), [Some('a'), Some('d'), None]);
        queue.leave_lane('a');
        assert_eq!([0; 2].map(|clock| take(&queue, clock, now)), [Some('b'), None], "its place is free");
        queue.finish('a', Some(AT_ONCE), now);
        queue.finish('d', None, now);
        assert_eq!([0; 2].map(|clock| take(&queue, clock, now)), [Some('a'), None], "it stays outside");
        queue.finish('b', None, now);
        assert_eq!(take(&queue, 0, now), Some('c'));
        ['a', 'c'].into_iter().for_each(|subject| queue.finish(subject, None, now));
        assert_eq!((subjects(&queue), queue.served(), queue.state.lock().busy.len()), (0, 0, 0));
    }

    #[test]
    fn a_subject_that_leaves_its_lane_while_it_waits_holds_back_no_other() {
        let (queue, now) = (queue_of_lanes(), Instant::now());
        ['a', 'b', 'c'].into_iter().for_each(|subject| queue.add(subject, AT_ONCE, None));
        assert_eq!([0; 2].map(|clock| take(&queue, clock, now)), [Some('a'), None]);
        queue.add_outside_lanes('b', AT_ONCE, None);
        queue.finish('a', None, now);
        assert_eq!([0; 2].map(|clock| take(&queue, clock, now)), [Some('b'), Some('c')]);
    }

    #[test]
    fn a_subject_that_waits_for_its_lane_is_added_once() {
        let (queue, now) = (queue_of_lanes(), Instant::now());
        queue.add('a', AT_ONCE, None);
        queue.add('b', Millis(5), None);
        assert_eq!([5; 2].map(|clock| take(&queue, clock, now)), [Some('a'), None]);
        queue.add('b', AT_ONCE, None);
        queue.finish('a', Some(Millis(9)), now);
        assert_eq!([5; 2].map(|clock| take(&queue, clock, now)), [Some('b'), None]);
        queue.finish('b', None, now);
        assert_eq!((take(&queue, 8, now), take(&queue, 9, now), subjects(&queue)), (None, Some('a'), 1));
    }

    #[test]
    fn a_subject_with_more_to_do_lets_others_that_are_due_go_first() {
        let (queue, now) = queue();
        queue.add('b', AT_ONCE, None);
        queue.add('a', AT_ONCE, None);
        assert_eq!(take(&queue, 0, now), Some('b'));
        queue.finish('b', Some(AT_ONCE), now);
        assert_eq!([0; 3].map(|clock| take(&queue, clock, now)), [Some('a'), Some('b'), None]);
    }

    #[test]
    fn a_hastened_subject_is_due_at_once_and_again_after_a_pause() {
        let (queue, now) = queue();
        queue.hasten('a', Millis(1), HASTE_PAUSE);
        assert_eq!(take(&queue, 1, now), None, "it is not in the queue");
        queue.add('a', Millis(30_000), None);
        (0..9).for_each(|_| queue.hasten('a', Millis(1), HASTE_PAUSE));
        assert_eq!(take(&queue, 1, now), Some('a'));
        (0..9).for_each(|_| queue.hasten('a', Millis(5), HASTE_PAUSE));
        queue.finish('a', Some(Millis(30_000)), now);
        assert_eq!([2_000, 2_001, 2_001].map(|clock| take(&queue, clock, now)), [None, Some('a'), None]);
        queue.finish('a', Some(Millis(30_000)), now);
        queue.hasten('a', Millis(2_500), HASTE_PAUSE);
        assert_eq!([4_000, 4_001].map(|clock| take(&queue, clock, now)), [None, Some('a')]);
        queue.finish('a', Some(Millis(30_000)), now);
        queue.hasten('a', Millis(9_000), HASTE_PAUSE);
        assert_eq!(take(&queue, 9_000, now), Some('a'), "the pause was over");
        queue.finish('a', None, now);
        assert_eq!(subjects(&queue), 0);
    }

    #[test]
    fn a_hastened_subject_that_failed_does_not_wait_out_its_pause() {
        let (queue, now) = queue();
        queue.add('a', AT_ONCE, None);
        assert_eq!(take(&queue, 1, now), Some('a'));
        queue.fail('a', Retry { pause_first: Duration::from_secs(30), ..RETRY }, now);
        queue.hasten('a', Millis(1), HASTE_PAUSE);
        assert_eq!(take(&queue, 1, now), Some('a'));
        queue.fail('a', RETRY, now);
        queue.hasten('a', Millis(1), HASTE_PAUSE);
        let later = now + Duration::from_secs(30);
        assert_eq!((take(&queue, 2_001, now), take(&queue, 2_001, later)), (Some('a'), None));
        queue.finish('a', None, now);
        assert_eq!((subjects(&queue), queue.served()), (0, 0));
    }

    #[test]
    fn a_hastened_subject_keeps_a_shorter_pause_after_a_failure() {
        let (queue, now) = queue();
        queue.add('a', AT_ONCE, None);
        queue.hasten('a', Millis(1), HASTE_PAUSE);
        assert_eq!(take(&queue, 1, now), Some('a'));
        queue.fail('a', RETRY, now);
        queue.hasten('a', Millis(1), HASTE_PAUSE);
        assert_eq!((take(&queue, 1, now), take(&queue, 1, now + RETRY.pause_first)), (None, Some('a')));
    }

    #[test]
    fn a_subject_that_failed_is_tried_again_after_a_pause() {
        let (queue, now) = queue();
        queue.add('a', AT_ONCE, None);
        assert_eq!(take(&queue, 0, now), Some('a'));
        queue.fail('a', RETRY, now);
        queue.add('a', AT_ONCE, None);
        assert_eq!((take(&queue, 0, now), queue.until_due(Millis(0), now, MAX)), (None, Some(RETRY.pause_first)));
        queue.add('b', AT_ONCE, None);
        let later = now + RETRY.pause_first;
        assert_eq!([0; 3].map(|clock| take(&queue, clock, later)), [Some('b'), Some('a'), None]);
    }

    #[test]
    fn a_subject_that_failed_keeps_its_due_instant() {
        let (queue, now) = queue();
        queue.add('a', Millis(5), None);
        assert_eq!(take(&queue, 5, now), Some('a'));
        queue.fail('a', RETRY, now);
        queue.add('b', Millis(6), None);
        let later = now + RETRY.pause_first;
        assert_eq!((queue.earliest_due(), take(&queue, 9, later)), (Some(Millis(5)), Some('a')));
    }

    #[test]
    fn a_subject_that_only_waited_keeps_its_pause() {
        let (queue, now) = queue();
        queue.add('a', AT_ONCE, None);
        for pause in [1, 2, 4] {
            take(&queue, 0, now);
            queue.keep_pause('a');
            queue.finish('a', Some(AT_ONCE), now);
            take(&queue, 0, now);
            queue.fail('a', RETRY, now);
            assert_eq!(queue.until_due(Millis(0), now, MAX), Some(Duration::from_secs(pause)));
            queue.hasten('a', Millis(0), Duration::ZERO);
        }
    }

    #[test]
    fn the_pauses_double_up_to_a_limit_and_restart_after_a_success() {
        let (queue, mut now) = queue();
        queue.add('a', AT_ONCE, None);
        let mut pauses = Vec::new();
        for _ in 0..7 {
            assert_eq!(take(&queue, 0, now), Some('a'));
            queue.fail('a', RETRY, now);
            let pause = queue.until_due(Millis(0), now, MAX).expect("it is tried again");
            pauses.push(pause.as_secs());
            now += pause;
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(take(&queue, 0, now), Some('a'));
        queue.finish('a', Some(AT_ONCE), now);
        assert_eq!(take(&queue, 0, now), Some('a'));
        queue.fail('a', RETRY, now);
        assert_eq!(queue.until_due(Millis(0), now, MAX), Some(RETRY.pause_first));
    }

    #[test]
    fn a_subject_being_served_still_counts_as_oldest_or_earliest() {
        let (queue, now) = queue();
        let oldest = || {
            let mut oldest: Option<(Instant, char)> = None;
            queue
                .each(|subject, since| oldest = Some(oldest.map_or((since, subject), |old| old.min((since, subject)))));
            oldest
        };
        assert_eq!((oldest(), queue.earliest_due()), (None, None));
        queue.add('a', Millis(1), None);
        let first = oldest();
        assert_eq!(first.map(|(_, subject)| subject), Some('a'));
        queue.add('b', Millis(2), None);
        assert_eq!(take(&queue, 3, now), Some('a'));
        assert_eq!((oldest(), queue.earliest_due()), (first, Some(Millis(1))));
        queue.finish('a', Some(Millis(9)), Instant::now());
        assert_eq!(oldest(), first, "its work goes on");
        assert_eq!(take(&queue, 9, now), Some('b'));
        assert_eq!(take(&queue, 9, now), Some('a'));
        queue.add('a', Millis(9), None);
        queue.finish('a', None, Instant::now());
        assert!(oldest() > first, "what was added meanwhile is new");
        assert_eq!(queue.earliest_due(), Some(Millis(2)));
    }
}

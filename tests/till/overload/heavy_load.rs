//! Loads of the server, and how the light calls of another merchant beside them are judged.
//!
//! The suite makes each load for a moment. `make fairness` makes it for `TILL_HEAVY_SECONDS` seconds with programs
//! compiled for speed, and `TILL_HEAVY_ROUNDS` times in turns with its control, a harmless load of as many connections,
//! so that a busy machine is as busy for both. `TILL_HEAVY_CONNECTIONS` connections ask for what is large. The figures
//! are printed.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use super::closed_loop::{PreparedRequest, key_of, statuses};
use super::light_calls::LightCalls;
use crate::harness::{Server, Shop};

/// The time that each load lasts in the suite.
const SUITE_DURATION: Duration = Duration::from_millis(1_500);

/// The time that 99 of 100 light calls may take in the suite, whose programs are not compiled for speed and share the
/// processors with other tests.
const SUITE_P99_MAX: Duration = Duration::from_secs(1);

/// The limit in a campaign on a quiet machine. On a busy one it is twice the time that they take beside the control.
pub(super) const CAMPAIGN_P99_MAX: Duration = Duration::from_millis(50);

/// Rounds of a campaign.
const ROUNDS: u64 = 5;

/// The header that has an answer compressed.
pub(super) const COMPRESSED: &str = "Accept-Encoding: gzip\r\n";

/// Connections that ask for what is large in the suite.
const SUITE_CONNECTIONS: usize = 32;

/// The most memory of the program and its store, of records that wait for their commit, and of one connection:
/// docs/limits.md, "Memory".
const STORE_BYTES: u64 = 448 << 20;
pub(super) const RECORDS_BYTES: u64 = 256 << 20;
const CONNECTION_BYTES: u64 = 352 << 10;

/// Calls of some connections until a moment.
pub(super) struct HeavyCalls {
    pub(super) name: &'static str,
    /// For each connection the requests that it makes in turns.
    pub(super) turns: Vec<Vec<PreparedRequest>>,
    /// The statuses of calls that are not refused for overload.
    pub(super) expected: &'static [u16],
    /// The time that 99 of 100 light calls may take in a campaign.
    pub(super) p99_max: Duration,
    /// The light call that reads.
    pub(super) read: fn(&Shop) -> PreparedRequest,
    /// Memory that the calls may take beside that of store and connections.
    pub(super) more_bytes: u64,
}

impl HeavyCalls {
    /// The same request from each of `connections` connections.
    pub(super) fn alike(name: &'static str, request: &PreparedRequest, connections: usize) -> HeavyCalls {
        HeavyCalls::in_turns(name, vec![vec![request.clone()]; connections], &[200])
    }

    /// Requests that each connection makes in turns.
    pub(super) fn in_turns(
        name: &'static str,
        turns: Vec<Vec<PreparedRequest>>,
        expected: &'static [u16],
    ) -> HeavyCalls {
        HeavyCalls { name, turns, expected, p99_max: CAMPAIGN_P99_MAX, read: LightCalls::balance, more_bytes: 0 }
    }

    /// Makes the calls beside a merchant with light calls, and prints the results of both. Checks that they were
    /// answered or refused for too much work, that all light calls were answered in time, and that memory is bounded.
    #[track_caller]
    pub(super) fn delay_no_light_calls(&self, server: &Server) {
        let shop = server.shop();
        let (key, read) = (key_of(&shop), (self.read)(&shop));
        let light = |until| LightCalls::make(server, &key, &read, until);
        let harmless = PreparedRequest::post("/sdk/check-status", "", "{}");
        let control =
            HeavyCalls { expected: &[400], ..HeavyCalls::alike("harmless calls", &harmless, self.turns.len()) };
        judge(
            self.name,
            self.p99_max,
            |until| control.make(server, until, light),
            |until| self.make(server, until, light),
        );
        check_memory(server, self.turns.len(), self.more_bytes);
    }

    /// Makes the calls, and light ones beside them.
    fn make(&self, server: &Server, until: Instant, light: impl FnOnce(Instant) -> LightCalls + Send) -> LightCalls {
        thread::scope(|scope| {
            let light = scope.spawn(move || light(until));
            let mut counts = statuses(server.public(), &self.turns, until);
            let mut count = |status| counts.remove(&status).unwrap_or(0);
            let answered: u64 = self.expected.iter().map(|status| count(*status)).sum();
            let refused = count(503);
            println!("  {}: {answered} answered, {refused} refused with 503, others {counts:?}", self.name);
            assert_eq!(counts, BTreeMap::new(), "other statuses, 0 for no answer");
            light.join().expect("each light call is answered")
        })
    }
}

/// Judges the light calls beside a load: in a campaign by the medians of rounds in turns with a control, in the suite
/// by its best round. One is enough there unless the machine is busy; then all calls take longer, also the control's.
#[track_caller]
pub(super) fn judge(
    name: &str,
    p99_max: Duration,
    control: impl Fn(Instant) -> LightCalls,
    load: impl Fn(Instant) -> LightCalls,
) {
    let p99_of = |kind: &str, run: &dyn Fn(Instant) -> LightCalls, duration: Duration| {
        let light = run(Instant::now() + duration);
        println!("  {kind}: {light}");
        light.p99()
    };
    println!("{name}");
    let Some(duration) = campaign() else {
        let is_in_time = |_| {
            let p99 = p99_of("load", &load, SUITE_DURATION);
            p99 < SUITE_P99_MAX || p99 <= 2 * p99_of("control", &control, SUITE_DURATION)
        };
        let mut rounds = 0..ROUNDS;
        assert!(rounds.any(is_in_time), "{name}: in no round is the p99 below {SUITE_P99_MAX:?}");
        return;
    };
    let rounds = 0..number("TILL_HEAVY_ROUNDS").unwrap_or(ROUNDS);
    let rounds = rounds.map(|_| (p99_of("control", &control, duration), p99_of("load", &load, duration)));
    let (controls, loads): (Vec<_>, Vec<_>) = rounds.unzip();
    let (control, load) = (median(controls), median(loads));
    println!("{name}: median p99 {load:.1?}, of the control {control:.1?}");
    assert!(load <= p99_max.max(2 * control), "{name}: a p99 of {load:?} beside {control:?} of the control");
}

/// Checks that the server has taken no more memory than its documents say for this number of connections, and for calls
/// that take `more_bytes`.
#[track_caller]
pub(super) fn check_memory(server: &Server, connections: usize, more_bytes: u64) {
    let resident = server.resident_bytes_max();
    let most = more_bytes + STORE_BYTES + u64::try_from(connections).expect("a count fits") * CONNECTION_BYTES;
    println!("  resident memory: {} MiB", resident >> 20);
    assert!(resident <= most, "{resident} bytes are above {most}");
}

/// The time that each load lasts in a campaign; none in the suite.
pub(super) fn campaign() -> Option<Duration> {
    number("TILL_HEAVY_SECONDS").map(Duration::from_secs)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is a number")))
}

/// Connections that ask for what is large.
pub(super) fn many_connections() -> usize {
    number("TILL_HEAVY_CONNECTIONS").map_or(SUITE_CONNECTIONS, |count| usize::try_from(count).expect("a count fits"))
}

/// The median of some durations.
pub(super) fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort_unstable();
    durations[durations.len() / 2]
}

//! Ten times the load that the server can take: its throughput meanwhile, and the latencies of answered calls.
//!
//! The environment sets the length of each load (`TILL_OVERLOAD_SECONDS`, `make overload`), the number of connections
//! (`TILL_OVERLOAD_CONNECTIONS`) and the number of rounds (`TILL_OVERLOAD_ROUNDS`), each of which measures all loads in
//! turns: a machine that is slower for some minutes is slower for all loads, and medians are compared. The figures are
//! printed; the test asserts the facts that hold on any machine: no failures except refusals, no refused call is done,
//! memory is bounded, and a merchant that calls now and then is answered beside those that call without a pause.

use std::process::Output;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Server, Shop, Start, temporary, ticks};

/// The most memory that a server may take under any load of these tests.
const RESIDENT_BYTES_MAX: u64 = 1 << 30;

/// The pause of the merchant beside the load between two calls.
const NEIGHBOUR_PAUSE: Duration = Duration::from_millis(20);

/// Units of processor time in a second, as Linux shows them to programs.
const TICKS_PER_SECOND: f64 = 100.0;

/// A load with its results.
struct MeasuredLoad {
    point: Value,
    /// The mean number of processors in use by the server, and by the load tester.
    processors: (f64, f64),
}

impl MeasuredLoad {
    /// Measures `till-bench metadata` with these arguments against a server.
    fn run(server: &Server, arguments: &[String]) -> MeasuredLoad {
        let (_directory, [report]) = temporary(["report.json"]);
        let mut command = server.load_tester();
        command.args(["metadata", "--target", server.public(), "--admin", server.admin_address()]);
        command.args(["--merchants", "16", "--warm-up", "1s", "--json"]).arg(&report).args(arguments);
        let (begun, before) = (Instant::now(), (server.processor_ticks(), ticks_of_ended_children()));
        let Output { status, stderr, .. } = command.output().expect("the binary can be started");
        assert!(status.success(), "{status}: {}", String::from_utf8_lossy(&stderr));
        let used = |now: u64, before: u64| {
            let ticks = u32::try_from(now - before).expect("no load lasts so long");
            f64::from(ticks) / TICKS_PER_SECOND / begun.elapsed().as_secs_f64()
        };
        let processors = (used(server.processor_ticks(), before.0), used(ticks_of_ended_children(), before.1));
        let report = std::fs::read_to_string(&report).expect("it was written");
        let report: Value = serde_json::from_str(&report).expect("it is JSON");
        MeasuredLoad { point: report["points"][0].clone(), processors }
    }

    fn rate(&self) -> f64 {
        self.point["rate"].as_f64().expect("a number")
    }

    fn millis(&self, kind: &str, quantile: &str) -> f64 {
        self.point[kind][quantile].as_f64().expect("a number") / 1_000.0
    }

    /// The 99th percentile of answered calls, in milliseconds.
    fn p99(&self) -> f64 {
        self.millis("latency_micros", "p99")
    }

    fn refused(&self) -> u64 {
        let failures = self.point["failures"].as_object().expect("an object");
        failures.values().map(|failure| failure["count"].as_u64().expect("a count")).sum()
    }

    /// The codes of failed calls.
    fn codes(&self) -> Vec<&str> {
        self.point["failures"].as_object().expect("an object").keys().map(String::as_str).collect()
    }

    fn line(&self, name: &str) -> String {
        format!(
            "{name}: {:.0}/s answered, p50 {:.1} ms, p99 {:.1} ms; {} refused, p50 {:.1} ms, p99 {:.1} ms; \
             {} never made; processors: server {:.2}, load tester {:.2}",
            self.rate(),
            self.millis("latency_micros", "p50"),
            self.p99(),
            self.refused(),
            self.millis("refused_micros", "p50"),
            self.millis("refused_micros", "p99"),
            self.point["never_made"],
            self.processors.0,
            self.processors.1
        )
    }
}

/// Processor time of the ended children of this process, which are load testers only when no other test runs.
fn ticks_of_ended_children() -> u64 {
    ticks("/proc/self/stat", 13)
}

fn number(variable: &str, usual: &str) -> String {
    let text = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
    assert!(text.parse::<u32>().is_ok(), "{variable} is a number");
    text
}

fn gauge(server: &Server, name: &str) -> f64 {
    server.metric(name).unwrap_or_else(|| panic!("{name} is there"))
}

/// The arguments of `till-bench` in every load.
struct LoadPlan {
    seconds: String,
    connections: String,
}

/// Each load once, each on a new store: else the later ones pay for compactions of the earlier ones' writes.
struct Round {
    few: MeasuredLoad,
    many: MeasuredLoad,
    half: MeasuredLoad,
    tenfold: MeasuredLoad,
    /// The latencies of the calls of a merchant with one connection meanwhile.
    neighbour: Vec<Duration>,
    /// The highest memory of the server under ten times its load.
    resident: u64,
}

/// A server without a limit of connections for one address.
fn server() -> Server {
    Start::default().with("TILL_CONNECTIONS_PER_ADDRESS_MAX", "1000000").server()
}

impl LoadPlan {
    fn run(&self, server: &Server, more: &[&str]) -> MeasuredLoad {
        let duration = ["--duration", self.seconds.as_str()];
        MeasuredLoad::run(server, &[&duration, more].concat().iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    fn round(&self) -> Round {
        let few = self.run(&server(), &["--connections", "64"]);
        let many = self.run(&server(), &["--connections", "128"]);
        let best = few.rate().max(many.rate());
        let (half, tenfold) = (format!("{:.0}", best / 2.0), format!("{:.0}", best * 10.0));
        let half = self.run(&server(), &["--connections", &self.connections, "--rate", &half]);
        let server = server();
        let tenfold_arguments = ["--connections", &self.connections, "--rate", &tenfold, "--patience", "2ms"];
        let (tenfold, neighbour) = beside(&server.shop(), || self.run(&server, &tenfold_arguments));
        let round = Round { few, many, half, tenfold, neighbour, resident: server.resident_bytes_max() };
        println!("{}", round.lines());
        round.check(&server);
        round
    }
}

/// Runs `load` while a merchant reads its balance again and again, and returns the latencies of its calls. None of them
/// may be refused.
fn beside<T>(neighbour: &Shop, load: impl FnOnce() -> T) -> (T, Vec<Duration>) {
    let (under_way, is_over) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let calls = scope.spawn(move || {
            let mut took = Vec::new();
            while is_over.recv_timeout(NEIGHBOUR_PAUSE) == Err(RecvTimeoutError::Timeout) {
                let asked = Instant::now();
                neighbour.call("get-balance", &json!({})).ok();
                took.push(asked.elapsed());
            }
            took
        });
        let done = load();
        drop(under_way);
        (done, calls.join().expect("each of the neighbour's calls is answered"))
    })
}

/// The median and the 99th percentile, in milliseconds.
fn p50_and_p99(mut took: Vec<Duration>) -> (f64, f64) {
    took.sort();
    let at = |hundredths: usize| took[(took.len() - 1) * hundredths / 100].as_secs_f64() * 1_000.0;
    (at(50), at(99))
}

impl Round {
    fn lines(&self) -> String {
        let Round { few, many, half, tenfold, neighbour, resident } = self;
        let (p50, p99) = p50_and_p99(neighbour.clone());
        let lines = [
            few.line("64 connections"),
            many.line("128 connections"),
            half.line("half of the best"),
            tenfold.line("ten times the best"),
            format!("a merchant beside it: {} calls, p50 {p50:.1} ms, p99 {p99:.1} ms, none refused", neighbour.len()),
            format!("{} MB", resident / 1_000_000),
        ];
        lines.join("\n")
    }

    fn check(&self, server: &Server) {
        let Round { tenfold, resident, .. } = self;
        assert_eq!(tenfold.point["wrong"]["count"], 0, "{}", tenfold.point["wrong"]);
        assert!(tenfold.rate() > 0.0);
        assert!(tenfold.codes().iter().all(|code| *code == "UNAVAILABLE"), "{:?}", tenfold.codes());
        assert!(*resident < RESIDENT_BYTES_MAX, "{resident}");
        assert_eq!((gauge(server, "till_calls_in_flight"), gauge(server, "till_calls_waiting")), (0.0, 0.0));
    }
}

/// The median: the middle one, or the mean of the two in the middle.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let (low, high) = (figures[(figures.len() - 1) / 2], figures[figures.len() / 2]);
    f64::midpoint(low, high)
}

#[test]
fn ten_times_the_load_is_refused_and_not_queued() {
    let (seconds, connections) =
        (number("TILL_OVERLOAD_SECONDS", "2") + "s", number("TILL_OVERLOAD_CONNECTIONS", "256"));
    let rounds: usize = number("TILL_OVERLOAD_ROUNDS", "1").parse().expect("a number");
    let plan = LoadPlan { seconds, connections };
    let rounds: Vec<_> = (0..rounds).map(|_| plan.round()).collect();
    let of = |figure: fn(&Round) -> f64| median(rounds.iter().map(figure).collect());
    let best = of(|round| round.few.rate()).max(of(|round| round.many.rate()));
    println!(
        "medians of {} rounds: goodput {:.2} of the best (aim: at least 0.9); p99 {:.2} times that at half load (aim: \
            at most 3)",
        rounds.len(),
        of(|round| round.tenfold.rate()) / best,
        of(|round| round.tenfold.p99()) / of(|round| round.half.p99()),
    );
}

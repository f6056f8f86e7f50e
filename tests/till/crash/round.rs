//! A round: one data directory, several lives, each of which ends in a kill under load.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{Server, TestDice, from_environment};

use super::calendar::Calendar;
use super::customers::Customers;
use super::merchants::LoadedMerchant;
use super::reckoning::{Counts, reckon};
use super::sandbox::Extent;
use super::truth::Truth;
use super::{inspection, load, sandbox};

/// Lives of one data directory.
const LIVES: u64 = 3;

/// The longest time of a life under load.
const LIFE_MS_MAX: u64 = 500;

/// The longest time after which a start is killed in the middle.
const START_MS_MAX: u64 = 150;

/// The state of a round.
pub(super) struct Round {
    pub(super) server: Server,
    pub(super) merchants: Vec<LoadedMerchant>,
    pub(super) truths: Vec<Truth>,
    pub(super) dice: TestDice,
    calendar: Calendar,
    customers: Customers,
    /// The extent of the sandbox's book.
    pub(super) book: Extent,
    counts: Counts,
    starts: Vec<Duration>,
}

/// Runs the rounds that the environment asks for.
pub(super) fn run_all() {
    let rounds: u64 = from_environment("TILL_CRASH_ROUNDS", 3);
    let mut seed = TestDice::seed("TILL_CRASH_SEED");
    for number in 1..=rounds {
        println!("round {number} of {rounds}: seed {seed}");
        let begun = Instant::now();
        println!("round {number} of {rounds}: {}, {} ms", run(seed), begun.elapsed().as_millis());
        seed = TestDice::new(seed).number();
    }
}

fn run(seed: u64) -> String {
    let mut round = Round::begin(seed);
    for life in 0..LIVES {
        round.live(life);
    }
    let ended = round.end();
    format!("{}; {ended}", round.report())
}

impl Round {
    /// Starts a server with its merchants.
    pub(super) fn begin(seed: u64) -> Round {
        Round::begin_on(Server::start(), seed)
    }

    /// Begins a round on a server that was started for it.
    pub(super) fn begin_on(server: Server, seed: u64) -> Round {
        let merchants = LoadedMerchant::of_a_round(&server);
        let truths = merchants.iter().map(|merchant| Truth::begin(&merchant.shop)).collect();
        let (mut dice, counts) = (TestDice::new(seed), Counts::default());
        let calendar = Calendar::begin(&server, dice.fork());
        let customers = Customers::begin(&server, &mut dice);
        let (book, starts) = (Extent::Whole, Vec::new());
        Round { server, merchants, truths, dice, calendar, customers, book, counts, starts }
    }

    fn live(&mut self, life: u64) {
        let lasts = Duration::from_millis(self.dice.between(20, LIFE_MS_MAX));
        self.load_until(&format!("life{life}"), |server| {
            thread::sleep(lasts);
            server.kill();
        });
    }

    /// Loads the server until `end` has ended it, starts it again and checks everything.
    pub(super) fn load_until(&mut self, name: &str, end: impl FnOnce(&mut Server)) {
        let callers = load::callers(&self.server, &self.merchants, name, &mut self.dice);
        let (server, calendar, customers) = (&mut self.server, &mut self.calendar, &mut self.customers);
        let call_records = thread::scope(|scope| {
            let months = scope.spawn(|| calendar.call_until_unanswered());
            let paying = scope.spawn(|| customers.pay_until_unanswered());
            let call_records = load::until(server, callers, end);
            months.join().expect("it has said what was wrong");
            paying.join().expect("a customer has said what was wrong");
            call_records
        });
        self.start_again();
        self.customers.finish(&self.server);
        self.check(&call_records);
        self.customers.check(&self.server);
        self.calendar.move_to(&self.server);
        self.calendar.check();
    }

    /// Checks the restarted server against these calls and all earlier ones.
    pub(super) fn check(&mut self, call_records: &[super::call_record::CallRecord]) {
        reckon(&self.server, &self.merchants, call_records, &mut self.truths, &mut self.counts);
        inspection::inspect(&self.server, &self.merchants, &mut self.truths);
        self.check_book();
    }

    /// No call is open any more, so that the book does not change, even while a server runs.
    fn check_book(&self) {
        sandbox::check(self.server.data(), &self.merchants, &self.truths, self.book);
    }

    /// Starts the server, and sometimes kills it once or twice while it starts.
    pub(super) fn start_again(&mut self) {
        while self.dice.in_hundred(30) {
            self.kill_in_start();
        }
        let begun = Instant::now();
        self.server.restart();
        self.starts.push(begun.elapsed());
    }

    fn kill_in_start(&mut self) {
        let mut command = self.server.start_command();
        command.arg("serve").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary can be started");
        thread::sleep(Duration::from_millis(self.dice.between(0, START_MS_MAX)));
        child.kill().expect("a child can be killed");
        let status = child.wait().expect("a child can be waited for");
        assert_eq!(status.code(), None, "it ended by itself before it was killed");
    }

    /// Ends the last life, by a stop or by a kill, and checks the data that can be read without a server.
    pub(super) fn end(&mut self) -> &'static str {
        let ended = if self.dice.in_hundred(50) {
            assert!(self.server.stop(), "a stop ends well");
            "stopped"
        } else {
            self.server.kill();
            "killed"
        };
        self.check_book();
        self.verify();
        ended
    }

    fn verify(&self) {
        let output = self.server.start_command().arg("verify").output();
        let output = output.expect("the binary can be started");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "till verify: {}\n{}", text(&output.stdout), text(&output.stderr));
    }

    pub(super) fn report(&self) -> String {
        let Counts { acknowledged, refused, unacknowledged, found } = self.counts;
        let mut done = BTreeMap::new();
        self.truths.iter().for_each(|truth| truth.add_counts(&mut done));
        let done: Vec<String> = done.iter().map(|(path, times)| format!("{times} {path}")).collect();
        let starts: Vec<String> = self.starts.iter().map(|start| start.as_millis().to_string()).collect();
        format!(
            "{acknowledged} acknowledged, {refused} refused, {unacknowledged} unacknowledged of which {found} were \
                done, {}, {}, {}, started again in {} ms",
            done.join(", "),
            self.calendar.report(),
            self.customers.report(),
            starts.join(", ")
        )
    }
}

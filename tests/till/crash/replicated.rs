//! The log in a database with a synchronous standby: faults of the server, the database, the standby and the link between
//! them, drawn by a seed, under load. Every promise is checked after each.
//!
//! `TILL_JOURNAL_FAULTS` sets the number of faults, `TILL_CRASH_SEED` repeats the random choices of a printed seed.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::disk::filler::Filler;
use crate::harness::{EventReceiver, Manner, PATIENCE, TestDice, Volume, directory, from_environment, holds_within};
use crate::journal::postgres::Postgres;
use crate::journal::proxy::{Proxy, Treatment};
use crate::journal::{over, succeeds};

use super::round::Round;

/// Faults of one database, after which another one is made.
const FAULTS_OF_A_ROUND: u64 = 5;

/// Bytes of the volume with the data directory.
const VOLUME_BYTES: u64 = 512 << 20;

/// Bytes that are left on a full volume: less than the reserve of a test server.
const LEFT_BYTES: u64 = 8 << 20;

/// A fault.
#[derive(Debug, Clone, Copy)]
enum JournalFault {
    /// The server is killed, and nothing else.
    None,
    /// The data directory is deleted.
    DeletedDirectory,
    /// The primary crashes and starts again.
    CrashedPrimary,
    /// The primary is gone for good, and its standby promoted.
    Promotion,
    /// Nothing passes between server and database for a while.
    DarkLink,
    /// The answers of the database are lost for a while.
    SwallowedAnswers,
    /// All connections are closed.
    ClosedConnections,
    /// The statements that run are canceled, while their commits wait for a standby that is stopped.
    CanceledBackends,
    /// The same, and their backends end.
    TerminatedBackends,
    /// The disk of the data directory is full for a while.
    FullDisk,
}

const ALL: [JournalFault; 10] = [
    JournalFault::None,
    JournalFault::DeletedDirectory,
    JournalFault::CrashedPrimary,
    JournalFault::Promotion,
    JournalFault::DarkLink,
    JournalFault::SwallowedAnswers,
    JournalFault::ClosedConnections,
    JournalFault::CanceledBackends,
    JournalFault::TerminatedBackends,
    JournalFault::FullDisk,
];

#[test]
fn faults_of_a_replicated_log_lose_and_double_nothing() {
    let faults: u64 = from_environment("TILL_JOURNAL_FAULTS", 3);
    let mut seed = TestDice::seed("TILL_CRASH_SEED");
    let mut number = 0;
    while number < faults {
        println!("faults {} to {}: seed {seed}", number + 1, faults.min(number + FAULTS_OF_A_ROUND));
        run(seed, &mut number, faults);
        seed = TestDice::new(seed).number();
    }
}

fn run(seed: u64, number: &mut u64, faults: u64) {
    let volume = Volume::if_possible(VOLUME_BYTES);
    let place = directory();
    let data = volume.as_ref().map_or_else(|| place.path().to_owned(), Volume::path).join("data");
    let mut rig = Rig::start(volume);
    let start = over(rig.proxy.port)
        .with("TILL_JOURNAL_SECONDS_MAX", "1")
        .with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8")
        .with("TILL_WEBHOOK_RETRY_SECONDS", "1,1,1,1,2,2,2,5,5,5");
    succeeds(start.command(&data), &["journal", "migrate"]);
    let mut round = Round::begin_on(start.server_in(&data), seed);
    let receiver = EventReceiver::start(Manner::Healthy);
    let webhook = json!({ "name": "shop", "destination_url": receiver.url(), "events": ["*"] });
    round.merchants.iter().for_each(|merchant| drop(merchant.shop.call("connect-webhook", &webhook).ok()));
    for _ in 0..FAULTS_OF_A_ROUND {
        if *number == faults {
            break;
        }
        *number += 1;
        let fault = ALL[round.dice.index(ALL.len())];
        let parts = [0; 3].map(|_| Duration::from_millis(round.dice.between(20, 500)));
        let begun = Instant::now();
        round.load_until(&format!("fault{number}"), |server| {
            thread::sleep(parts[0]);
            rig.inject(fault, parts[1]);
            thread::sleep(parts[2]);
            assert!(server.ended().is_none(), "{fault:?} ended the server");
            server.kill();
            rig.mend();
            if matches!(fault, JournalFault::DeletedDirectory) {
                fs::remove_dir_all(server.data()).expect("it can be removed");
            }
        });
        println!("fault {number}: {fault:?}, {} ms", begun.elapsed().as_millis());
    }
    let events = check_events(&round, &receiver);
    println!("{}; {events} events in {} requests", round.report(), receiver.requests());
    round.end();
}

/// Every event of every merchant arrives; returns their number.
fn check_events(round: &Round, receiver: &EventReceiver) -> usize {
    let shops = round.merchants.iter().map(|merchant| merchant.shop.on(&round.server));
    let events: Vec<String> = shops
        .flat_map(|shop| shop.all("list-events"))
        .map(|event| event["event_id"].as_str().expect("an id").to_owned())
        .collect();
    let missing = || {
        let taken = receiver.taken();
        events.iter().filter(|id| !taken.contains_key(*id)).count()
    };
    assert!(holds_within(PATIENCE, || missing() == 0), "{} of {} events did not arrive", missing(), events.len());
    events.len()
}

/// A primary, its synchronous standby, and the link to the server.
struct Rig {
    primary: Postgres,
    standby: Option<Postgres>,
    proxy: Proxy,
    volume: Option<Volume>,
}

impl Rig {
    fn start(volume: Option<Volume>) -> Rig {
        let primary = Postgres::start();
        let standby = primary.standby();
        primary.wait_for_standby(true);
        let proxy = Proxy::before(primary.port());
        Rig { primary, standby: Some(standby), proxy, volume }
    }

    /// Does its worst for about `lasts`.
    fn inject(&mut self, fault: JournalFault, lasts: Duration) {
        match fault {
            JournalFault::None | JournalFault::DeletedDirectory => {}
            JournalFault::CrashedPrimary => {
                self.primary.stop("immediate");
                thread::sleep(lasts);
                self.primary.run();
            }
            JournalFault::Promotion => self.promote(),
            JournalFault::DarkLink => self.treat(Treatment::Dark, lasts),
            JournalFault::SwallowedAnswers => self.treat(Treatment::Swallow, lasts),
            JournalFault::ClosedConnections => self.proxy.treat_open(Treatment::Reset),
            JournalFault::CanceledBackends => self.without_standby(lasts, "pg_cancel_backend"),
            JournalFault::TerminatedBackends => self.without_standby(lasts, "pg_terminate_backend"),
            JournalFault::FullDisk => self.fill_disk(lasts),
        }
    }

    fn treat(&self, treatment: Treatment, lasts: Duration) {
        self.proxy.treat_open(treatment);
        thread::sleep(lasts);
        self.proxy.treat_open(Treatment::Reset);
    }

    /// The standby becomes the primary, and gets a standby of its own.
    fn promote(&mut self) {
        self.primary.stop("immediate");
        self.primary = self.standby.take().expect("there is one between two faults");
        self.primary.promote();
        self.proxy.lead_to(self.primary.port());
        self.proxy.treat_open(Treatment::Reset);
        self.standby = Some(self.primary.standby());
    }

    /// Statements of the server are ended while their commits wait for the standby.
    fn without_standby(&self, lasts: Duration, end: &str) {
        let standby = self.standby.as_ref().expect("there is one between two faults");
        standby.stop("immediate");
        thread::sleep(lasts);
        self.primary.sql(&format!("select {end}(pid) from pg_stat_activity where application_name = 'till'"));
        thread::sleep(lasts / 4);
        standby.run();
    }

    fn fill_disk(&self, lasts: Duration) {
        let Some(volume) = &self.volume else { return };
        let filler = Filler::leaving(&volume.path(), LEFT_BYTES);
        thread::sleep(lasts);
        drop(filler);
    }

    /// Everything works again, and the standby has what the primary has.
    fn mend(&self) {
        self.proxy.treat_open(Treatment::Reset);
        self.primary.wait_for_standby(true);
    }
}

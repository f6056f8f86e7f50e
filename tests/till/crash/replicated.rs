//! The log in a database with a synchronous standby: faults of the server, the database, the standby and the link
//! between them, drawn by a seed, under load. Every promise is checked after each.
//!
//! `TILL_JOURNAL_FAULTS` sets the number of faults, `TILL_JOURNAL_FAULT` the only kind that is drawn, `TILL_CRASH_SEED`
//! repeats the random choices of a printed seed.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::disk::filler::Filler;
use crate::harness::{
    EventReceiver, Manner, PATIENCE, Start, TestDice, Volume, directory, from_environment, holds_within,
};
use crate::journal::postgres::Postgres;
use crate::journal::proxy::{Proxy, Treatment};
use crate::journal::succeeds;

use super::losing;
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
    /// Syncs of the database's log fail for a while: it panics in commits, and recovers.
    FailedSync,
    /// The disk of the database's log is full for a while: it panics, too.
    FullLog,
    /// The first of the two hosts falls silent, for longer than anybody waits: connections are taken and nothing is
    /// said.
    SilentHost,
    /// New connections are taken and nothing is said, and the old ones are closed, for longer than anybody waits.
    DarkNewConnections,
    /// The standby is away, for longer than anybody waits.
    StandbyAway,
    /// Somebody locks the row of a shard, for longer than anybody waits.
    LockedRow,
    /// Somebody locks the table of shards, for longer than anybody waits.
    LockedTable,
    /// The database warns at each sign-in, as after an upgrade of the system's collations.
    WarningAtSignIn,
    /// The primary is gone for good, and its standby promoted, which lacks what was committed last. It ends a round.
    LosingPromotion,
    /// The same, and another server claims the log and writes to it before this one meets it.
    SetBack,
}

/// The additional time of faults that outlast the patience of the server.
const LONG: Duration = Duration::from_millis(2_500);

const ALL: [JournalFault; 20] = [
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
    JournalFault::FailedSync,
    JournalFault::FullLog,
    JournalFault::SilentHost,
    JournalFault::DarkNewConnections,
    JournalFault::StandbyAway,
    JournalFault::LockedRow,
    JournalFault::LockedTable,
    JournalFault::WarningAtSignIn,
    JournalFault::LosingPromotion,
    JournalFault::SetBack,
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
    let volume = Volume::new(VOLUME_BYTES).ok();
    let place = directory();
    let data = volume.as_ref().map_or_else(|| place.path().to_owned(), Volume::path).join("data");
    let mut rig = Rig::start(volume);
    let start = rig
        .settings()
        .with("TILL_JOURNAL_SECONDS_MAX", "1")
        .with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8")
        .with("TILL_WEBHOOK_RETRY_SECONDS", "1,1,1,1,2,2,2,5,5,5");
    succeeds(start.command(&data), &["journal", "migrate"]);
    // One kind alone may be named.
    let named = std::env::var("TILL_JOURNAL_FAULT").ok();
    let is_drawn = |fault: &JournalFault| named.as_ref().is_none_or(|name| format!("{fault:?}") == *name);
    let kinds: Vec<JournalFault> = ALL.into_iter().filter(is_drawn).collect();
    let mut round = Round::begin_on(start.server_in(&data), seed);
    let receiver = EventReceiver::start(Manner::Healthy);
    let webhook = json!({ "name": "shop", "destination_url": receiver.url(), "events": ["*"] });
    round.merchants.iter().for_each(|merchant| drop(merchant.shop.call("connect-webhook", &webhook).ok()));
    let mut losing_fault = None;
    for _ in 0..FAULTS_OF_A_ROUND {
        if *number == faults {
            break;
        }
        *number += 1;
        let fault = kinds[round.dice.index(kinds.len())];
        let parts = [0; 3].map(|_| Duration::from_millis(round.dice.between(20, 500)));
        if matches!(fault, JournalFault::LosingPromotion | JournalFault::SetBack) {
            losing_fault = Some((fault, parts[0]));
            break;
        }
        let begun = Instant::now();
        round.load_until(&format!("fault{number}"), |server| {
            thread::sleep(parts[0]);
            rig.inject(fault, parts[1]);
            thread::sleep(parts[2]);
            assert!(server.ended().is_none(), "{fault:?} ended the server");
            assert_eq!(server.metric("till_journal_shards_lost"), Some(0.0), "{fault:?} lost nothing");
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
    let Some((fault, lasts)) = losing_fault else {
        round.end();
        return;
    };
    let begun = Instant::now();
    losing::lose(&mut round, &mut rig, lasts, matches!(fault, JournalFault::SetBack).then_some(&start));
    println!("fault {number}: {fault:?}, {} ms", begun.elapsed().as_millis());
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
pub(super) struct Rig {
    primary: Postgres,
    standby: Option<Postgres>,
    proxy: Proxy,
    /// The way to the database beside the first.
    second_proxy: Proxy,
    volume: Option<Volume>,
}

impl Rig {
    fn start(volume: Option<Volume>) -> Rig {
        let primary = Postgres::start_on_failing_disk();
        let standby = primary.standby();
        primary.wait_for_standby(true);
        let [proxy, second_proxy] = [(); 2].map(|()| Proxy::before(primary.port()));
        Rig { primary, standby: Some(standby), proxy, second_proxy, volume }
    }

    /// The settings of a server that knows two hosts.
    fn settings(&self) -> Start {
        let (first, second) = (self.proxy.port, self.second_proxy.port);
        let address = format!("postgres://till@127.0.0.1:{first},127.0.0.1:{second}/till");
        Start::default().with("TILL_JOURNAL", &address)
    }

    /// Does its worst for about `lasts`.
    fn inject(&mut self, fault: JournalFault, lasts: Duration) {
        match fault {
            JournalFault::None
            | JournalFault::DeletedDirectory
            | JournalFault::LosingPromotion
            | JournalFault::SetBack => {}
            JournalFault::CrashedPrimary => {
                self.primary.stop("immediate");
                thread::sleep(lasts);
                self.primary.run();
            }
            JournalFault::Promotion => self.promote(),
            JournalFault::DarkLink => self.treat(Treatment::Dark, lasts),
            JournalFault::SwallowedAnswers => self.treat(Treatment::Swallow, lasts),
            JournalFault::ClosedConnections => self.proxy.treat_open(Treatment::Reset),
            JournalFault::CanceledBackends => self.without_standby(lasts, Some("pg_cancel_backend")),
            JournalFault::TerminatedBackends => self.without_standby(lasts, Some("pg_terminate_backend")),
            JournalFault::FullDisk => self.fill_disk(lasts),
            JournalFault::FailedSync => self.primary.fail_disk("sync", lasts),
            JournalFault::FullLog => self.primary.fail_disk("full", lasts),
            JournalFault::SilentHost => self.silence(Treatment::Dark, &[&self.proxy], lasts + LONG),
            JournalFault::DarkNewConnections => {
                self.silence(Treatment::Reset, &[&self.proxy, &self.second_proxy], lasts + LONG);
            }
            JournalFault::StandbyAway => self.without_standby(lasts + LONG, None),
            JournalFault::LockedRow => {
                let shard = lasts.as_millis() % 64;
                self.lock(&format!("select 1 from till.shard where shard = {shard} for update"), lasts + LONG);
            }
            JournalFault::LockedTable => self.lock("lock table till.shard in access exclusive mode", lasts + LONG),
            JournalFault::WarningAtSignIn => {
                self.primary.sql("update pg_database set datcollversion = '0.0' where datname = 'till'");
                self.proxy.treat_open(Treatment::Reset);
                thread::sleep(lasts);
                self.primary.sql("update pg_database set datcollversion = null where datname = 'till'");
            }
        }
    }

    fn treat(&self, treatment: Treatment, lasts: Duration) {
        self.proxy.treat_open(treatment);
        thread::sleep(lasts);
        self.proxy.treat_open(Treatment::Reset);
    }

    /// The primary acknowledges what its standby never hears of for a while, and is gone. `before` is given the address
    /// of the new primary, which the server does not know yet.
    pub(super) fn lose_last_commits(&mut self, lasts: Duration, before: impl FnOnce(&str)) {
        self.standby.as_ref().expect("there is one between two faults").stop("immediate");
        self.primary.wait_for_standby(false);
        thread::sleep(lasts);
        self.primary.stop("immediate");
        let standby = self.standby.take().expect("it was stopped");
        standby.run();
        standby.promote();
        standby.wait_for_standby(false);
        before(&standby.address());
        self.primary = standby;
        self.lead_to_primary();
        self.standby = Some(self.primary.standby());
        self.mend();
    }

    /// The standby becomes the primary, and gets a standby of its own.
    fn promote(&mut self) {
        self.primary.stop("immediate");
        self.primary = self.standby.take().expect("there is one between two faults");
        self.primary.promote();
        self.lead_to_primary();
        self.standby = Some(self.primary.standby());
    }

    fn lead_to_primary(&self) {
        for proxy in [&self.proxy, &self.second_proxy] {
            proxy.lead_to(self.primary.port());
            proxy.treat_open(Treatment::Reset);
        }
    }

    /// Connections that are open are treated in one way, and new ones get no word.
    fn silence(&self, of_open: Treatment, proxies: &[&Proxy], lasts: Duration) {
        for proxy in proxies {
            proxy.treat_new(Treatment::Dark);
            proxy.treat_open(of_open);
        }
        thread::sleep(lasts);
        for proxy in proxies {
            proxy.treat_new(Treatment::Pass);
            proxy.treat_open(Treatment::Reset);
        }
    }

    /// Somebody takes a lock and keeps it.
    fn lock(&self, lock: &str, lasts: Duration) {
        self.primary.sql(&format!("begin; {lock}; select pg_sleep({}); rollback", lasts.as_secs_f64()));
    }

    /// The standby is away. Statements of the server are ended while their commits wait for it.
    fn without_standby(&self, lasts: Duration, end: Option<&str>) {
        let standby = self.standby.as_ref().expect("there is one between two faults");
        standby.stop("immediate");
        thread::sleep(lasts);
        if let Some(end) = end {
            self.primary.sql(&format!("select {end}(pid) from pg_stat_activity where application_name = 'till'"));
            thread::sleep(lasts / 4);
        }
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
        self.second_proxy.treat_open(Treatment::Reset);
        self.primary.wait_for_standby(true);
    }
}

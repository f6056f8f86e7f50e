//! A data directory with the answers that acknowledged its contents.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{ApiAnswer, Server, Shop, Start, TestDice, directory, from_environment};

/// Payments of the first merchant, whose rows come before the second one's.
const FIRST_PAYMENTS: usize = 300;

/// Payments of the second merchant.
const SECOND_PAYMENTS: usize = 30;

/// Threads that pay.
const CUSTOMERS: usize = 10;

/// Top-ups of a separate merchant, which are the last of all commits, one after the other.
const LAST_TOPUPS: u64 = 3;

/// The amount of each of them, in minor units.
const TOPUP_MINOR: u64 = 1_000;

/// Bytes of a segment of the archive.
const SEGMENT_BYTES: &str = "100000";

/// The time after which a start counts as hanging: well above the server's own limit.
const START_MAX: Duration = Duration::from_secs(30);

/// The number of bits to flip, for a test that flips `of_forty` of the forty bits of the whole suite by default.
pub(super) fn flips(of_forty: usize) -> usize {
    let all: usize = from_environment("TILL_DAMAGE_FLIPS", 40);
    (all * of_forty).div_ceil(40)
}

/// Random choices, whose seed is printed.
pub(super) fn dice() -> TestDice {
    let seed = TestDice::seed("TILL_DAMAGE_SEED");
    println!("seed {seed}");
    TestDice::new(seed)
}

/// The start of a server on a copy that may be damaged.
pub(super) fn start() -> Start {
    Start::default().with("TILL_OPEN_SECONDS_MAX", "5").within(START_MAX)
}

/// The answers that a merchant got.
#[derive(Clone)]
pub(super) struct Witness {
    pub(super) shop: Shop,
    /// The payments, as `find-payment` answered them.
    payments: Vec<Value>,
    /// All entries of the ledger.
    history: Vec<Value>,
    /// All entries of the activity log.
    activity: Vec<Value>,
    balance: Value,
}

/// A data directory that no server uses, with the answers about its contents; beside it may be its archive.
pub(super) struct Image {
    directory: TempDir,
    /// The merchant with most rows, and the other.
    pub(super) witnesses: [Witness; 2],
    /// The merchant of the last commits.
    last: Option<Shop>,
}

/// A copy of an image.
pub(super) struct Copy {
    pub(super) directory: Arc<TempDir>,
}

impl Image {
    /// The image after a kill: everything is in the write-ahead log.
    pub(super) fn killed() -> Image {
        let (mut server, witnesses) = witnessed();
        server.kill();
        Image::of(&server, witnesses)
    }

    /// The image after a stop: everything is in table files.
    pub(super) fn stopped() -> Image {
        let (mut server, witnesses) = witnessed();
        assert!(server.stop(), "a stop ends well");
        Image::of(&server, witnesses)
    }

    /// The image of one server after a kill, with tables, a log, an archive that has every commit, a checkpoint called
    /// `early`, and one called `one` that has all but the last top-ups; and the image after the stop of its next life.
    pub(super) fn killed_and_stopped() -> [Image; 2] {
        let directory = Arc::new(directory());
        let data = directory.path().join("data");
        let started = archiving(Start::default(), &data).try_server_on(&data, Some(directory));
        let server = started.unwrap_or_else(|error| panic!("it does not start: {error}"));
        let mut last = server.shop();
        // The checkpoint is so early that a restore needs every segment of the archive.
        server.admin("create-checkpoint", &json!({ "name": "early" })).ok();
        let (mut server, witnesses) = witnessed_on(server);
        assert!(server.stop(), "a stop ends well");
        server.restart();
        let mut more = witnesses.map(|witness| {
            let shop = witness.shop.on(&server);
            let payments = [witness.ids(), pay(&server, &shop, CUSTOMERS)].concat();
            Witness::of(shop, &payments)
        });
        server.admin("create-checkpoint", &json!({ "name": "one" })).ok();
        (0..LAST_TOPUPS).for_each(|_| add_topup(&server, &last));
        server.kill();
        let killed = Image { last: Some(last.clone()), ..Image::of(&server, more.clone()) };
        server.restart();
        more.iter_mut().for_each(|witness| witness.shop = witness.shop.on(&server));
        last = last.on(&server);
        assert!(server.stop(), "a stop ends well");
        [killed, Image { last: Some(last), ..Image::of(&server, more) }]
    }

    fn of(server: &Server, witnesses: [Witness; 2]) -> Image {
        let directory = directory();
        copy(server.data(), &directory.path().join("data"));
        let archive = archive_of(server.data());
        if archive.exists() {
            copy(&archive, &directory.path().join("archive"));
        }
        Image { directory, witnesses, last: None }
    }

    /// A copy to be damaged.
    pub(super) fn copy(&self) -> Copy {
        let directory = directory();
        copy(self.directory.path(), directory.path());
        Copy { directory: Arc::new(directory) }
    }

    /// The number of the last top-ups that are there.
    pub(super) fn last_topups(&self, server: &Server) -> u64 {
        let shop = self.last.as_ref().expect("an image with an archive").on(server);
        shop.balance()["available"].as_u64().expect("a number") / TOPUP_MINOR
    }

    /// Makes one more of them; it must be acknowledged.
    pub(super) fn add_last_topup(&self, server: &Server) {
        add_topup(server, self.last.as_ref().expect("an image with an archive"));
    }

    /// The number of them that were acknowledged.
    pub(super) const fn topups_acknowledged(&self) -> u64 {
        LAST_TOPUPS
    }

    /// Checks that nothing that was acknowledged is missing or different.
    pub(super) fn assert_whole(&self, server: &Server, damage: &str) {
        for witness in &self.witnesses {
            let shop = witness.shop.on(server);
            let refused = witness.ask_all(&shop, damage);
            assert_eq!(refused, 0, "{damage}: calls were refused");
            shop.pay(1_234);
        }
    }
}

impl Copy {
    /// The data directory.
    pub(super) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// The archive beside it.
    pub(super) fn archive(&self) -> PathBuf {
        archive_of(&self.data())
    }

    /// The newest file of the database whose name `is_wanted` accepts.
    pub(super) fn file(&self, is_wanted: impl Fn(&str) -> bool) -> PathBuf {
        let db = self.data().join("db");
        let names = fs::read_dir(&db).expect("a database").map(|file| file.expect("it lists").file_name());
        let names = names.map(|name| name.into_string().expect("RocksDB's names are ASCII"));
        db.join(names.filter(|name| is_wanted(name)).max().expect("there is such a file"))
    }

    fn record(&self) -> PathBuf {
        self.directory.path().join("said")
    }

    /// The output of the server once it contains `awaited`, which a process that ends may print a moment after its last
    /// answer; after some time the output without it.
    pub(super) fn printed_with(&self, awaited: &str) -> String {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let printed = self.printed();
            if printed.contains(awaited) || Instant::now() > until {
                return printed;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The standard error of its servers.
    fn printed(&self) -> String {
        fs::read_to_string(self.record()).unwrap_or_default()
    }

    /// Starts a server on the copy, or returns the reason of its refusal. A start that hangs fails the test.
    pub(super) fn start(&self, damage: &str) -> Result<Server, String> {
        let start = start().recording(&self.record());
        let started = start.try_server_on(&self.data(), Some(Arc::clone(&self.directory)));
        started.inspect_err(|message| assert!(!message.contains("signal"), "{damage}: it hung or died: {message}"))
    }

    /// True when `till verify` finds no fault, and its output.
    pub(super) fn verify(&self) -> (bool, String) {
        let output = start().command(&self.data()).arg("verify").output().expect("the binary can be started");
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }
}

/// Flips one bit of a file, and returns a description.
pub(super) fn flip(file: &Path, at: usize, bit: usize) -> String {
    let mut bytes = fs::read(file).expect("readable");
    bytes[at] ^= 1 << bit;
    fs::write(file, &bytes).expect("writable");
    format!("bit {bit} of byte {at} of {} in {}", bytes.len(), name_of(file))
}

/// A file's own name.
pub(super) fn name_of(file: &Path) -> String {
    file.file_name().expect("a file").to_string_lossy().into_owned()
}

impl Witness {
    fn of(shop: Shop, payments: &[String]) -> Witness {
        let payments = payments.iter().map(|id| shop.settled(id)).collect();
        let (history, activity) = (shop.all("balance-history"), shop.all("list-activity-logs"));
        let balance = shop.call("get-balance", &json!({})).ok();
        Witness { shop, payments, history, activity, balance }
    }

    fn ids(&self) -> Vec<String> {
        let id = |payment: &Value| payment["payment_id"].as_str().expect("an id").to_owned();
        self.payments.iter().map(id).collect()
    }

    /// Reads everything. Each answer is the same as before, or says that it cannot be read now; returns the number of
    /// these.
    pub(super) fn ask_all(&self, shop: &Shop, damage: &str) -> usize {
        let payment = |payment: &Value| {
            let answer = shop.call("find-payment", &json!({ "payment_id": payment["payment_id"] }));
            self.is_refused(&answer, payment, damage)
        };
        let mut refused = self.payments.iter().filter(|expected| payment(expected)).count();
        refused += self.payments.iter().filter(|expected| self.session_is_refused(shop, expected, damage)).count();
        refused += usize::from(self.list_is_refused(shop, "balance-history", &self.history, damage));
        refused += usize::from(self.list_is_refused(shop, "list-activity-logs", &self.activity, damage));
        let balance = shop.call("get-balance", &json!({}));
        refused + usize::from(self.is_refused(&balance, &self.balance, damage))
    }

    fn is_refused(&self, answer: &ApiAnswer, expected: &Value, damage: &str) -> bool {
        if answer.status != 503 {
            assert_eq!((answer.status, &answer.body), (200, expected), "{damage}: of {}", self.shop.merchant_id);
        }
        answer.status == 503
    }

    fn session_is_refused(&self, shop: &Shop, payment: &Value, damage: &str) -> bool {
        let session = json!({ "payment_session_id": payment["payment_session_id"] });
        let answer = shop.sdk("retrieve-payment-session", &session);
        if answer.status != 503 {
            let session = (answer.status, &answer.body["status"], &answer.body["amount"]);
            assert_eq!(session, (200, &json!("USED"), &payment["amount"]), "{damage}: {}", answer.body);
        }
        answer.status == 503
    }

    /// True when a page is refused. The pages before it must be the same as before.
    fn list_is_refused(&self, shop: &Shop, endpoint: &str, expected: &[Value], damage: &str) -> bool {
        let mut body = json!({ "per_page": 100 });
        for page in expected.chunks(100) {
            let answer = shop.call(endpoint, &body);
            if answer.status == 503 {
                return true;
            }
            assert_eq!(answer.status, 200, "{damage}: {}", answer.body);
            assert_eq!(answer.body["page"], json!(page), "{damage}: a page of {endpoint}");
            body = answer.body["next"].clone();
        }
        assert!(body.is_null(), "{damage}: {endpoint} has more than before");
        false
    }
}

/// The archive of a data directory.
fn archive_of(data: &Path) -> PathBuf {
    data.with_file_name("archive")
}

/// The start of a server that archives every commit before it is acknowledged.
pub(super) fn archiving(start: Start, data: &Path) -> Start {
    let archive = archive_of(data);
    start
        .with("TILL_ARCHIVE_DIRECTORY", archive.to_str().expect("temporary directories are ASCII"))
        .with("TILL_ARCHIVE_BEFORE_ACKNOWLEDGED", "true")
        .with("TILL_ARCHIVE_SEGMENT_BYTES", SEGMENT_BYTES)
}

fn add_topup(server: &Server, shop: &Shop) {
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": TOPUP_MINOR })).ok();
}

/// A server with two merchants whose answers were recorded.
fn witnessed() -> (Server, [Witness; 2]) {
    witnessed_on(Server::start())
}

fn witnessed_on(server: Server) -> (Server, [Witness; 2]) {
    // Ids grow with time, so that the rows of the first merchant come first.
    let shops = [server.shop(), server.shop()];
    let [first, second] = shops;
    let witnesses = [(first, FIRST_PAYMENTS), (second, SECOND_PAYMENTS)].map(|(shop, count)| {
        let payments = pay(&server, &shop, count);
        Witness::of(shop, &payments)
    });
    (server, witnesses)
}

fn pay(server: &Server, shop: &Shop, count: usize) -> Vec<String> {
    // An external id can be used only once, also over restarts.
    let life = shop.all("list-payments").len();
    let customer = |number: usize| {
        let shop = shop.on(server);
        move || -> Vec<String> {
            let sale = |sale: usize| {
                let minor = u64::try_from(1_000 + number * 100 + sale).expect("small");
                let external_id = format!("order-{number}-{sale}-{life}");
                let more = json!({ "external_id": external_id, "customer_id": format!("c-{sale}") });
                shop.initiate(&shop.session(minor), minor, &more).id()
            };
            (0..count / CUSTOMERS).map(sale).collect()
        }
    };
    thread::scope(|scope| {
        let paying: Vec<_> = (0..CUSTOMERS).map(|number| scope.spawn(customer(number))).collect();
        paying.into_iter().flat_map(|customer| customer.join().expect("everything was paid")).collect()
    })
}

/// Copies everything except the mark of a running server, because of which the copy would start paused.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("writable");
    for entry in fs::read_dir(from).expect("readable") {
        let entry = entry.expect("it lists");
        if entry.file_name() == "running" {
            continue;
        }
        let target = to.join(entry.file_name());
        if entry.file_type().expect("it lists").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("it copies");
        }
    }
}

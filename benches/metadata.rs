//! What adding an item to a set costs a caller, by the size of the set: add-to-metadata-set over HTTP against the
//! real binary on a real disk, durable. The last line says how much dearer the large set is.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::Agent;

const ADMIN_TOKEN: &str = "admin-token-of-a-bench";
const CONNECTIONS: usize = 64;
/// Items in the sets that are compared.
const SIZES: [usize; 2] = [10, 100_000];
/// Items that each set gets in each round of the comparison, in turns; the small one is another in every round.
const ADDED_PER_ROUND: usize = 128;
/// Rounds of the comparison.
const ROUNDS: usize = 21;

/// A server of the bench's own, on a temporary directory beside the build.
struct Server {
    child: Child,
    public: String,
    admin: String,
    _directory: TempDir,
}

impl Server {
    fn start() -> Server {
        // Not the system's temporary directory, which may be in memory and would make syncs free.
        let directory = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory can be made");
        let mut child = Command::new(env!("CARGO_BIN_EXE_till"))
            .arg("serve")
            .args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--data"])
            .arg(directory.path().join("data"))
            .env("TILL_ADMIN_TOKEN", ADMIN_TOKEN)
            .env("TILL_LOG_FILTER", "error")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary can be started");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut address = |prefix: &str| -> String {
            let line = lines.next().expect("the server says where it is").expect("text");
            line.strip_prefix(prefix).expect("its address").to_owned()
        };
        let public = address("listening on ");
        let admin = address("admin listening on ");
        Server { child, public, admin, _directory: directory }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn agent() -> Agent {
    Agent::config_builder().timeout_global(Some(Duration::from_secs(60))).build().into()
}

fn post(agent: &Agent, url: &str, bearer: &str, body: &Value) -> Value {
    let request = agent.post(url).header("Content-Type", "application/json");
    let mut response =
        request.header("Authorization", format!("Bearer {bearer}")).send(body.to_string()).expect("a 200");
    let text = response.body_mut().read_to_string().expect("text");
    serde_json::from_str(&text).expect("JSON")
}

/// A merchant with a record for each size.
struct Merchant<'a> {
    server: &'a Server,
    key: String,
    /// Numbers what is added, so that no item is there already.
    next: AtomicUsize,
}

impl<'a> Merchant<'a> {
    fn create(server: &'a Server) -> Merchant<'a> {
        let admin = |endpoint: &str, body: Value| {
            post(&agent(), &format!("{}/admin/{endpoint}", server.admin), ADMIN_TOKEN, &body)
        };
        let merchant_id = admin("create-merchant", json!({ "name": "Bench", "currency": "THB" }));
        let key = admin("generate-key", json!({ "merchant_id": merchant_id, "name": "Bench" }));
        let key = key["key"].as_str().expect("a key").to_owned();
        Merchant { server, key, next: AtomicUsize::new(0) }
    }

    fn call(&self, agent: &Agent, endpoint: &str, body: &Value) -> Value {
        post(agent, &format!("{}/merchants/{endpoint}", self.server.public), &self.key, body)
    }

    /// Makes a record with a set of a size, and says its key.
    fn fill(&self, size: usize) -> String {
        let key = format!("set {} of {size}", self.next.fetch_add(1, Ordering::Relaxed));
        let items: Vec<usize> = (0..size).collect();
        self.call(&agent(), "sync-metadata", &json!({ "key": key, "metadata": { "set": items } }));
        // The array becomes a set.
        let first = json!({ "key": key, "path": "set", "value": 0 });
        assert_eq!(self.call(&agent(), "add-to-metadata-set", &first), json!(false));
        key
    }

    fn add(&self, agent: &Agent, key: &str) {
        let value = format!("item-{}", self.next.fetch_add(1, Ordering::Relaxed));
        let body = json!({ "key": key, "path": "set", "value": value });
        assert_eq!(self.call(agent, "add-to-metadata-set", &body), json!(true));
    }

    /// Adds so many items over several connections, and says how long that took.
    fn add_many(&self, key: &str, count: usize, connections: usize) -> Duration {
        let left = AtomicUsize::new(count);
        let take = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..connections {
                scope.spawn(|| {
                    let agent = agent();
                    while take() {
                        self.add(&agent, key);
                    }
                });
            }
        });
        start.elapsed()
    }

    /// How much dearer adding to the large set is: the median over rounds in which both take turns.
    #[expect(clippy::float_arithmetic, reason = "a ratio of two times")]
    fn compare(&self, connections: usize) -> f64 {
        let [small, large] = SIZES;
        let large = self.fill(large);
        let seconds = |key: &str| self.add_many(key, ADDED_PER_ROUND, connections).as_secs_f64();
        let mut ratios: Vec<f64> = (0..ROUNDS)
            .map(|_| self.fill(small))
            .map(|small| (seconds(&small), seconds(&large)))
            .map(|(small, large)| large / small)
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ROUNDS / 2]
    }
}

#[expect(clippy::print_stdout, reason = "a bench says what it found")]
fn benches(criterion: &mut Criterion) {
    let server = Server::start();
    let merchant = Merchant::create(&server);
    let mut group = criterion.benchmark_group("add to a set over HTTP");
    group.sample_size(10).throughput(Throughput::Elements(1));
    for connections in [1, CONNECTIONS] {
        for size in SIZES {
            let key = merchant.fill(size);
            group.bench_function(format!("{size} items, {connections} connections"), |bencher| {
                bencher.iter_custom(|rounds| {
                    let count = usize::try_from(rounds).expect("rounds fit") * connections;
                    merchant.add_many(&key, count, connections) / u32::try_from(connections).expect("few")
                });
            });
        }
    }
    group.finish();
    for connections in [1, CONNECTIONS] {
        let ratio = merchant.compare(connections);
        println!("{} items against {}, {connections} connections: {ratio:.2}", SIZES[1], SIZES[0]);
    }
}

criterion_group!(metadata_benches, benches);
criterion_main!(metadata_benches);

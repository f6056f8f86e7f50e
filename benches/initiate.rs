//! The cost of a payment for a caller: initiate-payment-flow over HTTP against the real binary on a real disk, durable,
//! with sessions made beforehand. One connection shows the latency, many show the throughput.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};
use ureq::Agent;

mod server;

use server::{ADMIN_TOKEN, BenchServer, agent, post, temporary};

const CONNECTIONS: usize = 64;

/// A merchant with the clients that initiations need.
struct BenchShop<'a> {
    server: &'a BenchServer,
    merchant_id: String,
    installation_id: String,
    key: String,
    token: String,
}

impl<'a> BenchShop<'a> {
    fn create(server: &'a BenchServer) -> BenchShop<'a> {
        let agent = agent();
        let admin = |endpoint: &str, body: Value| {
            post(&agent, &format!("{}/admin/{endpoint}", server.admin), ADMIN_TOKEN, &body)
        };
        let text = |value: &Value| value.as_str().expect("a string").to_owned();
        let merchant_id = text(&admin("create-merchant", json!({ "name": "Bench", "currency": "THB" })));
        let installation = json!({
            "merchant_id": merchant_id, "name": "Web", "platform": "WEB", "identifier": "https://shop.example",
        });
        let installation_id = text(&admin("add-installation", installation));
        let key = text(&admin("generate-key", json!({ "merchant_id": merchant_id, "name": "Bench" }))["key"]);
        let card = json!({
            "merchant_id": merchant_id, "installation_id": installation_id, "number": "4242424242424242",
            "name": "Ada Example", "expiration_date": "12/49", "security_code": "123", "usage": "MULTIPLE",
        });
        let token = text(&post(&agent, &format!("{}/sdk/tokenize-card", server.public), "", &card));
        BenchShop { server, merchant_id, installation_id, key, token }
    }

    fn session(&self, agent: &Agent) -> String {
        let body = json!({
            "merchant_id": self.merchant_id, "installation_id": self.installation_id, "amount": 10_000,
            "currency": "THB", "payment_method": "CARD", "token": self.token,
        });
        let url = format!("{}/sdk/select-payment-method", self.server.public);
        post(agent, &url, "", &body).as_str().expect("a session").to_owned()
    }

    fn sessions(&self, count: usize) -> Vec<String> {
        let share = count.div_ceil(CONNECTIONS);
        std::thread::scope(|scope| {
            let make = || (0..share).map(|_| self.session(&agent())).collect::<Vec<_>>();
            let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(make)).collect();
            let made = threads.into_iter().flat_map(|thread| thread.join().expect("no panic"));
            made.take(count).collect()
        })
    }

    fn initiate(&self, agent: &Agent, session: &str) {
        let body = json!({
            "payment_session_id": session, "amount": 10_000, "currency": "THB", "capture": true,
            "return_url": "https://shop.example/done",
        });
        let url = format!("{}/merchants/initiate-payment-flow", self.server.public);
        let payment = post(agent, &url, &self.key, &body);
        assert!(payment.as_str().is_some_and(|id| id.starts_with("pay_")), "{payment}");
    }

    /// Initiates with every session once, over several connections, and returns the time that it took.
    fn initiate_all(&self, sessions: &[String], connections: usize) -> Duration {
        let next = AtomicUsize::new(0);
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..connections {
                scope.spawn(|| {
                    let agent = agent();
                    while let Some(session) = sessions.get(next.fetch_add(1, Ordering::Relaxed)) {
                        self.initiate(&agent, session);
                    }
                });
            }
        });
        start.elapsed()
    }
}

fn benches(criterion: &mut Criterion) {
    let directory = temporary();
    let server = BenchServer::start_in(directory.path());
    let shop = BenchShop::create(&server);
    let mut group = criterion.benchmark_group("initiate over HTTP");
    group.sample_size(10).throughput(Throughput::Elements(1));
    for connections in [1, CONNECTIONS] {
        group.bench_function(format!("one merchant, {connections} connections"), |bencher| {
            bencher.iter_custom(|rounds| {
                let count = usize::try_from(rounds).expect("rounds fit") * connections;
                let sessions = shop.sessions(count);
                shop.initiate_all(&sessions, connections) / u32::try_from(connections).expect("few")
            });
        });
    }
    group.finish();
}

criterion_group!(initiate_benches, benches);
criterion_main!(initiate_benches);

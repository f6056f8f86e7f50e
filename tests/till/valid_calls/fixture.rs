//! A server with a merchant that has objects of every kind, and the calls that can be made of them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::endpoint::{DescribedEndpoint, object};
use super::objects::{ASKED, OBJECTS};
use crate::harness::{ApiAnswer, Client, Server, Shop, Start, empty_acquirer, temporary};

/// The packages that a server publishes.
pub(crate) const PACKAGES: [&str; 3] = ["merchants", "sdk", "admin"];

/// The server. Objects are made when a call first needs them, and again once they are used up.
pub(crate) struct Fixture {
    /// The server.
    pub(crate) server: Server,
    /// The merchant that the calls are about.
    pub(crate) shop: Shop,
    /// Every endpoint that the package documents list.
    pub(crate) endpoints: Vec<DescribedEndpoint>,
    objects: RefCell<BTreeMap<&'static str, String>>,
    /// The number of fresh names that were given out.
    fresh: Cell<u64>,
    log: PathBuf,
    _directory: TempDir,
}

impl Fixture {
    /// Starts a server with these settings, whose webhooks may be on this machine, and whose acquirer lists nothing.
    pub(crate) fn start(start: Start) -> Fixture {
        let (directory, [log]) = temporary(["log"]);
        let start = start.with("TILL_STRIPE_URL", &empty_acquirer());
        let (server, shop) =
            start.with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8").recording(&log).server_with_shop();
        let endpoints = PACKAGES.iter().flat_map(|package| endpoints(&server, package)).collect();
        let (objects, fresh) = (RefCell::default(), Cell::new(0));
        let fixture = Fixture { server, shop, endpoints, objects, fresh, log, _directory: directory };
        // An event to be found, and a balance to be paid out.
        fixture.object("@payment@");
        fixture.object("@topup@");
        fixture
    }

    /// The endpoint of a name.
    pub(crate) fn endpoint(&self, package: &str, name: &str) -> &DescribedEndpoint {
        let found = self.endpoints.iter().find(|endpoint| endpoint.package == package && endpoint.name == name);
        found.unwrap_or_else(|| panic!("{package} lists no {name}"))
    }

    /// A client of a package, with its credential.
    pub(crate) fn client(&self, package: &str) -> Client {
        match package {
            "admin" => self.server.admin_client(),
            "merchants" => self.shop.client(),
            _ => self.server.client(),
        }
    }

    /// Calls an endpoint.
    pub(crate) fn call(&self, endpoint: &DescribedEndpoint, body: &Value) -> ApiAnswer {
        self.client(&endpoint.package).post(&format!("/{}", endpoint.path()), body)
    }

    /// All required arguments of an endpoint, and those named, about objects that permit the call.
    pub(crate) fn arguments(&self, endpoint: &DescribedEndpoint, also: &[&str]) -> Value {
        let text = object(endpoint.members(also));
        for (word, ..) in OBJECTS.iter().chain(&ASKED).filter(|(word, ..)| text.contains(word)) {
            self.object(word);
        }
        serde_json::from_str(&self.fill(&text)).expect("valid values are JSON")
    }

    /// The object of a placeholder: a new one when there is none, or when it is used up.
    pub(crate) fn object(&self, word: &str) -> String {
        let mut all = OBJECTS.iter().chain(&ASKED);
        let (word, make, is_usable) = all.find(|(known, ..)| *known == word).expect("it is listed");
        let known = self.objects.borrow().get(word).cloned();
        known.filter(|id| is_usable(self, id)).unwrap_or_else(|| {
            let made = make(self);
            self.objects.borrow_mut().insert(*word, made.clone());
            made
        })
    }

    /// The objects that there are, by their placeholders.
    pub(crate) fn known_objects(&self) -> Vec<(&'static str, String)> {
        self.objects.borrow().iter().map(|(word, id)| (*word, id.clone())).collect()
    }

    /// Makes every object that there is none of, or that is used up, but those that end by themselves.
    pub(crate) fn refresh(&self) {
        for (word, ..) in &OBJECTS {
            self.object(word);
        }
    }

    /// Makes the object of a placeholder anew when it is needed next.
    pub(crate) fn forget(&self, word: &str) {
        self.objects.borrow_mut().remove(word);
    }

    /// The text with its placeholders replaced.
    pub(crate) fn fill(&self, text: &str) -> String {
        let text = if text.contains("@fresh@") { text.replace("@fresh@", &self.fresh()) } else { text.to_owned() };
        self.objects.borrow().iter().fold(text, |text, (word, id)| text.replace(word, id))
    }

    /// A number that no text had before.
    pub(super) fn fresh(&self) -> String {
        self.fresh.set(self.fresh.get() + 1);
        self.fresh.get().to_string()
    }

    /// Kills the server, and starts it again.
    pub(crate) fn restart(&mut self) {
        self.shop = self.server.restart_with(&self.shop);
    }

    /// The number of batches that the server has committed.
    pub(crate) fn commits(&self) -> u64 {
        let text = self.server.metrics();
        let line = text.lines().find_map(|line| line.strip_prefix("till_commit_batches_total{verdict=\"committed\"} "));
        line.and_then(|count| count.parse().ok()).expect("the server counts its commits")
    }

    /// Waits until nothing is committed any more; returns the number of commits by then.
    pub(crate) fn settle(&self) -> u64 {
        self.commits_after(Duration::from_millis(25))
    }

    /// The number of commits once there is none within a pause.
    pub(crate) fn commits_after(&self, pause: Duration) -> u64 {
        let mut before = self.commits();
        loop {
            thread::sleep(pause);
            let now = self.commits();
            if now == before {
                return now;
            }
            before = now;
        }
    }

    /// Checks that the server still works, has not panicked, stops without an error, and leaves intact data.
    pub(crate) fn is_sound(&mut self, vault_key: &str) {
        self.shop.pay(100);
        assert!(self.server.stop(), "it ends with exit code 0");
        let log = fs::read_to_string(&self.log).expect("the log was kept");
        assert!(!log.contains("panicked"), "{log}");
        let verified = self.server.command().arg("verify").env("TILL_VAULT_KEY", vault_key).output();
        let verified = verified.expect("the binary can be started");
        let errors = String::from_utf8_lossy(&verified.stderr).into_owned();
        assert!(verified.status.success(), "{errors}");
    }
}

fn endpoints(server: &Server, package: &str) -> Vec<DescribedEndpoint> {
    let base = if package == "admin" { server.admin_address() } else { server.public() };
    let document = Client::new(base).get(&format!("/{package}")).ok();
    let endpoints = document["endpoints"].as_array().expect("a list of endpoints");
    assert!(!endpoints.is_empty(), "{package} lists endpoints");
    endpoints.iter().map(|endpoint| DescribedEndpoint::read(package, endpoint)).collect()
}

//! The fake of Stripe, a process that a test may kill. `tests/fakes/stripe/README.md` lists what it can be asked for.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{KilledOnDrop, RawAnswer, Wire, merged};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fakes/stripe/server.py");
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const JSON: (&str, &str) = ("Content-Type", "application/json");

/// A running fake. Dropping it kills it.
pub(crate) struct StripeFake {
    process: KilledOnDrop,
    address: String,
    state: TempDir,
}

impl StripeFake {
    /// Starts a fake without accounts.
    pub(crate) fn start() -> StripeFake {
        let state = TempDir::new().expect("a temporary directory can be made");
        let (process, address) = started("127.0.0.1:0", &state);
        StripeFake { process, address, state }
    }

    /// Its base address.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Kills it with SIGKILL, and returns once it has ended.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("a child can be killed");
        self.process.wait().expect("a child can be waited for");
    }

    /// Kills it, unless it is killed already, and starts it again at the same address with what it kept.
    pub(crate) fn restart(&mut self) {
        self.kill();
        self.process = started(&self.address, &self.state).0;
    }

    /// A client that stays usable while the fake is killed and started again.
    pub(crate) fn remote(&self) -> Remote {
        Remote { wire: Wire::new(&self.url()), url: self.url() }
    }

    /// A call of the control interface, which must succeed.
    #[track_caller]
    pub(crate) fn control(&self, method: &str, path: &str, wish: &Value) -> Value {
        let answer = self.remote().send(method, &format!("/_fake/{path}"), JSON, &wish.to_string()).answer();
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.body);
        answer.body
    }

    /// Everything happens an hour ago from now on: what is younger than 15 minutes is no difference for
    /// `till reconcile`.
    pub(crate) fn be_an_hour_late(&self) {
        self.control("POST", "clock", &json!({ "offset_seconds": -3_600 }));
    }

    /// Everything of a kind.
    #[track_caller]
    pub(crate) fn all(&self, kind: &str) -> Vec<Value> {
        self.control("GET", kind, &json!({})).as_array().expect("a list").clone()
    }

    /// Plans a fault, with its options, for the next requests of a method and a path.
    pub(crate) fn plan(&self, fault: &str, call: (&str, &str), more: &Value) {
        let plan = json!({ "fault": fault, "method": call.0, "path": call.1 });
        self.control("POST", "faults/next", &merged(&plan, more));
    }

    /// Ends faults, plans and silence.
    pub(crate) fn end_faults(&self) {
        self.control("DELETE", "faults", &json!({}));
    }

    /// The number of requests of a method and an address, with `{id}` for ids, that had this fault.
    pub(crate) fn faults_of(&self, fault: &str, (method, route): (&str, &str)) -> usize {
        let requests = self.control("GET", "requests", &json!({}));
        let latest = requests["latest"].as_array().expect("a list").iter();
        latest.filter(|one| one["fault"] == fault && one["method"] == method && one["route"] == route).count()
    }
}

fn started(listen: &str, state: &TempDir) -> (KilledOnDrop, String) {
    let mut command = Command::new("python3");
    command.args([PROGRAM, "--listen", listen, "--state"]).arg(state.path()).stdout(Stdio::piped());
    let mut process = KilledOnDrop(command.spawn().expect("python3 can be started"));
    let mut line = String::new();
    BufReader::new(process.stdout.take().expect("it is piped")).read_line(&mut line).expect("it tells its address");
    let address = line.trim().strip_prefix("listening on http://").unwrap_or_else(|| panic!("it said {line:?}"));
    let address = address.to_owned();
    (process, address)
}

/// A browser at the pages of a fake, which may be down.
#[derive(Clone)]
pub(crate) struct Remote {
    wire: Wire,
    url: String,
}

impl Remote {
    /// Posts a form to a page, as a customer does. Status 0 without an answer.
    pub(crate) fn post(&self, page: &str, form: &str) -> RawAnswer {
        let path = page.strip_prefix(&self.url).unwrap_or_else(|| panic!("no page of the fake: {page}"));
        self.send("POST", path, FORM, form)
    }

    /// A call of the control interface; none without an answer, or when it is refused.
    pub(crate) fn control(&self, method: &str, path: &str, wish: &Value) -> Option<Value> {
        let answer = self.send(method, &format!("/_fake/{path}"), JSON, &wish.to_string()).answer();
        (answer.status == 200).then_some(answer.body)
    }

    /// Enters a card at the card page.
    pub(crate) fn enter_card(&self, page: &str, number: &str) -> RawAnswer {
        let form = format!("email=ada%40shop.example&number={number}&expiry=12%2F40&cvc=123&name=Ada");
        self.post(page, &form)
    }

    fn send(&self, method: &str, path: &str, kind: (&str, &str), body: &str) -> RawAnswer {
        self.wire.attempt(method, path, &[kind], body.as_bytes())
    }
}

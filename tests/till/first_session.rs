//! The session that a demo server prints, pasted into shells without a change.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{KilledOnDrop, Pair, Start, directory};

/// The end of the session's last line.
const LAST: &str = r#"find-payment "{\"payment_id\":$CONFIRMED}""#;

/// A demo server and the session that it printed. Dropping it kills the server.
struct Demo {
    _child: KilledOnDrop,
    session: String,
}

impl Demo {
    fn start(start: &Start, data: &Path) -> Demo {
        let mut command = start.command(data);
        command.args(["serve", "--demo"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary can be started");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
        let mut session = String::new();
        for line in lines.skip_while(|line| !line.starts_with("TILL=")) {
            session = session + &line + "\n";
            if line.ends_with(LAST) {
                break;
            }
        }
        Demo { _child: KilledOnDrop(child), session }
    }

    /// The output of a shell that is given the session as its input.
    #[track_caller]
    fn pasted_into(&self, shell: &str, options: &[&str]) -> String {
        let mut command = Command::new(shell);
        command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the shell can be started");
        let written = child.stdin.take().expect("it is piped").write_all(self.session.as_bytes());
        written.expect("the shell reads it");
        let output = child.wait_with_output().expect("it can be waited for");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{shell} {options:?}: {errors}\n{}", self.session);
        String::from_utf8(output.stdout).expect("it is text")
    }

    /// Pastes the session, and checks the five answers and the ways to the issuer and back that it shows.
    #[track_caller]
    fn is_a_payment_in(&self, shell: &str, options: &[&str]) {
        let shown = self.pasted_into(shell, options);
        let answers = shown.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let answers: Vec<Value> = answers.filter(Value::is_object).collect();
        assert_eq!(answers.len(), 5, "{shown}");
        assert_eq!(answers[0]["status"], "SUCCESSFUL", "{shown}");
        assert_eq!(answers[1]["page"][0]["activity_type"], "PAYMENT_CAPTURED", "{shown}");
        assert_eq!(answers[2]["page"][0]["amount"], 10_000, "{shown}");
        assert_eq!(answers[3]["currency"], "THB", "{shown}");
        let payment = &answers[4];
        assert_eq!(
            (&payment["status"], &payment["authentication"]["flow"]),
            (&json!("SUCCESSFUL"), &json!("CHALLENGE"))
        );
        assert!(shown.contains("\n\"REDIRECT\"\n"), "{shown}");
        let back =
            format!("\nhttps://shop.example/done?payment_id={}\n", payment["payment_id"].as_str().expect("an id"));
        assert!(shown.contains(&back), "{shown}");
    }
}

fn is_there(shell: &str) -> bool {
    let is_there = Command::new(shell).args(["-c", "true"]).status().is_ok();
    if !is_there {
        println!("skipped: this machine has no {shell}");
    }
    is_there
}

#[test]
fn the_printed_session_pays_when_it_is_pasted_into_a_shell() {
    let place = directory();
    let demo = Demo::start(&Start::default(), &place.path().join("data"));
    demo.pasted_into("bash", &["-n"]);
    demo.is_a_payment_in("bash", &["--norc"]);
    if is_there("zsh") {
        demo.pasted_into("zsh", &["-f", "-n"]);
        // Interactive, as when it is pasted: comments are commands then.
        demo.is_a_payment_in("zsh", &["-f", "-i", "-s"]);
    }
}

#[test]
fn under_tls_the_printed_session_trusts_the_server() {
    let (place, pair) = (directory(), Pair::new());
    let demo = Demo::start(&pair.start(), &place.path().join("data"));
    assert!(demo.session.starts_with("TILL=https://127.0.0.1:"), "{}", demo.session);
    demo.is_a_payment_in("bash", &["--norc"]);
}

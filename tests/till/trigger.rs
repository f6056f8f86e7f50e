//! `till trigger`: events caused by the public interface, for the demo merchant or another.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::harness::{Server, Shop, Start, temporary};

/// The events that can be triggered, each with the status that it then has.
const TRIGGERED: [(&str, &str); 10] = [
    ("payment_authorized", "AUTHORIZED"),
    ("payment_completed", "SUCCESSFUL"),
    ("payment_action_required", "PENDING"),
    ("payment_voided", "VOIDED"),
    ("payment_reversed", "REVERSED"),
    ("refund_completed", "SUCCESSFUL"),
    ("payment_operation_failed", "AUTHORIZED"),
    ("dispute_opened", "OPEN"),
    ("dispute_closed", "CONCEDED"),
    ("payout_completed", "SUCCESSFUL"),
];

/// Triggers an event for a merchant of a server.
fn trigger(server: &Server, shop: &Shop, event: &str) -> Output {
    let mut command = at(server);
    command.args(["trigger", event, "--key", &shop.key]);
    command.args(["--installation-id", &shop.installation_id, "--merchant-id", &shop.merchant_id]);
    command.output().expect("the binary can be started")
}

/// The binary with the address of a server.
fn at(server: &Server) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_till"));
    let address = server.public().trim_start_matches("http://");
    command.env_clear().arg("--data").arg(server.data()).args(["--listen", address]);
    command
}

#[test]
fn each_event_is_caused_and_printed_as_it_is_listed() {
    let (server, shop) = Server::with_shop();
    for (event, status) in TRIGGERED {
        let output = trigger(&server, &shop, event);
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{event}: {log}");
        let printed: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_eq!((printed["event"].as_str(), printed["status"].as_str()), (Some(event), Some(status)));
        assert!(shop.all("list-events").contains(&printed), "{printed}");
        let (call, member) = match event {
            "payout_completed" => ("send-payout", "payout_id"),
            _ => ("initiate-payment-flow", "payment_id"),
        };
        let id = printed[member].as_str().expect("an id");
        assert!(log.contains(&format!("{call}: \"{id}\"\n")), "{log}");
    }
}

#[test]
fn a_shops_own_variables_do_not_disturb_commands_that_call() {
    let (server, shop) = Server::with_shop();
    let mut command = at(&server);
    command.args(["trigger", "payment_completed", "--key", &shop.key]);
    command.args(["--installation-id", &shop.installation_id, "--merchant-id", &shop.merchant_id]);
    let output = command.env("TILL_KEY", "sk_of_the_shop").env("TILL_MERCHANT", "mer_1").output();
    let output = output.expect("the binary can be started");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let listed = at(&server).args(["merchant", "list"]).env("TILL_KEY", "sk_of_the_shop").output();
    let errors = String::from_utf8_lossy(&listed.expect("the binary can be started").stderr).into_owned();
    assert!(!errors.contains("TILL_KEY"), "{errors}");
    let verified = at(&server).arg("verify").env("TILL_KEY", "sk_of_the_shop").output().expect("it can be started");
    assert!(String::from_utf8_lossy(&verified.stderr).contains("TILL_KEY: there is no such setting"));
}

#[test]
fn the_guide_names_each_event_that_can_be_triggered() {
    let guide = include_str!("../../docs/api.md");
    let (_, rest) = guide.split_once("`list-events` has it. It takes").expect("the guide says what it takes");
    let (taken, _) = rest.split_once("calls as the demo merchant").expect("and for whom it calls");
    let mut named: Vec<&str> = taken.split('`').skip(1).step_by(2).collect();
    named.sort_unstable();
    let mut events = TRIGGERED.map(|(event, _)| event);
    events.sort_unstable();
    assert_eq!(named, events);
}

#[test]
fn impossible_events_and_missing_demo_merchants_are_explained() {
    let (server, output) = Server::with(|server| trigger(server, &server.shop(), "payment_expired"));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("for an hour"), "{output:?}");
    let output = at(&server).args(["trigger", "payment_completed"]).output().expect("the binary can be started");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("has no demo merchant"), "{output:?}");
    let alone = at(&server).args(["trigger", "payment_completed", "--merchant-id", "mer_1"]).output();
    assert_eq!(alone.expect("the binary can be started").status.code(), Some(2), "a merchant without its key");
    let unknown = at(&server).args(["trigger", "no_event"]).output().expect("the binary can be started");
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn the_demo_merchant_is_the_default() {
    let (_place, [data]) = temporary(["data"]);
    let mut demo = Start::default().command(&data);
    let mut child = demo.args(["serve", "--demo"]).stdout(Stdio::piped()).spawn().expect("it can be started");
    let output = std::io::BufReader::new(child.stdout.take().expect("it is piped"));
    let mut lines = std::io::BufRead::lines(output).map_while(Result::ok);
    let listening = lines.next().expect("it says where it listens");
    let session: Vec<String> = lines.by_ref().take_while(|line| !line.starts_with("TILL=")).collect();
    let address = listening.strip_prefix("listening on http://").expect("it says where");
    let mut command = Command::new(env!("CARGO_BIN_EXE_till"));
    command.env_clear().arg("--data").arg(&data).args(["--listen", address, "trigger", "payment_completed"]);
    let triggered = command.output().expect("the binary can be started");
    child.kill().expect("it runs");
    child.wait().expect("it can be waited for");
    assert!(session.iter().any(|line| line.contains("till webhook listen")), "{session:?}");
    let printed: Value = serde_json::from_slice(&triggered.stdout).unwrap_or_else(|_| panic!("{triggered:?}"));
    assert_eq!((&printed["event"], &printed["currency"]), (&"payment_completed".into(), &"THB".into()));
}

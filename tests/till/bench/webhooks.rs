//! Webhooks beside a load.

use serde_json::json;

use super::tester::{Ended, SHORT, Tester};
use crate::harness::Server;

#[test]
fn a_receiver_gets_every_event_of_a_run_and_none_twice() {
    let tester = Tester::new();
    let line = format!("initiate {SHORT} --webhooks --json report.json --html report.html");
    let ended = tester.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    let report = tester.json("report.json");
    let point = &report["points"][0];
    let deliveries = &point["deliveries"];
    assert!(deliveries["events"].as_u64() > Some(0), "{deliveries}");
    assert_eq!(deliveries["events"], point["follow_up"]["payments"], "each payment is completed once: {point}");
    assert_eq!((&deliveries["delivered"], &deliveries["repeated"]), (&deliveries["events"], &json!(0)));
    assert!(deliveries["all_after_micros"].is_u64() && deliveries["rate"].as_f64() > Some(0.0), "{deliveries}");
    assert_eq!(report["parameters"]["webhooks"], json!(true));
    assert_eq!(report["server"]["settings"]["TILL_WEBHOOK_ALLOWED_NETWORKS"], json!("127.0.0.0/8"));
    assert!(ended.output.contains("webhooks to a receiver"), "{ended:?}");
    for text in [&ended.output, &tester.text("report.html")] {
        assert!(text.contains("the receiver had all"), "{text}");
    }
}

#[test]
fn events_of_payments_made_beforehand_are_none_of_the_run() {
    let load = "--merchants 2 --connections 4 --duration 60s --warm-up 0s";
    let report = Tester::new().report(&format!("capture --payments 20 {load} --webhooks"));
    let deliveries = &report["points"][0]["deliveries"];
    assert_eq!((&deliveries["events"], &deliveries["delivered"]), (&json!(20), &json!(20)), "{deliveries}");
}

#[test]
fn a_server_that_may_not_deliver_here_is_refused() {
    let (server, tester) = (Server::start(), Tester::new());
    let target = format!("--target {} --admin {}", server.public(), server.admin_address());
    let mut command = tester.command(&format!("initiate {SHORT} {target} --webhooks"));
    let ended = Ended::of(command.env("TILL_ADMIN_TOKEN", "admin-token-of-a-test").output().expect("it starts"));
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.errors.contains("start the server with TILL_WEBHOOK_ALLOWED_NETWORKS=127.0.0.0/8"), "{ended:?}");
}

#[test]
fn webhooks_need_a_scenario_that_pays() {
    let ended = Tester::new().run(&format!("ping {SHORT} --webhooks"));
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.errors.contains("--webhooks: needs a scenario that pays"), "{ended:?}");
}

//! `till generate`: a data directory full of trade that is as good as one that was served.

use std::process::Output;

use serde_json::{Value, json};

use crate::harness::Server;

const MERCHANTS: usize = 3;
const PAYMENTS: usize = 120;
/// Of 0 to 59: the hot merchant has half of the payments.
const HOT: usize = 60;

fn run(server: &Server, arguments: &[&str]) -> (bool, String, String) {
    let Output { status, stdout, stderr } =
        server.command().args(arguments).output().expect("the binary can be started");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is UTF-8");
    (status.success(), text(stdout), text(stderr))
}

fn generate(server: &Server) -> String {
    let (merchants, payments) = (MERCHANTS.to_string(), PAYMENTS.to_string());
    let arguments =
        ["generate", "--merchants", &merchants, "--payments", &payments, "--hot-share", "0.5", "--team-share", "0.3"];
    let (done, output, errors) = run(server, &arguments);
    assert!(done, "{errors}");
    output
}

/// Every entry of a list, page by page.
fn whole_list(server: &Server, key: &str, endpoint: &str, filter: &Value) -> Vec<Value> {
    let (mut body, mut entries) = (filter.clone(), Vec::new());
    loop {
        let page = server.client().bearer(key).post(&format!("/merchants/{endpoint}"), &body).ok();
        entries.extend(page["page"].as_array().expect("a page").iter().cloned());
        if page["next"].is_null() {
            return entries;
        }
        body = page["next"].clone();
    }
}

#[test]
fn what_was_generated_verifies_and_is_served_and_verifies_again() {
    let mut server = Server::start();
    assert!(server.stop());
    let summary = generate(&server);
    let merchant_id = summary.split_whitespace().find(|word| word.starts_with("mer_")).expect("the hot merchant");
    let merchant_id = merchant_id.trim_end_matches(':');
    assert!(summary.contains(&format!("{merchant_id}: {HOT} payments")), "{summary}");
    let (is_clean, report, _) = run(&server, &["verify"]);
    assert!(is_clean && report.contains("no faults"), "{report}");

    server.restart();
    let merchants = server.admin("list-merchants", &json!({})).ok();
    assert_eq!(merchants["page"].as_array().map(Vec::len), Some(MERCHANTS));
    let key = server.admin("generate-key", &json!({ "merchant_id": merchant_id, "name": "test" })).ok();
    let key = key["key"].as_str().expect("a key");
    let payments = whole_list(&server, key, "list-payments", &json!({}));
    let of_status = |status: &str| payments.iter().filter(|payment| payment["status"] == status).count();
    assert_eq!((payments.len(), of_status("SUCCESSFUL"), of_status("FAILED"), of_status("VOIDED")), (HOT, 57, 2, 1));
    let captured = whole_list(&server, key, "list-activity-logs", &json!({ "activity_type": "payment_captured" }));
    let team = whole_list(&server, key, "list-activity-logs", &json!({ "object_id": merchant_id }));
    assert_eq!((captured.len(), team.len()), (57, HOT * 3 / 10));
    let entries = whole_list(&server, key, "balance-history", &json!({}));
    assert_eq!(entries.len(), 2 * 57, "each capture has a fee");

    assert!(server.stop());
    let (is_clean, report, _) = run(&server, &["verify"]);
    assert!(is_clean, "{report}");
}

#[test]
fn a_directory_that_a_server_has_open_is_not_filled() {
    let server = Server::start();
    let (done, output, errors) = run(&server, &["generate", "--payments", "1"]);
    assert!(!done && output.is_empty() && errors.contains("in use"), "{errors}");
}

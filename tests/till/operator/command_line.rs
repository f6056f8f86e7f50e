//! The operator's calls as commands of the binary, against a running server.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::harness::{Server, directory};

/// Runs a command and gives its exit code, standard output and standard error.
fn run(server: &Server, arguments: &[&str]) -> (i32, String, String) {
    let mut command = server.command();
    command.args(arguments);
    run_command(command)
}

fn run_command(mut command: Command) -> (i32, String, String) {
    let output: Output = command.output().expect("the binary can be started");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is UTF-8");
    (output.status.code().expect("it ends by itself"), text(output.stdout), text(output.stderr))
}

/// The line that a successful command prints.
#[track_caller]
fn line(server: &Server, arguments: &[&str]) -> String {
    let (code, output, errors) = run(server, arguments);
    assert_eq!((code, errors.as_str()), (0, ""), "{arguments:?}");
    output.strip_suffix('\n').expect("it ends in a line feed").to_owned()
}

/// The JSON that a successful command prints.
#[track_caller]
fn value(server: &Server, arguments: &[&str]) -> Value {
    serde_json::from_str(&line(server, arguments)).expect("it is JSON")
}

#[test]
fn every_call_of_the_operator_is_a_command() {
    let server = Server::start();
    let id = line(
        &server,
        &[
            "merchant",
            "create",
            "--name",
            "Shop & Söhne",
            "--currency",
            "THB",
            "--time-zone",
            "Asia/Bangkok",
            "--settlement-delay-seconds",
            "60",
            "--support-email",
            "help@till.example",
            "--idempotency-key",
            "once",
        ],
    );
    assert!(id.starts_with("mer_"), "a bare id: {id}");
    let merchant = value(&server, &["merchant", "find", "--merchant-id", &id]);
    assert_eq!(merchant, server.admin("find-merchant", &json!({ "merchant_id": id })).ok());
    assert_eq!((&merchant["name"], &merchant["settlement_delay_seconds"]), (&json!("Shop & Söhne"), &json!(60)));
    let page = value(&server, &["merchant", "list", "--per-page", "1"]);
    assert_eq!(page["page"][0], merchant);
    assert_eq!(line(&server, &["merchant", "suspend", "--merchant-id", &id]), "true");
    assert_eq!(line(&server, &["merchant", "suspend", "--merchant-id", &id]), "false");
    assert_eq!(line(&server, &["merchant", "resume", "--merchant-id", &id]), "true");
    assert_eq!(line(&server, &["balance", "open", "--merchant-id", &id]), "true");
    let topup = line(&server, &["topup", "add", "--merchant-id", &id, "--amount", "2500", "--external-id", "t-1"]);
    assert!(topup.starts_with("tup_"));
    let method = [
        "payment-method",
        "configure",
        "--merchant-id",
        &id,
        "--payment-method",
        "CARD",
        "--acquirer",
        "sandbox",
        "--enabled",
        "false",
        "--authorizes-without-capture",
        "true",
        "--fee-basis-points",
        "10",
        "--fee-fixed",
        "3",
    ];
    assert_eq!(line(&server, &method), "true");
    let configured = value(&server, &["merchant", "find", "--merchant-id", &id])["payment_methods"][0].clone();
    assert_eq!((&configured["enabled"], &configured["fee_fixed"]), (&json!(false), &json!(3)));
    let installation = [
        "installation",
        "add",
        "--merchant-id",
        &id,
        "--name",
        "Web",
        "--platform",
        "WEB",
        "--identifier",
        "https://shop.example",
    ];
    let installation = line(&server, &installation);
    assert!(installation.starts_with("ins_"));
    let named = ["--merchant-id", id.as_str(), "--installation-id", installation.as_str()];
    let update = [&["installation", "update", "--identifier", "https://new.example"][..], &named].concat();
    assert_eq!(line(&server, &update), "true");
    let page = value(&server, &["installation", "list", "--merchant-id", &id, "--per-page", "5"]);
    assert_eq!(page["page"][0]["identifier"], "https://new.example");
    assert_eq!(line(&server, &[&["installation", "remove"][..], &named].concat()), "true");
    let page = value(&server, &["installation", "list", "--merchant-id", &id]);
    assert_eq!(page["page"], json!([]));
}

#[test]
fn a_key_is_generated_used_and_revoked_by_commands() {
    let (server, id) = Server::with(|server| line(server, &["merchant", "create", "--name", "A", "--currency", "THB"]));
    let generate = ["key", "generate", "--merchant-id", &id, "--name", "Server", "--idempotency-key", "once"];
    let key = value(&server, &generate);
    assert_eq!(value(&server, &generate), key, "asked again under its key");
    let client = server.client().bearer(key["key"].as_str().expect("a key"));
    client.post("/merchants/list-activity-logs", &json!({})).ok();
    let revoke = ["key", "revoke", "--merchant-id", &id, "--key-id", key["key_id"].as_str().expect("a uid")];
    assert_eq!(line(&server, &revoke), "true");
    client.post("/merchants/list-activity-logs", &json!({})).refused("UNAUTHORIZED");
    assert_eq!(line(&server, &revoke), "false");
}

#[test]
fn a_refused_command_exits_with_1_and_the_reason() {
    let server = Server::start();
    let unknown_merchant = "mer_01h455vb4pex5vsknk084sn02q";
    let (code, output, errors) = run(&server, &["merchant", "find", "--merchant-id", unknown_merchant]);
    assert_eq!((code, output.as_str()), (1, ""));
    assert!(errors.starts_with("till: NOT_FOUND: There is no merchant with this merchant_id."), "{errors}");
    let (code, output, errors) = run(&server, &["merchant", "create", "--name", "A", "--currency", "baht"]);
    assert_eq!((code, output.as_str()), (1, ""));
    assert!(errors.starts_with("till: INVALID_ARGUMENTS: currency: "), "{errors}");
    let id = line(&server, &["merchant", "create", "--name", "A", "--currency", "THB"]);
    let topup = ["topup", "add", "--merchant-id", &id, "--amount", "1", "--external-id", "t"];
    let first = line(&server, &topup);
    let (code, _, errors) = run(&server, &topup);
    assert!(code == 1 && errors.starts_with("till: CONFLICT: ") && errors.contains(&first), "{errors}");
}

#[test]
fn an_invalid_command_line_exits_with_2() {
    let server = Server::start();
    for arguments in [
        &["merchant", "create", "--name", "A"][..],
        &["merchant", "remove"],
        &["payment-method", "configure", "--enabled", "maybe"],
        &["nonsense"],
        &["merchant", "find", "--merchant"],
        &[],
    ] {
        let (code, output, errors) = run(&server, arguments);
        assert_eq!((code, output.as_str()), (2, ""), "{arguments:?}");
        assert!(errors.contains("Usage") || errors.contains("--help"), "{errors}");
    }
}

#[test]
fn a_wrong_token_and_a_missing_server_are_named() {
    let mut server = Server::start();
    let list = ["merchant", "list"];
    let wrong = server.command().args(list).env("TILL_ADMIN_TOKEN", "wrong-token").output().expect("it starts");
    let errors = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(errors.starts_with("till: UNAUTHORIZED: ") && !errors.contains("wrong-token"), "{errors}");
    let none = server.command().args(list).env_remove("TILL_ADMIN_TOKEN").output().expect("it starts");
    let errors = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(none.status.code() == Some(1) && errors.contains("TILL_ADMIN_TOKEN"), "{errors}");
    assert!(server.stop());
    let (code, output, errors) = run(&server, &list);
    assert_eq!((code, output.as_str()), (1, ""));
    assert!(errors.starts_with("till: failed to call the server at 127.0.0.1:"), "{errors}");
}

#[test]
fn a_command_to_the_public_listener_names_the_admin_one() {
    let server = Server::start();
    let public = server.public().trim_start_matches("http://").to_owned();
    let mut command = Command::new(env!("CARGO_BIN_EXE_till"));
    command.env_clear().env("TILL_ADMIN_TOKEN", "admin-token-of-a-test");
    command.args(["merchant", "list", "--admin-listen", &public]);
    let (code, output, errors) = run_command(command);
    assert_eq!((code, output.as_str()), (1, ""));
    for part in [public.as_str(), "public listener", "--admin-listen", "TILL_ADMIN_LISTEN"] {
        assert!(errors.contains(part), "{part} is not in {errors}");
    }
}

#[test]
fn an_unknown_checkpoint_is_named_before_a_key_is_needed() {
    let directory = directory();
    let none = directory.path().join("nowhere").display().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_till"));
    command.env_clear().current_dir(directory.path()).args(["checkpoint", "verify", &none]);
    let (code, _, errors) = run_command(command);
    assert!(code == 1 && errors.contains(&format!("{none} is not a checkpoint")), "{errors}");
    assert!(!errors.contains("key"), "{errors}");
}

#[test]
fn exit_codes_are_the_same_when_standard_error_takes_nothing() {
    let directory = directory();
    let none = directory.path().join("none").display().to_string();
    let file = directory.path().join("file").display().to_string();
    std::fs::write(&file, "").expect("a file can be written");
    for (arguments, code) in [
        (&["verify", "--data", &none][..], 2),
        (&["export", "--to", &none, "--data", &none], 1),
        (&["checkpoint", "list", "--data", &none], 0),
        (&["checkpoint", "verify", &none, "--data", &none], 1),
        (&["restore", "--from", &none, "--to", &none], 1),
        (&["serve", "--data", &file], 1),
        (&["no-such-command"], 2),
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let mut command = Command::new(env!("CARGO_BIN_EXE_till"));
        let status = command.env_clear().env("TILL_VAULT_KEY", "00".repeat(32)).args(arguments).stderr(full).status();
        assert_eq!(status.expect("the binary can be started").code(), Some(code), "{arguments:?}");
    }
}

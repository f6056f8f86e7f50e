//! The whole guide pasted into a shell, beside a server that is started as `make run` starts it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::guide::Guide;
use crate::harness::{Client, Server, Start, directory};

/// The lines of the guide with the addresses of the server.
const PUBLIC: &str = "TILL=http://127.0.0.1:8080\n";
const ADMIN: &str = "ADMIN=http://127.0.0.1:9090\n";

/// Starts a server in `./data` of a directory, with the secrets that it makes there at the first start.
pub(super) fn start(place: &Path) -> Server {
    let start = Start::default().with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8");
    start.without("TILL_ADMIN_TOKEN").without("TILL_VAULT_KEY").server_in(&place.join("data"))
}

/// The commands of a guide with the addresses of a server in them.
pub(super) fn at_server(commands: &str, server: &Server) -> String {
    assert!(commands.contains(PUBLIC) && commands.contains(ADMIN), "the guide says where the server is");
    let commands = commands.replace(PUBLIC, &format!("TILL={}\n", server.public()));
    commands.replace(ADMIN, &format!("ADMIN={}\n", server.admin_address()))
}

/// Pastes the guide into bash, and returns the variables that it sets: the merchant's key and an API key.
fn paste(place: &Path, server: &Server) -> (String, String) {
    let script = at_server(&Guide::commands(), server) + "\nprintf '%s %s' \"$MERCHANT\" \"$KEY\" > variables\n";
    fs::write(place.join("guide.sh"), script).expect("a file can be written");
    let output = Command::new("bash").arg("guide.sh").current_dir(place).output().expect("bash can be started");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && printed.is_empty(), "{printed}");
    let variables = fs::read_to_string(place.join("variables")).expect("the guide was pasted to its end");
    let (merchant, key) = variables.split_once(' ').expect("both");
    (merchant.to_owned(), key.to_owned())
}

#[test]
fn a_store_of_the_guide_starts_again_and_serves() {
    let place = directory();
    let mut server = start(place.path());
    paste(place.path(), &server);
    let (merchant, key) = paste(place.path(), &server);
    assert!(server.stop());
    let server = start(place.path());
    let page = Client::new(server.public()).bearer(&key).post("/merchants/list-payments", &json!({})).ok();
    assert!(page["page"].as_array().is_some_and(|page| !page.is_empty()), "{page}");
    let token = fs::read_to_string(place.path().join("data/secrets/admin-token")).expect("it is there");
    let admin = Client::new(server.admin_address()).bearer(token.trim());
    admin.post("/admin/add-topup", &json!({ "merchant_id": merchant, "amount": 1 })).ok();
}

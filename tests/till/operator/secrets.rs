//! The two secrets of a server: made at the first start, readable by the owner only, and required at later starts.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::harness::{Client, KilledOnDrop, Server, Start, limited, temporary};

/// A server without configured secrets.
struct Unarmed {
    child: KilledOnDrop,
    admin: String,
    log: PathBuf,
}

impl Unarmed {
    fn command(data: &Path) -> Command {
        let mut command = Start::default().command(data);
        command.env_remove("TILL_ADMIN_TOKEN").env_remove("TILL_VAULT_KEY");
        command
    }

    fn start(data: &Path) -> Unarmed {
        let log = data.with_extension("log");
        let errors = fs::File::create(&log).expect("a log can be kept");
        let mut command = Unarmed::command(data);
        let mut child = command.arg("serve").stdout(Stdio::piped()).stderr(errors).spawn().expect("it can be started");
        let lines = BufReader::new(child.stdout.take().expect("its output is piped")).lines();
        let admin =
            lines.map_while(Result::ok).find_map(|line| line.strip_prefix("admin listening on ").map(str::to_owned));
        Unarmed { child: KilledOnDrop(child), admin: admin.expect("it says where it listens"), log }
    }

    fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill can be started").success());
        assert!(self.child.wait().expect("it can be waited for").success(), "exit code 0");
        fs::read_to_string(&self.log).expect("the log was kept")
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode() & 0o777
}

#[test]
fn the_first_start_makes_secrets_readable_by_the_owner_only() {
    let (_directory, [data]) = temporary(["data"]);
    let server = Unarmed::start(&data);
    let files = [data.join("secrets/admin-token"), data.join("secrets/vault-key")];
    assert_eq!(mode(&data.join("secrets")), 0o700);
    let secrets: Vec<String> = files.iter().map(|file| fs::read_to_string(file).expect("it is there")).collect();
    for (file, secret) in files.iter().zip(&secrets) {
        assert_eq!(mode(file), 0o600, "{}", file.display());
        assert!(secret.trim().len() == 64 && secret.trim().bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
    assert_ne!(secrets[0], secrets[1]);
    let client = Client::new(&server.admin).bearer(secrets[0].trim());
    let merchant = client.post("/admin/create-merchant", &json!({ "name": "A", "currency": "THB" })).id();
    let address = server.admin.trim_start_matches("http://").to_owned();
    let mut command = Command::new(env!("CARGO_BIN_EXE_till"));
    command.env_clear().args(["merchant", "list", "--admin-listen", &address, "--data"]).arg(&data);
    let listed = command.output().expect("the binary can be started");
    assert!(String::from_utf8_lossy(&listed.stdout).contains(&merchant), "the command finds the token itself");
    let log = server.stop();
    for (file, secret) in files.iter().zip(&secrets) {
        assert!(log.contains(&file.display().to_string()), "{log}");
        assert!(!log.contains(secret.trim()));
    }
    let again = Unarmed::start(&data);
    let client = Client::new(&again.admin).bearer(secrets[0].trim());
    client.post("/admin/find-merchant", &json!({ "merchant_id": merchant })).ok();
    assert!(!again.stop().contains("a secret was generated"));
    assert_eq!(fs::read_to_string(&files[1]).expect("it is there"), secrets[1], "nothing was made anew");
}

#[test]
fn a_first_start_on_a_full_disk_leaves_no_broken_secrets() {
    let (_directory, [data]) = temporary(["data"]);
    let mut command = Unarmed::command(&data);
    command.arg("serve");
    // The first limits are those of a full disk, the second ones kill the process there.
    for limits in ["trap '' XFSZ; ulimit -f 0", "ulimit -f 0"] {
        let refused = limited(&command, limits).output().expect("the shell can be started");
        assert!(!refused.status.success(), "{limits}");
        assert!(!data.join("secrets/vault-key").exists(), "{limits}: {refused:?}");
    }
    Unarmed::start(&data).stop();
    let kept = fs::read_dir(data.join("secrets")).expect("it can be read").count();
    assert_eq!(kept, 2, "nothing is left beside them");
}

#[test]
fn data_without_its_vault_key_is_not_opened() {
    let (directory, [data]) = temporary(["data"]);
    Unarmed::start(&data).stop();
    let key = data.join("secrets/vault-key");
    fs::rename(&key, directory.path().join("away")).expect("it can be moved");
    let refused = Unarmed::command(&data).arg("serve").output().expect("it can be started");
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{errors}");
    assert!(errors.contains("TILL_VAULT_KEY") && errors.contains(&key.display().to_string()), "{errors}");
    assert!(!key.exists());
    fs::rename(directory.path().join("away"), &key).expect("it can be moved back");
    Unarmed::start(&data).stop();
}

#[test]
fn a_wrong_secret_is_refused_without_being_shown() {
    let mut server = Server::start();
    assert!(server.stop());
    let other = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
    for (variable, value) in [
        ("TILL_VAULT_KEY", other),
        ("TILL_VAULT_KEY", "distinctive-and-too-short"),
        ("TILL_VAULT_KEY", "zz112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"),
        ("TILL_ADMIN_TOKEN", "distinctive token with spaces"),
    ] {
        let refused = server.command().arg("serve").env(variable, value).output().expect("it can be started");
        let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{errors}");
        assert!(!errors.contains(value) && !errors.contains("distinctive"), "{errors}");
        assert!(errors.to_lowercase().contains("key") || errors.contains(variable), "{errors}");
    }
    server.restart();
    server.admin("list-merchants", &json!({})).ok();
}

#[test]
fn secrets_come_from_files_that_the_configuration_names() {
    let (directory, [data]) = temporary(["data"]);
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).expect("a file can be written");
        path
    };
    let token = write("token", "from-a-file\n");
    let key = write("key", "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n");
    let file = write(
        "till.toml",
        &format!("admin_token_file = '{}'\nvault_key_file = '{}'\n", token.display(), key.display()),
    );
    let mut command = Unarmed::command(&data);
    command.arg("--config").arg(&file).arg("serve").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it can be started");
    let mut lines = BufReader::new(child.stdout.take().expect("its output is piped")).lines();
    let admin = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("admin listening on ").map(str::to_owned));
    let answer = Client::new(&admin.expect("it says where it listens"))
        .bearer("from-a-file")
        .post("/admin/list-merchants", &json!({}));
    let made = data.join("secrets").exists();
    child.kill().expect("a child can be killed");
    child.wait().expect("it can be waited for");
    answer.ok();
    assert!(!made, "nothing is made when both are given");
    let mut rest = String::new();
    assert!(fs::File::open(&token).expect("it is there").read_to_string(&mut rest).is_ok() && rest == "from-a-file\n");
}

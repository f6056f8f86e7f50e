//! Settings: their sources, and the messages about invalid ones.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::harness::{directory, run_command};

/// A command line with only the environment that a test gives.
struct Bare {
    directory: TempDir,
}

impl Bare {
    fn new() -> Bare {
        Bare { directory: directory() }
    }

    fn file(&self, text: &str) -> String {
        let path = self.directory.path().join("till.toml");
        fs::write(&path, text).expect("a file can be written");
        path.display().to_string()
    }

    /// Prints the configuration: exit code, standard output, standard error.
    fn print(&self, variables: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_till"));
        command.env_clear().current_dir(self.directory.path()).arg("configuration").envs(variables.iter().copied());
        run_command(command, arguments)
    }
}

fn has_line(output: &str, line: &str) {
    assert!(output.lines().any(|printed| printed == line), "{line} is not in\n{output}");
}

#[test]
fn flag_environment_file_and_default_apply_in_this_order() {
    let bare = Bare::new();
    let file =
        bare.file("data = '/file'\nlisten = '127.0.0.1:1001'\nadmin_listen = '127.0.0.1:1002'\nhttp_threads = 3\n");
    let variables = [("TILL_DATA", "/environment"), ("TILL_LISTEN", "127.0.0.1:2001")];
    let (code, output, errors) = bare.print(&variables, &["--config", &file, "--data", "/flag"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    has_line(&output, "data = \"/flag\" # command line");
    has_line(&output, "listen = \"127.0.0.1:2001\" # environment");
    has_line(&output, "admin_listen = \"127.0.0.1:1002\" # file");
    has_line(&output, "http_threads = \"3\" # file");
    has_line(&output, "connections_max = \"8192\" # default");
    let (_, output, _) = bare.print(&[("TILL_CONFIG", &file)], &[]);
    has_line(&output, "data = \"/file\" # file");
}

#[test]
fn without_anything_the_defaults_count() {
    let (code, output, errors) = Bare::new().print(&[], &[]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    has_line(&output, "data = \"./data\" # default");
    has_line(&output, "listen = \"127.0.0.1:8080\" # default");
    has_line(&output, "admin_listen = \"127.0.0.1:9090\" # default");
}

#[test]
fn all_faults_of_a_configuration_are_named_at_once() {
    let bare = Bare::new();
    let file = bare.file("lissten = 'x'\nconnections_max = 0\nhttp_threads = [1]\nmade_up = 1\n");
    let variables = [
        ("TILL_ADMIN_LISTEN", "nowhere"),
        ("TILL_LOG_FORMAT", "xml"),
        ("TILL_DISK_RESERVE_BYTES", ""),
        ("TILL_PUBLIC_URL", "ftp://a"),
    ];
    let (code, output, errors) = bare.print(&variables, &["--config", &file, "--listen", "here"]);
    assert_eq!((code, output.as_str()), (Some(1), ""));
    assert!(errors.starts_with("till: the configuration is not usable:\n"), "{errors}");
    for fault in [
        "lissten: there is no such setting; did you mean listen?",
        "connections_max: ",
        "http_threads: must be ",
        "made_up: there is no such setting",
        "TILL_ADMIN_LISTEN: ",
        "TILL_LOG_FORMAT: must be json or text",
        "TILL_DISK_RESERVE_BYTES: is empty",
        "TILL_PUBLIC_URL: ",
        "--listen: ",
    ] {
        assert!(errors.contains(fault), "{fault} is not in\n{errors}");
    }
}

#[test]
fn a_mistake_says_what_was_given_and_what_is_right() {
    let bare = Bare::new();
    for (text, parts) in [
        ("disk_reserve_bytes = '1GiB'", &["whole number of bytes, 0 or more", "it is \"1GiB\""][..]),
        ("checkpoint_every_seconds = -5", &["whole number of seconds, 1 or more", "it is \"-5\""]),
        ("checkpoint_every_seconds = '1h'", &["whole number of seconds, 1 or more", "it is \"1h\""]),
        ("idle_seconds_max = 0", &["whole number of seconds, 1 to 4294967295", "it is \"0\""]),
        ("listen = '127.0.0.1:99999'", &["a port from 0 to 65535", "127.0.0.1:99999"]),
        ("listen = 'localhost'", &["must be HOST:PORT, such as 127.0.0.1:8080", "it is \"localhost\""]),
        ("listen = 'no-such-host.invalid:1'", &["the host \"no-such-host.invalid\" cannot be found"]),
        ("admin_token = 'x'", &["a secret is not written into this file", "admin_token_file", "TILL_ADMIN_TOKEN"]),
        ("vault_key = 'x'", &["a secret is not written into this file", "vault_key_file", "TILL_VAULT_KEY"]),
        ("[server]\nlisten = '127.0.0.1:1'", &["[server]: the file has no sections"]),
        ("proxy_networks = ['10.0.0.0/8']", &["is a list: write its parts into one string, with commas"]),
        ("log_filter = 'a=b=c'", &["\"a=b=c\" is not a filter", "write error, warn, info, debug or trace"]),
        ("data = '/a'\ndata = '/b'", &["line 2, data", "each setting is written once"]),
    ] {
        let (code, _, errors) = bare.print(&[], &["--config", &bare.file(text)]);
        assert_eq!((code, errors.lines().count()), (Some(1), 2), "one fault for {text}: {errors}");
        for part in parts {
            assert!(errors.contains(part), "{part} is not in {errors}");
        }
    }
    let text = "proxy_networks = '10.0.0.1/8'\nforwarded_header = 'X-Forwarded-For'";
    let (_, _, errors) = bare.print(&[], &["--config", &bare.file(text)]);
    assert_eq!(errors.lines().count(), 2, "the header is no fault of its own: {errors}");
}

#[test]
fn invalid_files_and_equal_listener_addresses_are_refused() {
    let bare = Bare::new();
    let (code, _, errors) = bare.print(&[], &["--config", "/does/not/exist.toml"]);
    assert!(code == Some(1) && errors.contains("/does/not/exist.toml: cannot be read"), "{errors}");
    for (text, place) in [
        ("data = '/d'\n\nlisten = 127.0.0.1:8080\n", "line 3, listen"),
        ("listen = \n", "line 1, listen"),
        ("data = '/d'\nlisten", "line 2"),
    ] {
        let file = bare.file(text);
        let (code, _, errors) = bare.print(&[], &["--config", &file]);
        let expected = format!("{file}, {place}: is not TOML (");
        assert!(code == Some(1) && errors.contains(&expected), "{expected} is not in {errors}");
        assert!(errors.contains("text in quotes"), "{errors}");
    }
    let file = bare.file("# ä\nvault_key = 0f1e2d3c4b5a\n");
    let (_, _, errors) = bare.print(&[], &["--config", &file]);
    assert!(errors.contains("line 2: is not TOML") && !errors.contains("0f1e2d"), "no value is shown: {errors}");
    let (code, _, errors) = bare.print(&[], &["--listen", "127.0.0.1:9090"]);
    assert!(code == Some(1) && errors.contains("admin_listen: must not be the address of listen"), "{errors}");
    let (code, _, errors) = bare.print(&[], &["--listn", "127.0.0.1:9090"]);
    assert!(code == Some(2) && errors.contains("--listen"), "{errors}");
}

#[test]
fn a_printed_configuration_shows_no_secret() {
    let bare = Bare::new();
    let key = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";
    let variables = [("TILL_ADMIN_TOKEN", "distinctive-admin-token"), ("TILL_VAULT_KEY", key)];
    let (code, output, errors) = bare.print(&variables, &[]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(!output.contains("distinctive") && !output.contains(&key[..8]), "{output}");
    has_line(&output, "# TILL_ADMIN_TOKEN is given by the environment");
    let file = bare.file("admin_token = 'distinctive-admin-token'\nvault_key = '0f1e2d3c'\n");
    let (code, output, errors) = bare.print(&[], &["--config", &file]);
    assert_eq!((code, output.as_str()), (Some(1), ""), "a secret does not belong in the file");
    assert!(!errors.contains("distinctive") && !errors.contains("0f1e2d3c"), "{errors}");
}

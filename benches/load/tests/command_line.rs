//! The load tester without a server beside it.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

#[test]
fn a_missing_server_program_is_a_clear_error() {
    let directory = TempDir::new().expect("a temporary directory can be made");
    let program = directory.path().join("till-bench");
    fs::copy(env!("CARGO_BIN_EXE_till-bench"), &program).expect("the program can be copied");
    let errors = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TILL_")) {
            command.env_remove(name);
        }
        let ended = command.arg("ping").args(arguments).output().expect("the program can be started");
        assert_eq!(ended.status.code(), Some(1), "{ended:?}");
        String::from_utf8(ended.stderr).expect("it is UTF-8")
    };
    let beside = directory.path().join("till").display().to_string();
    let missing = errors(&[]);
    for part in [beside.as_str(), "--till", "--target"] {
        assert!(missing.contains(part), "{missing}");
    }
    let named = errors(&["--till", "/nonexistent/till"]);
    assert!(named.contains("failed to start a server: /nonexistent/till"), "{named}");
}

//! The load tester without a server beside it.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

#[test]
fn a_missing_server_program_is_a_clear_error() {
    let directory = TempDir::new().expect("a temporary directory can be made");
    let program = directory.path().join("till-bench");
    fs::copy(env!("CARGO_BIN_EXE_till-bench"), &program).expect("the program can be copied");
    let mut command = Command::new(&program);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TILL_")) {
        command.env_remove(name);
    }
    let ended = command.arg("ping").output().expect("the program can be started");
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let missing = String::from_utf8(ended.stderr).expect("it is UTF-8");
    for part in [directory.path().join("till").display().to_string().as_str(), "--target"] {
        assert!(missing.contains(part), "{missing}");
    }
}

//! The log in PostgreSQL: `till serve --journal` and `till journal`.
//!
//! Each test has a database server of its own. `make test JOURNAL=postgres` runs the rest of the suite over one.

#[path = "../../../storage/shared/tests/journal/postgres.rs"]
pub(crate) mod postgres;
#[path = "../../../storage/shared/tests/journal/proxy.rs"]
pub(crate) mod proxy;

mod begin;
mod loss;
mod moving;

use std::path::Path;
use std::process::Command;

use postgres::Postgres;

use crate::harness::{Server, Start, run_command};

/// The settings of a server over a database without a standby.
pub(crate) fn over(port: u16) -> Start {
    let address = format!("postgres://till@127.0.0.1:{port}/till");
    Start::default().with("TILL_JOURNAL", &address).with("TILL_JOURNAL_UNREPLICATED", "true")
}

/// A database with an empty log, and the settings of a server over it.
pub(crate) fn database() -> (Postgres, Start) {
    let postgres = Postgres::start();
    let start = over(postgres.port());
    succeeds(start.command(Path::new("unused")), &["journal", "migrate"]);
    (postgres, start)
}

/// The standard output of a command that succeeds.
#[track_caller]
pub(crate) fn succeeds(command: Command, arguments: &[&str]) -> String {
    let (code, output, errors) = run_command(command, arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {output}{errors}");
    output
}

/// The standard error of a command that fails.
#[track_caller]
fn fails(command: Command, arguments: &[&str]) -> String {
    let (code, output, errors) = run_command(command, arguments);
    assert_eq!(code, Some(1), "{arguments:?}: {output}{errors}");
    errors
}

/// Kills a server, removes its data directory, and starts it again.
fn begin_anew(server: &mut Server) {
    server.kill();
    std::fs::remove_dir_all(server.data()).expect("it can be removed");
    server.restart();
}

//! The commands of the program `till`.

mod accounts;
mod admin_client;
mod archive;
mod arguments;
mod checkpoint;
mod exit_code;
mod export;
mod finding;
mod help;
mod inspect;
mod journal;
mod listening;
mod manual;
mod operate;
mod progress;
mod repair;
mod restore;
mod rotate;
mod run;
mod screen;
mod serve;
mod status;
mod trigger;
mod verify;
mod webhook;

pub use arguments::{Arguments, Settings};
pub use exit_code::ExitCode;
pub use run::{parse, run};

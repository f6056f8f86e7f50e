//! Tells the program of which revision and with which profile it is built. An everyday build has no revision: it would
//! have to be compiled again after each commit.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=TILL_REVISION");
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let (profile, checked_out) = if is_release { ("release", revision_of_checkout()) } else { ("dev", None) };
    let build = match env::var("TILL_REVISION").ok().or(checked_out) {
        Some(revision) => format!("{profile}, {revision}"),
        None => profile.to_owned(),
    };
    // `cargo run` gives it to the program, too, which refuses variables that begin with TILL_ and are no settings.
    println!("cargo::rustc-env=BUILD_OF_TILL={build}");
}

/// The revision that is checked out; none where the sources are in no repository.
fn revision_of_checkout() -> Option<String> {
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?; // Each commit and each checkout adds a line.
    println!("cargo::rerun-if-changed={log}");
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

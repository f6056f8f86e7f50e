//! `till restore`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use till_storage::checkpoint::{Restoring, read_manifest};

use super::checkpoint::{Teller, check_all_files, vault_key};
use super::verify::{SCRATCH_DIRECTORY, Subject, print};
use crate::configuration::Configuration;

/// From where to where.
#[derive(Debug, Args)]
pub struct RestoreArguments {
    /// The checkpoint's directory
    #[arg(long, value_name = "CHECKPOINT")]
    pub from: PathBuf,
    /// The data directory to make: missing or empty
    #[arg(long, value_name = "DIR")]
    pub to: PathBuf,
}

/// Makes a data directory of a checkpoint. Everything that can be refused is refused before anything is made, and the
/// directory is fit for a server only once all of it was verified.
pub(super) fn restore(configuration: &Configuration, arguments: &RestoreArguments) -> anyhow::Result<ExitCode> {
    let RestoreArguments { from, to } = arguments;
    let manifest = read_manifest(from)?;
    Restoring::check_target(to)?;
    let root = vault_key(configuration)?;
    check_all_files(from, &manifest)?;
    let subject = |directory, scratch| Subject {
        directory,
        scratch,
        open_time_max: configuration.open_time_max,
        checkpoint: Some(from.as_path()),
    };
    subject(from, PathBuf::new()).check_key(&root).context("failed to open the checkpoint")?;
    let mut teller = Teller::new("copied");
    let restoring = Restoring::copy(from, &manifest, to, &mut |progress| {
        teller.tell(progress.bytes, progress.bytes_total);
    })?;
    eprintln!("copied; now the copy is verified");
    let report = subject(to, to.join(SCRATCH_DIRECTORY)).verify(&root).with_context(|| unfit(to))?;
    let code = print(&report);
    if report.is_clean() {
        restoring.finish()?;
        eprintln!("{}", fit(to));
    } else {
        eprintln!("till: {}", unfit(to));
    }
    Ok(code)
}

fn unfit(to: &Path) -> String {
    format!("{} was copied and is not fit to be used: no server starts on it", to.display())
}

fn fit(to: &Path) -> String {
    format!(
        "{} is restored. Secrets are not part of a checkpoint: start with the same TILL_VAULT_KEY (or vault_key_file); \
         without TILL_ADMIN_TOKEN the first start makes an admin token of its own. The server starts with effects and \
         timers paused, until `till resume`.",
        to.display()
    )
}

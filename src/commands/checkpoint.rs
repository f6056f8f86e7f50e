//! `till checkpoint create|list|verify|prune`

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Subcommand;
use jiff::Timestamp;
use serde_json::json;
use till_operate::checkpoint::{
    CheckpointStatus, KeptCheckpoint, Manifest, Reading, Shelf, check_files, read_manifest,
};
use till_storage::vault::RootKey;

use super::admin_client::AdminClient;
use super::exit_code::ExitCode;
use super::progress::{self, ProgressDisplay, Unit};
use super::verify::{SCRATCH_DIRECTORY, VerificationTarget, print};
use crate::configuration::{Configuration, Secrets};
/// The timeout of taking a checkpoint: it may have to read all the data.
const TAKING_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Commands on checkpoints.
#[derive(Debug, Subcommand)]
pub(super) enum CheckpointCommand {
    /// Makes the running server take one, and prints it
    Create {
        /// Its name: 1 to 64 of a-z, 0-9 and - [default: the time]
        #[arg(long)]
        name: Option<String>,
    },
    /// Lists the checkpoints that are kept, the oldest first
    List,
    /// Checks a checkpoint: every file, and then its logs as `till verify` does
    Verify {
        /// Its directory
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Removes the oldest checkpoints, and those that were not finished. The newest one without known damage stays in
    /// any case
    Prune {
        /// The number of checkpoints to keep
        #[arg(long, value_name = "N")]
        keep: usize,
        /// Must be given with `--keep 0`
        #[arg(long)]
        yes: bool,
    },
}

/// Carries the command out.
pub(super) fn checkpoint(configuration: &Configuration, command: &CheckpointCommand) -> anyhow::Result<ExitCode> {
    let shelf = Shelf::in_directory(&configuration.checkpoints.directory).of(&configuration.data);
    match command {
        CheckpointCommand::Create { name } => Ok(progress::print(&create(configuration, name.as_deref())?)),
        CheckpointCommand::List => Ok(progress::print(&list(&shelf)?.join("\n"))),
        CheckpointCommand::Verify { directory } => verify(configuration, directory),
        CheckpointCommand::Prune { keep: 0, yes: false } => {
            bail!("--keep 0 removes all checkpoints but the newest one without known damage: add --yes")
        }
        CheckpointCommand::Prune { keep, yes: _ } => Ok(progress::print(&prune(&shelf, *keep)?.join("\n"))),
    }
}

fn create(configuration: &Configuration, name: Option<&str>) -> anyhow::Result<String> {
    let token = Secrets::find_admin_token(configuration)?;
    let client = AdminClient::of(configuration, token)?.with_timeout(TAKING_MAX);
    let taken = client.call_admin("create-checkpoint", &json!({ "name": name }), None)?;
    Ok(serde_json::to_string_pretty(&taken)?)
}

/// All kept checkpoints, a line each.
fn list(shelf: &Shelf) -> anyhow::Result<Vec<String>> {
    Ok(all_kept(shelf)?.iter().map(|kept| line(shelf, kept)).collect())
}

/// Removes the oldest, and returns the names of the removed checkpoints.
fn prune(shelf: &Shelf, keep: usize) -> anyhow::Result<Vec<String>> {
    all_kept(shelf)?;
    Ok(shelf.prune(keep, "", None)?)
}

/// All kept checkpoints. When there are none, it says which directory it read: usually it is another server's.
fn all_kept(shelf: &Shelf) -> anyhow::Result<Vec<KeptCheckpoint>> {
    let kept = shelf.list()?;
    if kept.is_empty() {
        progress::say(&format!("no checkpoints in {}", shelf.directory().display()));
    }
    Ok(kept)
}

/// A checkpoint as a line: state, time, last commit, bytes, directory.
fn line(shelf: &Shelf, kept: &KeptCheckpoint) -> String {
    let directory = shelf.directory().join(&kept.name);
    let directory = directory.display();
    match &kept.status {
        CheckpointStatus::Complete(manifest) => {
            let Manifest { taken_at_ms, last_commit, .. } = manifest;
            let taken_at = moment(*taken_at_ms);
            format!("complete    {taken_at}  commit {last_commit}  {} bytes  {directory}", manifest.byte_count())
        }
        CheckpointStatus::Unfinished => format!("unfinished  {directory}"),
        CheckpointStatus::Unusable(error) => format!("unusable    {directory}: {error}"),
    }
}

/// A time in milliseconds since the Unix epoch, as text to the second.
pub(super) fn moment(at_ms: u64) -> String {
    let moment = i64::try_from(at_ms / 1_000).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    moment.map_or_else(|| "at no known time".to_owned(), |moment| moment.to_string())
}

fn verify(configuration: &Configuration, directory: &Path) -> anyhow::Result<ExitCode> {
    let _reading = Reading::begin(directory);
    let manifest = read_manifest(directory)?;
    let roots = vault_keys(configuration)?;
    check_all_files(directory, &manifest)?;
    // Beside the checkpoint, by its canonical path: nothing may be added to a checkpoint.
    let mut scratch = directory.canonicalize()?.into_os_string();
    scratch.push(format!(".{SCRATCH_DIRECTORY}"));
    let (scratch, open_time_max) = (PathBuf::from(scratch), configuration.open_time_max);
    let report =
        VerificationTarget { directory, scratch, open_time_max, checkpoint: Some(directory) }.verify(&roots)?;
    Ok(print(&report))
}

/// The keys one of which opens the vault of a checkpoint.
pub(super) fn vault_keys(configuration: &Configuration) -> anyhow::Result<Vec<RootKey>> {
    let keys = Secrets::find_vault_keys(configuration);
    keys.context("a checkpoint is verified with its vault key: give TILL_VAULT_KEY or vault_key_file")
}

/// Reads every file of a checkpoint and compares it with the manifest.
pub(super) fn check_all_files(directory: &Path, manifest: &Manifest) -> anyhow::Result<()> {
    let (mut bytes, total) = (0_u64, manifest.byte_count());
    let mut progress = ProgressDisplay::begin("checked", Unit::Bytes, Some(total));
    check_files(directory, manifest, &mut |more| {
        bytes = bytes.saturating_add(more);
        progress.show(bytes);
    })?;
    progress.end(&format!("{} files, {total} bytes: every checksum is correct", manifest.files.len()));
    Ok(())
}

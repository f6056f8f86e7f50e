//! `till archive list|verify|prune`

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Subcommand;
use till_operate::archive::{ArchiveError, SegmentChain, SegmentInfo, SegmentState, check_chain, prune};
use till_operate::checkpoint::read_manifest;

use super::checkpoint::moment;
use super::exit_code::ExitCode;
use super::progress::{ProgressDisplay, Unit, print, say};
use super::verify::VerificationTarget;
use crate::configuration::Configuration;

/// Commands on an archive.
#[derive(Debug, Subcommand)]
pub(super) enum ArchiveCommand {
    /// Lists its segments, the oldest first
    List {
        /// The archive [default: archive_directory]
        #[arg(value_name = "DIR")]
        directory: Option<PathBuf>,
    },
    /// Reads it from front to back and compares every checksum
    Verify {
        /// The archive [default: archive_directory]
        #[arg(value_name = "DIR")]
        directory: Option<PathBuf>,
    },
    /// Removes the segments whose commits are all in a checkpoint
    Prune {
        /// The checkpoint's directory
        #[arg(long, value_name = "CHECKPOINT")]
        before: PathBuf,
        /// The archive [default: archive_directory]
        #[arg(value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

/// Carries the command out.
pub(super) fn archive(configuration: &Configuration, command: &ArchiveCommand) -> anyhow::Result<ExitCode> {
    let lines = match command {
        ArchiveCommand::List { directory } => list(place(configuration, directory)?)?,
        ArchiveCommand::Verify { directory } => verify(place(configuration, directory)?)?,
        ArchiveCommand::Prune { before, directory } => remove(configuration, before, place(configuration, directory)?)?,
    };
    Ok(print(&lines.join("\n")))
}

fn place<'a>(configuration: &'a Configuration, named: &'a Option<PathBuf>) -> anyhow::Result<&'a Path> {
    let configured = configuration.archive.directory.as_deref();
    named.as_deref().or(configured).context("name the archive's directory, or set archive_directory")
}

fn list(directory: &Path) -> anyhow::Result<Vec<String>> {
    let line = SegmentChain::read(directory)?;
    let store = line.store()?;
    let segments = line.segments.iter().map(segment);
    Ok(std::iter::once(format!("store {store}")).chain(segments).collect())
}

/// A segment as a line: state, time, commits, bytes, file.
fn segment(standing: &SegmentInfo) -> String {
    let SegmentInfo { path, base, opened_at_ms, bytes, state, .. } = standing;
    let (opened_at, path) = (moment(*opened_at_ms), path.display());
    match state {
        SegmentState::Closed { last, commits } => {
            format!("closed  {opened_at}  after {base} to {last}, {commits} commits  {bytes} bytes  {path}")
        }
        SegmentState::Open => format!("open    {opened_at}  after {base}  {bytes} bytes  {path}"),
    }
}

fn verify(directory: &Path) -> anyhow::Result<Vec<String>> {
    let total = SegmentChain::read(directory)?.segments.iter().map(|segment| segment.bytes).sum();
    let (mut bytes, mut progress) = (0_u64, ProgressDisplay::begin("checked", Unit::Bytes, Some(total)));
    let checked = check_chain(directory, &mut |more| {
        bytes = bytes.saturating_add(more);
        progress.show(bytes);
    })?;
    drop(progress);
    if checked.torn > 0 {
        say(&format!("the last write is torn: {} bytes of it are not used", checked.torn));
    }
    let mut lines = vec![format!("store {}", checked.store)];
    lines.extend(checked.gaps.iter().map(|(first, last)| format!("commits {first} to {last} were not archived")));
    lines.push(format!(
        "{} segments, {} commits, after {} to {}: every checksum is correct",
        checked.segments, checked.commits, checked.base, checked.last
    ));
    Ok(lines)
}

fn remove(configuration: &Configuration, before: &Path, directory: &Path) -> anyhow::Result<Vec<String>> {
    let manifest = read_manifest(before)?;
    let open_time_max = configuration.open_time_max;
    let subject = VerificationTarget { directory: before, scratch: PathBuf::new(), open_time_max, checkpoint: None };
    let identity =
        subject.open_store()?.identity().map_err(|error| ArchiveError::Store { reason: error.to_string() })?;
    let archive = SegmentChain::read(directory)?.store()?;
    if identity != Some(archive) {
        bail!("the checkpoint is of another store than the archive: nothing was removed");
    }
    let removed = prune(directory, manifest.last_commit)?;
    Ok(removed.iter().map(|standing| standing.path.display().to_string()).collect())
}

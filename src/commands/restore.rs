//! `till restore`

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use jiff::Timestamp;
use till_operate::archive::{
    ArchiveError, Restored, Until, archived_keyring, begin_anew, begin_with_first, check_reach, restore_to,
};
use till_operate::checkpoint::{Reading, Restoring, read_manifest};
use till_sandbox::book::RocksBook;
use till_storage::journal::CommitNumber;
use till_storage::vault::RootKey;

use super::checkpoint::{check_all_files, moment, vault_keys};
use super::exit_code::ExitCode;
use super::progress::{ProgressDisplay, Unit, say};
use super::verify::{SCRATCH_DIRECTORY, VerificationTarget, print};
use crate::configuration::Configuration;
use crate::startup::{SANDBOX_DIRECTORY, open_keyring};

/// The message about faults with which a server may run: a store from which commits were given up has them in every
/// checkpoint.
const BESIDE: &str = "these faults are in the sandbox's book, or card numbers too many or too few: all logs and what \
                      follows from them are whole, and a server runs with them";

/// The source and the target of a restore.
#[derive(Debug, Args)]
pub(super) struct RestoreArguments {
    /// The checkpoint's directory [default: none, with an archive that begins with the first commit]
    #[arg(long, value_name = "CHECKPOINT", required_unless_present = "archive")]
    pub from: Option<PathBuf>,
    /// The archive, to restore the commits after the checkpoint as well
    #[arg(long, value_name = "DIR")]
    pub archive: Option<PathBuf>,
    /// The end: a commit's number, or a time such as 2026-01-31T23:59:59Z [default: everything archived]
    #[arg(long, value_name = "TIME|COMMIT", requires = "archive", value_parser = parse_until)]
    pub until: Option<Until>,
    /// The data directory to make: missing or empty
    #[arg(long, value_name = "DIR")]
    pub to: PathBuf,
}

/// Makes a data directory from a checkpoint and, with an archive, from the later commits. Everything that can be
/// refused is refused before any file is created, and the directory is fit for a server only after all of it was
/// verified.
pub(super) fn restore(configuration: &Configuration, arguments: &RestoreArguments) -> anyhow::Result<ExitCode> {
    let RestoreArguments { from, to, .. } = arguments;
    Restoring::check_target(to)?;
    // The checkpoint is not pruned before the copy is verified.
    let _reading = from.as_deref().map(Reading::begin);
    let roots = vault_keys(configuration)?;
    let restore = Restore { configuration, arguments, roots: &roots };
    let restoring = match from {
        Some(from) => restore.begin_with_checkpoint(from)?,
        None => restore.begin_with_first_commit()?,
    };
    say("verifying the copy");
    let report = restore.subject(to, to.join(SCRATCH_DIRECTORY)).verify(&roots).with_context(|| unfit(to))?;
    let code = print(&report);
    if !report.is_fit() {
        say(&format!("till: {}", unfit(to)));
        return Ok(code);
    }
    restoring.finish()?;
    if !report.is_clean() {
        say(BESIDE);
    }
    say(&fit(to));
    Ok(ExitCode::SUCCESS)
}

struct Restore<'a> {
    configuration: &'a Configuration,
    arguments: &'a RestoreArguments,
    roots: &'a [RootKey],
}

impl Restore<'_> {
    /// Copies a checkpoint, and brings the copy up with the archive.
    fn begin_with_checkpoint(&self, from: &Path) -> anyhow::Result<Restoring> {
        let to = &self.arguments.to;
        let manifest = read_manifest(from)?;
        check_all_files(from, &manifest)?;
        let commits = self.check(from)?;
        let mut progress = ProgressDisplay::begin("copied", Unit::Bytes, Some(manifest.byte_count()));
        let restoring = Restoring::copy(from, &manifest, to, &mut |copied| progress.show(copied.bytes))?;
        progress.end("copied");
        self.bring_up(commits, manifest.last_commit).with_context(|| unfit(to))?;
        Ok(restoring)
    }

    /// Makes a store without commits, and brings it up with the archive alone.
    fn begin_with_first_commit(&self) -> anyhow::Result<Restoring> {
        let (to, archive) = (&self.arguments.to, self.arguments.archive.as_ref().context("there is no archive")?);
        let keyring = archived_keyring(archive)?;
        open_keyring(self.roots, &keyring).context("the archive cannot be read with this key")?;
        let restoring = begin_with_first(&self.subject(to, PathBuf::new()).options(), archive, keyring)?;
        let brought_up = self.check(to).and_then(|commits| self.bring_up(commits, CommitNumber(0)));
        brought_up.with_context(|| unfit(to))?;
        Ok(restoring)
    }

    /// With an archive, the logs continue after the heads of the checkpoint.
    fn subject<'d>(&'d self, directory: &'d Path, scratch: PathBuf) -> VerificationTarget<'d> {
        let from = self.arguments.from.as_deref();
        let checkpoint = from.filter(|from| self.arguments.archive.is_none() || directory == *from);
        VerificationTarget { directory, scratch, open_time_max: self.configuration.open_time_max, checkpoint }
    }

    fn requested_end(&self) -> Until {
        self.arguments.until.unwrap_or(Until::End)
    }

    /// Checks that the key is right, and that checkpoint and archive reach the requested end. Returns the number of
    /// commits to read.
    fn check(&self, from: &Path) -> anyhow::Result<u64> {
        let opened = self.subject(from, PathBuf::new()).open(self.roots);
        let (store, _) = opened.context("failed to open the checkpoint")?;
        match &self.arguments.archive {
            Some(archive) => check_reach(&store, archive, self.requested_end()).map_err(with_readable_times),
            None => Ok(0),
        }
    }

    /// Makes the copy a store of its own, with the commits that the archive has after the checkpoint.
    fn bring_up(&self, commits: u64, begin: CommitNumber) -> anyhow::Result<()> {
        let to = &self.arguments.to;
        let options = self.subject(to, PathBuf::new()).options();
        let Some(archive) = &self.arguments.archive else { return Ok(begin_anew(&options)?) };
        let (_, keyring) = self.subject(to, PathBuf::new()).open(self.roots)?;
        let mut progress = ProgressDisplay::begin("read", Unit::Things("commits"), Some(commits));
        let book = RocksBook::open_within(options.open_limit, &to.join(SANDBOX_DIRECTORY));
        let mut book = book.context("the sandbox's book failed")?;
        let tell = &mut |read| progress.show(read);
        let restored = restore_to(&options, archive, self.requested_end(), &keyring, &mut book, tell)?;
        progress.end(&restored_line(&restored, begin));
        Ok(())
    }
}

/// Replaces milliseconds by readable times.
fn with_readable_times(error: ArchiveError) -> anyhow::Error {
    match error {
        ArchiveError::BeforeItsMoment { asked_ms, earliest_ms } => {
            let text = |at| i64::try_from(at).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
            let text = |at| text(at).map_or_else(|| format!("{at} ms"), |at| at.to_string());
            anyhow::anyhow!(
                "the checkpoint is later than {}: the earliest that it can be restored to is {}",
                text(asked_ms),
                text(earliest_ms)
            )
        }
        other => anyhow::Error::new(other),
    }
}

/// A commit's number, or a time.
fn parse_until(text: &str) -> anyhow::Result<Until> {
    if let Ok(commit) = text.parse() {
        return Ok(Until::Commit(CommitNumber(commit)));
    }
    let time: Timestamp = text.parse().context("neither a commit's number nor a time such as 2026-01-31T23:59:59Z")?;
    match u64::try_from(time.as_millisecond()) {
        Ok(millis) => Ok(Until::Moment(millis)),
        Err(_) => bail!("a time before 1970"),
    }
}

fn restored_line(restored: &Restored, checkpoint: CommitNumber) -> String {
    let Restored { last, last_at_ms, applied, left_out, forgotten, valid_again, torn, unread } = restored;
    let mut text = format!("the checkpoint ends at commit {checkpoint}; {applied} commits of the archive were applied");
    text += &match last_at_ms {
        Some(at) => format!(", the last is {last}, the latest of {}", moment(*at)),
        None => format!(", it ends at commit {last}"),
    };
    if *left_out > 0 {
        text += &format!("\n{left_out} commits of the archive are later, and left out");
    }
    if *forgotten > 0 {
        text += &format!("\n{forgotten} persons were forgotten later, and are forgotten here too");
    }
    for (merchant_id, key_id) in valid_again {
        text += &format!(
            "\nthe key {key_id} of {merchant_id} was revoked later, and is valid again: till key revoke {key_id}"
        );
    }
    if *torn > 0 {
        text += &format!("\nthe last write of the archive is torn: {torn} bytes of it were not used");
    }
    if let Some(unread) = unread {
        text += &format!("\nbehind that moment the archive cannot be read: {unread}");
    }
    text
}

fn unfit(to: &Path) -> String {
    format!("{} was copied and is not fit to be used: no server starts on it", to.display())
}

fn fit(to: &Path) -> String {
    format!(
        "{} is restored. Secrets are not part of a checkpoint: start with the same TILL_VAULT_KEY (or vault_key_file); \
         without TILL_ADMIN_TOKEN the first start makes an admin token of its own. The server starts with effects and \
         timers paused, until `till resume`: compare accounts at acquirers before that, by `till reconcile`.",
        to.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_commit_or_a_time() {
        assert_eq!(parse_until("12").ok(), Some(Until::Commit(CommitNumber(12))));
        assert_eq!(parse_until("2026-01-31T23:59:59.5Z").ok(), Some(Until::Moment(1_769_903_999_500)));
        assert_eq!(parse_until("2026-02-01T00:59:59+01:00").ok(), parse_until("2026-01-31T23:59:59Z").ok());
        for wrong in ["", "-1", "yesterday", "2026-01-31", "1969-12-31T23:59:59Z"] {
            assert!(parse_until(wrong).is_err(), "{wrong}");
        }
    }
}

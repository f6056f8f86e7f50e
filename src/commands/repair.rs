//! `till repair rows`

use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Subcommand;
use till_domain::ids::MerchantId;
use till_operate::acquirer_book::AcquirerBook;
use till_operate::repair::{BEFORE_DIRECTORY, Rebuild, Workshop, give_to_owner};
use till_operate::verify::{Concern, Fault, Report, VerifyOptions};
use till_storage::engine::EngineOptions;
use till_storage::family::Family;
use till_storage::vault::{Keyring, RootKey};

use super::exit_code::ExitCode;
use super::progress::say;
use super::verify::{SCRATCH_DIRECTORY, VerificationTarget, exit_code, print, progress_display};
use crate::configuration::{Configuration, Secrets};
use crate::startup::open_stored_keyring;

/// Families that are read to find the key ring.
const VAULT_AND_META: [Family; 3] = [Family::Journal, Family::Vault, Family::Meta];

/// The part to repair. Without `--yes` nothing is changed.
#[derive(Debug, Subcommand)]
pub(super) enum RepairCommand {
    /// Derives rows, indexes, snapshots, the directory and totals again from the log, and verifies everything
    Rows {
        /// Only this merchant's [default: all]
        #[arg(long, value_name = "MERCHANT")]
        merchant: Option<MerchantId>,
        /// Do it; without it, only the faults and the planned changes are printed
        #[arg(long, conflicts_with = "dry_run")]
        yes: bool,
        /// Only print the faults and the planned changes, as without --yes
        #[arg(long)]
        dry_run: bool,
    },
}

/// Repairs, or prints the planned changes.
pub(super) fn repair(configuration: &Configuration, command: &RepairCommand) -> anyhow::Result<ExitCode> {
    let is_there = |name: &str| configuration.data.join(name).exists();
    if !is_there("db") && !is_there(BEFORE_DIRECTORY) {
        bail!("there is no data to repair in {}", configuration.data.display());
    }
    let roots = Secrets::find_vault_keys(configuration)?;
    let RepairCommand::Rows { merchant, yes, dry_run: _ } = command;
    let done = rows(configuration, &roots, *merchant, *yes);
    // After a failed repair, too: a server that runs as another user must be able to open the files.
    let given =
        give_to_owner(&configuration.data).context("failed to give the new files to the owner of the data directory");
    first_failure(done, given)
}

/// The result of a repair. When giving its files to their owner fails as well, the repair's own failure is returned,
/// and the other one is printed.
fn first_failure(done: anyhow::Result<ExitCode>, given: anyhow::Result<()>) -> anyhow::Result<ExitCode> {
    match (done, given) {
        (done, Ok(())) => done,
        (Ok(_), Err(given)) => Err(given),
        (Err(done), Err(given)) => {
            say(&format!("{given:#}"));
            Err(done)
        }
    }
}

fn options(configuration: &Configuration) -> EngineOptions {
    let (open_limit, disk_reserve_bytes) = (configuration.open_time_max, configuration.disk_reserve_bytes);
    EngineOptions { open_limit, disk_reserve_bytes, ..EngineOptions::new(&configuration.data) }
}

fn rows(
    configuration: &Configuration,
    roots: &[RootKey],
    merchant_id: Option<MerchantId>,
    yes: bool,
) -> anyhow::Result<ExitCode> {
    let workshop = Workshop::open(&options(configuration))?;
    let keyring = open_keyring(&workshop, roots)?;
    let options = VerifyOptions {
        acknowledged: Some(workshop.held().acknowledged()),
        ..VerifyOptions::new(configuration.data.join(SCRATCH_DIRECTORY))
    };
    let rebuild = Rebuild { workshop: &workshop, keyring: &keyring, merchant_id, options };
    let (book, book_fault) = VerificationTarget::of_data(configuration).open_book();
    let book = book.as_ref().map(|book| book as &dyn AcquirerBook);
    if !yes {
        return survey(&rebuild, book, book_fault);
    }
    let mut report = rebuild.run(book, &mut progress_display("read"))?;
    report.add(book_fault);
    let code = print(&report);
    say(&format!(
        "repaired: the database as it was before is in {}, and can be removed",
        configuration.data.join(BEFORE_DIRECTORY).display()
    ));
    Ok(code)
}

/// Prints the faults and the planned changes.
fn survey(
    rebuild: &Rebuild<'_>,
    book: Option<&dyn AcquirerBook>,
    book_fault: Option<Fault>,
) -> anyhow::Result<ExitCode> {
    let (mut report, unopened) = rebuild.survey(book, &mut progress_display("read"))?;
    report.add(book_fault);
    if let Some(error) = &unopened {
        say(&format!("derived rows cannot be opened: {error}"));
    }
    let code = print(&report);
    say(&plan(rebuild.merchant_id, &report, unopened.is_some()));
    Ok(if unopened.is_some() { exit_code_of_faults() } else { code })
}

fn exit_code_of_faults() -> ExitCode {
    exit_code(&Report { fault_count: 1, ..Report::default() })
}

fn plan(merchant_id: Option<MerchantId>, report: &Report, is_unopened: bool) -> String {
    let whose = merchant_id.map_or_else(|| "all merchants".to_owned(), |id| id.to_string());
    let derived = report.faults.iter().filter(|fault| Concern::of(fault) == Concern::Derived).count();
    if derived == 0 && !is_unopened {
        return "no derived row is wrong: there is nothing to repair".to_owned();
    }
    format!(
        "nothing was changed. With --yes the rows, indexes, effects, timers, snapshots and directory of {whose} are \
         derived again from the log in a copy, the copy is verified, and it takes the place of the database"
    )
}

pub(super) fn open_keyring(workshop: &Workshop, roots: &[RootKey]) -> anyhow::Result<Arc<Keyring>> {
    let store = workshop.held().open(&workshop.database(), &VAULT_AND_META)?;
    Ok(Arc::new(open_stored_keyring(roots, &store)?))
}

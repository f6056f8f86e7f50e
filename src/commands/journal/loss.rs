//! `till journal accept-loss`

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::json;
use till_operate::checkpoint::PAUSED_FILE;
use till_operate::offline::{Inspect, RecordSelection, Source, payments_of};
use till_shared::{LostRecords, accept_loss, lost_records};

use crate::commands::exit_code::ExitCode;
use crate::commands::export::open;
use crate::commands::progress::{print, say};
use crate::commands::verify::VerificationTarget;
use crate::configuration::{Configuration, JournalConfiguration};
use crate::csv::{no_formula, quoted};

/// Prints what the database has lost as far as the data directory tells; with `yes` the log goes on without it.
pub(super) fn accept(
    configuration: &Configuration,
    journal: &JournalConfiguration,
    to: Option<&Path>,
    yes: bool,
) -> anyhow::Result<ExitCode> {
    let data = configuration.data.display();
    let is_there = configuration.data.join("db").exists();
    let lost = if is_there {
        lost_records(&journal.database, &VerificationTarget::of_data(configuration).open_store()?)?
    } else {
        say(&format!("there is no data in {data}, so nothing tells what was lost"));
        Vec::new()
    };
    for LostRecords { merchant_id, first, last } in &lost {
        let merchant_id = merchant_id.to_string();
        print(&json!({ "merchant_id": merchant_id, "first": first.0, "last": last.0 }).to_string());
    }
    if !yes {
        say("nothing was changed: give --yes to go on without these records");
        return Ok(ExitCode::SUCCESS);
    }
    match to {
        Some(file) => {
            let source = open(configuration, false)?;
            write_records(&source, &lost, file)?;
            write_payments(&source, &lost, &table_beside(file))?;
        }
        None if lost.is_empty() => {}
        None => bail!("name a file for the lost records with --to, since the data directory is of no use afterwards"),
    }
    accept_loss(&journal.database, PAUSED_FILE)?;
    say(&format!(
        "the log goes on without them. The server will start paused; remove {data} first, since it repeats the log as \
            it was"
    ));
    Ok(ExitCode::SUCCESS)
}

/// Writes lost records as `till inspect --json` does.
fn write_records(source: &Source, lost: &[LostRecords], to: &Path) -> anyhow::Result<()> {
    let failed = || format!("failed to write {}", to.display());
    let mut out = BufWriter::new(File::create_new(to).with_context(failed)?);
    for LostRecords { merchant_id, first, last } in lost {
        let inspect = Inspect::of(source, *merchant_id)?;
        let selection = RecordSelection { from: first.0, to: last.0, payment: None };
        inspect.write_json(&selection, &mut out).with_context(failed)?;
    }
    out.flush().and_then(|()| out.get_ref().sync_all()).with_context(failed)
}

/// The file for the table of payments.
fn table_beside(records: &Path) -> PathBuf {
    PathBuf::from(format!("{}.payments.csv", records.display()))
}

/// Writes the payments that lost records are about as CSV, to be compared with what the acquirer did.
fn write_payments(source: &Source, lost: &[LostRecords], to: &Path) -> anyhow::Result<()> {
    let failed = || format!("failed to write {}", to.display());
    let mut out = BufWriter::new(File::create_new(to).with_context(failed)?);
    writeln!(out, "merchant_id,payment_id,external_id,amount,currency,status").with_context(failed)?;
    for LostRecords { merchant_id, first, last } in lost {
        for payment in payments_of(source, *merchant_id, *first, *last)? {
            let external_id = no_formula(payment.external_id.as_ref().map_or("", |id| id.as_str()));
            let (id, external_id, status) = (payment.id, quoted(&external_id), payment.status.name());
            let (amount, currency) = (payment.money.amount.get(), payment.money.currency);
            writeln!(out, "{merchant_id},{id},{external_id},{amount},{currency},{status}").with_context(failed)?;
        }
    }
    out.flush().and_then(|()| out.get_ref().sync_all()).with_context(failed)
}

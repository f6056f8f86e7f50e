//! `till export`

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use till_actors::clock::{Clock, SystemClock};
use till_domain::ids::MerchantId;

use super::progress::{Progress, Unit};
use crate::configuration::{Configuration, Secrets};
use crate::offline::{Export, Source, What};
use crate::vault_keys::RootKeys;

/// What is to be exported, and where to.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// The directory to make: it must not exist
    #[arg(long, value_name = "DIR")]
    pub to: PathBuf,
    /// Only this merchant [default: all]
    #[arg(long, value_name = "MERCHANT")]
    pub merchant: Option<MerchantId>,
    /// Only these files, with commas between them [default: all]
    #[arg(long, value_delimiter = ',')]
    pub what: Vec<What>,
    /// Open personal data: names, addresses, mobile numbers, metadata. Needs the vault key
    #[arg(long)]
    pub open_personal_data: bool,
}

/// Exports what the arguments say, and says how much that was.
pub(super) fn export(configuration: &Configuration, arguments: &ExportArguments) -> anyhow::Result<String> {
    let ExportArguments { to, merchant, what, open_personal_data } = arguments;
    let source = open(configuration, *open_personal_data)?;
    let mut what = if what.is_empty() { What::ALL.to_vec() } else { what.clone() };
    what.sort();
    what.dedup();
    let export = Export { source: &source, merchant_id: *merchant, what, now: SystemClock.now() };
    let mut shown = Progress::begin("exported", Unit::Things("merchants"), None);
    let summary = export.write(to, &mut |done, total| shown.show_of(done, total))?;
    drop(shown);
    let mut lines = vec![format!("exported {} merchants to {}", summary.merchants, to.display())];
    lines.extend(summary.lines.iter().map(|(file, count)| format!("{file}: {count} lines")));
    Ok(lines.join("\n"))
}

/// Opens the store that the settings name; personal data only when that was asked for.
pub(super) fn open(configuration: &Configuration, opens_personal_data: bool) -> anyhow::Result<Source> {
    let roots = opens_personal_data.then(|| vault_keys(configuration)).transpose()?;
    Source::open(&configuration.data, configuration.open_time_max, roots.as_ref())
}

fn vault_keys(configuration: &Configuration) -> anyhow::Result<RootKeys> {
    let keys = Secrets::find_vault_keys(configuration);
    let keys = keys.context("personal data is opened with the vault key: give TILL_VAULT_KEY or vault_key_file")?;
    RootKeys::from_secrets(&keys)
}

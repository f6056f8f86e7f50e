//! `till inspect`

use std::io::{self, BufWriter, Write};

use clap::Args;
use till_domain::ids::{MerchantId, PaymentId};
use till_operate::offline::{Inspect, RecordSelection};

use super::exit_code::ExitCode;
use super::export::open;
use crate::configuration::Configuration;

/// The number of records that are shown by default.
const LAST_DEFAULT: u64 = 10;

/// The exit code when a record that was to be shown is damaged.
const DAMAGED: u8 = 1;

/// The records to show, and their form.
#[derive(Debug, Args)]
pub(super) struct InspectArguments {
    /// The merchant whose log is shown
    #[arg(value_name = "MERCHANT")]
    pub merchant: MerchantId,
    /// From this record on
    #[arg(long, value_name = "N")]
    pub from: Option<u64>,
    /// Up to this record
    #[arg(long, value_name = "N")]
    pub to: Option<u64>,
    /// The last N records [default: 10, unless a range or a payment is given]
    #[arg(long, value_name = "N", conflicts_with_all = ["from", "to"])]
    pub last: Option<u64>,
    /// Only records about this payment
    #[arg(long, value_name = "PAYMENT")]
    pub payment: Option<PaymentId>,
    /// Show personal data: names, addresses, mobile numbers, metadata. Needs the vault key
    #[arg(long)]
    pub open_personal_data: bool,
    /// A JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// Prints the records.
pub(super) fn inspect(configuration: &Configuration, arguments: &InspectArguments) -> anyhow::Result<ExitCode> {
    let source = open(configuration, arguments.open_personal_data)?;
    let inspect = Inspect::of(&source, arguments.merchant)?;
    let selection = arguments.selection(inspect.records());
    let mut out = BufWriter::new(io::stdout().lock());
    let shown = if arguments.json {
        inspect.write_json(&selection, &mut out)
    } else {
        inspect.write_text(&selection, &mut out)
    };
    match shown.and_then(|shown| out.flush().map(|()| shown)) {
        Ok(shown) if shown.damaged > 0 => Ok(ExitCode::from(DAMAGED)),
        Ok(_) => Ok(ExitCode::SUCCESS),
        // A reader that closed the pipe needs no more output.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.into()),
    }
}

impl InspectArguments {
    fn selection(&self, records: u64) -> RecordSelection {
        let is_ranged = self.from.is_some() || self.to.is_some() || self.payment.is_some();
        let last = self.last.or((!is_ranged).then_some(LAST_DEFAULT));
        let first_of_last = last.map(|last| records.saturating_sub(last).saturating_add(1));
        let from = self.from.or(first_of_last).unwrap_or(1);
        RecordSelection { from, to: self.to.unwrap_or(records), payment: self.payment }
    }
}

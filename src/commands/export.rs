//! `till export`

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::Value;
use till_actors::clock::{Clock, SystemClock};
use till_domain::customer::CustomerRef;
use till_domain::ids::{CustomerId, MerchantId};
use till_domain::text::ExternalId;
use till_operate::offline::{ApiObject, Export, ExportFile, OpenKeyring, Source};
use till_storage::rows::RowReader;
use till_storage::vault::RootKey;

use super::progress::{ProgressDisplay, Unit};
use crate::configuration::{Configuration, Secrets};
use crate::endpoints::shapes::{
    activity::ActivityShape, card::CardShape, contact::ContactShape, dispute::DisputeShape, entry::EntryShape,
    payment::PaymentShape, payout::PayoutShape, refund::RefundShape,
};
use crate::startup::open_stored_keyring;
/// The content of the export, and its directory.
#[derive(Debug, Args)]
pub(super) struct ExportArguments {
    /// The directory to make: it must not exist
    #[arg(long, value_name = "DIR")]
    pub to: PathBuf,
    /// Only this merchant [default: all]
    #[arg(long, value_name = "MERCHANT")]
    pub merchant: Option<MerchantId>,
    /// Only what is stored of this customer of the merchant: its id or the merchant's own identifier
    #[arg(long, value_name = "CONTACT", requires = "merchant", value_parser = contact)]
    pub contact: Option<CustomerRef>,
    /// Only these files, with commas between them [default: all]
    #[arg(long, value_delimiter = ',', value_parser = files())]
    pub what: Vec<ExportFile>,
    /// Open personal data: names, addresses, mobile numbers, metadata. Needs the vault key
    #[arg(long)]
    pub open_personal_data: bool,
}

/// An object in the form in which the endpoints answer it.
fn endpoint_shape(object: ApiObject<'_>) -> Value {
    match object {
        ApiObject::Payment(payment, now) => json(PaymentShape::new(payment, None, None, now)),
        ApiObject::Entry(entry, statement_id, external_id) => json(EntryShape::new(entry, statement_id, external_id)),
        ApiObject::Contact(customer) => json(ContactShape::new(customer)),
        ApiObject::Card(card, customer) => json(CardShape::new(card, customer)),
        ApiObject::Refund(refund) => json(RefundShape::new(refund)),
        ApiObject::Dispute(dispute, external_id) => json(DisputeShape::new(dispute, external_id)),
        ApiObject::Payout(payout) => json(PayoutShape::new(payout)),
        ApiObject::Activity(activity) => json(ActivityShape::new(activity)),
    }
}

fn json(shape: impl serde::Serialize) -> Value {
    serde_json::to_value(shape).expect("an answer has a JSON form")
}

fn files() -> impl TypedValueParser<Value = ExportFile> {
    let named = |name: String| ExportFile::ALL.into_iter().find(|what| what.name() == name).expect("a possible value");
    PossibleValuesParser::new(ExportFile::ALL.map(ExportFile::name)).map(named)
}

/// Reads a customer's id, else takes the text for the merchant's own identifier.
fn contact(text: &str) -> Result<CustomerRef, String> {
    if let Ok(id) = text.parse::<CustomerId>() {
        return Ok(CustomerRef::Own(id));
    }
    ExternalId::new(text.to_owned()).map(CustomerRef::External).map_err(|error| error.to_string())
}

impl ExportArguments {
    /// The files to write, in their order.
    fn files(&self) -> anyhow::Result<Vec<ExportFile>> {
        let possible: &[ExportFile] =
            if self.contact.is_some() { &ExportFile::OF_A_CUSTOMER } else { &ExportFile::ALL };
        if let Some(other) = self.what.iter().find(|what| !possible.contains(what)) {
            let names = possible.iter().map(|what| what.name()).collect::<Vec<_>>().join(", ");
            bail!("--what {}: an export of one customer has {names}", other.name());
        }
        let is_wanted = |what: &&ExportFile| self.what.is_empty() || self.what.contains(what);
        Ok(possible.iter().filter(is_wanted).copied().collect())
    }
}

/// Exports the selected files, and returns a summary of their size.
pub(super) fn export(configuration: &Configuration, arguments: &ExportArguments) -> anyhow::Result<String> {
    let ExportArguments { to, merchant, contact, what: _, open_personal_data } = arguments;
    let what = arguments.files()?;
    let source = open(configuration, *open_personal_data)?;
    let (customer, now) = (contact.clone(), SystemClock.now());
    let export = Export { source: &source, api: endpoint_shape, merchant_id: *merchant, customer, what, now };
    let mut shown = ProgressDisplay::begin("exported", Unit::Things("merchants"), None);
    let summary = export.write(to, &mut |done, total| shown.show_of(done, total))?;
    drop(shown);
    let mut lines = vec![format!("exported {} merchants to {}", summary.merchants, to.display())];
    lines.extend(summary.lines.iter().map(|(file, count)| format!("{file}: {count} lines")));
    Ok(lines.join("\n"))
}

/// Opens the store that the settings name. Personal data is opened only on request.
pub(super) fn open(configuration: &Configuration, opens_personal_data: bool) -> anyhow::Result<Source> {
    let roots = opens_personal_data.then(|| vault_keys(configuration)).transpose()?;
    let open_keyring = roots.map(|roots| move |store: &dyn RowReader| open_stored_keyring(&roots, store));
    let open_keyring = open_keyring.as_ref().map(|open| open as OpenKeyring<'_>);
    Source::open(&configuration.data, configuration.open_time_max, open_keyring)
}

fn vault_keys(configuration: &Configuration) -> anyhow::Result<Vec<RootKey>> {
    let keys = Secrets::find_vault_keys(configuration);
    keys.context("personal data is opened with the vault key: give TILL_VAULT_KEY or vault_key_file")
}

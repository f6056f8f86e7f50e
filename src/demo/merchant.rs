//! The demo merchant: created once, and stored in a file that only the owner may read, since it contains an API key.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use till_actors::{Answered, Secret};
use till_domain::command::{AddInstallation, Caller, Command, CreateMerchant, Request};
use till_domain::event::Answer;
use till_domain::ids::MerchantId;
use till_domain::merchant::{Integration, PaymentMethod, Platform};
use till_domain::text::{InstallationIdentifier, Name, TimeZone};

use crate::endpoints::admin::fresh_merchant_id;
use crate::endpoints::{fresh_key, key_of};
use crate::service::Service;

/// The file with the demo merchant's ids and key, below the data directory.
const FILE: &str = "demo.json";

/// The merchant's currency.
pub(super) const CURRENCY: &str = "THB";

/// The origin of its installation: pages from here may call the SDK's functions.
pub(super) const ORIGIN: &str = "http://localhost:3000";

/// The demo's captured money settles after a minute, so that the settlement can be watched.
const SETTLEMENT_DELAY_SECONDS: u64 = 60;

/// The data for a first session.
#[derive(Serialize, Deserialize)]
pub(crate) struct Demo {
    pub(crate) merchant_id: String,
    pub(crate) installation_id: String,
    pub(crate) api_key: String,
}

/// The demo merchant of a data directory.
pub(super) async fn find_or_make(service: &Service, data: &Path) -> anyhow::Result<Demo> {
    if let Some(demo) = find(data)? {
        return Ok(demo);
    }
    let file = data.join(FILE);
    let demo = make(service).await?;
    keep(&demo, &file).with_context(|| format!("failed to write {}", file.display()))?;
    Ok(demo)
}

/// The demo merchant, if there is one.
pub(crate) fn find(data: &Path) -> anyhow::Result<Option<Demo>> {
    let file = data.join(FILE);
    let read = || format!("failed to read {}", file.display());
    match fs::read(&file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).with_context(read),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(read),
    }
}

fn keep(demo: &Demo, path: &PathBuf) -> anyhow::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(&serde_json::to_vec_pretty(demo)?)?;
    Ok(file.sync_all()?)
}

async fn make(service: &Service) -> anyhow::Result<Demo> {
    let merchant_id = fresh_merchant_id(service.now());
    let create = CreateMerchant {
        merchant_id,
        name: Name::new("Demo shop")?,
        currency: CURRENCY.parse()?,
        time_zone: TimeZone::new("UTC")?,
        settlement_delay_seconds: SETTLEMENT_DELAY_SECONDS,
        support_email: None,
        card_numbers_in_identifiers: false,
        test_clock: false,
    };
    submit(service, merchant_id, Command::CreateMerchant(create), None).await?;
    submit(service, merchant_id, Command::OpenBalance, None).await?;
    for method in PaymentMethod::ALL {
        let authorizes_without_capture = method.can_authorize_without_capture();
        let integration = Integration { authorizes_without_capture, ..Integration::initial() };
        let command = Command::ConfigurePaymentMethod(method, integration, None);
        submit(service, merchant_id, command, None).await?;
    }
    let installation = AddInstallation {
        name: Name::new("Demo checkout")?,
        platform: Platform::Web,
        identifier: InstallationIdentifier::new(ORIGIN)?,
    };
    let installation = submit(service, merchant_id, Command::AddInstallation(installation), None).await?;
    let Answer::Installation(installation_id) = installation.answer else { bail!("no installation was made") };
    let text = fresh_key();
    let generate = key_of(service.keyring(), merchant_id, Name::new("Demo key")?, &text);
    let api_key = text.to_string();
    submit(service, merchant_id, Command::GenerateKey(generate), Some(Secret::KeyText(text))).await?;
    let (merchant_id, installation_id) = (merchant_id.to_string(), installation_id.to_string());
    Ok(Demo { merchant_id, installation_id, api_key })
}

async fn submit(
    service: &Service,
    merchant_id: MerchantId,
    command: Command,
    secret: Option<Secret>,
) -> anyhow::Result<Answered> {
    let request = Request { caller: Caller::Operator, idempotency: None, command };
    service.engine().submit(merchant_id, request, secret).await.context("failed to create the demo merchant")
}

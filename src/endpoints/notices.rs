//! `POST /acquirers/{acquirer_id}/notices`: an acquirer tells that something has become of a call. Only one thing of it
//! is believed: that the call is to be looked up now. Contract, section 21.

use std::num::NonZeroU32;
use std::sync::Arc;

use actix_web::http::header::HeaderMap;
use till_actors::acquirer::{Connector, Notice};
use till_domain::acquirer::AccountSecret;
use till_domain::ids::{AcquirerId, MerchantId};
use till_domain::records::{AcquirerAccounts, AcquirerDirectory, Rows, Unreadable};
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::{CallsPerSecond, JudgeBody, RawEndpoint};
use till_storage::shapes::MerchantReader;
use till_storage::vault::AccountSecretOf;
use zeroize::Zeroizing;

use crate::counted::NOTICES;
use crate::service::{Service, Shared};

/// Genuine notices a second of one account, and those at once after a pause: contract, section 21.
const NOTICES_PER_SECOND: NonZeroU32 = NonZeroU32::new(100).expect("it is not 0");
const NOTICES_AT_ONCE: NonZeroU32 = NonZeroU32::new(1_000).expect("it is not 0");

/// What becomes of notices, in the metrics: an open call is looked up; none of the account is open; not genuine; too
/// many.
const RESULTS: [&str; 4] = ["looked_up", "ignored", "refused", "limited"];

type Recipient = (MerchantId, Arc<dyn Connector>, Zeroizing<String>);

/// The endpoint.
pub(crate) struct Notices {
    service: Shared,
    rate: Arc<CallsPerSecond<AcquirerId>>,
}

impl Notices {
    /// The endpoint of a service.
    #[must_use]
    pub(crate) fn new(service: &Shared) -> Notices {
        RESULTS.iter().for_each(|result| NOTICES.with_label_values(&[result]).inc_by(0));
        let rate = CallsPerSecond::with_burst(NOTICES_PER_SECOND, NOTICES_AT_ONCE, "one account at an acquirer");
        Notices { service: Arc::clone(service), rate: Arc::new(rate) }
    }
}

impl RawEndpoint for Notices {
    fn pattern(&self) -> &'static str {
        "/acquirers/{acquirer_id}/notices"
    }

    fn open(&self, texts: &[String], headers: &HeaderMap) -> Result<JudgeBody, ApiError> {
        let id = texts.first().and_then(|text| text.parse().ok()).ok_or_else(refusal)?;
        let (merchant_id, connector, secret) = recipient(id, &self.service)?.ok_or_else(refusal)?;
        let signature = headers.get(connector.notice_header()).and_then(|value| value.to_str().ok());
        let signature = signature.ok_or_else(refusal)?.to_owned();
        let (service, rate) = (Arc::clone(&self.service), Arc::clone(&self.rate));
        Ok(Box::new(move |body| {
            let notice = Notice { body, signature: &signature, secret: &secret, now: service.now() };
            let named = connector.read_notice(&notice).map_err(|_| refusal())?;
            rate.count(&id).inspect_err(|_| count("limited"))?;
            let is_open = service.engine().take_notice((merchant_id, id), named)?;
            count(if is_open { "looked_up" } else { "ignored" });
            Ok(())
        }))
    }
}

/// The merchant of an account at whose address a notice came, with what the signature is checked by; none when there is
/// no such account, or none with a secret for notices. Its rows need not be the newest: a notice that is refused for
/// that comes again.
fn recipient(id: AcquirerId, service: &Service) -> Result<Option<Recipient>, Unreadable> {
    let Some(merchant_id) = service.directory().get::<AcquirerDirectory>(id)? else { return Ok(None) };
    let rows = MerchantReader::new(merchant_id, Some(Arc::clone(service.keyring())), service.store());
    let Some(account) = rows.get::<AcquirerAccounts>(id)? else { return Ok(None) };
    let secret = rows.account_secret(AccountSecretOf { acquirer_id: id, secret: AccountSecret::Notices })?;
    let found = service.engine().acquirers().connector(account.acquirer).zip(secret);
    Ok(found.map(|(connector, secret)| (merchant_id, connector, secret)))
}

/// The refusal of every notice that is not genuine. It is the same for an unknown account, so that nobody learns which
/// accounts there are.
fn refusal() -> ApiError {
    count("refused");
    ApiError::new(Code::Forbidden, "The notice is not signed with the account's secret, or not at this time.")
}

fn count(result: &str) {
    NOTICES.with_label_values(&[result]).inc();
}

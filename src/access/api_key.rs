//! A merchant's program, which shows an API key.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use till_domain::command::Caller as DomainCaller;
use till_domain::ids::{KeyId, MerchantId};
use till_domain::key::{self, KeyDigest};
use till_domain::records::{ApiKeys, KeyDirectory, Rows};

use super::known_keys::{KnownKey, KnownKeys};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::dispatch::{Authenticate, Caller, NoToken};
use crate::protocol::version::ApiVersion;
use crate::service::Shared;

/// A merchant's program.
#[derive(Debug, Clone, Copy)]
pub struct MerchantCaller {
    /// Whose.
    pub merchant_id: MerchantId,
    /// By which key.
    pub key_id: KeyId,
    version: ApiVersion,
}

impl MerchantCaller {
    /// The caller as the rules know it.
    #[must_use]
    pub fn as_domain(&self) -> DomainCaller {
        DomainCaller::ApiKey(self.key_id)
    }
}

impl Caller for MerchantCaller {
    type LogName = KeyId;

    fn pinned_version(&self) -> ApiVersion {
        self.version
    }

    fn log_name(&self) -> KeyId {
        self.key_id
    }
}

/// Finds the merchant of an API key.
pub struct KeyAuthentication {
    service: Shared,
    known: KnownKeys,
}

impl Authenticate<MerchantCaller> for KeyAuthentication {
    fn authenticate<'a>(&'a self, token: &'a str) -> LocalBoxFuture<'a, Result<MerchantCaller, ApiError>> {
        self.find(token).boxed_local()
    }

    fn no_token(&self, problem: NoToken) -> ApiError {
        let message = format!("{problem} Send the API key in the header Authorization: Bearer <API_KEY>.");
        ApiError::new(Code::Unauthorized, message)
    }
}

impl KeyAuthentication {
    /// Reads keys through the service.
    #[must_use]
    pub fn new(service: Shared) -> KeyAuthentication {
        KeyAuthentication { service, known: KnownKeys::default() }
    }

    async fn find(&self, token: &str) -> Result<MerchantCaller, ApiError> {
        if !key::is_well_formed(token) {
            return Err(no_key(token));
        }
        // The look-up is by a keyed digest, so its time tells nothing of any key.
        let digest = KeyDigest(self.service.keyring.api_key_digest(token));
        let KnownKey { merchant_id, key } = self.known_or_read(digest).await?;
        // Only a key that ends asks for the merchant's last event: what has ended stays so when the clock steps back.
        let now = match key.expires_at {
            Some(_) => self.service.merchant_now(merchant_id)?,
            None => self.service.clock_of(merchant_id),
        };
        if !key.is_live(now) {
            return Err(ApiError::unauthorized());
        }
        self.service.last_used.note(key.id, now);
        let version = ApiVersion::from_name(&key.api_version).unwrap_or(ApiVersion::NEWEST);
        Ok(MerchantCaller { merchant_id, key_id: key.id, version })
    }

    /// The key as it is now.
    async fn known_or_read(&self, digest: KeyDigest) -> Result<KnownKey, ApiError> {
        let changes = self.service.engine.key_changes();
        if let Some(known) = self.known.get(digest, changes) {
            // Where the merchant's rows lag, its log may hold a revocation that is not derived yet.
            self.service.reader(known.merchant_id).await?;
            if self.service.engine.key_changes() == changes {
                return Ok(known);
            }
        }
        let changes = self.service.engine.key_changes();
        let read = self.read(digest).await?;
        self.known.keep(digest, read.clone(), changes);
        Ok(read)
    }

    async fn read(&self, digest: KeyDigest) -> Result<KnownKey, ApiError> {
        let owner = self.service.directory().get::<KeyDirectory>(digest)?.ok_or_else(ApiError::unauthorized)?;
        let reader = self.service.reader(owner.merchant_id).await?;
        let key = reader.get::<ApiKeys>(owner.key_id)?.ok_or_else(ApiError::unauthorized)?;
        Ok(KnownKey { merchant_id: owner.merchant_id, key: Arc::new(key) })
    }
}

/// The refusal of a token that cannot be an API key, whichever keys there are.
fn no_key(token: &str) -> ApiError {
    let message = if key::has_key_prefix(token) {
        "The API key is mistyped or cut short: its last characters do not fit the others. Copy it whole: sk_ and 38 letters and digits."
    } else {
        "The bearer token is no API key. Send one of the merchant's, which begins with sk_. The admin token is for /admin on the operator's listener only."
    };
    ApiError::new(Code::Unauthorized, message)
}

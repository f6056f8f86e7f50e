//! A merchant's program, which shows an API key.

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use till_domain::command::Caller as DomainCaller;
use till_domain::ids::{KeyId, MerchantId};
use till_domain::key::{self, KeyDigest};
use till_domain::records::{ApiKeys, KeyDirectory};

use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::dispatch::{Authenticate, Caller};
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
    fn pinned_version(&self) -> ApiVersion {
        self.version
    }

    fn log_name(&self) -> String {
        self.key_id.to_string()
    }
}

/// Finds the merchant of an API key.
pub struct KeyAuthentication(pub Shared);

impl Authenticate<MerchantCaller> for KeyAuthentication {
    fn authenticate<'a>(&'a self, token: &'a str) -> LocalBoxFuture<'a, Result<MerchantCaller, ApiError>> {
        self.find(token).boxed_local()
    }

    fn no_token(&self) -> ApiError {
        ApiError::new(Code::Unauthorized, "Send the API key in the header Authorization: Bearer <API_KEY>.")
    }
}

impl KeyAuthentication {
    async fn find(&self, token: &str) -> Result<MerchantCaller, ApiError> {
        if !key::is_well_formed(token) {
            return Err(ApiError::unauthorized());
        }
        // The look-up is by a keyed digest, so its time tells nothing of any key.
        let digest = KeyDigest(self.0.keyring.api_key_digest(token));
        let owner = self.0.directory().get::<KeyDirectory>(digest)?.ok_or_else(ApiError::unauthorized)?;
        let reader = self.0.reader(owner.merchant_id).await?;
        let found = reader.get::<ApiKeys>(owner.key_id)?.ok_or_else(ApiError::unauthorized)?;
        // Only a key that ends asks for the merchant's last event: what has ended stays so when the clock steps back.
        let now = if found.expires_at.is_some() { reader.now()? } else { self.0.now() };
        if !found.is_live(now) {
            return Err(ApiError::unauthorized());
        }
        self.0.last_used.note(found.id, now);
        let version = ApiVersion::from_name(&found.api_version).unwrap_or(ApiVersion::NEWEST);
        Ok(MerchantCaller { merchant_id: owner.merchant_id, key_id: found.id, version })
    }
}

//! The callers of merchants: programs, which authenticate with an API key, and members who are signed in.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use till_domain::command::Caller;
use till_domain::ids::MerchantId;
#[cfg(feature = "pages")]
use till_domain::ids::UserId;
use till_domain::key::{self, ApiKey, KeyDigest};
use till_domain::money::AmountMinor;
use till_domain::records::{ApiKeys, KeyDirectory, Rows};
use till_domain::refusal::Refusal;
use till_domain::role::{Act, Grant, Role};
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::{Authenticate, AuthenticatedCaller, NoToken};
use till_protocol::version::ApiVersion;

use super::known_keys::{KnownKey, KnownKeys};
use crate::service::{Reader, Service, Shared, refused};

/// A merchant's program, or a member of its team who is signed in.
#[derive(Debug, Clone, Copy)]
pub struct MerchantCaller {
    pub merchant_id: MerchantId,
    /// The key or the member.
    who: Caller,
    /// Its role when it was authenticated.
    pub role: Role,
    refund_limit: Option<AmountMinor>,
    version: ApiVersion,
}

impl MerchantCaller {
    /// A member who is signed in, with its role and its refund limit.
    #[cfg(feature = "pages")]
    #[must_use]
    pub fn member(
        merchant_id: MerchantId,
        user_id: UserId,
        role: Role,
        refund_limit: Option<AmountMinor>,
    ) -> MerchantCaller {
        MerchantCaller { merchant_id, who: Caller::User(user_id), role, refund_limit, version: ApiVersion::NEWEST }
    }

    fn program(merchant_id: MerchantId, key: &ApiKey) -> MerchantCaller {
        let version = ApiVersion::from_name(&key.api_version).unwrap_or(ApiVersion::NEWEST);
        let ApiKey { id, role, refund_limit, .. } = *key;
        MerchantCaller { merchant_id, who: Caller::ApiKey(id), role, refund_limit, version }
    }

    /// The caller in the form of the domain.
    #[must_use]
    pub fn as_domain(&self) -> Caller {
        self.who
    }

    /// Returns true when the caller may do this at all. It is judged again when a change is decided.
    #[must_use]
    pub fn may(&self, act: Act) -> bool {
        act.is_open_to(self.role, self.refund_limit)
    }

    /// Refuses what the caller may not do.
    ///
    /// # Errors
    /// `FORBIDDEN`, which names the roles that may.
    pub fn check(&self, act: Act) -> Result<(), ApiError> {
        let refusal = Refusal::Forbidden { act: Some(act), role: self.role };
        if self.may(act) { Ok(()) } else { Err(refused(&refusal)) }
    }

    /// Reads the merchant's rows, as far as the caller may know its customers.
    ///
    /// # Errors
    /// `UNAVAILABLE` when they cannot be read now.
    pub async fn reader<'s>(&self, service: &'s Service) -> Result<Reader<'s>, ApiError> {
        let reader = service.reader(self.merchant_id).await?;
        let is_masked = Act::SeeCustomers.grant(self.role) == Grant::Masked;
        Ok(if is_masked { reader.masked() } else { reader })
    }
}

impl AuthenticatedCaller for MerchantCaller {
    type LogName = Caller;

    fn pinned_version(&self) -> ApiVersion {
        self.version
    }

    fn log_name(&self) -> Caller {
        self.who
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
    /// An authentication that reads keys through the service.
    #[must_use]
    pub fn new(service: Shared) -> KeyAuthentication {
        KeyAuthentication { service, known: KnownKeys::default() }
    }

    async fn find(&self, token: &str) -> Result<MerchantCaller, ApiError> {
        if !key::is_well_formed(token) {
            return Err(no_key(token));
        }
        // The look-up uses a keyed digest, so its duration reveals nothing about any key.
        let digest = KeyDigest(self.service.keyring().api_key_digest(token));
        let KnownKey { merchant_id, key } = self.known_or_read(digest).await?;
        // The merchant's last event is read only for keys with an expiry: an expired key remains expired when the clock
        // steps back.
        let now = match key.expires_at {
            Some(_) => self.service.merchant_now(merchant_id)?,
            None => self.service.clock_of(merchant_id),
        };
        if !key.is_live(now) {
            return Err(ApiError::unauthorized());
        }
        self.service.last_used().note(key.id, now);
        Ok(MerchantCaller::program(merchant_id, &key))
    }

    /// The key in its present state.
    async fn known_or_read(&self, digest: KeyDigest) -> Result<KnownKey, ApiError> {
        let changes = self.service.engine().counts().key_changes();
        if let Some(known) = self.known.get(digest, changes) {
            // While the merchant's rows lag behind its log, the log may contain a revocation that is not in the rows.
            self.service.reader(known.merchant_id).await?;
            if self.service.engine().counts().key_changes() == changes {
                return Ok(known);
            }
        }
        let changes = self.service.engine().counts().key_changes();
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

/// The refusal of a token that cannot be an API key at all.
fn no_key(token: &str) -> ApiError {
    let message = if key::has_key_prefix(token) {
        "The API key is mistyped or cut short: its last characters, a checksum, do not match the others. Copy the \
            whole key: sk_ and 38 letters and digits."
    } else {
        "The bearer token is not an API key. Send a key of the merchant, which begins with sk_. The admin token is \
            for /admin on the operator's listener only."
    };
    ApiError::new(Code::Unauthorized, message)
}

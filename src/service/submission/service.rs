//! The service, which all endpoints share.

use std::net::IpAddr;
use std::sync::Arc;

use till_actors::clock::Clock;
use till_actors::security_codes::{SecurityCode, SecurityCodes};
use till_actors::webhooks::AddressPolicy;
use till_actors::{Answered, Engine, Secret, Store};
use till_domain::command::{AdvanceClock, Caller, Command, Expired, Idempotency, IdempotencyScope, Request};
use till_domain::event::Answer;
use till_domain::ids::{InstallationId, MerchantId, TokenId};
use till_domain::text::IdempotencyKey;
use till_domain::time::Millis;
use till_operate::archive::Archiver;
use till_protocol::api_error::ApiError;
use till_protocol::dispatch::{Call, CallsPerSecond, Reply};
use till_protocol::fault::Fault;
use till_sandbox::PlayedAcquirer;
use till_storage::journal::read_record_time;
use till_storage::rows::RowGate;
use till_storage::shapes::MerchantReader;
use till_storage::vault::Keyring;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::denial;
use super::fingerprint;
use super::test_attempts::WebhookTests;
#[cfg(feature = "pages")]
use crate::seats::Seats;
use crate::service::operations::{Checkpoints, Notes, Operations};
use crate::service::usage::{LastUsed, SdkWrites};

/// The rate limit of one address for one installation, against card testing.
pub type SdkRate = CallsPerSecond<(InstallationId, IpAddr)>;

/// Reads of one merchant's rows. Only committed rows are read, and an answer is sent after its commit, so a caller
/// always reads its own writes.
pub(crate) type Reader<'a> = MerchantReader<&'a dyn Store>;

/// The service, shared by endpoints.
pub type Shared = Arc<Service>;

/// The parts that a service is made of.
pub struct ServiceParts {
    /// The engine that carries out commands.
    pub engine: Engine,
    /// The store that rows are read from.
    pub store: Arc<dyn Store>,
    /// The keys of each purpose.
    pub keyring: Arc<Keyring>,
    /// The clock of the server, by which records and answers are dated.
    pub clock: Arc<dyn Clock>,
    /// Security codes that wait for their authorization.
    pub security_codes: Arc<SecurityCodes>,
    /// The time of each API key's last use.
    pub last_used: Arc<LastUsed>,
    /// The rate limit of one address for one installation.
    pub sdk_rate: SdkRate,
    /// The rates of calls that write without a key.
    pub sdk_writes: SdkWrites,
    /// The addresses that webhooks may have.
    pub webhook_addresses: AddressPolicy,
    /// The acquirer whose provider the operator plays.
    pub sandbox: Arc<dyn PlayedAcquirer>,
    /// The address under which browsers and programs reach this server from outside.
    pub public_url: Option<String>,
    /// The notes for the next start, such as that effects and timers are paused.
    pub notes: Arc<dyn Notes>,
    /// The seconds without a request after which a member's session ends.
    pub dashboard_idle_seconds: u64,
    /// The parts of a server on a disk.
    pub on_disk: OnDisk,
}

/// The parts that only a server on a disk has. A store in memory has none of them.
#[derive(Default)]
pub struct OnDisk {
    /// The checkpoints; None also where the directory only repeats a log elsewhere.
    pub checkpoints: Option<Checkpoints>,
    /// Operations on the process itself.
    pub operations: Option<Operations>,
    /// The archiver, when commits are archived.
    pub archiver: Option<Archiver>,
}

/// Everything that endpoints use.
pub struct Service {
    parts: ServiceParts,
    /// The attempts by hand that test webhooks.
    webhook_tests: Arc<WebhookTests>,
    /// Locked while a call with an idempotency key creates a merchant, until that is durable: there is no actor yet
    /// that would serialize two such calls.
    creation: Arc<Mutex<()>>,
    #[cfg(feature = "pages")]
    seats: Seats,
}

/// The reply of an endpoint that answers an id, or true when something changed.
#[must_use]
pub(crate) fn reply_of(Answered { answer, replayed }: Answered) -> Reply {
    let reply = match answer {
        Answer::Changed(changed) => Reply::new(&changed),
        Answer::Metadata { version, .. } => Reply::new(&version),
        Answer::Redelivery { events } => Reply::new(&events),
        named => Reply::new(&named.id_text()),
    };
    reply.replayed(replayed)
}

impl Service {
    /// A service of these parts.
    #[must_use]
    pub fn new(parts: ServiceParts) -> Service {
        #[cfg(feature = "pages")]
        let seats = Seats::new(Arc::clone(&parts.keyring), parts.dashboard_idle_seconds);
        Service {
            parts,
            webhook_tests: Arc::default(),
            creation: Arc::default(),
            #[cfg(feature = "pages")]
            seats,
        }
    }

    /// What signing in needs.
    #[cfg(feature = "pages")]
    #[must_use]
    pub(crate) fn seats(&self) -> &Seats {
        &self.seats
    }

    /// The engine that carries out commands.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.parts.engine
    }

    /// The store that rows are read from.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.parts.store
    }

    /// The keys of each purpose.
    #[must_use]
    pub fn keyring(&self) -> &Arc<Keyring> {
        &self.parts.keyring
    }

    /// The time of each API key's last use.
    #[must_use]
    pub fn last_used(&self) -> &Arc<LastUsed> {
        &self.parts.last_used
    }

    /// The addresses that webhooks may have.
    #[must_use]
    pub fn webhook_addresses(&self) -> &AddressPolicy {
        &self.parts.webhook_addresses
    }

    /// The attempts by hand that test webhooks.
    #[must_use]
    pub(crate) fn webhook_tests(&self) -> &Arc<WebhookTests> {
        &self.webhook_tests
    }

    /// The acquirer whose provider the operator plays.
    #[must_use]
    pub fn sandbox(&self) -> &dyn PlayedAcquirer {
        &*self.parts.sandbox
    }

    /// The address under which browsers and programs reach this server from outside.
    #[must_use]
    pub fn public_url(&self) -> Option<&str> {
        self.parts.public_url.as_deref()
    }

    /// The notes for the next start.
    #[must_use]
    pub fn notes(&self) -> &Arc<dyn Notes> {
        &self.parts.notes
    }

    /// The checkpoints, where there can be any.
    #[must_use]
    pub fn checkpoints(&self) -> Option<&Checkpoints> {
        self.parts.on_disk.checkpoints.as_ref()
    }

    /// Operations on the process itself, where it has files.
    #[must_use]
    pub fn operations(&self) -> Option<&Operations> {
        self.parts.on_disk.operations.as_ref()
    }

    /// The archiver, when commits are archived.
    #[must_use]
    pub fn archiver(&self) -> Option<&Archiver> {
        self.parts.on_disk.archiver.as_ref()
    }

    /// The rates of calls without a key: of an address at an installation, and of what they write.
    pub(in crate::service) fn sdk_rates(&self) -> (&SdkRate, &SdkWrites) {
        (&self.parts.sdk_rate, &self.parts.sdk_writes)
    }

    /// Keeps the security code of a card until its authorization.
    pub fn keep_security_code(&self, merchant_id: MerchantId, token_id: TokenId, code: SecurityCode) {
        self.parts.security_codes.insert(merchant_id, token_id, code);
    }

    /// The turn of a call with an idempotency key that creates a merchant. It is held until the merchant is durable.
    pub(crate) async fn creation_turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.creation).lock_owned().await
    }

    /// The time by the wall clock.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.parts.clock.now()
    }

    /// The time by a merchant's clock.
    #[must_use]
    pub fn clock_of(&self, merchant_id: MerchantId) -> Millis {
        self.parts.engine.clocks().now(merchant_id)
    }

    /// Sends a command to its merchant's actor, and waits for the answer.
    ///
    /// # Errors
    /// The refusal by the rules; `UNAVAILABLE` when the command could not be carried out now.
    pub async fn submit<C>(
        &self,
        call: &Call<C>,
        merchant_id: MerchantId,
        caller: Caller,
        command: Command,
        secret: Option<Secret>,
    ) -> Result<Answered, ApiError> {
        let idempotency = self.idempotency(call, installation(caller))?;
        let request = Request { caller, idempotency, command };
        self.parts.engine.submit(merchant_id, request, secret).await.map_err(|denied| denial::to_api_error(&denied))
    }

    /// Advances a merchant's test clock for the operator.
    ///
    /// # Errors
    /// The refusal by the rules; `UNAVAILABLE` when it could not be carried out now, or took too long.
    pub async fn advance_clock<C>(&self, call: &Call<C>, command: AdvanceClock) -> Result<Answered, ApiError> {
        let idempotency = self.idempotency(call, None)?;
        let advanced = self.parts.engine.advance_clock(command, idempotency).await;
        advanced.map_err(|denied| denial::to_api_error(&denied))
    }

    /// The idempotency key of a call with its scope, when the caller gave one.
    ///
    /// # Errors
    /// `INVALID_ARGUMENTS` for a malformed `Idempotency-Key`.
    pub fn idempotency<C>(
        &self,
        call: &Call<C>,
        installation_id: Option<InstallationId>,
    ) -> Result<Option<Idempotency>, ApiError> {
        let Some(key) = call.idempotency_key()? else { return Ok(None) };
        let key = IdempotencyKey::new(key)
            .map_err(|error| ApiError::invalid_arguments(&[Fault::invalid("Idempotency-Key", error.0)]))?;
        let declaration = call.declaration();
        let endpoint = format!("{}/{}", declaration.package.segment(), declaration.name);
        let canonical = fingerprint::canonical(declaration, call.body());
        let scope = IdempotencyScope { installation_id, endpoint, key };
        Ok(Some(Idempotency { scope, fingerprint: self.parts.keyring.idempotency_fingerprint(&canonical) }))
    }

    /// Removes the rest of an expired answer now, instead of in its turn.
    ///
    /// # Errors
    /// `UNAVAILABLE` when it could not be done now.
    pub async fn forget_answer(&self, merchant_id: MerchantId, scope: IdempotencyScope) -> Result<(), ApiError> {
        let command = Command::Sweep(vec![Expired::Answer(scope)]);
        let request = Request { caller: Caller::System, idempotency: None, command };
        let swept = self.parts.engine.submit(merchant_id, request, None).await;
        swept.map(|_| ()).map_err(|denied| denial::to_api_error(&denied))
    }

    /// A reader of one merchant's rows, after these are brought up to the log.
    ///
    /// # Errors
    /// `UNAVAILABLE` when the rows lag behind the log and cannot be brought up to it now.
    pub async fn reader(&self, merchant_id: MerchantId) -> Result<Reader<'_>, ApiError> {
        if self.is_behind(merchant_id)? {
            self.catch_up(merchant_id).await?;
        }
        Ok(MerchantReader::new(merchant_id, Some(Arc::clone(&self.parts.keyring)), &*self.parts.store))
    }

    /// A reader of the rows above all merchants: the owners of keys, and the list of merchants.
    #[must_use]
    pub fn directory(&self) -> Reader<'_> {
        MerchantReader::of_all_merchants(&*self.parts.store)
    }

    /// The later of the merchant's clock and its last event, by which expiry is judged.
    ///
    /// # Errors
    /// `UNAVAILABLE` when the last record cannot be read.
    pub fn merchant_now(&self, merchant_id: MerchantId) -> Result<Millis, ApiError> {
        let head = self.parts.store.head(merchant_id).map_err(|error| ApiError::unreadable(&error))?;
        let last = read_record_time(&*self.parts.store, merchant_id, head.sequence)
            .map_err(|error| ApiError::unreadable(&error))?;
        // A record has the time of the wall clock.
        let wall = self.now().max(Millis(last.unwrap_or_default()));
        Ok(Millis(wall.0.saturating_add(self.parts.engine.clocks().offset_ms(merchant_id))))
    }

    fn is_behind(&self, merchant_id: MerchantId) -> Result<bool, ApiError> {
        let gate = self.parts.store.gate(merchant_id).map_err(|error| ApiError::unreadable(&error))?;
        Ok(gate != RowGate::Open)
    }

    /// Brings a merchant's rows up to its log, and that to a log elsewhere: loading it does, so this submits a command
    /// without effect.
    ///
    /// # Errors
    /// `UNAVAILABLE` when it cannot be loaded.
    pub async fn catch_up(&self, merchant_id: MerchantId) -> Result<(), ApiError> {
        let command = Command::FireTimers(Vec::new());
        let request = Request { caller: Caller::System, idempotency: None, command };
        let loaded = self.parts.engine.submit(merchant_id, request, None).await;
        loaded.map(|_| ()).map_err(|denied| denial::to_api_error(&denied))
    }
}

fn installation(caller: Caller) -> Option<InstallationId> {
    match caller {
        Caller::Sdk(installation_id) => Some(installation_id),
        Caller::ApiKey(_) | Caller::User(_) | Caller::Operator | Caller::System => None,
    }
}

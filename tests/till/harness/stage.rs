//! A server in the test's own process: the same endpoints over HTTP, on a store in memory, with a clock that only the
//! test moves, and rows that no command creates yet.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::dev::ServerHandle;
use actix_web::http::Method;
use actix_web::test::TestRequest;
use jiff::Timestamp;
use secrecy::SecretString;
use serde_json::{Value, json};
use tempfile::TempDir;
use till::{
    AdminToken, ConnectionLimits, Dispatcher, Entrance, KeyAuthentication, LastUsed, Listener, ListenerSettings,
    NoteFiles, OnDisk, Operator, Package, ReservedAddress, SdkRate, SdkWrites, Service, ServiceParts, Shared,
    admin_endpoints, browser_pages, merchant_endpoints, sdk_endpoints,
};
use till_actors::acquirer::Connectors;
use till_actors::clock::Clock;
use till_actors::security_codes::SecurityCodes;
use till_actors::webhooks::{AddressPolicy, WebhookDelivery};
use till_actors::{Acquirers, CallTimes, Dependencies, Engine, EngineOptions};
use till_domain::apply::apply_rows;
use till_domain::command::Caller;
use till_domain::event::{Event, Mutation};
use till_domain::ids::{IdPosition, MerchantId};
use till_domain::payment::Lifetimes;
use till_domain::records::{AnyKey, AnyRow, MemoryRows};
use till_domain::time::Millis;
use till_sandbox::SandboxAcquirer;
use till_sandbox::book::MemoryBook;
use till_storage::commit::GROUP_COMMIT_DELAY;
use till_storage::memory::MemoryStore;
use till_storage::shapes::{MerchantPersonal, encode_row, row_key};
use till_storage::vault::{Keyring, RootKey};

use super::client::Client;
use super::server::ADMIN_TOKEN;
use super::shop::Shop;
use super::waiting::PATIENCE;

/// A clock that only the test moves, forward or back.
#[derive(Debug, Default)]
struct StandingClock {
    now_ms: AtomicU64,
    panics: AtomicU64,
}

impl Clock for StandingClock {
    fn now(&self) -> Millis {
        // Background threads read the clock all the time; only a call panics.
        if std::thread::current().name() != Some("till-background") {
            let left = self.panics.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            assert!(left.is_err(), "the clock panics on purpose");
        }
        Millis(self.now_ms.load(Ordering::SeqCst))
    }
}

/// A running server of the test's own process. Dropping it stops it.
pub(crate) struct Stage {
    public: String,
    admin: String,
    clock: Arc<StandingClock>,
    store: Arc<MemoryStore>,
    keyring: Arc<Keyring>,
    handles: Vec<ServerHandle>,
    thread: Option<JoinHandle<()>>,
}

/// The addresses and handles that the server's thread sends once it listens.
type Listening = (SocketAddr, SocketAddr, Vec<ServerHandle>);

fn millis(instant: &str) -> u64 {
    let instant: Timestamp = instant.parse().unwrap_or_else(|error| panic!("{instant}: {error}"));
    u64::try_from(instant.as_millisecond()).expect("after 1970")
}

impl Stage {
    /// Starts a server at an instant such as `2025-04-01T00:00:00Z`.
    pub(crate) fn at(instant: &str) -> Stage {
        let (store, keyring, clock) = dependencies();
        clock.now_ms.store(millis(instant), Ordering::SeqCst);
        let (sender, listening) = channel();
        let parts = (Arc::clone(&store), Arc::clone(&keyring), Arc::clone(&clock));
        let thread = std::thread::spawn(move || serve(parts, &sender));
        let (public, admin, handles) = listening.recv_timeout(PATIENCE).expect("it listens");
        let address = |address: SocketAddr| format!("http://{address}");
        Stage { public: address(public), admin: address(admin), clock, store, keyring, handles, thread: Some(thread) }
    }

    /// The same, and a merchant of it.
    pub(crate) fn with_shop(instant: &str) -> (Stage, Shop) {
        let stage = Stage::at(instant);
        let shop = stage.shop();
        (stage, shop)
    }

    /// Sets the clock to an instant, later or earlier.
    pub(crate) fn set(&self, instant: &str) {
        self.clock.now_ms.store(millis(instant), Ordering::SeqCst);
    }

    /// Moves the clock forward.
    pub(crate) fn pass_seconds(&self, seconds: u64) {
        self.pass_millis(seconds * 1_000);
    }

    /// Moves the clock forward.
    pub(crate) fn pass_millis(&self, millis: u64) {
        self.clock.now_ms.fetch_add(millis, Ordering::SeqCst);
    }

    /// The time of the clock, in seconds.
    pub(crate) fn now(&self) -> u64 {
        self.clock.now_ms.load(Ordering::SeqCst) / 1_000
    }

    /// The next call that reads the time panics.
    pub(crate) fn panic_next(&self) {
        self.clock.panics.store(1, Ordering::SeqCst);
    }

    /// The store, whose writes a test can make fail.
    pub(crate) fn store(&self) -> &MemoryStore {
        &self.store
    }

    /// The base address of the public listener.
    pub(crate) fn public(&self) -> &str {
        &self.public
    }

    /// A client of the public listener, without a key.
    pub(crate) fn client(&self) -> Client {
        Client::new(&self.public)
    }

    /// A client of the admin listener, with the token.
    pub(crate) fn admin_client(&self) -> Client {
        Client::new(&self.admin).bearer(ADMIN_TOKEN)
    }

    /// Calls an operator's endpoint.
    pub(crate) fn admin(&self, endpoint: &str, body: &Value) -> super::ApiAnswer {
        self.admin_client().post(&format!("/admin/{endpoint}"), body)
    }

    /// Creates a merchant with an installation, a key and an open balance.
    pub(crate) fn shop(&self) -> Shop {
        self.shop_with(json!({ "name": "Shop", "currency": "THB" }))
    }

    /// Creates such a merchant with this body.
    pub(crate) fn shop_with(&self, merchant: Value) -> Shop {
        Shop::create(&self.admin_client(), self.client(), &merchant)
    }

    /// Writes the rows of events without a record of them: events that no command causes yet.
    pub(crate) fn write_events(&self, shop: &Shop, events: Vec<Event>) {
        let last_id = IdPosition::default();
        let mutation = Mutation { at: Millis(0), caller: Caller::System, last_id, answer: None, events };
        let mut rows = MemoryRows::default();
        apply_rows(&mutation, &mut rows).expect("nothing is changed that is not there");
        rows.iter().for_each(|(key, row)| self.write_row(shop, key, row));
    }

    /// Writes one row without a record of it.
    pub(crate) fn write_row(&self, shop: &Shop, key: &AnyKey, row: &AnyRow) {
        let merchant_id: MerchantId = shop.merchant_id.parse().expect("a merchant's id");
        let mut personal = MerchantPersonal::new(merchant_id, Arc::clone(&self.keyring), self.store.as_ref());
        let value = encode_row(row, key, &mut personal).expect("the row can be encoded");
        let (family, key) = row_key(merchant_id, key, &personal);
        self.store.damage(family, &key, &value);
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.handles.iter().for_each(|handle| drop(handle.stop(false)));
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(ended.is_none_or(|ended| ended.is_ok()), "the server's thread ended badly");
        }
    }
}

/// The operator's endpoints on a store in memory, without a listener: a call is a future, which the test may drop at a
/// moment of its choice, as the web server does when a connection breaks. Must live within an actix system.
pub(crate) struct Backstage {
    service: Shared,
    store: Arc<MemoryStore>,
    dispatcher: Dispatcher<Operator>,
    _data: TempDir,
}

impl Backstage {
    pub(crate) fn start() -> Backstage {
        let (store, keyring, clock) = dependencies();
        let data = TempDir::new().expect("a temporary directory can be made");
        let service = service((Arc::clone(&store), keyring, clock), &data);
        let dispatcher = admin_dispatcher(&service);
        Backstage { service, store, dispatcher, _data: data }
    }

    /// A call under an Idempotency-Key, which begins when it is first polled.
    pub(crate) async fn named(&self, key: &str, endpoint: &str, body: &Value) -> HttpResponse {
        let request = TestRequest::with_uri(&format!("/admin/{endpoint}")).method(Method::POST).set_json(body);
        let request = request.insert_header(("Authorization", format!("Bearer {ADMIN_TOKEN}")));
        let request = request.insert_header(("Idempotency-Key", key));
        let (request, payload) = request.to_http_parts();
        let entrance = Entrance { is_secure: false, host: "localhost:9090".to_owned(), forwarded: None };
        self.dispatcher.handle(&request, payload, &entrance).await
    }

    /// The store, whose writes a test can hold back.
    pub(crate) fn store(&self) -> &MemoryStore {
        &self.store
    }

    /// Commands that merchants' actors have taken and not answered.
    pub(crate) fn in_flight(&self) -> usize {
        self.service.engine().in_flight()
    }
}

impl Drop for Backstage {
    fn drop(&mut self) {
        // A test that failed while it held writes back must not keep the engine from stopping.
        self.store.resume_appends();
    }
}

/// An empty store, new keys, and a clock.
fn dependencies() -> (Arc<MemoryStore>, Arc<Keyring>, Arc<StandingClock>) {
    let root = RootKey::from_hex(&"5c".repeat(32)).expect("64 hexadecimal characters");
    let keyring = Arc::new(Keyring::create(&root).expect("randomness").0);
    (Arc::new(MemoryStore::new()), keyring, Arc::new(StandingClock::default()))
}

fn admin_dispatcher(service: &Shared) -> Dispatcher<Operator> {
    let token = Arc::new(AdminToken::new(SecretString::from(ADMIN_TOKEN)));
    Dispatcher::builder(&[Package::Admin], token).functions(admin_endpoints(service)).build()
}

/// Serves until the handles stop the servers.
fn serve(parts: (Arc<MemoryStore>, Arc<Keyring>, Arc<StandingClock>), listening: &Sender<Listening>) {
    let data = TempDir::new().expect("a temporary directory can be made");
    let system = actix_web::rt::System::new();
    let service = system.block_on(async {
        let service = service(parts, &data);
        let keys = Arc::new(KeyAuthentication::new(Arc::clone(&service)));
        let public = Dispatcher::builder(&[Package::Merchants, Package::Sdk], keys)
            .functions(merchant_endpoints(&service))
            .functions(sdk_endpoints(&service))
            .pages(browser_pages(&service))
            .build();
        let admin = admin_dispatcher(&service);
        let settings = ListenerSettings {
            name: "test",
            begin_thread: |_| {},
            workers: 2,
            connections: ConnectionLimits::in_all(1_000, PATIENCE),
            forwarded: None,
            tls: None,
            pulse: None,
        };
        let reserved = || ReservedAddress::reserve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a port is free");
        let public = Listener::listen(reserved(), Arc::new(public), &settings).expect("it is this process's");
        let admin = Listener::listen(reserved(), Arc::new(admin), &settings).expect("it is this process's");
        let handles = vec![public.server.handle(), admin.server.handle()];
        listening.send((public.address, admin.address, handles)).expect("the test waits for it");
        let (public, admin) = futures_util::future::join(public.server, admin.server).await;
        public.and(admin).expect("it served");
        service
    });
    // The stop waits for threads of the actix system to end, so it is outside of the system's future but within its
    // life.
    service.engine().stop(PATIENCE);
}

fn service((store, keyring, clock): (Arc<MemoryStore>, Arc<Keyring>, Arc<StandingClock>), data: &TempDir) -> Shared {
    let sandbox = Arc::new(SandboxAcquirer::start(MemoryBook::new()).expect("a thread can be started"));
    let security_codes = Arc::new(SecurityCodes::new());
    let dependencies = Dependencies {
        store: Arc::clone(&store) as _,
        keyring: Arc::clone(&keyring),
        acquirers: Acquirers::new(Arc::clone(&sandbox) as _, Connectors::new()),
        clock: Arc::clone(&clock) as _,
        security_codes: Arc::clone(&security_codes),
        webhooks: WebhookDelivery::in_memory(),
    };
    let options = EngineOptions {
        arbiters: 2,
        live_actors_max: 100,
        idle_before_retiring: Duration::from_secs(60),
        expiry_pause: Duration::from_millis(50),
        lifetimes: Lifetimes::default(),
        call_times: CallTimes::default(),
        group_commit_delay: GROUP_COMMIT_DELAY,
        paused: false,
        on_fatal: Box::new(|_| {}),
    };
    let notes = Arc::new(NoteFiles(data.path().to_owned()));
    Arc::new(Service::new(ServiceParts {
        engine: Engine::start(dependencies, options).expect("nothing is unreadable"),
        store,
        keyring,
        clock,
        security_codes,
        webhook_addresses: AddressPolicy::default(),
        sandbox,
        public_url: None,
        last_used: Arc::new(LastUsed::read(Arc::clone(&notes) as _)),
        sdk_rate: SdkRate::new(NonZeroU32::MAX, "one address for one installation"),
        sdk_writes: SdkWrites::new(NonZeroU32::MAX, NonZeroU32::MAX),
        notes,
        dashboard_idle_seconds: 1_800,
        on_disk: OnDisk::default(),
    }))
}

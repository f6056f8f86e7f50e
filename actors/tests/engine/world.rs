//! An engine over a store in memory, with everything that a test needs access to.

use actix_rt::task::JoinHandle;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use till_actors::acquirer::Connectors;
use till_actors::security_codes::SecurityCodes;
use till_actors::webhooks::{AddressPolicy, Sender, WebhookDelivery};
use till_actors::{
    Acquirers, Answered, CallTimes, Denied, Dependencies, Engine, EngineOptions, FailedOutcome, Reply, Secret,
};
use till_domain::acquirer::AcquirerName;
use till_domain::command::Request;
use till_domain::effect::TimerKind;
use till_domain::event::Answer;
use till_domain::ids::MerchantId;
use till_domain::ledger::BalanceTotals;
use till_domain::payment::{Lifetimes, Payment, PaymentStatus};
use till_domain::records::{AnyKey, Balances, Payments, Rows, Single, Table};
use till_domain::refusal::Refusal;
use till_sandbox::SandboxAcquirer;
use till_sandbox::book::{MemoryBook, MerchantTotals, totals_by_merchant};
use till_storage::commit::GROUP_COMMIT_DELAY;
use till_storage::deliveries::MemoryDeliveries;
use till_storage::family::Family;
use till_storage::keys::MERCHANT_LEN;
use till_storage::memory::MemoryStore;
use till_storage::rows::RowPair;
use till_storage::shapes::{KeyParts, MerchantReader, decode_key, row_key};
use till_storage::vault::{Keyring, RootKey};

use crate::acquirer::{ScriptHandle, ScriptedAcquirer};
use crate::clock::ManualClock;
use crate::connector::ScriptedConnector;
use crate::shop::{TestShop, tokenize_without_number};

/// Limit of the time until an awaited state.
const PATIENCE: Duration = Duration::from_secs(10);

/// Families whose rows are derived from the log, the position included.
pub(crate) const DERIVED: [Family; 5] =
    [Family::Rows, Family::Indexes, Family::Effects, Family::Timers, Family::Directory];

/// The settings of a test's engine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) live_actors_max: usize,
    pub(crate) idle_before_retiring: Duration,
    pub(crate) expiry_pause: Duration,
    pub(crate) group_commit_delay: Duration,
    pub(crate) paused: bool,
    pub(crate) call_times: CallTimes,
}

impl Default for Settings {
    fn default() -> Settings {
        let hour = Duration::from_secs(3_600);
        let idle_before_retiring = Duration::from_secs(60);
        // A request is on its way no longer when its call is first tried again.
        let call_times = CallTimes { on_its_way: Duration::from_millis(50), ..CallTimes::default() };
        Settings {
            live_actors_max: 1_000,
            idle_before_retiring,
            expiry_pause: hour,
            group_commit_delay: GROUP_COMMIT_DELAY,
            paused: false,
            call_times,
        }
    }
}

pub(crate) struct EngineWorld {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) book: MemoryBook,
    pub(crate) deliveries: Arc<MemoryDeliveries>,
    pub(crate) sandbox: Arc<SandboxAcquirer>,
    pub(crate) script: ScriptHandle,
    /// The connector to the acquirer at which merchants have accounts.
    pub(crate) connector: ScriptedConnector,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) security_codes: Arc<SecurityCodes>,
    pub(crate) engine: Arc<Engine>,
    settings: Settings,
    fatal: Arc<AtomicUsize>,
}

impl EngineWorld {
    pub(crate) fn start() -> EngineWorld {
        EngineWorld::start_with(Settings::default())
    }

    pub(crate) fn start_with(settings: Settings) -> EngineWorld {
        let root = RootKey::from_hex(&"a7".repeat(32)).expect("64 hexadecimal characters");
        let (keyring, _) = Keyring::create(&root).expect("randomness");
        let (store, book, deliveries) = (MemoryStore::new(), MemoryBook::new(), Arc::default());
        EngineWorld::start_over(store, book, deliveries, Arc::new(keyring), Arc::default(), settings)
    }

    fn start_over(
        store: MemoryStore,
        book: MemoryBook,
        deliveries: Arc<MemoryDeliveries>,
        keyring: Arc<Keyring>,
        clock: Arc<ManualClock>,
        settings: Settings,
    ) -> EngineWorld {
        let (store, script) = (Arc::new(store), ScriptHandle::default());
        let security_codes = Arc::new(SecurityCodes::new());
        let sandbox = Arc::new(SandboxAcquirer::start(book.clone()).expect("a thread"));
        let acquirer = ScriptedAcquirer { sandbox: Arc::clone(&sandbox), script: script.clone() };
        let connector = ScriptedConnector::default();
        let connectors = Connectors::from([(AcquirerName::Stripe, Arc::new(connector.clone()) as _)]);
        let fatal = Arc::new(AtomicUsize::new(0));
        let called = Arc::clone(&fatal);
        let dependencies = Dependencies {
            store: Arc::clone(&store) as _,
            keyring: Arc::clone(&keyring),
            acquirers: Acquirers::new(Arc::new(acquirer) as _, connectors),
            clock: Arc::clone(&clock) as _,
            security_codes: Arc::clone(&security_codes),
            webhooks: webhook_delivery(&deliveries),
        };
        let options = EngineOptions {
            arbiters: 2,
            live_actors_max: settings.live_actors_max,
            idle_before_retiring: settings.idle_before_retiring,
            expiry_pause: settings.expiry_pause,
            lifetimes: Lifetimes::default(),
            call_times: settings.call_times,
            group_commit_delay: settings.group_commit_delay,
            paused: settings.paused,
            on_fatal: Box::new(move |_| {
                called.fetch_add(1, Ordering::SeqCst);
            }),
        };
        let engine = Arc::new(Engine::start(dependencies, options).expect("nothing is unreadable"));
        EngineWorld {
            store,
            book,
            deliveries,
            sandbox,
            script,
            connector,
            clock,
            keyring,
            security_codes,
            engine,
            settings,
            fatal,
        }
    }

    /// The next process: everything in memory is lost, everything durable is there.
    pub(crate) fn restart(self) -> EngineWorld {
        self.restart_after(|_| {})
    }

    /// The next process, with effects and timers paused.
    pub(crate) fn restart_paused(mut self) -> EngineWorld {
        self.settings.paused = true;
        self.restart()
    }

    /// The next process, after a change of the store while no process uses it.
    pub(crate) fn restart_after(self, act: impl FnOnce(&MemoryStore)) -> EngineWorld {
        self.engine.stop(PATIENCE);
        let store = self.store.reopened();
        act(&store);
        let (keyring, clock) = (Arc::clone(&self.keyring), Arc::clone(&self.clock));
        EngineWorld::start_over(store, self.book.clone(), Arc::clone(&self.deliveries), keyring, clock, self.settings)
    }

    pub(crate) async fn submit(&self, merchant_id: MerchantId, request: Request) -> Reply {
        let answer = self.engine.submit(merchant_id, request, None);
        actix_rt::time::timeout(PATIENCE, answer).await.expect("it is answered in time")
    }

    /// Sends a request now, and returns its pending answer. Requests of one test keep their order.
    pub(crate) fn send(&self, merchant_id: MerchantId, request: Request) -> JoinHandle<Reply> {
        self.send_with(merchant_id, request, None)
    }

    pub(crate) fn send_with(
        &self,
        merchant_id: MerchantId,
        request: Request,
        secret: Option<Secret>,
    ) -> JoinHandle<Reply> {
        let engine = Arc::clone(&self.engine);
        let mut answer = Box::pin(async move { engine.submit(merchant_id, request, secret).await });
        // The first poll sends it.
        match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(reply) => actix_rt::spawn(async move { reply }),
            Poll::Pending => actix_rt::spawn(answer),
        }
    }

    /// Waits until the merchant's actor has handled everything sent before: a card without its number is refused by the
    /// actor itself, even while writes wait.
    pub(crate) async fn handled(&self, shop: &TestShop) {
        assert_not_done(&self.submit(shop.merchant_id, tokenize_without_number(shop)).await);
    }

    /// The clock, in Unix seconds.
    pub(crate) fn clock_seconds(&self) -> u64 {
        use till_actors::clock::Clock;
        self.clock.now().unix_seconds()
    }

    pub(crate) fn fatal_calls(&self) -> usize {
        self.fatal.load(Ordering::SeqCst)
    }

    /// The number of claims of any merchant so far, including this one.
    pub(crate) fn claims(&self) -> u64 {
        use till_storage::journal::Journal;
        let unused_id = MerchantId::from_bytes([0xee; 16]);
        let claim = self.store.claim(unused_id).expect("the store can be read");
        self.store.release(unused_id, claim.epoch);
        claim.epoch.0
    }
}

/// Deliveries to this machine, by a schedule of three delays that a test passes quickly.
fn webhook_delivery(deliveries: &Arc<MemoryDeliveries>) -> WebhookDelivery {
    let addresses = AddressPolicy::allowing("127.0.0.0/8".parse().expect("a network"));
    WebhookDelivery {
        deliveries: Arc::clone(deliveries) as _,
        sender: Sender::new(addresses.clone()),
        addresses,
        schedule: "5,50,50".parse().expect("a schedule"),
    }
}

impl Drop for EngineWorld {
    fn drop(&mut self) {
        // A failed test that held them must not keep the engine from stopping.
        self.store.resume_appends();
        self.store.resume_reads();
    }
}

/// The durable state.
impl EngineWorld {
    pub(crate) fn find<T: Table>(&self, shop: &TestShop, key: T::Key) -> Option<T::Row> {
        self.reader(shop).get::<T>(key).expect("the row can be read")
    }

    pub(crate) fn payment(&self, shop: &TestShop, answer: Answer) -> Payment {
        let Answer::Payment(id) = answer else { panic!("{answer:?} is no payment") };
        self.find::<Payments>(shop, id).expect("an answered payment is there")
    }

    pub(crate) async fn settles_down_as(&self, shop: &TestShop, answer: Answer, status: PaymentStatus) -> Payment {
        eventually("the payment gets there", || self.payment(shop, answer).status == status).await;
        self.payment(shop, answer)
    }

    pub(crate) fn totals(&self, shop: &TestShop) -> BalanceTotals {
        self.find::<Balances>(shop, Single).expect("the balance is open")
    }

    /// Rows of a merchant, except for the timer of its next statement, which is set as long as there is a balance.
    pub(crate) fn count(&self, family: Family, shop: &TestShop) -> usize {
        let is_of_statement = |key: &[u8]| {
            matches!(decode_key(family, key), Ok((_,
            KeyParts::Row(AnyKey::Timers(timer)))) if timer.kind == TimerKind::CloseStatement)
        };
        let below = |(key, _): &RowPair| {
            key.starts_with(&shop.merchant_id.to_bytes()) && key.len() > MERCHANT_LEN + 1 && !is_of_statement(key)
        };
        self.store.dump(family).iter().filter(|pair| below(pair)).count()
    }

    pub(crate) fn book_totals(&self, shop: &TestShop) -> MerchantTotals {
        let totals = totals_by_merchant(&self.book).expect("the book is whole");
        totals.get(&shop.merchant_id).copied().unwrap_or_default()
    }

    /// Checks that book and ledger have the same captures, and no effect is open.
    pub(crate) fn assert_book_equals_ledger(&self, shop: &TestShop) {
        let totals = self.totals(shop);
        let credited = u128::from(totals.held_credit_minor) + u128::from(totals.effective_credit_minor);
        assert_eq!(self.book_totals(shop).captured_minor, credited);
        assert_eq!(self.count(Family::Effects, shop), 0);
    }

    /// Makes reads of this row fail from now on.
    pub(crate) fn fail_reads_of<T: Table>(&self, shop: &TestShop, key: T::Key) {
        let (family, key) = self.family_and_key(shop, &T::key(key));
        self.store.fail_reads(family, &key);
    }

    pub(crate) fn family_and_key(&self, shop: &TestShop, key: &AnyKey) -> (Family, Vec<u8>) {
        row_key(shop.merchant_id, key, &self.reader(shop))
    }

    fn reader(&self, shop: &TestShop) -> MerchantReader<&MemoryStore> {
        MerchantReader::new(shop.merchant_id, Some(Arc::clone(&self.keyring)), &*self.store)
    }
}

/// Everything derived, family by family.
pub(crate) fn derived(store: &MemoryStore) -> Vec<(Family, Vec<RowPair>)> {
    DERIVED.into_iter().map(|family| (family, store.dump(family))).collect()
}

/// Restores derived rows to earlier values.
pub(crate) fn put_back(store: &MemoryStore, rows: &[(Family, Vec<RowPair>)]) {
    for (family, rows) in rows {
        for (key, _) in store.dump(*family) {
            store.lose(*family, &key);
        }
        for (key, value) in rows {
            store.damage(*family, key, value);
        }
    }
}

/// Waits until a condition holds.
#[track_caller]
pub(crate) fn eventually(what: &'static str, is_so: impl Fn() -> bool) -> impl Future<Output = ()> {
    let caller = std::panic::Location::caller();
    async move {
        let until = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < until, "{what}: not within {PATIENCE:?}, at {caller}");
            actix_rt::time::sleep(Duration::from_micros(200)).await;
        }
    }
}

/// All the answers, in the order of their requests.
pub(crate) async fn all(answers: impl IntoIterator<Item = JoinHandle<Reply>>) -> Vec<Reply> {
    let mut replies = Vec::new();
    for answer in answers {
        let reply = actix_rt::time::timeout(PATIENCE, answer).await.expect("it is answered in time");
        replies.push(reply.expect("no request panics"));
    }
    replies
}

/// True when an answer is still missing after everything that could cause it had time to run.
pub(crate) async fn is_pending(answer: &mut JoinHandle<Reply>) -> bool {
    actix_rt::time::timeout(Duration::from_millis(20), answer).await.is_err()
}

#[track_caller]
pub(crate) fn done(reply: Reply) -> Answer {
    match reply {
        Ok(Answered { answer, replayed: false }) => answer,
        other => panic!("not done: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn assert_not_done(reply: &Reply) {
    assert!(matches!(reply, Err(Denied::Unavailable { outcome: FailedOutcome::NotDone, .. })), "{reply:?}");
}

#[track_caller]
pub(crate) fn assert_unknown(reply: &Reply) {
    assert!(matches!(reply, Err(Denied::Unavailable { outcome: FailedOutcome::Unknown, .. })), "{reply:?}");
}

#[track_caller]
pub(crate) fn assert_refused(reply: &Reply, refusal: Refusal) {
    assert_eq!(*reply, Err(Denied::Refused(refusal)));
}

//! An engine over a store in memory, with everything that a test wants to have in hand.

use actix_rt::task::JoinHandle;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use till_actors::security_codes::SecurityCodes;
use till_actors::webhooks::{AddressPolicy, Sender, WebhookDelivery};
use till_actors::{Acquirers, Answered, Denied, Dependencies, Engine, EngineOptions, FailedOutcome, Reply, Secret};
use till_domain::command::Request;
use till_domain::effect::TimerKind;
use till_domain::event::Answer;
use till_domain::ids::MerchantId;
use till_domain::ledger::BalanceTotals;
use till_domain::merchant::AcquirerName;
use till_domain::payment::{Lifetimes, Payment, PaymentStatus};
use till_domain::records::{AnyKey, AnyRow, Balances, Payments, Rows, Single, Table};
use till_domain::refusal::Refusal;
use till_sandbox::book::{MemoryBook, MerchantTotals, totals_by_merchant};
use till_storage::commit::GROUP_COMMIT_DELAY;
use till_storage::deliveries::MemoryDeliveries;
use till_storage::family::Family;
use till_storage::keys::MERCHANT_LEN;
use till_storage::memory::MemoryStore;
use till_storage::rows::RowPair;
use till_storage::shapes::{KeyParts, MerchantReader, decode_key, encode_row, row_key};
use till_storage::vault::{Keyring, RootKey};

use crate::acquirer::{DirectedAcquirer, Direction};
use crate::clock::ManualClock;
use crate::shop::{Shop, tokenize_without_number};

/// How long anything may take that must come about.
const PATIENCE: Duration = Duration::from_secs(10);

/// Families whose rows are derived from the log, the position included.
pub(crate) const DERIVED: [Family; 5] =
    [Family::Rows, Family::Indexes, Family::Effects, Family::Timers, Family::Directory];

/// What an engine of a test is started with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) live_actors_max: usize,
    pub(crate) idle_before_retiring: Duration,
    pub(crate) expiry_pause: Duration,
    pub(crate) linger: Duration,
    pub(crate) paused: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        let hour = Duration::from_secs(3_600);
        let idle_before_retiring = Duration::from_secs(60);
        Settings {
            live_actors_max: 1_000,
            idle_before_retiring,
            expiry_pause: hour,
            linger: GROUP_COMMIT_DELAY,
            paused: false,
        }
    }
}

pub(crate) struct World {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) book: MemoryBook,
    deliveries: Arc<MemoryDeliveries>,
    pub(crate) direction: Direction,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) security_codes: Arc<SecurityCodes>,
    pub(crate) engine: Arc<Engine>,
    settings: Settings,
    fatal: Arc<AtomicUsize>,
}

impl World {
    pub(crate) fn start() -> World {
        World::start_with(Settings::default())
    }

    pub(crate) fn start_with(settings: Settings) -> World {
        let root = RootKey::from_hex(&"a7".repeat(32)).expect("64 hexadecimal characters");
        let (keyring, _) = Keyring::create(&root).expect("randomness");
        let (store, book, deliveries) = (MemoryStore::new(), MemoryBook::new(), Arc::default());
        World::start_over(store, book, deliveries, Arc::new(keyring), Arc::default(), settings)
    }

    fn start_over(
        store: MemoryStore,
        book: MemoryBook,
        deliveries: Arc<MemoryDeliveries>,
        keyring: Arc<Keyring>,
        clock: Arc<ManualClock>,
        settings: Settings,
    ) -> World {
        let (store, direction) = (Arc::new(store), Direction::default());
        let security_codes = Arc::new(SecurityCodes::new());
        let acquirer = DirectedAcquirer::start(book.clone(), direction.clone());
        let fatal = Arc::new(AtomicUsize::new(0));
        let called = Arc::clone(&fatal);
        let dependencies = Dependencies {
            store: Arc::clone(&store) as _,
            keyring: Arc::clone(&keyring),
            acquirers: Acquirers::from([(AcquirerName::Sandbox, Arc::new(acquirer) as _)]),
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
            linger: settings.linger,
            paused: settings.paused,
            on_fatal: Box::new(move |_| {
                called.fetch_add(1, Ordering::SeqCst);
            }),
        };
        let engine = Arc::new(Engine::start(dependencies, options).expect("nothing is unreadable"));
        World { store, book, deliveries, direction, clock, keyring, security_codes, engine, settings, fatal }
    }

    /// The next process: everything in memory is gone, what is durable is there.
    pub(crate) fn restart(self) -> World {
        self.restart_after(|_| {})
    }

    /// The next process, with effects and timers paused.
    pub(crate) fn restart_paused(mut self) -> World {
        self.settings.paused = true;
        self.restart()
    }

    /// The same, with something done to the store while nobody uses it.
    pub(crate) fn restart_after(self, act: impl FnOnce(&MemoryStore)) -> World {
        self.engine.stop(PATIENCE);
        let store = self.store.reopened();
        act(&store);
        let (keyring, clock) = (Arc::clone(&self.keyring), Arc::clone(&self.clock));
        World::start_over(store, self.book.clone(), Arc::clone(&self.deliveries), keyring, clock, self.settings)
    }

    pub(crate) async fn submit(&self, merchant_id: MerchantId, request: Request) -> Reply {
        let answer = self.engine.submit(merchant_id, request, None);
        actix_rt::time::timeout(PATIENCE, answer).await.expect("it is answered in time")
    }

    /// Sends a request now, and hands out where its answer will be. Those sent by one test keep their order.
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
        // The first poll is what sends it.
        match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(reply) => actix_rt::spawn(async move { reply }),
            Poll::Pending => actix_rt::spawn(answer),
        }
    }

    /// Waits until the merchant's actor has handled everything sent before: a card without its number is what
    /// an actor answers by itself, whatever waits to be written.
    pub(crate) async fn handled(&self, shop: &Shop) {
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

    /// How often any merchant was claimed so far, this one's look included.
    pub(crate) fn claims(&self) -> u64 {
        use till_storage::journal::Journal;
        let nobody = MerchantId::from_bytes([0xee; 16]);
        let claim = self.store.claim(nobody).expect("the store can be read");
        self.store.release(nobody, claim.epoch);
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

impl Drop for World {
    fn drop(&mut self) {
        // A test that failed while it held them must not keep the engine from stopping.
        self.store.resume_appends();
    }
}

/// What is durable.
impl World {
    pub(crate) fn find<T: Table>(&self, shop: &Shop, key: T::Key) -> Option<T::Row> {
        self.reader(shop).get::<T>(key).expect("the row can be read")
    }

    pub(crate) fn payment(&self, shop: &Shop, answer: Answer) -> Payment {
        let Answer::Payment(id) = answer else { panic!("{answer:?} is no payment") };
        self.find::<Payments>(shop, id).expect("an answered payment is there")
    }

    pub(crate) async fn settles_down_as(&self, shop: &Shop, answer: Answer, status: PaymentStatus) -> Payment {
        eventually("the payment gets there", || self.payment(shop, answer).status == status).await;
        self.payment(shop, answer)
    }

    pub(crate) fn totals(&self, shop: &Shop) -> BalanceTotals {
        self.find::<Balances>(shop, Single).expect("the balance is open")
    }

    /// Rows of a merchant, but for the timer of its next statement, which is set as long as there is a balance.
    pub(crate) fn count(&self, family: Family, shop: &Shop) -> usize {
        let is_of_statement = |key: &[u8]| matches!(decode_key(family, key), Ok((_, KeyParts::Row(AnyKey::Timers(timer)))) if timer.kind == TimerKind::CloseStatement);
        let below = |(key, _): &RowPair| {
            key.starts_with(&shop.merchant_id.to_bytes()) && key.len() > MERCHANT_LEN + 1 && !is_of_statement(key)
        };
        self.store.dump(family).iter().filter(|pair| below(pair)).count()
    }

    pub(crate) fn book_totals(&self, shop: &Shop) -> MerchantTotals {
        let totals = totals_by_merchant(&self.book).expect("the book is whole");
        totals.get(&shop.merchant_id).copied().unwrap_or_default()
    }

    /// The book and the ledger say the same of what was captured, and no effect is open.
    pub(crate) fn assert_book_equals_ledger(&self, shop: &Shop) {
        let totals = self.totals(shop);
        let credited = u128::from(totals.held_credit_minor) + u128::from(totals.effective_credit_minor);
        assert_eq!(self.book_totals(shop).captured_minor, credited);
        assert_eq!(self.count(Family::Effects, shop), 0);
    }

    /// From now on reads of this row fail.
    pub(crate) fn fail_reads_of<T: Table>(&self, shop: &Shop, key: T::Key) {
        let (family, key) = self.place(shop, &T::key(key));
        self.store.fail_reads(family, &key);
    }

    /// A row as it stands in the store.
    pub(crate) fn encoded(&self, shop: &Shop, key: &AnyKey, row: &AnyRow) -> Vec<u8> {
        encode_row(row, key, &mut self.reader(shop)).expect("nothing of it is sealed")
    }

    pub(crate) fn place(&self, shop: &Shop, key: &AnyKey) -> (Family, Vec<u8>) {
        row_key(shop.merchant_id, key, &self.reader(shop))
    }

    fn reader(&self, shop: &Shop) -> MerchantReader<&MemoryStore> {
        MerchantReader::new(shop.merchant_id, Some(Arc::clone(&self.keyring)), &*self.store)
    }
}

/// Everything derived, family by family.
pub(crate) fn derived(store: &MemoryStore) -> Vec<(Family, Vec<RowPair>)> {
    DERIVED.into_iter().map(|family| (family, store.dump(family))).collect()
}

/// Puts derived rows back to what they were.
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

/// Waits until something has come about.
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

/// All the answers, in the order in which the requests were sent.
pub(crate) async fn all(answers: impl IntoIterator<Item = JoinHandle<Reply>>) -> Vec<Reply> {
    let mut replies = Vec::new();
    for answer in answers {
        let reply = actix_rt::time::timeout(PATIENCE, answer).await.expect("it is answered in time");
        replies.push(reply.expect("no request panics"));
    }
    replies
}

/// Whether an answer is not there yet, though whatever could bring it about had time to.
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

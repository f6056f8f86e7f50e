//! The dispatcher: delivers events to endpoints, each at least once, first attempts in the order of the events.
//!
//! The remaining work follows from the events of the log and the store of deliveries, so that nothing is kept here
//! between two turns of an endpoint. An event whose first attempt is under way has no row yet: after a crash it is sent
//! again, under the same id.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use till_domain::command::{Command, WebhookChange};
use till_domain::ids::{DeliveryId, Entropy, Id, IdPosition, RawId, WebhookEventId};
use till_domain::records::WebhookEvents;
use till_domain::time::Millis;
use till_domain::webhook::{Webhook, WebhookEvent};
use till_storage::deliveries::{
    Deliveries, Delivery, DeliveryBatch, DeliveryStatus, MemoryDeliveries, WebhookProgress,
};
use till_storage::rows::ScanDirection;
use tokio::task::JoinSet;

use super::address_policy::AddressPolicy;
use super::body::EventBody;
use super::destination::RefusedDestination;
use super::endpoint::WebhookReader;
use super::failing::FailingTime;
use super::failure::FailureReason;
use super::limits::{ENDPOINTS_MAX, FURTHER_ATTEMPTS_MAX, part_of};
use super::order_in_turn::OrderInTurn;
use super::outcome::{AttemptOutcome, given_up};
use super::resting::{ATTEMPTS_AT_ONCE, Resting};
use super::retry_schedule::{DeliveryVerdict, RetrySchedule};
use super::sender::{Attempt, AttemptResult, Post, Sender};
use super::shares::MerchantShares;
use super::statistics::{WaitingDeliveries, WebhookStatistics};
use crate::background::{AT_ONCE, BackgroundWork, Retry, Served, WorkError};
use crate::clock::{Clock, OsEntropy};
use crate::merchant::{Admission, Registry};
use crate::outbox::{WebhookEndpoint, WebhookQueue};
use crate::outgoing::RequestFailure;

/// Events of one read.
pub(super) const EVENTS_READ_AT_ONCE: usize = 64;
/// Limit of the deliveries to one endpoint that wait for an attempt. At the limit no further events are taken, neither
/// new ones nor those of an order: they wait in the log, which keeps them anyway.
pub(super) const PENDING_DELIVERIES_MAX: usize = 1_000;
/// The pause between two reads of new events while attempts are under way.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(50);
/// The pause of an endpoint whose merchant has its part of the turns.
const TURN_AGAIN_AFTER_SECONDS: u64 = 1;
/// Number of events in a row without a delivery after which no more are looked up: no more can have been under way when
/// the process before ended.
const UNDER_WAY_MAX: usize = 2 * ATTEMPTS_AT_ONCE;

/// The dependencies of deliveries.
pub struct WebhookDelivery {
    /// The deliveries of each event to each endpoint.
    pub deliveries: Arc<dyn Deliveries>,
    /// The client that makes attempts.
    pub sender: Sender,
    /// The addresses that may be called.
    pub addresses: AddressPolicy,
    /// The delays between attempts.
    pub schedule: RetrySchedule,
}

impl WebhookDelivery {
    /// Deliveries to public addresses by the usual schedule; their results are lost with the process.
    #[must_use]
    pub fn in_memory() -> WebhookDelivery {
        let addresses = AddressPolicy::default();
        WebhookDelivery {
            deliveries: Arc::new(MemoryDeliveries::new()),
            sender: Sender::new(addresses.clone()),
            addresses,
            schedule: RetrySchedule::default(),
        }
    }
}

/// Delivers events to endpoints.
pub(crate) struct Dispatcher {
    pub(super) library: WebhookReader,
    pub(super) delivery: WebhookDelivery,
    pub(super) registry: Arc<Registry>,
    queue: Arc<WebhookQueue>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) statistics: WebhookStatistics,
    resting: Resting,
    /// Turns of endpoints: connected ones are too few for a merchant's part, others end their turns soon.
    turns: Arc<MerchantShares>,
    /// Attempts beside the first one of an endpoint.
    further_attempts: Arc<MerchantShares>,
    /// Failures count from here on.
    started_at: Millis,
    /// Endpoints whose events after their progress are known to have no delivery.
    caught_up: Mutex<BTreeSet<WebhookEndpoint>>,
    ids: Mutex<(IdPosition, OsEntropy)>,
}

impl BackgroundWork for Arc<Dispatcher> {
    type Subject = WebhookEndpoint;
    type Prepared = ();

    /// A slow endpoint takes one of these turns for as long as its attempts last.
    const SERVED_MAX: usize = ENDPOINTS_MAX;
    const RETRY: Retry = Retry { pause_first: Duration::from_secs(1), pause_max: Duration::from_secs(30) };

    async fn serve(&self, endpoint: WebhookEndpoint, _: Millis, _: Option<()>) -> Served {
        if let Some(end) = self.resting.end_of_rest(endpoint, self.clock.now()) {
            return Ok(Some(end));
        }
        // Without all rows, a webhook or an event could be taken for one that is gone.
        let has_all_rows = self.library.has_all_rows(endpoint.merchant_id)?;
        let Some(_permit) = self.turns.enter(endpoint.merchant_id).filter(|_| has_all_rows) else {
            return Ok(Some(self.clock.now().plus_seconds(TURN_AGAIN_AFTER_SECONDS)));
        };
        let (mut turn, mut attempts) = (self.begin(endpoint)?, Attempts::new());
        loop {
            let Some(webhook) = self.library.connected(endpoint)? else { return self.cut_off(turn, attempts).await };
            let order_goes_on = self.read_ordered(&mut turn, &webhook)?;
            self.start_attempts(&mut turn, &webhook, &mut attempts)?;
            self.end_finished_order(&mut turn).await?;
            match (attempts.is_empty(), order_goes_on) {
                (true, false) => return self.end(&turn),
                (true, true) => tokio::task::yield_now().await, // None of the events that were read is sent.
                (false, _) => {
                    let ended = tokio::time::timeout(LOOK_AGAIN_AFTER, attempts.join_next()).await;
                    if let Ok(Some(ended)) = ended {
                        self.record(&mut turn, ended??).await?;
                    }
                }
            }
        }
    }

    fn warn(WebhookEndpoint { merchant_id, webhook_id }: WebhookEndpoint, reason: &str) {
        tracing::warn!(%merchant_id, %webhook_id, reason, "events could not be delivered and are tried again");
    }
}

/// Attempts under way.
type Attempts = JoinSet<Result<Tried, WorkError>>;

/// The state of an endpoint during one turn.
pub(super) struct Turn {
    pub(super) endpoint: WebhookEndpoint,
    /// Events up to this one were read.
    read_up_to: WebhookEventId,
    /// Events that were read and wait for a first attempt.
    read: VecDeque<WebhookEvent>,
    /// Deliveries whose first attempts are under way, by their events.
    first_attempts: BTreeMap<WebhookEventId, Delivery>,
    /// Deliveries that are attempted again.
    retried: BTreeSet<DeliveryId>,
    /// The order to deliver events again.
    pub(super) order: OrderInTurn,
    /// The number of deliveries that wait for another attempt, those that are attempted again included.
    pending: usize,
    /// The time at which the first of the deliveries that wait for another attempt is due.
    next_due: Option<Millis>,
    failing: FailingTime,
    /// The number of events without a delivery that were read in a row; none once that is not checked any more.
    undelivered: Option<usize>,
}

impl Turn {
    /// Every event up to this one has a delivery or needs none.
    fn handled_up_to(&self) -> WebhookEventId {
        let waiting = self.read.front().map(|event| event.id);
        let open = self.first_attempts.keys().next().copied().into_iter().chain(waiting).min();
        let before = open.and_then(|id| id.to_raw().predecessor()).map(WebhookEventId::from_raw);
        before.unwrap_or(self.read_up_to)
    }

    fn progress(&self) -> WebhookProgress {
        let FailingTime { counted_ms: failing_ms, up_to: failed_at } = self.failing;
        WebhookProgress {
            handled_up_to: self.handled_up_to(),
            failing_ms,
            failed_at,
            redelivered: self.order.progress(),
        }
    }

    /// True when as many deliveries wait, or may have to wait, as the limit allows.
    fn is_full(&self) -> bool {
        self.pending + self.first_attempts.len() + self.order.under_way() >= PENDING_DELIVERIES_MAX
    }
}

/// An attempt that has ended, or a delivery that is given up.
enum Tried {
    Attempted(Delivery, Attempt),
    GivenUp(Delivery, &'static str),
}

impl Dispatcher {
    pub(crate) fn new(delivery: WebhookDelivery, registry: Arc<Registry>) -> Dispatcher {
        let (shared, sockets) = (registry.shared(), delivery.sender.sockets());
        let (store, keyring) = (Arc::clone(&shared.store), Arc::clone(&shared.keyring));
        let (clock, queue) = (Arc::clone(&shared.clock), Arc::clone(&shared.outbox.webhooks));
        Dispatcher {
            library: WebhookReader { store, keyring },
            delivery,
            registry,
            queue,
            started_at: clock.now(),
            clock,
            statistics: WebhookStatistics::default(),
            resting: Resting::default(),
            turns: MerchantShares::new(part_of(ENDPOINTS_MAX, sockets)),
            further_attempts: MerchantShares::new(part_of(FURTHER_ATTEMPTS_MAX, sockets)),
            caught_up: Mutex::default(),
            ids: Mutex::default(),
        }
    }

    pub(super) fn deliveries(&self) -> &dyn Deliveries {
        &*self.delivery.deliveries
    }

    /// A new delivery of an event.
    pub(super) fn fresh(&self, webhook: &Webhook, event: (WebhookEventId, Option<&WebhookEvent>)) -> Delivery {
        let now = self.clock.now();
        let (event_id, event) = event;
        Delivery {
            id: self.mint(now),
            webhook_id: webhook.id,
            event_id,
            kind: event.map(|event| event.kind),
            status: DeliveryStatus::Pending,
            attempt: 0,
            response_status: None,
            response_excerpt: None,
            failure: None,
            latency_ms: None,
            attempted_at: None,
            next_attempt_at: None,
            created_at: now,
        }
    }

    /// A new id, greater than every earlier one of this process.
    pub(super) fn mint<I: Id>(&self, now: Millis) -> I {
        let mut ids = self.ids.lock();
        ids.0 = ids.0.next(now.0);
        let (position, random) = (ids.0, ids.1.next_u64());
        I::from_raw(RawId::new(position, random))
    }

    pub(super) fn chance(&self) -> u64 {
        self.ids.lock().1.next_u64()
    }

    fn begin(&self, endpoint: WebhookEndpoint) -> Result<Turn, WorkError> {
        let WebhookEndpoint { merchant_id, webhook_id } = endpoint;
        let progress = self.deliveries().progress(merchant_id, webhook_id)?;
        let webhook = self.library.connected(endpoint)?;
        let connected_after = webhook.as_ref().map(|webhook| webhook.connected_after);
        let order = webhook.and_then(|webhook| webhook.redelivery);
        let first = WebhookEventId::from_raw(RawId::from_bytes([0; 16]));
        let handled = progress.map(|progress| progress.handled_up_to);
        Ok(Turn {
            endpoint,
            read_up_to: handled.into_iter().chain(connected_after).max().unwrap_or(first),
            read: VecDeque::new(),
            first_attempts: BTreeMap::new(),
            retried: BTreeSet::new(),
            order: OrderInTurn::of(order, progress.and_then(|progress| progress.redelivered)),
            pending: self.deliveries().pending(merchant_id, webhook_id, PENDING_DELIVERIES_MAX)?,
            next_due: self.deliveries().next_due(merchant_id, webhook_id)?,
            failing: FailingTime::of(progress),
            undelivered: (!self.caught_up.lock().contains(&endpoint)).then_some(0),
        })
    }

    /// Starts attempts while there are deliveries and permits. The first one needs none, so that no endpoint waits for
    /// another.
    fn start_attempts(
        self: &Arc<Self>,
        turn: &mut Turn,
        webhook: &Webhook,
        attempts: &mut Attempts,
    ) -> Result<(), WorkError> {
        let endpoint = turn.endpoint;
        while attempts.len() < self.resting.attempts_at_once(endpoint, self.clock.now()) {
            let permit = (!attempts.is_empty()).then(|| self.further_attempts.enter(endpoint.merchant_id));
            if matches!(permit, Some(None)) {
                break;
            }
            let Some(delivery) = self.next(turn, webhook)? else { break };
            // Without room for its result no attempt is made. The endpoint is tried again later.
            self.deliveries().check_room()?;
            let attempt = Arc::clone(self).attempt(endpoint, webhook.clone(), delivery);
            attempts.spawn(async move {
                let _permit = permit;
                attempt.await
            });
        }
        Ok(())
    }

    /// The next delivery to attempt: a repeated one that is due, else that of the next event, else one of an order.
    fn next(&self, turn: &mut Turn, webhook: &Webhook) -> Result<Option<Delivery>, WorkError> {
        if let Some(again) = self.next_retry(turn)? {
            turn.retried.insert(again.id);
            return Ok(Some(again));
        }
        if turn.is_full() {
            return Ok(None);
        }
        if turn.read.is_empty() {
            self.read_events(turn, webhook)?;
        }
        let Some(event) = turn.read.pop_front() else { return self.next_ordered(turn, webhook) };
        let delivery = self.fresh(webhook, (event.id, Some(&event)));
        turn.first_attempts.insert(event.id, delivery.clone());
        Ok(Some(delivery))
    }

    fn next_retry(&self, turn: &mut Turn) -> Result<Option<Delivery>, WorkError> {
        // An endpoint that works again is sent at once what keeps it from further events.
        let is_early = turn.is_full() && !self.resting.is_failing(turn.endpoint);
        let now = if is_early { Millis(u64::MAX) } else { self.clock.now() };
        if turn.next_due.is_none_or(|due| due > now) {
            return Ok(None);
        }
        let WebhookEndpoint { merchant_id, webhook_id } = turn.endpoint;
        let due =
            self.deliveries().due_deliveries(merchant_id, webhook_id, now, turn.retried.len().saturating_add(1))?;
        let again = due.into_iter().find(|delivery| !turn.retried.contains(&delivery.id));
        if again.is_none() {
            turn.next_due = None; // Until one of those that are under way has ended.
        }
        Ok(again)
    }

    /// Reads the next events, until one is for the endpoint or there are no more.
    fn read_events(&self, turn: &mut Turn, webhook: &Webhook) -> Result<(), WorkError> {
        let rows = self.library.reader(turn.endpoint.merchant_id);
        while turn.read.is_empty() {
            let after = turn.read_up_to.to_raw().successor().map(WebhookEventId::from_raw);
            let Some(after) = after else { return Ok(()) };
            let found = rows.scan::<WebhookEvents>(after.., ScanDirection::Forward, EVENTS_READ_AT_ONCE)?;
            let count = found.len();
            for (id, event) in found {
                turn.read_up_to = id;
                if webhook.subscription.includes(event.kind) && !self.was_delivered(turn, id)? {
                    turn.read.push_back(event);
                }
            }
            if count < EVENTS_READ_AT_ONCE {
                return Ok(());
            }
        }
        Ok(())
    }

    /// True when an event has a delivery although it is after the progress: attempts end in any order, and the process
    /// may have ended in between.
    fn was_delivered(&self, turn: &mut Turn, id: WebhookEventId) -> Result<bool, WorkError> {
        let Some(undelivered) = turn.undelivered else { return Ok(false) };
        let WebhookEndpoint { merchant_id, webhook_id } = turn.endpoint;
        let deliveries = self.deliveries().of_event(merchant_id, id)?;
        let was = deliveries.iter().any(|delivery| delivery.webhook_id == webhook_id && delivery.kind.is_some());
        let undelivered = if was { 0 } else { undelivered + 1 };
        turn.undelivered = (undelivered < UNDER_WAY_MAX).then_some(undelivered);
        if turn.undelivered.is_none() {
            self.caught_up.lock().insert(turn.endpoint);
        }
        Ok(was)
    }

    /// Makes one attempt.
    async fn attempt(
        self: Arc<Dispatcher>,
        endpoint: WebhookEndpoint,
        webhook: Webhook,
        delivery: Delivery,
    ) -> Result<Tried, WorkError> {
        let body = match self.library.body(endpoint.merchant_id, delivery.event_id)? {
            Some(body) => body,
            None => return Ok(Tried::GivenUp(delivery, "the event is kept no longer")),
        };
        let attempt = self.post(endpoint, &webhook, (delivery.event_id, body)).await?;
        Ok(Tried::Attempted(delivery, attempt))
    }

    /// Signs a body and posts it.
    pub(super) async fn post(
        &self,
        endpoint: WebhookEndpoint,
        webhook: &Webhook,
        event: (WebhookEventId, EventBody),
    ) -> Result<Attempt, WorkError> {
        // The address policy can have changed since the address was given.
        let url = match self.delivery.addresses.check_url(webhook.destination_url.as_str()) {
            Ok(url) => url,
            Err(refused) => return Ok(refused_attempt(refused)),
        };
        let merchant_id = endpoint.merchant_id;
        let letter = self.library.letter(merchant_id, webhook, event, self.clock.now())?;
        let headers = letter.headers.with_names(webhook.signature_header.as_str());
        Ok(self.delivery.sender.post(Post { merchant_id, url: &url, headers: &headers, body: &letter.body }).await)
    }

    /// Records the result of an attempt, and the endpoint's progress with it.
    async fn record(&self, turn: &mut Turn, tried: Tried) -> Result<(), WorkError> {
        let now = self.clock.now();
        let (delivery, verdict) = match tried {
            Tried::GivenUp(delivery, reason) => (given_up(delivery, reason), None),
            Tried::Attempted(delivery, attempt) => {
                let chance = self.chance();
                let AttemptOutcome { delivery, verdict } =
                    AttemptOutcome::of(delivery, attempt, &self.delivery.schedule, chance, now);
                self.statistics.count(verdict);
                self.resting.note(turn.endpoint, verdict, now);
                (delivery, Some(verdict))
            }
        };
        turn.failing = self.failing_after(turn, verdict, now)?;
        let was_retry = turn.retried.remove(&delivery.id);
        if !was_retry && !turn.order.end(delivery.id) {
            turn.first_attempts.remove(&delivery.event_id);
        }
        let is_pending = delivery.status == DeliveryStatus::Pending;
        turn.pending = turn.pending.saturating_sub(usize::from(was_retry)) + usize::from(is_pending);
        let next_attempt_at = delivery.next_attempt_at;
        let WebhookEndpoint { merchant_id, webhook_id } = turn.endpoint;
        let progress = Some((webhook_id, turn.progress()));
        self.deliveries().write(merchant_id, &DeliveryBatch { deliveries: vec![delivery], progress })?;
        turn.next_due = if was_retry {
            self.deliveries().next_due(merchant_id, webhook_id)?
        } else {
            turn.next_due.into_iter().chain(next_attempt_at).min()
        };
        if verdict == Some(DeliveryVerdict::Gone) || turn.failing.is_too_long() {
            self.disable(turn.endpoint).await?;
        }
        Ok(())
    }

    /// The time for which an endpoint has failed, after an attempt with this verdict.
    fn failing_after(
        &self,
        turn: &Turn,
        verdict: Option<DeliveryVerdict>,
        now: Millis,
    ) -> Result<FailingTime, WorkError> {
        match verdict {
            Some(DeliveryVerdict::Succeeded) => Ok(FailingTime::default()),
            Some(DeliveryVerdict::Failed | DeliveryVerdict::Gone) => {
                let failing = turn.failing;
                let is_suspended = self.library.is_suspended(turn.endpoint.merchant_id)?;
                Ok(if is_suspended {
                    failing.with_suspended_failure()
                } else {
                    failing.with_failure(now, self.started_at)
                })
            }
            None => Ok(turn.failing),
        }
    }

    async fn disable(&self, WebhookEndpoint { merchant_id, webhook_id }: WebhookEndpoint) -> Result<(), WorkError> {
        tracing::warn!(%merchant_id, %webhook_id, "a webhook is disabled: it answered 410, or has accepted nothing \
            for days");
        let command = Command::ChangeWebhook(merchant_id, WebhookChange::Disable(webhook_id));
        self.registry.carry_out(merchant_id, command, Admission::Always).await?;
        Ok(())
    }

    /// Ends the turn of an endpoint that is not connected any more. Attempts under way are cut off: their deliveries
    /// and those that wait have failed.
    async fn cut_off(&self, mut turn: Turn, mut attempts: Attempts) -> Served {
        while let Some(ended) = attempts.try_join_next() {
            self.record(&mut turn, ended??).await?;
        }
        drop(attempts);
        let WebhookEndpoint { merchant_id, webhook_id } = turn.endpoint;
        self.queue.forget(turn.endpoint);
        self.resting.forget(turn.endpoint);
        let cut_off = |delivery| given_up(delivery, "the webhook was disconnected during the attempt");
        let under_way = turn.first_attempts.into_values().chain(turn.order.into_under_way());
        let deliveries: Vec<Delivery> = under_way.map(cut_off).collect();
        self.deliveries().write(merchant_id, &DeliveryBatch { deliveries, progress: None })?;
        self.deliveries().end_pending(merchant_id, webhook_id)?;
        self.statistics.note(turn.endpoint, WaitingDeliveries::default());
        Ok(None)
    }

    /// Ends the turn of an endpoint without attempts under way.
    fn end(&self, turn: &Turn) -> Served {
        let WebhookEndpoint { merchant_id, webhook_id } = turn.endpoint;
        // Events that are not sent to the endpoint move its progress, too.
        let progress = turn.progress();
        if self.deliveries().progress(merchant_id, webhook_id)? != Some(progress) {
            let batch = DeliveryBatch { deliveries: Vec::new(), progress: Some((webhook_id, progress)) };
            self.deliveries().write(merchant_id, &batch)?;
        }
        let pending =
            self.deliveries().due_deliveries(merchant_id, webhook_id, Millis(u64::MAX), PENDING_DELIVERIES_MAX)?;
        let since = pending.iter().map(|delivery| delivery.created_at).min();
        self.statistics.note(turn.endpoint, WaitingDeliveries { count: pending.len(), since });
        if let Some(end) = self.resting.end_of_rest(turn.endpoint, self.clock.now()) {
            return Ok(Some(end));
        }
        Ok(self.deliveries().next_due(merchant_id, webhook_id)?.map(|due| due.max(AT_ONCE)))
    }
}

/// The attempt at an address that may not be called.
fn refused_attempt(refused: RefusedDestination) -> Attempt {
    let reason = match refused {
        RefusedDestination::Address(address) => FailureReason::Refused(address),
        RefusedDestination::TooLong
        | RefusedDestination::NotAbsolute
        | RefusedDestination::NotHttps
        | RefusedDestination::UserInformation
        | RefusedDestination::Fragment => RequestFailure::Unsendable.into(),
        RefusedDestination::Port => FailureReason::RefusedPort,
    };
    Attempt { latency: Duration::ZERO, result: AttemptResult::Failed(reason) }
}

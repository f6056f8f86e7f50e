//! Orders to deliver events to a webhook again, and the limits on what waits for a webhook.

use std::time::Duration;

use till_actors::webhooks::AskedEvents;
use till_domain::command::{Caller, Command, RedeliverWebhook, WebhookChange};
use till_domain::event::Answer;
use till_domain::ids::{DeliveryId, IdPosition, RawId, WebhookId};
use till_domain::refusal::Refusal;
use till_domain::time::Millis;
use till_domain::webhook::{Subscription, WebhookEventKind};
use till_storage::deliveries::{Deliveries, Delivery, DeliveryBatch, DeliveryStatus};

use crate::receiver::WebhookReceiver;
use crate::shop::{TestShop, by};
use crate::world::{EngineWorld, assert_refused, done, eventually};

/// Long enough for an attempt that must not be made.
const SETTLING: Duration = Duration::from_millis(300);
const ALL: AskedEvents = AskedEvents::Since(Millis(0));

impl EngineWorld {
    fn redelivery(&self, shop: &TestShop, id: WebhookId, asked: AskedEvents) -> Command {
        let events = self.engine.webhooks().covered(shop.merchant_id, &self.webhook(shop, id), asked);
        let events = events.expect("events can be read");
        Command::ChangeWebhook(shop.merchant_id, WebhookChange::Redeliver(RedeliverWebhook { webhook_id: id, events }))
    }

    /// Orders events, and returns the number of those that the order covers.
    async fn redeliver(&self, shop: &TestShop, id: WebhookId, asked: AskedEvents) -> u64 {
        let command = self.redelivery(shop, id, asked);
        let answer = done(self.submit(shop.merchant_id, by(Caller::System, command)).await);
        let Answer::Redelivery { events } = answer else { panic!("{answer:?}") };
        events
    }

    async fn operate(&self, shop: &TestShop, command: Command) {
        done(self.submit(shop.merchant_id, by(Caller::Operator, command)).await);
    }

    fn has_order(&self, shop: &TestShop, id: WebhookId) -> bool {
        self.webhook(shop, id).redelivery.is_some()
    }

    /// A webhook to which some events were delivered.
    async fn delivered(&self, shop: &TestShop, receiver: &WebhookReceiver, events: usize) -> WebhookId {
        let id = self.connect(shop, &receiver.url(), Subscription::All).await;
        self.pay_times(shop, events).await;
        let all = vec![DeliveryStatus::Successful; events];
        eventually("they are delivered", || self.statuses(shop, id) == all).await;
        id
    }
}

fn sorted(receiver: &WebhookReceiver) -> Vec<u64> {
    let mut sequences = receiver.sequences();
    sequences.sort_unstable();
    sequences
}

#[actix_rt::test]
async fn an_order_is_worked_off_and_another_can_follow() {
    let (world, shop, receiver) = EngineWorld::with_receiver().await;
    let id = world.delivered(&shop, &receiver, 3).await;
    assert_eq!(world.redeliver(&shop, id, ALL).await, 3);
    eventually("they are delivered again", || sorted(&receiver) == [1, 1, 2, 2, 3, 3]).await;
    eventually("the order ends", || !world.has_order(&shop, id)).await;
    let event = world.deliveries_to(&shop, id)[0].event_id;
    assert_eq!(world.redeliver(&shop, id, AskedEvents::One(event)).await, 1);
    eventually("it is delivered again", || receiver.received().len() == 7).await;
    eventually("the order ends", || !world.has_order(&shop, id)).await;
    let later = AskedEvents::Since(Millis(1_000 * (world.clock_seconds() + 1)));
    assert_eq!(world.redeliver(&shop, id, later).await, 0);
}

#[actix_rt::test]
async fn events_that_wait_or_are_not_wanted_are_passed_over() {
    let (world, shop, receiver) = EngineWorld::with_receiver().await;
    let id = world.delivered(&shop, &receiver, 1).await;
    receiver.answers(&[500]);
    world.pay_times(&shop, 1).await;
    eventually("one waits", || world.statuses(&shop, id).first() == Some(&DeliveryStatus::Pending)).await;
    assert_eq!(world.redeliver(&shop, id, ALL).await, 2);
    eventually("the order ends", || !world.has_order(&shop, id)).await;
    assert_eq!(receiver.sequences(), [1, 2, 1]);
    let refunds = Subscription::Only(vec![WebhookEventKind::RefundCompleted]);
    let other = world.connect(&shop, &receiver.url(), refunds).await;
    assert_eq!(world.redeliver(&shop, other, ALL).await, 2);
    eventually("that order ends", || !world.has_order(&shop, other)).await;
    assert!(world.deliveries_to(&shop, other).is_empty());
}

#[actix_rt::test]
async fn one_order_is_under_way_and_ends_with_its_webhook() {
    let (world, shop, receiver) = EngineWorld::with_receiver().await;
    let id = world.delivered(&shop, &receiver, 3).await;
    world.operate(&shop, Command::SuspendMerchant).await;
    assert_eq!(world.redeliver(&shop, id, ALL).await, 3);
    let another = world.redelivery(&shop, id, ALL);
    let refused = world.submit(shop.merchant_id, by(Caller::System, another)).await;
    assert_refused(&refused, Refusal::RedeliveryUnderWay);
    world.change_webhook(&shop, WebhookChange::Disconnect(id), None).await;
    assert!(!world.has_order(&shop, id));
    world.operate(&shop, Command::ResumeMerchant).await;
    actix_rt::time::sleep(SETTLING).await;
    assert_eq!(receiver.received().len(), 3);
}

#[actix_rt::test]
async fn an_order_rests_while_the_merchant_is_suspended() {
    let (world, shop, receiver) = EngineWorld::with_receiver().await;
    let id = world.delivered(&shop, &receiver, 3).await;
    world.operate(&shop, Command::SuspendMerchant).await;
    world.redeliver(&shop, id, ALL).await;
    actix_rt::time::sleep(SETTLING).await;
    assert_eq!(receiver.received().len(), 3);
    let world = world.restart();
    actix_rt::time::sleep(SETTLING).await;
    assert_eq!(receiver.received().len(), 3);
    world.operate(&shop, Command::ResumeMerchant).await;
    eventually("it goes on", || sorted(&receiver) == [1, 1, 2, 2, 3, 3]).await;
    eventually("it ends", || !world.has_order(&shop, id)).await;
}

#[actix_rt::test]
async fn an_order_goes_on_after_a_restart_where_it_was() {
    const EVENTS: usize = 100;
    let (world, shop, receiver) = EngineWorld::with_receiver().await;
    let id = world.delivered(&shop, &receiver, EVENTS).await;
    receiver.is_slow(Duration::from_millis(20));
    world.redeliver(&shop, id, ALL).await;
    eventually("half of it is done", || receiver.received().len() >= EVENTS + EVENTS / 2).await;
    let world = world.restart();
    eventually("the order ends", || !world.has_order(&shop, id)).await;
    let mut again = receiver.sequences().split_off(EVENTS);
    let attempts = again.len();
    again.sort_unstable();
    again.dedup();
    assert_eq!(again, (1..=100).collect::<Vec<_>>());
    assert!(attempts <= EVENTS + 16, "only those that were under way are sent once more: {attempts}");
}

#[actix_rt::test]
async fn at_the_limit_of_waiting_deliveries_events_stay_in_the_log() {
    let (world, shop, receiver) = EngineWorld::with_receiver().await;
    let id = world.delivered(&shop, &receiver, 1).await;
    let delivered = world.deliveries_to(&shop, id).remove(0);
    let in_an_hour = Millis(1_000 * (world.clock_seconds() + 3_600));
    let waiting = |counter: u16| Delivery {
        id: DeliveryId::from_raw(RawId::new(IdPosition { millis: 1, counter }, 0)),
        status: DeliveryStatus::Pending,
        attempt: 0,
        next_attempt_at: Some(in_an_hour),
        ..delivered.clone()
    };
    let batch = DeliveryBatch { deliveries: (0..1_000).map(waiting).collect(), progress: None };
    world.deliveries.write(shop.merchant_id, &batch).expect("it is written");
    receiver.always_answers(500);
    world.pay_times(&shop, 1).await;
    world.redeliver(&shop, id, ALL).await;
    eventually("it fails", || world.engine.webhooks().statistics().attempts()[1].1 > 0).await;
    actix_rt::time::sleep(SETTLING).await;
    assert!(!receiver.sequences().contains(&2), "no further event is taken");
    receiver.always_answers(200);
    world.clock.pass_seconds(10);
    eventually("an endpoint that works again is sent all", || receiver.sequences().contains(&2)).await;
    eventually("the order ends", || !world.has_order(&shop, id)).await;
}

#[actix_rt::test]
async fn without_room_for_results_no_attempt_is_made() {
    let (world, shop, receiver) = EngineWorld::with_receiver().await;
    let id = world.delivered(&shop, &receiver, 1).await;
    world.deliveries.fill();
    world.pay_times(&shop, 1).await;
    let webhook = world.webhook(&shop, id);
    assert!(world.engine.webhooks().test(shop.merchant_id, &webhook).await.is_err());
    actix_rt::time::sleep(SETTLING).await;
    assert_eq!(receiver.received().len(), 1);
    world.deliveries.make_room();
    eventually("it is delivered", || receiver.sequences() == [1, 2]).await;
}

//! Events on their way to webhooks.

use std::sync::Arc;
use std::time::Duration;

use till_actors::Secret;
use till_actors::webhooks::SigningSecret;
use till_domain::command::{Caller, Command, ConnectWebhook, RotateSecret, WebhookChange};
use till_domain::event::Answer;
use till_domain::ids::WebhookId;
use till_domain::records::Webhooks;
use till_domain::text::{DestinationUrl, HeaderName, Name};
use till_domain::webhook::{Subscription, Webhook, WebhookEventKind, WebhookStatus};
use till_storage::deliveries::{Delivery, DeliveryFilter, DeliveryStatus};
use till_storage::vault::WebhookSecretBytes;

use crate::receiver::WebhookReceiver;
use crate::shop::{TestShop, by};
use crate::world::{EngineWorld, done, eventually};

/// Bytes of the secrets, in the order in which they are given.
const FIRST: u8 = 7;
const NEXT: u8 = 8;
const THIRD: u8 = 9;
const FOURTH: u8 = 10;

const DAY_SECONDS: u64 = 86_400;

fn secret(byte: u8) -> Secret {
    Secret::WebhookSecret(WebhookSecretBytes::new([byte; 64]))
}

fn key(byte: u8) -> String {
    SigningSecret::from_bytes(&[byte; 64]).secret_text().to_string()
}

impl EngineWorld {
    /// An engine with a merchant, and a receiver to which no webhook leads yet.
    pub(crate) async fn with_receiver() -> (EngineWorld, TestShop, WebhookReceiver) {
        let (world, shop) = EngineWorld::with_shop().await;
        (world, shop, WebhookReceiver::start())
    }

    /// An engine with a merchant, and a webhook that is sent all its events.
    async fn with_webhook() -> (EngineWorld, TestShop, WebhookReceiver, WebhookId) {
        let (world, shop, receiver) = EngineWorld::with_receiver().await;
        let id = world.connect(&shop, &receiver.url(), Subscription::All).await;
        (world, shop, receiver, id)
    }

    pub(crate) async fn connect(&self, shop: &TestShop, url: &str, subscription: Subscription) -> WebhookId {
        let command = WebhookChange::Connect(ConnectWebhook {
            name: Name::new("shop").expect("a name"),
            destination_url: DestinationUrl::new(url).expect("an address"),
            subscription,
            api_version: "2025-04-01".to_owned(),
            signature_header: HeaderName::new("X-Shop-Signature").expect("a name"),
        });
        let Answer::Webhook(id) = self.change_webhook(shop, command, Some(secret(FIRST))).await else {
            panic!("no webhook was made")
        };
        id
    }

    pub(crate) async fn change_webhook(
        &self,
        shop: &TestShop,
        change: WebhookChange,
        secret: Option<Secret>,
    ) -> Answer {
        let command = Command::ChangeWebhook(shop.merchant_id, change);
        done(self.engine.submit(shop.merchant_id, by(Caller::System, command), secret).await)
    }

    pub(crate) fn webhook(&self, shop: &TestShop, id: WebhookId) -> Webhook {
        self.find::<Webhooks>(shop, id).expect("it is there")
    }

    /// Pays several times, each payment settled before the next.
    pub(crate) async fn pay_times(&self, shop: &TestShop, times: usize) {
        for _ in 0..times {
            let payment = self.pay(shop, |words| words).await;
            self.settles_down_as(shop, payment, till_domain::payment::PaymentStatus::Successful).await;
        }
    }

    /// Pays once a day, for this many days after the first payment, and waits until each event was attempted.
    async fn fails_for_days(&self, shop: &TestShop, webhook_id: WebhookId, days: usize) {
        for day in 0..=days {
            self.clock.pass_seconds(if day == 0 { 0 } else { DAY_SECONDS });
            self.pay_times(shop, 1).await;
            eventually("an attempt has failed", || self.deliveries_to(shop, webhook_id).len() == day + 1).await;
        }
    }

    pub(crate) fn deliveries_to(&self, shop: &TestShop, webhook_id: WebhookId) -> Vec<Delivery> {
        let filter = DeliveryFilter { webhook_id: Some(webhook_id), ..DeliveryFilter::default() };
        let page = self.engine.webhooks().deliveries().page(shop.merchant_id, &filter, 100, None);
        page.expect("deliveries can be read").0
    }

    pub(crate) fn statuses(&self, shop: &TestShop, webhook_id: WebhookId) -> Vec<DeliveryStatus> {
        self.deliveries_to(shop, webhook_id).iter().map(|delivery| delivery.status).collect()
    }
}

#[actix_rt::test]
async fn every_event_is_delivered_once_signed_and_in_order() {
    let (world, shop, receiver) = EngineWorld::with_receiver().await;
    world.pay_times(&shop, 1).await;
    let id = world.connect(&shop, &receiver.url(), Subscription::All).await;
    world.pay_times(&shop, 20).await;
    eventually("all are delivered", || world.statuses(&shop, id) == vec![DeliveryStatus::Successful; 20]).await;
    // Events before it was connected are not sent. Several are on their way at once, so that they may overtake.
    let mut sequences = receiver.sequences();
    sequences.sort_unstable();
    assert_eq!(sequences, (2..=21).collect::<Vec<_>>());
    let first = &receiver.received()[0];
    let now = world.clock_seconds();
    assert!(first.is_signed_with(&key(FIRST), now) && !first.is_signed_with(&key(NEXT), now));
    let body = first.json();
    assert_eq!((&body["event"], &body["status"]), (&"payment_completed".into(), &"SUCCESSFUL".into()));
    assert_eq!(body["event_id"], first.header("webhook-id"));
    assert!(body["delivered_at"].is_u64() && body["currency"].is_string(), "{body}");
    assert!(first.header("x-shop-signature").starts_with("hmac_sha256="));
    let delivery = world.deliveries_to(&shop, id).remove(0);
    assert_eq!((delivery.attempt, delivery.response_status), (1, Some(200)));
    assert_eq!(delivery.response_excerpt.as_deref(), Some("there"));
}

#[actix_rt::test]
async fn a_failed_delivery_is_repeated_when_it_is_due() {
    let (world, shop, receiver, id) = EngineWorld::with_webhook().await;
    receiver.answers(&[500, 200]);
    world.pay_times(&shop, 1).await;
    eventually("the first attempt failed", || world.statuses(&shop, id) == [DeliveryStatus::Pending]).await;
    world.pay_times(&shop, 1).await;
    let both = [DeliveryStatus::Successful, DeliveryStatus::Pending];
    eventually("the next event does not wait for it", || world.statuses(&shop, id) == both).await;
    assert_eq!(world.engine.webhooks().statistics().attempts(), [("succeeded", 1), ("failed", 1), ("gone", 0)]);
    world.clock.pass_seconds(10);
    eventually("it is made again", || world.statuses(&shop, id) == [DeliveryStatus::Successful; 2]).await;
    assert_eq!(world.deliveries_to(&shop, id)[1].attempt, 2);
    let ids: Vec<String> =
        receiver.received().iter().map(|received| received.header("webhook-id").to_owned()).collect();
    assert_eq!((ids.len(), &ids[0]), (3, &ids[2]), "under the same id");
    eventually("nothing waits", || world.engine.webhooks().statistics().waiting().count == 0).await;
}

#[actix_rt::test]
async fn a_delivery_is_given_up_after_the_last_delay() {
    let (world, shop, receiver, id) = EngineWorld::with_webhook().await;
    receiver.always_answers(500);
    world.pay_times(&shop, 1).await;
    for attempt in 1..=4 {
        let is_recorded = || world.deliveries_to(&shop, id).first().is_some_and(|delivery| delivery.attempt == attempt);
        eventually("an attempt is recorded", is_recorded).await;
        world.clock.pass_seconds(100);
    }
    assert_eq!(receiver.received().len(), 4);
    eventually("it has failed", || world.statuses(&shop, id) == [DeliveryStatus::Failed]).await;
    assert_eq!(world.deliveries_to(&shop, id)[0].attempt, 4);
}

#[actix_rt::test]
async fn after_100_failures_an_endpoint_is_tried_once_a_second() {
    let (world, shop, receiver, id) = EngineWorld::with_webhook().await;
    receiver.always_answers(500);
    world.pay_times(&shop, 130).await;
    let recorded = || world.engine.webhooks().statistics().attempts()[1].1;
    eventually("a hundred attempts have failed", || recorded() >= 100).await;
    actix_rt::time::sleep(Duration::from_millis(200)).await;
    let before = recorded();
    assert!(before < 100 + 8, "those that were under way end: {before}");
    assert_eq!(receiver.received().len() as u64, before);
    world.clock.pass_seconds(1);
    eventually("one more attempt is made", || recorded() == before + 1).await;
    actix_rt::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(recorded(), before + 1);
    receiver.always_answers(200);
    world.clock.pass_seconds(1);
    let delivered = || world.deliveries_to(&shop, id).len();
    eventually("all events have been attempted", || delivered() == 100).await;
}

#[actix_rt::test]
async fn a_slow_endpoint_holds_up_no_other_and_no_payment() {
    let (world, slow, quick) = (EngineWorld::start(), WebhookReceiver::start(), WebhookReceiver::start());
    let shop = world.open_shop().await;
    slow.is_slow(Duration::from_secs(8));
    world.connect(&shop, &slow.url(), Subscription::All).await;
    let id = world.connect(&shop, &quick.url(), Subscription::All).await;
    world.pay_times(&shop, 5).await;
    eventually("the quick one has all", || world.statuses(&shop, id) == vec![DeliveryStatus::Successful; 5]).await;
}

#[actix_rt::test]
async fn an_endpoint_is_sent_the_kinds_that_it_wants() {
    let (world, shop, receiver) = EngineWorld::with_receiver().await;
    let none = Subscription::Only(vec![WebhookEventKind::RefundCompleted]);
    let refunds = world.connect(&shop, &receiver.url(), none).await;
    let all = world.connect(&shop, &receiver.url(), Subscription::All).await;
    world.pay_times(&shop, 2).await;
    eventually("the other has them", || world.statuses(&shop, all).len() == 2).await;
    assert!(world.deliveries_to(&shop, refunds).is_empty());
}

#[actix_rt::test]
async fn an_endpoint_that_answers_410_is_disabled() {
    let (world, shop, receiver, id) = EngineWorld::with_webhook().await;
    receiver.answers(&[500]);
    world.pay_times(&shop, 1).await;
    eventually("the first waits", || world.statuses(&shop, id) == [DeliveryStatus::Pending]).await;
    receiver.answers(&[410]);
    world.pay_times(&shop, 1).await;
    eventually("it is disabled", || world.webhook(&shop, id).status == WebhookStatus::Disabled).await;
    eventually("nothing waits", || world.statuses(&shop, id) == [DeliveryStatus::Failed; 2]).await;
    world.pay_times(&shop, 1).await;
    world.change_webhook(&shop, WebhookChange::Reconnect(id), None).await;
    world.pay_times(&shop, 1).await;
    eventually("it is sent what is new", || world.statuses(&shop, id)[0] == DeliveryStatus::Successful).await;
    assert_eq!(receiver.sequences().last(), Some(&4), "and not what happened meanwhile");
    assert_eq!(world.deliveries_to(&shop, id).len(), 3);
}

#[actix_rt::test]
async fn an_endpoint_that_took_nothing_for_five_days_is_disabled() {
    let (world, shop, receiver, id) = EngineWorld::with_webhook().await;
    receiver.always_answers(500);
    world.fails_for_days(&shop, id, 4).await;
    assert_eq!(world.webhook(&shop, id).status, WebhookStatus::Connected);
    world.clock.pass_seconds(DAY_SECONDS);
    eventually("it is disabled", || world.webhook(&shop, id).status == WebhookStatus::Disabled).await;
}

#[actix_rt::test]
async fn days_of_downtime_or_suspension_disable_no_endpoint() {
    let (world, shop, receiver, id) = EngineWorld::with_webhook().await;
    receiver.always_answers(500);
    world.fails_for_days(&shop, id, 4).await;
    let clock = Arc::clone(&world.clock);
    let world = world.restart_after(|_| clock.pass_seconds(DAY_SECONDS));
    eventually("the newest is tried again", || world.deliveries_to(&shop, id)[0].attempt == 2).await;
    done(world.submit(shop.merchant_id, by(Caller::Operator, Command::SuspendMerchant)).await);
    for attempt in 3..=4 {
        clock.pass_seconds(DAY_SECONDS);
        eventually("it is tried again", || world.deliveries_to(&shop, id)[0].attempt == attempt).await;
    }
    assert_eq!(world.webhook(&shop, id).status, WebhookStatus::Connected);
}

#[actix_rt::test]
async fn attempts_at_a_disconnected_endpoint_are_cut_off() {
    let (world, shop, receiver) = EngineWorld::with_receiver().await;
    receiver.is_slow(Duration::from_secs(8));
    let id = world.connect(&shop, &receiver.url(), Subscription::All).await;
    world.pay_times(&shop, 3).await;
    eventually("attempts are under way", || receiver.received().len() == 3).await;
    world.change_webhook(&shop, WebhookChange::Disconnect(id), None).await;
    eventually("they have failed", || world.statuses(&shop, id) == [DeliveryStatus::Failed; 3]).await;
    assert_eq!(world.deliveries_to(&shop, id)[0].response_status, None);
    eventually("the turn has ended", || world.engine.busy_webhooks() == 0).await;
}

#[actix_rt::test]
async fn after_a_restart_only_undelivered_events_are_sent() {
    let (world, shop, receiver, id) = EngineWorld::with_webhook().await;
    world.pay_times(&shop, 3).await;
    eventually("they are delivered", || world.statuses(&shop, id) == [DeliveryStatus::Successful; 3]).await;
    receiver.answers(&[500]);
    world.pay_times(&shop, 1).await;
    eventually("one failed", || world.statuses(&shop, id)[0] == DeliveryStatus::Pending).await;
    let world = world.restart();
    world.clock.pass_seconds(10);
    eventually("it is made again", || world.statuses(&shop, id) == [DeliveryStatus::Successful; 4]).await;
    world.pay_times(&shop, 1).await;
    eventually("new ones follow", || world.statuses(&shop, id).len() == 5).await;
    assert_eq!(receiver.sequences(), [1, 2, 3, 4, 4, 5]);
}

#[actix_rt::test]
async fn nothing_is_delivered_during_a_pause() {
    let (world, shop, receiver) = EngineWorld::with_receiver().await;
    world.connect(&shop, &receiver.url(), Subscription::All).await;
    receiver.always_answers(500);
    world.pay_times(&shop, 1).await;
    eventually("an attempt is made", || receiver.received().len() == 1).await;
    let world = world.restart_paused();
    world.clock.pass_seconds(100);
    actix_rt::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(receiver.received().len(), 1);
    world.engine.resume();
    eventually("it goes on", || receiver.received().len() == 2).await;
}

#[actix_rt::test]
async fn each_replaced_secret_signs_for_its_own_day() {
    let (world, shop, receiver, id) = EngineWorld::with_webhook().await;
    let rotation = RotateSecret { webhook_id: id, ends_previous: false };
    let rotate =
        |byte, rotation| world.change_webhook(&shop, WebhookChange::RotateSecret(rotation), Some(secret(byte)));
    rotate(NEXT, rotation).await;
    world.clock.pass_seconds(1_000);
    rotate(THIRD, rotation).await;
    let signers = |at: usize| {
        let received = receiver.received();
        let signs = |byte: &u8| received[at].is_signed_with(&key(*byte), world.clock_seconds());
        [FIRST, NEXT, THIRD, FOURTH].into_iter().filter(signs).collect::<Vec<u8>>()
    };
    world.pay_times(&shop, 1).await;
    eventually("it is delivered", || receiver.received().len() == 1).await;
    assert_eq!(signers(0), [FIRST, NEXT, THIRD]);
    world.clock.pass_seconds(86_400 - 1_000);
    world.pay_times(&shop, 1).await;
    eventually("it is delivered", || receiver.received().len() == 2).await;
    assert_eq!(signers(1), [NEXT, THIRD]);
    rotate(FOURTH, RotateSecret { ends_previous: true, ..rotation }).await;
    world.pay_times(&shop, 1).await;
    eventually("it is delivered", || receiver.received().len() == 3).await;
    assert_eq!(signers(2), [FOURTH]);
}

#[actix_rt::test]
async fn a_merchant_can_ask_for_a_test() {
    let (world, shop, receiver, id) = EngineWorld::with_webhook().await;
    receiver.answers(&[418]);
    let webhook = world.webhook(&shop, id);
    let tried = world.engine.webhooks().test(shop.merchant_id, &webhook).await.expect("it is written");
    assert_eq!((tried.is_successful, tried.response_status), (false, Some(418)));
    let kept = world.deliveries_to(&shop, id).remove(0);
    assert_eq!((kept.id, kept.status, kept.kind), (tried.delivery_id, DeliveryStatus::Failed, None));
    let body = receiver.received()[0].json();
    assert_eq!((&body["event"], &body["sequence"]), (&"test".into(), &serde_json::Value::Null));
}

//! Lists with rows that no command causes yet: every type of activity, and canceled entries.

use serde_json::{Value, json};
use till_domain::activity::{Activity, ActivityObject, ActivityType, Actor, PlanSwitch};
use till_domain::event::Event;
use till_domain::ids::{
    ActivityId, DisputeId, EntryId, IdPosition, PaymentId, PayoutId, RawId, RefundId, TransactionId, UserId,
};
use till_domain::ledger::{Cause, Direction, Entry, EntryStatus, EntryType};
use till_domain::money::{AmountMinor, Currency};
use till_domain::plan::{GROWTH, SCALE};
use till_domain::records::{AnyKey, Entries, Table};
use till_domain::text::Email;
use till_domain::time::Millis;

use crate::harness::{Shop, Stage, merged};

/// The time of the first row, in milliseconds: 1 April 2025.
const START_MS: u64 = 1_743_465_600_000;

/// Every type that a filter accepts, in the order in which the entries are made.
const TYPES: [&str; 12] = [
    "payment_captured",
    "payment_voided",
    "payment_reversed",
    "refund_created",
    "payout_created",
    "dispute_challenged",
    "dispute_conceded",
    "dispute_escalated",
    "plan_switched",
    "user_invited",
    "invitation_accepted",
    "user_removed",
];

fn raw(number: u64) -> RawId {
    RawId::new(IdPosition { millis: START_MS + number * 1_000, counter: 0 }, number)
}

fn email(text: &str) -> Email {
    Email::new(text).expect("an address of a test")
}

fn payment(number: u64) -> PaymentId {
    PaymentId::from_raw(raw(number))
}

/// A merchant with an entry of every type, also those that no command causes yet.
struct StoredEntries {
    _stage: Stage,
    shop: Shop,
    activities: Vec<Activity>,
}

impl StoredEntries {
    fn new() -> StoredEntries {
        let stage = Stage::at("2025-03-31T00:00:00Z");
        let shop = stage.shop_with(json!({ "name": "S", "currency": "THB", "support_email": "help@till.example" }));
        let activities: Vec<Activity> =
            (0..).zip(ActivityType::ALL).map(|(place, of)| entry(&shop, place, of)).collect();
        let user_id = UserId::from_raw(raw(0));
        let event = |activity: &Activity| Event::UserRemoved { user_id, activity: activity.clone() };
        stage.write_events(&shop, activities.iter().map(event).collect());
        StoredEntries { _stage: stage, shop, activities }
    }

    /// The types that a filter finds, the oldest first.
    #[track_caller]
    fn types(&self, filter: &Value) -> Vec<String> {
        let page = self.shop.call("list-activity-logs", filter).ok();
        let text = |entry: &Value| entry["activity_type"].as_str().expect("a type").to_lowercase();
        page["page"].as_array().expect("a page").iter().rev().map(text).collect()
    }

    fn id(&self, place: usize) -> String {
        self.activities[place].object.id_text()
    }
}

/// An entry with all members of its type.
fn entry(shop: &Shop, place: u64, of: ActivityType) -> Activity {
    let by_key = Actor::ApiKey(shop.key_id.parse().expect("a key's uid"));
    let by_user = Actor::User { email: Some(email("ada@shop.example")) };
    let by_support = Actor::User { email: Some(email("help@till.example")) };
    let merchant = ActivityObject::Merchant(shop.merchant_id.parse().expect("a merchant's id"));
    let (actor, object) = match of {
        ActivityType::PaymentCaptured => (Actor::System, ActivityObject::Payment(payment(place))),
        ActivityType::PaymentVoided => (by_key, ActivityObject::Payment(payment(place))),
        ActivityType::PaymentReversed => (by_support, ActivityObject::Payment(payment(place))),
        ActivityType::RefundCreated => (by_key, ActivityObject::Refund(RefundId::from_raw(raw(place)))),
        ActivityType::PayoutCreated => (by_user, ActivityObject::Payout(PayoutId::from_raw(raw(place)))),
        ActivityType::DisputeChallenged => (by_key, ActivityObject::Dispute(DisputeId::from_raw(raw(place)))),
        ActivityType::DisputeConceded => (by_user, ActivityObject::Dispute(DisputeId::from_raw(raw(place)))),
        ActivityType::DisputeEscalated => (Actor::System, ActivityObject::Dispute(DisputeId::from_raw(raw(place)))),
        ActivityType::PlanSwitched => (by_user, merchant),
        ActivityType::UserInvited => (by_support, merchant),
        ActivityType::InvitationAccepted => (Actor::User { email: None }, merchant),
        ActivityType::UserRemoved => (by_key, merchant),
    };
    let activity = Activity::new(ActivityId::from_raw(raw(place)), Millis(START_MS + place * 1_000), of, actor, object);
    let has_parent = matches!(object, ActivityObject::Refund(_) | ActivityObject::Dispute(_));
    Activity {
        parent: has_parent.then(|| payment(0)),
        user_email: (place >= 9).then(|| email("bob@shop.example")),
        plan_switch: (place == 8).then(|| PlanSwitch { new: SCALE.named_plan(), previous: GROWTH.named_plan() }),
        ..activity
    }
}

/// The expected form of an entry, written independently of the program.
fn expected(log: &StoredEntries, place: usize) -> Value {
    let (user, key) = (json!({ "actor_type": "USER" }), json!({ "actor_key_id": log.shop.key_id }));
    let by_user = merged(&user, &json!({ "actor_email": "ada@shop.example" }));
    let by_support = merged(&user, &json!({ "actor_email": "help@till.example" }));
    let by_key = merged(&json!({ "actor_type": "API_KEY" }), &key);
    let by_system = json!({ "actor_type": "SYSTEM" });
    let actor = [
        &by_system,
        &by_key,
        &by_support,
        &by_key,
        &by_user,
        &by_key,
        &by_user,
        &by_system,
        &by_user,
        &by_support,
        &user,
        &by_key,
    ][place];
    let dispute = json!({ "object_type": "DISPUTE", "parent_type": "PAYMENT", "parent_id": log.id(0) });
    let more = match place {
        0..=2 => json!({ "object_type": "PAYMENT" }),
        3 => merged(&dispute, &json!({ "object_type": "REFUND" })),
        4 => json!({ "object_type": "PAYOUT" }),
        5..=7 => dispute,
        8 => json!({
            "new_plan_id": SCALE.id.to_string(), "new_plan_name": "Scale", "previous_plan_id": GROWTH.id.to_string(),
            "previous_plan_name": "Growth",
        }),
        _ => json!({ "user_email": "bob@shop.example" }),
    };
    let nothing = json!({
        "actor_email": null, "actor_key_id": null, "parent_type": null, "parent_id": null, "object_type": null,
        "user_email": null, "new_plan_id": null, "new_plan_name": null, "previous_plan_id": null,
        "previous_plan_name": null, "object_id": log.id(place), "activity_type": TYPES[place].to_uppercase(),
        "activity_log_id": log.activities[place].id.to_string(), "created_at": START_MS / 1_000 + place as u64,
    });
    merged(&merged(&nothing, actor), &more)
}

#[test]
fn an_entry_of_every_type_shows_every_member() {
    let log = StoredEntries::new();
    let listed = log.shop.all("list-activity-logs");
    assert_eq!(listed.len(), TYPES.len());
    for (place, entry) in listed.iter().rev().enumerate() {
        assert_eq!(entry, &expected(&log, place));
    }
    let prefixes: Vec<String> = (3..8).map(|place| log.id(place)[..4].to_owned()).collect();
    assert_eq!(prefixes, ["rfn_", "pyo_", "dsp_", "dsp_", "dsp_"]);
}

#[test]
fn every_input_type_finds_its_entries() {
    let log = StoredEntries::new();
    for found in TYPES {
        assert_eq!(log.types(&json!({ "activity_type": found })), [found]);
    }
    let disputes = ["dispute_challenged", "dispute_conceded", "dispute_escalated"];
    assert_eq!(log.types(&json!({ "activity_type": "dispute" })), disputes);
    let first = log.shop.call("list-activity-logs", &json!({ "activity_type": "dispute", "per_page": 2 })).ok();
    assert_eq!(first["next"]["activity_type"], "dispute", "the group is carried on as the group");
    assert_eq!(log.types(&first["next"]), ["dispute_challenged"]);
}

#[test]
fn every_kind_of_object_actor_and_parent_is_found_by_its_filter() {
    let log = StoredEntries::new();
    for (place, of) in TYPES.iter().enumerate().take(8) {
        assert_eq!(log.types(&json!({ "object_id": log.id(place) })), [*of]);
    }
    assert_eq!(log.types(&json!({ "object_id": log.shop.merchant_id })), TYPES[8..]);
    let of_the_payment = [TYPES[3], TYPES[5], TYPES[6], TYPES[7]];
    assert_eq!(log.types(&json!({ "parent_id": log.id(0) })), of_the_payment);
    assert_eq!(log.types(&json!({ "parent_id": log.id(1) })), [""; 0]);
    assert_eq!(log.types(&json!({ "actor_email": "ADA@shop.example" })), [TYPES[4], TYPES[6], TYPES[8]]);
    assert_eq!(log.types(&json!({ "actor_email": "help@till.example" })), [TYPES[2], TYPES[9]]);
    assert_eq!(log.types(&json!({ "actor_key_id": log.shop.key_id })), [TYPES[1], TYPES[3], TYPES[5], TYPES[11]]);
}

#[test]
fn terms_search_only_emails_object_and_parent() {
    let log = StoredEntries::new();
    assert_eq!(log.types(&json!({ "terms": "ADA@" })), [TYPES[4], TYPES[6], TYPES[8]]);
    assert_eq!(log.types(&json!({ "terms": "bob@shop" })), TYPES[9..]);
    assert_eq!(log.types(&json!({ "terms": "help@TILL.example" })), [TYPES[2], TYPES[9]]);
    assert_eq!(log.types(&json!({ "terms": "dsp_" })), TYPES[5..8]);
    assert_eq!(log.types(&json!({ "terms": log.id(4).to_uppercase() })), [TYPES[4]]);
    assert_eq!(log.types(&json!({ "terms": log.id(0) })), [TYPES[0], TYPES[3], TYPES[5], TYPES[6], TYPES[7]]);
    for nowhere in [log.shop.key_id.as_str(), "Growth", "plan_switched", "act_", SCALE.id.to_string().as_str()] {
        assert_eq!(log.types(&json!({ "terms": nowhere })), [""; 0], "{nowhere}");
    }
}

#[test]
fn a_canceled_entry_shows_its_time_and_a_debit_is_positive() {
    let (stage, shop) = Stage::with_shop("2025-04-02T00:00:00Z");
    let id = EntryId::from_raw(raw(1));
    let row = Entry {
        id,
        transaction_id: TransactionId::from_raw(raw(2)),
        direction: Direction::Debit,
        entry_type: EntryType::PaymentFee,
        amount: AmountMinor::new(30).expect("an amount"),
        currency: Currency::from_bytes(*b"THB"),
        status: EntryStatus::Canceled,
        cause: Cause::Capture(payment(3)),
        created_at: Millis(START_MS),
        effective_at: None,
        canceled_at: Some(Millis(START_MS + 5_999)),
    };
    stage.write_row(&shop, &AnyKey::Entries(id), &Entries::wrap(row));
    let expected = shop.declared(
        "entry",
        &json!({
            "entry_id": id.to_string(), "transaction_id": row.transaction_id.to_string(), "direction": "DEBIT",
            "type": "PAYMENT_FEE", "amount": 30, "currency": "THB", "status": "CANCELED",
            "payment_id": payment(3).to_string(),
            "created_at": START_MS / 1_000,
            "canceled_at": START_MS / 1_000 + 5,
        }),
    );
    assert_eq!(shop.all("balance-history"), [expected]);
}

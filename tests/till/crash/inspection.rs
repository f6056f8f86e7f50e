//! Compares everything that a server shows of its merchants with the expected state, in the same way for each kind of
//! object.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::thread;

use serde_json::{Map, Value, json};

use crate::harness::{ApiAnswer, PATIENCE, Server, Shop, first_answer};

use super::cards::DISPUTED;
use super::merchants::LoadedMerchant;
use super::metadata;
use super::object_kind::{ACTIVITY, DISPUTE, KEY, LISTED, MADE, ObjectKind, PAYMENT, SESSION};
use super::shown::{Shown, text};
use super::truth::Truth;
use super::{call_record::answer_text, ledger_inspection};

/// Threads that check.
const CHECKERS: usize = 8;

/// Checks every merchant, once the acquirer has answered every call, and keeps what is shown for the next check.
pub(super) fn inspect(server: &Server, merchants: &[LoadedMerchant], truths: &mut [Truth]) {
    let open = || server.metric("till_effects_open");
    eventually("an answer to every call to the acquirer", open, |open| *open == Some(0.0));
    for (merchant, truth) in merchants.iter().zip(truths) {
        let shop = merchant.shop.on(server);
        check_disputes_of_cards(&shop);
        let shown = if merchant.settles_soon { Shown::read_settled(&shop) } else { Shown::read(&shop) };
        shown.check_follows(&truth.shown, &truth.removed);
        for kind in MADE {
            check_objects(kind, &shown, truth);
        }
        check_found(server, &shop, &shown, truth);
        check_sessions(server, &shop, &shown, truth);
        check_customers(&shown, truth);
        check_keys(server, &shown, truth);
        check_activities(&shown, truth);
        metadata::check(server, &shop, &truth.records);
        let plan = shop.call("retrieve-current-plan", &json!({})).ok();
        assert!(truth.plan_id.as_ref().is_none_or(|id| plan["plan_id"] == **id), "{:?}: {plan}", truth.plan_id);
        ledger_inspection::check(&shop, &shown, truth);
        truth.shown = shown;
    }
}

/// The first answer of `ask` for which `is_ready` holds.
pub(super) fn eventually<T: Debug>(what: &str, ask: impl FnMut() -> T, is_ready: impl Fn(&T) -> bool) -> T {
    first_answer(PATIENCE, &format!("{what} did not come about"), ask, is_ready)
}

/// Spreads work over the checking threads.
pub(super) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&[T]) -> Vec<R> + Sync) -> Vec<R> {
    let share = items.len().div_ceil(CHECKERS).max(1);
    thread::scope(|scope| {
        let working: Vec<_> = items.chunks(share).map(|chunk| scope.spawn(|| work(chunk))).collect();
        working.into_iter().flat_map(|worker| worker.join().expect("a checker has said what is wrong")).collect()
    })
}

/// Each captured payment of the card that is disputed by itself has one dispute that no call has opened.
fn check_disputes_of_cards(shop: &Shop) {
    let is_disputed = |payment: &Value| {
        DISPUTED.ends_with(payment["card"]["last_digits"].as_str().unwrap_or("none")) && payment["amount_captured"] != 0
    };
    let payments = shop.all(PAYMENT.list);
    let mut expected: Vec<&str> =
        payments.iter().filter(|payment| is_disputed(payment)).map(|payment| text(payment, PAYMENT.id)).collect();
    expected.sort_unstable();
    let without_reason = || {
        let disputes = shop.all(DISPUTE.list);
        let own = disputes.iter().filter(|dispute| dispute["reason"].is_null());
        let mut payments: Vec<String> = own.map(|dispute| text(dispute, PAYMENT.id).to_owned()).collect();
        payments.sort();
        payments
    };
    let found = eventually("the disputes of cards", without_reason, |found| found.len() >= expected.len());
    assert_eq!(found, expected, "disputes of cards, by their payments");
}

/// Each object that a call has made is listed once, unless it was removed, and has the attributes that were
/// acknowledged. The card alone opens disputes beside them.
fn check_objects(kind: &'static ObjectKind, shown: &Shown, truth: &Truth) {
    let found: BTreeMap<&str, &Value> = shown.objects(kind).map(|object| (text(object, kind.id), object)).collect();
    assert_eq!(found.len(), shown.objects(kind).count(), "{} is listed once", kind.id);
    for (id, attributes) in truth.objects(kind).filter(|(id, _)| !truth.removed.contains(*id)) {
        let object = found.get(id.as_str()).unwrap_or_else(|| panic!("{id} is not in {}", kind.list));
        check_attributes(object, attributes);
    }
    for (id, object) in found {
        let is_of_a_card = kind.id == DISPUTE.id && object["reason"].is_null();
        let is_expected = is_of_a_card || truth.has_made(id);
        assert!(is_expected && !truth.removed.contains(id), "it is shown and was not made, or removed: {object}");
    }
}

/// Compares attributes as texts, because an amount may be an argument as text. `true` stands for any time.
fn check_attributes(object: &Value, attributes: &Map<String, Value>) {
    for (name, value) in attributes {
        let Some(found) = object.get(name) else { continue };
        let is_any_time = name.ends_with("_at") && *value == true;
        let is_same = if is_any_time { found.is_u64() } else { answer_text(found) == answer_text(value) };
        assert!(is_same, "{name} was acknowledged as {value}: {object}");
    }
}

/// Each object is found by its own identifier, or by its id, and nothing by an identifier that is free.
fn check_found(server: &Server, shop: &Shop, shown: &Shown, truth: &Truth) {
    let mut names: Vec<(&ObjectKind, String, Option<&str>)> = Vec::new();
    for kind in LISTED.into_iter().filter(|kind| !kind.find.is_empty()) {
        let name = |object: &Value| {
            let external_id = object["external_id"].as_str().filter(|_| kind.has_external_id());
            external_id.unwrap_or(text(object, kind.id)).to_owned()
        };
        names.extend(shown.objects(kind).map(|object| (kind, name(object), Some(text(object, kind.id)))));
        let absent = truth.absent.iter().filter(|(id, _)| *id == kind.id);
        names.extend(absent.map(|(_, name)| (kind, name.clone(), None)));
    }
    in_parallel(&names, |names| {
        let shop = shop.on(server);
        for (kind, name, id) in names {
            let answer = shop.call(kind.find, &json!({ (kind.id): name }));
            match id {
                Some(id) => assert_eq!(answer.ok()[kind.id], *id, "{name}"),
                None => drop(answer.refused("NOT_FOUND")),
            }
        }
        Vec::<()>::new()
    });
}

/// Sessions that no payment used are still active: a refused call has changed nothing.
fn check_sessions(server: &Server, shop: &Shop, shown: &Shown, truth: &Truth) {
    let used: BTreeSet<&str> = shown.objects(&PAYMENT).map(|payment| text(payment, SESSION.id)).collect();
    let idle: Vec<_> = truth.objects(&SESSION).filter(|(id, _)| !used.contains(id.as_str())).collect();
    in_parallel(&idle, |sessions| {
        let shop = shop.on(server);
        for (id, attributes) in sessions {
            let session = shop.payment_session(id);
            assert_eq!(session["status"], "ACTIVE", "{session}");
            check_attributes(&session, attributes);
        }
        Vec::<()>::new()
    });
}

/// One customer for each of the merchant's identifiers, and one identifier for each customer.
fn check_customers(shown: &Shown, truth: &Truth) {
    let pair =
        |payment: &Value| (truth.customers[text(payment, PAYMENT.id)].clone(), answer_text(&payment["customer_id"]));
    let pairs: BTreeSet<(Option<String>, String)> = shown.objects(&PAYMENT).map(pair).collect();
    let named: BTreeSet<&Option<String>> = pairs.iter().map(|(name, _)| name).collect();
    let own: BTreeSet<&String> = pairs.iter().map(|(_, own)| own).collect();
    assert_eq!((named.len(), own.len()), (pairs.len(), pairs.len()), "customers made twice or mixed up: {pairs:?}");
    assert!(pairs.iter().all(|(name, own)| name.is_some() == (own != "null")), "{pairs:?}");
}

/// A key authenticates its merchant until it is revoked.
fn check_keys(server: &Server, shown: &Shown, truth: &Truth) {
    let keys: Vec<&Value> = shown.objects(&KEY).collect();
    in_parallel(&keys, |keys| {
        let client = server.client();
        for key in keys {
            let id = text(key, KEY.id);
            let Some(text) = truth.key_texts.get(id) else { continue };
            let answer: ApiAnswer = client.clone().bearer(text).post("/merchants/find-key", &json!({ "key_id": id }));
            if key["revoked_at"].is_null() { drop(answer.ok()) } else { drop(answer.refused("UNAUTHORIZED")) }
        }
        Vec::<()>::new()
    });
}

/// Each call that causes an activity has caused it, and nothing but a switch of the plan is there twice.
pub(super) fn check_activities(shown: &Shown, truth: &Truth) {
    let mut found = BTreeSet::new();
    for activity in shown.objects(&ACTIVITY).filter(|activity| activity["activity_type"] != "PLAN_SWITCHED") {
        let object = activity["user_email"].as_str().unwrap_or_else(|| text(activity, "object_id"));
        assert!(found.insert((text(activity, "activity_type"), object)), "it is there twice: {activity}");
    }
    let is_there = |(kind, id): &&(&str, String)| found.contains(&(*kind, id.as_str()));
    assert_eq!(truth.activities.iter().find(|activity| !is_there(activity)), None, "it is not in the activity log");
}

/// Compares two sorted lists; a failure names only the entries that are missing and those that are too much.
#[track_caller]
pub(super) fn assert_same<T: Ord + Debug>(what: &str, found: &[T], expected: &[T]) {
    if found != expected {
        let missing: Vec<&T> = expected.iter().filter(|item| found.binary_search(item).is_err()).take(5).collect();
        let too_much: Vec<&T> = found.iter().filter(|item| expected.binary_search(item).is_err()).take(5).collect();
        let (found, expected) = (found.len(), expected.len());
        panic!("{what}: {found} found, {expected} expected; missing {missing:?}, too much {too_much:?}");
    }
}

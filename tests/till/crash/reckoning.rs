//! After a crash: each call is made again. One that was acknowledged has its answer again, one that was refused is
//! refused again, and one whose result is unknown is asked for until it is known to be done once, or not.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Server, Shop};

use super::call_record::{CallClients, CallEffect, CallOutcome, CallRecord, LoadCall};
use super::inspection::in_parallel;
use super::merchants::LoadedMerchant;
use super::object_kind::ObjectKind;
use super::shown::text;
use super::truth::{Truth, id_in};

/// Counts of a reckoning.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) acknowledged: usize,
    pub(super) refused: usize,
    pub(super) unacknowledged: usize,
    /// The calls without acknowledgement that had been done.
    pub(super) found: usize,
}

impl Counts {
    fn count(&mut self, outcome: &CallOutcome, was_found: bool) {
        self.acknowledged += usize::from(matches!(outcome, CallOutcome::Acknowledged(_)));
        self.refused += usize::from(*outcome == CallOutcome::NotDone);
        self.unacknowledged += usize::from(*outcome == CallOutcome::Unknown);
        self.found += usize::from(was_found);
    }
}

/// Checks a restarted server against all earlier calls, and records the state that is expected from now on.
pub(super) fn reckon(
    server: &Server,
    merchants: &[LoadedMerchant],
    call_records: &[CallRecord],
    truths: &mut [Truth],
    counts: &mut Counts,
) {
    let settled = in_parallel(call_records, |call_records| {
        let clients: Vec<_> = merchants.iter().map(|merchant| CallClients::new(server, &merchant.shop)).collect();
        call_records.iter().map(|record| settle(&clients[record.merchant], record)).collect()
    });
    let makes_object = |(record, _): &(&CallRecord, Settled)| matches!(record.call.effect, CallEffect::Creates(_));
    let (creations, changes): (Vec<_>, Vec<_>) = call_records.iter().zip(settled).partition(makes_object);
    for (record, Settled { answer, was_found }) in creations.into_iter().chain(changes) {
        counts.count(&record.outcome, was_found);
        let truth = &mut truths[record.merchant];
        match answer {
            Some(answer) => truth.note(&record.call, &answer),
            None => truth.note_not_done(&record.call),
        }
    }
}

/// The result of one call.
struct Settled {
    /// The answer; None when it is not known to be done.
    answer: Option<Value>,
    /// True when a call without acknowledgement had been done.
    was_found: bool,
}

impl Settled {
    const NOT_DONE: Settled = Settled { answer: None, was_found: false };
}

fn settle(clients: &CallClients, CallRecord { call, outcome, .. }: &CallRecord) -> Settled {
    match (&call.effect, outcome) {
        (CallEffect::Refused(code, _), _) => {
            clients.ask(call).refused(code);
            Settled::NOT_DONE
        }
        (_, CallOutcome::Acknowledged(answer)) => {
            assert_replays(clients, call, answer);
            Settled { answer: Some(answer.clone()), was_found: false }
        }
        (_, CallOutcome::NotDone) => Settled::NOT_DONE,
        (CallEffect::Creates(kind), CallOutcome::Unknown) => create_again(clients, call, kind),
        (_, CallOutcome::Unknown) => change_again(clients, call),
    }
}

/// Makes a call again until its object is there once. Without a key, an object that is there under the name of the call
/// is its own; the result of a call without key and name stays unknown.
fn create_again(clients: &CallClients, call: &LoadCall, kind: &ObjectKind) -> Settled {
    let external_id = call.text("external_id").filter(|_| kind.has_external_id());
    let name = call.text(kind.name).filter(|_| call.key.is_none());
    let before = match (external_id, name) {
        (Some(external_id), _) => find(&clients.shop, kind, external_id),
        (None, Some(name)) => look_up(&clients.shop, kind, name),
        (None, None) if call.key.is_none() => return Settled::NOT_DONE,
        (None, None) => None,
    };
    let (answer, was_found) = match (&before, &call.key) {
        (Some(id), None) => (json!(id), true),
        _ => {
            let first = clients.ask(call);
            if call.is_refused_by(&first) {
                assert_eq!(before, None, "an object that is there is answered: {call:?}");
                return Settled::NOT_DONE;
            }
            let was_found = is_replay(&first);
            (first.ok(), was_found)
        }
    };
    let id = id_in(kind, &answer);
    if external_id.is_some() {
        assert_eq!(before, was_found.then(|| id.clone()), "by external id and asked again: {call:?}");
    }
    if call.key.is_none() && kind.is_unique {
        assert_eq!(clients.ask(call).details()[kind.id], json!(id), "asked a third time: {call:?}");
    }
    assert_replays(clients, call, &answer);
    Settled { answer: Some(answer), was_found }
}

/// The id of the object that has an external id.
pub(super) fn find(shop: &Shop, kind: &ObjectKind, external_id: &str) -> Option<String> {
    let answer = shop.call(kind.find, &json!({ (kind.id): external_id }));
    if answer.status == 200 {
        return Some(text(&answer.body, kind.id).to_owned());
    }
    answer.refused("NOT_FOUND");
    None
}

/// The id of the object that is listed under a name.
fn look_up(shop: &Shop, kind: &ObjectKind, name: &str) -> Option<String> {
    let objects = shop.all(kind.list).into_iter();
    let mut own = objects.filter(|object| object[kind.name] == name && !object[kind.id].is_null());
    let found = own.next().map(|object| text(&object, kind.id).to_owned());
    assert_eq!(own.next(), None, "{name} is there once");
    found
}

/// Makes a call again whose effect is the same when it is done twice, or which is refused then. A refusal because of
/// the state does not tell if the call itself or another one came first.
fn change_again(clients: &CallClients, call: &LoadCall) -> Settled {
    let first = clients.ask(call);
    if call.is_refused_by(&first) {
        return Settled::NOT_DONE;
    }
    if first.status != 200 {
        assert_eq!(call.key, None, "a key has its answer again: {call:?}");
        assert_done_before(call, &first);
        return Settled { answer: Some(json!(true)), was_found: true };
    }
    let was_found = is_replay(&first);
    let answer = first.ok();
    assert_replays(clients, call, &answer);
    Settled { answer: Some(answer), was_found }
}

/// Checks that only a call itself may have come first: nobody else removes its user or changes its record of metadata.
fn assert_done_before(call: &LoadCall, answer: &ApiAnswer) {
    if matches!(call.effect, CallEffect::Removes(..)) {
        answer.refused("NOT_FOUND");
        return;
    }
    assert_eq!(answer.faults(), ["version_mismatch version"], "{call:?}");
    let after =
        if call.path == "/merchants/delete-metadata" { 0 } else { call.body["version"].as_u64().unwrap_or(0) + 1 };
    assert_eq!(answer.details()[0]["current"], json!(after), "{call:?} is done once");
}

fn is_replay(answer: &ApiAnswer) -> bool {
    answer.header("idempotent-replayed") == Some("true")
}

/// Checks that a call with a key has its earlier answer again.
#[track_caller]
fn assert_replays(clients: &CallClients, call: &LoadCall, answer: &Value) {
    if call.key.is_some() {
        let again = clients.ask(call);
        assert_eq!((again.status, &again.body), (200, answer), "the same key: {call:?}");
        assert!(is_replay(&again), "it was answered again, not from memory: {call:?}");
    }
}

//! After a crash: acknowledged changes are there once, refused ones are not, and unknown ones are asked for again until
//! they are known to be there once.

use std::thread;

use serde_json::json;

use crate::harness::{ApiAnswer, Client, Server, Shop};

use super::call_record::{CallKind, CallOutcome, CallRecord, CreationCall, Sale, answer_text};
use super::caller::post;
use super::change_reckoning;
use super::dispute_reckoning::{self, DisputeDesk};
use super::merchants::LoadedMerchant;
use super::movement_reckoning;
use super::truth::{Fact, Truth};
use super::{invoice, payout};

/// Threads that check.
const CHECKERS: usize = 8;

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
    /// Adds the counts of another reckoning.
    pub(super) fn add(&mut self, other: Counts) {
        self.acknowledged += other.acknowledged;
        self.refused += other.refused;
        self.unacknowledged += other.unacknowledged;
        self.found += other.found;
    }
}

/// Checks a restarted server against all earlier calls, and records the state that is expected from now on.
pub(super) fn reckon(
    server: &Server,
    merchants: &[LoadedMerchant],
    call_records: &[CallRecord],
    truths: &mut [Truth],
) -> Counts {
    let results = in_parallel(call_records, |call_records| {
        let desks: Vec<Desk> = merchants.iter().map(|merchant| Desk::new(server, &merchant.shop)).collect();
        call_records
            .iter()
            .map(|call_record| (call_record.merchant, desks[call_record.merchant].settle(call_record)))
            .collect::<Vec<_>>()
    });
    let mut counts = Counts::default();
    let mut facts = Vec::new();
    for (merchant, Settled { fact, counts: own }) in results {
        counts.add(own);
        facts.extend(fact.map(|fact| (merchant, fact)));
    }
    let (payments, others): (Vec<_>, Vec<_>) =
        facts.into_iter().partition(|(_, fact)| matches!(fact, Fact::Payment(..)));
    payments.into_iter().chain(others).for_each(|(merchant, fact)| truths[merchant].note(fact));
    dispute_reckoning::note_those_of_cards(server, merchants, truths);
    counts
}

/// Spreads work over the checking threads.
pub(super) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&[T]) -> Vec<R> + Sync) -> Vec<R> {
    let share = items.len().div_ceil(CHECKERS).max(1);
    thread::scope(|scope| {
        let working: Vec<_> = items.chunks(share).map(|chunk| scope.spawn(|| work(chunk))).collect();
        working.into_iter().flat_map(|worker| worker.join().expect("a checker has said what is wrong")).collect()
    })
}

/// The result of one call.
struct Settled {
    fact: Option<Fact>,
    counts: Counts,
}

/// Repeats the calls of one merchant.
struct Desk {
    shop: Shop,
    device: Client,
    operator: Client,
}

/// The result of a repeated call.
struct AskedAgain {
    id: String,
    /// True when the first call had taken effect.
    was_done: bool,
}

impl Desk {
    fn new(server: &Server, shop: &Shop) -> Desk {
        Desk { shop: shop.on(server), device: server.client(), operator: server.admin_client() }
    }

    const fn disputes(&self) -> DisputeDesk<'_> {
        DisputeDesk { shop: &self.shop, operator: &self.operator }
    }

    fn settle(&self, call_record: &CallRecord) -> Settled {
        let counts = Counts::default();
        match (&call_record.what, &call_record.outcome) {
            (CallKind::RefusedPayment(external_id), _) => {
                let counts = Counts { refused: 1, ..counts };
                Settled { fact: Some(Fact::Absent(external_id.clone())), counts }
            }
            (what, CallOutcome::Acknowledged(id)) => {
                let counts = Counts { acknowledged: 1, ..counts };
                Settled { fact: Some(self.acknowledged(what, id)), counts }
            }
            (what, CallOutcome::NotDone) => Settled { fact: not_done(what), counts: Counts { refused: 1, ..counts } },
            (what, CallOutcome::Unknown) => {
                let (fact, was_done) = self.unknown(what);
                let counts = Counts { unacknowledged: 1, found: usize::from(was_done), ..counts };
                Settled { fact, counts }
            }
        }
    }

    /// The same key gives the same answer again.
    fn acknowledged(&self, what: &CallKind, id: &str) -> Fact {
        match what {
            CallKind::Payment(sale) => {
                if sale.key.is_some() {
                    assert_replays(&self.ask(sale), id);
                }
                Fact::Payment(id.to_owned(), sale.clone())
            }
            CallKind::Session(asked) => {
                if asked.key.is_some() {
                    assert_replays(&self.select(asked), id);
                }
                Fact::Session(id.to_owned(), asked.minor)
            }
            CallKind::Topup(asked) => {
                if asked.key.is_some() {
                    assert_replays(&self.topup(asked), id);
                }
                Fact::Topup(id.to_owned(), asked.minor)
            }
            CallKind::Payout(asked) => payout::acknowledged(&self.shop, asked, id),
            CallKind::Invoice(asked) => invoice::acknowledged(&self.operator, asked, id),
            CallKind::Change(change) => {
                if change.key.is_some() {
                    assert_replays(&change.ask(&self.shop.client()), id);
                }
                Fact::Changed(change.meaning.clone(), id.to_owned())
            }
            CallKind::Movement(movement) => movement_reckoning::acknowledged(&self.shop, movement, id),
            CallKind::Dispute(call) => self.disputes().acknowledged(call, id),
            CallKind::RefusedPayment(external_id) => panic!("{external_id} is acknowledged as {id}"),
        }
    }

    /// Repeats the call until its change is there once.
    fn unknown(&self, what: &CallKind) -> (Option<Fact>, bool) {
        match what {
            CallKind::Payment(sale) => {
                let again = self.payment_again(sale);
                (Some(Fact::Payment(again.id, sale.clone())), again.was_done)
            }
            CallKind::Session(asked) => match self.session_again(asked) {
                Some(again) => (Some(Fact::Session(again.id, asked.minor)), again.was_done),
                None => (None, true),
            },
            CallKind::Topup(asked) => match self.topup_again(asked) {
                Some(again) => (Some(Fact::Topup(again.id, asked.minor)), again.was_done),
                None => (Some(Fact::MaybeTopup(asked.minor)), false),
            },
            CallKind::Payout(asked) => payout::unknown(&self.shop, asked),
            CallKind::Invoice(asked) => {
                let (fact, was_done) = invoice::unknown(&self.operator, asked);
                (Some(fact), was_done)
            }
            CallKind::Change(change) => {
                let again = change_reckoning::ask_again(&self.shop, change);
                let fact = again.answered.map(|answered| Fact::Changed(change.meaning.clone(), answered));
                (fact, again.was_done)
            }
            CallKind::Movement(movement) => {
                let again = movement_reckoning::unknown(&self.shop, movement);
                (again.fact, again.was_done)
            }
            CallKind::Dispute(call) => self.disputes().unknown(call),
            CallKind::RefusedPayment(external_id) => (Some(Fact::Absent(external_id.clone())), false),
        }
    }

    fn payment_again(&self, sale: &Sale) -> AskedAgain {
        let before = sale.external_id.as_deref().and_then(|external_id| find(&self.shop, "payment", external_id));
        let first = self.ask(sale);
        let again = match &sale.key {
            Some(_) => with_key(first),
            None if first.status == 200 => AskedAgain { id: first.id(), was_done: false },
            None => AskedAgain { id: used_by(&first), was_done: true },
        };
        if sale.external_id.is_some() {
            assert_eq!(before, again.was_done.then(|| again.id.clone()), "by external id and asked again: {sale:?}");
        }
        match &sale.key {
            Some(_) => assert_replays(&self.ask(sale), &again.id),
            None => assert_eq!(used_by(&self.ask(sale)), again.id, "asked a third time: {sale:?}"),
        }
        again
    }

    /// Repeats a selection. None when the session exists and its id is unknown.
    fn session_again(&self, asked: &CreationCall) -> Option<AskedAgain> {
        let first = self.select(asked);
        if asked.key.is_none() {
            if first.code() == "TOKEN_ALREADY_USED" {
                return None;
            }
            return Some(AskedAgain { id: first.id(), was_done: false });
        }
        let again = with_key(first);
        assert_replays(&self.select(asked), &again.id);
        Some(again)
    }

    /// Repeats a top-up. None when its id is unknown.
    fn topup_again(&self, asked: &CreationCall) -> Option<AskedAgain> {
        if asked.key.is_some() {
            let again = with_key(self.topup(asked));
            assert_replays(&self.topup(asked), &again.id);
            return Some(again);
        }
        asked.external_id.as_ref()?;
        let first = self.topup(asked);
        let id = if first.status == 200 { first.clone().id() } else { taken_by(&first, "topup_id") };
        assert_eq!(taken_by(&self.topup(asked), "topup_id"), id, "asked a third time: {asked:?}");
        Some(AskedAgain { id, was_done: first.status != 200 })
    }

    fn ask(&self, sale: &Sale) -> ApiAnswer {
        post(&self.shop.client(), "/merchants/initiate-payment-flow", &sale.body, sale.key.as_deref())
    }

    fn select(&self, asked: &CreationCall) -> ApiAnswer {
        post(&self.device, "/sdk/select-payment-method", &asked.body, asked.key.as_deref())
    }

    fn topup(&self, asked: &CreationCall) -> ApiAnswer {
        post(&self.operator, "/admin/add-topup", &asked.body, asked.key.as_deref())
    }
}

/// The fact that follows from a call that was not done: a payment's external id is free.
fn not_done(what: &CallKind) -> Option<Fact> {
    match what {
        CallKind::Payment(sale) => sale.external_id.clone().map(Fact::Absent),
        CallKind::RefusedPayment(external_id) => Some(Fact::Absent(external_id.clone())),
        CallKind::Movement(movement) => movement_reckoning::not_accepted(movement),
        CallKind::Payout(asked) => payout::not_done(asked),
        CallKind::Session(_)
        | CallKind::Topup(_)
        | CallKind::Invoice(_)
        | CallKind::Change(_)
        | CallKind::Dispute(_) => None,
    }
}

fn with_key(answer: ApiAnswer) -> AskedAgain {
    AskedAgain { was_done: is_replay(&answer), id: answer.id() }
}

pub(super) fn is_replay(answer: &ApiAnswer) -> bool {
    answer.header("idempotent-replayed") == Some("true")
}

/// Checks that the answer is the earlier one: an id, or the text of another value.
#[track_caller]
pub(super) fn assert_replays(answer: &ApiAnswer, id: &str) {
    assert_eq!((answer.status, answer_text(&answer.body).as_str()), (200, id), "the same key: {}", answer.body);
    assert!(is_replay(answer), "{id} was answered again, not from memory");
}

/// The payment that used a session, from the refusal that names it.
fn used_by(answer: &ApiAnswer) -> String {
    let details = answer.refused("NOT_FOUND");
    text(answer, &details["payment_id"])
}

/// The object that has the external id, from the refusal that names it.
pub(super) fn taken_by(answer: &ApiAnswer, member: &str) -> String {
    let details = answer.refused("CONFLICT");
    text(answer, &details[member])
}

/// The id of the object of this kind, such as `refund`, that has the external id.
pub(super) fn find(shop: &Shop, kind: &str, external_id: &str) -> Option<String> {
    let member = format!("{kind}_id");
    let answer = shop.call(&format!("find-{kind}"), &json!({ (member.as_str()): external_id }));
    if answer.status == 200 {
        return Some(text(&answer, &answer.body[&member]));
    }
    answer.refused("NOT_FOUND");
    None
}

fn text(answer: &ApiAnswer, value: &serde_json::Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no id in {}", answer.body)).to_owned()
}

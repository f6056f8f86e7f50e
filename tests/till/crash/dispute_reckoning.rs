//! After a crash: an acknowledged step of a dispute was taken once, a call that was not acknowledged is repeated until
//! its result is known, and a card that is disputed when it is captured has its dispute.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Client, Server, Shop};

use super::call_record::answer_text;
use super::cards::Fate;
use super::dispute::{Change, Dispute, DisputeOpening, DisputeStep, StepSource};
use super::dispute_call::{DisputeCall, DisputeCallKind};
use super::inspection::eventually;
use super::merchants::LoadedMerchant;
use super::payment::{Accepted, KnownPayment};
use super::reckoning::{assert_replays, in_parallel, is_replay};
use super::truth::{Fact, Truth};

/// Repeats calls about a merchant's disputes.
pub(super) struct DisputeDesk<'a> {
    pub(super) shop: &'a Shop,
    pub(super) operator: &'a Client,
}

impl DisputeDesk<'_> {
    /// The same key gives the same answer again.
    pub(super) fn acknowledged(&self, call: &DisputeCall, answered: &str) -> Fact {
        if call.key.is_some() {
            assert_replays(&self.ask(call), answered);
        }
        self.accepted(call, answered)
    }

    /// Repeats the call until its result is known: the accepted step, and true when the first call had taken effect.
    pub(super) fn unknown(&self, call: &DisputeCall) -> (Option<Fact>, bool) {
        match &call.kind {
            DisputeCallKind::Open { reason, .. } => self.opening_again(call, reason),
            DisputeCallKind::Step(dispute_id, step) => self.step_again(call, dispute_id, step),
        }
    }

    fn ask(&self, call: &DisputeCall) -> ApiAnswer {
        call.ask(self.shop, self.operator)
    }

    /// A dispute that exists under the reason of a call without a key is not asked for again.
    fn opening_again(&self, call: &DisputeCall, reason: &str) -> (Option<Fact>, bool) {
        let before = self.opened_for(&call.payment_id, reason);
        if let (Some(id), None) = (&before, &call.key) {
            return (Some(self.accepted(call, id)), true);
        }
        let first = self.ask(call);
        if call.is_refused_by(&first) {
            assert_eq!(before, None, "a dispute that is there is answered: {call:?}");
            return (None, false);
        }
        let (was_done, id) = (is_replay(&first), first.id());
        assert_eq!(before, was_done.then(|| id.clone()), "by its reason and asked again: {call:?}");
        if call.key.is_some() {
            assert_replays(&self.ask(call), &id);
        }
        (Some(self.accepted(call, &id)), was_done)
    }

    fn opened_for(&self, payment_id: &str, reason: &str) -> Option<String> {
        let disputes = of_payment(self.shop, payment_id).into_iter();
        let mut ids =
            disputes.filter(|dispute| dispute["reason"] == reason).map(|dispute| answer_text(&dispute["dispute_id"]));
        let found = ids.next();
        assert_eq!(ids.next(), None, "opened once for {reason}");
        found
    }

    fn step_again(&self, call: &DisputeCall, dispute_id: &str, step: &DisputeStep) -> (Option<Fact>, bool) {
        let first = self.ask(call);
        if !call.is_refused_by(&first) {
            let was_done = is_replay(&first);
            let answered = answer_text(&first.ok());
            if call.key.is_some() {
                assert_replays(&self.ask(call), &answered);
            }
            return (Some(self.accepted(call, &answered)), was_done);
        }
        if call.key.is_some() || !self.shows(dispute_id, step, &first.details()["status"]) {
            return (None, false);
        }
        let change = Change::Taken(step.clone(), StepSource::ByTheDispute);
        (Some(Fact::Accepted(call.payment_id.clone(), Accepted::Dispute(dispute_id.to_owned(), change))), true)
    }

    /// True when a dispute in which a step was refused had taken it before. Only the activity log shows the escalation
    /// of a dispute that has ended.
    fn shows(&self, dispute_id: &str, step: &DisputeStep, status: &Value) -> bool {
        match step {
            DisputeStep::Challenge(evidence) => {
                let dispute = self.shop.call("find-dispute", &json!({ "dispute_id": dispute_id })).ok();
                dispute["evidence"] == **evidence
            }
            DisputeStep::End(end) => status == end.status(),
            DisputeStep::Escalate => {
                let body = json!({ "object_id": dispute_id, "activity_type": "dispute_escalated" });
                status == "ESCALATED" || self.shop.call("list-activity-logs", &body).ok()["page"] != json!([])
            }
        }
    }

    fn accepted(&self, call: &DisputeCall, answered: &str) -> Fact {
        let (id, change) = match &call.kind {
            DisputeCallKind::Open { minor, reason } => {
                let minor = minor.unwrap_or_else(|| self.amount(answered));
                (answered, Change::Opened(DisputeOpening { minor, reason: Some(reason.clone()) }))
            }
            DisputeCallKind::Step(dispute_id, step) => {
                assert_eq!(answered, "true", "{call:?}");
                (dispute_id.as_str(), Change::Taken(step.clone(), StepSource::ByItsAnswer))
            }
        };
        Fact::Accepted(call.payment_id.clone(), Accepted::Dispute(id.to_owned(), change))
    }

    /// The amount of a dispute that was asked for without one.
    fn amount(&self, dispute_id: &str) -> u64 {
        let dispute = self.shop.call("find-dispute", &json!({ "dispute_id": dispute_id })).ok();
        dispute["amount"].as_u64().expect("an amount")
    }
}

/// The disputes of a payment: few.
pub(super) fn of_payment(shop: &Shop, payment_id: &str) -> Vec<Value> {
    shop.all_of("list-disputes", &json!({ "payment_id": payment_id }))
}

/// Records the disputes that cards have opened by themselves, once the acquirer has answered: each about the whole
/// capture.
pub(super) fn note_those_of_cards(server: &Server, merchants: &[LoadedMerchant], truths: &mut [Truth]) {
    for (merchant, truth) in merchants.iter().zip(truths) {
        let is_new = |payment: &KnownPayment| {
            let is_taken = payment.sale.fate == Fate::Disputed && payment.captured_minor() > 0;
            is_taken && !payment.disputes.values().any(Dispute::is_of_its_card)
        };
        let new = truth.payments.iter().filter(|(_, payment)| is_new(payment));
        let new: Vec<(String, u64)> = new.map(|(id, payment)| (id.clone(), payment.captured_minor())).collect();
        let facts = in_parallel(&new, |payments| {
            let shop = merchant.shop.on(server);
            payments.iter().map(|(payment_id, minor)| of_its_card(&shop, payment_id, *minor)).collect()
        });
        facts.into_iter().for_each(|fact| truth.note(fact));
    }
}

fn of_its_card(shop: &Shop, payment_id: &str, minor: u64) -> Fact {
    let without_reason = || of_payment(shop, payment_id).into_iter().find(|dispute| dispute["reason"].is_null());
    let dispute = eventually("the dispute of a card", without_reason, Option::is_some).expect("it is there");
    let change = Change::Opened(DisputeOpening { minor, reason: None });
    Fact::Accepted(payment_id.to_owned(), Accepted::Dispute(answer_text(&dispute["dispute_id"]), change))
}

//! An acquirer between the engine and the sandbox that follows a script of faults, and remembers its calls.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use till_actors::acquirer::{
    Acquirer, AcquirerAnswer, AcquirerCall, AcquirerUnavailable, CallAnswer, Instrument, LateAnswers, LookedUp,
    Preparation, Prepared, UnansweredOutcome,
};
use till_domain::failure::FailureCode;
use till_domain::ids::MerchantId;
use till_domain::text::ActionAddress;
use till_sandbox::SandboxAcquirer;
use tokio::sync::oneshot;
use tokio::sync::watch::{Receiver, Sender, channel};

use crate::promises::CallFault;

/// The beginning of the address of every page that is prepared.
pub(crate) const PAGES: &str = "https://acquirer.example/pay/";

/// The treatment of a call.
pub(crate) enum CallTreatment {
    /// The call panics.
    Panic,
    /// It goes wrong in this way.
    Fault(CallFault),
    /// This function runs first, then the sandbox answers.
    After(Box<dyn FnOnce() + Send>),
}

/// The answers to requests to prepare an authorization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preparing {
    /// It is prepared without a page.
    WithoutPage,
    /// A page is prepared.
    WithPage,
    /// The acquirer refuses.
    Declines,
    /// The acquirer takes no card numbers of the account.
    RefusesCardNumbers,
}

#[derive(Default)]
struct Script {
    /// None for an acquirer that prepares nothing.
    preparing: Option<Preparing>,
    /// The next preparation waits until this is sent.
    held: Option<oneshot::Receiver<()>>,
    /// Nothing is answered any more after the next preparation.
    is_silent_once_prepared: bool,
    /// The ids of what was prepared.
    prepared: Vec<String>,
    /// What was prepared for the authorizations and cancellations that were made, as they named it.
    named: Vec<Option<Preparation>>,
    turns: VecDeque<CallTreatment>,
    /// The fault of the next call of a kind.
    fault_of: Option<(&'static str, CallFault)>,
    unanswered_merchant: Option<MerchantId>,
    /// What is known of every call and look-up: none is answered.
    unanswered: Option<UnansweredOutcome>,
    hanging_merchant: Option<(MerchantId, Receiver<()>)>,
    security_codes: Vec<Option<String>>,
    calls: Vec<String>,
    /// The references of the calls that were carried out.
    carried_out: Vec<String>,
    /// The references under which a failure is the answer to every repetition.
    stored_failures: BTreeSet<String>,
    /// The answers about evidence, of which the sandbox keeps nothing.
    evidence: BTreeMap<String, CallAnswer>,
}

impl Script {
    fn without_answer(&self) -> Option<AcquirerUnavailable> {
        self.unanswered.map(|outcome| AcquirerUnavailable { outcome, reason: "on purpose".to_owned() })
    }
}

/// The script of an acquirer; clones are the same one, and outlive the engine.
#[derive(Clone, Default)]
pub(crate) struct ScriptHandle(Arc<Mutex<Script>>);

impl ScriptHandle {
    /// Adds the treatment of the next calls, look-ups left out. Calls after them go to the sandbox.
    pub(crate) fn next(&self, turns: impl IntoIterator<Item = CallTreatment>) {
        self.script().turns.extend(turns);
    }

    /// Lets the next call of a kind go wrong.
    pub(crate) fn next_of(&self, word: &'static str, fault: CallFault) {
        self.script().fault_of = Some((word, fault));
    }

    /// Calls of this merchant, and look-ups, get no answer from now on, and are not carried out.
    pub(crate) fn do_not_answer(&self, merchant_id: Option<MerchantId>) {
        self.script().unanswered_merchant = merchant_id;
    }

    /// No call and no look-up is answered or carried out from now on; none ends that.
    pub(crate) fn leave_unanswered(&self, outcome: Option<UnansweredOutcome>) {
        self.script().unanswered = outcome;
    }

    /// Calls of this merchant hang from now on, and are not carried out before what is returned is dropped.
    pub(crate) fn hang(&self, merchant_id: MerchantId) -> Sender<()> {
        let (sender, receiver) = channel(());
        self.script().hanging_merchant = Some((merchant_id, receiver));
        sender
    }

    fn hanging(&self, merchant_id: MerchantId) -> Option<Receiver<()>> {
        let script = self.script();
        script.hanging_merchant.as_ref().filter(|(hanging, _)| *hanging == merchant_id).map(|(_, until)| until.clone())
    }

    /// Authorizations are prepared from now on.
    pub(crate) fn prepare(&self, preparing: Preparing) {
        self.script().preparing = Some(preparing);
    }

    /// The next preparation is not answered before the returned sender is used.
    pub(crate) fn hold_preparation(&self) -> oneshot::Sender<()> {
        let (release, held) = oneshot::channel();
        self.script().held = Some(held);
        release
    }

    /// Calls of the next merchant for whom something is prepared get no answer afterwards.
    pub(crate) fn fall_silent_once_prepared(&self) {
        self.script().is_silent_once_prepared = true;
    }

    /// The ids of what was prepared, in order.
    pub(crate) fn prepared(&self) -> Vec<String> {
        self.script().prepared.clone()
    }

    /// The ids of what was prepared, as the authorizations and cancellations named them, in order.
    pub(crate) fn named(&self) -> Vec<Option<String>> {
        let named = self.script().named.clone();
        named.into_iter().map(|prepared| prepared.map(|prepared| prepared.acquirer_reference)).collect()
    }

    /// The failures that are kept are kept no longer.
    pub(crate) fn end_keys(&self) {
        self.script().stored_failures.clear();
    }

    /// The security codes that came with authorizations, in order.
    pub(crate) fn security_codes(&self) -> Vec<Option<String>> {
        self.script().security_codes.clone()
    }

    /// Calls made so far, look-ups included.
    pub(crate) fn calls(&self) -> usize {
        self.script().calls.len()
    }

    /// The calls and their references, look-ups included, in order.
    pub(crate) fn calls_made(&self) -> Vec<String> {
        self.script().calls.clone()
    }

    /// The references of the calls that were carried out, in order. One that was carried out twice is there twice.
    pub(crate) fn carried_out(&self) -> Vec<String> {
        self.script().carried_out.clone()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().expect("no test panics with the script in hand")
    }

    /// Prepares an authorization.
    fn prepared_now(&self, call: &AcquirerCall, preparing: Preparing) -> Result<Prepared, AcquirerUnavailable> {
        let mut script = self.script();
        script.calls.push(format!("prepare {}", call.reference()));
        if let Some(error) = script.without_answer() {
            return Err(error);
        }
        if script.unanswered_merchant == Some(call.merchant()) {
            return Err(lost());
        }
        let fault = script.fault_of.take_if(|(of, _)| *of == "prepare").map(|(_, fault)| fault);
        match fault {
            Some(CallFault::RequestLost) => return Err(lost()),
            Some(CallFault::NotSent) => return Err(AcquirerUnavailable::not_sent("on purpose")),
            Some(CallFault::AnswerLost | CallFault::FailureStored) | None => {}
        }
        let refused = match preparing {
            Preparing::Declines => Some(FailureCode::InvalidCard),
            Preparing::RefusesCardNumbers => Some(FailureCode::AcquirerRefusedCardNumbers),
            Preparing::WithoutPage | Preparing::WithPage => None,
        };
        if let Some(code) = refused {
            return Ok(Prepared::Declined(code.into()));
        }
        let acquirer_reference = format!("prepared-{}", script.prepared.len() + 1);
        script.prepared.push(acquirer_reference.clone());
        if std::mem::take(&mut script.is_silent_once_prepared) {
            script.unanswered_merchant = Some(call.merchant());
        }
        let page = (preparing == Preparing::WithPage).then(|| format!("{PAGES}{acquirer_reference}"));
        let page = page.map(ActionAddress::from_stored);
        let AcquirerCall::Authorize(request) = call else { panic!("only authorizations are prepared: {call:?}") };
        let ready = Prepared::Ready(Preparation { payment_id: request.payment, acquirer_reference, page });
        if fault.is_some() { Err(lost()) } else { Ok(ready) }
    }

    /// True for an authorization that is not prepared, of an acquirer that prepares them.
    fn misses_preparation(&self, call: &AcquirerCall) -> bool {
        let prepares = self.script().preparing.is_some();
        prepares && matches!(call, AcquirerCall::Authorize(request) if request.prepared.is_none())
    }

    fn note_named(&self, call: &AcquirerCall) {
        let named = match call {
            AcquirerCall::Authorize(request) => request.prepared.clone(),
            AcquirerCall::Cancel(request) => request.prepared.clone(),
            AcquirerCall::Capture(_)
            | AcquirerCall::Void(_)
            | AcquirerCall::Refund(_)
            | AcquirerCall::Payout(_)
            | AcquirerCall::Evidence(_) => return,
        };
        self.script().named.push(named);
    }

    fn turn(&self, call: &AcquirerCall) -> Option<CallTreatment> {
        let (mut script, word, reference) = (self.script(), word(call), call.reference().to_string());
        script.calls.push(format!("{word} as {reference}"));
        if script.unanswered_merchant == Some(call.merchant()) {
            return Some(CallTreatment::Fault(CallFault::RequestLost));
        }
        if script.stored_failures.contains(&reference) {
            return Some(CallTreatment::Fault(CallFault::AnswerLost));
        }
        let fault = script.fault_of.take_if(|(of, _)| *of == word);
        let turn = fault.map(|(_, fault)| CallTreatment::Fault(fault)).or_else(|| script.turns.pop_front());
        if let Some(CallTreatment::Fault(CallFault::FailureStored)) = &turn {
            script.stored_failures.insert(reference);
        }
        turn
    }
}

fn word(call: &AcquirerCall) -> &'static str {
    match call {
        AcquirerCall::Authorize(_) => "authorize",
        AcquirerCall::Cancel(_) => "cancel",
        AcquirerCall::Capture(_) => "capture",
        AcquirerCall::Void(_) => "void",
        AcquirerCall::Refund(_) => "refund",
        AcquirerCall::Payout(_) => "payout",
        AcquirerCall::Evidence(_) => "evidence",
    }
}

/// The sandbox behind a script, as an acquirer elsewhere.
pub(crate) struct ScriptedAcquirer {
    pub(crate) sandbox: Arc<SandboxAcquirer>,
    pub(crate) script: ScriptHandle,
}

impl ScriptedAcquirer {
    fn carry_out(&self, call: AcquirerCall) -> AcquirerAnswer<'_, CallAnswer> {
        let reference = call.reference().to_string();
        self.script.script().carried_out.push(reference.clone());
        let is_evidence = matches!(call, AcquirerCall::Evidence(_));
        let (answer, script) = (self.sandbox.act(call), self.script.clone());
        Box::pin(async move {
            let answer = answer.await?;
            if is_evidence {
                script.script().evidence.insert(reference, answer.clone());
            }
            Ok(answer)
        })
    }
}

impl Acquirer for ScriptedAcquirer {
    fn prepare(&self, call: &AcquirerCall) -> AcquirerAnswer<'_, Prepared> {
        let (preparing, held) = {
            let mut script = self.script.script();
            (script.preparing, script.held.take())
        };
        let answer = preparing.map_or(Ok(Prepared::Nothing), |preparing| self.script.prepared_now(call, preparing));
        Box::pin(async move {
            if let Some(held) = held {
                held.await.expect("the test holds it");
            }
            answer
        })
    }

    fn act(&self, call: AcquirerCall) -> AcquirerAnswer<'_, CallAnswer> {
        assert!(!self.script.misses_preparation(&call), "an authorization that is not prepared is not made");
        self.script.note_named(&call);
        if let AcquirerCall::Authorize(request) = &call
            && let Some(Instrument::Card { security_code, .. }) = &request.instrument
        {
            let code = security_code.as_ref().map(|code| code.expose_digits().to_owned());
            self.script.script().security_codes.push(code);
        }
        if let Some(mut until) = self.script.hanging(call.merchant()) {
            let (sandbox, reference) = (Arc::clone(&self.sandbox), call.reference().to_string());
            self.script.script().calls.push(format!("hanging {reference}"));
            return Box::pin(async move {
                until.changed().await.expect_err("nothing is sent");
                sandbox.act(call).await
            });
        }
        let turn = self.script.turn(&call);
        if let Some(error) = self.script.script().without_answer() {
            return Box::pin(async { Err(error) });
        }
        match turn {
            Some(CallTreatment::Panic) => Box::pin(async { panic!("the acquirer panics on purpose") }),
            Some(CallTreatment::Fault(CallFault::RequestLost)) => Box::pin(async { Err(lost()) }),
            Some(CallTreatment::Fault(CallFault::NotSent)) => {
                Box::pin(async { Err(AcquirerUnavailable::not_sent("on purpose")) })
            }
            Some(CallTreatment::Fault(CallFault::AnswerLost | CallFault::FailureStored)) => {
                let answer = self.carry_out(call);
                Box::pin(async move { answer.await.and(Err(lost())) })
            }
            Some(CallTreatment::After(act)) => {
                act();
                self.carry_out(call)
            }
            None => self.carry_out(call),
        }
    }

    fn look_up<'a>(&'a self, call: &'a AcquirerCall) -> AcquirerAnswer<'a, LookedUp> {
        let is_made = !self.script.misses_preparation(call);
        let mut script = self.script.script();
        script.calls.push(format!("look up {}", call.reference()));
        if let Some(error) = script.without_answer() {
            return Box::pin(async { Err(error) });
        }
        if script.unanswered_merchant == Some(call.merchant()) {
            return Box::pin(async { Err(lost()) });
        }
        match script.evidence.get(&call.reference().to_string()).cloned() {
            Some(answer) => Box::pin(async { Ok(LookedUp::Found(answer)) }),
            None if is_made => self.sandbox.look_up(call),
            None => Box::pin(async { Ok(LookedUp::NotDone) }),
        }
    }

    fn send_late_answers(&self, to: LateAnswers) {
        self.sandbox.send_late_answers(to);
    }
}

fn lost() -> AcquirerUnavailable {
    AcquirerUnavailable::unknown("on purpose")
}

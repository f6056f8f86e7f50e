//! An acquirer between the engine and the sandbox that follows a script of faults, and remembers its calls.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use till_actors::acquirer::conformance::CallFault;
use till_actors::acquirer::{
    Acquirer, AcquirerAnswer, AcquirerCall, AcquirerUnavailable, CallAnswer, Instrument, LateAnswers, LookedUp,
};
use till_domain::ids::MerchantId;
use till_sandbox::SandboxAcquirer;
use tokio::sync::watch::{Receiver, Sender, channel};

/// The treatment of a call.
pub(crate) enum CallTreatment {
    /// The call panics.
    Panic,
    /// It goes wrong in this way.
    Fault(CallFault),
    /// This function runs first, then the sandbox answers.
    After(Box<dyn FnOnce() + Send>),
}

#[derive(Default)]
struct Script {
    turns: VecDeque<CallTreatment>,
    /// The fault of the next call of a kind.
    fault_of: Option<(&'static str, CallFault)>,
    unanswered_merchant: Option<MerchantId>,
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
    fn carry_out(&self, call: AcquirerCall) -> AcquirerAnswer<CallAnswer> {
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
    fn act(&self, call: AcquirerCall) -> AcquirerAnswer<CallAnswer> {
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
        match self.script.turn(&call) {
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

    fn look_up(&self, call: &AcquirerCall) -> AcquirerAnswer<LookedUp> {
        let mut script = self.script.script();
        script.calls.push(format!("look up {}", call.reference()));
        if script.unanswered_merchant == Some(call.merchant()) {
            return Box::pin(async { Err(lost()) });
        }
        match script.evidence.get(call.reference().as_str()).cloned() {
            Some(answer) => Box::pin(async { Ok(LookedUp::Found(answer)) }),
            None => self.sandbox.look_up(call),
        }
    }

    fn send_late_answers(&self, to: LateAnswers) {
        self.sandbox.send_late_answers(to);
    }
}

fn lost() -> AcquirerUnavailable {
    AcquirerUnavailable::unknown("on purpose")
}

//! An acquirer between the engine and the sandbox that follows a script of faults, and remembers its calls.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use till_actors::acquirer::{
    Acquirer, AcquirerAnswer, AcquirerUnavailable, AuthorizeRequest, CancelRequest, Completion, EvidenceRequest,
    FollowUpRequest, FoundCall, Instrument, LateAnswers, PayoutRequest, Reference,
};
use till_domain::command::{AuthorizationResult, Cancellation, EvidenceResult};
use till_domain::ids::MerchantId;
use till_sandbox::SandboxAcquirer;
use till_sandbox::book::MemoryBook;

/// The treatment of a call.
pub(crate) enum CallTreatment {
    /// The call panics.
    Panic,
    /// There is no answer, and the call is not carried out.
    NoAnswer,
    /// This function runs first, then the sandbox answers.
    After(Box<dyn FnOnce() + Send>),
}

#[derive(Default)]
struct Script {
    turns: VecDeque<CallTreatment>,
    unanswered_merchant: Option<MerchantId>,
    security_codes: Vec<Option<String>>,
    calls: Vec<String>,
}

/// The script of an acquirer; clones are the same one, and outlive the engine.
#[derive(Clone, Default)]
pub(crate) struct ScriptHandle(Arc<Mutex<Script>>);

impl ScriptHandle {
    /// Adds the treatment of the next calls. Calls after them go to the sandbox.
    pub(crate) fn next(&self, turns: impl IntoIterator<Item = CallTreatment>) {
        self.script().turns.extend(turns);
    }

    /// Calls of this merchant get no answer from now on.
    pub(crate) fn do_not_answer(&self, merchant_id: Option<MerchantId>) {
        self.script().unanswered_merchant = merchant_id;
    }

    /// The security codes that came with authorizations, in order.
    pub(crate) fn security_codes(&self) -> Vec<Option<String>> {
        self.script().security_codes.clone()
    }

    /// Calls made so far.
    pub(crate) fn calls(&self) -> usize {
        self.script().calls.len()
    }

    /// The calls and their references, in order.
    pub(crate) fn calls_made(&self) -> Vec<String> {
        self.script().calls.clone()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().expect("no test panics with the script in hand")
    }

    fn turn(&self, merchant_id: MerchantId, call: String) -> Option<CallTreatment> {
        let mut script = self.script();
        script.calls.push(call);
        if script.unanswered_merchant == Some(merchant_id) {
            Some(CallTreatment::NoAnswer)
        } else {
            script.turns.pop_front()
        }
    }
}

/// The sandbox behind a script.
pub(crate) struct ScriptedAcquirer {
    sandbox: SandboxAcquirer,
    script: ScriptHandle,
}

impl ScriptedAcquirer {
    pub(crate) fn start(book: MemoryBook, script: ScriptHandle) -> ScriptedAcquirer {
        ScriptedAcquirer { sandbox: SandboxAcquirer::start(book).expect("a thread"), script }
    }

    fn answer<T: 'static>(
        &self,
        merchant_id: MerchantId,
        call: String,
        ask: impl FnOnce(&SandboxAcquirer) -> AcquirerAnswer<T>,
    ) -> AcquirerAnswer<T> {
        match self.script.turn(merchant_id, call) {
            Some(CallTreatment::Panic) => Box::pin(async { panic!("the acquirer panics on purpose") }),
            Some(CallTreatment::NoAnswer) => Box::pin(async { Err(AcquirerUnavailable::new("on purpose")) }),
            Some(CallTreatment::After(act)) => {
                act();
                ask(&self.sandbox)
            }
            None => ask(&self.sandbox),
        }
    }
}

impl Acquirer for ScriptedAcquirer {
    fn authorize(&self, request: AuthorizeRequest) -> AcquirerAnswer<AuthorizationResult> {
        if let Instrument::Card { number: _, expiry: _, security_code, is_saved: _ } = &request.instrument {
            let code = security_code.as_ref().map(|code| code.expose_digits().to_owned());
            self.script.script().security_codes.push(code);
        }
        let call = format!("authorize as {}", request.reference);
        self.answer(request.merchant, call, |sandbox| sandbox.authorize(request))
    }

    fn cancel(&self, request: CancelRequest) -> AcquirerAnswer<Cancellation> {
        let call = format!("cancel as {}", request.reference);
        self.answer(request.merchant, call, |sandbox| sandbox.cancel(request))
    }

    fn capture(&self, request: FollowUpRequest) -> AcquirerAnswer<Completion> {
        let call = format!("capture as {}", request.reference);
        self.answer(request.merchant, call, |sandbox| sandbox.capture(request))
    }

    fn void(&self, request: FollowUpRequest) -> AcquirerAnswer<Completion> {
        let call = format!("void as {}", request.reference);
        self.answer(request.merchant, call, |sandbox| sandbox.void(request))
    }

    fn refund(&self, request: FollowUpRequest) -> AcquirerAnswer<Completion> {
        let call = format!("refund as {}", request.reference);
        self.answer(request.merchant, call, |sandbox| sandbox.refund(request))
    }

    fn payout(&self, request: PayoutRequest) -> AcquirerAnswer<Completion> {
        let call = format!("payout as {}", request.reference);
        self.answer(request.merchant, call, |sandbox| sandbox.payout(request))
    }

    fn evidence(&self, request: EvidenceRequest) -> AcquirerAnswer<EvidenceResult> {
        let call = format!("evidence as {}", request.reference);
        self.answer(request.merchant, call, |sandbox| sandbox.evidence(request))
    }

    fn send_late_answers(&self, to: LateAnswers) {
        self.sandbox.send_late_answers(to);
    }

    fn find(&self, merchant: MerchantId, reference: Reference) -> AcquirerAnswer<Option<FoundCall>> {
        let call = format!("find {reference}");
        self.answer(merchant, call, |sandbox| sandbox.find(merchant, reference))
    }
}

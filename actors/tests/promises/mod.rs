//! The promises that every acquirer keeps, as checks for any implementation: they ask it to move money, so give them
//! play money or a provider's test account. An acquirer need not know a repeated call: the checks look a call up before
//! they make it again.

use till_actors::acquirer::{
    Acquirer, AcquirerAnswer, AcquirerCall, AcquirerUnavailable, ApprovedAuthorization, AuthorizeRequest, CallAnswer,
    CallDone, CancelRequest, FollowUpRequest, Instrument, LookedUp, NamedCall, PaymentStep, PayoutRequest, Prepared,
    ReturnPath, UnansweredOutcome,
};
use till_domain::address_secret::AddressSecret;
use till_domain::command::RequiredAction;
use till_domain::ids::{MerchantId, PaymentId, PayoutId, RefundId, SessionId};
use till_domain::money::{AmountMinor, Money};
use till_domain::payment::CaptureMode;
use till_domain::preparation::Preparation;
use till_domain::time::Millis;

/// The acquirer under test, and the means to pay with it.
pub(crate) struct Conformance<'a> {
    /// The acquirer.
    pub(crate) acquirer: &'a dyn Acquirer,
    /// A merchant that it serves.
    pub(crate) merchant: MerchantId,
    /// The amount that is paid: at least two minor units.
    pub(crate) money: Money,
    /// Makes the id of a payment that the acquirer has not seen.
    pub(crate) new_payment: &'a dyn Fn() -> PaymentId,
    /// Makes an instrument that is approved without any action of the customer.
    pub(crate) approved: &'a dyn Fn() -> Instrument,
    /// Makes an instrument that is declined.
    pub(crate) declined: &'a dyn Fn() -> Instrument,
    /// Makes an instrument that is approved once the customer has acted.
    pub(crate) asking: &'a dyn Fn() -> Instrument,
    /// Makes an instrument that is approved and whose refunds are pending.
    pub(crate) pending: &'a dyn Fn() -> Instrument,
    /// Acts as the customer is asked to, with success.
    pub(crate) act: &'a dyn Fn(&RequiredAction) -> AcquirerAnswer<'static, ()>,
    /// Ends a pending refund with success.
    pub(crate) end_refund: &'a dyn Fn(NamedCall) -> AcquirerAnswer<'static, ()>,
    /// False for an acquirer that pays out by a schedule of its own.
    pub(crate) pays_out: bool,
    /// Lets the next call go wrong; false when the acquirer cannot play that.
    pub(crate) next_fault: &'a dyn Fn(CallFault) -> bool,
    /// Lets the acquirer forget the references of all calls, as far as it knows them for repetitions.
    pub(crate) end_keys: &'a dyn Fn(),
}

/// A way in which a call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallFault {
    /// It is carried out, and its answer is lost.
    AnswerLost,
    /// It is lost, and not carried out.
    RequestLost,
    /// It is carried out, and the acquirer fails then. It keeps this failure as its answer to every repetition.
    FailureStored,
    /// It is surely not sent.
    NotSent,
}

/// A promise that was not kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unmet {
    /// The acquirer gave no answer.
    #[error(transparent)]
    Unavailable(#[from] AcquirerUnavailable),
    /// It gave another answer than it must.
    #[error("{promise}: the answer was {answer}")]
    Promise {
        /// The promise.
        promise: &'static str,
        /// The answer that breaks it.
        answer: String,
    },
}

impl Conformance<'_> {
    /// Checks every promise.
    ///
    /// # Errors
    /// [`Unmet`]: the first promise that was not kept.
    pub(crate) async fn check(&self) -> Result<(), Unmet> {
        self.check_declined().await?;
        self.check_capture().await?;
        self.check_void().await?;
        self.check_refunds().await?;
        self.check_action().await?;
        self.check_canceled_action().await?;
        if self.pays_out {
            self.check_payout().await?;
        }
        for fault in [CallFault::AnswerLost, CallFault::RequestLost, CallFault::FailureStored, CallFault::NotSent] {
            self.check_fault(fault).await?;
        }
        self.check_pending().await?;
        self.check_ended_keys().await
    }

    async fn check_declined(&self) -> Result<(), Unmet> {
        let declined = self.begin(self.declined, CaptureMode::Manual).await?;
        let call = || declined.call();
        self.expect_not_done(&call()).await?;
        let answer = self.make(call()).await?;
        require("the declined instrument is declined", matches!(answer, CallAnswer::Declined { .. }), &answer)?;
        self.expect_found(&call(), answer).await
    }

    async fn check_capture(&self) -> Result<(), Unmet> {
        let (payment, own) = self.authorized(CaptureMode::Manual).await?;
        let capture = || AcquirerCall::Capture(self.follow_up(payment, PaymentStep::Capture, &own, self.money));
        self.expect_not_done(&capture()).await?;
        let answer = self.make(capture()).await?;
        require("a capture of all that is authorized is done", is_moved(&answer), &answer)?;
        self.expect_found(&capture(), answer).await?;
        let void = AcquirerCall::Void(self.follow_up(payment, PaymentStep::Void, &own, self.money));
        let void = self.make(void).await?;
        require("a captured authorization is not voided", !is_moved(&void), &void)
    }

    async fn check_void(&self) -> Result<(), Unmet> {
        let (payment, own) = self.authorized(CaptureMode::Manual).await?;
        let void = || AcquirerCall::Void(self.follow_up(payment, PaymentStep::Void, &own, self.money));
        let answer = self.make(void()).await?;
        require("a void of an authorization that is not captured is done", is_moved(&answer), &answer)?;
        self.expect_found(&void(), answer).await?;
        let capture = AcquirerCall::Capture(self.follow_up(payment, PaymentStep::Capture, &own, self.money));
        let capture = self.make(capture).await?;
        require("a voided authorization is not captured", !is_moved(&capture), &capture)
    }

    async fn check_refunds(&self) -> Result<(), Unmet> {
        let (payment, own) = self.authorized(CaptureMode::Automatic).await?;
        let one = AmountMinor::new(1).map(|amount| Money { amount, ..self.money });
        let rest = self.money.amount.get().checked_sub(1).and_then(AmountMinor::new);
        let (Some(one), Some(rest)) = (one, rest.map(|amount| Money { amount, ..self.money })) else {
            return require("two minor units are paid at least", false, &self.money);
        };
        let refund = |step, money| AcquirerCall::Refund(self.follow_up(payment, step, &own, money));
        let (first, second, third) = (self.refund_step(), self.refund_step(), self.refund_step());
        let of_one = self.acquirer.act(refund(first, one));
        let of_rest = self.acquirer.act(refund(second, rest));
        let (of_one, of_rest) = (of_one.await?, of_rest.await?);
        let both = is_moved(&of_one) && is_moved(&of_rest);
        require("two refunds may be under way at once", both, &(&of_one, &of_rest))?;
        self.expect_found(&refund(first, one), of_one).await?;
        self.expect_not_done(&refund(third, one)).await?;
        let more = self.make(refund(third, one)).await?;
        require("no more is refunded than was captured", !is_moved(&more), &more)
    }

    /// A payment that waits for its customer, and what the customer is asked to do.
    async fn asked(&self) -> Result<(Authorization<'_>, RequiredAction), Unmet> {
        let asking = self.begin(self.asking, CaptureMode::Automatic).await?;
        let answer = self.make(asking.call()).await?;
        let CallAnswer::NeedsAction(required) = answer else {
            let promise = "the asking instrument needs an action of the customer";
            return Err(Unmet::Promise { promise, answer: format!("{answer:?}") });
        };
        self.expect_found(&asking.call(), CallAnswer::NeedsAction(required.clone())).await?;
        Ok((asking, required))
    }

    async fn check_action(&self) -> Result<(), Unmet> {
        let (asked, required) = self.asked().await?;
        (self.act)(&required).await?;
        let found = self.look_up(&asked.call()).await?;
        let LookedUp::Found(approval @ CallAnswer::Done(CallDone::Approved(_))) = found else {
            return require("an authorization is approved once the customer has acted", false, &found);
        };
        let canceled = self.make(asked.cancel()).await?;
        expect("an action that was taken is not canceled", &canceled, &approval)?;
        self.expect_found(&asked.cancel(), approval).await
    }

    async fn check_canceled_action(&self) -> Result<(), Unmet> {
        let (asked, required) = self.asked().await?;
        let canceled = CallAnswer::Done(CallDone::Canceled);
        expect("an open action is canceled", &self.make(asked.cancel()).await?, &canceled)?;
        self.expect_found(&asked.cancel(), canceled).await?;
        (self.act)(&required).await?;
        let found = self.look_up(&asked.call()).await?;
        let is_declined = matches!(found, LookedUp::Found(CallAnswer::Declined { .. }));
        require("a canceled authorization is declined", is_declined, &found)
    }

    async fn check_payout(&self) -> Result<(), Unmet> {
        let payout = PayoutId::from_raw((self.new_payment)().raw());
        let (reference, merchant, money) = (NamedCall::Payout(payout), self.merchant, self.money);
        let call = || AcquirerCall::Payout(PayoutRequest { reference, merchant, money });
        self.expect_not_done(&call()).await?;
        let answer = self.make(call()).await?;
        require("a payout is paid", is_moved(&answer), &answer)?;
        self.expect_found(&call(), answer).await
    }

    /// A capture that goes wrong is found when it was carried out, and can be made again when it was not.
    async fn check_fault(&self, fault: CallFault) -> Result<(), Unmet> {
        let (outcome, is_carried_out) = match fault {
            CallFault::AnswerLost | CallFault::FailureStored => (UnansweredOutcome::Unknown, true),
            CallFault::RequestLost => (UnansweredOutcome::Unknown, false),
            CallFault::NotSent => (UnansweredOutcome::NotSent, false),
        };
        let (payment, own) = self.authorized(CaptureMode::Manual).await?;
        let capture = || AcquirerCall::Capture(self.follow_up(payment, PaymentStep::Capture, &own, self.money));
        if !(self.next_fault)(fault) {
            return Ok(());
        }
        let answer = self.acquirer.act(capture()).await;
        let is_such = answer.as_ref().is_err_and(|error| error.outcome == outcome);
        require("a call that goes wrong is not answered, and tells what is known", is_such, &answer)?;
        if !is_carried_out {
            self.expect_not_done(&capture()).await?;
            self.make(capture()).await?;
        }
        let found = self.look_up(&capture()).await?;
        let is_done = matches!(&found, LookedUp::Found(answer) if is_moved(answer));
        require("a capture that was carried out is found", is_done, &found)
    }

    /// A refund that stays pending is found as pending, until it ends.
    async fn check_pending(&self) -> Result<(), Unmet> {
        let begun = self.begin(self.pending, CaptureMode::Automatic).await?;
        let (payment, own) = (begun.payment, own_reference(self.make(begun.call()).await?)?);
        let step = self.refund_step();
        let refund = || AcquirerCall::Refund(self.follow_up(payment, step, &own, self.money));
        let answer = self.make(refund()).await?;
        require("the refund is pending", matches!(answer, CallAnswer::Pending(_)), &answer)?;
        for _ in 0..3 {
            self.expect_found(&refund(), answer.clone()).await?;
        }
        (self.end_refund)(NamedCall::first(payment, step)).await?;
        let found = self.look_up(&refund()).await?;
        let is_done = matches!(&found, LookedUp::Found(answer) if is_moved(answer));
        require("a pending refund is found as done once it has ended", is_done, &found)
    }

    /// A refund is found when the acquirer would carry out a repetition as a further one.
    async fn check_ended_keys(&self) -> Result<(), Unmet> {
        let (payment, own) = self.authorized(CaptureMode::Automatic).await?;
        let step = self.refund_step();
        let refund = || AcquirerCall::Refund(self.follow_up(payment, step, &own, self.money));
        let answer = self.make(refund()).await?;
        (self.end_keys)();
        self.expect_found(&refund(), answer).await
    }

    async fn make(&self, call: AcquirerCall) -> Result<CallAnswer, Unmet> {
        Ok(self.acquirer.act(call).await?)
    }

    async fn look_up(&self, call: &AcquirerCall) -> Result<LookedUp, Unmet> {
        Ok(self.acquirer.look_up(call).await?)
    }

    async fn expect_not_done(&self, call: &AcquirerCall) -> Result<(), Unmet> {
        expect("a call that was not carried out is not found", &self.look_up(call).await?, &LookedUp::NotDone)
    }

    async fn expect_found(&self, call: &AcquirerCall, answer: CallAnswer) -> Result<(), Unmet> {
        expect("a call is found with its answer", &self.look_up(call).await?, &LookedUp::Found(answer))
    }

    /// A payment that was authorized, and the acquirer's own reference of it.
    async fn authorized(&self, capture: CaptureMode) -> Result<(PaymentId, String), Unmet> {
        let begun = self.begin(self.approved, capture).await?;
        let (payment, answer) = (begun.payment, self.make(begun.call()).await?);
        let CallAnswer::Done(CallDone::Approved(ApprovedAuthorization { captured, .. })) = &answer else {
            return require("the approved instrument is approved", false, &answer).and(Ok((payment, String::new())));
        };
        let is_as_asked = *captured == (capture == CaptureMode::Automatic);
        require("an authorization is captured when it was to be", is_as_asked, &answer)?;
        Ok((payment, own_reference(answer)?))
    }

    fn refund_step(&self) -> PaymentStep {
        PaymentStep::Refund(RefundId::from_raw((self.new_payment)().raw()))
    }

    /// A payment whose authorization can be made, since the acquirer has prepared what it needs.
    async fn begin<'a>(
        &'a self,
        instrument: &'a dyn Fn() -> Instrument,
        capture: CaptureMode,
    ) -> Result<Authorization<'a>, Unmet> {
        let payment = (self.new_payment)();
        let mut begun = Authorization { conformance: self, payment, instrument, capture, prepared: None };
        match self.acquirer.prepare(&begun.call()).await? {
            Prepared::Nothing => {}
            Prepared::Ready(preparation) => begun.prepared = Some(preparation),
            declined @ Prepared::Declined(_) => require("an authorization can be prepared", false, &declined)?,
        }
        Ok(begun)
    }

    fn follow_up(&self, payment: PaymentId, step: PaymentStep, own: &str, money: Money) -> FollowUpRequest {
        let reference = NamedCall::first(payment, step);
        FollowUpRequest { reference, acquirer_reference: own.to_owned(), merchant: self.merchant, payment, money }
    }
}

/// The authorization of a payment.
struct Authorization<'a> {
    conformance: &'a Conformance<'a>,
    payment: PaymentId,
    instrument: &'a dyn Fn() -> Instrument,
    capture: CaptureMode,
    prepared: Option<Preparation>,
}

impl Authorization<'_> {
    fn call(&self) -> AcquirerCall {
        let (payment, &Conformance { merchant, money, .. }) = (self.payment, self.conformance);
        let secret = AddressSecret::from_bytes(payment.raw().to_bytes());
        AcquirerCall::Authorize(AuthorizeRequest {
            reference: NamedCall::first(payment, PaymentStep::Authorize),
            merchant,
            payment,
            money,
            instrument: Some((self.instrument)()),
            capture: self.capture,
            return_path: ReturnPath { merchant, session: SessionId::from_raw(payment.raw()), secret },
            description: None,
            email: None,
            created_at: Millis(0),
            prepared: self.prepared.clone(),
        })
    }

    fn cancel(&self) -> AcquirerCall {
        AcquirerCall::Cancel(CancelRequest {
            reference: NamedCall::first(self.payment, PaymentStep::Cancel),
            merchant: self.conformance.merchant,
            payment: self.payment,
            money: self.conformance.money,
            deadline_passed: false,
            prepared: self.prepared.clone(),
        })
    }
}

/// The acquirer's own reference of an approved authorization.
fn own_reference(answer: CallAnswer) -> Result<String, Unmet> {
    match answer {
        CallAnswer::Done(CallDone::Approved(approved)) => Ok(approved.acquirer_reference),
        other => require("the instrument is approved", false, &other).and(Ok(String::new())),
    }
}

fn is_moved(answer: &CallAnswer) -> bool {
    matches!(answer, CallAnswer::Done(CallDone::Moved(_)))
}

fn expect<T: PartialEq + std::fmt::Debug>(promise: &'static str, answer: &T, expected: &T) -> Result<(), Unmet> {
    require(promise, answer == expected, answer)
}

fn require(promise: &'static str, is_kept: bool, answer: &impl std::fmt::Debug) -> Result<(), Unmet> {
    if is_kept { Ok(()) } else { Err(Unmet::Promise { promise, answer: format!("{answer:?}") }) }
}

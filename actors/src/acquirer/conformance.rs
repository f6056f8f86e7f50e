//! The promises that every acquirer keeps, as checks for any implementation: they ask it to move money, so give them
//! play money or a provider's test account.

use till_domain::address_secret::AddressSecret;
use till_domain::command::{AuthorizationResult, Cancellation, RequiredAction};
use till_domain::ids::{MerchantId, PaymentId, PayoutId, RefundId, SessionId};
use till_domain::money::{AmountMinor, Money};
use till_domain::payment::CaptureMode;

use super::calls::{
    Acquirer, AcquirerAnswer, AcquirerUnavailable, AuthorizeRequest, CancelRequest, Completion, FollowUpRequest,
    FoundCall, Instrument, PayoutRequest, ReturnPath,
};
use super::reference::{PaymentStep, Reference};

/// The acquirer under test, and the means to pay with it.
pub struct Conformance<'a> {
    /// The acquirer.
    pub acquirer: &'a dyn Acquirer,
    /// A merchant that it serves.
    pub merchant: MerchantId,
    /// The amount that is paid: at least two minor units.
    pub money: Money,
    /// Makes the id of a payment that the acquirer has not seen.
    pub new_payment: &'a dyn Fn() -> PaymentId,
    /// Makes an instrument that is approved without any action of the customer.
    pub approved: &'a dyn Fn() -> Instrument,
    /// Makes an instrument that is declined.
    pub declined: &'a dyn Fn() -> Instrument,
    /// Makes an instrument that is approved once the customer has acted.
    pub asking: &'a dyn Fn() -> Instrument,
    /// Acts as the customer is asked to, with success.
    pub act: &'a dyn Fn(&RequiredAction) -> AcquirerAnswer<()>,
}

/// A promise that was not kept.
#[derive(Debug, thiserror::Error)]
pub enum Unmet {
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
    pub async fn check(&self) -> Result<(), Unmet> {
        self.check_declined().await?;
        self.check_capture().await?;
        self.check_void().await?;
        self.check_refunds().await?;
        self.check_action().await?;
        self.check_canceled_action().await?;
        self.check_payout().await
    }

    async fn check_declined(&self) -> Result<(), Unmet> {
        let payment = (self.new_payment)();
        let ask = || self.acquirer.authorize(self.request(payment, (self.declined)(), CaptureMode::Manual));
        expect("a call that was never made is not found", &self.find(payment, PaymentStep::Authorize).await?, &None)?;
        let first = ask().await?;
        let is_declined = matches!(&first, AuthorizationResult::Declined { failure, .. } if !failure.code.is_empty());
        require("the declined instrument is declined with a code", is_declined, &first)?;
        expect("a repeated authorization is answered as the first", &ask().await?, &first)?;
        let found = Some(FoundCall::Authorization(first));
        expect("an authorization is found by its reference", &self.find(payment, PaymentStep::Authorize).await?, &found)
    }

    async fn check_capture(&self) -> Result<(), Unmet> {
        let (payment, own) = self.authorized(CaptureMode::Manual).await?;
        let capture = || self.acquirer.capture(self.follow_up(payment, PaymentStep::Capture, &own, self.money));
        let first = capture().await?;
        require("a capture of all that is authorized is done", is_done(&first), &first)?;
        expect("a repeated capture is answered as the first", &capture().await?, &first)?;
        let found = Some(FoundCall::Completion(first));
        expect("a capture is found by its reference", &self.find(payment, PaymentStep::Capture).await?, &found)?;
        let void = self.acquirer.void(self.follow_up(payment, PaymentStep::Void, &own, self.money)).await?;
        require("a captured authorization is not voided", !is_done(&void), &void)
    }

    async fn check_void(&self) -> Result<(), Unmet> {
        let (payment, own) = self.authorized(CaptureMode::Manual).await?;
        let void = || self.acquirer.void(self.follow_up(payment, PaymentStep::Void, &own, self.money));
        let first = void().await?;
        require("a void of an authorization that is not captured is done", is_done(&first), &first)?;
        expect("a repeated void is answered as the first", &void().await?, &first)?;
        let capture = self.acquirer.capture(self.follow_up(payment, PaymentStep::Capture, &own, self.money)).await?;
        require("a voided authorization is not captured", !is_done(&capture), &capture)
    }

    async fn check_refunds(&self) -> Result<(), Unmet> {
        let (payment, own) = self.authorized(CaptureMode::Automatic).await?;
        let one = AmountMinor::new(1).map(|amount| Money { amount, ..self.money });
        let rest = self.money.amount.get().checked_sub(1).and_then(AmountMinor::new);
        let (Some(one), Some(rest)) = (one, rest.map(|amount| Money { amount, ..self.money })) else {
            return require("two minor units are paid at least", false, &self.money);
        };
        let refund = |step, money| self.acquirer.refund(self.follow_up(payment, step, &own, money));
        let (first, second, third) = (self.refund_step(), self.refund_step(), self.refund_step());
        let (of_one, of_rest) = (refund(first, one), refund(second, rest));
        let (of_one, of_rest) = (of_one.await?, of_rest.await?);
        let both = is_done(&of_one) && is_done(&of_rest);
        require("two refunds may be under way at once", both, &(&of_one, &of_rest))?;
        expect("a repeated refund is answered as the first", &refund(first, one).await?, &of_one)?;
        let more = refund(third, one).await?;
        require("no more is refunded than was captured", !is_done(&more), &more)
    }

    /// A payment that waits for its customer, and what the customer is asked to do.
    async fn asked(&self) -> Result<(PaymentId, RequiredAction), Unmet> {
        let payment = (self.new_payment)();
        let answer = self.ask_again(payment).await?;
        let AuthorizationResult::NeedsAction(required) = answer else {
            let promise = "the asking instrument needs an action of the customer";
            return Err(Unmet::Promise { promise, answer: format!("{answer:?}") });
        };
        let again = AuthorizationResult::NeedsAction(required.clone());
        expect("a repeated authorization asks for the same action", &self.ask_again(payment).await?, &again)?;
        let found = Some(FoundCall::Authorization(again));
        expect("a waiting authorization is found", &self.find(payment, PaymentStep::Authorize).await?, &found)?;
        Ok((payment, required))
    }

    async fn ask_again(&self, payment: PaymentId) -> Result<AuthorizationResult, Unmet> {
        Ok(self.acquirer.authorize(self.request(payment, (self.asking)(), CaptureMode::Automatic)).await?)
    }

    async fn check_action(&self) -> Result<(), Unmet> {
        let (payment, required) = self.asked().await?;
        (self.act)(&required).await?;
        let approval = self.ask_again(payment).await?;
        let is_approved = matches!(approval, AuthorizationResult::Approved { .. });
        require("the repeated call is approved once the customer has acted", is_approved, &approval)?;
        let canceled = self.cancel(payment).await?;
        expect("an action that was taken is not canceled", &canceled, &Cancellation::TooLate(approval))
    }

    async fn check_canceled_action(&self) -> Result<(), Unmet> {
        let (payment, required) = self.asked().await?;
        expect("an open action is canceled", &self.cancel(payment).await?, &Cancellation::Canceled)?;
        expect("a repeated cancellation is answered alike", &self.cancel(payment).await?, &Cancellation::Canceled)?;
        (self.act)(&required).await?;
        let answer = self.ask_again(payment).await?;
        let is_declined = matches!(answer, AuthorizationResult::Declined { .. });
        require("a canceled authorization is declined", is_declined, &answer)
    }

    async fn cancel(&self, payment: PaymentId) -> Result<Cancellation, Unmet> {
        let reference = |step| Reference::new(payment, step);
        let (reference, authorization) = (reference(PaymentStep::Cancel), reference(PaymentStep::Authorize));
        let (merchant, money, deadline_passed) = (self.merchant, self.money, false);
        let request = CancelRequest { reference, authorization, merchant, payment, money, deadline_passed };
        Ok(self.acquirer.cancel(request).await?)
    }

    async fn check_payout(&self) -> Result<(), Unmet> {
        let payout = PayoutId::from_raw((self.new_payment)().raw());
        let reference = Reference::of_payout(payout);
        let (merchant, money) = (self.merchant, self.money);
        let request = || PayoutRequest { reference: reference.clone(), merchant, payout, money };
        let found = || self.acquirer.find(merchant, reference.clone());
        expect("a payout that was never asked for is not found", &found().await?, &None)?;
        let first = self.acquirer.payout(request()).await?;
        require("a payout is paid", is_done(&first), &first)?;
        expect("a repeated payout is answered as the first", &self.acquirer.payout(request()).await?, &first)?;
        expect("a payout is found by its reference", &found().await?, &Some(FoundCall::Completion(first)))
    }

    /// A payment that was authorized, and the acquirer's own reference of it.
    async fn authorized(&self, capture: CaptureMode) -> Result<(PaymentId, String), Unmet> {
        let payment = (self.new_payment)();
        let answer = self.acquirer.authorize(self.request(payment, (self.approved)(), capture)).await?;
        match &answer {
            AuthorizationResult::Approved { acquirer_reference, captured, .. }
                if *captured == (capture == CaptureMode::Automatic) =>
            {
                Ok((payment, acquirer_reference.clone()))
            }
            AuthorizationResult::Approved { .. }
            | AuthorizationResult::NeedsAction(_)
            | AuthorizationResult::Processing
            | AuthorizationResult::Declined { .. } => {
                let promise = "the approved instrument is approved, and captured when it was to be";
                Err(Unmet::Promise { promise, answer: format!("{answer:?}") })
            }
        }
    }

    async fn find(&self, payment: PaymentId, step: PaymentStep) -> Result<Option<FoundCall>, Unmet> {
        Ok(self.acquirer.find(self.merchant, Reference::new(payment, step)).await?)
    }

    fn refund_step(&self) -> PaymentStep {
        PaymentStep::Refund(RefundId::from_raw((self.new_payment)().raw()))
    }

    fn request(&self, payment: PaymentId, instrument: Instrument, capture: CaptureMode) -> AuthorizeRequest {
        let reference = Reference::new(payment, PaymentStep::Authorize);
        let (merchant, money) = (self.merchant, self.money);
        let secret = AddressSecret::from_bytes(payment.raw().to_bytes());
        let return_path = ReturnPath { merchant, session: SessionId::from_raw(payment.raw()), secret };
        AuthorizeRequest { reference, merchant, payment, money, instrument, capture, return_path }
    }

    fn follow_up(&self, payment: PaymentId, step: PaymentStep, own: &str, money: Money) -> FollowUpRequest {
        let reference = Reference::new(payment, step);
        FollowUpRequest { reference, acquirer_reference: own.to_owned(), merchant: self.merchant, payment, money }
    }
}

fn is_done(completion: &Completion) -> bool {
    matches!(completion, Completion::Done { .. })
}

fn expect<T: PartialEq + std::fmt::Debug>(promise: &'static str, answer: &T, expected: &T) -> Result<(), Unmet> {
    require(promise, answer == expected, answer)
}

fn require(promise: &'static str, is_kept: bool, answer: &impl std::fmt::Debug) -> Result<(), Unmet> {
    if is_kept { Ok(()) } else { Err(Unmet::Promise { promise, answer: format!("{answer:?}") }) }
}

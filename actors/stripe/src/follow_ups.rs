//! What follows an authorization: captures and voids, which an intent has at most one of, and refunds.

use till_actors::acquirer::{
    AcquirerUnavailable, Awaited, CallAnswer, CallDone, FollowUpRequest, LookedUp, MovedMoney, NamedCall, PaymentStep,
};
use till_domain::failure::FailureCode;

use super::api::{Api, EXPAND, FormBody, INTENTS, NoObject, keys};
use super::failures::with_word;
use super::objects::{Expected, Intent, IntentStatus, Page, RefundObject, same};
use super::outcomes::{PENDING, carried_out, declined_for};

/// The pages of a payment's refunds that are read, at most: at 100 each, more refunds than a payment has.
const PAGES_MAX: usize = 100;
const REFUNDS: &str = "/v1/refunds";

/// A request that follows an authorization, with the account that it is made at.
pub(crate) struct FollowUpCall<'a> {
    api: &'a Api,
    request: &'a FollowUpRequest,
    reference: String,
    expected: Expected,
}

impl<'a> FollowUpCall<'a> {
    pub(crate) fn of(api: &'a Api, request: &'a FollowUpRequest) -> FollowUpCall<'a> {
        let expected = Expected::payment(request.payment, request.money, api.mode);
        FollowUpCall { api, request, reference: request.reference.to_string(), expected }
    }

    /// True for a capture, of the hold or of a part of it; else it is released.
    const fn is_capture(&self) -> bool {
        matches!(self.request.reference, NamedCall::Payment { step: PaymentStep::Capture, .. })
    }

    /// Changes the hold of a payment.
    pub(crate) async fn change(&self) -> Result<CallAnswer, AcquirerUnavailable> {
        let form = FormBody::new().with(EXPAND, "latest_charge");
        let (act, form) = if self.is_capture() {
            ("capture", form.with("amount_to_capture", &self.request.money.amount.get().to_string()))
        } else {
            ("cancel", form)
        };
        let path = format!("{INTENTS}/{}/{act}", self.request.acquirer_reference);
        let made = self.api.call::<Intent>(&path, Some(&form), None).await;
        carried_out(made.and_then(|intent| Ok(self.state_of_change(&intent)?)), self.look_up_change()).await
    }

    /// Looks up what has become of a change of a hold.
    pub(crate) async fn look_up_change(&self) -> Result<LookedUp, AcquirerUnavailable> {
        self.state_of_change(&self.api.intent(&self.request.acquirer_reference).await?)
    }

    /// What has become of a change of a hold, by the intent. A capture may be of a part of it.
    fn state_of_change(&self, intent: &Intent) -> Result<LookedUp, AcquirerUnavailable> {
        let (amount, is_capture) = (self.expected.amount(), self.is_capture());
        intent.check(&self.expected)?;
        same(if is_capture { intent.amount >= amount } else { intent.amount == amount }, "amount")?;
        Ok(LookedUp::Found(match (intent.status, is_capture) {
            (IntentStatus::RequiresCapture, _) => return Ok(LookedUp::NotDone),
            (IntentStatus::Succeeded, true) => {
                same(intent.amount_received == amount, "amount")?;
                moved_answer(intent.latest_charge.as_ref().map_or(&intent.id, |charge| &charge.id).as_str())
            }
            (IntentStatus::Succeeded, false) => declined_for(FailureCode::AlreadyCaptured),
            (IntentStatus::Canceled, true) => declined_for(FailureCode::AuthorizationExpired),
            (IntentStatus::Canceled, false) => moved_answer(intent.id.as_str()),
            (IntentStatus::Processing | IntentStatus::Other, _) => PENDING,
            (
                IntentStatus::RequiresPaymentMethod | IntentStatus::RequiresConfirmation | IntentStatus::RequiresAction,
                _,
            ) => declined_for(FailureCode::UnknownAuthorization),
        }))
    }

    /// Gives captured money back.
    ///
    /// A key whose stored answer is a failure may be one that gave the money back: another is used after a look-up.
    pub(crate) async fn refund(&self) -> Result<CallAnswer, AcquirerUnavailable> {
        let form = FormBody::new()
            .with("payment_intent", &self.request.acquirer_reference)
            .with("amount", &self.request.money.amount.get().to_string())
            .with("metadata[till_reference]", &self.reference)
            .with("metadata[till_payment]", &self.request.payment.to_string());
        for key in keys(&self.reference) {
            let made = self.api.call::<RefundObject>(REFUNDS, Some(&form), Some(&key)).await;
            if !matches!(made, Err(NoObject::KeyIsUsed)) {
                let made = made.and_then(|refund| Ok(LookedUp::Found(self.refund_answer(&refund)?)));
                return carried_out(made, self.look_up_refund()).await;
            }
            if let LookedUp::Found(answer) = self.look_up_refund().await? {
                return Ok(answer);
            }
        }
        Err(NoObject::KeyIsUsed.unclear())
    }

    /// Looks up what has become of a refund.
    pub(crate) async fn look_up_refund(&self) -> Result<LookedUp, AcquirerUnavailable> {
        let first = format!("{REFUNDS}?payment_intent={}&limit=100", self.request.acquirer_reference);
        let mut path = first.clone();
        for _ in 0..PAGES_MAX {
            let page: Page<RefundObject> = self.api.get(&path).await.map_err(NoObject::unclear)?;
            if let Some(refund) = self.own_of(&page)? {
                return self.refund_answer(refund).map(LookedUp::Found);
            }
            match page.data.last() {
                Some(last) if page.has_more => path = format!("{first}&starting_after={}", last.id.as_str()),
                _ => return Ok(LookedUp::NotDone),
            }
        }
        Err(AcquirerUnavailable::unknown("the payment has too many refunds"))
    }

    /// The refund of a page with the reference of the call. Those without a reference were not made by Till; one of
    /// another payment is a mismatch.
    fn own_of<'p>(&self, page: &'p Page<RefundObject>) -> Result<Option<&'p RefundObject>, AcquirerUnavailable> {
        for refund in &page.data {
            let Some(reference) = refund.reference() else { continue };
            if reference == self.reference {
                return Ok(Some(refund));
            }
            let is_of_payment =
                |named| matches!(named, NamedCall::Payment { payment, .. } if payment == self.request.payment);
            same(reference.parse().is_ok_and(is_of_payment), "reference")?;
        }
        Ok(None)
    }

    fn refund_answer(&self, refund: &RefundObject) -> Result<CallAnswer, AcquirerUnavailable> {
        let money = self.request.money;
        same(refund.currency.eq_ignore_ascii_case(money.currency.code()), "currency")?;
        same(refund.reference() == Some(&self.reference), "reference")?;
        same(refund.payment_intent.as_deref() == Some(self.request.acquirer_reference.as_str()), "payment")?;
        same(refund.amount == money.amount.get(), "amount")?;
        Ok(match refund.status.as_str() {
            "succeeded" => moved_answer(refund.id.as_str()),
            "requires_action" => CallAnswer::Pending(Awaited::Decision),
            "failed" | "canceled" => {
                declined_for(with_word(FailureCode::RefundFailed, refund.failure_reason.as_deref()))
            }
            _ => PENDING,
        })
    }
}

fn moved_answer(acquirer_reference: &str) -> CallAnswer {
    CallAnswer::Done(CallDone::Moved(MovedMoney::of(acquirer_reference)))
}

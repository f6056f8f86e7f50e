//! One call to an acquirer: the request, and the command that records the result.

use std::collections::BTreeMap;
use std::sync::Arc;
use till_domain::command::{AuthorizationResult, CallResult, Command, RecordOperation};
use till_domain::dispute::Dispute;
use till_domain::effect::{Effect, EffectId, EffectKind};
use till_domain::ids::{DisputeId, Id, MerchantId, PaymentId, PayoutId, RefundId, SessionId};
use till_domain::merchant::AcquirerName;
use till_domain::money::{AmountMinor, Money};
use till_domain::payment::{Failure, OperationKind, Payment, PaymentStatus};
use till_domain::payout::PayoutStatus;
use till_domain::records::{Disputes, Effects, OpenEvidence, Payments, Payouts, Refunds, Rows, Unreadable};
use till_domain::refund::Refund;
use till_domain::session;
use till_storage::shapes::MerchantReader;
use till_storage::vault::{AddressKind, CardNumber, CardNumberOf, Keyring};

use crate::acquirer::security_codes::SecurityCodes;
use crate::acquirer::{
    Acquirer, AcquirerAnswer, AcquirerUnavailable, AuthorizeRequest, CancelRequest, Completion, EvidenceRequest,
    FollowUpRequest, FoundCall, Instrument, NamedCall, PaymentStep, PayoutRequest, Reference, ReturnPath,
};
use crate::background::BackgroundRows;
use crate::store::Store;

/// The acquirers that can be called, by name.
pub type Acquirers = BTreeMap<AcquirerName, Arc<dyn Acquirer>>;

/// The reason why a call has no result yet. The call is made again under the same reference.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoResult {
    /// The acquirer did not answer.
    #[error("the acquirer did not answer: {0}")]
    Unanswered(String),
    /// A row or secret that the call needs could not be read.
    #[error("data of the call could not be read: {0}")]
    Unreadable(String),
}

impl From<Unreadable> for NoResult {
    fn from(error: Unreadable) -> NoResult {
        NoResult::Unreadable(error.to_string())
    }
}

impl From<AcquirerUnavailable> for NoResult {
    fn from(error: AcquirerUnavailable) -> NoResult {
        NoResult::Unanswered(error.to_string())
    }
}

/// The dependencies of calls.
pub(crate) struct AcquirerCaller {
    pub(crate) acquirers: Acquirers,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) security_codes: Arc<SecurityCodes>,
    pub(crate) store: Arc<dyn Store>,
}

impl AcquirerCaller {
    /// Reads a payment and its effect; no effect when it is not open any more.
    pub(crate) fn read(
        &self,
        merchant_id: MerchantId,
        effect_id: EffectId,
    ) -> Result<(Option<Arc<Effect>>, Arc<Payment>), NoResult> {
        let rows = self.reader(merchant_id);
        let effect = rows.get::<Effects>(effect_id)?;
        let payment = rows.get::<Payments>(effect_id.payment_id)?;
        let payment = payment.ok_or_else(|| NoResult::Unreadable("the payment is missing".to_owned()))?;
        Ok((effect.map(Arc::new), Arc::new(payment)))
    }

    /// Calls the acquirer for a payout and returns the command that records the result; none when it is not pending any
    /// more.
    pub(crate) async fn pay_out(&self, merchant: MerchantId, id: PayoutId) -> Result<Option<Command>, NoResult> {
        let payout = self.reader(merchant).get::<Payouts>(id)?;
        let Some(payout) = payout.filter(|payout| payout.status == PayoutStatus::Pending) else { return Ok(None) };
        let reference = Reference::of_payout(id);
        let request = PayoutRequest { reference, merchant, payout: id, money: payout.money };
        let result = wait_for_result(self.acquirer(payout.acquirer)?.payout(request)).await?;
        Ok(Some(Command::RecordPayout(id, result)))
    }

    /// Submits evidence that the acquirer has not accepted yet and returns the command that records the result; none
    /// when there is no such evidence any more.
    pub(crate) async fn submit_evidence(
        &self,
        merchant: MerchantId,
        id: DisputeId,
    ) -> Result<Option<Command>, NoResult> {
        let Some((dispute, payment)) = self.dispute_with_evidence(merchant, id)? else { return Ok(None) };
        let (Some(evidence), Some(authorization)) = (dispute.evidence, payment.authorization) else { return Ok(None) };
        let request = EvidenceRequest {
            reference: Reference::of_evidence(id),
            acquirer_reference: authorization.acquirer_reference,
            merchant,
            dispute: id,
            evidence,
        };
        let result = self.acquirer(payment.acquirer)?.evidence(request).await?;
        Ok(Some(Command::RecordEvidence(id, result)))
    }

    /// Reads a dispute and its payment; none when its evidence is not open any more.
    fn dispute_with_evidence(
        &self,
        merchant_id: MerchantId,
        id: DisputeId,
    ) -> Result<Option<(Dispute, Payment)>, NoResult> {
        let rows = self.reader(merchant_id);
        if rows.get::<OpenEvidence>(id)?.is_none() {
            return Ok(None);
        }
        let Some(dispute) = rows.get::<Disputes>(id)? else { return Ok(None) };
        let payment = rows.get::<Payments>(dispute.payment_id)?;
        Ok(payment.map(|payment| (dispute, payment)))
    }

    fn acquirer(&self, name: AcquirerName) -> Result<&dyn Acquirer, NoResult> {
        let acquirer = self.acquirers.get(&name).map(AsRef::as_ref);
        acquirer.ok_or_else(|| NoResult::Unanswered("it is not configured".to_owned()))
    }

    fn reader(&self, merchant_id: MerchantId) -> MerchantReader<BackgroundRows<'_>> {
        MerchantReader::new(merchant_id, Some(Arc::clone(&self.keyring)), BackgroundRows(&*self.store))
    }

    /// Carries out the effect of a payment and returns the command that records the result.
    pub(crate) async fn call(
        &self,
        merchant: MerchantId,
        effect: &Effect,
        payment: &Payment,
    ) -> Result<Command, NoResult> {
        let acquirer = self.acquirer(payment.acquirer)?;
        match effect.kind {
            EffectKind::Authorize => self.authorize(acquirer, merchant, payment).await,
            EffectKind::CancelAction => cancel(acquirer, merchant, payment).await,
            EffectKind::Capture => operate(acquirer, merchant, payment, OperationKind::Capture).await,
            EffectKind::Void => operate(acquirer, merchant, payment, OperationKind::Void).await,
            EffectKind::Reverse => operate(acquirer, merchant, payment, OperationKind::Reverse).await,
            EffectKind::Refund(refund_id) => self.refund(acquirer, merchant, payment, refund_id).await,
            EffectKind::VoidLate => give_back(acquirer, merchant, payment, PaymentStep::Void).await,
            EffectKind::RefundLate => give_back(acquirer, merchant, payment, PaymentStep::Reverse).await,
        }
    }

    async fn authorize(
        &self,
        acquirer: &dyn Acquirer,
        merchant: MerchantId,
        payment: &Payment,
    ) -> Result<Command, NoResult> {
        let reference = Reference::new(payment.id, PaymentStep::Authorize);
        let Some(instrument) = self.instrument(merchant, &payment.instrument)? else {
            return made_before(acquirer, merchant, payment.id, reference).await;
        };
        let request = AuthorizeRequest {
            reference,
            merchant,
            payment: payment.id,
            money: payment.money,
            instrument,
            capture: payment.capture_mode,
            return_path: self.return_path(merchant, payment.session_id),
        };
        Ok(Command::RecordAuthorization(payment.id, acquirer.authorize(request).await?))
    }

    fn return_path(&self, merchant: MerchantId, session: SessionId) -> ReturnPath {
        let secret = self.keyring.address_secret(merchant, AddressKind::Return, session.to_raw());
        ReturnPath { merchant, session, secret }
    }

    async fn refund(
        &self,
        acquirer: &dyn Acquirer,
        merchant: MerchantId,
        payment: &Payment,
        id: RefundId,
    ) -> Result<Command, NoResult> {
        let amount = self.refund_row(merchant, id)?.money.amount;
        let request = follow_up(merchant, payment, Reference::new(payment.id, PaymentStep::Refund(id)), amount)?;
        Ok(Command::RecordRefund(id, wait_for_result(acquirer.refund(request)).await?))
    }

    fn refund_row(&self, merchant: MerchantId, id: RefundId) -> Result<Refund, NoResult> {
        let refund = self.reader(merchant).get::<Refunds>(id)?;
        refund.ok_or_else(|| NoResult::Unreadable("the refund is missing".to_owned()))
    }

    /// The instrument that pays, with its secrets; none when the vault no longer has the card's number.
    fn instrument(
        &self,
        merchant: MerchantId,
        instrument: &session::Instrument,
    ) -> Result<Option<Instrument>, NoResult> {
        match instrument {
            session::Instrument::Token { token_id, usage: _, card } => {
                let number = self.number(merchant, CardNumberOf::Token(*token_id))?;
                let security_code = self.security_codes.get(*token_id);
                Ok(number.map(|number| Instrument::Card {
                    number,
                    expiry: card.expiry,
                    security_code,
                    is_saved: false,
                }))
            }
            session::Instrument::SavedCard { card_id, owner: _, card } => {
                let number = self.number(merchant, CardNumberOf::Card(*card_id))?;
                Ok(number.map(|number| Instrument::Card {
                    number,
                    expiry: card.expiry,
                    security_code: None,
                    is_saved: true,
                }))
            }
            session::Instrument::Installment { plan, interest_bearer: _ } => {
                Ok(Some(Instrument::Installment { plan: *plan }))
            }
            session::Instrument::PromptPay => Ok(Some(Instrument::PromptPay)),
            session::Instrument::MobileBanking => Ok(Some(Instrument::MobileBanking)),
            session::Instrument::UnnamedCard => Ok(None),
        }
    }

    fn number(&self, merchant: MerchantId, of: CardNumberOf) -> Result<Option<CardNumber>, NoResult> {
        self.reader(merchant).card_number(of).map_err(|error| NoResult::Unreadable(error.reason))
    }
}

/// Carries out an operation. A payment that has no record of it is gone on to another state: then it is the first
/// attempt, of the whole amount.
async fn operate(
    acquirer: &dyn Acquirer,
    merchant: MerchantId,
    payment: &Payment,
    kind: OperationKind,
) -> Result<Command, NoResult> {
    let open = payment.operation.as_ref();
    let (amount, attempt) = open.map_or((payment.money.amount, 1), |operation| (operation.amount, operation.attempt));
    let request = |step| follow_up(merchant, payment, Reference::of_attempt(payment.id, step, attempt), amount);
    let answer = match kind {
        OperationKind::Capture => acquirer.capture(request(PaymentStep::Capture)?),
        OperationKind::Void => acquirer.void(request(PaymentStep::Void)?),
        OperationKind::Reverse => acquirer.refund(request(PaymentStep::Reverse)?),
    };
    let completion = answer.await?;
    operated(payment.id, kind, attempt, completion)
}

/// The command that records the result of an operation.
fn operated(
    payment_id: PaymentId,
    kind: OperationKind,
    attempt: u32,
    completion: Completion,
) -> Result<Command, NoResult> {
    let (settles_at_once, is_disputed) = flags_of_captured(&completion);
    let result = end_of(completion)?;
    let record = RecordOperation { payment_id, kind, attempt, settles_at_once, is_disputed, result };
    Ok(Command::RecordOperation(record))
}

/// Two flags of captured money: true when it is available at once, and true when it is in dispute.
const fn flags_of_captured(completion: &Completion) -> (bool, bool) {
    match completion {
        Completion::Done { acquirer_reference: _, settles_at_once, is_disputed } => (*settles_at_once, *is_disputed),
        Completion::Declined(_) | Completion::Pending(_) => (false, false),
    }
}

/// The command that records an answer which Till did not ask for; none when it is not the result of one of Till's
/// calls. The domain's rules decide whether the call is still open.
pub(crate) fn late_answer(reference: &str, found: FoundCall) -> Option<Command> {
    let (payment, step, attempt) = match reference.parse().ok()? {
        NamedCall::Payment { payment, step, attempt } => (payment, step, attempt),
        NamedCall::Payout(payout) => return late_end_of_payout(payout, found),
    };
    let operation = |kind, completion| operated(payment, kind, attempt, completion).ok();
    match (step, found) {
        (PaymentStep::Authorize, FoundCall::Authorization(answer)) => {
            Some(Command::RecordAuthorization(payment, answer))
        }
        (PaymentStep::Capture, FoundCall::Completion(completion)) => operation(OperationKind::Capture, completion),
        (PaymentStep::Void, FoundCall::Completion(completion)) => operation(OperationKind::Void, completion),
        (PaymentStep::Reverse, FoundCall::Completion(completion)) => operation(OperationKind::Reverse, completion),
        (PaymentStep::Refund(id), FoundCall::Completion(completion)) => {
            end_of(completion).ok().map(|result| Command::RecordRefund(id, result))
        }
        (PaymentStep::Cancel, FoundCall::Cancellation(cancellation)) => {
            Some(Command::RecordCancellation(payment, cancellation))
        }
        (_, FoundCall::Authorization(_) | FoundCall::Completion(_) | FoundCall::Cancellation(_)) => None,
    }
}

fn late_end_of_payout(payout: PayoutId, found: FoundCall) -> Option<Command> {
    let FoundCall::Completion(completion) = found else { return None };
    end_of(completion).ok().map(|result| Command::RecordPayout(payout, result))
}

/// Cancels the action of a payment that ended before its customer acted.
async fn cancel(acquirer: &dyn Acquirer, merchant: MerchantId, payment: &Payment) -> Result<Command, NoResult> {
    let request = CancelRequest {
        reference: Reference::new(payment.id, PaymentStep::Cancel),
        authorization: Reference::new(payment.id, PaymentStep::Authorize),
        merchant,
        payment: payment.id,
        money: payment.money,
        deadline_passed: payment.status == PaymentStatus::Expired,
    };
    Ok(Command::RecordCancellation(payment.id, acquirer.cancel(request).await?))
}

/// Returns the money of a payment that had ended before the acquirer authorized it.
async fn give_back(
    acquirer: &dyn Acquirer,
    merchant: MerchantId,
    payment: &Payment,
    step: PaymentStep,
) -> Result<Command, NoResult> {
    let request = follow_up(merchant, payment, Reference::new(payment.id, step), payment.money.amount)?;
    let answer = if step == PaymentStep::Void { acquirer.void(request) } else { acquirer.refund(request) };
    let result = wait_for_result(answer).await?;
    if let CallResult::Declined(Failure { code, .. }) = &result {
        let (merchant_id, payment_id) = (merchant, payment.id);
        tracing::error!(%merchant_id, %payment_id, failure_code = code, "an acquirer keeps the money of a payment \
            that had ended");
    }
    Ok(Command::RecordGivenBack(payment.id, result))
}

fn follow_up(
    merchant: MerchantId,
    payment: &Payment,
    reference: Reference,
    amount: AmountMinor,
) -> Result<FollowUpRequest, NoResult> {
    let authorization = payment.authorization.as_ref();
    let authorization = authorization.ok_or_else(|| NoResult::Unreadable("the authorization is missing".to_owned()))?;
    Ok(FollowUpRequest {
        reference,
        acquirer_reference: authorization.acquirer_reference.clone(),
        merchant,
        payment: payment.id,
        money: Money { amount, currency: payment.money.currency },
    })
}

async fn wait_for_result(answer: AcquirerAnswer<Completion>) -> Result<CallResult, NoResult> {
    end_of(answer.await?)
}

fn end_of(completion: Completion) -> Result<CallResult, NoResult> {
    match completion {
        Completion::Done { .. } => Ok(CallResult::Done),
        Completion::Declined(failure) => Ok(CallResult::Declined(failure)),
        Completion::Pending(_) => Err(NoResult::Unanswered("the call is pending".to_owned())),
    }
}

/// The result of an authorization whose card has no number any more. The acquirer may have carried the call out before.
async fn made_before(
    acquirer: &dyn Acquirer,
    merchant: MerchantId,
    payment: PaymentId,
    reference: Reference,
) -> Result<Command, NoResult> {
    let found = acquirer.find(merchant, reference).await?;
    let result = match found {
        Some(FoundCall::Authorization(answer)) => answer,
        Some(FoundCall::Completion(_) | FoundCall::Cancellation(_)) | None => card_gone(),
    };
    Ok(Command::RecordAuthorization(payment, result))
}

fn card_gone() -> AuthorizationResult {
    let failure = Failure {
        code: "card_not_available".to_owned(),
        message: "The card's number is no longer stored. Tokenize the card again.".to_owned(),
    };
    AuthorizationResult::Declined { failure, authentication: None }
}

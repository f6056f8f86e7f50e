//! The calls to an acquirer and their results.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use till_domain::address_secret::AddressSecret;
use till_domain::card::CardExpiry;
use till_domain::command::{AuthorizationResult, Cancellation, EvidenceResult};
use till_domain::ids::{DisputeId, MerchantId, PaymentId, PayoutId, SessionId};
use till_domain::money::Money;
use till_domain::payment::{CaptureMode, Failure};
use till_domain::session::InstallmentPlan;
use till_domain::text::Evidence;
use till_storage::vault::CardNumber;
use tokio::sync::mpsc;

use super::reference::Reference;
use super::security_codes::SecurityCode;

/// A pending answer. Dropping it does not cancel the call.
pub type AcquirerAnswer<T> = Pin<Box<dyn Future<Output = Result<T, AcquirerUnavailable>> + Send>>;

/// The party that moves the money of card holders.
///
/// Every call is idempotent by its reference: it is carried out once, and a repeated call gets the same answer as the
/// first. While a call is pending, a repetition gets its present state. The outcome of a call that times out is
/// unknown, which is never treated as a failure: the call is repeated under the same reference.
pub trait Acquirer: Send + Sync + 'static {
    /// Reserves money, and captures it at once when asked to. When the customer must act first, the answer says what to
    /// do; once the customer has acted, the acquirer sends a late answer, and answers a repeated call with the same.
    fn authorize(&self, request: AuthorizeRequest) -> AcquirerAnswer<AuthorizationResult>;

    /// Cancels the action that the customer was asked for, and with it the authorization that waits for it. An acquirer
    /// that has authorized by then answers with the approval, and the money is given back.
    fn cancel(&self, request: CancelRequest) -> AcquirerAnswer<Cancellation>;

    /// Captures reserved money, or a part of it, and releases the rest. An authorization is captured at most once.
    fn capture(&self, request: FollowUpRequest) -> AcquirerAnswer<Completion>;

    /// Releases all the money that was reserved and not captured.
    fn void(&self, request: FollowUpRequest) -> AcquirerAnswer<Completion>;

    /// Refunds captured money, or a part of it. Further refunds have new references.
    fn refund(&self, request: FollowUpRequest) -> AcquirerAnswer<Completion>;

    /// Sends money to the merchant's own bank account.
    fn payout(&self, request: PayoutRequest) -> AcquirerAnswer<Completion>;

    /// Submits the evidence of a merchant in a dispute.
    fn evidence(&self, request: EvidenceRequest) -> AcquirerAnswer<EvidenceResult>;

    /// Registers the receiver of late answers: an acquirer sends one by itself when a pending call has ended, and may
    /// answer twice. An answer that cannot be sent may be dropped, since every call is repeated until it has ended.
    fn send_late_answers(&self, to: LateAnswers);

    /// Looks up the result of the call that was made under a reference; none when the acquirer has not received it.
    fn find(&self, merchant: MerchantId, reference: Reference) -> AcquirerAnswer<Option<FoundCall>>;
}

/// The channel to Till for answers that it did not ask for.
pub type LateAnswers = mpsc::Sender<LateAnswer>;

/// An answer that Till did not ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateAnswer {
    /// The merchant of the payment or payout.
    pub merchant: MerchantId,
    /// Till's reference of the call.
    pub reference: String,
    /// The answer.
    pub found: FoundCall,
}

/// The acquirer gave no answer. The request may have been carried out: its outcome is unknown until the acquirer
/// answers a repetition under the same reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the acquirer gave no answer: {reason}")]
pub struct AcquirerUnavailable {
    /// The reason, for the log.
    pub reason: String,
}

impl AcquirerUnavailable {
    /// An error with this reason, for the log.
    pub fn new(reason: impl Into<String>) -> AcquirerUnavailable {
        AcquirerUnavailable { reason: reason.into() }
    }
}

/// A request to reserve money.
#[derive(Debug)]
pub struct AuthorizeRequest {
    /// Till's reference of the call.
    pub reference: Reference,
    /// The merchant of the payment.
    pub merchant: MerchantId,
    /// The payment.
    pub payment: PaymentId,
    /// The amount.
    pub money: Money,
    /// The means of payment.
    pub instrument: Instrument,
    /// Automatic when the money is to be captured at once.
    pub capture: CaptureMode,
    /// The page of this server to which a customer who acted elsewhere comes back.
    pub return_path: ReturnPath,
}

/// The page of this server to which a customer who acted elsewhere comes back. Displayed, it is the path below the
/// server's public address.
#[derive(Debug, Clone, Copy)]
pub struct ReturnPath {
    /// The merchant of the payment.
    pub merchant: MerchantId,
    /// The session of the payment.
    pub session: SessionId,
    /// The secret of this way back alone, by which it leads to a checkout again.
    pub secret: AddressSecret,
}

impl fmt::Display for ReturnPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/return/{}/{}.{}", self.merchant, self.session, self.secret)
    }
}

/// A request to cancel the action that an authorization waits for.
#[derive(Debug, Clone)]
pub struct CancelRequest {
    /// Till's reference of the call.
    pub reference: Reference,
    /// Till's reference of the authorization.
    pub authorization: Reference,
    /// The merchant of the payment.
    pub merchant: MerchantId,
    /// The payment.
    pub payment: PaymentId,
    /// The amount of the authorization.
    pub money: Money,
    /// True when the customer's time is over; otherwise the customer gave up, or the merchant voided the payment.
    pub deadline_passed: bool,
}

/// The means of payment. Secret parts are zeroized when it is dropped.
#[derive(Debug)]
pub enum Instrument {
    /// A card.
    Card {
        /// Its number, from the vault.
        number: CardNumber,
        /// The last month in which it is valid.
        expiry: CardExpiry,
        /// Its security code; none for a saved card, and none after a restart of the process.
        security_code: Option<SecurityCode>,
        /// True for a saved card, which its holder has used here before.
        is_saved: bool,
    },
    /// Instalments.
    Installment {
        /// The plan.
        plan: InstallmentPlan,
    },
    /// A transfer that a PromptPay QR code asks for.
    PromptPay,
    /// A confirmation at the customer's bank.
    MobileBanking,
}

/// A request to change an authorization: to capture, void or refund it.
#[derive(Debug, Clone)]
pub struct FollowUpRequest {
    /// Till's reference of the call.
    pub reference: Reference,
    /// The acquirer's own reference of the authorization.
    pub acquirer_reference: String,
    /// The merchant of the payment.
    pub merchant: MerchantId,
    /// The payment.
    pub payment: PaymentId,
    /// The amount, in the currency of the authorization. Capture: at most the reserved money. Void: all of it. Refund:
    /// at most the captured money that is not refunded.
    pub money: Money,
}

/// A request to send money to the merchant's own bank account.
#[derive(Debug, Clone)]
pub struct PayoutRequest {
    /// Till's reference of the call.
    pub reference: Reference,
    /// The merchant that is paid.
    pub merchant: MerchantId,
    /// The payout.
    pub payout: PayoutId,
    /// The amount.
    pub money: Money,
}

/// The evidence of a merchant in a dispute.
#[derive(Debug, Clone)]
pub struct EvidenceRequest {
    /// Till's reference of the call.
    pub reference: Reference,
    /// The acquirer's own reference of the authorization whose money is in dispute.
    pub acquirer_reference: String,
    /// The merchant of the payment.
    pub merchant: MerchantId,
    /// The dispute.
    pub dispute: DisputeId,
    /// The merchant's words.
    pub evidence: Evidence,
}

/// The result of a capture, a void, a refund or a payout, if it has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completion {
    /// It is done.
    Done {
        /// The acquirer's own reference of it.
        acquirer_reference: String,
        /// True when captured money is available at once, regardless of the merchant's settlement delay.
        settles_at_once: bool,
        /// True when the customer disputes captured money as soon as it is captured.
        is_disputed: bool,
    },
    /// It is declined, and will not be carried out under this reference.
    Declined(Failure),
    /// It is under way, and no money has moved yet: when the call is repeated under the same reference, the acquirer
    /// answers with its result.
    Pending(Awaited),
}

/// The reason why a call has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// It ends by itself after some time.
    Time,
    /// It waits for a decision of a person, which may never be made.
    Decision,
}

/// The result of a call that was found by its reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundCall {
    /// An authorization.
    Authorization(AuthorizationResult),
    /// The cancellation of an action.
    Cancellation(Cancellation),
    /// A capture, a void, a refund or a payout.
    Completion(Completion),
}

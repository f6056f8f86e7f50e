//! The calls to an acquirer and what comes back.

use std::future::Future;
use std::pin::Pin;

use till_domain::card::CardExpiry;
use till_domain::command::{AuthorizationResult, EvidenceResult};
use till_domain::ids::{DisputeId, MerchantId, PaymentId, PayoutId};
use till_domain::money::Money;
use till_domain::payment::CaptureMode;
use till_domain::session::InstallmentPlan;
use till_domain::text::Evidence;
use till_storage::vault::CardNumber;
use tokio::sync::mpsc;

use super::reference::Reference;
use crate::security_codes::SecurityCode;

/// An answer under way. Dropping it takes nothing back: the call is made all the same.
pub type AcquirerAnswer<T> = Pin<Box<dyn Future<Output = Result<T, AcquirerUnavailable>> + Send>>;

/// Whoever moves the money of card holders.
///
/// Every call is idempotent by its reference: a repeated one is answered as the first was, and done once; one that was
/// pending is answered by how it ended since. A call that times out is unknown, never failed: it is asked again under the same reference.
pub trait Acquirer: Send + Sync + 'static {
    /// Sets money aside, and takes it at once when asked to.
    fn authorize(&self, request: AuthorizeRequest) -> AcquirerAnswer<Authorization>;

    /// Takes money that was set aside, or a part of it, and releases the rest. Once for an authorization.
    fn capture(&self, request: FollowUpRequest) -> AcquirerAnswer<Completion>;

    /// Releases all the money that was set aside and not taken.
    fn void(&self, request: FollowUpRequest) -> AcquirerAnswer<Completion>;

    /// Gives taken money back, or a part of it. As often as there is some left.
    fn refund(&self, request: FollowUpRequest) -> AcquirerAnswer<Completion>;

    /// Sends money to the merchant's own bank account.
    fn payout(&self, request: PayoutRequest) -> AcquirerAnswer<Completion>;

    /// Gives the evidence of a merchant in a dispute.
    fn evidence(&self, request: EvidenceRequest) -> AcquirerAnswer<EvidenceResult>;

    /// Has answers that nobody asks for sent from now on: a provider calls by itself when a pending call has ended, or
    /// answers twice. One that cannot be sent may be dropped, since every call is asked for until it has ended.
    fn send_late_answers(&self, to: LateAnswers);

    /// Looks up how a call ended, by the reference that it was made under; nothing when the acquirer has not seen it.
    fn find(&self, merchant: MerchantId, reference: Reference) -> AcquirerAnswer<Option<Found>>;
}

/// The way to Till for answers that it did not ask for.
pub type LateAnswers = mpsc::Sender<LateAnswer>;

/// An answer that Till did not ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateAnswer {
    /// The merchant of the payment or payout.
    pub merchant: MerchantId,
    /// Our reference of the call.
    pub reference: String,
    /// The answer.
    pub found: Found,
}

/// The acquirer gave no answer. What was asked may have been done: it is neither done nor failed until the
/// acquirer, asked again under the same reference, says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the acquirer gave no answer: {reason}")]
pub struct AcquirerUnavailable {
    /// For the log.
    pub reason: String,
}

impl AcquirerUnavailable {
    /// With this reason, for the log.
    pub fn because(reason: impl Into<String>) -> AcquirerUnavailable {
        AcquirerUnavailable { reason: reason.into() }
    }
}

/// A request to set money aside.
#[derive(Debug)]
pub struct AuthorizeRequest {
    /// Names the call.
    pub reference: Reference,
    /// Whose payment it is.
    pub merchant: MerchantId,
    /// Which payment.
    pub payment: PaymentId,
    /// The amount.
    pub money: Money,
    /// Of what.
    pub instrument: Instrument,
    /// Whether to take it at once.
    pub capture: CaptureMode,
}

/// With what a payment is paid. Zeroized when dropped, as far as it is secret.
#[derive(Debug)]
pub enum Instrument {
    /// A card.
    Card {
        /// Its number, out of the vault.
        number: CardNumber,
        /// Until when it is good.
        expiry: CardExpiry,
        /// Its security code; nothing when it is a saved card, or the process restarted since.
        security_code: Option<SecurityCode>,
    },
    /// Instalments.
    Installment {
        /// By which plan.
        plan: InstallmentPlan,
    },
}

/// A request to do something to an authorization: to capture, void or refund it.
#[derive(Debug, Clone)]
pub struct FollowUpRequest {
    /// Names the call.
    pub reference: Reference,
    /// The acquirer's own reference of the authorization.
    pub acquirer_reference: String,
    /// Whose payment it is.
    pub merchant: MerchantId,
    /// Which payment.
    pub payment: PaymentId,
    /// How much, in the currency of the authorization. Capture: at most what was set aside. Void: all of
    /// it. Refund: at most what was taken and not given back.
    pub money: Money,
}

/// A request to send money to the merchant's own bank account.
#[derive(Debug, Clone)]
pub struct PayoutRequest {
    /// Names the call.
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
    /// Names the call.
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

/// How an authorization ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authorization {
    /// The money is set aside.
    Approved {
        /// The acquirer's own reference: capture, void and refund name it.
        acquirer_reference: String,
        /// Whether it was taken at once.
        captured: bool,
        /// Whether taken money is there at once, whatever the merchant's settlement delay.
        settles_at_once: bool,
        /// True when the customer disputes taken money as soon as it is taken.
        is_disputed: bool,
    },
    /// It is not yet: the customer must act first, for example authenticate the card.
    NeedsAction {
        /// The acquirer's own reference of the authorization that waits.
        acquirer_reference: String,
        /// The address that the customer is to be sent to.
        url: String,
    },
    /// It is not.
    Declined {
        /// A word that programs branch on, such as `insufficient_funds`.
        code: String,
        /// A sentence for a person.
        message: String,
    },
}

impl From<Authorization> for AuthorizationResult {
    fn from(authorization: Authorization) -> AuthorizationResult {
        match authorization {
            Authorization::Approved { acquirer_reference, captured, settles_at_once, is_disputed } => {
                AuthorizationResult::Approved { acquirer_reference, captured, settles_at_once, is_disputed }
            }
            // No payment can wait for its customer yet: nobody would be sent to the address.
            Authorization::NeedsAction { acquirer_reference: _, url: _ } => AuthorizationResult::Declined {
                code: "customer_action_required".to_owned(),
                message: "The payment needs a step by the customer, which is not supported yet.".to_owned(),
            },
            Authorization::Declined { code, message } => AuthorizationResult::Declined { code, message },
        }
    }
}

/// The end of a capture, a void, a refund or a payout, if it has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completion {
    /// It is done.
    Done {
        /// The acquirer's own reference of it.
        acquirer_reference: String,
        /// True when money that a capture took is there at once, whatever the merchant's settlement delay.
        settles_at_once: bool,
        /// True when the customer disputes money that a capture took as soon as it is taken.
        is_disputed: bool,
    },
    /// It is not, and will not be under this reference.
    Declined {
        /// A word that programs branch on, such as `already_voided`.
        code: String,
        /// A sentence for a person.
        message: String,
    },
    /// It is under way, and no money has moved yet: asked again under the same reference, the acquirer says how it ended.
    Pending(Awaited),
}

/// The reason why a call has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// Time: it ends by itself.
    Time,
    /// Somebody's decision, which may never come.
    Decision,
}

/// How a call ended that was found by its reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// An authorization.
    Authorization(Authorization),
    /// A capture, a void, a refund or a payout.
    Completion(Completion),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authorization_that_waits_for_the_customer_is_recorded_as_declined_with_its_own_code() {
        let waits =
            Authorization::NeedsAction { acquirer_reference: "a".to_owned(), url: "https://a.example".to_owned() };
        let AuthorizationResult::Declined { code, message } = waits.into() else { panic!("it is not approved") };
        assert_eq!(code, "customer_action_required");
        assert!(message.ends_with('.'));
    }
}

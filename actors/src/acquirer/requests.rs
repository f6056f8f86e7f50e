//! The calls to an acquirer, with all that each asks for.

use std::fmt;

use till_domain::address_secret::AddressSecret;
use till_domain::card::CardExpiry;
use till_domain::checkout::Locale;
use till_domain::ids::{MerchantId, PaymentId, SessionId};
use till_domain::money::Money;
use till_domain::payment::CaptureMode;
use till_domain::preparation::Preparation;
use till_domain::session::InstallmentPlan;
use till_domain::text::{Email, Evidence, ExternalId};
use till_domain::time::Millis;
use till_storage::vault::CardNumber;

use super::reference::NamedCall;
use super::security_codes::SecurityCode;

/// A call to an acquirer. What it asks for depends on what is recorded, and on no clock, so that a repetition asks for
/// the same.
#[derive(Debug)]
pub enum AcquirerCall {
    /// Reserve money, and capture it at once when asked to. When the customer must act first, the answer says what to
    /// do; once the customer has acted, the acquirer sends a late answer, and a look-up finds the same.
    Authorize(AuthorizeRequest),
    /// Cancel the action that the customer was asked for, and with it the authorization that waits for it. An acquirer
    /// that has authorized by then answers with the approval, and the money is given back.
    Cancel(CancelRequest),
    /// Capture reserved money, or a part of it, and release the rest. An authorization is captured at most once.
    Capture(FollowUpRequest),
    /// Release all the money that was reserved and not captured.
    Void(FollowUpRequest),
    /// Give captured money back, or a part of it. Further refunds have new references.
    Refund(FollowUpRequest),
    /// Send money to the merchant's own bank account.
    Payout(PayoutRequest),
    /// Submit the evidence of a merchant in a dispute.
    Evidence(EvidenceRequest),
}

impl AcquirerCall {
    /// Till's reference of the call.
    #[must_use]
    pub const fn reference(&self) -> NamedCall {
        self.reference_and_merchant().0
    }

    /// The merchant that it is for.
    #[must_use]
    pub const fn merchant(&self) -> MerchantId {
        self.reference_and_merchant().1
    }

    const fn reference_and_merchant(&self) -> (NamedCall, MerchantId) {
        match self {
            AcquirerCall::Authorize(request) => (request.reference, request.merchant),
            AcquirerCall::Cancel(request) => (request.reference, request.merchant),
            AcquirerCall::Capture(request) | AcquirerCall::Void(request) | AcquirerCall::Refund(request) => {
                (request.reference, request.merchant)
            }
            AcquirerCall::Payout(request) => (request.reference, request.merchant),
            AcquirerCall::Evidence(request) => (request.reference, request.merchant),
        }
    }
}

/// A request to reserve money.
#[derive(Debug)]
pub struct AuthorizeRequest {
    /// Till's reference of the call.
    pub reference: NamedCall,
    /// The merchant of the payment.
    pub merchant: MerchantId,
    /// The payment.
    pub payment: PaymentId,
    /// The amount.
    pub money: Money,
    /// The means of payment; none when the vault no longer has the number of its card: then the call is only looked up.
    pub instrument: Option<Instrument>,
    /// Automatic when the money is to be captured at once.
    pub capture: CaptureMode,
    /// The page of this server to which a customer who acted elsewhere comes back.
    pub return_path: ReturnPath,
    /// The merchant's own identifier of the payment, by which the acquirer describes it.
    pub description: Option<ExternalId>,
    /// The customer's e-mail address.
    pub email: Option<Email>,
    /// The instant at which the payment was recorded.
    pub created_at: Millis,
    /// What the acquirer has prepared for it, as recorded. When that has a page, the customer is sent there by any
    /// answer that asks for a redirect: its address is not recorded again.
    pub prepared: Option<Preparation>,
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
    pub reference: NamedCall,
    /// The merchant of the payment.
    pub merchant: MerchantId,
    /// The payment.
    pub payment: PaymentId,
    /// The amount of the authorization.
    pub money: Money,
    /// True when the customer's time is over; otherwise the customer gave up, or the merchant voided the payment.
    pub deadline_passed: bool,
    /// What the acquirer has prepared for the authorization, as recorded.
    pub prepared: Option<Preparation>,
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
    /// A card that the customer enters at the acquirer's page.
    AcquirerPage {
        /// The language of the page; the acquirer's choice when there is none.
        locale: Option<Locale>,
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
    pub reference: NamedCall,
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
    pub reference: NamedCall,
    /// The merchant that is paid.
    pub merchant: MerchantId,
    /// The amount.
    pub money: Money,
}

/// The evidence of a merchant in a dispute.
#[derive(Debug, Clone)]
pub struct EvidenceRequest {
    /// Till's reference of the call.
    pub reference: NamedCall,
    /// The acquirer's own reference of the authorization whose money is in dispute.
    pub acquirer_reference: String,
    /// The merchant of the payment.
    pub merchant: MerchantId,
    /// The merchant's words.
    pub evidence: Evidence,
}

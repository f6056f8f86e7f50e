//! The rows and secrets that calls are made of.

use std::sync::Arc;

use till_domain::acquirer::AcquirerRef;
use till_domain::dispute::Dispute;
use till_domain::effect::{Effect, EffectKind};
use till_domain::ids::{DisputeId, MerchantId, PaymentId};
use till_domain::open_call::OpenCall;
use till_domain::payment::Payment;
use till_domain::payout::{Payout, PayoutStatus};
use till_domain::preparation::Preparation;
use till_domain::records::{Disputes, Effects, OpenEvidence, Payments, Payouts, Preparations, Rows, Unreadable};
use till_domain::time::Millis;
use till_storage::shapes::MerchantReader;
use till_storage::vault::Keyring;

use crate::acquirer::AcquirerUnavailable;
use crate::acquirer::security_codes::SecurityCodes;
use crate::background::BackgroundRows;
use crate::store::Store;

/// The reason why a call has no result yet.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoResult {
    /// The acquirer did not answer.
    #[error("the acquirer did not answer: {0}")]
    Unanswered(String),
    /// The acquirer was not reached, or has not prepared the call: nothing was sent that moves money.
    #[error("nothing was sent that moves money: {0}")]
    NotSent(String),
    /// The acquirer has not carried the call out, and may still do so.
    #[error("the call is not done yet, and its request may still be on its way")]
    MayBeOnItsWay,
    /// A row or secret that the call needs could not be read, or is missing.
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
        let no_result = if error.outcome.is_unknown() { NoResult::Unanswered } else { NoResult::NotSent };
        no_result(error.to_string())
    }
}

/// The error of a row that must be there.
pub(super) fn missing(what: &str) -> NoResult {
    NoResult::Unreadable(format!("the {what} is missing"))
}

/// An open call, with the rows that say what it is.
pub(crate) enum OpenRows {
    /// One about a payment.
    Payment(Arc<Effect>, Arc<Payment>),
    /// One that pays a payout.
    Payout(Payout),
    /// One that gives the evidence of a dispute about a payment.
    Evidence(Dispute, Box<Payment>),
}

impl OpenRows {
    /// The payment of a call of this kind.
    pub(super) fn payment_for(&self, kind: EffectKind) -> Option<&Payment> {
        let OpenRows::Payment(effect, payment) = self else { return None };
        (effect.kind == kind).then_some(payment)
    }

    /// The payment of an authorization, and true when it is prepared.
    pub(crate) fn authorized(&self) -> Option<(&Payment, bool)> {
        let OpenRows::Payment(effect, payment) = self else { return None };
        effect.kind.is_authorization().then_some((payment, effect.kind == EffectKind::AuthorizePrepared))
    }

    /// The payment of a call about one.
    pub(crate) fn payment(&self) -> Option<&Payment> {
        let OpenRows::Payment(_, payment) = self else { return None };
        Some(payment)
    }

    /// The instant since which it is open, as far as one is kept.
    pub(crate) fn opened_at(&self) -> Millis {
        match self {
            OpenRows::Payment(effect, _) => effect.opened_at,
            OpenRows::Payout(payout) => payout.created_at,
            OpenRows::Evidence(dispute, _) => dispute.created_at,
        }
    }

    /// True for a void or a refund.
    pub(crate) fn gives_back(&self) -> bool {
        match self {
            OpenRows::Payment(effect, _) => effect.kind.gives_back(),
            OpenRows::Payout(_) | OpenRows::Evidence(..) => false,
        }
    }

    /// The acquirer that is called.
    pub(crate) fn acquirer(&self) -> AcquirerRef {
        match self {
            OpenRows::Payment(_, payment) => payment.acquirer,
            OpenRows::Payout(payout) => payout.acquirer,
            OpenRows::Evidence(_, payment) => payment.acquirer,
        }
    }
}

/// The sources of calls.
pub(crate) struct CallSources {
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) security_codes: Arc<SecurityCodes>,
    pub(crate) store: Arc<dyn Store>,
}

impl CallSources {
    /// The rows of a merchant.
    pub(crate) fn reader(&self, merchant: MerchantId) -> MerchantReader<BackgroundRows<'_>> {
        MerchantReader::new(merchant, Some(Arc::clone(&self.keyring)), BackgroundRows(&*self.store))
    }

    /// Reads an open call; none when it is not open any more.
    pub(crate) fn open(&self, merchant: MerchantId, call: OpenCall) -> Result<Option<OpenRows>, NoResult> {
        match call {
            OpenCall::Payment(id) => {
                let rows = self.reader(merchant);
                let Some(effect) = rows.get::<Effects>(id)? else { return Ok(None) };
                let payment = rows.get::<Payments>(id.payment_id)?;
                let payment = payment.ok_or_else(|| missing("payment"))?;
                Ok(Some(OpenRows::Payment(Arc::new(effect), Arc::new(payment))))
            }
            OpenCall::Payout(id) => {
                let payout = self.reader(merchant).get::<Payouts>(id)?;
                Ok(payout.filter(|payout| payout.status == PayoutStatus::Pending).map(OpenRows::Payout))
            }
            OpenCall::Evidence(id) => self.evidence(merchant, id),
        }
    }

    /// What the acquirer has prepared for a payment.
    pub(super) fn preparation(&self, merchant: MerchantId, id: PaymentId) -> Result<Option<Preparation>, NoResult> {
        Ok(self.reader(merchant).get::<Preparations>(id)?)
    }

    fn evidence(&self, merchant: MerchantId, id: DisputeId) -> Result<Option<OpenRows>, NoResult> {
        let rows = self.reader(merchant);
        if rows.get::<OpenEvidence>(id)?.is_none() {
            return Ok(None);
        }
        let Some(dispute) = rows.get::<Disputes>(id)? else { return Ok(None) };
        let payment = rows.get::<Payments>(dispute.payment_id)?;
        Ok(payment.map(|payment| OpenRows::Evidence(dispute, Box::new(payment))))
    }
}

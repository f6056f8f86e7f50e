//! The calls to acquirers that a merchant's clock waits for, before it advances any further.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;
use till_domain::effect::{EffectId, OpenCall};
use till_domain::ids::{MerchantId, PayoutId};
use till_domain::merchant::AcquirerName;
use till_domain::records::{Effects, OpenEvidence, OpenPayouts, Payments, Payouts, Rows};
use till_storage::rows::ScanDirection;
use till_storage::shapes::MerchantReader;

use crate::acquirer::{Awaited, Completion, FoundCall, PaymentStep, Reference};
use crate::background::WorkError;
use crate::effects::Acquirers;
use crate::store::Store;

/// Open calls that are read at once.
const READ_AT_ONCE: usize = 1_024;

/// The open calls of one merchant, while its clock is advanced.
pub(super) struct CallsUnderWay<'a> {
    pub(super) merchant_id: MerchantId,
    pub(super) store: &'a Arc<dyn Store>,
    pub(super) acquirers: &'a Acquirers,
    /// Calls that end when a person decides, which may be never: the clock does not wait for them.
    pub(super) await_decision: BTreeSet<OpenCall>,
}

impl CallsUnderWay<'_> {
    /// True when a call is open that ends by itself.
    ///
    /// # Errors
    /// An error when a row cannot be read.
    pub(super) async fn are_some(&mut self) -> Result<bool, WorkError> {
        // Evidence is taken or refused at once, whoever decides the dispute.
        let gives_evidence = self.rows().has_any::<OpenEvidence>(..)?;
        Ok(gives_evidence || self.is_some_payment_called_for().await? || self.is_some_payout_called_for().await?)
    }

    async fn is_some_payment_called_for(&mut self) -> Result<bool, WorkError> {
        let mut after = Bound::Unbounded;
        loop {
            let range = (after, Bound::Unbounded);
            let page = self.rows().scan_keys::<Effects>(range, ScanDirection::Forward, READ_AT_ONCE)?;
            for effect_id in &page {
                if !self.awaits_decision(OpenCall::Payment(*effect_id)).await? {
                    return Ok(true);
                }
            }
            let Some(last) = page.last().filter(|_| page.len() == READ_AT_ONCE) else { return Ok(false) };
            after = Bound::Excluded(*last);
        }
    }

    async fn is_some_payout_called_for(&mut self) -> Result<bool, WorkError> {
        let mut after = Bound::Unbounded;
        loop {
            let range = (after, Bound::Unbounded);
            let page = self.rows().scan_keys::<OpenPayouts>(range, ScanDirection::Forward, READ_AT_ONCE)?;
            for payout_id in &page {
                if !self.awaits_decision(OpenCall::Payout(*payout_id)).await? {
                    return Ok(true);
                }
            }
            let Some(last) = page.last().filter(|_| page.len() == READ_AT_ONCE) else { return Ok(false) };
            after = Bound::Excluded(*last);
        }
    }

    /// True when the acquirer says of a call that a person must decide its result. That stays so until it has ended.
    async fn awaits_decision(&mut self, call: OpenCall) -> Result<bool, WorkError> {
        if self.await_decision.contains(&call) {
            return Ok(true);
        }
        let reference = match call {
            OpenCall::Payment(effect_id) => self.of_refund(effect_id)?,
            OpenCall::Payout(payout_id) => self.of_payout(payout_id)?,
            OpenCall::Evidence(_) => None,
        };
        let Some((acquirer, reference)) = reference else { return Ok(false) };
        let Some(acquirer) = self.acquirers.get(&acquirer) else { return Ok(false) };
        // An acquirer that gives no answer is asked again.
        let found = acquirer.find(self.merchant_id, reference).await.ok().flatten();
        let awaits = found == Some(FoundCall::Completion(Completion::Pending(Awaited::Decision)));
        if awaits {
            self.await_decision.insert(call);
        }
        Ok(awaits)
    }

    /// The acquirer of a refund, and the reference of its call. An operation of a payment ends by itself.
    fn of_refund(&self, effect_id: EffectId) -> Result<Option<(AcquirerName, Reference)>, WorkError> {
        let Some(refund_id) = effect_id.refund_id else { return Ok(None) };
        let payment = self.rows().get::<Payments>(effect_id.payment_id)?;
        let reference = Reference::new(effect_id.payment_id, PaymentStep::Refund(refund_id));
        Ok(payment.map(|payment| (payment.acquirer, reference)))
    }

    fn of_payout(&self, payout_id: PayoutId) -> Result<Option<(AcquirerName, Reference)>, WorkError> {
        let payout = self.rows().get::<Payouts>(payout_id)?;
        Ok(payout.map(|payout| (payout.acquirer, Reference::of_payout(payout_id))))
    }

    fn rows(&self) -> MerchantReader<&dyn Store> {
        MerchantReader::new(self.merchant_id, None, &**self.store)
    }
}

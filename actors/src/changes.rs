//! The rows that one record changes.

use std::collections::BTreeMap;
use std::sync::Arc;
use till_domain::effect::Effect;
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::merchant::TestClock;
use till_domain::open_call::OpenCall;
use till_domain::payment::Payment;
use till_domain::records::{AnyKey, AnyRow};

/// The rows that one mutation changes, not yet staged.
pub(crate) struct Changes {
    pub(crate) rows: BTreeMap<AnyKey, Option<AnyRow>>,
}

impl Changes {
    /// The keys that get a row.
    pub(crate) fn written(&self) -> impl Iterator<Item = &AnyKey> {
        self.rows.iter().filter(|(_, row)| row.is_some()).map(|(key, _)| key)
    }

    /// The merchant's test clock, when it is written.
    pub(crate) fn test_clock(&self, merchant_id: MerchantId) -> Option<TestClock> {
        let written = self.rows.get(&AnyKey::TestClocks(merchant_id))?.as_ref()?;
        if let AnyRow::TestClocks(test_clock) = written { Some(**test_clock) } else { None }
    }

    /// The payment with this id, when it is written.
    pub(crate) fn payment(&self, payment_id: PaymentId) -> Option<&Payment> {
        let written = self.rows.get(&AnyKey::Payments(payment_id))?.as_ref()?;
        if let AnyRow::Payments(payment) = written { Some(payment) } else { None }
    }

    /// The effect of an open call about a payment, and the payment, when both are written.
    pub(crate) fn opened(&self, call: OpenCall) -> Option<(Arc<Effect>, Arc<Payment>)> {
        let OpenCall::Payment(effect_id) = call else { return None };
        let written = |key: &AnyKey| self.rows.get(key)?.as_ref();
        let AnyRow::Effects(effect) = written(&AnyKey::Effects(effect_id))? else { return None };
        let AnyRow::Payments(payment) = written(&AnyKey::Payments(effect_id.payment_id))? else { return None };
        Some((Arc::clone(effect), Arc::clone(payment)))
    }
}

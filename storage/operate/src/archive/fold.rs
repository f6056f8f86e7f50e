//! Folding a record into the rows of a store that is being restored, as its actor did when it was written.

use std::sync::Arc;

use till_domain::event::Mutation;
use till_domain::ids::MerchantId;
use till_domain::payment::Payment;
use till_domain::records::{AnyRow, Unreadable};
use till_storage::rows::RowReader;
use till_storage::shapes::{MerchantReader, fold_mutation};

use super::overlay::Overlay;

/// Writes the rows that a mutation changes, and returns the payments among them.
pub(super) fn fold(
    overlay: &Overlay,
    merchant_id: MerchantId,
    mutation: &Mutation,
    personal: &mut MerchantReader<&Overlay>,
) -> Result<Vec<Arc<Payment>>, Unreadable> {
    let stored = |family, key: &[u8]| Ok(overlay.get(family, key)?);
    let mut payments = Vec::new();
    for changed in fold_mutation(merchant_id, mutation, personal, &stored)? {
        if let Some(AnyRow::Payments(payment)) = changed.row {
            payments.push(payment);
        }
        overlay.set(changed.family, changed.key, changed.value);
    }
    Ok(payments)
}

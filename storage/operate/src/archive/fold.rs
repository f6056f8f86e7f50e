//! Folding a record into the rows of a store that is being restored, as its actor did when it was written.

use till_domain::event::Mutation;
use till_domain::ids::MerchantId;
use till_domain::records::{AnyRow, Unreadable};
use till_storage::rows::RowReader;
use till_storage::shapes::{MerchantReader, fold_mutation};

use crate::overlay::Overlay;

/// Writes the rows that a mutation changes, and returns the payments and payouts among them.
pub(super) fn fold(
    overlay: &Overlay,
    merchant_id: MerchantId,
    mutation: &Mutation,
    personal: &mut MerchantReader<&Overlay>,
) -> Result<Vec<AnyRow>, Unreadable> {
    let stored = |family, key: &[u8]| Ok(overlay.get(family, key)?);
    let mut of_the_acquirer = Vec::new();
    for changed in fold_mutation(merchant_id, mutation, personal, &stored)? {
        let is_of_the_acquirer = |row: &AnyRow| matches!(row, AnyRow::Payments(_) | AnyRow::Payouts(_));
        of_the_acquirer.extend(changed.row.filter(is_of_the_acquirer));
        overlay.set(changed.family, changed.key, changed.value);
    }
    Ok(of_the_acquirer)
}

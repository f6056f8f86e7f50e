//! The fold of accounts at acquirers, and of what payments mean for the removal of theirs.

use super::change::change;
use crate::acquirer::{AcquirerAccount, AcquirerRef, AcquirerUse};
use crate::effect::EffectId;
use crate::ids::{AcquirerId, MerchantId};
use crate::payment::Payment;
use crate::records::{AcquirerAccounts, AcquirerDirectory, AcquirerUses, Effects, Rows, RowsMut, Unreadable};
use crate::time::Millis;

/// Saves an account, and the merchant to whom it belongs.
pub(super) fn save(merchant_id: MerchantId, account: &AcquirerAccount, rows: &mut impl RowsMut) {
    rows.put::<AcquirerAccounts>(account.id, account.clone());
    rows.put::<AcquirerDirectory>(account.id, merchant_id);
}

/// Removes an account. Its payments name it for ever.
pub(super) fn remove(id: AcquirerId, rows: &mut impl RowsMut) {
    rows.remove::<AcquirerAccounts>(id);
    rows.remove::<AcquirerDirectory>(id);
    rows.remove::<AcquirerUses>(id);
}

/// Notes that a payment or a refund was made.
pub(super) fn note_use(acquirer: AcquirerRef, at: Millis, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let Some(id) = acquirer.account_id() else { return Ok(()) };
    let open_payments = rows.get::<AcquirerUses>(id)?.map_or(0, |before| before.open_payments);
    rows.put::<AcquirerUses>(id, AcquirerUse { open_payments, last_at: at });
    Ok(())
}

/// The account for which a payment is open; none for one that has ended or is at the sandbox. A call that is open for a
/// payment that is over counts, too. So a fold takes the payment before it opens a call for one that is over, or ends
/// such a call.
pub(super) fn open_at(payment: &Payment, rows: &impl Rows) -> Result<Option<AcquirerId>, Unreadable> {
    let Some(id) = payment.acquirer.account_id() else { return Ok(None) };
    let is_open = payment.is_open() || rows.shared::<Effects>(EffectId::operation(payment.id))?.is_some();
    Ok(is_open.then_some(id))
}

/// Counts a payment whose account, while it is open, was and is this.
pub(super) fn count(
    before: Option<AcquirerId>,
    after: Option<AcquirerId>,
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    let Some(id) = before.xor(after) else { return Ok(()) };
    let counted = if after.is_some() { u64::saturating_add } else { u64::saturating_sub };
    change::<AcquirerUses>(rows, id, |it| it.open_payments = counted(it.open_payments, 1))
}

//! Forgets persons who were forgotten after the moment that is restored: removes their keys, and the rows by which they
//! are found.

use std::collections::BTreeSet;
use std::sync::Arc;

use till_domain::ids::{CustomerId, MerchantId};
use till_domain::records::{AnyKey, AnyRow, CustomersByEmail, CustomersByMobile, CustomersByOtherEmail, Table};
use till_storage::archive_queue::VaultChange;
use till_storage::family::Family;
use till_storage::rows::RowReader;
use till_storage::shapes::{MerchantReader, decode_row, row_key};
use till_storage::vault::{Keyring, SubjectId, SubjectKind, VaultKey};

use crate::overlay::Overlay;

use super::ArchiveError;

/// Customers and payers whose keys are removed later. Keys of sessions, tokens, checkouts and pages are not among
/// them: they expire again.
#[derive(Default)]
pub(super) struct Forgotten(BTreeSet<(MerchantId, SubjectKind, [u8; 16])>);

impl Forgotten {
    /// Notes the persons whose keys these changes remove.
    pub(super) fn note(&mut self, changes: &[VaultChange]) {
        for change in changes.iter().filter(|change| change.value.is_none()) {
            if let Some(VaultKey::SubjectKey { merchant, subject }) = VaultKey::decode(&change.key) {
                match subject.kind {
                    SubjectKind::Customer | SubjectKind::Payment => {
                        self.0.insert((merchant, subject.kind, subject.id));
                    }
                    SubjectKind::Session | SubjectKind::Token | SubjectKind::Checkout | SubjectKind::AcquirerPage => {}
                }
            }
        }
    }

    /// Removes the keys that exist, and returns their number.
    pub(super) fn apply(&self, overlay: &Overlay, keyring: &Arc<Keyring>) -> Result<u64, ArchiveError> {
        let mut count = 0;
        for &(merchant, kind, id) in &self.0 {
            let key = VaultKey::SubjectKey { merchant, subject: SubjectId { kind, id } }.encode();
            if overlay.get(Family::Vault, &key)?.is_none() {
                continue;
            }
            if kind == SubjectKind::Customer {
                forget_customer(overlay, keyring, merchant, CustomerId::from_bytes(id))?;
            }
            overlay.set(Family::Vault, key.to_vec(), None);
            count += 1;
        }
        Ok(count)
    }
}

/// Removes the rows by which a customer is found: a replay without the key derives none of them.
fn forget_customer(
    overlay: &Overlay,
    keyring: &Arc<Keyring>,
    merchant: MerchantId,
    customer: CustomerId,
) -> Result<(), ArchiveError> {
    let personal = MerchantReader::new(merchant, Some(Arc::clone(keyring)), overlay);
    let row = |key: &AnyKey| -> Result<Option<(Family, Vec<u8>, AnyRow)>, ArchiveError> {
        let (family, bytes) = row_key(merchant, key, &personal);
        let Some(stored) = overlay.get(family, &bytes)? else { return Ok(None) };
        Ok(Some((family, bytes, decode_row(key, &stored, &personal).map_err(ArchiveError::store)?)))
    };
    let Some((_, _, AnyRow::Customers(found))) = row(&AnyKey::Customers(customer))? else { return Ok(()) };
    let by_email = found.email.clone().map(CustomersByEmail::key);
    let by_mobile = found.mobile.clone().map(CustomersByMobile::key);
    let by_others = found.other_emails.iter().map(|email| CustomersByOtherEmail::key((email.clone(), customer)));
    for key in by_email.into_iter().chain(by_mobile).chain(by_others) {
        let Some((family, bytes, found)) = row(&key)? else { continue };
        let (AnyRow::CustomersByEmail(of) | AnyRow::CustomersByMobile(of) | AnyRow::CustomersByOtherEmail(of)) = found
        else {
            continue;
        };
        if *of == customer {
            overlay.set(family, bytes, None);
        }
    }
    Ok(())
}

//! The vault: every row opens under the key ring, and belongs to a merchant. Nothing that opens is kept.

use till_domain::ids::MerchantId;

use crate::family::Family;
use crate::vault::{SealedError, VaultKey};

use super::job::Job;
use super::report::Wrong;
use super::strays::Merchants;
use super::walk::{Step, Walk, prefix_range};

/// Checks every row.
pub(super) fn check(merchants: &Merchants, job: &mut Job<'_>) {
    for step in Walk::new(job.rows, Family::Vault, prefix_range(&[])) {
        match step {
            Step::Row(key, value) => {
                job.count_row();
                meet(&key, &value, merchants, job);
            }
            Step::Gap(gap) => job.gap(None, Family::Vault, gap, None),
        }
    }
}

fn meet(key: &[u8], value: &[u8], merchants: &Merchants, job: &mut Job<'_>) {
    let Some(decoded) = VaultKey::decode(key) else {
        let reason = "no row of the vault has such a key".to_owned();
        return job.row_fault(None, Family::Vault, key, Wrong::BadKey { reason });
    };
    let owner = merchant_of(decoded);
    if owner.is_some_and(|merchant_id| !merchants.contains_key(&merchant_id)) {
        job.row_fault(owner, Family::Vault, key, Wrong::NoMerchant);
    } else if let Err(error) = open(decoded, value, job) {
        job.row_fault(owner, Family::Vault, key, Wrong::Sealed(error));
    }
}

const fn merchant_of(key: VaultKey) -> Option<MerchantId> {
    match key {
        VaultKey::Keyring => None,
        VaultKey::CardNumber { merchant, of: _ }
        | VaultKey::SubjectKey { merchant, subject: _ }
        | VaultKey::ApiKeySecret { merchant, key: _ } => Some(merchant),
    }
}

fn open(key: VaultKey, value: &[u8], job: &Job<'_>) -> Result<(), SealedError> {
    match key {
        // Whoever asked for the verification has opened it.
        VaultKey::Keyring => Ok(()),
        VaultKey::CardNumber { merchant, of } => job.keyring.open_card_number(merchant, of, value).map(drop),
        VaultKey::SubjectKey { merchant, subject } => job.keyring.open_subject_key(merchant, subject, value).map(drop),
        VaultKey::ApiKeySecret { merchant, key } => job.keyring.open_api_key_secret(merchant, key, value).map(drop),
    }
}

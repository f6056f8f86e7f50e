//! Checks the vault. Every row must open under the key ring and belong to a merchant. Every card number must be that of
//! a token, or of a card that is not forgotten; every customer's key must be that of a customer who exists, and
//! credentials those of a member. Opened data is not kept.

use till_domain::ids::{CardId, CustomerId, MerchantId};
use till_domain::records::{AnyKey, Cards, Rows};
use till_storage::family::Family;
use till_storage::shapes::row_key;
use till_storage::vault::{CardNumberOf, SealedError, SubjectId, SubjectKind, VaultKey};

use super::book::Captures;
use super::fault::{FaultLocation, Wrong};
use super::job::Job;
use super::personal::ReplayPersonal;
use super::row_name::RowName;
use super::strays::Merchants;
use super::walk::{RowWalk, WalkStep, prefix_range};

/// Checks every row. `complete` has the merchants whose rows are complete: the tokens and cards of other merchants are
/// unknown.
pub(super) fn check(merchants: &Merchants, complete: &Captures, job: &mut Job<'_>) {
    for step in RowWalk::new(job.rows, Family::Vault, prefix_range(&[])) {
        match step {
            WalkStep::Row(key, value) => {
                job.count_row();
                check_row(&key, &value, merchants, complete, job);
            }
            WalkStep::Gap(gap) => job.gap(None, Family::Vault, gap, None),
        }
    }
}

fn check_row(key: &[u8], value: &[u8], merchants: &Merchants, complete: &Captures, job: &mut Job<'_>) {
    let Some(decoded) = VaultKey::decode(key) else {
        let reason = "no row of the vault has such a key".to_owned();
        return job.row_fault(None, Family::Vault, key, Wrong::BadKey { reason });
    };
    let owner = merchant_of(decoded);
    if owner.is_some_and(|merchant_id| !merchants.contains_key(&merchant_id)) {
        job.row_fault(owner, Family::Vault, key, Wrong::NoMerchant);
    } else if let Err(error) = open(decoded, value, job) {
        job.row_fault(owner, Family::Vault, key, Wrong::Sealed(error));
    } else if let VaultKey::CardNumber { merchant, of } = decoded
        && complete.contains_key(&merchant)
        && is_left_over(merchant, of, job)
    {
        job.row_fault(owner, Family::Vault, key, Wrong::NumberLeft);
    } else if let VaultKey::SubjectKey { merchant, subject: SubjectId { kind: SubjectKind::Customer, id } } = decoded
        && complete.contains_key(&merchant)
        && is_gone(merchant, &AnyKey::Customers(CustomerId::from_bytes(id)), job)
    {
        job.row_fault(owner, Family::Vault, key, Wrong::KeyLeft);
    } else if let VaultKey::Credentials { merchant, user } = decoded
        && complete.contains_key(&merchant)
        && is_gone(merchant, &AnyKey::Users(user), job)
    {
        job.row_fault(owner, Family::Vault, key, Wrong::KeyLeft);
    }
}

/// True when the token or card of a number does not exist, or the card is forgotten.
fn is_left_over(merchant: MerchantId, of: CardNumberOf, job: &Job<'_>) -> bool {
    match of {
        CardNumberOf::Token(id) => is_gone(merchant, &AnyKey::Tokens(id), job),
        CardNumberOf::Card(id) => is_gone(merchant, &AnyKey::Cards(id), job) || is_forgotten(merchant, id, job),
    }
}

/// True when a row does not exist. A row that should exist is a fault of its own, which is reported elsewhere.
fn is_gone(merchant: MerchantId, key: &AnyKey, job: &Job<'_>) -> bool {
    let (family, key) = row_key(merchant, key, &ReplayPersonal::new(merchant, job.keyring, job.rows));
    let is_gone = job.rows.get(family, &key).is_ok_and(|row| row.is_none());
    is_gone && !job.faults.knows(Some(merchant), &FaultLocation::Row(RowName::of(family, &key)))
}

/// True when a saved card is forgotten. A card that cannot be read is a fault of its own, which is
/// reported elsewhere.
fn is_forgotten(merchant: MerchantId, id: CardId, job: &Job<'_>) -> bool {
    let card = ReplayPersonal::new(merchant, job.keyring, job.rows).get::<Cards>(id);
    card.is_ok_and(|card| card.is_some_and(|card| card.deleted_at.is_some()))
}

const fn merchant_of(key: VaultKey) -> Option<MerchantId> {
    match key {
        VaultKey::Keyring => None,
        VaultKey::CardNumber { merchant, of: _ }
        | VaultKey::SubjectKey { merchant, subject: _ }
        | VaultKey::ApiKeySecret { merchant, key: _ }
        | VaultKey::WebhookSecret { merchant, of: _ }
        | VaultKey::AccountSecret { merchant, of: _ }
        | VaultKey::Credentials { merchant, user: _ } => Some(merchant),
    }
}

fn open(key: VaultKey, value: &[u8], job: &Job<'_>) -> Result<(), SealedError> {
    match key {
        // It was opened before the verification began.
        VaultKey::Keyring => Ok(()),
        VaultKey::CardNumber { merchant, of } => job.keyring.open_card_number(merchant, of, value).map(drop),
        VaultKey::SubjectKey { merchant, subject } => job.keyring.open_subject_key(merchant, subject, value).map(drop),
        VaultKey::WebhookSecret { merchant, of } => job.keyring.open_webhook_secret(merchant, of, value).map(drop),
        VaultKey::ApiKeySecret { .. } | VaultKey::AccountSecret { .. } => {
            job.keyring.open_secret_text(key, value).map(drop)
        }
        VaultKey::Credentials { merchant, user } => job.keyring.open_credentials(merchant, user, value).map(drop),
    }
}

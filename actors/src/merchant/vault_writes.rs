//! The vault's share of a batch: card numbers under their token or card, the text of a new key; and what is
//! forgotten.

use till_domain::event::VaultWrite;
use till_domain::ids::{CardId, MerchantId, TokenId};
use till_storage::family::Family;
use till_storage::journal::RowWrite;
use till_storage::vault::{CardNumberOf, Keyring, SubjectId, VaultKey};

use super::submission::Secret;
use crate::store::Store;

/// The rows of `writes`, sealed.
///
/// # Errors
/// In words for an operator: a secret that should have come with the command, a row of the vault that does
/// not open, no randomness.
pub(super) fn encode(
    merchant: MerchantId,
    writes: &[VaultWrite],
    secret: Option<&Secret>,
    keyring: &Keyring,
    store: &dyn Store,
) -> Result<Vec<RowWrite>, String> {
    let rows = writes.iter().map(|write| encode_one(merchant, *write, secret, keyring, store).transpose());
    rows.flatten().collect()
}

fn encode_one(
    merchant: MerchantId,
    write: VaultWrite,
    secret: Option<&Secret>,
    keyring: &Keyring,
    store: &dyn Store,
) -> Result<Option<RowWrite>, String> {
    match (write, secret) {
        (VaultWrite::KeepTokenNumber(token_id), Some(Secret::CardNumber(number))) => {
            let of = CardNumberOf::Token(token_id);
            let sealed = keyring.seal_card_number(merchant, of, number).map_err(|error| error.to_string())?;
            Ok(Some(row(VaultKey::CardNumber { merchant, of }, sealed)))
        }
        (VaultWrite::KeepKeyText(key), Some(Secret::KeyText(text))) => {
            let sealed = keyring.seal_api_key_secret(merchant, key, text).map_err(|error| error.to_string())?;
            Ok(Some(row(VaultKey::ApiKeySecret { merchant, key }, sealed)))
        }
        (VaultWrite::CopyTokenNumber(token_id, card_id), _) => copy(merchant, token_id, card_id, keyring, store),
        (VaultWrite::ForgetTokenNumber(token_id), _) => {
            Ok(Some(removal(VaultKey::CardNumber { merchant, of: CardNumberOf::Token(token_id) })))
        }
        (VaultWrite::ForgetSessionKey(session_id), _) => {
            Ok(Some(removal(VaultKey::SubjectKey { merchant, subject: SubjectId::session(session_id) })))
        }
        (VaultWrite::ForgetKeyText(key), _) => Ok(Some(removal(VaultKey::ApiKeySecret { merchant, key }))),
        (VaultWrite::KeepTokenNumber(_) | VaultWrite::KeepKeyText(_), Some(_) | None) => {
            Err("the secret of the command did not come with it".to_owned())
        }
    }
}

/// The number of a token under its saved card. None when the vault has forgotten it meanwhile: nothing that
/// goes wrong in saving a card may stand in the way of its payment, and a card without a number is declined
/// when it is next used.
fn copy(
    merchant: MerchantId,
    token_id: TokenId,
    card_id: CardId,
    keyring: &Keyring,
    store: &dyn Store,
) -> Result<Option<RowWrite>, String> {
    let from = CardNumberOf::Token(token_id);
    let key = VaultKey::CardNumber { merchant, of: from };
    let stored = store.get(Family::Vault, &key.encode()).map_err(|error| error.to_string())?;
    let Some(sealed) = stored else {
        tracing::warn!(%merchant, card_id = %card_id, "a card is saved without its number, which the vault has forgotten");
        return Ok(None);
    };
    let number = keyring.open_card_number(merchant, from, &sealed).map_err(|error| error.to_string())?;
    let of = CardNumberOf::Card(card_id);
    let resealed = keyring.seal_card_number(merchant, of, &number).map_err(|error| error.to_string())?;
    Ok(Some(row(VaultKey::CardNumber { merchant, of }, resealed)))
}

/// Whose keys `writes` forget: what was opened with them must not be remembered either.
pub(super) fn forgotten_subjects(writes: &[VaultWrite]) -> impl Iterator<Item = SubjectId> {
    writes.iter().filter_map(|write| match write {
        VaultWrite::ForgetSessionKey(session_id) => Some(SubjectId::session(*session_id)),
        VaultWrite::KeepTokenNumber(_)
        | VaultWrite::CopyTokenNumber(_, _)
        | VaultWrite::KeepKeyText(_)
        | VaultWrite::ForgetTokenNumber(_)
        | VaultWrite::ForgetKeyText(_) => None,
    })
}

fn removal(key: VaultKey) -> RowWrite {
    RowWrite { family: Family::Vault, key: key.encode().to_vec(), value: None }
}

fn row(key: VaultKey, value: Vec<u8>) -> RowWrite {
    RowWrite { family: Family::Vault, key: key.encode().to_vec(), value: Some(value) }
}

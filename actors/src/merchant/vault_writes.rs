//! The rows of the vault in a batch: card numbers under their token or card, the text of a new key; and deletions.

use till_domain::event::VaultWrite;
use till_domain::ids::{CardId, MerchantId, TokenId};
use till_storage::family::Family;
use till_storage::rows::{RowReader, RowWrite, RowWrites};
use till_storage::vault::{AccountSecretOf, CardNumberOf, Keyring, SubjectId, VaultKey, WebhookSecretOf};

use super::submission::Secret;

/// Adds the rows of `writes`, sealed, to `rows`.
///
/// # Errors
/// A message for an operator: a secret of the command is missing, or there is no randomness.
pub(super) fn push(
    merchant: MerchantId,
    writes: &[VaultWrite],
    secret: Option<&Secret>,
    keyring: &Keyring,
    stored: &dyn RowReader,
    rows: &mut RowWrites,
) -> Result<(), String> {
    for write in writes {
        let Some((key, sealed)) = seal(merchant, *write, secret, keyring, stored)? else { continue };
        rows.push(RowWrite { family: Family::Vault, key: &key.encode(), value: sealed.as_deref() });
    }
    Ok(())
}

/// A row of the vault: its key, and its sealed value unless it is to be deleted.
type Sealed = (VaultKey, Option<Vec<u8>>);

fn seal(
    merchant: MerchantId,
    write: VaultWrite,
    secret: Option<&Secret>,
    keyring: &Keyring,
    stored: &dyn RowReader,
) -> Result<Option<Sealed>, String> {
    match (write, secret) {
        (VaultWrite::KeepTokenNumber(token_id), Some(Secret::CardNumber(number))) => {
            let of = CardNumberOf::Token(token_id);
            let sealed = keyring.seal_card_number(merchant, of, number).map_err(|error| error.to_string())?;
            Ok(Some((VaultKey::CardNumber { merchant, of }, Some(sealed))))
        }
        (VaultWrite::KeepKeyText(key), Some(Secret::KeyText(text))) => {
            let key = VaultKey::ApiKeySecret { merchant, key };
            let sealed = keyring.seal_secret_text(key, text).map_err(|error| error.to_string())?;
            Ok(Some((key, Some(sealed))))
        }
        (VaultWrite::KeepWebhookSecret(webhook_id, slot), Some(Secret::WebhookSecret(secret))) => {
            let of = WebhookSecretOf { webhook_id, slot };
            let sealed = keyring.seal_webhook_secret(merchant, of, secret).map_err(|error| error.to_string())?;
            Ok(Some((VaultKey::WebhookSecret { merchant, of }, Some(sealed))))
        }
        (VaultWrite::KeepAccountSecret(acquirer_id, kind), Some(Secret::OfAccount(secrets))) => {
            let key = VaultKey::AccountSecret { merchant, of: AccountSecretOf { acquirer_id, secret: kind } };
            let text = secrets.of(kind).ok_or_else(|| "a secret of the account is missing".to_owned())?;
            let sealed = keyring.seal_secret_text(key, text).map_err(|error| error.to_string())?;
            Ok(Some((key, Some(sealed))))
        }
        (VaultWrite::KeepCredentials(user), Some(Secret::Credentials(credentials))) => {
            let sealed = keyring.seal_credentials(merchant, user, credentials).map_err(|error| error.to_string())?;
            Ok(Some((VaultKey::Credentials { merchant, user }, Some(sealed))))
        }
        (VaultWrite::ForgetCredentials(user), _) => Ok(Some((VaultKey::Credentials { merchant, user }, None))),
        (VaultWrite::ForgetAccountSecret(acquirer_id, secret), _) => {
            Ok(Some((VaultKey::AccountSecret { merchant, of: AccountSecretOf { acquirer_id, secret } }, None)))
        }
        (VaultWrite::ForgetWebhookSecret(webhook_id, slot), _) => {
            Ok(Some((VaultKey::WebhookSecret { merchant, of: WebhookSecretOf { webhook_id, slot } }, None)))
        }
        (VaultWrite::CopyTokenNumber(token_id, card_id), _) => Ok(copy(merchant, token_id, card_id, keyring, stored)),
        (VaultWrite::ForgetTokenNumber(token_id), _) => {
            Ok(Some((VaultKey::CardNumber { merchant, of: CardNumberOf::Token(token_id) }, None)))
        }
        (VaultWrite::ForgetSessionKey(session_id), _) => {
            Ok(Some((VaultKey::SubjectKey { merchant, subject: SubjectId::session(session_id) }, None)))
        }
        (VaultWrite::ForgetCheckoutKey(checkout_id), _) => {
            Ok(Some((VaultKey::SubjectKey { merchant, subject: SubjectId::checkout(checkout_id) }, None)))
        }
        (VaultWrite::ForgetPageKey(payment_id), _) => {
            Ok(Some((VaultKey::SubjectKey { merchant, subject: SubjectId::acquirer_page(payment_id) }, None)))
        }
        (VaultWrite::ForgetTokenKey(token_id), _) => {
            Ok(Some((VaultKey::SubjectKey { merchant, subject: SubjectId::token(token_id) }, None)))
        }
        (VaultWrite::ForgetCardNumber(card_id), _) => {
            Ok(Some((VaultKey::CardNumber { merchant, of: CardNumberOf::Card(card_id) }, None)))
        }
        (VaultWrite::ForgetCustomerKey(customer_id), _) => {
            Ok(Some((VaultKey::SubjectKey { merchant, subject: SubjectId::customer(customer_id) }, None)))
        }
        (VaultWrite::ForgetKeyText(key), _) => Ok(Some((VaultKey::ApiKeySecret { merchant, key }, None))),
        (
            VaultWrite::KeepTokenNumber(_)
            | VaultWrite::KeepKeyText(_)
            | VaultWrite::KeepWebhookSecret(_, _)
            | VaultWrite::KeepAccountSecret(_, _)
            | VaultWrite::KeepCredentials(_),
            Some(_) | None,
        ) => Err("the secret of the command is missing".to_owned()),
    }
}

/// The number of a token under its saved card. None when it cannot be read: a failure to save a card must not fail its
/// payment, and a card without a number is declined when it is next used.
fn copy(
    merchant: MerchantId,
    token_id: TokenId,
    card_id: CardId,
    keyring: &Keyring,
    stored: &dyn RowReader,
) -> Option<Sealed> {
    let from = CardNumberOf::Token(token_id);
    let copied = resealed(merchant, from, CardNumberOf::Card(card_id), keyring, stored);
    copied.inspect_err(|reason| tracing::warn!(%merchant, %card_id, %reason, "a card is saved without its number")).ok()
}

/// The number under one key of the vault, sealed for another.
fn resealed(
    merchant: MerchantId,
    from: CardNumberOf,
    of: CardNumberOf,
    keyring: &Keyring,
    stored: &dyn RowReader,
) -> Result<Sealed, String> {
    let key = VaultKey::CardNumber { merchant, of: from };
    let stored = stored.get(Family::Vault, &key.encode()).map_err(|error| error.to_string())?;
    let sealed = stored.ok_or_else(|| "the vault has no number".to_owned())?;
    let number = keyring.open_card_number(merchant, from, &sealed).map_err(|error| error.to_string())?;
    let resealed = keyring.seal_card_number(merchant, of, &number).map_err(|error| error.to_string())?;
    Ok((VaultKey::CardNumber { merchant, of }, Some(resealed)))
}

/// The persons whose keys `writes` delete: data that was opened with them must not stay in memory either.
pub(super) fn forgotten_subjects(writes: &[VaultWrite]) -> impl Iterator<Item = SubjectId> {
    writes.iter().filter_map(|write| match write {
        VaultWrite::ForgetSessionKey(session_id) => Some(SubjectId::session(*session_id)),
        VaultWrite::ForgetCheckoutKey(checkout_id) => Some(SubjectId::checkout(*checkout_id)),
        VaultWrite::ForgetPageKey(payment_id) => Some(SubjectId::acquirer_page(*payment_id)),
        VaultWrite::ForgetTokenKey(token_id) => Some(SubjectId::token(*token_id)),
        VaultWrite::ForgetCustomerKey(customer_id) => Some(SubjectId::customer(*customer_id)),
        VaultWrite::KeepTokenNumber(_)
        | VaultWrite::CopyTokenNumber(_, _)
        | VaultWrite::KeepKeyText(_)
        | VaultWrite::KeepWebhookSecret(_, _)
        | VaultWrite::ForgetWebhookSecret(_, _)
        | VaultWrite::KeepAccountSecret(_, _)
        | VaultWrite::ForgetAccountSecret(_, _)
        | VaultWrite::KeepCredentials(_)
        | VaultWrite::ForgetCredentials(_)
        | VaultWrite::ForgetTokenNumber(_)
        | VaultWrite::ForgetCardNumber(_)
        | VaultWrite::ForgetKeyText(_) => None,
    })
}

//! The address of a checkout. It ends in the id, a full stop and a secret: whoever has it may pay, and the id alone
//! opens nothing. Contract, section 9.6.

use std::str::FromStr;

use subtle::ConstantTimeEq;
use till_domain::address_secret::AddressSecret;
#[cfg(feature = "pages")]
use till_domain::ids::SessionId;
use till_domain::ids::{CheckoutId, Id, MerchantId};
use till_storage::vault::AddressKind;

use crate::service::submission::Service;

/// The last segment of an address of a checkout, as a caller sends it.
#[derive(Debug, Clone, Copy)]
pub struct CheckoutReference {
    /// The id that it begins with.
    pub id: CheckoutId,
    /// The secret that it ends in; none where the caller has the id alone.
    secret: Option<AddressSecret>,
}

impl FromStr for CheckoutReference {
    type Err = ();

    fn from_str(text: &str) -> Result<CheckoutReference, ()> {
        let (id, secret) = parse_with_secret(text).ok_or(())?;
        Ok(CheckoutReference { id, secret })
    }
}

/// An id, alone or with a full stop and a secret behind it.
pub(crate) fn parse_with_secret<I: FromStr>(text: &str) -> Option<(I, Option<AddressSecret>)> {
    let Some((id, secret)) = text.split_once('.') else { return Some((text.parse().ok()?, None)) };
    Some((id.parse().ok()?, Some(secret.parse().ok()?)))
}

impl Service {
    /// The path of the page of a checkout.
    #[must_use]
    pub fn checkout_path(&self, merchant_id: MerchantId, checkout_id: CheckoutId) -> String {
        let secret = self.keyring().address_secret(merchant_id, AddressKind::Checkout, checkout_id.to_raw());
        format!("/pay/{merchant_id}/{checkout_id}.{secret}")
    }

    /// The id of the checkout that a reference opens; none when it lacks the checkout's secret. It takes the same time
    /// whether or not there is such a checkout, since nothing is looked up.
    #[must_use]
    pub fn opened_checkout(&self, merchant_id: MerchantId, reference: CheckoutReference) -> Option<CheckoutId> {
        let secret = self.keyring().address_secret(merchant_id, AddressKind::Checkout, reference.id.to_raw());
        is_same(secret, reference.secret?).then_some(reference.id)
    }

    /// True when a secret is that of the way back of this session's customer.
    #[cfg(feature = "pages")]
    pub(crate) fn is_way_back(&self, merchant_id: MerchantId, session_id: SessionId, given: AddressSecret) -> bool {
        is_same(self.keyring().address_secret(merchant_id, AddressKind::Return, session_id.to_raw()), given)
    }
}

fn is_same(secret: AddressSecret, given: AddressSecret) -> bool {
    secret.to_bytes().ct_eq(&given.to_bytes()).into()
}

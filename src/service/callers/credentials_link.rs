//! The addresses at which somebody joins a team, and at which a member sets its credentials anew. Their last segment is
//! a `crt_...`: the time and the counter of an id, with a secret in place of its randomness, so that the id opens
//! nothing, and the segment is stored nowhere. Contract, section 13.

#[cfg(feature = "pages")]
use subtle::ConstantTimeEq;
use till_domain::ids::{CredentialsId, InvitationId, MerchantId, RawId};
use till_storage::vault::AddressKind;

use crate::service::submission::Service;

impl Service {
    /// The path at which the invited person joins.
    #[must_use]
    pub(crate) fn invitation_path(&self, merchant_id: MerchantId, id: InvitationId) -> String {
        let link = self.credentials_link(merchant_id, AddressKind::Invitation, id.raw());
        format!("/dashboard/{merchant_id}/invitation/{link}")
    }

    /// The path at which a member sets its credentials anew.
    #[must_use]
    pub(crate) fn reset_path(&self, merchant_id: MerchantId, id: CredentialsId) -> String {
        let link = self.credentials_link(merchant_id, AddressKind::Reset, id.raw());
        format!("/dashboard/{merchant_id}/credentials/{link}")
    }

    /// True when a link is that of this invitation or reset.
    #[cfg(feature = "pages")]
    pub(crate) fn is_link_of(
        &self,
        merchant_id: MerchantId,
        kind: AddressKind,
        id: RawId,
        link: CredentialsId,
    ) -> bool {
        let own = self.credentials_link(merchant_id, kind, id);
        own.to_bytes().ct_eq(&link.to_bytes()).into()
    }

    fn credentials_link(&self, merchant_id: MerchantId, kind: AddressKind, id: RawId) -> CredentialsId {
        let secret = self.keyring().address_secret(merchant_id, kind, id).to_bytes();
        let secret = u64::from_be_bytes(*secret.first_chunk().expect("a secret has 16 bytes"));
        CredentialsId::from_raw(id.with_random(secret))
    }
}

//! Shape of a merchant's bounded state: the content of a snapshot.
//!
//! ```text
//! 0 format (1) = 1 | 1 MerchantStateV1, see `codec`
//! ```
//! A snapshot of an unknown format counts as absent: the log serves as well. It contains nothing about customers.

use std::collections::{BTreeMap, BTreeSet};

use till_domain::acquirer::AcquirerAccount;
use till_domain::ids::{AcquirerId, InstallationId, InvitationId, KeyId, UserId, WebhookId};
use till_domain::key::ApiKey;
use till_domain::merchant::{Installation, Integration, PaymentMethod};
use till_domain::records::{MerchantState, Unreadable};
use till_domain::team::{Invitation, User};

use super::acquirer::AcquirerAccountV1;
use super::activity::{InvitationV1, PlanChoiceV1, UserV1};
use super::codec::{Out, ShapeError, put};
use super::declared::IdPositionV1;
use super::frozen;
use super::ledger::BalanceTotalsV1;
use super::merchant::{ApiKeyV1, InstallationV1, IntegrationV1, ProfileV1, TestClockV1};
use super::personal::Personal;
use super::shape::{Shape, unshown_struct};
use super::statement::StatementPeriodV1;
use super::tag::Tag;

/// The format of a snapshot's content.
pub const STATE_FORMAT: u8 = 1;

const WHAT: &str = "state of a merchant";

unshown_struct! {
    /// The state that a merchant's actor keeps in memory. Maps are lists in the order of their keys.
    MerchantStateV1 of MerchantState {
        profile: Option<ProfileV1>,
        keys: Vec<ApiKeyV1>,
        installations: Vec<InstallationV1>,
        integrations: Vec<(Tag, IntegrationV1)>,
        balance: Option<BalanceTotalsV1>,
        statement_period: Option<StatementPeriodV1>,
        open_checkouts: u64,
        reserved_minor: u64,
        users: Vec<UserV1>,
        invitations: Vec<InvitationV1>,
        plan: Option<PlanChoiceV1>,
        webhook_events: u64,
        connected_webhooks: Vec<[u8; 16]>,
        test_clock: Option<TestClockV1>,
        acquirers: Vec<AcquirerAccountV1>,
        mode_of_payments: Option<Tag>,
        last_at: u64,
        last_id: IdPositionV1,
    }
}

/// A map is the list of its values, which know their keys, in the order of those.
macro_rules! maps {
    ($($key:ty, $value:ty;)+) => {$(
        impl<S: Shape<$value>> Shape<BTreeMap<$key, $value>> for Vec<S> {
            fn write(
                map: &BTreeMap<$key, $value>,
                personal: &mut dyn Personal,
                out: &mut Out,
            ) -> Result<(), Unreadable> {
                put(&map.len(), out)?;
                map.values().try_for_each(|value| S::write(value, personal, out))
            }

            fn unpack(self, personal: &dyn Personal) -> Result<BTreeMap<$key, $value>, ShapeError> {
                let values = self.into_iter().map(|shape| shape.unpack(personal));
                values.map(|value| value.map(|value| (value.id, value))).collect()
            }
        }

        #[cfg(test)]
        impl<S: super::drawn::Drawn<$value>> super::drawn::Drawn<BTreeMap<$key, $value>> for Vec<S> {
            fn draw(draw: &mut super::drawn::Draw) -> BTreeMap<$key, $value> {
                let values: Vec<$value> = Self::draw(draw);
                values.into_iter().map(|value| (value.id, value)).collect()
            }
        }
    )+};
}

maps! {
    KeyId, ApiKey;
    InstallationId, Installation;
    UserId, User;
    InvitationId, Invitation;
    AcquirerId, AcquirerAccount;
}

impl<R: Shape<PaymentMethod>, S: Shape<Integration>> Shape<BTreeMap<PaymentMethod, Integration>> for Vec<(R, S)> {
    fn write(
        map: &BTreeMap<PaymentMethod, Integration>,
        personal: &mut dyn Personal,
        out: &mut Out,
    ) -> Result<(), Unreadable> {
        let entries: Vec<(PaymentMethod, Integration)> =
            map.iter().map(|(method, integration)| (*method, *integration)).collect();
        Vec::<(R, S)>::write(&entries, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<BTreeMap<PaymentMethod, Integration>, ShapeError> {
        let entries: Vec<(PaymentMethod, Integration)> = self.unpack(personal)?;
        Ok(entries.into_iter().collect())
    }
}

impl Shape<BTreeSet<WebhookId>> for Vec<[u8; 16]> {
    fn write(set: &BTreeSet<WebhookId>, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        Vec::<[u8; 16]>::write(&set.iter().copied().collect::<Vec<WebhookId>>(), personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<BTreeSet<WebhookId>, ShapeError> {
        let ids: Vec<WebhookId> = self.unpack(personal)?;
        Ok(ids.into_iter().collect())
    }
}

/// The content of a snapshot.
///
/// # Errors
/// [`Unreadable`] when the state is so large that it could not be read back, which its limits exclude.
pub fn encode_state(state: &MerchantState) -> Result<Vec<u8>, Unreadable> {
    frozen::encode::<MerchantStateV1, _>(WHAT, STATE_FORMAT, state)
}

/// The state with this content.
///
/// # Errors
/// Any error means: take an older snapshot or the whole log.
pub fn decode_state(bytes: &[u8]) -> Result<MerchantState, ShapeError> {
    frozen::decode::<MerchantStateV1, _>(WHAT, STATE_FORMAT, bytes)
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use till_domain::key::KEYS_MAX;
    use till_domain::merchant::INSTALLATIONS_MAX;
    use till_domain::team::{INVITATIONS_OPEN_MAX, TEAM_MAX};
    use till_domain::text::{
        EMAIL_MAX_BYTES, EXTERNAL_ID_MAX_BYTES, Email, InstallationIdentifier, NAME_MAX_CHARACTERS, Name,
    };

    #[test]
    fn the_largest_state_that_the_rules_allow_reads_back() {
        let name = Name::new("\u{1F4B3}".repeat(NAME_MAX_CHARACTERS)).expect("within the limit");
        let identifier = InstallationIdentifier::new("x".repeat(EXTERNAL_ID_MAX_BYTES)).expect("within the limit");
        let mut state = samples::state();
        let email = Email::new(format!("@{}", "x".repeat(EMAIL_MAX_BYTES - 1))).expect("within the limit");
        let id = |index: usize| -> [u8; 16] {
            [index.to_be_bytes(), index.to_be_bytes()].concat().try_into().expect("twice eight bytes")
        };
        for id in (0..KEYS_MAX).map(id).map(KeyId::from_bytes) {
            state.keys.insert(id, ApiKey { id, name: name.clone(), ..samples::api_key() });
        }
        for id in (0..INSTALLATIONS_MAX).map(id).map(InstallationId::from_bytes) {
            let installation =
                Installation { id, name: name.clone(), identifier: identifier.clone(), ..samples::installation() };
            state.installations.insert(id, installation);
        }
        for id in (0..TEAM_MAX).map(id).map(UserId::from_bytes) {
            state.users.insert(id, User { id, email: email.clone(), ..samples::user() });
        }
        for id in (0..INVITATIONS_OPEN_MAX).map(id).map(InvitationId::from_bytes) {
            state.invitations.insert(id, Invitation { id, email: email.clone(), ..samples::invitation() });
        }
        let bytes = encode_state(&state).expect("fits the limit");
        assert!(bytes.len() > 5_000_000, "{} bytes", bytes.len());
        assert_eq!(decode_state(&bytes), Ok(state));
    }

    #[test]
    fn an_empty_state_reads_back() {
        let bytes = encode_state(&MerchantState::default()).expect("small");
        assert_eq!(decode_state(&bytes), Ok(MerchantState::default()));
    }
}

//! Shape of a merchant's bounded state: the content of a snapshot.
//!
//! ```text
//! 0 format (1) = 1 | 1 MerchantStateV1, see `codec`
//! 0 format (1) = 2 | 1 MerchantStateV2, of a merchant whose profile has a later shape
//! 0 format (1) = 3 | 1 MerchantStateV3, of a merchant whose totals have a later shape, too
//! 0 format (1) = 4 | 1 MerchantStateV4, of a merchant that has events for webhooks, or webhooks
//! 0 format (1) = 5 | 1 MerchantStateV5, of a merchant that has a test clock, or a period of statements
//! ```
//! A snapshot of an unknown format counts as absent: the log serves as well. It contains nothing about customers.

use std::collections::BTreeSet;

use till_domain::ids::{InstallationId, KeyId, WebhookId};
use till_domain::key::ApiKey;
use till_domain::ledger::BalanceTotals;
use till_domain::merchant::{Installation, Integration, PaymentMethod, Profile};
use till_domain::records::{MerchantState, Unreadable};
use till_domain::team::{Invitation, User};

use super::activity::{InvitationV1, PlanChoiceV1, UserV1};
use super::codec::{self, Decode, Out, ShapeError};
use super::ledger::{BalanceTotalsV1, BalanceTotalsV2};
use super::merchant::{ApiKeyV1, InstallationV1, IntegrationV1, PaymentMethodV1, ProfileV1, ProfileV2, TestClockV1};
use super::personal::{NoPersonal, Personal};
use super::shape::{IdPositionV1, Shape};
use super::statement::StatementPeriodV1;

/// The highest format of a snapshot's content.
pub const STATE_FORMAT: u8 = 5;

/// The format of a state whose profile and totals have the first shape.
const FIRST_STATE_FORMAT: u8 = 1;

/// The format of a state whose totals have the first shape.
const SECOND_STATE_FORMAT: u8 = 2;

/// The format of a state without webhooks.
const THIRD_STATE_FORMAT: u8 = 3;

/// The format of a state without a test clock and without statements.
const FOURTH_STATE_FORMAT: u8 = 4;

const WHAT: &str = "state of a merchant";

/// The state that a merchant's actor keeps in memory. Maps are lists in the order of their keys.
#[derive(Debug, Decode)]
struct MerchantStateOf<P, B> {
    profile: Option<P>,
    keys: Vec<ApiKeyV1>,
    installations: Vec<InstallationV1>,
    integrations: Vec<(PaymentMethodV1, IntegrationV1)>,
    balance: Option<B>,
    reserved_minor: u64,
    users: Vec<UserV1>,
    invitations: Vec<InvitationV1>,
    plan: Option<PlanChoiceV1>,
    last_at: u64,
    last_id: IdPositionV1,
}

type MerchantStateV1 = MerchantStateOf<ProfileV1, BalanceTotalsV1>;
type MerchantStateV2 = MerchantStateOf<ProfileV2, BalanceTotalsV1>;
type MerchantStateV3 = MerchantStateOf<ProfileV2, BalanceTotalsV2>;

impl<P: Shape<Profile>, B: Shape<BalanceTotals>> Shape<MerchantState> for MerchantStateOf<P, B> {
    fn write(state: &MerchantState, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        let MerchantState {
            profile,
            keys,
            installations,
            integrations,
            balance,
            statement_period: _,
            reserved_minor,
            users,
            invitations,
            plan,
            webhook_events: _,
            connected_webhooks: _,
            test_clock: _,
            last_at,
            last_id,
        } = state;
        let users: Vec<User> = users.values().cloned().collect();
        let invitations: Vec<Invitation> = invitations.values().cloned().collect();
        let keys: Vec<ApiKey> = keys.values().cloned().collect();
        let installations: Vec<Installation> = installations.values().cloned().collect();
        let integrations: Vec<(PaymentMethod, Integration)> =
            integrations.iter().map(|(method, integration)| (*method, *integration)).collect();
        Option::<P>::write(profile, personal, out)?;
        Vec::<ApiKeyV1>::write(&keys, personal, out)?;
        Vec::<InstallationV1>::write(&installations, personal, out)?;
        Vec::<(PaymentMethodV1, IntegrationV1)>::write(&integrations, personal, out)?;
        Option::<B>::write(balance, personal, out)?;
        u64::write(reserved_minor, personal, out)?;
        Vec::<UserV1>::write(&users, personal, out)?;
        Vec::<InvitationV1>::write(&invitations, personal, out)?;
        Option::<PlanChoiceV1>::write(plan, personal, out)?;
        u64::write(last_at, personal, out)?;
        IdPositionV1::write(last_id, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<MerchantState, ShapeError> {
        let keys: Vec<ApiKey> = self.keys.unpack(personal)?;
        let installations: Vec<Installation> = self.installations.unpack(personal)?;
        let integrations: Vec<(PaymentMethod, Integration)> = self.integrations.unpack(personal)?;
        let users: Vec<User> = self.users.unpack(personal)?;
        let invitations: Vec<Invitation> = self.invitations.unpack(personal)?;
        let by_key_id = |key: ApiKey| -> (KeyId, ApiKey) { (key.id, key) };
        let by_id = |installation: Installation| -> (InstallationId, Installation) { (installation.id, installation) };
        Ok(MerchantState {
            profile: self.profile.unpack(personal)?,
            keys: keys.into_iter().map(by_key_id).collect(),
            installations: installations.into_iter().map(by_id).collect(),
            integrations: integrations.into_iter().collect(),
            balance: self.balance.unpack(personal)?,
            statement_period: None,
            reserved_minor: self.reserved_minor,
            users: users.into_iter().map(|user| (user.id, user)).collect(),
            invitations: invitations.into_iter().map(|invitation| (invitation.id, invitation)).collect(),
            plan: self.plan.unpack(personal)?,
            webhook_events: 0,
            connected_webhooks: BTreeSet::new(),
            test_clock: None,
            last_at: self.last_at.unpack(personal)?,
            last_id: self.last_id.unpack(personal)?,
        })
    }
}

/// The same with the fields about webhooks.
#[derive(Debug, Decode)]
struct MerchantStateV4 {
    state: MerchantStateV3,
    webhook_events: u64,
    connected_webhooks: Vec<[u8; 16]>,
}

impl MerchantStateV4 {
    /// Returns true when a state has values that only this shape holds.
    fn is_needed_for(state: &MerchantState) -> bool {
        state.webhook_events > 0 || !state.connected_webhooks.is_empty()
    }
}

impl Shape<MerchantState> for MerchantStateV4 {
    fn write(state: &MerchantState, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        let connected: Vec<WebhookId> = state.connected_webhooks.iter().copied().collect();
        MerchantStateV3::write(state, personal, out)?;
        u64::write(&state.webhook_events, personal, out)?;
        Vec::<[u8; 16]>::write(&connected, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<MerchantState, ShapeError> {
        let connected: Vec<WebhookId> = self.connected_webhooks.unpack(personal)?;
        Ok(MerchantState {
            webhook_events: self.webhook_events,
            connected_webhooks: connected.into_iter().collect(),
            ..self.state.unpack(personal)?
        })
    }
}

/// The same with a test clock and the period of statements.
#[derive(Debug, Decode)]
struct MerchantStateV5 {
    state: MerchantStateV4,
    test_clock: Option<TestClockV1>,
    statement_period: Option<StatementPeriodV1>,
}

impl Shape<MerchantState> for MerchantStateV5 {
    fn write(state: &MerchantState, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        MerchantStateV4::write(state, personal, out)?;
        Option::<TestClockV1>::write(&state.test_clock, personal, out)?;
        Option::<StatementPeriodV1>::write(&state.statement_period, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<MerchantState, ShapeError> {
        let test_clock = self.test_clock.unpack(personal)?;
        let statement_period = self.statement_period.unpack(personal)?;
        Ok(MerchantState { test_clock, statement_period, ..self.state.unpack(personal)? })
    }
}

/// The content of a snapshot.
///
/// # Errors
/// [`Unreadable`] when the state is so large that it could not be read back, which its limits exclude.
pub fn encode_state(state: &MerchantState) -> Result<Vec<u8>, Unreadable> {
    if state.test_clock.is_some() || state.statement_period.is_some() {
        return encode_as::<MerchantStateV5>(state, STATE_FORMAT);
    }
    if MerchantStateV4::is_needed_for(state) {
        return encode_as::<MerchantStateV4>(state, FOURTH_STATE_FORMAT);
    }
    let has_first_totals = state.balance.as_ref().is_none_or(BalanceTotalsV1::holds);
    let has_first_profile = state.profile.as_ref().is_none_or(ProfileV1::holds);
    match (has_first_totals, has_first_profile) {
        (true, true) => encode_as::<MerchantStateV1>(state, FIRST_STATE_FORMAT),
        (true, false) => encode_as::<MerchantStateV2>(state, SECOND_STATE_FORMAT),
        (false, _) => encode_as::<MerchantStateV3>(state, THIRD_STATE_FORMAT),
    }
}

fn encode_as<S: Shape<MerchantState> + Decode<()>>(state: &MerchantState, format: u8) -> Result<Vec<u8>, Unreadable> {
    codec::encode::<S>(WHAT, format, |out| S::write(state, &mut NoPersonal, out))
}

/// The state with this content.
///
/// # Errors
/// Any error means: take an older snapshot or the whole log.
pub fn decode_state(bytes: &[u8]) -> Result<MerchantState, ShapeError> {
    match bytes.first() {
        Some(&STATE_FORMAT) => codec::decode::<MerchantStateV5>(WHAT, STATE_FORMAT, bytes)?.unpack(&NoPersonal),
        Some(&FOURTH_STATE_FORMAT) => {
            codec::decode::<MerchantStateV4>(WHAT, FOURTH_STATE_FORMAT, bytes)?.unpack(&NoPersonal)
        }
        Some(&THIRD_STATE_FORMAT) => {
            codec::decode::<MerchantStateV3>(WHAT, THIRD_STATE_FORMAT, bytes)?.unpack(&NoPersonal)
        }
        Some(&SECOND_STATE_FORMAT) => {
            codec::decode::<MerchantStateV2>(WHAT, SECOND_STATE_FORMAT, bytes)?.unpack(&NoPersonal)
        }
        _ => codec::decode::<MerchantStateV1>(WHAT, FIRST_STATE_FORMAT, bytes)?.unpack(&NoPersonal),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use till_domain::ids::{InvitationId, UserId};
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

//! The team of a merchant: its users and its invitations.

use crate::ids::{InvitationId, UserId};
use crate::money::AmountMinor;
use crate::role::Role;
use crate::text::Email;
use crate::time::Millis;

/// The maximum number of users of one merchant: they are part of its bounded state.
pub const TEAM_MAX: usize = 1_000;
/// The maximum number of invitations of one merchant that can be accepted: they are part of its bounded state.
pub const INVITATIONS_OPEN_MAX: usize = 1_000;
/// The time for which an invitation can be accepted: a week.
pub const INVITATION_LIFETIME_SECONDS: u64 = 7 * 86_400;

/// An invitation to the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// Its id.
    pub id: InvitationId,
    /// The address of the invited person.
    pub email: Email,
    /// The time of the invitation.
    pub created_at: Millis,
    /// It can be accepted until then.
    pub expires_at: Millis,
    /// Its acceptance, if it was accepted.
    pub accepted: Option<Acceptance>,
    /// The role that the invited person is to have.
    pub role: Role,
    /// The refund limit that comes with it.
    pub refund_limit: Option<AmountMinor>,
    /// The member who invited; none for a key or the operator.
    pub inviter_id: Option<UserId>,
}

impl Invitation {
    /// Returns true when it can be accepted at `now`.
    #[must_use]
    pub fn is_open(&self, now: Millis) -> bool {
        self.accepted.is_none() && now < self.expires_at
    }
}

/// The acceptance of an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acceptance {
    /// The user that it created.
    pub user_id: UserId,
    /// The time.
    pub at: Millis,
}

/// A user: a member of the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// Its address, which only one user has at a time.
    pub email: Email,
    /// The invitation that it accepted.
    pub invitation_id: InvitationId,
    /// The time at which it became a member.
    pub created_at: Millis,
    /// What it may do.
    pub role: Role,
    /// The largest amount that it may give back in one call, in minor units; only with the role SUPPORT.
    pub refund_limit: Option<AmountMinor>,
    /// The number of times that all of its sessions were ended: a session of an earlier number is over.
    pub sessions_ended: u32,
}

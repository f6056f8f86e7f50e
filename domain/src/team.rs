//! The team of a merchant: its users and its invitations.

use crate::ids::{InvitationId, UserId};
use crate::text::Email;
use crate::time::Millis;

/// The maximum number of users of one merchant: they are part of its bounded state.
pub const TEAM_MAX: usize = 1_000;
/// The maximum number of invitations of one merchant that can be accepted: they are part of its bounded state.
pub const INVITATIONS_OPEN_MAX: usize = 1_000;
/// The time for which an invitation can be accepted: a week.
pub const INVITATION_LIFETIME_SECONDS: u64 = 7 * 86_400;

/// An invitation to the team. Its id is a capability: everybody who knows it may accept the invitation.
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
}

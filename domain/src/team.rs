//! The team of a merchant: its users and those who are invited to become one.

use crate::ids::{InvitationId, UserId};
use crate::text::Email;
use crate::time::Millis;

/// Most users of one merchant: they are part of its bounded state.
pub const TEAM_MAX: usize = 1_000;
/// Most invitations of one merchant that can be accepted: they are part of its bounded state.
pub const INVITATIONS_OPEN_MAX: usize = 1_000;
/// How long an invitation can be accepted: a week.
pub const INVITATION_LIFETIME_SECONDS: u64 = 7 * 86_400;

/// An invitation to the team. Its id is a capability: whoever has it may accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// Its id.
    pub id: InvitationId,
    /// Who is invited.
    pub email: Email,
    /// When.
    pub created_at: Millis,
    /// Until when it can be accepted.
    pub expires_at: Millis,
    /// What became of it when it was accepted.
    pub accepted: Option<Acceptance>,
}

impl Invitation {
    /// Whether it can be accepted at `now`.
    #[must_use]
    pub fn is_open(&self, now: Millis) -> bool {
        self.accepted.is_none() && now < self.expires_at
    }
}

/// That an invitation was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acceptance {
    /// Who the invited became.
    pub user_id: UserId,
    /// When.
    pub at: Millis,
}

/// A user: a member of the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// Its address, of one user at a time.
    pub email: Email,
    /// By which invitation it came.
    pub invitation_id: InvitationId,
    /// Since when it is a member.
    pub created_at: Millis,
}

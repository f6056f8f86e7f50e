//! The team of a merchant: its users and its invitations.

use crate::ids::{CredentialsId, InvitationId, UserId};
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
/// The time for which a member's credentials can be set anew: a day.
pub const RESET_LIFETIME_SECONDS: u64 = 86_400;
/// The number of recovery codes of a member.
pub const RECOVERY_CODES: usize = 10;

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
    /// Its signing in.
    pub seat: Seat,
}

impl User {
    /// Folds a change of the seat in.
    pub fn change_seat(&mut self, change: SeatChange, at: Millis) {
        let seat = &mut self.seat;
        match change {
            SeatChange::ResetAllowed(reset) => seat.reset = Some(reset),
            SeatChange::CredentialsSet { part, step } => {
                seat.credentials_at = Some(at);
                seat.reset = seat.reset.map(|reset| CredentialsReset { expires_at: reset.expires_at.min(at), ..reset });
                seat.last_step = step.unwrap_or(seat.last_step);
                if matches!(part, CredentialsPart::All | CredentialsPart::RecoveryCodes) {
                    seat.recovery_used = 0;
                }
                self.end_sessions();
            }
            SeatChange::CodeUsed(code) => seat.use_up(code),
            SeatChange::SignedIn(code) => {
                seat.use_up(code);
                seat.last_signed_in_at = Some(at);
            }
            SeatChange::SessionsEnded => self.end_sessions(),
        }
    }

    /// Ends all sessions that have begun.
    pub fn end_sessions(&mut self) {
        self.sessions_ended = self.sessions_ended.saturating_add(1);
    }
}

/// The signing in of a member, as far as rules depend on it. The secrets are in the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seat {
    /// The time at which its credentials were last set or changed; none as long as it has none.
    pub credentials_at: Option<Millis>,
    /// The time step of the last code of the authenticator that was used. Codes of it and of steps before it are used
    /// up.
    pub last_step: u64,
    /// The recovery codes that are used up: a bit for each, by its number.
    pub recovery_used: u16,
    /// The time at which the member last signed in.
    pub last_signed_in_at: Option<Millis>,
    /// The permission to set the credentials anew.
    pub reset: Option<CredentialsReset>,
}

impl Seat {
    /// Returns true for a code that was not used.
    #[must_use]
    pub const fn is_unused(&self, code: SignInCode) -> bool {
        match code {
            SignInCode::Authenticator { step } => step > self.last_step,
            SignInCode::Recovery { number } => self.recovery_used & bit(number) == 0,
        }
    }

    /// Returns true when `id` may set the credentials at `now`.
    #[must_use]
    pub fn may_be_reset(&self, id: CredentialsId, now: Millis) -> bool {
        self.reset.is_some_and(|reset| reset.id == id && now < reset.expires_at)
    }

    const fn use_up(&mut self, code: SignInCode) {
        match code {
            SignInCode::Authenticator { step } => self.last_step = step,
            SignInCode::Recovery { number } => self.recovery_used |= bit(number),
        }
    }
}

const fn bit(number: u8) -> u16 {
    1_u16.wrapping_shl(number as u32)
}

/// A permission to set a member's credentials anew, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CredentialsReset {
    /// Its id.
    pub id: CredentialsId,
    /// It can be used until then.
    pub expires_at: Millis,
}

/// A code with which a member signs in or acts. Each opens once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInCode {
    /// That of the authenticator at a time step of 30 seconds.
    Authenticator {
        /// The number of the step.
        step: u64,
    },
    /// A recovery code.
    Recovery {
        /// Its number, below [`RECOVERY_CODES`].
        number: u8,
    },
}

word_enum! {
    /// The part of a member's credentials that was set.
    pub enum CredentialsPart {
        /// All of them.
        All,
        /// The password.
        Password,
        /// The authenticator's secret.
        Authenticator,
        /// The recovery codes.
        RecoveryCodes,
    }
}

/// A change of a member's seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeatChange {
    /// Its credentials may be set anew.
    ResetAllowed(CredentialsReset),
    /// Its credentials were set, or a part of them. This ends its sessions.
    CredentialsSet {
        /// The part.
        part: CredentialsPart,
        /// The time step of the code that a new authenticator was confirmed with.
        step: Option<u64>,
    },
    /// It entered a code in order to act.
    CodeUsed(SignInCode),
    /// It signed in with a code.
    SignedIn(SignInCode),
    /// All of its sessions were ended.
    SessionsEnded,
}

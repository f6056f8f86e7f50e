//! Roles of the members of a team and of API keys, and what each role may do.

use crate::money::AmountMinor;

word_enum! {
    /// The role of a member of the team, or of an API key.
    pub enum Role: name {
        /// May do everything.
        Owner => "OWNER",
        /// Builds and runs the merchant's programs.
        Developer => "DEVELOPER",
        /// Answers customers.
        Support => "SUPPORT",
        /// Looks, for the accounts.
        Viewer => "VIEWER",
    }
}

word_enum! {
    /// What callers of a merchant do, as far as roles tell it apart. Every call of a merchant is one of these.
    pub enum Act {
        /// Look at payments, refunds, disputes, checkouts and the activity log.
        SeePayments,
        /// Look at customers and their cards: at names, e-mails and mobiles wherever they are answered, too.
        SeeCustomers,
        /// Look at balance, its history, top-ups, statements and payouts.
        SeeMoney,
        /// Capture or void a payment, or give evidence in a dispute.
        OperatePayments,
        /// Refund or reverse a payment, or concede a dispute.
        GiveBack,
        /// Make a payment of a session.
        InitiatePayments,
        /// Change metadata.
        ChangeMetadata,
        /// Look at metadata.
        SeeMetadata,
        /// Start or expire a checkout.
        RunCheckouts,
        /// Pay money of the balance out.
        SendPayouts,
        /// Add or change customers; save or forget their cards.
        ChangeCustomers,
        /// Remove a customer.
        RemoveCustomers,
        /// Look at webhooks, events and deliveries, and change, test or repeat them.
        RunWebhooks,
        /// Look at API keys, rename or revoke them.
        KeepKeys,
        /// Make an API key.
        GenerateKeys,
        /// Look at installations.
        SeeInstallations,
        /// Look at the team and its invitations.
        SeeTeam,
        /// Invite, accept an invitation for somebody, update, remove, or reset credentials.
        ChangeTeam,
        /// Look at the plan.
        SeePlan,
        /// Select a plan.
        SelectPlan,
    }
}

/// What a role is granted of an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// Nothing.
    No,
    /// All of it.
    Yes,
    /// All of it, but names, e-mails and mobiles of customers are null.
    Masked,
    /// Up to the refund limit each time, and nothing without one.
    UpToRefundLimit,
}

impl Act {
    /// The grants of the roles, in the order of [`Role::ALL`]. Source: the contract of the browser side, section 13.
    const fn grants(self) -> [Grant; Role::ALL.len()] {
        use Grant::{Masked, No, UpToRefundLimit, Yes};
        match self {
            Act::SeePayments | Act::SeeTeam => [Yes, Yes, Yes, Yes],
            Act::SeeCustomers => [Yes, Masked, Yes, Masked],
            Act::SeeMoney => [Yes, No, No, Yes],
            Act::OperatePayments | Act::ChangeCustomers => [Yes, No, Yes, No],
            Act::GiveBack => [Yes, No, UpToRefundLimit, No],
            Act::InitiatePayments
            | Act::ChangeMetadata
            | Act::SeeMetadata
            | Act::RunWebhooks
            | Act::KeepKeys
            | Act::SeeInstallations => [Yes, Yes, No, No],
            Act::RunCheckouts => [Yes, Yes, Yes, No],
            Act::SendPayouts | Act::RemoveCustomers | Act::GenerateKeys | Act::ChangeTeam | Act::SelectPlan => {
                [Yes, No, No, No]
            }
            Act::SeePlan => [Yes, Yes, No, Yes],
        }
    }

    /// What a role is granted.
    #[must_use]
    pub const fn grant(self, role: Role) -> Grant {
        self.grants()[role as usize]
    }

    /// Returns true when a caller with this role and refund limit may do it at all.
    #[must_use]
    pub const fn is_open_to(self, role: Role, refund_limit: Option<AmountMinor>) -> bool {
        match self.grant(role) {
            Grant::No => false,
            Grant::Yes | Grant::Masked => true,
            Grant::UpToRefundLimit => refund_limit.is_some(),
        }
    }

    /// The roles that may do it, some of them up to a limit.
    pub fn roles(self) -> impl Iterator<Item = Role> {
        Role::ALL.into_iter().filter(move |role| self.grant(*role) != Grant::No)
    }

    /// Returns true when a member who is signed in is asked for a code again.
    #[must_use]
    pub const fn asks_for_code(self) -> bool {
        matches!(self, Act::SendPayouts | Act::RemoveCustomers | Act::GenerateKeys | Act::ChangeTeam | Act::SelectPlan)
    }
}

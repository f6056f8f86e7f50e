//! Changes of a merchant's team and plan: people come and go, the plan is switched back and forth.

use std::collections::VecDeque;

use anyhow::bail;
use till_domain::command::{Caller, Command, TeamChange};
use till_domain::event::Answer;
use till_domain::ids::{InvitationId, PlanId, UserId};
use till_domain::plan::Plan;
use till_domain::team::INVITATION_LIFETIME_SECONDS;
use till_domain::text::Email;
use till_domain::time::Millis;

use super::shop::Shop;

/// Members at a time.
const MEMBERS: usize = 20;
/// Addresses of those who ever become members.
const PEOPLE: u64 = 200;
/// What one change after the other is: somebody is invited, accepts unless that was too long ago, and the plan is
/// switched; then, once there are enough, the longest member is removed.
const STEPS: u64 = 4;

/// A merchant's team while it is generated.
#[derive(Default)]
pub(super) struct Team {
    changes: u64,
    /// How often the plan was switched.
    switches: usize,
    /// Who waits to accept, and since when.
    invited: Option<(Millis, InvitationId)>,
    members: VecDeque<UserId>,
}

impl Team {
    /// Makes the next change. Its keys take turns with the operator.
    pub(super) fn change(&mut self, shop: &mut Shop<'_>, at: Millis) -> anyhow::Result<()> {
        let change = self.next_change(at)?;
        let command = Command::ChangeTeam(shop.merchant_id, change);
        let answer = shop.carry_out(at, self.caller(shop), command)?;
        self.changes += 1;
        match answer {
            Answer::Invitation(id) => self.invited = Some((at, id)),
            Answer::User(id) => self.members.push_back(id),
            Answer::Changed(true) => {}
            other => bail!("the team was to be changed, and {other:?} was answered"),
        }
        Ok(())
    }

    fn next_change(&mut self, at: Millis) -> anyhow::Result<TeamChange> {
        let round = self.changes / STEPS;
        match (self.changes % STEPS, self.invited.take()) {
            (0, _) => Ok(TeamChange::InviteUser(Email::new(format!("person-{}@shop.example", round % PEOPLE))?)),
            (1, Some((since, invited))) if at < since.plus_seconds(INVITATION_LIFETIME_SECONDS) => {
                Ok(TeamChange::AcceptInvitation(invited))
            }
            (3, _) if self.members.len() > MEMBERS => match self.members.pop_front() {
                Some(member) => Ok(TeamChange::RemoveUser(member)),
                None => bail!("nobody is left to be removed"),
            },
            _ => Ok(TeamChange::SelectPlan(self.next_plan())),
        }
    }

    /// Another plan each time; a merchant begins with the first one.
    fn next_plan(&mut self) -> PlanId {
        self.switches += 1;
        Plan::ALL[self.switches % Plan::ALL.len()].id
    }

    fn caller(&self, shop: &Shop<'_>) -> Caller {
        let callers = shop.keys.len() + 1;
        let turn = usize::try_from(self.changes / STEPS).unwrap_or(usize::MAX) % callers;
        shop.keys.get(turn).map_or(Caller::Operator, |key_id| Caller::ApiKey(*key_id))
    }
}

//! Changes of a merchant's team and plan: people come and go, the plan is switched back and forth.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::Range;

use anyhow::bail;
use futures_util::{StreamExt, TryStreamExt, stream};
use till_domain::command::{Caller, Command, InviteUser, TeamChange};
use till_domain::event::Answer;
use till_domain::ids::{InvitationId, PlanId, UserId};
use till_domain::plan::Plan;
use till_domain::role::Role;
use till_domain::team::INVITATION_LIFETIME_SECONDS;
use till_domain::text::Email;
use till_domain::time::Millis;

use super::shop::TradingMerchant;

/// The number of members that a team grows to.
const MEMBERS: usize = 20;
/// The number of addresses of members, past and present: more than the members and the people who are invited at once.
const PEOPLE: u64 = 200;
/// The most people who are invited at once.
const COMING_AT_ONCE: usize = 64;
/// The changes that go with one person: an invitation, its acceptance unless it came too long ago, a switch of the
/// plan, and once there are enough members, the removal of the longest one.
const STEPS: u64 = 4;
/// An invitation is accepted up to an hour before it ends.
const ACCEPTED_WITHIN_SECONDS: u64 = INVITATION_LIFETIME_SECONDS - 3_600;

/// An invitation that waits to be accepted, and since when.
type Invited = Option<(Millis, InvitationId)>;

/// A merchant's team while it is generated.
#[derive(Default)]
pub(super) struct Team {
    changes: Cell<u64>,
    /// The number of times that the plan was switched.
    switches: Cell<usize>,
    /// The invitation of the person in whose changes the last burst ended.
    invited: Cell<Invited>,
    members: RefCell<VecDeque<UserId>>,
}

impl Team {
    /// Makes the next changes. Their callers alternate between the keys and the operator.
    pub(super) async fn change(&self, shop: &TradingMerchant<'_>, count: u64) -> anyhow::Result<()> {
        let first = self.changes.get();
        let end = first + count;
        self.changes.set(end);
        let people = first / STEPS..end.div_ceil(STEPS);
        let changes = |person: u64| first.max(person * STEPS)..end.min((person + 1) * STEPS);
        let come = stream::iter(people).map(|person| self.come(shop, changes(person)));
        come.buffer_unordered(COMING_AT_ONCE).try_collect().await
    }

    /// Makes the changes of one person, one after the other.
    async fn come(&self, shop: &TradingMerchant<'_>, changes: Range<u64>) -> anyhow::Result<()> {
        let mut invited = if changes.start.is_multiple_of(STEPS) { None } else { self.invited.take() };
        let is_left_off = !changes.end.is_multiple_of(STEPS);
        for change in changes {
            let (since, caller) = (shop.now(), caller(shop, change));
            // The command is submitted as soon as it exists, so that each switch of the plan differs from the last.
            let command = Command::ChangeTeam(shop.merchant_id, self.draw_up(change, invited.take(), since)?);
            match shop.carry_out(caller, command).await? {
                Answer::Invitation(id) => invited = Some((since, id)),
                Answer::User(id) => self.members.borrow_mut().push_back(id),
                Answer::Changed(true) => {}
                other => bail!("a change of the team was expected, and the answer is {other:?}"),
            }
        }
        if is_left_off {
            self.invited.set(invited);
        }
        Ok(())
    }

    fn draw_up(&self, change: u64, invited: Invited, now: Millis) -> anyhow::Result<TeamChange> {
        let person = change / STEPS;
        match (change % STEPS, invited) {
            (0, _) => Ok(TeamChange::InviteUser(InviteUser {
                email: Email::new(format!("person-{}@shop.example", person % PEOPLE))?,
                role: Role::Viewer,
                refund_limit: None,
            })),
            (1, Some((since, invited))) if now < since.plus_seconds(ACCEPTED_WITHIN_SECONDS) => {
                Ok(TeamChange::AcceptInvitation(invited))
            }
            (3, _) => Ok(self.longest_of_enough().map_or_else(|| self.switch(), TeamChange::RemoveUser)),
            _ => Ok(self.switch()),
        }
    }

    fn longest_of_enough(&self) -> Option<UserId> {
        let mut members = self.members.borrow_mut();
        if members.len() > MEMBERS { members.pop_front() } else { None }
    }

    /// A switch to another plan than the current one; a merchant begins with the first plan.
    fn switch(&self) -> TeamChange {
        let switches = self.switches.get() + 1;
        self.switches.set(switches);
        let plan: PlanId = Plan::ALL[switches % Plan::ALL.len()].id;
        TeamChange::SelectPlan(plan)
    }
}

fn caller(shop: &TradingMerchant<'_>, change: u64) -> Caller {
    let callers = shop.keys.len() + 1;
    let turn = usize::try_from(change / STEPS).unwrap_or(usize::MAX) % callers;
    shop.keys.get(turn).map_or(Caller::Operator, |key_id| Caller::ApiKey(*key_id))
}

//! Activities, teams and plans drawn at random.

use till_domain::activity::{Activity, ActivityObject, ActivityType, Actor, PlanSwitch};
use till_domain::plan::{NamedPlan, PlanChoice};
use till_domain::records::{self, AnyKey, AnyRow, EmailUse, Present, Table};
use till_domain::team::{Acceptance, Invitation, User};
use till_domain::text::Name;

use super::arbitrary::Draw;

impl Draw {
    pub(super) fn activity(&mut self) -> Activity {
        let actor = self.actor();
        Activity {
            id: self.id(),
            at: self.millis(),
            activity_type: self.one_of(&ActivityType::ALL),
            actor,
            object: self.object(),
            parent: self.maybe(Draw::id),
            user_email: self.maybe(Draw::email),
            plan_switch: self.maybe(|draw| PlanSwitch { new: draw.plan(), previous: draw.plan() }),
        }
    }

    pub(super) fn actor(&mut self) -> Actor {
        match self.below(3) {
            0 => Actor::User { email: self.maybe(Draw::email) },
            1 => Actor::ApiKey(self.id()),
            _ => Actor::System,
        }
    }

    fn object(&mut self) -> ActivityObject {
        match self.below(5) {
            0 => ActivityObject::Payment(self.id()),
            1 => ActivityObject::Refund(self.id()),
            2 => ActivityObject::Dispute(self.id()),
            3 => ActivityObject::Payout(self.id()),
            _ => ActivityObject::Merchant(self.id()),
        }
    }

    fn plan(&mut self) -> NamedPlan {
        NamedPlan { id: self.id(), name: Name::from_stored(self.text()) }
    }

    pub(super) fn plan_choice(&mut self) -> PlanChoice {
        PlanChoice { plan: self.plan(), since: self.millis() }
    }

    pub(super) fn invitation(&mut self) -> Invitation {
        Invitation {
            id: self.id(),
            email: self.email(),
            created_at: self.millis(),
            expires_at: self.millis(),
            accepted: self.maybe(|draw| Acceptance { user_id: draw.id(), at: draw.millis() }),
        }
    }

    pub(super) fn user(&mut self) -> User {
        User { id: self.id(), email: self.email(), invitation_id: self.id(), created_at: self.millis() }
    }

    /// An index of the activity log.
    pub(super) fn activity_index(&mut self) -> (AnyKey, AnyRow) {
        match self.below(8) {
            0 => {
                let key = (self.one_of(&ActivityType::ALL), self.id());
                (AnyKey::ActivitiesByType(key), records::ActivitiesByType::wrap(Present))
            }
            1 => (AnyKey::ActivitiesByActorKey((self.id(), self.id())), records::ActivitiesByActorKey::wrap(Present)),
            2 => (
                AnyKey::ActivitiesByActorEmail((self.email(), self.id())),
                records::ActivitiesByActorEmail::wrap(Present),
            ),
            3 => (AnyKey::ActivitiesByEmail((self.email(), self.id())), records::ActivitiesByEmail::wrap(Present)),
            4 => (AnyKey::ActivitiesByObject((self.object(), self.id())), records::ActivitiesByObject::wrap(Present)),
            5 => (AnyKey::ActivitiesByParent((self.id(), self.id())), records::ActivitiesByParent::wrap(Present)),
            6 => (AnyKey::ActivitiesWithEmail(self.id()), records::ActivitiesWithEmail::wrap(Present)),
            _ => {
                let noted = EmailUse { has_belonged: self.flag() };
                (AnyKey::ActivityEmails(self.email()), records::ActivityEmails::wrap(noted))
            }
        }
    }
}

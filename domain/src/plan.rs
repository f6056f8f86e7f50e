//! Subscription plans of merchants: a small fixed catalogue.

use crate::ids::PlanId;
use crate::text::Name;
use crate::time::Millis;

/// A plan that can be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Its id, the same in every installation of Till.
    pub id: PlanId,
    /// The name that a person reads.
    pub name: &'static str,
    /// Its purpose, in a sentence.
    pub description: &'static str,
}

/// The id of a plan by its number in the catalogue. Ids of plans are on disk and in merchants' programs.
const fn plan_id(number: u128) -> PlanId {
    PlanId::from_bytes((0x0195_ee2c_f400_7000_8000_0000_0000_0000_u128 | number).to_be_bytes())
}

/// The plan of a merchant that has selected none.
pub const STARTER: Plan =
    Plan { id: plan_id(1), name: "Starter", description: "For merchants that take their first payments." };
/// The plan in the middle.
pub const GROWTH: Plan = Plan { id: plan_id(2), name: "Growth", description: "For merchants with a team." };
/// The largest plan.
pub const SCALE: Plan = Plan { id: plan_id(3), name: "Scale", description: "For merchants with several shops." };

impl Plan {
    /// Every plan, the smallest first.
    pub const ALL: [Plan; 3] = [STARTER, GROWTH, SCALE];

    /// The plan with this id.
    #[must_use]
    pub fn find(id: PlanId) -> Option<Plan> {
        Plan::ALL.into_iter().find(|plan| plan.id == id)
    }

    /// The plan as it is recorded.
    #[must_use]
    pub fn named_plan(self) -> NamedPlan {
        NamedPlan { id: self.id, name: Name::from_stored(self.name.to_owned()) }
    }
}

/// A plan under the name that it had when it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPlan {
    /// The id of the plan.
    pub id: PlanId,
    /// The name of the plan.
    pub name: Name,
}

/// A plan that a merchant selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanChoice {
    /// The plan.
    pub plan: NamedPlan,
    /// The instant of the choice.
    pub since: Millis,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ids_of_plans_stay_what_they_are() {
        let ids = Plan::ALL.map(|plan| plan.id.to_string());
        assert_eq!(
            ids,
            ["pln_01jqq2sx00e008000000000001", "pln_01jqq2sx00e008000000000002", "pln_01jqq2sx00e008000000000003"]
        );
        assert!(Plan::ALL.iter().all(|plan| Plan::find(plan.id) == Some(*plan) && Name::new(plan.name).is_ok()));
    }
}

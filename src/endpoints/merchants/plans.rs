//! `POST /merchants/list-plans`, `retrieve-current-plan`, `select-plan`

use till_domain::command::{Command, TeamChange};
use till_domain::ids::PlanId;
use till_domain::plan::{Plan, PlanChoice, STARTER};
use till_domain::records::{CurrentPlan, Profiles, Rows, Single};
use till_protocol::arguments::id;

use super::by_merchant::ByMerchant;
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::team::{CURRENT_PLAN, CurrentPlanShape, PLAN, PlanShape};

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::SeePlan, &LIST_PLANS, &list_plans),
    MerchantEndpoint(Act::SeePlan, &RETRIEVE_CURRENT_PLAN, &retrieve_current_plan),
    MerchantEndpoint(
        Act::SelectPlan,
        &SELECT_PLAN,
        &ByMerchant(PLAN_ARGUMENT, |merchant_id, plan_id| {
            Command::ChangeTeam(merchant_id, TeamChange::SelectPlan(plan_id))
        }),
    ),
];

static LIST_PLANS: Declaration = Declaration {
    name: "list-plans",
    summary: "Lists the subscription plans that can be selected, the smallest first.",
    docs: "All at once, each with `plan_id`, `name` and `description`.",
    returns: Returns::Array(&ValueType::Object(&PLAN)),
    ..Declaration::query(Package::Merchants, "plans")
};

static RETRIEVE_CURRENT_PLAN: Declaration = Declaration {
    name: "retrieve-current-plan",
    summary: "Returns the merchant's subscription plan.",
    docs: "A new merchant has the first plan.",
    returns: Returns::Object(&CURRENT_PLAN),
    ..Declaration::query(Package::Merchants, "plans")
};

const PLAN_ARGUMENT: Required<PlanId> = id::<PlanId>().required("The plan (`pln_...`).").with_name("plan_id");

static SELECT_PLAN: Declaration = Declaration {
    name: "select-plan",
    summary: "Switches to a subscription plan at once; `false` when the merchant has it already.",
    arguments: &[PLAN_ARGUMENT.argument],
    errors: &[DeclaredError::new(Code::NotFound, "No plan has this id.")],
    ..Declaration::command(Package::Merchants, "plans")
};

/// `POST /merchants/list-plans`
pub(super) async fn list_plans(_: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    Ok(Reply::new(&Plan::ALL.map(PlanShape::new)))
}

/// `POST /merchants/retrieve-current-plan`
async fn retrieve_current_plan(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    let reader = call.caller().reader(&service).await?;
    let choice = match reader.get::<CurrentPlan>(Single)? {
        Some(choice) => choice,
        None => {
            let profile = reader.get::<Profiles>(Single)?.ok_or_else(ApiError::unhandled)?;
            PlanChoice { plan: STARTER.named_plan(), since: profile.created_at }
        }
    };
    Ok(Reply::new(&CurrentPlanShape::new(&choice)))
}

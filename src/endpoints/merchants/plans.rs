//! `POST /merchants/list-plans`, `retrieve-current-plan`, `select-plan`

use till_domain::command::TeamChange;
use till_domain::ids::PlanId;
use till_domain::plan::{Plan, PlanChoice, STARTER};
use till_domain::records::{CurrentPlan, Profiles, Rows, Single};

use super::by_merchant;
use super::team::of_caller;
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::shapes::team::{CURRENT_PLAN, CurrentPlanShape, PLAN, PlanShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType};
use crate::protocol::dispatch::{Call, Reply};
use crate::service::Shared;

pub(super) static LIST_PLANS: Declaration = Declaration {
    name: "list-plans",
    package: Package::Merchants,
    group: "plans",
    summary: "Lists the subscription plans that can be selected, the smallest first.",
    docs: "All at once, each with `plan_id`, `name` and `description`.",
    arguments: &[],
    returns: Returns::Array(&ValueType::Object(&PLAN)),
    errors: &[],
    flags: Flags::QUERY,
};

pub(super) static RETRIEVE_CURRENT_PLAN: Declaration = Declaration {
    name: "retrieve-current-plan",
    package: Package::Merchants,
    group: "plans",
    summary: "Returns the merchant's subscription plan.",
    docs: "A new merchant has the first plan.",
    arguments: &[],
    returns: Returns::Object(&CURRENT_PLAN),
    errors: &[],
    flags: Flags::QUERY,
};

pub(super) static SELECT_PLAN: Declaration = Declaration {
    name: "select-plan",
    package: Package::Merchants,
    group: "plans",
    summary: "Switches to a subscription plan at once; `false` when the merchant has it already.",
    docs: "",
    arguments: &[Argument::required("plan_id", ValueType::Id(PlanId::PREFIX), "The plan (`pln_...`).")],
    returns: Returns::Boolean,
    errors: &[DeclaredError::when(Code::NotFound, "No plan has this id.")],
    flags: Flags::COMMAND,
};

/// `POST /merchants/list-plans`
pub(super) async fn list_plans(_: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    Ok(Reply::new(&Plan::ALL.map(PlanShape::new)))
}

/// `POST /merchants/retrieve-current-plan`
pub(super) async fn retrieve_current_plan(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let choice = match reader.get::<CurrentPlan>(Single)? {
        Some(choice) => choice,
        None => {
            let profile = reader.get::<Profiles>(Single)?.ok_or_else(ApiError::unhandled)?;
            PlanChoice { plan: STARTER.named(), since: profile.created_at }
        }
    };
    Ok(Reply::new(&CurrentPlanShape::new(&choice)))
}

/// `POST /merchants/select-plan`
pub(super) async fn select_plan(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let id = fields.required("plan_id", arguments::id("a plan id (pln_...)"));
    let change = fields.finish(|| Some(TeamChange::SelectPlan(id?)))?;
    by_merchant::submit(&service, &SELECT_PLAN, &call, of_caller(&call, change)).await
}

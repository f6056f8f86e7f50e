//! `POST /sdk/list-installment-plans`

use till_domain::merchant::PaymentMethod;
use till_domain::session::{InstallmentPlan, InterestBearer};

use super::retrieve_installation_settings::is_enabled;
use super::session::INSTALLATION_ERRORS;
use crate::endpoints::forms::INTEREST_BEARER_WORDS;
use crate::endpoints::prelude::*;
use crate::service::NamedInstallation;

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[Endpoint(&LIST_INSTALLMENT_PLANS, &list_installment_plans)];

static LIST_INSTALLMENT_PLANS: Declaration = Declaration {
    name: "list-installment-plans",
    summary: "Lists the instalment plans that can be selected.",
    docs: "Each plan has `installment_plan_id`, `name`, `terms` (a number of months) and `interest_bearers`. The list is empty when the merchant takes no instalments.",
    arguments: NamedInstallation::arguments::<()>().declared,
    returns: Returns::Array(&ValueType::Object(&INSTALLMENT_PLAN)),
    errors: &INSTALLATION_ERRORS,
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "sessions")
};

object! {
    /// A plan.
    pub(super) INSTALLMENT_PLAN "installment_plan" as PlanShape of (plan: InstallmentPlan) {
        installment_plan_id: type(INSTALLMENT_PLAN_WORDS) = plan.id(), "The plan's id, which a selection names.";
        name: STRING = plan.display_name(), "The plan's display name.", such_as("Sandbox instalments, 3 months");
        terms: INTEGER = plan.terms(), "The number of monthly terms.", such_as("3");
        interest_bearers: Array(&INTEREST_BEARER_WORDS) = InterestBearer::ALL.to_vec(),
            "The parties that may pay the interest.";
    }
}

/// The ids of the plans.
pub(super) const INSTALLMENT_PLAN_WORDS: ValueType = words_of!(InstallmentPlan, id);

/// `POST /sdk/list-installment-plans`
async fn list_installment_plans(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let parsed = call.fields().parse(&NamedInstallation::arguments::<()>()).map(|named| (named, ()));
    let (caller, ()) = service.sdk_call(&call, parsed).await?;
    let enabled = is_enabled(&caller.reader, PaymentMethod::Installment)?;
    let plans = InstallmentPlan::ALL.into_iter().filter(|_| enabled).map(PlanShape::new);
    Ok(Reply::new(&plans.collect::<Vec<_>>()))
}

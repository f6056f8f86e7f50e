//! `POST /sdk/list-installment-plans`

use till_domain::merchant::PaymentMethod;
use till_domain::session::{InstallmentPlan, InterestBearer};

use super::retrieve_installation_settings::is_enabled;
use super::session::INSTALLATION_ERRORS;
use crate::access::MerchantCaller;
use crate::endpoints::forms::INTEREST_BEARER_WORDS;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Declaration, Flags, Package, Returns, ValueType, object, words_of};
use crate::protocol::dispatch::{Call, Reply};
use crate::service::{NamedInstallation, SdkCaller, Shared};

pub(super) static LIST_INSTALLMENT_PLANS: Declaration = Declaration {
    name: "list-installment-plans",
    package: Package::Sdk,
    group: "sessions",
    summary: "Lists the instalment plans that can be selected.",
    docs: "Each plan has `installment_plan_id`, `name`, `terms` (a number of months) and `interest_bearers`. The list is empty when the merchant takes no instalments.",
    arguments: &SdkCaller::ARGUMENTS,
    returns: Returns::Array(&ValueType::Object(&INSTALLMENT_PLAN)),
    errors: &INSTALLATION_ERRORS,
    flags: Flags::OPEN_QUERY,
};

object! {
    /// A plan.
    INSTALLMENT_PLAN "installment_plan" as PlanShape of (plan: InstallmentPlan) {
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
pub(super) async fn list_installment_plans(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let named = NamedInstallation::read(&mut fields);
    let parsed = fields.finish(|| Some((named?, ())));
    let (caller, ()) = service.sdk_call(&call, parsed).await?;
    let enabled = is_enabled(&caller.reader, PaymentMethod::Installment)?;
    let plans = InstallmentPlan::ALL.into_iter().filter(|_| enabled).map(PlanShape::new);
    Ok(Reply::new(&plans.collect::<Vec<_>>()))
}

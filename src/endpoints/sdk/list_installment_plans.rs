//! `POST /sdk/list-installment-plans`

use till_domain::money::AmountMinor;
use till_domain::session::{InstallmentPlan, InterestBearer};

use super::retrieve_installation_settings::enabled_methods;
use super::session::INSTALLATION_ERRORS;
use crate::endpoints::forms::{AMOUNT, INTEREST_BEARER_WORDS};
use crate::endpoints::prelude::*;
use crate::service::{NamedInstallation, PlanTerms, plan_terms};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[Endpoint(&LIST_INSTALLMENT_PLANS, &list_installment_plans)];

const ASKED: ArgumentSet<(NamedInstallation, Option<AmountMinor>)> = arguments!({
    named: NamedInstallation::arguments::<()>(),
    amount: AMOUNT.optional("The amount in minor units, to be told what each month and all of them cost."),
} => (named, amount));

static LIST_INSTALLMENT_PLANS: Declaration = Declaration {
    name: "list-installment-plans",
    summary: "Lists the instalment plans that can be selected.",
    docs: "Each plan has `installment_plan_id`, `name`, `terms` (a number of months), `interest_bearers` and \
        `interest_rate`, and with `amount` what the customer pays each month and in all. The list is empty when the \
        merchant takes no instalments.",
    arguments: ASKED.declared,
    returns: Returns::Array(&ValueType::Object(&INSTALLMENT_PLAN)),
    errors: &INSTALLATION_ERRORS,
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "sessions")
};

object! {
    /// A plan.
    pub(in crate::endpoints) INSTALLMENT_PLAN "installment_plan" as PlanShape of (terms: PlanTerms) {
        installment_plan_id: type(INSTALLMENT_PLAN_WORDS) = terms.plan.id(), "The plan's id, which a selection names.";
        name: STRING = terms.plan.display_name(),
            "The plan's display name.", such_as("Sandbox instalments, 3 months");
        terms: INTEGER = terms.plan.terms(), "The number of monthly terms.", such_as("3");
        interest_bearers: Array(&INTEREST_BEARER_WORDS) = InterestBearer::ALL.to_vec(),
            "The parties that may pay the interest.";
        interest_rate: STRING or null = terms.interest_rate,
            "The interest that the customer pays, in percent a month; null where the merchant pays it.",
                such_as("1.00");
        monthly_amount: MINOR_UNITS or null = terms.cost.map(|cost| cost.monthly_minor),
            "What the customer pays each month, in minor units and rounded up, where the amount is known.",
                such_as("3434");
        total_amount: MINOR_UNITS or null = terms.cost.map(|cost| cost.total_minor),
            "What the customer pays in all, in minor units, where the amount is known.", such_as("10300");
    }
}

/// The ids of the plans.
pub(super) const INSTALLMENT_PLAN_WORDS: ValueType = words_of!(InstallmentPlan, id);

/// `POST /sdk/list-installment-plans`
async fn list_installment_plans(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (caller, amount) = service.sdk_call(&call, call.fields().parse(&ASKED)).await?;
    let plans = plan_terms(&enabled_methods(&caller.reader)?, InterestBearer::Customer, amount);
    Ok(Reply::new(&plans.into_iter().map(PlanShape::new).collect::<Vec<_>>()))
}

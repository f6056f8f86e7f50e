//! `POST /sdk/list-installment-plans`

use serde::Serialize;
use till_domain::merchant::PaymentMethod;
use till_domain::session::{InstallmentPlan, InterestBearer};

use super::retrieve_installation_settings::is_enabled;
use super::session::INSTALLATION_ERRORS;
use crate::endpoints::forms::INTEREST_BEARER_WORDS;
use crate::endpoints::prelude::*;
use crate::protocol::declaration::{Attribute, ObjectType};
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

static INSTALLMENT_PLAN: ObjectType = ObjectType {
    name: "installment_plan",
    attributes: &[
        Attribute::always("installment_plan_id", INSTALLMENT_PLAN_WORDS, "The plan's id, which a selection names."),
        Attribute::always("name", ValueType::STRING, "The plan's display name.")
            .such_as("Sandbox instalments, 3 months"),
        Attribute::always("terms", ValueType::INTEGER, "The number of monthly terms.").such_as("3"),
        Attribute::always(
            "interest_bearers",
            ValueType::Array(&INTEREST_BEARER_WORDS),
            "The parties that may pay the interest.",
        ),
    ],
};

/// The ids of the plans.
pub(super) const INSTALLMENT_PLAN_WORDS: ValueType = words_of!(InstallmentPlan, id);

#[derive(Serialize)]
struct PlanShape {
    installment_plan_id: &'static str,
    name: &'static str,
    terms: u8,
    interest_bearers: [&'static str; 2],
}

/// `POST /sdk/list-installment-plans`
async fn list_installment_plans(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let parsed = call.fields().parse(&NamedInstallation::arguments::<()>()).map(|named| (named, ()));
    let (caller, ()) = service.sdk_call(&call, parsed).await?;
    let enabled = is_enabled(&caller.reader, PaymentMethod::Installment)?;
    let plans = InstallmentPlan::ALL.into_iter().filter(|_| enabled).map(|plan| PlanShape {
        installment_plan_id: plan.id(),
        name: plan.display_name(),
        terms: plan.terms(),
        interest_bearers: InterestBearer::ALL.map(InterestBearer::name),
    });
    Ok(Reply::new(&plans.collect::<Vec<_>>()))
}

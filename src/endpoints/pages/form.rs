//! What the payment form in a shop's own page shows: contract, section 9.7.

use till_domain::acquirer::{AcquirerName, AcquirerRef};
use till_domain::ids::{InstallationId, MerchantId};
use till_domain::merchant::{Installation, PaymentMethod, Platform};
use till_domain::records::{Installations, Integrations, Rows};
use till_domain::session::InterestBearer;
use till_protocol::arguments::id;

use super::checkout::profile;
use crate::endpoints::forms::{INTEREST_BEARER_WORDS, PAYMENT_METHOD_WORDS};
use crate::endpoints::prelude::*;
use crate::endpoints::sdk::{INSTALLMENT_PLAN, PlanShape};
use crate::service::{card_page, plan_terms};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[Endpoint(&SHOW_FORM, &show_form)];

/// An installation of a web site with the methods that can be selected now.
struct Shown {
    installation: Installation,
    methods: Vec<PaymentMethod>,
    /// The acquirer at whose page a card is entered.
    card_page: Option<AcquirerName>,
    /// True while the sandbox plays the acquirer of one of them.
    is_sandbox: bool,
}

impl Shown {
    /// The plans that can be chosen, for an amount that is not known.
    fn plans(&self) -> Vec<PlanShape> {
        plan_terms(&self.methods, InterestBearer::Customer, None).into_iter().map(PlanShape::new).collect()
    }

    fn interest_bearer(&self) -> Option<InterestBearer> {
        self.methods.contains(&PaymentMethod::Installment).then_some(InterestBearer::Customer)
    }
}

object! {
    /// The payment form of an installation.
    SHOWN_FORM "shown_form" as ShownShape<'a> of (shown: &'a Shown) {
        installation_id: Id(InstallationId::PREFIX) = shown.installation.id, "The installation.";
        origin: STRING = shown.installation.identifier, "The only origin whose pages may hold the frame.";
        payment_methods: Array(&PAYMENT_METHOD_WORDS) = shown.methods, "The methods that can be selected now.";
        card_page: words_of(AcquirerName) or null = shown.card_page,
            "The acquirer at whose page a card is entered; null where it is entered in a form.";
        installment_plans: Array(&ValueType::Object(&INSTALLMENT_PLAN)) = shown.plans(), "The plans to choose among.";
        interest_bearer: type(INTEREST_BEARER_WORDS) or null = shown.interest_bearer(),
            "The side that pays the interest; null without instalments.";
        is_sandbox: BOOLEAN = shown.is_sandbox, "True while no real money moves.";
    }
}

const NAMED: ArgumentSet<(MerchantId, InstallationId)> = arguments!({
    merchant_id: id::<MerchantId>().required("The merchant (`mer_...`)."),
    installation_id: id::<InstallationId>().required("The installation (`ins_...`)."),
} => (merchant_id, installation_id));

/// The call of the frame of an installation.
pub(crate) static SHOW_FORM: Declaration = Declaration {
    name: "show-form",
    summary: "Returns what the payment form of an installation shows.",
    arguments: NAMED.declared,
    returns: Returns::Object(&SHOWN_FORM),
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "installations")
};

async fn show_form(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let unknown = || ApiError::new(Code::NotFound, "No web site has this form.");
    let (merchant_id, installation_id) = call.fields().parse(&NAMED)?;
    let reader = service.reader(merchant_id).await?;
    profile(&reader)?.filter(|profile| !profile.suspended).ok_or_else(unknown)?;
    let installation = reader.get::<Installations>(installation_id)?;
    let installation = installation.filter(|found| found.platform == Platform::Web).ok_or_else(unknown)?;
    let (mut methods, mut is_sandbox) = (Vec::new(), false);
    for method in PaymentMethod::ALL {
        let integration = reader.get::<Integrations>(method)?.filter(|integration| integration.enabled);
        is_sandbox |= integration.as_ref().is_some_and(|found| found.acquirer == AcquirerRef::Sandbox);
        methods.extend(integration.map(|_| method));
    }
    let card_page = card_page(&reader)?;
    call.log_subject(merchant_id, None);
    Ok(Reply::new(&ShownShape::new(&Shown { installation, methods, card_page, is_sandbox })))
}

//! What the pages of the sandbox show, on which customers act: contract, section 9.5.

use std::collections::BTreeSet;

use till_actors::acquirer::AcquirerUnavailable;
use till_domain::customer_action::CustomerStep;
use till_domain::records::{Checkouts, CustomerActions, Payments, Profiles, Rows, Single};
use till_protocol::api_error::{CallEffect, RETRY_AFTER_SECONDS};
use till_protocol::field;
use till_sandbox::{ActResult, ActionId, ActionOutcome, ActionPage, ShownAction};

use crate::endpoints::forms::words;
use crate::endpoints::prelude::*;
use crate::service::{open_action, origin_of};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> =
    &[Endpoint(&SHOW_ACTION, &show_action), Endpoint(&ACT, &act), Endpoint(&FIND_BILL, &find_bill)];

/// An action with its customer.
struct Shown {
    action: ShownAction,
    /// The name of the shop.
    merchant: String,
    /// The origins of the shop's pages that the customer may come back to.
    shop_origins: BTreeSet<String>,
    /// False when the customer has acted or given up, and after the deadline by the merchant's time.
    is_open: bool,
}

object! {
    /// A customer whom the sandbox asks to act.
    SHOWN_ACTION "shown_action" as ShownShape<'a> of (shown: &'a Shown) {
        merchant_name: STRING = shown.merchant, "The name of the shop.";
        amount: MINOR_UNITS = shown.action.money.amount, "The amount in minor units.";
        currency: STRING = shown.action.money.currency, "The ISO 4217 code.";
        path: STRING = shown.action.path(), "The path of the page, which a restored book may have changed.";
        return_path: STRING = shown.action.return_path, "The path to which the customer comes back.";
        shop_origins: Array(&ValueType::STRING) = shown.shop_origins.iter().collect::<Vec<_>>(),
            "The origins of the shop's pages that the customer may come back to.";
        is_open: BOOLEAN = shown.is_open, "False when the customer has acted, and when it is too late.";
    }
}

/// The page of the sandbox.
const PAGE: Required<ActionPage> = words!(ActionPage).required("The page.").with_name("page");

/// The action.
const ACTION: Required<ActionId> = Field {
    value_type: ValueType::STRING,
    parse: |value| field::from_text("an action", str::parse::<ActionId>)(value),
}
.required("The action.")
.with_name("action_id");

const ASKED: ArgumentSet<(ActionPage, ActionId)> = arguments!({ page: PAGE, id: ACTION } => (page, id));

/// The call of the page of an action.
pub(crate) static SHOW_ACTION: Declaration = Declaration {
    name: "show-action",
    summary: "Returns what the page of an action shows.",
    arguments: ASKED.declared,
    returns: Returns::Object(&SHOWN_ACTION),
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "sandbox")
};

async fn show_action(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (page, id) = call.fields().parse(&ASKED)?;
    Ok(Reply::new(&ShownShape::new(&find_shown(&service, &call, page, id).await?)))
}

const ACTED: ArgumentSet<(ActionPage, ActionId, ActionOutcome)> = arguments!({
    page: PAGE,
    id: ACTION,
    outcome: words!(ActionOutcome).required("What the customer does."),
} => (page, id, outcome));

/// The call of a button of that page.
pub(crate) static ACT: Declaration = Declaration {
    name: "act",
    summary: "The customer acts; `false` when it was too late.",
    arguments: ACTED.declared,
    returns: Returns::Boolean,
    flags: Flags::OPEN_COMMAND,
    ..Declaration::command(Package::Sdk, "sandbox")
};

async fn act(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (page, id, outcome) = call.fields().parse(&ACTED)?;
    if !page.offers(outcome) {
        return Err(ApiError::new(Code::InvalidArguments, "The page has no such outcome."));
    }
    let shown = find_shown(&service, &call, page, id).await?;
    let acted = shown.is_open
        && service.sandbox().act_on_page(shown.action.id, outcome).await.map_err(unavailable)? == ActResult::Recorded;
    Ok(Reply::new(&acted))
}

/// The action of this address with its customer.
async fn find_shown(
    service: &Shared,
    call: &Call<MerchantCaller>,
    page: ActionPage,
    id: ActionId,
) -> Result<Shown, ApiError> {
    let action = match service.sandbox().find_action(id).await.map_err(unavailable)? {
        Some(action) if action.page == page => action,
        Some(_) | None => moved(service, page, id).await?,
    };
    let unknown = || ApiError::new(Code::NotFound, "No payment asks for this.");
    let reader = service.reader(action.merchant).await?;
    let payment = reader.get::<Payments>(action.payment)?.ok_or_else(unknown)?;
    let merchant = reader.get::<Profiles>(Single)?.ok_or_else(unknown)?.name.as_str().to_owned();
    let open = open_action(&reader, &payment, service.merchant_now(action.merchant)?)?;
    let checkout = payment.checkout_id.map_or(Ok(None), |id| reader.get::<Checkouts>(id))?;
    let of_checkout = checkout.iter().flat_map(|checkout| [&checkout.cancel_url, &checkout.page_url]).flatten();
    let shop_origins = [&payment.return_url].into_iter().chain(of_checkout).filter_map(origin_of).collect();
    call.log_subject(action.merchant, None);
    let is_open = action.is_open && open.is_some();
    Ok(Shown { action, merchant, shop_origins, is_open })
}

/// The action whose address the log has, where the book of a restored store gave it another id: it is newer than the
/// checkpoint.
async fn moved(service: &Shared, page: ActionPage, id: ActionId) -> Result<ShownAction, ApiError> {
    let unknown = || ApiError::new(Code::NotFound, "There is no such action.");
    let action = service.sandbox().find_action_of_same_payment(id).await.map_err(unavailable)?.ok_or_else(unknown)?;
    let reader = service.reader(action.merchant).await?;
    let recorded = reader.get::<CustomerActions>(action.payment)?.map(|recorded| recorded.step);
    let path = page.path(id);
    let is_recorded = matches!(recorded, Some(CustomerStep::Redirect(address)) if address.as_str() == path);
    if is_recorded { Ok(action) } else { Err(unknown()) }
}

const BILL: Required<String> =
    Field { value_type: ValueType::STRING, parse: |value| field::text(0..=64 * 1024)(value) }
        .required("The text of a QR code.")
        .with_name("text");

/// The call of the page that scans a QR code.
pub(crate) static FIND_BILL: Declaration = Declaration {
    name: "find-bill",
    summary: "Returns the path of the wallet's page for a QR code.",
    arguments: &[BILL.argument],
    returns: Returns::Text(ValueType::STRING),
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "sandbox")
};

async fn find_bill(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let text = call.fields().parse(&BILL)?;
    let bill = service.sandbox().find_bill(&text).await.map_err(unavailable)?;
    let unknown = || ApiError::new(Code::NotFound, "There is no such bill.");
    Ok(Reply::new(&bill.ok_or_else(unknown)?.path()))
}

fn unavailable(error: AcquirerUnavailable) -> ApiError {
    tracing::warn!(%error, "the sandbox did not answer a page");
    ApiError::unavailable(CallEffect::Unknown, RETRY_AFTER_SECONDS)
}

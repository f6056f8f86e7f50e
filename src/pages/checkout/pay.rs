//! `/pay/{merchant_id}/{checkout_id}.{secret}`: the page at which a customer pays a checkout. Its form posts there,
//! and the answer is a redirect to the page, never the page itself, so that neither a reload nor the way back pays.

use serde_json::{Value, json};
use till_domain::checkout::Locale;
use till_domain::merchant::PaymentMethod;
use till_protocol::api_error::{ApiError, Code};
use till_protocol::declaration::Declaration;
use till_protocol::dispatch::{PageDeclaration, PageReply};

use super::choice::SAVED_CARD;
use super::{locale, page};
use crate::endpoints::pages::SHOW_CHECKOUT;
use crate::endpoints::sdk::{CANCEL_PAYMENT_SESSION, PAY_CHECKOUT};
use crate::pages::answered::{AnsweredObject, Request, look_up};

pub(in crate::pages) static PAY: PageDeclaration =
    PageDeclaration { pattern: "/pay/{merchant_id}/{checkout_id}", has_form: true };

/// Shows the page, or does what its form says.
pub(in crate::pages) async fn pay((): (), request: Request) -> Result<PageReply, ApiError> {
    let Some(checkout) = find_checkout(&request).await? else { return Ok(unknown(&request)) };
    if let Some(form) = request.form() {
        if let Some((declaration, arguments)) = posted(request.text(0), &checkout, |name| form.single(name)) {
            carry_out(&request, declaration, &arguments).await?;
        }
        return Ok(PageReply::see_other(own_address(checkout.text("path"), request.whole_query())));
    }
    page::page(request.text(0), &checkout, language(&request, &checkout)).map(PageReply::html)
}

/// The checkout that the address of a page opens.
pub(super) async fn find_checkout(request: &Request) -> Result<Option<Value>, ApiError> {
    let named = json!({ "merchant_id": request.text(0), "checkout_id": request.text(1) });
    look_up(request, &SHOW_CHECKOUT, &named).await
}

/// The language in which a checkout is shown.
pub(super) fn language(request: &Request, checkout: &Value) -> Locale {
    let of_checkout = checkout.word("locale", &Locale::ALL, Locale::name);
    locale::choose(request.query("lang").as_deref(), of_checkout, request.accept_language())
}

/// The page of an address at which there is no checkout. It names no shop.
fn unknown(request: &Request) -> PageReply {
    let locale = locale::choose(request.query("lang").as_deref(), None, request.accept_language());
    PageReply::html(page::unknown(locale)).with_refusal(Code::NotFound)
}

/// The address of the page, in the language that the customer chose.
fn own_address(path: &str, query: &str) -> String {
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// Makes the call of a form. What the rules refuse changes nothing, and the page shows the state that there is.
async fn carry_out(request: &Request, declaration: &'static Declaration, arguments: &Value) -> Result<(), ApiError> {
    match request.call(declaration, None, arguments).await {
        Err(error) if matches!(error.code(), Code::Unavailable | Code::UnhandledError) => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The call that a form asks for, by a function that answers the only value of a field. None when the page offers
/// nothing of the kind, so that it is only shown again. A new card is chosen by script only: its number is in no form.
fn posted<'f>(
    merchant_id: &str,
    checkout: &Value,
    field: impl Fn(&str) -> Option<&'f str>,
) -> Option<(&'static Declaration, Value)> {
    let given = |name| field(name).filter(|value| !value.is_empty());
    let installation_id = checkout.text("installation_id");
    match field("action")? {
        "pay" => {
            let (method, card_of_radio) = split_choice(field("payment_method")?);
            let of = |owner: PaymentMethod, value: Option<&'f str>| value.filter(|_| method == owner.name());
            let arguments = json!({
                "merchant_id": merchant_id,
                "installation_id": installation_id,
                "checkout_id": checkout.text("checkout_id"),
                "payment_method": method,
                "card_id": of(PaymentMethod::Card, card_of_radio.or_else(|| given("card_id"))),
                "installment_plan_id": of(PaymentMethod::Installment, given("installment_plan_id")),
                "replaces": given("replaces"),
            });
            Some((&PAY_CHECKOUT, arguments))
        }
        // A session of another checkout changes nothing.
        "another_way" if given("replaces")? == checkout.text("payment_session_id") => {
            let session_id = given("replaces");
            let arguments = json!({
                "merchant_id": merchant_id,
                "installation_id": installation_id,
                "payment_session_id": session_id,
            });
            Some((&CANCEL_PAYMENT_SESSION, arguments))
        }
        _ => None,
    }
}

/// The method, and the saved card, that the value of a radio button means.
fn split_choice(value: &str) -> (&str, Option<&str>) {
    value.strip_prefix(SAVED_CARD).map_or((value, None), |card_id| (PaymentMethod::Card.name(), Some(card_id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(fields: &[(&str, &'static str)]) -> Option<(&'static str, Value)> {
        let checkout = json!({ "installation_id": "ins_1", "checkout_id": "chk_1.x", "payment_session_id": "pse_1" });
        let field = |name: &str| fields.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        posted("mer_1", &checkout, field).map(|(declaration, arguments)| (declaration.name, arguments))
    }

    fn pay(method: &str, card_id: Option<&str>, plan_id: Option<&str>) -> Option<(&'static str, Value)> {
        let arguments = json!({
            "merchant_id": "mer_1", "installation_id": "ins_1", "checkout_id": "chk_1.x", "payment_method": method,
            "card_id": card_id, "installment_plan_id": plan_id, "replaces": null,
        });
        Some(("pay-checkout", arguments))
    }

    #[test]
    fn a_saved_card_is_named_by_its_radio_button_or_by_its_own_field() {
        let by_radio = call(&[("action", "pay"), ("payment_method", "CARD:crd_1"), ("installment_plan_id", "p")]);
        assert_eq!(by_radio, pay("CARD", Some("crd_1"), None));
        let by_field = call(&[("action", "pay"), ("payment_method", "CARD"), ("card_id", "crd_2")]);
        assert_eq!(by_field, pay("CARD", Some("crd_2"), None));
    }

    #[test]
    fn a_plan_belongs_to_instalments_and_a_card_does_not() {
        let fields =
            [("action", "pay"), ("payment_method", "INSTALLMENT"), ("installment_plan_id", "p"), ("card_id", "c")];
        assert_eq!(call(&fields), pay("INSTALLMENT", None, Some("p")));
        let plain = call(&[("action", "pay"), ("payment_method", "PROMPTPAY"), ("card_id", ""), ("replaces", "")]);
        assert_eq!(plain, pay("PROMPTPAY", None, None));
    }

    #[test]
    fn another_way_needs_the_session_that_is_given_up() {
        let arguments = json!({ "merchant_id": "mer_1", "installation_id": "ins_1", "payment_session_id": "pse_1" });
        let another_way = call(&[("action", "another_way"), ("replaces", "pse_1")]);
        assert_eq!(another_way, Some(("cancel-payment-session", arguments)));
        let another_checkouts = [("action", "another_way"), ("replaces", "pse_2")];
        let others = [&[("action", "another_way")][..], &[("action", "other")], &[("payment_method", "CARD")], &[]];
        for fields in others.into_iter().chain([&another_checkouts[..]]) {
            assert_eq!(call(fields), None, "{fields:?}");
        }
    }
}

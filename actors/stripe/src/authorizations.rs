//! Authorizations: at Stripe's page, by a card's number, and by PromptPay. What is made ready moves no money; a payment
//! has one intent, which Stripe charges at most once.

use till_actors::acquirer::{
    AcquirerUnavailable, AuthorizeRequest, CallAnswer, Instrument, LookedUp, Preparation, Prepared,
};
use till_domain::acquirer::AccountMode;
use till_domain::checkout::Locale;
use till_domain::command::RequiredAction;
use till_domain::customer_action::CustomerStep;
use till_domain::failure::FailureCode;
use till_domain::ids::PaymentId;
use till_domain::money::Money;
use till_domain::payment::CaptureMode;
use till_domain::text::ActionAddress;

use super::api::{Api, EXPAND, FormBody, INTENTS, NoObject};
use super::failures::request_failure;
use super::objects::{CardPage, CardPageStatus, Expected, Intent, Named, ObjectId};
use super::outcomes::{PENDING, authorization, carried_out, declined_for, page};

/// The seconds that a customer has for the page.
const PAGE_SECONDS: u64 = 1_800;
/// The seconds from the payment's record after which the page ends by itself. Stripe takes 30 minutes at least, and a
/// payment may be prepared until an hour after its record.
const SESSION_SECONDS: u64 = 90 * 60;
const SESSIONS: &str = "/v1/checkout/sessions";
/// The beginning of the ids of pages.
const SESSION_PREFIX: &str = "cs_";

/// Makes ready what an authorization needs: a page, or an intent that is not confirmed.
pub(crate) async fn prepare(api: &Api, request: &AuthorizeRequest) -> Result<Prepared, AcquirerUnavailable> {
    match prepared(api, request).await {
        Err(NoObject::Refused(error)) => Ok(Prepared::Declined(request_failure(&error))),
        made => made.map_err(NoObject::unclear),
    }
}

async fn prepared(api: &Api, request: &AuthorizeRequest) -> Result<Prepared, NoObject> {
    let key = format!("{}/prepare", request.reference);
    let intent: Intent = match &request.instrument {
        Some(Instrument::AcquirerPage { locale }) => {
            let form = session_form(request, *locale, &api.address_of(&request.return_path));
            return page_of(request, api.make(SESSIONS, &form, &key).await?, api.mode);
        }
        Some(Instrument::PromptPay) => api.make(INTENTS, &intent_form(request), &key).await?,
        Some(card @ Instrument::Card { .. }) => {
            match api.call("/v1/payment_methods", Some(&card_form(card)), None).await {
                // The refusal of a number without a code is one of all card numbers, which the account may not send.
                Err(NoObject::Refused(error)) if error.code.is_none() && !error.is_of_card() => {
                    return Ok(Prepared::Declined(FailureCode::AcquirerRefusedCardNumbers.into()));
                }
                method => {
                    let Named { id } = method?;
                    api.call(INTENTS, Some(&intent_form(request).with("payment_method", id.as_str())), None).await?
                }
            }
        }
        Some(Instrument::Installment { .. } | Instrument::MobileBanking) => {
            return Ok(Prepared::Declined(FailureCode::MethodUnavailable.into()));
        }
        None => return Err(AcquirerUnavailable::not_sent("there is no means of payment").into()),
    };
    intent.check_whole(&Expected::payment(request.payment, request.money, api.mode))?;
    Ok(ready(request, intent.id, None))
}

fn page_of(request: &AuthorizeRequest, session: CardPage, mode: AccountMode) -> Result<Prepared, NoObject> {
    session.check(&Expected::payment(request.payment, request.money, mode))?;
    let page = session.url.as_deref().and_then(page);
    let page = page.ok_or_else(|| AcquirerUnavailable::unknown("its page has no address"))?;
    Ok(ready(request, session.id, Some(page)))
}

fn ready(request: &AuthorizeRequest, id: ObjectId, page: Option<ActionAddress>) -> Prepared {
    Prepared::Ready(Preparation { payment_id: request.payment, acquirer_reference: id.into_text(), page })
}

/// Confirms the intent that was made ready; a page is only shown.
pub(crate) async fn act(api: &Api, request: &AuthorizeRequest) -> Result<CallAnswer, AcquirerUnavailable> {
    let unprepared = || AcquirerUnavailable::not_sent("nothing was made ready for it");
    let sought = SoughtPayment::of(api, request.payment, request.money, request.prepared.as_ref());
    let sought = sought.ok_or_else(unprepared)?;
    if sought.is_at_page() {
        return Ok(asked_at(sought.prepared.page.clone()));
    }
    let form = FormBody::new().with("return_url", &api.address_of(&request.return_path)).with(EXPAND, "latest_charge");
    let form = match &request.instrument {
        Some(Instrument::PromptPay) => form
            .with("payment_method_data[type]", "promptpay")
            .with_any("payment_method_data[billing_details][email]", request.email.as_ref().map(|it| it.as_str())),
        _ => form,
    };
    let made = api.call::<Intent>(&sought.path("/confirm"), Some(&form), None).await;
    carried_out(made.and_then(|intent| Ok(authorization(intent, &sought.expected)?)), look_up_in(&sought)).await
}

/// Looks up what has become of an authorization.
pub(crate) async fn look_up(api: &Api, request: &AuthorizeRequest) -> Result<LookedUp, AcquirerUnavailable> {
    match SoughtPayment::of(api, request.payment, request.money, request.prepared.as_ref()) {
        Some(sought) => look_up_in(&sought).await,
        None => Ok(LookedUp::NotDone),
    }
}

/// A payment for which something was made ready.
pub(crate) struct SoughtPayment<'a> {
    pub(crate) api: &'a Api,
    pub(crate) prepared: &'a Preparation,
    pub(crate) expected: Expected,
}

impl<'a> SoughtPayment<'a> {
    /// The payment; none for one for which nothing was made ready.
    pub(crate) fn of(
        api: &'a Api,
        payment: PaymentId,
        money: Money,
        prepared: Option<&'a Preparation>,
    ) -> Option<SoughtPayment<'a>> {
        Some(SoughtPayment { api, prepared: prepared?, expected: Expected::payment(payment, money, api.mode) })
    }

    /// The page, with its intent.
    pub(crate) async fn session(&self) -> Result<CardPage, AcquirerUnavailable> {
        let path = self.path("?expand%5B0%5D=payment_intent.latest_charge");
        self.api.get(&path).await.map_err(NoObject::unclear)
    }

    /// The intent.
    pub(crate) async fn intent(&self) -> Result<Intent, AcquirerUnavailable> {
        self.api.intent(&self.prepared.acquirer_reference).await
    }

    /// The path of what was made ready, with the rest of it: an act or a query.
    pub(crate) fn path(&self, rest: &str) -> String {
        let objects = if self.is_at_page() { SESSIONS } else { INTENTS };
        format!("{objects}/{}{rest}", self.prepared.acquirer_reference)
    }

    /// True for a payment at a page, whose address may not be known any more.
    pub(crate) fn is_at_page(&self) -> bool {
        self.prepared.acquirer_reference.starts_with(SESSION_PREFIX)
    }
}

async fn look_up_in(sought: &SoughtPayment<'_>) -> Result<LookedUp, AcquirerUnavailable> {
    if sought.is_at_page() {
        return paid_at(sought, sought.session().await?);
    }
    authorization(sought.intent().await?, &sought.expected)
}

/// What has become of a payment at a page.
fn paid_at(sought: &SoughtPayment<'_>, session: CardPage) -> Result<LookedUp, AcquirerUnavailable> {
    let SoughtPayment { prepared, expected, .. } = sought;
    session.check(expected)?;
    let ended = || declined_for(FailureCode::CustomerActionTimedOut);
    let answer = match (session.status, session.payment_intent) {
        (CardPageStatus::Open, _) => asked_at(prepared.page.clone()),
        (CardPageStatus::Expired, None) => ended(),
        // Money that moved all the same is told.
        (CardPageStatus::Expired, Some(intent)) => match authorization(intent, expected)? {
            LookedUp::Found(answer @ (CallAnswer::Done(_) | CallAnswer::Pending(_))) => answer,
            LookedUp::Found(_) | LookedUp::NotDone => ended(),
        },
        (CardPageStatus::Complete, Some(intent)) => match authorization(intent, expected)? {
            LookedUp::Found(answer) => answer,
            LookedUp::NotDone => PENDING,
        },
        (CardPageStatus::Complete, None) | (CardPageStatus::Other, _) => PENDING,
    };
    Ok(LookedUp::Found(answer))
}

/// What the customer of a page is asked; pending when its address is not known any more.
fn asked_at(page: Option<ActionAddress>) -> CallAnswer {
    let Some(page) = page else { return PENDING };
    let step = CustomerStep::Redirect(page);
    CallAnswer::NeedsAction(RequiredAction { step, authenticates: false, lifetime_seconds: PAGE_SECONDS })
}

/// The form of a page: cards only, in the currency of the payment, and one line.
fn session_form(request: &AuthorizeRequest, locale: Option<Locale>, address: &str) -> FormBody {
    let payment = request.payment.to_string();
    let description = request.description.as_ref().map(|text| text.as_str());
    let form = FormBody::new()
        .with("mode", "payment")
        .with("allowed_payment_method_types[0]", "card")
        .with("adaptive_pricing[enabled]", "false")
        .with("line_items[0][quantity]", "1")
        .with("line_items[0][price_data][currency]", &currency_of(request))
        .with("line_items[0][price_data][unit_amount]", &request.money.amount.get().to_string())
        .with("line_items[0][price_data][product_data][name]", description.unwrap_or(&payment))
        .with("expires_at", &(request.created_at.unix_seconds() + SESSION_SECONDS).to_string())
        .with("success_url", address)
        .with("cancel_url", address)
        .with("locale", locale.map_or("auto", language))
        .with_any("customer_email", request.email.as_ref().map(|email| email.as_str()))
        .with_any("payment_intent_data[description]", description);
    let form = with_capture(form, request.capture);
    with_references(with_references(form, "metadata", request), "payment_intent_data[metadata]", request)
}

fn intent_form(request: &AuthorizeRequest) -> FormBody {
    let form = FormBody::new()
        .with("amount", &request.money.amount.get().to_string())
        .with("currency", &currency_of(request))
        .with_any("description", request.description.as_ref().map(|text| text.as_str()));
    with_references(with_capture(form, request.capture), "metadata", request)
}

/// The form of a card's number; empty for another means of payment.
fn card_form(instrument: &Instrument) -> FormBody {
    let Instrument::Card { number, expiry, security_code, is_saved: _ } = instrument else { return FormBody::new() };
    FormBody::new()
        .with("type", "card")
        .with("card[number]", number.expose_digits())
        .with("card[exp_month]", &expiry.month.to_string())
        .with("card[exp_year]", &expiry.year.to_string())
        .with_any("card[cvc]", security_code.as_ref().map(|code| code.expose_digits()))
}

/// Only cards can be held: the intent's own member would leave out every other way of payment.
fn with_capture(form: FormBody, capture: CaptureMode) -> FormBody {
    match capture {
        CaptureMode::Manual => form.with("payment_method_options[card][capture_method]", "manual"),
        CaptureMode::Automatic => form,
    }
}

fn with_references(form: FormBody, member: &str, request: &AuthorizeRequest) -> FormBody {
    form.with(&format!("{member}[till_reference]"), &request.reference.to_string())
        .with(&format!("{member}[till_payment]"), &request.payment.to_string())
}

fn currency_of(request: &AuthorizeRequest) -> String {
    request.money.currency.code().to_ascii_lowercase()
}

/// The language of a page, or Stripe's choice where it does not have ours.
const fn language(locale: Locale) -> &'static str {
    match locale {
        Locale::English | Locale::Thai | Locale::Japanese | Locale::German => locale.name(),
        Locale::Arabic => "auto",
    }
}

//! `POST /merchants/start-checkout`, `find-checkout`, `list-checkouts`, `expire-checkout`

use std::str::FromStr;

use till_domain::checkout::{
    CHECKOUT_LIFETIME_MAX_SECONDS, CHECKOUT_LIFETIME_MIN_SECONDS, CHECKOUT_LINES_MAX, Checkout, CheckoutLine,
    CheckoutRef, CheckoutStatus, Locale,
};
use till_domain::command::{Command, StartCheckout};
use till_domain::event::Answer;
use till_domain::ids::{CheckoutId, InstallationId, PaymentId};
use till_domain::merchant::PaymentMethod;
use till_domain::money::{AMOUNT_MAX_MINOR, AmountMinor, Money};
use till_domain::records::{Checkouts, CheckoutsByExternalId, CheckoutsByStatus};
use till_domain::refusal::Refusal;
use till_domain::session::InterestBearer;
use till_protocol::arguments::id;
use till_protocol::fault::Fault;
use till_protocol::field;
use till_protocol::fields::Fields;
use till_protocol::json::Json;

use super::by_merchant::ByMerchant;
use crate::endpoints::arguments::CUSTOMER_DATA;
use crate::endpoints::created_at::{CREATED_AT_ARGUMENT, CreatedAt, MerchantClock};
use crate::endpoints::forms::{
    AMOUNT, BOOLEAN, CHECKOUT_REF, CURRENCY, INTEREST_BEARER, NAME, PAYMENT_METHOD, PAYMENT_METHOD_WORDS, RETURN_URL,
    external_id, whole_number, words,
};
use crate::endpoints::kinds::StatusFilters;
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::checkout::{CHECKOUT, CHECKOUT_LINE, CheckoutShape};
use crate::service::{CheckoutReference, read_index_span, read_span, refused};

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::RunCheckouts, &START_CHECKOUT, &start_checkout),
    MerchantEndpoint(Act::SeePayments, &FIND_CHECKOUT, &find_checkout),
    MerchantEndpoint(Act::SeePayments, &LIST_CHECKOUTS, &list_checkouts),
    MerchantEndpoint(
        Act::RunCheckouts,
        &EXPIRE_CHECKOUT,
        &ByMerchant(NAMED, |_, checkout| Command::ExpireCheckout(checkout)),
    ),
];

/// The argument that names a checkout.
const CHECKOUT_ARGUMENT: Required<CheckoutRef> = CHECKOUT_REF
    .required("The checkout: its id (`chk_...`), the last segment of its address, or the merchant's own `external_id`.")
    .with_name("checkout_id");

const NAMED: ArgumentSet<CheckoutRef> = arguments!({ checkout: CHECKOUT_ARGUMENT } => checkout);

const CHECKOUT_NOT_FOUND: DeclaredError =
    DeclaredError::new(Code::NotFound, "No checkout of this merchant has this id.");

/// An id of a payment or of a checkout, whose references are one kind.
struct PaymentOrCheckoutId;

impl FromStr for PaymentOrCheckoutId {
    type Err = ();

    fn from_str(text: &str) -> Result<PaymentOrCheckoutId, ()> {
        let is_id = text.parse::<PaymentId>().is_ok() || text.parse::<CheckoutReference>().is_ok();
        if is_id { Ok(PaymentOrCheckoutId) } else { Err(()) }
    }
}

/// Some payment methods, each once.
const METHODS: Field<Vec<PaymentMethod>> = Field {
    value_type: ValueType::Array(&PAYMENT_METHOD_WORDS),
    parse: |value| {
        let rule = || "must be an array of payment methods, at least one and each once".to_owned();
        let Json::Array(words) = value else { return Err(rule()) };
        let methods = words.iter().map(PAYMENT_METHOD.parse).collect::<Result<Vec<PaymentMethod>, String>>()?;
        let distinct = PaymentMethod::ALL.into_iter().filter(|method| methods.contains(method)).count();
        if methods.is_empty() || distinct != methods.len() { Err(rule()) } else { Ok(methods) }
    },
};

/// The amount of a line, which is negative for a discount.
const LINE_AMOUNT: Field<i64> = Field { value_type: ValueType::AMOUNT, parse: field::signed_amount };

/// The lines of an order.
const LINES: Field<Vec<CheckoutLine>> = Field {
    value_type: ValueType::Array(&ValueType::Object(&CHECKOUT_LINE)),
    parse: |value| {
        let Json::Array(lines) = value else { return Err(format!("send an array, not {}", value.kind())) };
        if !(1..=CHECKOUT_LINES_MAX).contains(&lines.len()) {
            return Err(format!("must have 1 to {CHECKOUT_LINES_MAX} lines"));
        }
        let numbered = lines.iter().enumerate();
        numbered.map(|(place, line)| self::line(line).map_err(|fault| format!("[{place}] {fault}"))).collect()
    },
};

fn line(value: &Json) -> Result<CheckoutLine, String> {
    let Json::Object(members) = value else { return Err(format!("must be an object, not {}", value.kind())) };
    if let Some(unknown) = members.keys().find(|name| !["name", "amount", "quantity"].contains(&name.as_str())) {
        let shown: String = unknown.chars().take(64).collect();
        return Err(format!("has an unknown member {shown:?}; a line has name, amount and quantity"));
    }
    let required = |name: &str| members.get(name).filter(|value| !value.is_null());
    let read = |name: &'static str| required(name).ok_or_else(|| format!("{name} is required"));
    let name = (NAME.parse)(read("name")?).map_err(|fault| format!("name {fault}"))?;
    let amount_minor = (LINE_AMOUNT.parse)(read("amount")?).map_err(|fault| format!("amount {fault}"))?;
    let quantity = required("quantity").map_or(Ok(1), whole_number::<1, AMOUNT_MAX_MINOR>(1).parse);
    Ok(CheckoutLine { name, amount_minor, quantity: quantity.map_err(|fault| format!("quantity {fault}"))? })
}

const STARTED: ArgumentSet<StartCheckout> = arguments!({
    installation_id: id::<InstallationId>().required("The installation (`ins_...`) that pays it."),
    amount: AMOUNT.required("The amount in minor units."),
    currency: CURRENCY.required("The ISO 4217 code of the merchant's account."),
    return_url: RETURN_URL.required("The page that the customer is sent to after the payment."),
    external_id: external_id::<PaymentOrCheckoutId>()
        .optional("The merchant's own reference, unique among its payments and checkouts, 1 to 255 bytes. The newest \
            payment of the checkout has it.")
        .in_examples(),
    cancel_url: RETURN_URL.optional("The page that a customer goes to who gives up; `return_url` when left out."),
    page_url: RETURN_URL
        .optional("The shop's page that shows the checkout by `Till.mount`, of the installation's own origin: a \
            customer whose payment failed elsewhere comes back to it."),
    capture: BOOLEAN.optional("`true` captures on authorization, `false` only authorizes; `true` when left out."),
    payment_methods: METHODS.optional("The methods to offer; all that are enabled when left out."),
    interest_bearer: INTEREST_BEARER.optional("The side that pays the interest of instalments; `customer` when left \
        out."),
    locale: words!(Locale).optional("The language of the page; that of the customer's browser when left out."),
    expires_in: whole_number::<CHECKOUT_LIFETIME_MIN_SECONDS, CHECKOUT_LIFETIME_MAX_SECONDS>(3_600)
        .optional("The seconds for which it can be paid; a day when left out."),
    lines: LINES
        .optional("The lines of the order, whose sum is the amount: `name`, `amount` of one, negative for a discount, \
            and `quantity`, 1 when left out.")
        .such_as(r#"[{"name": "Tea", "amount": 5000, "quantity": 2}]"#),
    customer: CUSTOMER_DATA,
    offer_saved_cards: BOOLEAN
        .optional("True says that whoever has the address is this customer, who can pay with a saved card and save \
            one. Needs `customer_id`.")
        .such_as("false"),
} judged by |fields: &mut Fields<'_>| {
    if let (Some(amount), Some(Some(lines))) = (&amount, &lines) {
        judge_sum(fields, *amount, lines);
    }
    if offer_saved_cards == Some(Some(true)) && !fields.is_given("customer_id") {
        fields.fault(Fault::invalid("offer_saved_cards", "needs customer_id, the customer whose cards are offered"));
    }
} => StartCheckout {
    installation_id,
    external_id,
    money: Money { amount, currency },
    lines: lines.unwrap_or_default(),
    capture: capture.unwrap_or(true),
    methods: payment_methods.unwrap_or_default(),
    interest_bearer: interest_bearer.unwrap_or(InterestBearer::Customer),
    locale,
    return_url,
    cancel_url,
    page_url,
    customer,
    offers_saved_cards: offer_saved_cards.unwrap_or(false),
    lifetime_seconds: expires_in.unwrap_or(CHECKOUT_LIFETIME_MAX_SECONDS),
});

fn judge_sum(fields: &mut Fields<'_>, amount: AmountMinor, lines: &[CheckoutLine]) {
    let sum = CheckoutLine::sum_minor(lines);
    if sum != i128::from(amount.get()) {
        fields.fault(Fault::invalid("lines", format!("must sum up to amount, {}: they are {sum}", amount.get())));
    }
}

static START_CHECKOUT: Declaration = Declaration {
    name: "start-checkout",
    summary: "Starts a checkout. Answers the address to send the customer to. Its last segment is the id (`chk_...`), \
        a full stop and a secret: whoever has it can pay.",
    docs: "The page at the address takes the payment, and sends the customer to `return_url` with `payment_id` and \
        `checkout_id` appended. At most one payment of a checkout is alive, whatever the customer does. Send an \
        `Idempotency-Key`, so that a call whose answer was lost can be repeated safely.",
    arguments: STARTED.declared,
    returns: Returns::Text(ADDRESS),
    errors: &[
        DeclaredError::new(Code::NotFound, "No installation has this id, or no customer this `ctc_` id."),
        DeclaredError::new(
            Code::Conflict,
            "`external_id` is on a payment or checkout, which the details name; or the merchant has 100,000 open \
                checkouts, which the details name as `limit`.",
        )
        .with(r#"{"argument": "external_id", "payment_id": null, "checkout_id": "chk_01h2e8kqvbfwea724h75qc655w"}"#),
        DeclaredError::new(
            Code::NotSupported,
            "None of the methods is enabled, captures as asked and can carry the amount: details say for each which \
                of these it is.",
        )
        .with(r#"{"payment_methods": {"PROMPTPAY": "CAPTURES_AT_ONCE"}}"#),
    ],
    flags: Flags { answers_addresses: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Merchants, "checkouts")
};

/// An address of this server.
pub(in crate::endpoints) const ADDRESS: ValueType = ValueType::Text(Text { length: None, ..Text::URL });

/// `POST /merchants/start-checkout`
async fn start_checkout(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let command = Command::StartCheckout(call.fields().parse(&STARTED)?);
    let caller = call.caller();
    let answered = service.submit(&call, caller.merchant_id, caller.as_domain(), command, None).await?;
    let Answer::Checkout(checkout_id) = answered.answer else { return Err(ApiError::unhandled()) };
    let url = call.absolute(&service.checkout_path(caller.merchant_id, checkout_id));
    Ok(Reply::new(&url).replayed(answered.replayed))
}

static FIND_CHECKOUT: Declaration = Declaration {
    name: "find-checkout",
    summary: "Returns a checkout with its status and its newest payment.",
    docs: "Ask it when the customer comes back: an address says nothing of the outcome.",
    arguments: NAMED.declared,
    returns: Returns::Object(&CHECKOUT),
    errors: &[CHECKOUT_NOT_FOUND],
    flags: Flags { answers_addresses: true, ..Flags::QUERY },
    ..Declaration::query(Package::Merchants, "checkouts")
};

/// `POST /merchants/find-checkout`
async fn find_checkout(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let named = call.fields().parse(&CHECKOUT_ARGUMENT)?;
    let reader = call.caller().reader(&service).await?;
    let checkout = Checkouts::find_row(&reader, named)?;
    Ok(Reply::new(&shape(&service, &call, &checkout)))
}

fn shape<'c>(service: &Shared, call: &Call<MerchantCaller>, checkout: &'c Checkout) -> CheckoutShape<'c> {
    let caller = call.caller();
    let is_told = checkout.status == CheckoutStatus::Open && caller.may(Act::RunCheckouts);
    let url = is_told.then(|| call.absolute(&service.checkout_path(caller.merchant_id, checkout.id)));
    CheckoutShape::new(checkout, url)
}

named_kind!(Checkouts, by CheckoutsByExternalId, CHECKOUT_ARGUMENT, refused(&Refusal::CheckoutNotFound));

const LIST: ArgumentSet<StatusFilters<CheckoutId, CheckoutStatus>, MerchantClock> = arguments!({
    page: list_page::<CheckoutId>(),
    status: words!(CheckoutStatus).optional("Only checkouts with this status."),
    created: CREATED_AT_ARGUMENT,
} => (page, status, CreatedAt(created)));

static LIST_CHECKOUTS: Declaration = Declaration {
    name: "list-checkouts",
    summary: "Lists the merchant's checkouts, newest first.",
    docs: "The status of a checkout is that at the time of the call. `next` and `previous` carry the filters.",
    arguments: LIST.declared,
    returns: Returns::ListPage(&CHECKOUT),
    flags: Flags { answers_addresses: true, ..Flags::QUERY },
    ..Declaration::query(Package::Merchants, "checkouts")
};

/// `POST /merchants/list-checkouts`
async fn list_checkouts(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let reader = call.caller().reader(&service).await?;
    let clock = MerchantClock::of(&service, &reader)?;
    let (request, status, created) = call.fields().parse_in(&LIST, &clock)?;
    let page = match status {
        None => read_span::<Checkouts>(&reader, request, created.span()).await?,
        Some(status) => {
            read_index_span::<CheckoutsByStatus, Checkouts, _>(&reader, status, request, created.span()).await?
        }
    };
    let page = page.try_map(|checkout| Ok::<_, ApiError>(shape(&service, &call, checkout)))?;
    Reply::list_page(
        &page.with_filters(&[("status", status.map(|status| status.name().to_owned())), created.filter_text()]),
    )
}

static EXPIRE_CHECKOUT: Declaration = Declaration {
    name: "expire-checkout",
    summary: "Ends a checkout; false when nothing changed.",
    docs: "It takes no new payment from then on. One that is in progress decides: the checkout is completed with it, \
        or expires.",
    arguments: NAMED.declared,
    errors: &[CHECKOUT_NOT_FOUND],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Merchants, "checkouts")
};

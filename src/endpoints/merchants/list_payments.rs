//! `POST /merchants/list-payments`

use till_domain::checkout::CheckoutRef;
use till_domain::customer::CustomerRef;
use till_domain::ids::{CheckoutId, PaymentId};
use till_domain::merchant::PaymentMethod;
use till_domain::money::AMOUNT_MAX_MINOR;
use till_domain::payment::PaymentStatus;
use till_domain::records::{Checkouts, Customers};
use till_protocol::json::Json;

use crate::endpoints::created_at::{CREATED_AT, CREATED_AT_ARGUMENT, CreatedRange, MerchantClock};
use crate::endpoints::forms::{AMOUNT, CUSTOMER_REF, PAYMENT_METHOD, id_or_external_id, terms, words};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::payment::{NextActionShape, PAYMENT, PaymentShape};
use crate::service::{AmountRange, FilterText, PaymentFilters, prepared_reference, search};

pub(super) const ENDPOINTS: MerchantEndpoints = &[MerchantEndpoint(Act::SeePayments, &LIST_PAYMENTS, &list_payments)];

/// An amount, or a range of which either end may be open.
const AMOUNTS: Field<Amounts> = Field {
    value_type: ValueType::Text(Text {
        pattern: Some("^([0-9]+|[0-9]+\\.\\.[0-9]*|\\.\\.[0-9]+)$"),
        example: Some("100..20000"),
        ..Text::PLAIN
    }),
    parse: amounts,
};

/// The forms of a range of amounts.
const AMOUNTS_REMEDY: &str = "send an amount in minor units (100), or a range of amounts (100..200, 100.., ..200)";

const FILTERS: ArgumentSet<GivenFilters, MerchantClock> = arguments!(GivenFilters {
    status: words!(PaymentStatus).optional("Only payments with this status."),
    method: PAYMENT_METHOD.optional("Only payments by this method.").with_name("payment_method"),
    created: CREATED_AT_ARGUMENT,
    captured: CREATED_AT
        .optional(
            "When the payment was captured, in the forms of `created_at`. Payments that were never captured are \
            left out."
        )
        .with_name("captured_at"),
    checkout: id_or_external_id::<CheckoutId>()
        .optional("Only payments of this checkout: its id (`chk_...`) or the merchant's own `external_id`.")
        .with_name("checkout_id"),
    amount: AMOUNTS.optional(
        "The amount in minor units, or a range `a..b` of amounts with both ends included and either left \
            out."
    ),
    contact: CUSTOMER_REF
        .optional("Only payments of this customer: its id (`ctc_...`) or the merchant's own identifier.")
        .with_name("contact_id"),
    terms: terms("order-").optional(
        "The beginning of the `external_id`; the whole id of the payment, of one of its refunds or \
            disputes, or of its customer; the e-mail address that the payment shows or that its customer has now; or \
            the last four digits of the card."
    ),
});

const LIST: ArgumentSet<(ListPageRequest<PaymentId>, GivenFilters), MerchantClock> =
    arguments!({ page: list_page::<PaymentId>(), filters: FILTERS } => (page, filters));

static LIST_PAYMENTS: Declaration = Declaration {
    name: "list-payments",
    summary: "Lists the merchant's payments, newest first.",
    docs: "The status of a payment is that of the moment of the call. Filters given together must all hold; one by an \
        id that nothing of the merchant's has finds nothing. `next` and `previous` carry them.",
    arguments: LIST.declared,
    returns: Returns::ListPage(&PAYMENT),
    flags: Flags { answers_addresses: true, ..Flags::QUERY },
    ..Declaration::query(Package::Merchants, "payments")
};

/// The filters as they were given.
struct GivenFilters {
    status: Option<PaymentStatus>,
    method: Option<PaymentMethod>,
    created: Option<CreatedRange>,
    captured: Option<CreatedRange>,
    checkout: Option<CheckoutRef>,
    amount: Option<Amounts>,
    contact: Option<CustomerRef>,
    terms: Option<String>,
}

/// `POST /merchants/list-payments`
async fn list_payments(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let reader = call.caller().reader(&service).await?;
    let clock = MerchantClock::of(&service, &reader)?;
    let (request, filters) = call.fields().parse_in(&LIST, &clock)?;
    let selection = filters.resolve(&reader)?.selection(&reader)?;
    let page = search(&reader, &selection, request).await?;
    let now = service.merchant_now(reader.merchant_id())?;
    let page = page.try_map(|payment| -> Result<_, ApiError> {
        let next_action = NextActionShape::read(&reader, &call, payment, now)?;
        Ok(PaymentShape::new(payment, next_action, prepared_reference(&reader, payment)?, now))
    })?;
    Reply::list_page(&page.with_filters(&filters.texts()))
}

impl GivenFilters {
    /// The filters with the customer and the checkout that are named. A name that nothing has finds nothing.
    fn resolve(&self, reader: &Reader<'_>) -> Result<PaymentFilters, ApiError> {
        let span = |range: &CreatedRange| (range.from, range.until);
        let checkout = self.checkout.as_ref().map(|checkout| Checkouts::row(reader, checkout)).transpose()?;
        let contact = self.contact.as_ref().map(|contact| Customers::row(reader, contact)).transpose()?;
        let names_nobody = matches!(contact, Some(None));
        let of_checkout = checkout.map(|found| found.map(|checkout| checkout.payments).unwrap_or_default());
        Ok(PaymentFilters {
            status: self.status,
            method: self.method,
            created: self.created.as_ref().map(span),
            captured: self.captured.as_ref().map(span),
            amount: self.amount.as_ref().map(|amounts| amounts.range),
            customer_id: contact.flatten().map(|customer| customer.id),
            payment_ids: if names_nobody { Some(Vec::new()) } else { of_checkout },
            terms: self.terms.clone(),
        })
    }

    /// The filters for the calls for the pages beside this one.
    fn texts(&self) -> Vec<FilterText> {
        vec![
            ("status", self.status.map(|status| status.name().to_owned())),
            ("payment_method", self.method.map(|method| method.name().to_owned())),
            ("created_at", self.created.as_ref().map(|created| created.text.clone())),
            ("captured_at", self.captured.as_ref().map(|captured| captured.text.clone())),
            ("checkout_id", self.checkout.as_ref().map(CheckoutRef::to_string)),
            ("amount", self.amount.as_ref().map(|amounts| amounts.text.clone())),
            ("contact_id", self.contact.as_ref().map(CustomerRef::to_string)),
            ("terms", self.terms.clone()),
        ]
    }
}

/// An amount, or a range of amounts, and the text that it was given as.
struct Amounts {
    range: AmountRange,
    text: String,
}

fn amounts(value: &Json) -> Result<Amounts, String> {
    let one = |value: &Json| (AMOUNT.parse)(value).map(|amount| amount.get()).map_err(|_| AMOUNTS_REMEDY.to_owned());
    let Some((first, last)) = value.as_str().and_then(|text| text.split_once("..")) else {
        let minor = one(value)?;
        return Ok(Amounts { range: AmountRange { min_minor: minor, max_minor: minor }, text: minor.to_string() });
    };
    let end = |text: &str, open: u64| if text.is_empty() { Ok(open) } else { one(&Json::String(text.to_owned())) };
    let range = AmountRange { min_minor: end(first, 1)?, max_minor: end(last, AMOUNT_MAX_MINOR)? };
    if first.is_empty() && last.is_empty() {
        return Err(AMOUNTS_REMEDY.to_owned());
    }
    if range.min_minor > range.max_minor {
        return Err("the range begins after it ends".to_owned());
    }
    Ok(Amounts { range, text: format!("{first}..{last}") })
}

//! `POST /admin/find-payments`

use jiff::tz::TimeZone;
use till_domain::failure::FailureCode;
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::merchant::Profile;
use till_domain::payment::{Payment, PaymentStatus};
use till_domain::records::{Payments, Profiles, Rows, Single};
use till_protocol::arguments::id;
use till_protocol::fault::Fault;
use till_protocol::fields::Fields;
use till_protocol::json::Json;

use super::about_merchant::check_exists;
use crate::endpoints::created_at::{CREATED_AT, CreatedRange, MerchantClock, zone};
use crate::endpoints::forms::{PAYMENT_METHOD_WORDS, external_id, own_text};
use crate::endpoints::prelude::*;
use crate::service::{FilterText, IdSpan, OwnedPayment, PaymentClue, PaymentSearch};

pub(super) const ENDPOINTS: Endpoints<Operator> = &[Endpoint(&FIND_PAYMENTS, &find_payments)];

/// The arguments of which a call gives one.
const CLUES: [&str; 3] = ["payment_id", "external_id", "last_digits"];

/// The last four digits of a card's number.
const LAST_DIGITS: Field<[u8; 4]> =
    Field { value_type: ValueType::Text(Text::of(4, 4, "4242").matching("^[0-9]{4}$")), parse: last_digits };

object! {
    /// A payment that was found, with its merchant.
    FOUND_PAYMENT "found_payment" as FoundPaymentShape of (
        merchant_id: MerchantId,
        profile: Profile,
        payment: Payment
    ) {
        merchant_id: Id(MerchantId::PREFIX) = merchant_id, "The merchant (`mer_...`).";
        merchant_name: STRING = profile.name, "The merchant's name.", such_as("Example Shop");
        payment_id: Id(PaymentId::PREFIX) = payment.id, "The payment (`pay_...`).";
        external_id: STRING or null = payment.external_id,
            "The merchant's own identifier of the payment.", such_as("order-1001");
        status: words_of(PaymentStatus) = payment.status, "The status.", such_as("SUCCESSFUL");
        amount: MINOR_UNITS = payment.money.amount, "The amount in minor units.", such_as("10000");
        currency: STRING = payment.money.currency, "The ISO 4217 code.", such_as("THB");
        payment_method: type(PAYMENT_METHOD_WORDS) = payment.instrument.method(), "The payment method.";
        failure_code: words_of(FailureCode) or null = payment.failure.as_ref().map(|failure| failure.code),
            "The reason of the failure, for programs.";
        created_at: TIMESTAMP = payment.created_at, "The time at which it was initiated.";
    }
}

const ASKED: ArgumentSet<(ListPageRequest<PaymentId>, Asked), MerchantClock> = arguments!({
    page: list_page::<PaymentId>(),
    payment_id: id::<PaymentId>().optional("The payment (`pay_...`).").in_examples(),
    external_id: external_id::<PaymentId>().optional("The identifier that a merchant gave it, as a whole."),
    last_digits: LAST_DIGITS.optional("The last four digits of the card's number."),
    merchant_id: id::<MerchantId>().optional("Only payments of this merchant."),
    created: CREATED_AT
        .optional("When it was initiated, as `list-payments` takes it: in the time zone of the merchant that is \
            named, else in UTC.")
        .with_name("created_at"),
} judged by check_clues => {
    let by_id = payment_id.map(PaymentClue::Id);
    let clue = by_id.or(external_id.map(PaymentClue::ExternalId)).or(last_digits.map(PaymentClue::LastDigits))?;
    (page, Asked { clue, merchant_id, created })
});

static FIND_PAYMENTS: Declaration = Declaration {
    name: "find-payments",
    summary: "Finds payments of any merchant, newest first, by id, by the merchant's own identifier or by the card's \
        last digits.",
    docs: "Give exactly one of `payment_id`, `external_id` and `last_digits`; `last_digits` needs `created_at` or \
        `merchant_id`, too. Without `merchant_id` the call looks at each merchant, and one such call is made at a \
        time. Nothing of a customer is returned.",
    arguments: ASKED.declared,
    returns: Returns::ListPage(&FOUND_PAYMENT),
    errors: &[DeclaredError::new(Code::NotFound, "No merchant has this `merchant_id`.")],
    ..Declaration::query(Package::Admin, "payments")
};

/// A search as it was asked for.
struct Asked {
    clue: PaymentClue,
    merchant_id: Option<MerchantId>,
    created: Option<CreatedRange>,
}

/// `POST /admin/find-payments`
async fn find_payments(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let clock = clock(&service, &call).await?;
    let (request, asked) = call.fields().parse_in(&ASKED, &clock)?;
    if let Some(merchant_id) = asked.merchant_id {
        check_exists(&service, merchant_id)?;
    }
    let span = asked
        .created
        .as_ref()
        .map_or_else(|| Some(IdSpan::all()), |range| IdSpan::made_between(range.from, range.until));
    let filters = asked.texts();
    let search = PaymentSearch { service: &service, clue: asked.clue, merchant_id: asked.merchant_id };
    let found = search.page(request, span).await?;
    let mut shapes = Vec::with_capacity(found.page.len());
    for payment in &found.page {
        shapes.push(FoundPaymentShape::read(&service, *payment).await?);
    }
    let mut shapes = shapes.into_iter();
    Reply::list_page(&found.map(|_| shapes.next()).with_filters(&filters))
}

impl Asked {
    /// The arguments for the calls for the pages beside this one.
    fn texts(&self) -> [FilterText; 3] {
        let (name, clue) = match &self.clue {
            PaymentClue::Id(id) => ("payment_id", id.to_string()),
            PaymentClue::ExternalId(external_id) => ("external_id", external_id.as_str().to_owned()),
            PaymentClue::LastDigits(digits) => ("last_digits", digits.map(char::from).iter().collect()),
        };
        [
            (name, Some(clue)),
            ("merchant_id", self.merchant_id.map(|id| id.to_string())),
            ("created_at", self.created.as_ref().map(|created| created.text.clone())),
        ]
    }
}

/// The time and the time zone that words such as `today` mean: the merchant's, else those of the server and UTC.
async fn clock(service: &Service, call: &Call<Operator>) -> Result<MerchantClock, ApiError> {
    let named = call.body().get("merchant_id").and_then(Json::as_str);
    let Some(merchant_id) = named.and_then(|text| text.parse::<MerchantId>().ok()) else {
        return Ok(MerchantClock { now: service.now(), zone: TimeZone::UTC });
    };
    let profile = service.reader(merchant_id).await?.get::<Profiles>(Single)?;
    Ok(MerchantClock { now: service.clock_of(merchant_id), zone: profile.as_ref().map_or(TimeZone::UTC, zone) })
}

/// Reports a call that gives none of [`CLUES`] or several, and one whose clue is too common to search all merchants by.
fn check_clues(fields: &mut Fields<'_>) {
    let given: Vec<&'static str> = CLUES.into_iter().filter(|name| fields.is_given(name)).collect();
    match given.as_slice() {
        [] => {
            let message = "send one of payment_id, external_id and last_digits";
            fields.fault(Fault::missing_because(CLUES[0], message));
        }
        ["last_digits"] if !fields.is_given("merchant_id") && !fields.is_given("created_at") => {
            let message = "is required with last_digits, unless merchant_id is given";
            fields.fault(Fault::missing_because("created_at", message));
        }
        [first, others @ ..] => others.iter().for_each(|name| {
            let message = format!("cannot be given together with {first}; send one of them");
            fields.fault(Fault::invalid(name, message));
        }),
    }
}

fn last_digits(value: &Json) -> Result<[u8; 4], String> {
    let digits = own_text(value)?.into_bytes().try_into().ok();
    let digits = digits.filter(|digits: &[u8; 4]| digits.iter().all(u8::is_ascii_digit));
    digits.ok_or_else(|| "send the last four digits of the card's number, such as 4242".to_owned())
}

impl FoundPaymentShape {
    /// The object for a payment that was found.
    async fn read(service: &Service, (payment_id, merchant_id): OwnedPayment) -> Result<FoundPaymentShape, ApiError> {
        let reader = service.reader(merchant_id).await?;
        let payment = reader.get::<Payments>(payment_id)?.ok_or_else(ApiError::unhandled)?;
        let profile = reader.get::<Profiles>(Single)?.ok_or_else(ApiError::unhandled)?;
        Ok(FoundPaymentShape::new(merchant_id, profile, payment))
    }
}

//! Parses arguments into types of the domain, which cannot be invalid.

use std::str::FromStr;

use jiff::tz::TimeZone as IanaTimeZone;
use till_domain::card::SaveCard;
use till_domain::card_number::is_card_number_as_a_whole;
use till_domain::customer::{CardRef, Contact, CustomerFields, CustomerRef};
use till_domain::ids::{CardId, CustomerId, SessionId, TokenId};
use till_domain::money::{AmountMinor, Currency};
use till_domain::payment::PaymentRef;
use till_domain::session::InterestBearer;
use till_domain::text::{Description, Email, ExternalId, Mobile, Name, PersonName, ReturnUrl, TextError, TimeZone};

use super::forms::{CUSTOMER_REF, PERSON_NAME};
use crate::protocol::declaration::{Argument, ValueType};
use crate::protocol::field;
use crate::protocol::fields::Fields;
use crate::protocol::json::Json;

/// An id of one kind; `what` describes it with its prefix.
pub fn id<T: FromStr>(what: &'static str) -> impl Fn(&Json) -> Result<T, String> {
    move |value| field::from_text(what, str::parse::<T>)(value)
}

/// A payment session. A card's token is not one yet.
pub fn session_id(value: &Json) -> Result<SessionId, String> {
    if value.as_str().is_some_and(|text| text.parse::<TokenId>().is_ok()) {
        return Err("is a card's token: /sdk/select-payment-method makes a payment session (pse_...) of it".to_owned());
    }
    id("a payment session id (pse_...)")(value)
}

/// An amount in minor units.
pub fn amount(value: &Json) -> Result<AmountMinor, String> {
    let minor = field::amount(value)?;
    AmountMinor::new(minor).ok_or_else(|| "must be a positive number of minor units".to_owned())
}

/// An upper-case ISO 4217 code.
pub fn currency(value: &Json) -> Result<Currency, String> {
    field::from_text("an upper-case ISO 4217 currency code such as THB", str::parse::<Currency>)(value)
}

/// The currency of an account: one in which people pay.
pub fn account_currency(value: &Json) -> Result<Currency, String> {
    let currency = currency(value)?;
    let is_no_money = || format!("must be a currency that people pay with, such as THB: {currency} is none");
    currency.is_money().then_some(currency).ok_or_else(is_no_money)
}

/// The merchant's own identifier of an object whose ids have the type `T`. It must not look like such an id.
pub fn external_id<T: FromStr>(value: &Json) -> Result<ExternalId, String> {
    let text = own_text(value)?;
    if text.parse::<T>().is_ok() {
        return Err("must not have the form of an id of Till, which it could be confused with: send your own, such as order-1001".to_owned());
    }
    checked(ExternalId::new(text))
}

/// A reference to an object whose ids have the type `T`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdOrExternalId<T> {
    Id(T),
    /// By the identifier that its owner gave it.
    ExternalId(ExternalId),
}

/// Reads [`IdOrExternalId`].
pub fn id_or_external_id<T: FromStr>(value: &Json) -> Result<IdOrExternalId<T>, String> {
    own_or_external(value, IdOrExternalId::Id, IdOrExternalId::ExternalId)
}

/// A payment by its id or by the merchant's own.
pub fn payment_ref(value: &Json) -> Result<PaymentRef, String> {
    own_or_external(value, PaymentRef::Own, PaymentRef::External)
}

/// A customer by its id or by the merchant's own.
pub fn customer_ref(value: &Json) -> Result<CustomerRef, String> {
    own_or_external::<CustomerId, _>(value, CustomerRef::Own, CustomerRef::External)
}

/// A saved card by its id or by the merchant's own.
pub fn card_ref(value: &Json) -> Result<CardRef, String> {
    own_or_external::<CardId, _>(value, CardRef::Own, CardRef::External)
}

fn own_or_external<T: FromStr, R>(
    value: &Json,
    own: impl FnOnce(T) -> R,
    external: impl FnOnce(ExternalId) -> R,
) -> Result<R, String> {
    let text = own_text(value)?;
    match text.parse::<T>() {
        Ok(id) => Ok(own(id)),
        Err(_) => checked(ExternalId::new(text)).map(external),
    }
}

/// An e-mail address, in lower case.
pub fn email(value: &Json) -> Result<Email, String> {
    checked(Email::new(field::email(value)?.to_lowercase()))
}

/// An e-mail address that is kept in clear: the part before the `@` is no card number.
pub fn clear_email(value: &Json) -> Result<Email, String> {
    let email = email(value)?;
    let local_part = email.as_str().split('@').next().unwrap_or_default();
    if is_card_number_as_a_whole(local_part) { Err("has a card number before the @".to_owned()) } else { Ok(email) }
}

/// A mobile number.
pub fn mobile(value: &Json) -> Result<Mobile, String> {
    checked(Mobile::new(field::mobile(value)?))
}

pub fn person_name(value: &Json) -> Result<PersonName, String> {
    checked(PersonName::new(field::name(value)?))
}

/// The name of a thing.
pub fn name(value: &Json) -> Result<Name, String> {
    checked(Name::new(field::name(value)?))
}

/// The purpose of something.
pub fn description(value: &Json) -> Result<Description, String> {
    checked(Description::new(field::name(value)?))
}

/// The page to which the customer is sent afterwards.
pub fn return_url(value: &Json) -> Result<ReturnUrl, String> {
    checked(ReturnUrl::new(field::return_url(value)?))
}

/// Names in time zone databases that do not stand for a place: the machine's own zone, a file of rules, a marker for
/// machines that were never set up, and the unknown zone. Not every machine has them.
const NO_PLACES: [&str; 4] = ["localtime", "posixrules", "Factory", "Etc/Unknown"];

/// A time zone by its IANA name.
pub fn time_zone(value: &Json) -> Result<TimeZone, String> {
    let text = own_text(value)?;
    let is_a_place = !NO_PLACES.iter().any(|name| name.eq_ignore_ascii_case(&text));
    if !is_a_place || IanaTimeZone::get(&text).is_err() {
        return Err("is not an IANA time zone such as Asia/Bangkok".to_owned());
    }
    checked(TimeZone::new(text))
}

/// The choice to save the card.
pub fn save_card(value: &Json) -> Result<SaveCard, String> {
    field::one_of(&SaveCard::ALL, SaveCard::name)(value)
}

/// The side that pays the interest.
pub fn interest_bearer(value: &Json) -> Result<InterestBearer, String> {
    field::one_of(&InterestBearer::ALL, InterestBearer::name)(value)
}

/// Any string, to be checked by the type that it is converted to.
pub fn own_text(value: &Json) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("send a string, not {}", value.kind()))
}

/// A text of the domain, or its rule as the message.
pub fn checked<T>(text: Result<T, TextError>) -> Result<T, String> {
    text.map_err(|error| error.0.to_owned())
}

/// The arguments with a customer's data.
pub const CUSTOMER_ARGUMENTS: [Argument; 4] = [
    Argument::optional(
        "customer_id",
        CUSTOMER_REF,
        "The customer: an id (`ctc_...`) or the merchant's own identifier. An identifier that is not known yet is given to the customer found by e-mail or mobile, else to a new one.",
    ),
    Argument::optional(
        "customer_email",
        ValueType::EMAIL,
        "Links the payment to the customer with this address, or creates one; with `customer_id` it updates that customer.",
    )
    .shown(),
    Argument::optional(
        "customer_mobile",
        ValueType::PHONE,
        "Links the payment to the customer with this number, or creates one; with `customer_id` it updates that customer.",
    ),
    Argument::optional("customer_name", PERSON_NAME, "The customer's name."),
];

/// Reads [`CUSTOMER_ARGUMENTS`].
pub fn customer_fields(fields: &mut Fields<'_>) -> CustomerFields {
    CustomerFields {
        id: fields.optional("customer_id", customer_ref),
        contact: Contact {
            email: fields.optional("customer_email", email),
            mobile: fields.optional("customer_mobile", mobile),
            name: fields.optional("customer_name", person_name),
        },
    }
}

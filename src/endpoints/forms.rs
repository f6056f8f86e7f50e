//! The kinds of values that arguments have: for each the type, with its limits, and the parser that keeps them.

use std::str::FromStr;

use jiff::tz::TimeZone as IanaTimeZone;
use till_domain::card::SaveCard;
use till_domain::card_number::is_card_number_as_a_whole;
use till_domain::checkout::CheckoutRef;
use till_domain::customer::{CardRef, CustomerRef};
use till_domain::ids::{IdOrExternalId, SessionId, TokenId};
use till_domain::merchant::PaymentMethod;
use till_domain::money::{AmountMinor, Currency};
use till_domain::payment::PaymentRef;
use till_domain::session::InterestBearer;
use till_domain::text::{
    Description, EXTERNAL_ID_MAX_BYTES, Email, ExternalId, Mobile, NAME_MAX_CHARACTERS, Name, PersonName, Reason,
    ReturnUrl, TIME_ZONE_MAX_BYTES, TextError, TimeZone,
};
use till_domain::time::Millis;
use till_protocol::arguments::{Field, FieldOf, id};
use till_protocol::declaration::{Integer, Text, ValueType, words_of};
use till_protocol::field;
use till_protocol::json::Json;

use crate::service::CheckoutReference;

/// No control characters.
const PRINTABLE: &str = "^[^\\x00-\\x1f\\x7f-\\x9f]+$";

/// Names in time zone databases that do not stand for a place: the machine's own zone, a file of rules, a marker for
/// machines that were never set up, and the unknown zone. Not every machine has them.
const NO_PLACES: [&str; 4] = ["localtime", "posixrules", "Factory", "Etc/Unknown"];

/// The largest number of seconds that JSON readers keep exactly.
const SECONDS_MAX: u64 = (1 << 53) - 1;

/// The closed list of words of a domain type, as [`words_of!`] takes it.
macro_rules! words {
    ($named:ty) => {
        $crate::endpoints::forms::words!($named, name)
    };
    ($named:ty, $name:ident) => {
        till_protocol::arguments::Field {
            value_type: till_protocol::declaration::words_of!($named, $name),
            parse: |value| till_protocol::field::one_of(&<$named>::ALL, <$named>::$name)(value),
        }
    };
}

pub(super) use words;

/// Text of up to this number of characters, without control characters. A limit in bytes is also a limit in characters.
pub(super) const fn printable(most: usize, example: &'static str) -> ValueType {
    ValueType::Text(Text::of(1, most, example).matching(PRINTABLE))
}

/// A payment session. A card's token is not one yet.
pub(super) const SESSION_ID: Field<SessionId> = Field {
    value_type: ValueType::Id(SessionId::PREFIX),
    parse: |value| {
        if value.as_str().is_some_and(|text| text.parse::<TokenId>().is_ok()) {
            return Err(
                "is a card's token: /sdk/select-payment-method makes a payment session (pse_...) of it".to_owned()
            );
        }
        (id::<SessionId>().parse)(value)
    },
};

/// `true` or `false`.
pub(super) const BOOLEAN: Field<bool> = Field { value_type: ValueType::BOOLEAN, parse: field::boolean };

/// A whole number.
pub(super) const fn whole_number<const LEAST: u64, const MOST: u64>(example: u64) -> Field<u64> {
    let value_type = ValueType::integer(LEAST, MOST, example);
    Field { value_type, parse: |value| field::integer(LEAST..=MOST)(value) }
}

/// A time in Unix seconds that JSON readers keep exactly.
pub(super) const fn time(example: u64) -> Field<Millis> {
    let limits = Some((0, SECONDS_MAX));
    Field {
        value_type: ValueType::Integer(Integer { is_time: true, limits, example: Some(example), ..Integer::ANY }),
        parse: |value| {
            let seconds = field::integer(0..=SECONDS_MAX)(value);
            let seconds =
                seconds.map_err(|fault| format!("{fault}: it is a time in Unix seconds, as 1893456000 is 2030-01-01"));
            seconds.map(|seconds| Millis(0).plus_seconds(seconds))
        },
    }
}

/// An amount in minor units.
pub(super) const AMOUNT: Field<AmountMinor> = Field {
    value_type: ValueType::AMOUNT,
    parse: |value| {
        let minor = field::amount(value)?;
        AmountMinor::new(minor).ok_or_else(|| "must be a positive number of minor units".to_owned())
    },
};

/// An upper-case ISO 4217 code.
pub(super) const CURRENCY: Field<Currency> = Field {
    value_type: ValueType::Text(Text::of(3, 3, "THB").matching("^[A-Z]{3}$")),
    parse: |value| field::from_text("an upper-case ISO 4217 currency code such as THB", str::parse::<Currency>)(value),
};

/// The currency of an account: one in which people pay.
pub(super) const ACCOUNT_CURRENCY: Field<Currency> = Field {
    parse: |value| {
        let currency = (CURRENCY.parse)(value)?;
        let is_no_money = || format!("must be a currency that people pay with, such as THB: {currency} is none");
        currency.is_money().then_some(currency).ok_or_else(is_no_money)
    },
    ..CURRENCY
};

/// The type of the merchant's own identifiers.
const EXTERNAL_ID: ValueType = printable(EXTERNAL_ID_MAX_BYTES, "order-1001");

/// The merchant's own identifier of an object whose ids have the type `T`. It must not look like such an id.
pub(super) const fn external_id<T: FromStr>() -> Field<ExternalId> {
    Field {
        value_type: EXTERNAL_ID,
        parse: |value| {
            let text = own_text(value)?;
            if text.parse::<T>().is_ok() {
                return Err(
                    "must not have the form of an id of Till, which it could be confused with: send your own, \
                    such as order-1001"
                        .to_owned(),
                );
            }
            checked(ExternalId::new(text))
        },
    }
}

/// An object by its id or by the identifier that its owner gave it.
pub(super) const fn id_or_external_id<T: FromStr>() -> Field<IdOrExternalId<T>> {
    Field { value_type: EXTERNAL_ID, parse: own_or_external }
}

/// A payment by its id or by the merchant's own.
pub(super) const PAYMENT_REF: Field<PaymentRef> = id_or_external_id();

/// A checkout by its id, by the last segment of its address, or by the merchant's own.
pub(super) const CHECKOUT_REF: Field<CheckoutRef> = Field {
    value_type: EXTERNAL_ID,
    parse: |value| match value.as_str().and_then(|text| text.parse::<CheckoutReference>().ok()) {
        Some(reference) => Ok(CheckoutRef::Own(reference.id)),
        None => own_or_external(value),
    },
};

/// A checkout by the last segment of its address. An id alone is one that opens nothing.
pub(super) const CHECKOUT_REFERENCE: Field<CheckoutReference> = Field {
    value_type: ValueType::Text(
        Text::of(30, 57, "chk_01h2e8kqvbfwea724h75qc655w.3v8kq0n5y7r2m4x6z1b9c0d2fg")
            .matching("^chk_[0-9a-hjkmnp-tv-z]{26}(\\.[0-9a-hjkmnp-tv-z]{26})?$"),
    ),
    parse: |value| {
        field::from_text(
            "the last segment of a checkout's address (chk_..., a full stop, a secret)",
            str::parse::<CheckoutReference>,
        )(value)
    },
};

/// A customer by its id or by the merchant's own.
pub(super) const CUSTOMER_REF: Field<CustomerRef> =
    Field { value_type: printable(EXTERNAL_ID_MAX_BYTES, "customer-1001"), parse: own_or_external };

/// A saved card by its id or by the merchant's own.
pub(super) const CARD_REF: Field<CardRef> =
    Field { value_type: printable(EXTERNAL_ID_MAX_BYTES, "card-1001"), parse: own_or_external };

fn own_or_external<T: FromStr>(value: &Json) -> Result<IdOrExternalId<T>, String> {
    let text = own_text(value)?;
    match text.parse::<T>() {
        Ok(id) => Ok(IdOrExternalId::Own(id)),
        Err(_) => checked(ExternalId::new(text)).map(IdOrExternalId::External),
    }
}

/// An e-mail address, in lower case.
pub(super) const EMAIL: Field<Email> =
    Field { value_type: ValueType::EMAIL, parse: |value| checked(Email::new(field::email(value)?.to_lowercase())) };

/// An e-mail address that is kept in clear: the part before the `@` is no card number.
pub(super) const CLEAR_EMAIL: Field<Email> = Field {
    parse: |value| {
        let email = (EMAIL.parse)(value)?;
        let local_part = email.as_str().split('@').next().unwrap_or_default();
        if is_card_number_as_a_whole(local_part) { Err("has a card number before the @".to_owned()) } else { Ok(email) }
    },
    ..EMAIL
};

/// A mobile number.
pub(super) const MOBILE: Field<Mobile> =
    Field { value_type: ValueType::PHONE, parse: |value| checked(Mobile::new(field::mobile(value)?)) };

pub(super) const PERSON_NAME: Field<PersonName> =
    name_text("Somchai Jaidee", |value| checked(PersonName::new(field::name(value)?)));

/// The name of a thing.
pub(super) const NAME: Field<Name> = name_text("Example Shop", |value| checked(Name::new(field::name(value)?)));

/// The purpose of an object, in a person's words.
pub(super) const DESCRIPTION: Field<Description> =
    name_text("March 2026", |value| checked(Description::new(field::name(value)?)));

/// The reason of something.
pub(super) const fn reason(example: &'static str) -> Field<Reason> {
    name_text(example, |value| checked(Reason::new(field::name(value)?)))
}

/// A text of the length of a name.
pub(super) const fn name_text<P: Copy>(example: &'static str, parse: P) -> FieldOf<P> {
    FieldOf { value_type: printable(NAME_MAX_CHARACTERS, example), parse }
}

/// A part of a name, an address or an identifier, to be searched for.
pub(super) const fn terms(example: &'static str) -> Field<String> {
    Field {
        value_type: printable(EXTERNAL_ID_MAX_BYTES, example),
        parse: |value| field::text(1..=EXTERNAL_ID_MAX_BYTES)(value),
    }
}

/// The page to which the customer is sent afterwards.
pub(super) const RETURN_URL: Field<ReturnUrl> =
    Field { value_type: ValueType::URL, parse: |value| checked(ReturnUrl::new(field::return_url(value)?)) };

/// A time zone by its IANA name.
pub(super) const TIME_ZONE: Field<TimeZone> = Field {
    value_type: ValueType::Text(Text::of(1, TIME_ZONE_MAX_BYTES, "Asia/Bangkok").matching("^[A-Za-z0-9_+/-]+$")),
    parse: |value| {
        let text = own_text(value)?;
        let is_a_place = !NO_PLACES.iter().any(|name| name.eq_ignore_ascii_case(&text));
        if !is_a_place || IanaTimeZone::get(&text).is_err() {
            return Err("is not an IANA time zone such as Asia/Bangkok".to_owned());
        }
        checked(TimeZone::new(text))
    },
};

pub(super) const PAYMENT_METHOD_WORDS: ValueType = words_of!(PaymentMethod);
/// The side that pays the interest.
pub(super) const INTEREST_BEARER_WORDS: ValueType = words_of!(InterestBearer);

pub(super) const PAYMENT_METHOD: Field<PaymentMethod> = words!(PaymentMethod);
/// The choice to save the card.
pub(super) const SAVE_CARD: Field<SaveCard> = words!(SaveCard);
/// The side that pays the interest.
pub(super) const INTEREST_BEARER: Field<InterestBearer> = words!(InterestBearer);

/// Any string, to be checked by the type that it is converted to.
pub(super) fn own_text(value: &Json) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("send a string, not {}", value.kind()))
}

/// A text of the domain, or its rule as the message.
pub(super) fn checked<T>(text: Result<T, TextError>) -> Result<T, String> {
    text.map_err(|error| error.0.to_owned())
}

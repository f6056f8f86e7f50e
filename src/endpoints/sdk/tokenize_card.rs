//! `POST /sdk/tokenize-card`

use jiff::Timestamp;
use jiff::tz::TimeZone;
use till_actors::Secret;
use till_actors::security_codes::SecurityCode;
use till_domain::card::{CardExpiry, CardFacts, CardFingerprint, CardScheme, TokenUsage};
use till_domain::command::{Command, TokenizeCard};
use till_domain::event::Answer;
use till_domain::ids::{MerchantId, TokenId};
use till_domain::text::HolderName;
use till_domain::time::Millis;
use till_protocol::fault::Fault;
use till_protocol::field;
use till_protocol::fields::Fields;
use till_protocol::json::Json;
use till_storage::vault::{CardNumber, Keyring};

use super::session::INSTALLATION_ERRORS;
use crate::endpoints::forms::{PERSON_NAME, checked, words};
use crate::endpoints::prelude::*;
use crate::service::{NamedInstallation, reply_of};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[Endpoint(&TOKENIZE_CARD, &tokenize_card)];

/// Digits; the parser checks the check digit, too.
const CARD_NUMBER: Field<CardNumber> =
    Field { value_type: ValueType::Text(Text::of(12, 19, "4242424242424242").matching("^[0-9]+$")), parse: number };

/// The name on a card.
const HOLDER: Field<HolderName> =
    Field { value_type: PERSON_NAME.value_type, parse: |value| checked(HolderName::new(field::name(value)?)) };

/// A month and the last two digits of a year.
const EXPIRATION_DATE: Field<CardExpiry> = Field {
    value_type: ValueType::Text(Text::of(5, 5, "12/49").matching("^(0[1-9]|1[0-2])/[0-9]{2}$")),
    parse: expiry,
};

/// The security code printed on the card.
const SECURITY_CODE: Field<SecurityCode> =
    Field { value_type: ValueType::Text(Text::of(3, 4, "123").matching("^[0-9]+$")), parse: security_code };

const TOKENIZED: ArgumentSet<(NamedInstallation, SentCard), Service> = arguments!(with service; {
    installation: NamedInstallation::arguments::<Service>(),
    number: CARD_NUMBER.required("The card's number: 12 to 19 digits without separators."),
    holder: HOLDER.required("The name on the card.").with_name("name"),
    expiry: EXPIRATION_DATE.required("The last month in which it is valid, as MM/YY.").with_name("expiration_date"),
    security_code: SECURITY_CODE
        .required("Its security code: 4 digits for American Express, 3 for all others."),
    usage: words!(TokenUsage)
        .optional("`SINGLE` for one selection within 30 minutes, `MULTIPLE` for any number; only a card of the latter \
            kind can be saved. `SINGLE` when left out.")
        .in_examples(),
} judged by |fields: &mut Fields<'_>| {
    let now = installation.map_or_else(|| service.now(), |named| service.clock_of(named.merchant_id()));
    if let Some(Err(message)) = expiry.map(|expiry| check_expiry(expiry, now)) {
        fields.fault(Fault::invalid("expiration_date", message));
    }
    let scheme = number.as_ref().map(|number| CardScheme::of_digits(number.expose_digits()));
    if let Some(Err(message)) = security_code.as_ref().map(|code| check_length(code, scheme)) {
        fields.fault(Fault::invalid("security_code", message));
    }
} => (installation, SentCard { number, holder, expiry, security_code, usage: usage.unwrap_or(TokenUsage::Single) }));

static TOKENIZE_CARD: Declaration = Declaration {
    name: "tokenize-card",
    summary: "Stores a card and answers a token (`tok_...`) for it.",
    docs: "The number is stored encrypted in the vault, and no answer contains it. The security code is held in \
        memory for at most 30 minutes and never stored. No `Idempotency-Key` is taken: a repeated call only makes \
        another token.",
    arguments: TOKENIZED.declared,
    returns: Returns::Id(TokenId::PREFIX),
    errors: &[
        INSTALLATION_ERRORS[0],
        DeclaredError::new(Code::NotSupported, "Cards are entered on the acquirer's page: `card_entry` is PAGE."),
    ],
    flags: Flags::CARD_INTAKE,
    ..Declaration::command(Package::Sdk, "cards")
};

/// A card in the caller's spelling.
struct SentCard {
    number: CardNumber,
    holder: HolderName,
    expiry: CardExpiry,
    security_code: SecurityCode,
    usage: TokenUsage,
}

/// `POST /sdk/tokenize-card`
async fn tokenize_card(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (caller, card) = service.sdk_call(&call, call.fields().parse_in(&TOKENIZED, &service)).await?;
    service.count_write(&call, &caller)?;
    let merchant_id = caller.merchant_id();
    let facts = card_facts(service.keyring(), merchant_id, &card.number, card.holder, card.expiry);
    let command = Command::TokenizeCard(TokenizeCard { card: facts, usage: card.usage });
    let secret = Some(Secret::CardNumber(card.number));
    let answered = service.submit(&call, merchant_id, caller.as_domain(), command, secret).await?;
    if let Answer::Token(token_id) = answered.answer {
        service.keep_security_code(merchant_id, token_id, card.security_code);
    }
    Ok(reply_of(answered))
}

/// The facts about a merchant's card that are kept outside the vault.
pub fn card_facts(
    keyring: &Keyring,
    merchant_id: MerchantId,
    number: &CardNumber,
    holder: HolderName,
    expiry: CardExpiry,
) -> CardFacts {
    let digits = number.expose_digits();
    CardFacts {
        scheme: CardScheme::of_digits(digits),
        first_digits: digits.chars().take(6).collect(),
        last_digits: digits.chars().skip(digits.len().saturating_sub(4)).collect(),
        expiry,
        holder: Some(holder),
        fingerprint: CardFingerprint(keyring.card_fingerprint(merchant_id, number)),
    }
}

/// A card number. The message never repeats it.
fn number(value: &Json) -> Result<CardNumber, String> {
    let digits = value.as_str().ok_or_else(|| format!("send the digits as a string, not as {}", value.kind()))?;
    let has_form = (12..=19).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let refused = if has_form {
        "is not a card number: its check digit is wrong, so a digit is mistyped; compare it with the card"
    } else {
        "is not a card number: send 12 to 19 digits, nothing between them"
    };
    CardNumber::parse(digits).map_err(|_| refused.to_owned())
}

/// A security code. The message never repeats it.
fn security_code(value: &Json) -> Result<SecurityCode, String> {
    let refused = || "is not a security code: send 3 or 4 digits".to_owned();
    SecurityCode::parse(value.as_str().ok_or_else(refused)?).map_err(|_| refused())
}

/// Refuses a code of another length than a card of this scheme has, when its number could be read.
fn check_length(code: &SecurityCode, scheme: Option<CardScheme>) -> Result<(), &'static str> {
    let has_length = |scheme: CardScheme| code.expose_digits().len() == scheme.security_code_digits();
    scheme.map_or(Ok(()), |scheme| if has_length(scheme) { Ok(()) } else { Err(wrong_length(scheme)) })
}

const fn wrong_length(scheme: CardScheme) -> &'static str {
    if scheme.security_code_digits() == 4 {
        "is too short: send the 4 digits on the front of an American Express card, above its number"
    } else {
        "is too long: send the 3 digits on the back of the card"
    }
}

/// `MM/YY`.
fn expiry(value: &Json) -> Result<CardExpiry, String> {
    let refused = || "is not an expiration date: send MM/YY".to_owned();
    let text = value.as_str().ok_or_else(refused)?;
    let (month, year) =
        text.split_once('/').filter(|(month, year)| month.len() == 2 && year.len() == 2).ok_or_else(refused)?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(month) || !digits(year) {
        return Err(refused());
    }
    let month: u8 = month.parse().map_err(|_| refused())?;
    let year: u16 = year.parse().map_err(|_| refused())?;
    let expiry = CardExpiry { year: 2_000 + year, month };
    if (1..=12).contains(&month) { Ok(expiry) } else { Err(refused()) }
}

/// Refuses a card whose last month has ended everywhere.
fn check_expiry(expiry: CardExpiry, now: Millis) -> Result<(), &'static str> {
    if expiry < current_month(now) { Err("is in the past: the card has expired; use another card") } else { Ok(()) }
}

/// The hours by which the last time zone is behind UTC.
const LAST_ZONE_HOURS: i64 = 12;

/// The month in the last time zone of the world.
fn current_month(now: Millis) -> CardExpiry {
    let seconds = i64::try_from(now.unix_seconds()).unwrap_or(i64::MAX) - LAST_ZONE_HOURS * 3_600;
    let date = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::UTC).date();
    let year = u16::try_from(date.year()).unwrap_or(u16::MAX);
    CardExpiry { year, month: u8::try_from(date.month()).unwrap_or(12) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-01 at noon UTC: the second at which February ends in the last time zone.
    const MARCH_BEGINS: Millis = Millis(1_772_366_400_000);

    #[test]
    fn a_refused_card_number_names_the_length_or_the_check_digit() {
        let said = |value: Json| number(&value).err().unwrap_or_default();
        for (digits, expected) in [
            ("4242424242424241", "its check digit is wrong"),
            ("4242 4242 4242 4242", "send 12 to 19 digits, nothing between them"),
            ("42424242424", "send 12 to 19 digits"),
        ] {
            let message = said(Json::String(digits.to_owned()));
            assert!(message.contains(expected) && !message.contains("42"), "{message}");
        }
        let integer = said(Json::Number(4_242_424_242_424_242_i64.into()));
        assert_eq!(integer, "send the digits as a string, not as a number");
    }

    #[test]
    fn a_security_code_has_the_length_that_its_scheme_prints() {
        let read = |code: &str, scheme| {
            let code = security_code(&Json::String(code.to_owned()));
            check_length(&code.unwrap_or_else(|message| panic!("{message}")), scheme)
        };
        assert_eq!(read("1234", Some(CardScheme::Amex)), Ok(()));
        assert_eq!(read("123", Some(CardScheme::Amex)), Err(wrong_length(CardScheme::Amex)));
        assert_eq!(read("123", Some(CardScheme::Visa)), Ok(()));
        assert_eq!(read("1234", Some(CardScheme::Visa)), Err(wrong_length(CardScheme::Visa)));
        assert_eq!((read("123", None), read("1234", None)), (Ok(()), Ok(())), "the number is refused");
    }

    fn read(text: &str, now: Millis) -> Result<(u16, u8), String> {
        let expiry = expiry(&Json::String(text.to_owned()))?;
        check_expiry(expiry, now)?;
        Ok((expiry.year, expiry.month))
    }

    #[test]
    fn a_card_is_good_until_its_month_has_ended_everywhere() {
        assert_eq!(read("02/26", Millis(MARCH_BEGINS.0 - 1)), Ok((2026, 2)));
        assert!(read("02/26", MARCH_BEGINS).is_err());
        assert_eq!(read("03/26", MARCH_BEGINS), Ok((2026, 3)));
        assert_eq!(read("12/99", MARCH_BEGINS), Ok((2099, 12)));
    }

    #[test]
    fn any_other_form_is_no_expiration_date() {
        for text in ["", "3/26", "03/2026", "0326", "13/26", "00/26", "03-26", "+3/26", "03/+6", "aa/bb", "03/26 "] {
            assert!(read(text, MARCH_BEGINS).is_err(), "{text:?}");
        }
        assert!(expiry(&Json::Null).is_err());
    }
}

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
use till_storage::vault::{CardNumber, Keyring};

use super::session::INSTALLATION_ERRORS;
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::forms::PERSON_NAME;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Argument, Declaration, Flags, Package, Returns, Text, ValueType, words_of};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::protocol::fields::Fields;
use crate::protocol::json::Json;
use crate::service::{NamedInstallation, SdkCaller, Service, Shared};

/// Digits; the parser checks the check digit, too.
const CARD_NUMBER: ValueType = ValueType::Text(Text::of(12, 19, "4242424242424242").matching("^[0-9]+$"));
/// A month and the last two digits of a year.
const EXPIRATION_DATE: ValueType = ValueType::Text(Text::of(5, 5, "12/49").matching("^(0[1-9]|1[0-2])/[0-9]{2}$"));
/// The security code printed on the card.
const SECURITY_CODE: ValueType = ValueType::Text(Text::of(3, 4, "123").matching("^[0-9]+$"));

pub(super) static TOKENIZE_CARD: Declaration = Declaration {
    name: "tokenize-card",
    package: Package::Sdk,
    group: "cards",
    summary: "Stores a card and answers a token (`tok_...`) for it.",
    docs: "The number is stored encrypted in the vault, and no answer contains it. The security code is held in memory for at most 30 minutes and never stored. No `Idempotency-Key` is taken: a repeated call only makes another token.",
    arguments: &[
        SdkCaller::ARGUMENTS[0],
        SdkCaller::ARGUMENTS[1],
        Argument::required("number", CARD_NUMBER, "The card's number: 12 to 19 digits without separators."),
        Argument::required("name", PERSON_NAME, "The name on the card."),
        Argument::required("expiration_date", EXPIRATION_DATE, "The last month in which it is valid, as MM/YY."),
        Argument::required("security_code", SECURITY_CODE, "Its security code: 4 digits for American Express, 3 for all others."),
        Argument::optional(
            "usage",
            words_of!(TokenUsage),
            "`SINGLE` for one selection within 30 minutes, `MULTIPLE` for any number; only a card of the latter kind can be saved. `SINGLE` when left out.",
        )
        .shown(),
    ],
    returns: Returns::Id(TokenId::PREFIX),
    errors: &INSTALLATION_ERRORS,
    flags: Flags::CARD_INTAKE,
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
pub(super) async fn tokenize_card(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (caller, card) = service.sdk_call(&call, parse(call.fields(), &service)).await?;
    let merchant_id = caller.merchant_id();
    let facts = card_facts(&service.keyring, merchant_id, &card.number, card.holder, card.expiry);
    let command = Command::TokenizeCard(TokenizeCard { card: facts, usage: card.usage });
    let secret = Some(Secret::CardNumber(card.number));
    let answered = service.submit(&TOKENIZE_CARD, &call, merchant_id, caller.as_domain(), command, secret).await?;
    if let Answer::Token(token_id) = answered.answer {
        service.security_codes.insert(merchant_id, token_id, card.security_code);
    }
    Ok(answered.into())
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

fn parse(mut fields: Fields<'_>, service: &Service) -> Result<(NamedInstallation, SentCard), ApiError> {
    let named = NamedInstallation::read(&mut fields);
    let now = named.map_or_else(|| service.now(), |named| service.clock_of(named.merchant_id()));
    let number = fields.required("number", number);
    let holder = fields.required("name", |value| arguments::checked(HolderName::new(field::name(value)?)));
    let expiry = fields.required("expiration_date", |value| expiry(value, now));
    let scheme = number.as_ref().map(|number| CardScheme::of_digits(number.expose_digits()));
    let security_code = fields.required("security_code", |value| security_code(value, scheme));
    let usage = fields.optional("usage", field::one_of(&TokenUsage::ALL, TokenUsage::name));
    fields.finish(|| {
        let card = SentCard {
            number: number?,
            holder: holder?,
            expiry: expiry?,
            security_code: security_code?,
            usage: usage.unwrap_or(TokenUsage::Single),
        };
        Some((named?, card))
    })
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

/// A security code of a card of this scheme, when its number could be read. The message never repeats the code.
fn security_code(value: &Json, scheme: Option<CardScheme>) -> Result<SecurityCode, String> {
    let refused = || "is not a security code: send 3 or 4 digits".to_owned();
    let code = SecurityCode::parse(value.as_str().ok_or_else(refused)?).map_err(|_| refused())?;
    let has_length = |scheme: CardScheme| code.expose_digits().len() == scheme.security_code_digits();
    match scheme {
        Some(scheme) if !has_length(scheme) => Err(wrong_length(scheme).to_owned()),
        Some(_) | None => Ok(code),
    }
}

const fn wrong_length(scheme: CardScheme) -> &'static str {
    if scheme.security_code_digits() == 4 {
        "is too short: send the 4 digits on the front of an American Express card, above its number"
    } else {
        "is too long: send the 3 digits on the back of the card"
    }
}

/// `MM/YY`; not before the current month in the last time zone of the world.
fn expiry(value: &Json, now: Millis) -> Result<CardExpiry, String> {
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
    if !(1..=12).contains(&month) {
        return Err(refused());
    }
    if expiry < current_month(now) {
        Err("is in the past: the card has expired; use another card".to_owned())
    } else {
        Ok(expiry)
    }
}

/// The hours by which the last time zone is behind UTC.
const LAST_ZONE_HOURS: i64 = 12;

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
        let read = |code: &str, scheme| security_code(&Json::String(code.to_owned()), scheme).map(drop);
        assert_eq!(read("1234", Some(CardScheme::Amex)), Ok(()));
        assert_eq!(read("123", Some(CardScheme::Amex)), Err(wrong_length(CardScheme::Amex).to_owned()));
        assert_eq!(read("123", Some(CardScheme::Visa)), Ok(()));
        assert_eq!(read("1234", Some(CardScheme::Visa)), Err(wrong_length(CardScheme::Visa).to_owned()));
        assert_eq!((read("123", None), read("1234", None)), (Ok(()), Ok(())), "the number is refused");
    }

    fn read(text: &str, now: Millis) -> Result<(u16, u8), String> {
        expiry(&Json::String(text.to_owned()), now).map(|expiry| (expiry.year, expiry.month))
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
        assert!(expiry(&Json::Null, MARCH_BEGINS).is_err());
    }
}

//! The types of arguments that several endpoints take, with the limits that their parsers in `arguments` keep.

use till_domain::card::SaveCard;
use till_domain::merchant::PaymentMethod;
use till_domain::session::InterestBearer;
use till_domain::text::{EXTERNAL_ID_MAX_BYTES, NAME_MAX_CHARACTERS};

use crate::protocol::api_error::Code;
use crate::protocol::declaration::{Argument, DeclaredError, Text, ValueType, words_of};

/// No control characters.
const PRINTABLE: &str = "^[^\\x00-\\x1f\\x7f-\\x9f]+$";

/// Text of up to this number of characters, without control characters. A limit in bytes is also a limit in characters.
pub(super) const fn printable(most: usize, example: &'static str) -> ValueType {
    ValueType::Text(Text::of(1, most, example).matching(PRINTABLE))
}

/// An identifier of the merchant's own.
pub(super) const EXTERNAL_ID: ValueType = printable(EXTERNAL_ID_MAX_BYTES, "order-1001");
/// A customer by its id or by the merchant's own identifier.
pub(super) const CUSTOMER_REF: ValueType = printable(EXTERNAL_ID_MAX_BYTES, "customer-1001");
/// A saved card by its id or by the merchant's own identifier.
pub(super) const CARD_REF: ValueType = printable(EXTERNAL_ID_MAX_BYTES, "card-1001");
/// The name of a thing.
pub(super) const NAME: ValueType = printable(NAME_MAX_CHARACTERS, "Example Shop");
/// The purpose of an object, in a person's words.
pub(super) const DESCRIPTION: ValueType = printable(NAME_MAX_CHARACTERS, "March 2026");
pub(super) const PERSON_NAME: ValueType = printable(NAME_MAX_CHARACTERS, "Somchai Jaidee");
/// An ISO 4217 code.
pub(super) const CURRENCY: ValueType = ValueType::Text(Text::of(3, 3, "THB").matching("^[A-Z]{3}$"));

pub(super) const PAYMENT_METHOD_WORDS: ValueType = words_of!(PaymentMethod);
/// The choice to save the card.
pub(super) const SAVE_CARD_WORDS: ValueType = words_of!(SaveCard);
/// The side that pays the interest.
pub(super) const INTEREST_BEARER_WORDS: ValueType = words_of!(InterestBearer);

/// The argument that names a payment.
pub(super) const PAYMENT_ARGUMENT: Argument = Argument::required(
    "payment_id",
    EXTERNAL_ID,
    "The payment: its id (`pay_...`) or the merchant's own `external_id`.",
);
/// The argument that names a refund.
pub(super) const REFUND_ARGUMENT: Argument =
    Argument::required("refund_id", EXTERNAL_ID, "The refund: its id (`rfn_...`) or the merchant's own `external_id`.");
/// The argument that names a payout.
pub(super) const PAYOUT_ARGUMENT: Argument =
    Argument::required("payout_id", EXTERNAL_ID, "The payout: its id (`pyo_...`) or the merchant's own `external_id`.");
/// The refusal when no payment has that id.
pub(super) const PAYMENT_NOT_FOUND: DeclaredError =
    DeclaredError::when(Code::NotFound, "No payment of this merchant has this id.");

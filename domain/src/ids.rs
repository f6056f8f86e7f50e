//! Ids: TypeIDs, a prefix and 26 characters of Crockford base32 of a UUIDv7, so that they sort by creation.
//!
//! Source: the TypeID specification 0.3 for the text form, RFC 9562 section 5.7 for the bits.

use std::fmt::{self, Display};
use std::str::FromStr;

use uuid::{Builder, Uuid};

use crate::text::ExternalId;

/// Characters of the Crockford base32 alphabet that TypeID uses, in value order.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The entry of [`VALUES`] for a byte that is no character of the alphabet.
const NO_VALUE: u8 = u8::MAX;

/// The value of each character of the alphabet, by its byte.
static VALUES: [u8; 256] = {
    let mut values = [NO_VALUE; 256];
    let mut value: u8 = 0;
    while value < 32 {
        values[ALPHABET[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// Length of the part of an id after its prefix.
pub const SUFFIX_LEN: usize = 26;

/// The error of a text that is not an id of the expected kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be `{prefix}_` and 26 characters of lower-case base32")]
pub struct IdError {
    /// The prefix of the expected kind, without the underscore.
    pub prefix: &'static str,
}

/// The 128 bits of a UUIDv7: milliseconds since the Unix epoch (48), the counter within the merchant (12) and
/// randomness (62). The order of its bytes is the order of creation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawId(Uuid);

impl RawId {
    /// An id from its position in its merchant's order and 62 bits of randomness (the upper two bits of
    /// `random` are dropped).
    #[must_use]
    pub fn new(position: IdPosition, random: u64) -> RawId {
        let mut tail = [0; 10];
        tail[..2].copy_from_slice(&position.counter.to_be_bytes());
        tail[2..].copy_from_slice(&random.to_be_bytes());
        RawId(Builder::from_unix_timestamp_millis(position.millis, &tail).into_uuid())
    }

    /// The id with exactly these bytes, as they are stored on disk.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> RawId {
        RawId(Uuid::from_bytes(bytes))
    }

    /// The 16 bytes, big-endian: their order is the order of creation.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.into_bytes()
    }

    /// The position of the id in its merchant's order.
    #[must_use]
    pub fn position(self) -> IdPosition {
        let (upper, _) = self.0.as_u64_pair();
        IdPosition { millis: upper >> 16, counter: u16::try_from(upper & 0x0fff).unwrap_or(0) }
    }

    /// The id directly before this one in the order of all ids, in use or not.
    #[must_use]
    pub fn predecessor(self) -> Option<RawId> {
        self.0.as_u128().checked_sub(1).map(Uuid::from_u128).map(RawId)
    }

    /// The id directly after this one in the order of all ids, in use or not.
    #[must_use]
    pub fn successor(self) -> Option<RawId> {
        self.0.as_u128().checked_add(1).map(Uuid::from_u128).map(RawId)
    }

    /// The id at the same place in the order, with the last 62 bits of `secret` in place of its randomness.
    #[must_use]
    pub fn with_random(self, secret: u64) -> RawId {
        RawId::new(self.position(), secret)
    }

    /// The smallest bits of an id of a millisecond since the Unix epoch.
    #[must_use]
    pub fn first_at(millis: u64) -> RawId {
        RawId::bounding(millis, u8::MIN)
    }

    /// The largest bits of an id of a millisecond since the Unix epoch.
    #[must_use]
    pub fn last_at(millis: u64) -> RawId {
        RawId::bounding(millis, u8::MAX)
    }

    /// Ids hold 48 bits of the milliseconds.
    fn bounding(millis: u64, rest: u8) -> RawId {
        let mut bytes = [rest; 16];
        let millis = millis.min((1 << 48) - 1).to_be_bytes();
        bytes[..6].copy_from_slice(&millis[2..]);
        RawId::from_bytes(bytes)
    }

    fn encode(self) -> [u8; SUFFIX_LEN] {
        let mut rest = self.0.as_u128();
        let mut text = [b'0'; SUFFIX_LEN];
        for slot in text.iter_mut().rev() {
            let index = usize::try_from(rest & 31).unwrap_or(0);
            *slot = ALPHABET[index];
            rest >>= 5;
        }
        text
    }

    pub(crate) fn decode(suffix: &str) -> Option<RawId> {
        let suffix = suffix.as_bytes();
        // 26 characters hold 130 bits: the first may only use three of its five.
        if suffix.len() != SUFFIX_LEN || suffix[0] > b'7' {
            return None;
        }
        let mut bits: u128 = 0;
        for character in suffix {
            let value = VALUES[usize::from(*character)];
            if value == NO_VALUE {
                return None;
            }
            bits = (bits << 5) | u128::from(value);
        }
        Some(RawId(Uuid::from_u128(bits)))
    }
}

impl fmt::Debug for RawId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.encode();
        f.write_str(std::str::from_utf8(&text).unwrap_or("?"))
    }
}

/// The position of an id in its merchant's order: the pair grows with every id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct IdPosition {
    /// Milliseconds since the Unix epoch, 48 bits.
    pub millis: u64,
    /// The number of ids made within that millisecond, 12 bits.
    pub counter: u16,
}

impl IdPosition {
    /// The largest counter that fits into its 12 bits.
    const COUNTER_MAX: u16 = 0x0fff;

    /// The position after this one at the time `now_millis`, strictly greater also when the clock stepped
    /// back: a full counter borrows the next millisecond.
    #[must_use]
    pub fn next(self, now_millis: u64) -> IdPosition {
        if now_millis > self.millis {
            IdPosition { millis: now_millis, counter: 0 }
        } else if self.counter < Self::COUNTER_MAX {
            IdPosition { millis: self.millis, counter: self.counter.saturating_add(1) }
        } else {
            IdPosition { millis: self.millis.saturating_add(1), counter: 0 }
        }
    }
}

/// A source of 64-bit random numbers. The domain has none of its own: it is passed in with the context.
pub trait Entropy {
    /// The next 64 random bits.
    fn next_u64(&mut self) -> u64;
}

/// The common interface of the types of ids.
pub trait Id: Copy + FromStr + Display {
    /// The prefix of the kind, without the underscore.
    const PREFIX: &'static str;
    /// The words for such an id in messages, with its prefix, as in "a payment id (pay_...)".
    const DESCRIPTION: &'static str;
    /// The id with these bits.
    fn from_raw(raw: RawId) -> Self;
    /// The bits without the kind.
    fn to_raw(self) -> RawId;
}

/// The reference by which a call names an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IdOrExternalId<I> {
    /// By Till's id.
    Own(I),
    /// By the identifier that its owner gave it.
    External(ExternalId),
}

impl<I> IdOrExternalId<I> {
    /// The identifier that the owner of the object gave it, when it is named by that.
    #[must_use]
    pub const fn external_id(&self) -> Option<&ExternalId> {
        match self {
            IdOrExternalId::External(external_id) => Some(external_id),
            IdOrExternalId::Own(_) => None,
        }
    }
}

impl<I: fmt::Display> fmt::Display for IdOrExternalId<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IdOrExternalId::Own(id) => id.fmt(f),
            IdOrExternalId::External(external_id) => f.write_str(external_id.as_str()),
        }
    }
}

/// Declares a type for each kind of id with its prefix, and [`each_id!`] of them all.
macro_rules! id_types {
    ($dollar:tt $($(#[$doc:meta])* $name:ident = $prefix:literal, $description:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(RawId);

        impl $name {
            /// The prefix of this kind, without the underscore.
            pub const PREFIX: &'static str = $prefix;

            /// The id with these bits.
            #[must_use]
            pub const fn from_raw(raw: RawId) -> Self {
                Self(raw)
            }

            /// The 128 bits without the kind.
            #[must_use]
            pub const fn raw(self) -> RawId {
                self.0
            }

            /// The id with exactly these bytes, as they are stored on disk.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(RawId::from_bytes(bytes))
            }

            /// The 16 bytes, big-endian.
            #[must_use]
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0.to_bytes()
            }
        }

        impl Id for $name {
            const PREFIX: &'static str = $prefix;
            const DESCRIPTION: &'static str = concat!($description, " (", $prefix, "_...)");

            fn from_raw(raw: RawId) -> Self {
                Self(raw)
            }

            fn to_raw(self) -> RawId {
                self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!($prefix, "_"))?;
                std::fmt::Debug::fmt(&self.0, f)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let suffix = text.strip_prefix(concat!($prefix, "_"));
                suffix.and_then(RawId::decode).map(Self).ok_or(IdError { prefix: $prefix })
            }
        }
    )+

        /// Calls a macro with the types of all kinds of ids, for conversions that are the same for each.
        #[macro_export]
        macro_rules! each_id {
            ($dollar callback:ident) => {
                $dollar callback! { $($crate::ids::$name)+ }
            };
        }
    };
}

// The sign is written here because a macro that is declared by another cannot write it otherwise.
id_types! { $
    /// One merchant: the owner of a log, and the boundary of isolation.
    MerchantId = "mer", "a merchant id";
    /// One payment of one merchant.
    PaymentId = "pay", "a payment id";
    /// One selection of a payment method in the customer's client, with its amount.
    SessionId = "pse", "a payment session id";
    /// One checkout: an amount with an address at which a customer pays it.
    CheckoutId = "chk", "a checkout id";
    /// One tokenized card, for one use or for several.
    TokenId = "tok", "a card token";
    /// One customer (contact) of a merchant.
    CustomerId = "ctc", "a customer id";
    /// One saved card of a customer.
    CardId = "crd", "a card id";
    /// One top-up of a merchant's balance.
    TopupId = "tup", "a top-up id";
    /// One double-entry transaction of the ledger.
    TransactionId = "txn", "a transaction id";
    /// One entry of a ledger transaction.
    EntryId = "ent", "an entry id";
    /// One entry of the activity log.
    ActivityId = "act", "an activity log id";
    /// The uid of an API key.
    KeyId = "key", "a key id";
    /// One installation of a client SDK: a site, an app, a terminal.
    InstallationId = "ins", "an installation id";
    /// One permission to set a member's credentials anew. It opens nothing: the address that does is made from it.
    CredentialsId = "crt", "a credentials link";
    /// One refund of a payment.
    RefundId = "rfn", "a refund id";
    /// One dispute of a payment.
    DisputeId = "dsp", "a dispute id";
    /// One payout of a merchant's balance.
    PayoutId = "pyo", "a payout id";
    /// One invoice that was charged to a merchant's balance.
    InvoiceId = "inv", "an invoice id";
    /// One statement: a month of a merchant's balance that is over.
    StatementId = "stm", "a statement id";
    /// One webhook: an endpoint of a merchant that events are delivered to.
    WebhookId = "whe", "a webhook id";
    /// One event of a merchant, as webhooks deliver it.
    WebhookEventId = "evt", "an event id";
    /// One delivery of one event to one webhook.
    DeliveryId = "dlv", "a delivery id";
    /// One user: a member of a merchant's team.
    UserId = "usr", "a user id";
    /// One invitation to a merchant's team.
    InvitationId = "ivt", "an invitation id";
    /// One account of a merchant at an acquirer.
    AcquirerId = "acq", "an id of an account at an acquirer";
    /// One plan of the catalogue.
    PlanId = "pln", "a plan id";
    /// One metadata record, from its creation until it is deleted or expires.
    MetadataId = "mtd", "a cursor that a page of this list named";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_as_it_was_written() {
        let id = PaymentId::from_raw(RawId::new(IdPosition { millis: 1_700_000_000_000, counter: 7 }, u64::MAX));
        let text = id.to_string();
        assert_eq!(text.len(), 4 + SUFFIX_LEN);
        assert_eq!(text.parse::<PaymentId>(), Ok(id));
        assert!(text.parse::<SessionId>().is_err(), "another kind's id is refused");
    }

    #[test]
    fn the_text_form_is_that_of_the_typeid_specification() {
        // The `uuidv7` vector of the TypeID specification's valid examples.
        let bytes = 0x0188_9c89_df6b_7f1c_a388_9139_6ec3_14bc_u128.to_be_bytes();
        assert_eq!(PaymentId::from_bytes(bytes).to_string(), "pay_01h2e8kqvbfwea724h75qc655w");
    }

    #[test]
    fn a_text_of_other_length_case_alphabet_or_overflow_is_no_id() {
        for text in [
            "pay_01h2e8kqvbfwea724h75qc655",
            "pay_01h2e8kqvbfwea724h75qc655w0",
            "pay_01H2E8KQVBFWEA724H75QC655W",
            "pay_81h2e8kqvbfwea724h75qc655w",
            "pay_01h2e8kqvbfwea724h75qc655u",
            "pay01h2e8kqvbfwea724h75qc655w",
            "",
        ] {
            assert!(text.parse::<PaymentId>().is_err(), "{text:?} must be refused");
        }
    }

    #[test]
    fn id_parts_have_their_bits_and_overlong_ones_are_cut() {
        let position = IdPosition { millis: 0xffff_0123_4567_89ab, counter: 0xfcde };
        let id = RawId::new(position, 0xd123_4567_89ab_cdef);
        assert_eq!(id.to_bytes(), 0x0123_4567_89ab_7cde_9123_4567_89ab_cdef_u128.to_be_bytes());
        assert_eq!(id.position(), IdPosition { millis: 0x0123_4567_89ab, counter: 0xcde });
    }

    #[test]
    fn an_id_is_adjacent_to_its_neighbours_and_the_ends_have_one() {
        let (first, last) = (RawId::from_bytes([0; 16]), RawId::from_bytes([u8::MAX; 16]));
        assert_eq!((first.predecessor(), last.successor()), (None, None));
        let id = RawId::from_bytes(0x0100_u128.to_be_bytes());
        assert_eq!(id.predecessor(), Some(RawId::from_bytes(0xff_u128.to_be_bytes())));
        assert_eq!(id.predecessor().and_then(RawId::successor), Some(id));
    }

    #[test]
    fn ids_grow_strictly_despite_clock_steps_and_a_full_counter() {
        let mut position = IdPosition::default();
        let mut last = RawId::new(position, u64::MAX);
        for step in 0..10_000_u64 {
            position = position.next(1_000_u64.saturating_sub(step));
            let id = RawId::new(position, 0);
            assert!(id > last, "step {step}");
            assert_eq!(id.position(), position);
            last = id;
        }
    }
}

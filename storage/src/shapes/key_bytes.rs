//! The bytes of keys, by the types that keys are made of. Integers and ids are big-endian, so that the order of bytes
//! is theirs. A text is the last part of a key, unchanged, so that it needs no terminator. An e-mail address that other
//! parts follow has its length before it.

use till_domain::activity::ActivityObject;
use till_domain::card::CardFingerprint;
use till_domain::command::IdempotencyScope;
use till_domain::customer::CustomerRef;
use till_domain::effect::{EffectId, Timer, TimerKind};
use till_domain::ids::{
    CheckoutId, CustomerId, DisputeId, InstallationId, MerchantId, MetadataId, PaymentId, PayoutId, RawId, RefundId,
    TransactionId,
};
use till_domain::key::KeyDigest;
use till_domain::metadata::{ItemHash, SetNumber};
use till_domain::payment::CaptureTime;
use till_domain::records::Single;
use till_domain::text::{Email, ExternalId, IdempotencyKey, MetadataKey};
use till_domain::time::Millis;

pub(super) const ID_LEN: usize = 16;
pub(super) const DIGEST_LEN: usize = 32;

/// A key or a part of one. What is written is on disk since format 1: another layout needs new tables.
pub(super) trait KeyBytes: Sized {
    /// Appends it.
    fn push(&self, bytes: &mut Vec<u8>);

    /// Takes it off the front of what is left of a key.
    fn take(rest: &mut &[u8]) -> Option<Self>;
}

/// The key that is exactly these bytes.
pub(super) fn decode<K: KeyBytes>(mut rest: &[u8]) -> Option<K> {
    let key = K::take(&mut rest)?;
    rest.is_empty().then_some(key)
}

fn take_text(rest: &mut &[u8]) -> Option<String> {
    std::str::from_utf8(std::mem::take(rest)).ok().map(str::to_owned)
}

impl<const N: usize> KeyBytes for [u8; N] {
    #[inline]
    fn push(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self);
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        let (taken, left) = rest.split_first_chunk::<N>()?;
        *rest = left;
        Some(*taken)
    }
}

impl<A: KeyBytes, B: KeyBytes> KeyBytes for (A, B) {
    #[inline]
    fn push(&self, bytes: &mut Vec<u8>) {
        self.0.push(bytes);
        self.1.push(bytes);
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        Some((A::take(rest)?, B::take(rest)?))
    }
}

impl<A: KeyBytes, B: KeyBytes, C: KeyBytes> KeyBytes for (A, B, C) {
    #[inline]
    fn push(&self, bytes: &mut Vec<u8>) {
        self.0.push(bytes);
        self.1.push(bytes);
        self.2.push(bytes);
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        Some((A::take(rest)?, B::take(rest)?, C::take(rest)?))
    }
}

/// Declares types whose bytes are those of another: written and read through it.
macro_rules! through {
    ($($kind:ty: |$value:ident| $inner:expr, |$read:ident: $of:ty| $back:expr;)+) => {$(
        impl KeyBytes for $kind {
            #[inline]
            fn push(&self, bytes: &mut Vec<u8>) {
                let $value = self;
                $inner.push(bytes);
            }

            fn take(rest: &mut &[u8]) -> Option<Self> {
                let $read = <$of>::take(rest)?;
                Some($back)
            }
        }
    )+};
}

/// An id is its 16 bytes.
macro_rules! ids {
    ($($id:ty)+) => {
        through! {
            $($id: |id| id.to_bytes(), |bytes: [u8; ID_LEN]| <$id>::from_raw(RawId::from_bytes(bytes));)+
        }
    };
}

/// A text is its UTF-8 bytes up to the end of the key.
macro_rules! texts {
    ($($text:ident)+) => {$(
        impl KeyBytes for $text {
            #[inline]
            fn push(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(self.as_str().as_bytes());
            }

            fn take(rest: &mut &[u8]) -> Option<Self> {
                take_text(rest).map($text::from_stored)
            }
        }
    )+};
}

through! {
    u8: |number| number.to_be_bytes(), |bytes: [u8; 1]| u8::from_be_bytes(bytes);
    u16: |number| number.to_be_bytes(), |bytes: [u8; 2]| u16::from_be_bytes(bytes);
    u32: |number| number.to_be_bytes(), |bytes: [u8; 4]| u32::from_be_bytes(bytes);
    u64: |number| number.to_be_bytes(), |bytes: [u8; 8]| u64::from_be_bytes(bytes);
    SetNumber: |set| set.0, |number: u32| SetNumber(number);
    Millis: |millis| millis.0, |number: u64| Millis(number);
    KeyDigest: |digest| digest.0, |bytes: [u8; DIGEST_LEN]| KeyDigest(bytes);
    CardFingerprint: |fingerprint| fingerprint.0, |bytes: [u8; DIGEST_LEN]| CardFingerprint(bytes);
    ItemHash: |hash| hash.0, |bytes: [u8; DIGEST_LEN]| ItemHash(bytes);
    Timer: |timer| (timer.due, timer.kind), |parts: (Millis, TimerKind)| Timer { due: parts.0, kind: parts.1 };
}

till_domain::each_id! { ids }

texts! { ExternalId IdempotencyKey MetadataKey }

impl KeyBytes for Single {
    fn push(&self, _: &mut Vec<u8>) {}

    fn take(_: &mut &[u8]) -> Option<Self> {
        Some(Single)
    }
}

impl KeyBytes for Email {
    /// The length comes first, so that no address begins another's range.
    fn push(&self, bytes: &mut Vec<u8>) {
        let text = self.as_str().as_bytes();
        bytes.push(u8::try_from(text.len()).expect("an e-mail address has at most 254 bytes"));
        bytes.extend_from_slice(text);
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        let length = u8::take(rest)?;
        let (mut text, left) = rest.split_at_checked(usize::from(length))?;
        *rest = left;
        take_text(&mut text).map(Email::from_stored)
    }
}

impl KeyBytes for CustomerRef {
    fn push(&self, bytes: &mut Vec<u8>) {
        match self {
            CustomerRef::Own(id) => (0_u8, *id).push(bytes),
            CustomerRef::External(external_id) => (1_u8, external_id.clone()).push(bytes),
        }
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        match u8::take(rest)? {
            0 => CustomerId::take(rest).map(CustomerRef::Own),
            1 => ExternalId::take(rest).map(CustomerRef::External),
            _ => None,
        }
    }
}

impl KeyBytes for IdempotencyScope {
    fn push(&self, bytes: &mut Vec<u8>) {
        let IdempotencyScope { installation_id, endpoint, key } = self;
        bytes.push(u8::from(installation_id.is_some()));
        installation_id.map_or([0; ID_LEN], InstallationId::to_bytes).push(bytes);
        u16::try_from(endpoint.len()).expect("an endpoint is named by this program, in a few words").push(bytes);
        bytes.extend_from_slice(endpoint.as_bytes());
        key.push(bytes);
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        let (is_given, id, length) = <(u8, [u8; ID_LEN], u16)>::take(rest)?;
        let (mut endpoint, left) = rest.split_at_checked(usize::from(length))?;
        *rest = left;
        let installation_id = match is_given {
            0 => (id == [0; ID_LEN]).then_some(None)?,
            1 => Some(InstallationId::from_bytes(id)),
            _ => return None,
        };
        Some(IdempotencyScope {
            installation_id,
            endpoint: take_text(&mut endpoint)?,
            key: IdempotencyKey::take(rest)?,
        })
    }
}

impl KeyBytes for EffectId {
    /// A payment's operation is the payment alone, so that it sorts before the payment's refunds.
    fn push(&self, bytes: &mut Vec<u8>) {
        self.payment_id.push(bytes);
        if let Some(refund_id) = self.refund_id {
            refund_id.push(bytes);
        }
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        let payment_id = PaymentId::take(rest)?;
        let refund_id = if rest.is_empty() { None } else { Some(RefundId::take(rest)?) };
        Some(EffectId { payment_id, refund_id })
    }
}

impl KeyBytes for TimerKind {
    fn push(&self, bytes: &mut Vec<u8>) {
        match self {
            TimerKind::Settle(transaction_id) => (0_u8, *transaction_id).push(bytes),
            TimerKind::Lapse(payment_id) => (1_u8, *payment_id).push(bytes),
            TimerKind::EvidenceDue(dispute_id) => (2_u8, *dispute_id).push(bytes),
            TimerKind::ActionDue(payment_id) => (3_u8, *payment_id).push(bytes),
            TimerKind::ExpireMetadata(id) => (16_u8, *id).push(bytes),
            TimerKind::CloseStatement => 17_u8.push(bytes),
            TimerKind::EraseTokens(customer_id) => (18_u8, *customer_id).push(bytes),
            TimerKind::CheckoutDue(checkout_id) => (19_u8, *checkout_id).push(bytes),
        }
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        match u8::take(rest)? {
            0 => TransactionId::take(rest).map(TimerKind::Settle),
            1 => PaymentId::take(rest).map(TimerKind::Lapse),
            2 => DisputeId::take(rest).map(TimerKind::EvidenceDue),
            3 => PaymentId::take(rest).map(TimerKind::ActionDue),
            16 => MetadataId::take(rest).map(TimerKind::ExpireMetadata),
            17 => Some(TimerKind::CloseStatement),
            18 => CustomerId::take(rest).map(TimerKind::EraseTokens),
            19 => CheckoutId::take(rest).map(TimerKind::CheckoutDue),
            _ => None,
        }
    }
}

impl KeyBytes for ActivityObject {
    fn push(&self, bytes: &mut Vec<u8>) {
        match self {
            ActivityObject::Payment(id) => (0_u8, *id).push(bytes),
            ActivityObject::Refund(id) => (1_u8, *id).push(bytes),
            ActivityObject::Dispute(id) => (2_u8, *id).push(bytes),
            ActivityObject::Payout(id) => (3_u8, *id).push(bytes),
            ActivityObject::Merchant(id) => (4_u8, *id).push(bytes),
        }
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        match u8::take(rest)? {
            0 => PaymentId::take(rest).map(ActivityObject::Payment),
            1 => RefundId::take(rest).map(ActivityObject::Refund),
            2 => DisputeId::take(rest).map(ActivityObject::Dispute),
            3 => PayoutId::take(rest).map(ActivityObject::Payout),
            4 => MerchantId::take(rest).map(ActivityObject::Merchant),
            _ => None,
        }
    }
}

impl KeyBytes for CaptureTime {
    /// The number of the day; 0, the day on which nothing was captured, for those at once.
    fn push(&self, bytes: &mut Vec<u8>) {
        match self {
            CaptureTime::AtOnce => 0_u32.push(bytes),
            CaptureTime::Day(day) => day.push(bytes),
        }
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        let day = u32::take(rest)?;
        Some(if day == 0 { CaptureTime::AtOnce } else { CaptureTime::Day(day) })
    }
}

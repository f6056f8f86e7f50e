//! Enums of plain words, which are on disk by the position of the variant: no shape repeats them. A variant is added at
//! the end, and none is moved: the golden bytes have the order.

use std::fmt::Debug;

use serde::ser::{Serialize, Serializer};
use till_domain::acquirer::{AccountMode, AcquirerName, CardEntry};
use till_domain::activity::ActivityType;
use till_domain::card::{CardScheme, SaveCard, TokenUsage};
use till_domain::checkout::{CheckoutStatus, Locale};
use till_domain::customer::NamedBy;
use till_domain::customer_action::{AuthenticationFlow, AuthenticationStatus, AuthenticationVersion};
use till_domain::dispute::{DisputeOutcome, DisputeStatus};
use till_domain::failure::FailureCode;
use till_domain::ledger::{Account, Direction, EntryStatus, EntryType};
use till_domain::merchant::{PaymentMethod, Platform};
use till_domain::payment::{CaptureMode, OperationKind, PaymentStatus};
use till_domain::payout::PayoutStatus;
use till_domain::records::Unreadable;
use till_domain::refund::RefundStatus;
use till_domain::role::Role;
use till_domain::session::{InstallmentPlan, InterestBearer};
use till_domain::team::CredentialsPart;
use till_domain::webhook::{SecretSlot, WebhookEventKind, WebhookStatus};

use super::codec::{Decode, Out, ShapeError, put};
use super::key_bytes::KeyBytes;
use super::personal::Personal;
use super::shape::Shape;
use super::shown::{Shown, snake_case};

/// The shape of every [`Tagged`] enum: the position of the variant.
#[derive(Debug, Clone, Copy, Decode)]
pub struct Tag(u32);

/// An enum of plain words.
pub trait Tagged: Copy + Debug + 'static {
    /// Every variant, each at its own position.
    const ALL: &'static [Self];

    /// The position.
    fn position(self) -> u32;
}

/// Makes enums [`Tagged`], which have a list `ALL`, and names them for the golden bytes.
macro_rules! tagged {
    ($($word:ident)+) => {
        $(impl $crate::shapes::tag::Tagged for $word {
            const ALL: &'static [$word] = &$word::ALL;

            #[inline]
            fn position(self) -> u32 {
                self as u32
            }
        })+

        /// The variants of each enum, by name, in the order of their positions.
        #[cfg(test)]
        pub(crate) fn words() -> Vec<(&'static str, Vec<String>)> {
            vec![$((stringify!($word), $crate::shapes::tag::in_order::<$word>())),+]
        }
    };
}

pub(crate) use tagged;

tagged! {
    PaymentStatus CaptureMode OperationKind RefundStatus DisputeStatus DisputeOutcome PayoutStatus CardScheme TokenUsage
    SaveCard PaymentMethod AcquirerName Platform InterestBearer InstallmentPlan Account Direction EntryType EntryStatus
    ActivityType WebhookEventKind WebhookStatus SecretSlot AuthenticationFlow AuthenticationStatus CheckoutStatus Locale
    NamedBy FailureCode AccountMode CardEntry AuthenticationVersion Role CredentialsPart
}

impl Tag {
    fn of<D: Tagged>(self) -> Option<D> {
        D::ALL.get(usize::try_from(self.0).ok()?).copied()
    }
}

impl<D: Tagged> Shape<D> for Tag {
    #[inline]
    fn write(word: &D, _: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        put(&word.position(), out)
    }

    fn unpack(self, _: &dyn Personal) -> Result<D, ShapeError> {
        self.of().ok_or(ShapeError::OutOfRange { what: "a word" })
    }
}

impl<D: Tagged> KeyBytes for D {
    #[inline]
    fn push(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::try_from(self.position()).expect("no enum has 256 words"));
    }

    fn take(rest: &mut &[u8]) -> Option<D> {
        Tag(u32::from(u8::take(rest)?)).of()
    }
}

impl<D: Tagged> Serialize for Shown<'_, D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&snake_case(&format!("{:?}", self.value())))
    }
}

/// The names of all variants, after a check that each is at its position.
#[cfg(test)]
pub(crate) fn in_order<D: Tagged>() -> Vec<String> {
    let positions = D::ALL.iter().map(|word| word.position());
    assert!(positions.eq(0..u32::try_from(D::ALL.len()).expect("few")), "{:?} is out of order", D::ALL);
    D::ALL.iter().map(|word| format!("{word:?}")).collect()
}

//! Lines of format 1, which early versions of the program wrote. They are still read; a line that changes is written in
//! the present format.
//!
//! Shape of the value (integers big-endian, offsets in bytes; fields that do not apply are zero):
//! ```text
//!      0 format (1) = 1 | 1 operation (1) | 2 merchant (16) | 18 payment (16)
//!     34 amount in minor units (8) | 42 currency (3) | 45 asked at, ms (8)
//!     53 outcome (1) | 54 decline reason (1) | 55 settles at once (1)
//!     56 captured (8) | 64 voided (8) | 72 refunded (8)
//!     80 instrument (1) | 81 capture mode (1) | 82 first six (6) | 88 last four (4)
//!     92 length of the text (2) | 94 text: the plan's id, or the authorization's reference
//! ```
//! | byte | values |
//! |---|---|
//! | operation | 1 authorize, 2 capture, 3 void, 4 refund |
//! | outcome | 1 done, 2 declined |
//! | decline reason | 1 card declined, 2 insufficient funds, 3 expired card, 4 incorrect CVC, 5 processing error, 6 authentication required, 7 unknown authorization, 8 already captured, 9 already voided, 10 not captured, 11 wrong amount |
//! | instrument | 1 card, 2 instalments |
//! | capture mode | 1 automatic, 2 manual |

use till_domain::ids::{MerchantId, PaymentId};
use till_domain::money::{AmountMinor, Currency, Money};
use till_domain::payment::CaptureMode;

use super::line::{
    AuthorizationState, AuthorizeOutcome, BookInstrument, BookLine, BookOperation, DeclineReason, FollowUp,
};

pub(super) const FORMAT: u8 = 1;

/// The line with these bytes; none when they are not valid.
pub(super) fn read(reference: &str, bytes: &[u8]) -> Option<BookLine> {
    let mut rest = bytes.get(1..)?;
    let [operation] = take(&mut rest)?;
    let merchant = MerchantId::from_bytes(take(&mut rest)?);
    let payment = Some(PaymentId::from_bytes(take(&mut rest)?));
    let amount = AmountMinor::new(number(&mut rest)?)?;
    let currency = Currency::from_bytes(take(&mut rest)?);
    let asked_at_ms = number(&mut rest)?;
    let tail = Tail::read(&mut rest)?;
    let operation = if operation == 1 { tail.authorization()? } else { tail.follow_up(operation)? };
    let money = Money { amount, currency };
    Some(BookLine { reference: reference.to_owned(), merchant, payment, money, asked_at_ms, operation })
}

/// The part of a line that depends on its operation.
struct Tail<'a> {
    declined: Option<DeclineReason>,
    state: AuthorizationState,
    instrument: u8,
    capture: u8,
    first_six: [u8; 6],
    last_four: [u8; 4],
    text: &'a str,
}

impl<'a> Tail<'a> {
    fn read(rest: &mut &'a [u8]) -> Option<Tail<'a>> {
        let [outcome, reason, settles_at_once] = take(rest)?;
        let declined = match (outcome, reason) {
            (1, 0) => None,
            (2, 1..) => Some(*DeclineReason::ALL.get(usize::from(reason) - 1)?),
            _ => return None,
        };
        let state = AuthorizationState {
            settles_at_once: [false, true].get(usize::from(settles_at_once)).copied()?,
            captured_minor: number(rest)?,
            voided_minor: number(rest)?,
            refunded_minor: number(rest)?,
        };
        let ([instrument, capture], first_six, last_four) = (take(rest)?, take(rest)?, take(rest)?);
        let text_len = u16::from_be_bytes(take(rest)?);
        let text = std::str::from_utf8(rest).ok().filter(|text| text.len() == usize::from(text_len))?;
        Some(Tail { declined, state, instrument, capture, first_six, last_four, text })
    }

    fn authorization(self) -> Option<BookOperation> {
        let instrument = match self.instrument {
            1 if self.text.is_empty() => BookInstrument::Card { first_six: self.first_six, last_four: self.last_four },
            2 if self.names_no_card() => BookInstrument::Installment { plan: self.text.to_owned() },
            _ => return None,
        };
        let capture = match self.capture {
            1 => CaptureMode::Automatic,
            2 => CaptureMode::Manual,
            _ => return None,
        };
        let outcome = match self.declined {
            None => AuthorizeOutcome::Approved(self.state),
            Some(reason) if self.state == AuthorizationState::default() => AuthorizeOutcome::Declined(reason),
            Some(_) => return None,
        };
        Some(BookOperation::Authorize { instrument, capture, outcome })
    }

    fn follow_up(self, operation: u8) -> Option<BookOperation> {
        let what = match operation {
            2 => FollowUp::Capture,
            3 => FollowUp::Void,
            4 => FollowUp::Refund,
            _ => return None,
        };
        let applies = self.state == AuthorizationState::default() && self.names_no_card();
        let Tail { instrument: 0, capture: 0, declined, text, .. } = self else { return None };
        applies.then(|| BookOperation::FollowUp { what, authorization: text.to_owned(), declined })
    }

    fn names_no_card(&self) -> bool {
        (self.first_six, self.last_four) == Default::default()
    }
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(take(rest)?))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk()?;
    *rest = left;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    /// The golden bytes of the line under a reference, with one byte changed.
    fn changed(reference: &str, offset: usize, value: u8) -> Vec<u8> {
        let golden = samples::golden(FORMAT).into_iter().find(|(name, _)| *name == reference);
        let (_, mut bytes) = golden.expect("it has golden bytes");
        bytes[offset] = value;
        bytes
    }

    #[test]
    fn invalid_bytes_are_not_a_line() {
        // operation, amount (beyond 2^53 - 1), outcome, reason, settles, instrument, capture mode, text length
        for (offset, value) in [(1, 5), (34, 0xff), (53, 3), (54, 1), (55, 2), (80, 3), (81, 0), (93, 1)] {
            let bytes = changed(samples::REFERENCE, offset, value);
            assert_eq!(read(samples::REFERENCE, &bytes), None, "byte {offset}");
        }
        // A follow-up has no state, no instrument and no capture mode.
        for offset in [54, 55, 56, 64, 72, 80, 81, 82, 88] {
            assert_eq!(read("Void", &changed("Void", offset, 1)), None, "byte {offset}");
        }
    }
}

//! A line as bytes. Its key is its reference, as it is.
//!
//! Shape of the value (integers big-endian, offsets in bytes; what does not apply is zero):
//! ```text
//!      0 format (1) = 1 | 1 deed (1) | 2 merchant (16) | 18 payment (16)
//!     34 amount in minor units (8) | 42 currency (3) | 45 asked at, ms (8)
//!     53 outcome (1) | 54 decline reason (1) | 55 settles at once (1)
//!     56 captured (8) | 64 voided (8) | 72 refunded (8)
//!     80 instrument (1) | 81 capture mode (1) | 82 first six (6) | 88 last four (4)
//!     92 length of the text (2) | 94 text: the plan's id, or the authorization's reference
//! ```
//! | byte | values |
//! |---|---|
//! | deed | 1 authorize, 2 capture, 3 void, 4 refund |
//! | outcome | 1 done, 2 declined |
//! | decline reason | 1 card declined, 2 insufficient funds, 3 expired card, 4 incorrect CVC, 5 processing error, 6 authentication required, 7 unknown authorization, 8 already captured, 9 already voided, 10 not captured, 11 wrong amount |
//! | instrument | 1 card, 2 instalments |
//! | capture mode | 1 automatic, 2 manual |

use till_domain::ids::{MerchantId, PaymentId};
use till_domain::money::{AmountMinor, Currency, Money};
use till_domain::payment::CaptureMode;

use super::contract::BookError;
use super::line::{AuthorizeOutcome, BookInstrument, BookLine, DeclineReason, Deed, FollowUp, Standing};

const FORMAT: u8 = 1;
const HEAD_LEN: usize = 94;
/// Bytes of the longest text: that of a reference.
const TEXT_LEN_MAX: usize = 255;

const AUTHORIZE: u8 = 1;
const DONE: u8 = 1;
const DECLINED: u8 = 2;
const CARD: u8 = 1;
const INSTALLMENT: u8 = 2;

/// The value of a line.
pub(super) fn encode(line: &BookLine) -> Vec<u8> {
    let fields = Fields::of(line);
    let text_len = u16::try_from(fields.text.len()).expect("references and plans have at most 255 bytes");
    let mut bytes = Vec::with_capacity(HEAD_LEN + fields.text.len());
    bytes.extend_from_slice(&[FORMAT, fields.deed]);
    bytes.extend_from_slice(&line.merchant.to_bytes());
    bytes.extend_from_slice(&line.payment.to_bytes());
    bytes.extend_from_slice(&line.money.amount.get().to_be_bytes());
    bytes.extend_from_slice(&line.money.currency.to_bytes());
    bytes.extend_from_slice(&line.asked_at_ms.to_be_bytes());
    bytes.extend_from_slice(&[fields.outcome, fields.reason, u8::from(fields.standing.settles_at_once)]);
    bytes.extend_from_slice(&fields.standing.captured_minor.to_be_bytes());
    bytes.extend_from_slice(&fields.standing.voided_minor.to_be_bytes());
    bytes.extend_from_slice(&fields.standing.refunded_minor.to_be_bytes());
    bytes.extend_from_slice(&[fields.instrument, fields.capture_mode]);
    bytes.extend_from_slice(&fields.first_six);
    bytes.extend_from_slice(&fields.last_four);
    bytes.extend_from_slice(&text_len.to_be_bytes());
    debug_assert_eq!(bytes.len(), HEAD_LEN, "the offsets are those documented above");
    bytes.extend_from_slice(fields.text.as_bytes());
    bytes
}

/// The line that was written under this key with this value.
///
/// # Errors
/// [`BookError::UnknownFormat`] means "upgrade the program"; [`BookError::Damaged`] that the bytes are not
/// what was written.
pub(super) fn decode(key: &[u8], bytes: &[u8]) -> Result<BookLine, BookError> {
    let reference = String::from_utf8_lossy(key).into_owned();
    let damaged = |what| BookError::Damaged { reference: reference.clone(), what };
    match bytes.first() {
        Some(&FORMAT) => {}
        Some(&found) => return Err(BookError::UnknownFormat { reference, found }),
        None => return Err(damaged("it is empty")),
    }
    let line = read(&reference, bytes).ok_or_else(|| damaged("a field has no meaning"))?;
    // What does not apply must be zero and nothing may follow: exactly these bytes would be written again.
    if encode(&line) == bytes && line.reference.as_bytes() == key {
        Ok(line)
    } else {
        Err(damaged("it is not as it would be written"))
    }
}

fn read(reference: &str, bytes: &[u8]) -> Option<BookLine> {
    let mut rest = bytes.get(1..)?;
    let [deed] = take(&mut rest)?;
    let merchant = MerchantId::from_bytes(take(&mut rest)?);
    let payment = PaymentId::from_bytes(take(&mut rest)?);
    let amount = AmountMinor::new(u64::from_be_bytes(take(&mut rest)?))?;
    let currency = Currency::from_bytes(take(&mut rest)?);
    let asked_at_ms = u64::from_be_bytes(take(&mut rest)?);
    let [outcome, reason, settles_at_once] = take(&mut rest)?;
    let standing = Standing {
        settles_at_once: settles_at_once == 1,
        captured_minor: u64::from_be_bytes(take(&mut rest)?),
        voided_minor: u64::from_be_bytes(take(&mut rest)?),
        refunded_minor: u64::from_be_bytes(take(&mut rest)?),
    };
    let [instrument, capture_mode] = take(&mut rest)?;
    let (first_six, last_four) = (take(&mut rest)?, take(&mut rest)?);
    let text_len = usize::from(u16::from_be_bytes(take(&mut rest)?));
    let text = std::str::from_utf8(rest).ok().filter(|text| text.len() == text_len && text_len <= TEXT_LEN_MAX)?;
    let fields = Fields { deed, outcome, reason, standing, instrument, capture_mode, first_six, last_four, text };
    let money = Money { amount, currency };
    Some(BookLine { reference: reference.to_owned(), merchant, payment, money, asked_at_ms, deed: fields.deed()? })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk()?;
    *rest = left;
    Some(*taken)
}

/// The part of a line that depends on its deed, as it stands in the bytes.
#[derive(Default)]
struct Fields<'a> {
    deed: u8,
    outcome: u8,
    reason: u8,
    standing: Standing,
    instrument: u8,
    capture_mode: u8,
    first_six: [u8; 6],
    last_four: [u8; 4],
    text: &'a str,
}

impl Fields<'_> {
    fn of(line: &BookLine) -> Fields<'_> {
        match &line.deed {
            Deed::Authorize { instrument, capture, outcome } => {
                Fields::of_authorization(instrument, *capture, *outcome)
            }
            Deed::FollowUp { what, authorization, declined } => Fields {
                deed: follow_up_byte(*what),
                outcome: if declined.is_some() { DECLINED } else { DONE },
                reason: declined.map_or(0, reason_byte),
                text: authorization,
                ..Fields::default()
            },
        }
    }

    fn of_authorization(instrument: &BookInstrument, capture: CaptureMode, outcome: AuthorizeOutcome) -> Fields<'_> {
        let (outcome, reason, standing) = match outcome {
            AuthorizeOutcome::Approved(standing) => (DONE, 0, standing),
            AuthorizeOutcome::Declined(reason) => (DECLINED, reason_byte(reason), Standing::default()),
        };
        let (instrument, first_six, last_four, text) = match instrument {
            BookInstrument::Card { first_six, last_four } => (CARD, *first_six, *last_four, ""),
            BookInstrument::Installment { plan } => (INSTALLMENT, [0; 6], [0; 4], plan.as_str()),
        };
        let capture_mode = capture_mode_byte(capture);
        Fields { deed: AUTHORIZE, outcome, reason, standing, instrument, capture_mode, first_six, last_four, text }
    }

    fn deed(&self) -> Option<Deed> {
        let declined = match self.outcome {
            DONE => None,
            DECLINED => Some(reason_of(self.reason)?),
            _ => return None,
        };
        if self.deed != AUTHORIZE {
            let what = follow_up_of(self.deed)?;
            return Some(Deed::FollowUp { what, authorization: self.text.to_owned(), declined });
        }
        let instrument = match self.instrument {
            CARD => BookInstrument::Card { first_six: self.first_six, last_four: self.last_four },
            INSTALLMENT => BookInstrument::Installment { plan: self.text.to_owned() },
            _ => return None,
        };
        let outcome = declined.map_or(AuthorizeOutcome::Approved(self.standing), AuthorizeOutcome::Declined);
        Some(Deed::Authorize { instrument, capture: capture_mode_of(self.capture_mode)?, outcome })
    }
}

const fn follow_up_byte(what: FollowUp) -> u8 {
    match what {
        FollowUp::Capture => 2,
        FollowUp::Void => 3,
        FollowUp::Refund => 4,
    }
}

fn follow_up_of(byte: u8) -> Option<FollowUp> {
    [FollowUp::Capture, FollowUp::Void, FollowUp::Refund].into_iter().find(|what| follow_up_byte(*what) == byte)
}

const fn capture_mode_byte(mode: CaptureMode) -> u8 {
    match mode {
        CaptureMode::Automatic => 1,
        CaptureMode::Manual => 2,
    }
}

fn capture_mode_of(byte: u8) -> Option<CaptureMode> {
    [CaptureMode::Automatic, CaptureMode::Manual].into_iter().find(|mode| capture_mode_byte(*mode) == byte)
}

const fn reason_byte(reason: DeclineReason) -> u8 {
    match reason {
        DeclineReason::CardDeclined => 1,
        DeclineReason::InsufficientFunds => 2,
        DeclineReason::ExpiredCard => 3,
        DeclineReason::IncorrectCvc => 4,
        DeclineReason::ProcessingError => 5,
        DeclineReason::AuthenticationRequired => 6,
        DeclineReason::UnknownAuthorization => 7,
        DeclineReason::AlreadyCaptured => 8,
        DeclineReason::AlreadyVoided => 9,
        DeclineReason::NotCaptured => 10,
        DeclineReason::WrongAmount => 11,
    }
}

fn reason_of(byte: u8) -> Option<DeclineReason> {
    DeclineReason::ALL.into_iter().find(|reason| reason_byte(*reason) == byte)
}

/// Lines for the tests of this directory: one of every shape.
#[cfg(test)]
pub(super) mod samples {
    use super::*;

    pub(crate) const REFERENCE: &str = "pay_1/authorize";

    fn line(reference: &str, deed: Deed) -> BookLine {
        let amount = AmountMinor::new(10_000).expect("an amount");
        BookLine {
            reference: reference.to_owned(),
            merchant: MerchantId::from_bytes([0xaa; 16]),
            payment: PaymentId::from_bytes([0xbb; 16]),
            money: Money { amount, currency: "THB".parse().expect("a currency") },
            asked_at_ms: 0x0102_0304_0506_0708,
            deed,
        }
    }

    pub(crate) fn card_line(reference: &str, capture: CaptureMode, outcome: AuthorizeOutcome) -> BookLine {
        let instrument = BookInstrument::Card { first_six: *b"424242", last_four: *b"4242" };
        line(reference, Deed::Authorize { instrument, capture, outcome })
    }

    pub(crate) fn follow_up_line(reference: &str, what: FollowUp, declined: Option<DeclineReason>) -> BookLine {
        line(reference, Deed::FollowUp { what, authorization: REFERENCE.to_owned(), declined })
    }

    pub(crate) fn approved() -> BookLine {
        let standing =
            Standing { settles_at_once: true, captured_minor: 9_000, voided_minor: 0, refunded_minor: 1_000 };
        card_line(REFERENCE, CaptureMode::Manual, AuthorizeOutcome::Approved(standing))
    }

    pub(crate) fn every_shape() -> Vec<BookLine> {
        let installment = Deed::Authorize {
            instrument: BookInstrument::Installment { plan: "sandbox_3_months".to_owned() },
            capture: CaptureMode::Automatic,
            outcome: AuthorizeOutcome::Approved(Standing { captured_minor: 10_000, ..Standing::default() }),
        };
        let mut lines = vec![approved(), line("installment", installment)];
        for reason in DeclineReason::ALL {
            let declined = AuthorizeOutcome::Declined(reason);
            lines.push(card_line(&format!("declined {reason:?}"), CaptureMode::Automatic, declined));
        }
        for what in [FollowUp::Capture, FollowUp::Void, FollowUp::Refund] {
            lines.push(follow_up_line(&format!("{what:?}"), what, None));
            let declined = Some(DeclineReason::UnknownAuthorization);
            lines.push(follow_up_line(&format!("{what:?} declined"), what, declined));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_line_reads_back_as_it_was_written() {
        for line in samples::every_shape() {
            let read_back = decode(line.reference.as_bytes(), &encode(&line)).expect("reads back");
            assert_eq!(read_back, line);
        }
    }

    #[test]
    fn the_bytes_of_an_authorization_are_those_on_disk_since_format_1() {
        let mut expected = vec![1, 1];
        expected.extend([0xaa; 16]);
        expected.extend([0xbb; 16]);
        expected.extend(10_000_u64.to_be_bytes());
        expected.extend(*b"THB");
        expected.extend([1, 2, 3, 4, 5, 6, 7, 8]);
        expected.extend([1, 0, 1]);
        expected.extend(9_000_u64.to_be_bytes());
        expected.extend([0; 8]);
        expected.extend(1_000_u64.to_be_bytes());
        expected.extend([1, 2]);
        expected.extend(*b"4242424242");
        expected.extend([0, 0]);
        assert_eq!(encode(&samples::approved()), expected);
    }

    #[test]
    fn the_bytes_of_a_declined_refund_are_those_on_disk_since_format_1() {
        let line = samples::follow_up_line("r", FollowUp::Refund, Some(DeclineReason::WrongAmount));
        let mut expected = vec![1, 4];
        expected.extend([0xaa; 16]);
        expected.extend([0xbb; 16]);
        expected.extend(10_000_u64.to_be_bytes());
        expected.extend(*b"THB");
        expected.extend([1, 2, 3, 4, 5, 6, 7, 8]);
        expected.extend([2, 11, 0]);
        expected.extend([0; 36]);
        expected.extend([0, 15]);
        expected.extend(*b"pay_1/authorize");
        assert_eq!(encode(&line), expected);
    }

    #[test]
    fn every_decline_reason_has_a_byte_of_its_own_in_the_documented_order() {
        for (byte, reason) in (1_u8..).zip(DeclineReason::ALL) {
            assert_eq!(reason_byte(reason), byte);
        }
    }

    #[test]
    fn a_later_format_is_told_from_damage() {
        let mut bytes = encode(&samples::approved());
        bytes[0] = 2;
        let error = decode(b"reference", &bytes).expect_err("an unknown format");
        assert!(matches!(error, BookError::UnknownFormat { found: 2, .. }), "{error}");
    }

    #[test]
    fn a_value_cut_short_or_made_longer_is_damaged() {
        for line in samples::every_shape() {
            let bytes = encode(&line);
            for len in 0..bytes.len() {
                let error = decode(line.reference.as_bytes(), &bytes[..len]).expect_err("cut short");
                assert!(matches!(error, BookError::Damaged { .. }), "{len} bytes: {error}");
            }
            let longer = [bytes.as_slice(), &[0]].concat();
            assert!(decode(line.reference.as_bytes(), &longer).is_err());
        }
    }

    #[test]
    fn bytes_without_meaning_and_bytes_that_do_not_apply_are_damage() {
        // deed, amount (beyond 2^53 - 1), outcome, reason, settles, instrument, capture mode, text length
        for (offset, value) in [(1, 5), (34, 0xff), (53, 3), (54, 1), (55, 2), (80, 3), (81, 0), (93, 1)] {
            let mut bytes = encode(&samples::approved());
            bytes[offset] = value;
            let error = decode(samples::REFERENCE.as_bytes(), &bytes).expect_err("no meaning");
            assert!(matches!(error, BookError::Damaged { .. }), "byte {offset}: {error}");
        }
        // A follow-up has no standing, no instrument and no capture mode.
        let line = samples::follow_up_line("r", FollowUp::Void, None);
        for offset in [54, 55, 56, 64, 72, 80, 81, 82, 88] {
            let mut bytes = encode(&line);
            bytes[offset] = 1;
            assert!(decode(b"r", &bytes).is_err(), "byte {offset}");
        }
    }

    #[test]
    fn a_key_that_is_no_text_is_damage() {
        assert!(matches!(decode(&[0xff], &encode(&samples::approved())), Err(BookError::Damaged { .. })));
    }
}

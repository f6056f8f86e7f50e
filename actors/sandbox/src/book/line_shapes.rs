//! A line as bytes: frozen shapes after a format byte, see `till_storage::shapes`. A new kind of operation or
//! follow-up is added at the end of its shape. The key of a line is its reference, unchanged.

use till_domain::command::AuthenticationResult;
use till_domain::money::Money;
use till_domain::records::Unreadable;
use till_storage::shapes::frozen::{self, Decode, Out, Personal, Shape, ShapeError, Tag};
use till_storage::{frozen_enum, frozen_struct};

use super::action::{ActionId, ActionOutcome, ActionPage, BookAction, TakenAction};
use super::contract::BookError;
use super::line::{
    AuthorizationState, AuthorizeOutcome, BookInstrument, BookLine, BookOperation, FollowUp, PayoutOutcome,
};

const FORMAT: u8 = 1;

const WHAT: &str = "line";

frozen_struct! {
    /// A line. A payout has zeros as the id of the payment.
    BookLineV1 of BookLine {
        reference: String,
        merchant: [u8; 16],
        payment: [u8; 16],
        money: MoneyV1,
        asked_at_ms: u64,
        operation: BookOperationV1,
    }
}

frozen_struct! {
    /// An amount in a currency.
    MoneyV1 of Money {
        amount: u64,
        currency: [u8; 3],
    }
}

frozen_enum! {
    /// A request and its result.
    BookOperationV1 of BookOperation {
        Authorize {
            instrument: BookInstrumentV1,
            capture: Tag,
            authentication: Option<AuthenticationResultV1>,
            action: Option<BookActionV1>,
            outcome: AuthorizeOutcomeV1
        },
        FollowUp { what: FollowUpV1, authorization: String, declined: Option<Tag> },
        TimedOut,
        PendingRefund { authorization: String, fails_at_ms: Option<u64> },
        Payout(outcome: PayoutOutcomeV1),
        CancelAction { authorization: String, was_too_late: bool },
        Bill { authorization: String },
        LateApproval { authorization: String, is_given_back: bool },
    }
}

frozen_struct! {
    /// The result of an authentication by 3-D Secure.
    AuthenticationResultV1 of AuthenticationResult {
        flow: Tag,
        status: Tag,
        eci: Option<u8>,
        version: Option<Tag>,
    }
}

frozen_struct! {
    /// An action that a customer was asked for.
    BookActionV1 of BookAction {
        id: ActionIdV1,
        page: ActionPageV1,
        qr_text: Option<String>,
        return_path: String,
        declines: Option<Tag>,
        given_at_ms: u64,
        taken: Option<TakenActionV1>,
        succeeds_at_ms: Option<u64>,
        canceled_at_ms: Option<u64>,
    }
}

/// Few authorizations have an action, so that it does not stand in their lines.
impl Shape<Box<BookAction>> for BookActionV1 {
    fn write(action: &Box<BookAction>, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        <BookActionV1 as Shape<BookAction>>::write(action, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<Box<BookAction>, ShapeError> {
        <BookActionV1 as Shape<BookAction>>::unpack(self, personal).map(Box::new)
    }
}

/// The id of an action: 32 bytes.
#[derive(Debug, Decode)]
struct ActionIdV1([u8; 32]);

impl Shape<ActionId> for ActionIdV1 {
    fn write(id: &ActionId, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        <[u8; 32]>::write(&id.0, personal, out)
    }

    fn unpack(self, _: &dyn Personal) -> Result<ActionId, ShapeError> {
        Ok(ActionId(self.0))
    }
}

frozen_enum! {
    /// A page on which a customer acts.
    ActionPageV1 of ActionPage {
        Challenge,
        Bank,
        Wallet,
    }
}

frozen_struct! {
    /// The answer of a customer.
    TakenActionV1 of TakenAction {
        outcome: ActionOutcomeV1,
        at_ms: u64,
    }
}

frozen_enum! {
    /// The answer of a customer.
    ActionOutcomeV1 of ActionOutcome {
        Succeed,
        Fail,
        Cancel,
    }
}

frozen_enum! {
    /// The result of a payout.
    PayoutOutcomeV1 of PayoutOutcome {
        Pending,
        Paid,
        Declined(code: Tag),
    }
}

frozen_enum! {
    /// A change of an authorization.
    FollowUpV1 of FollowUp {
        Capture,
        Void,
        Refund,
    }
}

frozen_enum! {
    /// The means of payment.
    BookInstrumentV1 of BookInstrument {
        Card { first_six: [u8; 6], last_four: [u8; 4] },
        Installment { plan: String },
        PromptPay,
        MobileBanking,
    }
}

frozen_enum! {
    /// The result of an authorization.
    AuthorizeOutcomeV1 of AuthorizeOutcome {
        Approved(standing: StandingV1),
        Declined(code: Tag),
        Waiting,
        Canceled,
    }
}

frozen_struct! {
    /// The changes to an approved authorization so far.
    StandingV1 of AuthorizationState {
        settles_at_once: bool,
        captured_minor: u64,
        voided_minor: u64,
        refunded_minor: u64,
    }
}

/// The value of a line.
pub(super) fn encode(line: &BookLine) -> Vec<u8> {
    frozen::encode::<BookLineV1, _>(WHAT, FORMAT, line).expect("references and plans have at most 255 bytes")
}

/// Decodes the line of this key and value.
///
/// # Errors
/// [`BookError::UnknownFormat`] means "upgrade the program"; [`BookError::Damaged`] that the bytes are not
/// what was written.
pub(super) fn decode(key: &[u8], bytes: &[u8]) -> Result<BookLine, BookError> {
    let reference = String::from_utf8_lossy(key).into_owned();
    match read(bytes) {
        Ok(line) if line.reference.as_bytes() == key => Ok(line),
        Ok(_) => Err(BookError::Damaged { reference, what: "it belongs under another key".to_owned() }),
        Err(ShapeError::UnknownFormat { found, .. }) => Err(BookError::UnknownFormat { reference, found }),
        Err(error) => Err(BookError::Damaged { reference, what: error.to_string() }),
    }
}

fn read(bytes: &[u8]) -> Result<BookLine, ShapeError> {
    let line = frozen::decode::<BookLineV1, BookLine>(WHAT, FORMAT, bytes)?;
    // A number has several encodings, and only one of them is written.
    if encode(&line) == bytes {
        Ok(line)
    } else {
        Err(ShapeError::Undecodable {
            what: WHAT,
            reason: "it has another encoding than the one that is written".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn every_shape_of_line_reads_back_as_it_was_written() {
        for line in samples::every_shape() {
            let read_back = decode(line.reference.as_bytes(), &encode(&line)).expect("reads back");
            assert_eq!(read_back, line);
        }
    }

    #[test]
    fn the_bytes_of_lines_are_those_on_disk_since_format_1() {
        let written: Vec<(String, Vec<u8>)> =
            samples::every_shape().iter().map(|line| (line.reference.clone(), encode(line))).collect();
        let golden: Vec<(String, Vec<u8>)> =
            samples::golden().into_iter().map(|(reference, bytes)| (reference.to_owned(), bytes)).collect();
        assert_eq!(written, golden);
    }

    #[test]
    fn a_later_format_is_told_from_damage() {
        let mut bytes = encode(&samples::approved());
        bytes[0] = FORMAT + 1;
        let error = decode(samples::REFERENCE.as_bytes(), &bytes).expect_err("an unknown format");
        assert!(matches!(error, BookError::UnknownFormat { found: 2, .. }), "{error}");
    }

    #[test]
    fn a_value_cut_short_or_made_longer_is_damaged() {
        for (reference, bytes) in samples::golden() {
            for len in 0..bytes.len() {
                let error = decode(reference.as_bytes(), &bytes[..len]).expect_err("cut short");
                assert!(matches!(error, BookError::Damaged { .. }), "{len} bytes: {error}");
            }
            let longer = [bytes.as_slice(), &[0]].concat();
            assert!(decode(reference.as_bytes(), &longer).is_err());
        }
    }

    #[test]
    fn bytes_that_would_not_be_written_again_are_damage() {
        // The length of the reference in three bytes instead of one.
        let bytes = encode(&samples::approved());
        let longer = [&bytes[..1], &[251, 0], &bytes[1..]].concat();
        assert!(decode(samples::REFERENCE.as_bytes(), &longer).is_err());
    }

    #[test]
    fn a_line_under_another_key_is_damage() {
        for key in [b"pay_2/authorize".as_slice(), &[0xff]] {
            let error = decode(key, &encode(&samples::approved())).expect_err("another key");
            assert!(matches!(error, BookError::Damaged { .. }), "{error}");
        }
    }
}

//! The text of a PromptPay QR code: EMVCo's merchant-presented mode, in the order in which banks' apps read it.
//!
//! A field is its tag of two digits, its length in bytes of two digits, and its value.
//! Source: EMV QR Code Specification for Payment Systems, Merchant-Presented Mode, version 1.1; BOT's Thai QR Payment
//! Standard for tag 30, bill payment.

use till_domain::ids::PaymentId;
use till_domain::money::Money;

/// The application of tag 30: a bill payment by PromptPay.
const BILL_PAYMENT: &str = "A000000677010112";
/// The biller: zeros, so that no bank takes a code of the sandbox.
const BILLER: &str = "000000000000000";
/// Characters of a payment's id that are the bill's reference: its last ones.
const BILL_REFERENCE_LEN: usize = 20;
/// Tag and length of the checksum, which is over them too.
const CHECKSUM_FIELD: &str = "6304";
/// Prefix of the keys under which the book keeps bills.
const BILL_PREFIX: &str = "bill/";

/// The text of the code by which a payment is paid.
pub(crate) fn qr_text(payment: PaymentId, money: Money) -> String {
    let bill = [field("00", BILL_PAYMENT), field("01", BILLER), field("02", &bill_reference(payment))].concat();
    let minor = money.amount.get();
    let amount = format!("{}.{:02}", minor / 100, minor % 100);
    let fields =
        [("00", "01"), ("01", "12"), ("30", bill.as_str()), ("53", "764"), ("54", amount.as_str()), ("58", "TH")];
    let mut text: String = fields.into_iter().map(|(tag, value)| field(tag, value)).collect();
    text.push_str(CHECKSUM_FIELD);
    let checksum = crc_16(text.as_bytes());
    text.push_str(&format!("{checksum:04X}"));
    text
}

/// The key of a payment's bill in the book.
pub(crate) fn bill_key(payment: PaymentId) -> String {
    [BILL_PREFIX, &bill_reference(payment)].concat()
}

/// The key of the bill that a text names, which need not be the text of a bill.
pub(crate) fn named_bill_key(text: &str) -> Option<String> {
    let (_, from) = text.split_once(&[field("00", BILL_PAYMENT), field("01", BILLER), "0220".to_owned()].concat())?;
    let reference = from.get(..BILL_REFERENCE_LEN)?;
    Some([BILL_PREFIX, reference].concat())
}

fn bill_reference(payment: PaymentId) -> String {
    let id = payment.to_string();
    let from = id.len().saturating_sub(BILL_REFERENCE_LEN);
    id.get(from..).unwrap_or_default().to_ascii_uppercase()
}

fn field(tag: &str, value: &str) -> String {
    format!("{tag}{:02}{value}", value.len())
}

/// CRC-16 with polynomial 1021 and initial value FFFF ("CCITT-FALSE"; its check value is 29B1).
fn crc_16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            let shifted = crc << 1;
            if crc & 0x8000 == 0 { shifted } else { shifted ^ 0x1021 }
        })
    })
}

#[cfg(test)]
mod tests {
    use till_domain::money::{AmountMinor, Currency};

    use super::*;

    fn thb(minor: u64) -> Money {
        Money { amount: AmountMinor::new(minor).expect("an amount"), currency: Currency::from_bytes(*b"THB") }
    }

    #[test]
    fn the_checksum_has_the_published_check_value() {
        assert_eq!(crc_16(b"123456789"), 0x29b1);
        assert_eq!(crc_16(b""), 0xffff);
    }

    /// Computed by another program, in which CRC-16 is that of a library; promptparse 1.6.0 reads them.
    #[test]
    fn the_text_of_a_payment_is_the_one_that_other_programs_make() {
        let counted = std::array::from_fn(|place| u8::try_from(place).expect("16 places"));
        let dated = 0x0192_f3a4_b5c6_d7e8_f90a_1b2c_3d4e_5f60_u128.to_be_bytes();
        for (payment, minor, text) in [
            (
                [7; 16],
                1,
                "00020101021230630016A00000067701011201150000000000000000220E1R70W3GE1R70W3GE1R7530376454040.015802TH63040A3C",
            ),
            (
                counted,
                100_000,
                "00020101021230630016A0000006770101120115000000000000000022061050R3GG28A1C60T3GF530376454071000.005802TH6304DB74",
            ),
            (
                dated,
                99_999_999,
                "00020101021230630016A000000677010112011500000000000000002209DE6TZMFJ2GV5GYMWQV053037645409999999.995802TH63048312",
            ),
        ] {
            assert_eq!(qr_text(PaymentId::from_bytes(payment), thb(minor)), text);
        }
    }

    #[test]
    fn a_text_leads_to_its_bill_and_no_other_text_does() {
        let payment = PaymentId::from_bytes([7; 16]);
        let text = qr_text(payment, thb(1_000));
        assert_eq!(named_bill_key(&text), Some(bill_key(payment)));
        for other in ["", "pay_1", &text[..60], &text.replace("0220", "0221")] {
            assert_eq!(named_bill_key(other), None, "{other}");
        }
    }
}

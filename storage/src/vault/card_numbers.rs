//! Card numbers, sealed for the vault.
//!
//! A card number is sealed as a row of the shape in `sealed.rs` under the purpose key `card_number`: the
//! plaintext is its digits in ASCII, the associated data the row's own [`VaultKey`], which names the merchant
//! and the token or card. So it opens for that merchant's token or card, and nowhere else.

use till_domain::ids::MerchantId;

use super::card_number::CardNumber;
use super::keyring::{Keyring, Purpose};
use super::row_owners::CardNumberOf;
use super::sealed::{NoRandomness, SealedError};
use super::vault_key::VaultKey;

impl Keyring {
    /// Seals a card number as the value of the row [`VaultKey::CardNumber`], under a random nonce: the
    /// same number sealed twice gives different bytes.
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system provides none.
    pub fn seal_card_number(
        &self,
        merchant: MerchantId,
        of: CardNumberOf,
        number: &CardNumber,
    ) -> Result<Vec<u8>, NoRandomness> {
        let associated = VaultKey::CardNumber { merchant, of }.encode();
        self.key(Purpose::CardNumber).seal_row(&associated, number.expose_digits().as_bytes())
    }

    /// Opens the value of the row [`VaultKey::CardNumber`].
    ///
    /// # Errors
    /// [`SealedError::Refused`] when the bytes are damaged, or those of another merchant, token or card;
    /// [`SealedError::UnknownFormat`] means "upgrade the program".
    pub fn open_card_number(
        &self,
        merchant: MerchantId,
        of: CardNumberOf,
        row: &[u8],
    ) -> Result<CardNumber, SealedError> {
        let associated = VaultKey::CardNumber { merchant, of }.encode();
        let digits = self.key(Purpose::CardNumber).open_row(&associated, row)?;
        let text = std::str::from_utf8(&digits).map_err(|_| SealedError::Content)?;
        CardNumber::parse(text).map_err(|_| SealedError::Content)
    }
}

#[cfg(test)]
mod tests {
    use till_domain::ids::{CardId, TokenId};

    use super::super::card_number::CardNumberError;
    use super::super::keyring::fixed_keyring;
    use super::super::sealed::SEALED_OVERHEAD;
    use super::*;

    const ONE: MerchantId = MerchantId::from_bytes([1; 16]);
    const OTHER: MerchantId = MerchantId::from_bytes([2; 16]);
    const TOKEN: CardNumberOf = CardNumberOf::Token(TokenId::from_bytes([3; 16]));

    fn visa() -> CardNumber {
        CardNumber::parse("4242424242424242").expect("a card number")
    }

    #[test]
    fn a_text_is_a_card_number_exactly_when_the_rules_say_so() {
        for text in ["4242424242424242", "378282246310005", "424242424242", "4242424242424242428"] {
            assert_eq!(CardNumber::parse(text).expect(text).expose_digits(), text);
        }
        for text in ["4242424242424241", "4242 4242 4242 4242", "4242424242424242\n", "", "42424242420"] {
            assert_eq!(CardNumber::parse(text), Err(CardNumberError), "{text:?}");
        }
    }

    #[test]
    fn debug_output_shows_only_the_first_six_and_last_four_digits() {
        let number = CardNumber::parse("4000056655665556").expect("a card number");
        assert_eq!(format!("{number:?}"), "CardNumber(400005..5556)");
        assert_eq!((number.first_six(), number.last_four()), (*b"400005", *b"5556"));
    }

    #[test]
    fn a_sealed_number_opens_for_its_merchant_and_token() {
        let row = fixed_keyring().seal_card_number(ONE, TOKEN, &visa()).expect("randomness");
        assert_eq!(row.len(), 16 + SEALED_OVERHEAD);
        assert_eq!(fixed_keyring().open_card_number(ONE, TOKEN, &row), Ok(visa()));
        let again = fixed_keyring().seal_card_number(ONE, TOKEN, &visa()).expect("randomness");
        assert_ne!(row, again, "the same number must not be told from its bytes");
    }

    #[test]
    fn a_sealed_number_moved_to_another_owner_does_not_open() {
        let row = fixed_keyring().seal_card_number(ONE, TOKEN, &visa()).expect("randomness");
        let other_token = CardNumberOf::Token(TokenId::from_bytes([4; 16]));
        let card_of_same_bits = CardNumberOf::Card(CardId::from_bytes([3; 16]));
        for (merchant, of) in [(OTHER, TOKEN), (ONE, other_token), (ONE, card_of_same_bits)] {
            assert_eq!(fixed_keyring().open_card_number(merchant, of, &row), Err(SealedError::Refused), "{of:?}");
        }
    }

    #[test]
    fn a_sealed_number_with_any_byte_flipped_does_not_open() {
        let row = fixed_keyring().seal_card_number(ONE, TOKEN, &visa()).expect("randomness");
        for index in 0..row.len() {
            let mut flipped = row.clone();
            flipped[index] ^= 1;
            assert!(fixed_keyring().open_card_number(ONE, TOKEN, &flipped).is_err(), "byte {index}");
        }
    }

    #[test]
    fn a_row_that_an_older_release_wrote_opens() {
        let associated = VaultKey::CardNumber { merchant: ONE, of: TOKEN }.encode();
        let row = fixed_keyring().key(Purpose::CardNumber).seal_row_with(&[9; 24], &associated, b"4242424242424242");
        assert_eq!(row, GOLDEN_ROW);
        assert_eq!(fixed_keyring().open_card_number(ONE, TOKEN, &GOLDEN_ROW), Ok(visa()));
    }

    #[rustfmt::skip]
    const GOLDEN_ROW: [u8; 57] = [
        0x01, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09,
        0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x19, 0x76, 0x19, 0xfa, 0x90, 0x39, 0xec,
        0x46, 0x36, 0x66, 0x66, 0x7e, 0xa3, 0x2c, 0x69, 0x0c, 0xfe, 0x33, 0xd4, 0xca, 0xf6, 0x47, 0x74,
        0xff, 0x6e, 0x19, 0xb9, 0xdb, 0xb2, 0xc2, 0x31, 0x3c,
    ];

    #[test]
    fn a_row_that_holds_something_else_is_a_fault_of_its_writer() {
        let associated = VaultKey::CardNumber { merchant: ONE, of: TOKEN }.encode();
        for content in [&b"4242424242424241"[..], &[0xff; 16], b""] {
            let row = fixed_keyring().key(Purpose::CardNumber).seal_row_with(&[9; 24], &associated, content);
            assert_eq!(fixed_keyring().open_card_number(ONE, TOKEN, &row), Err(SealedError::Content));
        }
    }
}

//! The ledger among the rows, and the vault.

use crate::filled::{Filled, ONE, fault, flipped, name};
use crate::shop::person;
use std::sync::Arc;
use till_domain::card::TokenUsage;
use till_domain::ids::{CardId, CustomerId, TokenId};
use till_domain::payment::CaptureMode;
use till_domain::records::{AnyKey, Single};
use till_operate::verify::{FaultLocation, RowName, Wrong};
use till_storage::family::Family;
use till_storage::shapes::{MerchantReader, TableKind};
use till_storage::vault::{CardNumber, CardNumberOf, SealedError, SubjectId, SubjectKind, VaultKey};

/// Offset of a statement's balance at the beginning of its month: after the format byte, the id, the month, its
/// instants and the currency.
const OPENING_AT: usize = 1 + 16 + 4 + 18 + 3;

#[test]
fn a_wrong_balance_is_reported_even_without_a_replay() {
    let filled = Filled::new();
    let (family, key, value) = filled.row(&AnyKey::Balances(Single));
    let last = value.len() - 1;
    filled.store.damage(family, &key, &flipped(value, last));
    let location = FaultLocation::Row(name(family, &key));
    filled.names(&[fault(ONE, location.clone(), Wrong::Different)]);
    filled.damage_record(40, 150);
    let faults = filled.faults(2);
    assert_eq!(faults[1].location, location);
    assert!(matches!(faults[1].wrong, Wrong::Totals { totals: Some(_), .. }), "{:?}", faults);
}

#[test]
fn a_wrong_or_stray_entry_is_reported_even_without_the_log() {
    let filled = Filled::new();
    filled.damage_record(40, 150);
    let (transaction, _, _) = filled.first(ONE, TableKind::Transactions);
    filled.store.lose(Family::Rows, &transaction);
    let (_, _, stray) = filled.first(ONE, TableKind::Entries);
    let faults = filled.faults(2);
    assert_eq!(faults[1], fault(ONE, stray, Wrong::NoTransaction));
}

#[test]
fn a_wrong_statement_is_reported_even_without_the_log() {
    let (filled, ()) = Filled::one(|shop, book| {
        shop.trade(3, book);
        for _ in 0..2 {
            shop.wait_seconds(40 * 86_400);
            shop.trade(1, book);
        }
    });
    filled.names(&[]);
    let (key, value, location) = filled.first(ONE, TableKind::Statements);
    filled.store.damage(Family::Rows, &key, &flipped(value, OPENING_AT));
    filled.names(&[fault(ONE, location, Wrong::Different)]);
    filled.damage_record(10, 150);
    let faults = filled.faults(2);
    assert_eq!(faults[1].wrong, Wrong::NotAsEntries, "the one after it does not follow");
}

#[test]
fn an_unbalanced_transaction_in_the_log_is_reported() {
    let (filled, ()) = Filled::one(|shop, book| {
        shop.trade(2, book);
        shop.cook_the_books();
        let payment_id = shop.pay(&person("c@example.com"), CaptureMode::Automatic);
        shop.answer(payment_id, true, book);
    });
    let faults = filled.faults(1);
    assert_eq!(faults[0].wrong, Wrong::Unbalanced);
    let shown = faults[0].to_string();
    assert!(shown.contains("Transactions(") && shown.ends_with("its credits and debits are not equal"), "{shown}");
}

#[test]
fn a_vault_row_that_does_not_open_is_reported_without_content() {
    for kind in [is_token, is_card, is_customer, is_payment] {
        let filled = Filled::new();
        let mut rows = filled.store.dump(Family::Vault).into_iter();
        let (key, value) = rows.find(|(key, _)| kind(key)).expect("there is one");
        filled.store.damage(Family::Vault, &key, &flipped(value, 40));
        let report = filled.report();
        assert_eq!(report.fault_count, 1, "{:?}", report.faults);
        assert_eq!(report.faults[0].wrong, Wrong::Sealed(SealedError::Refused));
        let shown = format!("{report:?}");
        assert!(!shown.contains("example.com") && !shown.contains("Somchai") && !shown.contains("42424242"), "{shown}");
    }
}

#[test]
fn a_missing_card_number_is_a_fault_unless_the_token_is_used() {
    let (filled, live) = Filled::one(|shop, book| {
        shop.trade(3, book);
        shop.tokenize(TokenUsage::Single)
    });
    let numbers: Vec<Vec<u8>> = filled.store.dump(Family::Vault).into_iter().map(|(key, _)| key).collect();
    for key in &numbers {
        if let Some(VaultKey::CardNumber { of: CardNumberOf::Token(id), .. }) = VaultKey::decode(key)
            && id != live
            && is_single(&filled, id)
        {
            filled.store.lose(Family::Vault, key);
        }
    }
    filled.names(&[]);
    let card = numbers.iter().find(|key| is_card(key)).expect("a card was saved");
    filled.store.lose(Family::Vault, card);
    filled.store.lose(Family::Vault, &VaultKey::CardNumber { merchant: ONE, of: CardNumberOf::Token(live) }.encode());
    let (_, _, saved) = filled.first(ONE, TableKind::Cards);
    let token = FaultLocation::Row(RowName { family: Family::Rows, key: format!("Tokens({live})") });
    filled.names(&[fault(ONE, token, Wrong::NumberMissing), fault(ONE, saved, Wrong::NumberMissing)]);
}

#[test]
fn a_card_number_without_its_token_or_card_is_reported_once() {
    let filled = Filled::new();
    let mut left = Vec::new();
    let (card_id, token_id) = (CardId::from_bytes([8; 16]), TokenId::from_bytes([9; 16]));
    for (of, shown) in [
        (CardNumberOf::Token(token_id), format!("card number of {token_id}")),
        (CardNumberOf::Card(card_id), format!("card number of {card_id}")),
    ] {
        let number = CardNumber::parse("4242424242424242").expect("a test card's number");
        let sealed = filled.keyring.seal_card_number(ONE, of, &number).expect("randomness");
        let key = VaultKey::CardNumber { merchant: ONE, of }.encode();
        filled.store.damage(Family::Vault, &key, &sealed);
        let location = FaultLocation::Row(RowName { family: Family::Vault, key: shown });
        left.push(fault(ONE, location, Wrong::NumberLeft));
    }
    filled.names(&left);
    let shown = filled.report().faults[0].to_string();
    assert!(shown.ends_with("is the number of a token or card that does not exist"), "{shown}");
    let (key, _, card) = filled.first(ONE, TableKind::Cards);
    filled.store.lose(Family::Rows, &key);
    assert!(filled.report().faults.contains(&fault(ONE, card, Wrong::Missing)), "the row is named");
    assert_eq!(filled.report().faults.iter().filter(|fault| fault.wrong == Wrong::NumberLeft).count(), 2);
}

#[test]
fn an_erased_person_leaves_a_fault_only_in_remaining_indexes() {
    let filled = Filled::new();
    let keys = filled.store.dump(Family::Vault).into_iter().map(|(key, _)| key);
    let payment_keys: Vec<Vec<u8>> = keys.filter(|key| is_payment(key)).collect();
    assert!(!payment_keys.is_empty());
    payment_keys.iter().for_each(|key| filled.store.lose(Family::Vault, key));
    filled.names(&[]);
    let customer =
        filled.store.dump(Family::Vault).into_iter().find(|(key, _)| is_customer(key)).expect("a customer").0;
    filled.store.lose(Family::Vault, &customer);
    let faults = filled.faults(1);
    assert_eq!(faults[0].wrong, Wrong::Extra);
    assert!(faults[0].to_string().contains("CustomersByEmail("), "{}", faults[0]);
}

#[test]
fn the_key_of_a_missing_customer_is_a_fault() {
    let filled = Filled::new();
    let customer_id = CustomerId::from_bytes([8; 16]);
    let subject = SubjectId::customer(customer_id);
    let (_, wrapped) = filled.keyring.create_subject_key(ONE, subject).expect("randomness");
    filled.store.damage(Family::Vault, &VaultKey::SubjectKey { merchant: ONE, subject }.encode(), &wrapped);
    let location = FaultLocation::Row(RowName { family: Family::Vault, key: format!("key of {customer_id}") });
    filled.names(&[fault(ONE, location, Wrong::KeyLeft)]);
}

fn is_token(key: &[u8]) -> bool {
    matches!(VaultKey::decode(key), Some(VaultKey::CardNumber { of: CardNumberOf::Token(_), .. }))
}

fn is_card(key: &[u8]) -> bool {
    matches!(VaultKey::decode(key), Some(VaultKey::CardNumber { of: CardNumberOf::Card(_), .. }))
}

fn is_customer(key: &[u8]) -> bool {
    is_subject(key, SubjectKind::Customer)
}

fn is_payment(key: &[u8]) -> bool {
    is_subject(key, SubjectKind::Payment)
}

fn is_subject(key: &[u8], kind: SubjectKind) -> bool {
    matches!(VaultKey::decode(key), Some(VaultKey::SubjectKey { subject, .. }) if subject.kind == kind)
}

fn is_single(filled: &Filled, id: TokenId) -> bool {
    use till_domain::records::{Rows, Tokens};
    let token = MerchantReader::new(ONE, Some(Arc::clone(&filled.keyring)), &filled.store).get::<Tokens>(id);
    token.expect("readable").is_some_and(|token| token.usage == TokenUsage::Single)
}

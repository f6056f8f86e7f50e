//! Removing expired data leaves no fault, and nothing in the vault.

use crate::filled::{Filled, ONE};
use crate::shop::{FilledMerchant, person};
use till_domain::card::TokenUsage;
use till_domain::payment::CaptureMode;
use till_storage::family::Family;
use till_storage::memory::MemoryStore;
use till_storage::rows::{RowRange, RowReader};
use till_storage::shapes::{TableKind, table_range};
use till_storage::vault::{CardNumberOf, SubjectKind, VaultKey};

fn count(store: &MemoryStore, table: TableKind) -> usize {
    let (lower, upper) = table_range(ONE, table);
    store.scan(RowRange::forward(table.family(), &lower, &upper), usize::MAX).expect("readable").len()
}

fn count_vault(store: &MemoryStore, is_counted: impl Fn(VaultKey) -> bool) -> usize {
    let keys = store.dump(Family::Vault).into_iter();
    keys.filter(|(key, _)| VaultKey::decode(key).is_some_and(&is_counted)).count()
}

/// The numbers of sessions, tokens and kept answers.
fn rows(store: &MemoryStore) -> [usize; 3] {
    [TableKind::Sessions, TableKind::Tokens, TableKind::Answers].map(|table| count(store, table))
}

/// The number of keys of sessions, numbers of tokens and texts of API keys. Each token with a number has a key.
fn secrets(store: &MemoryStore) -> [usize; 3] {
    assert_eq!(count_vault(store, is_token), count_vault(store, is_token_key));
    [count_vault(store, is_session), count_vault(store, is_token), count_vault(store, is_key_text)]
}

fn is_token_key(key: VaultKey) -> bool {
    matches!(key, VaultKey::SubjectKey { subject, .. } if subject.kind == SubjectKind::Token)
}

fn is_session(key: VaultKey) -> bool {
    matches!(key, VaultKey::SubjectKey { subject, .. } if subject.kind == SubjectKind::Session)
}

fn is_token(key: VaultKey) -> bool {
    matches!(key, VaultKey::CardNumber { of: CardNumberOf::Token(_), .. })
}

fn is_key_text(key: VaultKey) -> bool {
    matches!(key, VaultKey::ApiKeySecret { .. })
}

#[test]
fn removing_expired_rows_leaves_no_fault_and_no_vault_rows() {
    let Filled { store, keyring, mut book, scratch } = Filled::empty();
    let mut shop = FilledMerchant::open(&store, &keyring, 1);
    shop.trade(3, &mut book);
    for number in 0..3 {
        let token = shop.tokenize(TokenUsage::Single);
        shop.select_for(token, person(&format!("c{number}@example.com")));
        shop.tokenize(TokenUsage::Single);
    }
    let waiting = shop.pay(&person("waiting@example.com"), CaptureMode::Automatic);
    // Fourteen payments, five of them with tokens for several uses, and a name for each and for the set-up.
    assert_eq!((rows(&store), secrets(&store)), ([17, 20, 19], [3, 20, 1]));
    shop.wait_seconds(27 * 3_600);
    shop.sweep();
    // Two payments wait, of which one needs a token for one use.
    assert_eq!((rows(&store), secrets(&store)), ([2, 6, 0], [0, 6, 0]));
    shop.answer(waiting, true, &mut book);
    shop.sweep();
    assert_eq!((rows(&store), secrets(&store)), ([1, 5, 0], [0, 5, 0]));
    Filled { store, keyring, book, scratch }.names(&[]);
}

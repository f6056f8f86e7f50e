//! The documents agree with the program: they contain each required name and number.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use till::{ApiError, Code, Form, settings_in_markdown};
use till_domain::acquirer::AccountSecret;
use till_domain::ids::{
    AcquirerId, CardId, CheckoutId, CustomerId, KeyId, MerchantId, PaymentId, SessionId, TokenId, UserId, WebhookId,
};
use till_domain::webhook::SecretSlot;
use till_storage::deliveries;
use till_storage::engine::high_water::Mark;
use till_storage::engine::{FORMAT, ROW_FORMAT};
use till_storage::family::Family;
use till_storage::journal::record;
use till_storage::shapes::{self, MUTATION_FORMAT, STATE_FORMAT, TableKind};
use till_storage::vault::{
    AccountSecretOf, CardNumber, CardNumberOf, Keyring, RootKey, SubjectId, VaultKey, WebhookSecretOf,
};

use crate::harness::Server;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn document(name: &str) -> String {
    let path = root().join("docs").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rows of a document's tables as their cells, without the backticks around a cell.
fn rows(document: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let inner = line.strip_prefix('|')?.strip_suffix('|')?;
        Some(inner.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect())
    };
    document.lines().filter_map(cells).collect()
}

/// Checks that a table of the document has a row that begins with these cells.
#[track_caller]
fn assert_row(rows: &[Vec<String>], cells: &[&str]) {
    let begins = |row: &Vec<String>| row.len() >= cells.len() && row.iter().zip(cells).all(|(cell, want)| cell == want);
    assert!(rows.iter().any(begins), "no row begins with {cells:?}");
}

#[test]
fn the_storage_format_has_every_family_and_every_table() {
    let rows = rows(&document("storage-format.md"));
    for family in Family::ALL {
        assert_row(&rows, &[family.name()]);
    }
    for table in TableKind::ALL {
        assert_row(&rows, &[table.name(), &table.tag().to_string(), table.family().name()]);
    }
}

#[test]
fn the_storage_format_has_every_kind_of_vault_key() {
    let merchant = MerchantId::from_bytes([1; 16]);
    let number = |of| VaultKey::CardNumber { merchant, of };
    let subject = |subject| VaultKey::SubjectKey { merchant, subject };
    let webhook_id = WebhookId::from_bytes([2; 16]);
    let webhook = |slot| VaultKey::WebhookSecret { merchant, of: WebhookSecretOf { webhook_id, slot } };
    let acquirer_id = AcquirerId::from_bytes([2; 16]);
    let account = |secret| VaultKey::AccountSecret { merchant, of: AccountSecretOf { acquirer_id, secret } };
    let kinds = [
        (VaultKey::Keyring, "`Keyring`"),
        (number(CardNumberOf::Token(TokenId::from_bytes([2; 16]))), "`CardNumber` of a token"),
        (number(CardNumberOf::Card(CardId::from_bytes([2; 16]))), "`CardNumber` of a saved card"),
        (subject(SubjectId::customer(CustomerId::from_bytes([2; 16]))), "`SubjectKey` of a customer"),
        (subject(SubjectId::session(SessionId::from_bytes([2; 16]))), "`SubjectKey` of a session"),
        (subject(SubjectId::payment(PaymentId::from_bytes([2; 16]))), "`SubjectKey` of a payment without a customer"),
        (VaultKey::ApiKeySecret { merchant, key: KeyId::from_bytes([2; 16]) }, "`ApiKeySecret`"),
        (subject(SubjectId::token(TokenId::from_bytes([2; 16]))), "`SubjectKey` of a card token"),
        (webhook(SecretSlot::First), "`WebhookSecret` in the first slot"),
        (webhook(SecretSlot::Second), "`WebhookSecret` in the second slot"),
        (webhook(SecretSlot::Third), "`WebhookSecret` in the third slot"),
        (webhook(SecretSlot::Fourth), "`WebhookSecret` in the fourth slot"),
        (subject(SubjectId::checkout(CheckoutId::from_bytes([2; 16]))), "`SubjectKey` of a checkout"),
        (account(AccountSecret::Calls), "`AccountSecret` for calls"),
        (account(AccountSecret::Notices), "`AccountSecret` for notices"),
        (
            VaultKey::Credentials { merchant, user: UserId::from_bytes([2; 16]) },
            "`Credentials` of a member of the team",
        ),
        (subject(SubjectId::acquirer_page(PaymentId::from_bytes([2; 16]))), "`SubjectKey` of the page of a payment"),
    ];
    let document = document("storage-format.md");
    for (key, row) in kinds {
        let line = format!("| {} | {row} |", key.encode()[16]);
        assert!(document.contains(&line), "{line}");
    }
    let behind = [[1; 16].as_slice(), &[17], &[2; 16]].concat();
    assert_eq!(VaultKey::decode(&behind), None, "a kind that the document does not draw");
}

#[test]
fn the_storage_format_has_every_format_number() {
    let rows = rows(&document("storage-format.md"));
    for (what, constant, number) in [
        ("keys and records", "engine::FORMAT", FORMAT & 0xffff),
        ("derived rows", "engine::ROW_FORMAT", ROW_FORMAT),
        ("a derived row", "shapes::ROW_FORMAT", shapes::ROW_FORMAT.into()),
        ("a record", "record::FORMAT", record::FORMAT.into()),
        ("a mutation", "MUTATION_FORMAT", MUTATION_FORMAT.into()),
        ("the state in a snapshot", "STATE_FORMAT", STATE_FORMAT.into()),
        ("a value of the deliveries of webhooks", "deliveries::FORMAT", deliveries::FORMAT.into()),
        ("a slot of the mark", "", Mark::default().encode()[2].into()),
    ] {
        assert_row(&rows, &[what, constant, &number.to_string()]);
    }
    let (keyring, bytes) = Keyring::create(&RootKey::generate().expect("randomness")).expect("randomness");
    assert_row(&rows, &["the key ring", "", &bytes[8].to_string()]);
    let of = CardNumberOf::Token(TokenId::from_bytes([2; 16]));
    let number = CardNumber::parse("4242424242424242").expect("a card number");
    let sealed = keyring.seal_card_number(MerchantId::from_bytes([1; 16]), of, &number).expect("randomness");
    assert_row(&rows, &["a sealed row", "", &sealed[0].to_string()]);
}

#[test]
fn the_storage_format_has_every_shape_on_disk() {
    let document = document("storage-format.md");
    let mut names = BTreeSet::new();
    let folders = ["storage/src/shapes", "storage/src/deliveries", "actors/sandbox/src/book"];
    for source in folders.iter().flat_map(|folder| sources(&root().join(folder))) {
        let words = source.split(|letter: char| !letter.is_ascii_alphanumeric());
        names.extend(words.filter(|word| is_shape(word)).map(str::to_owned));
    }
    assert!(names.len() > 40, "{names:?}");
    for name in names {
        assert!(document.contains(&format!("**`{name}`**")), "{name} is not drawn");
    }
}

/// True when a word is the name of a shape such as `PaymentV1`, but not an invented version of a documentation.
fn is_shape(word: &str) -> bool {
    word.len() > 2 && word.starts_with(|letter: char| letter.is_ascii_uppercase()) && word.ends_with("V1")
}

#[test]
fn the_errors_have_every_code_with_both_of_its_statuses() {
    let rows = rows(&document("errors.md"));
    for code in Code::ALL {
        let status = |form: Form| form.render(&ApiError::new(code, "m")).status.as_u16().to_string();
        assert_row(&rows, &[code.name(), &status(Form::Triple), &status(Form::Problem)]);
    }
}

#[test]
fn a_card_of_the_document_fails_with_its_documented_code() {
    let (_server, shop) = Server::with_shop();
    let is_number = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_digit());
    let rows = rows(&document("sandbox.md"));
    let cards: Vec<_> = rows.iter().filter(|row| row.len() == 3 && is_number(&row[0])).collect();
    assert_eq!(cards.len(), 8, "seven that fail, and one that settles at once");
    for row in cards {
        let payment = shop.initiate(&shop.session_of(&row[0], 100), 100, &json!({})).id();
        let code = shop.settled(&payment)["failure_code"].clone();
        assert_eq!(code, if row[2].is_empty() { json!(null) } else { json!(row[2]) }, "{}", row[0]);
    }
}

#[test]
fn the_settings_have_the_table_that_the_program_prints() {
    assert!(document("settings.md").contains(&format!("\n\n{}\n", settings_in_markdown())));
}

#[test]
fn the_document_of_metrics_has_each_of_them() {
    let server = Server::start();
    server.shop().pay(100);
    let metrics = server.metrics();
    let types: Vec<(&str, &str)> =
        metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect();
    assert!(types.len() > 5, "{metrics}");
    // A row may be about several metrics of a kind.
    let of_each = |row: Vec<String>| {
        let names: Vec<String> = row[0].split("`, `").map(str::to_owned).collect();
        names.into_iter().map(move |name| [vec![name], row[1..].to_vec()].concat())
    };
    let rows: Vec<Vec<String>> = rows(&document("metrics.md")).into_iter().flat_map(of_each).collect();
    for (name, kind) in types {
        assert_row(&rows, &[name, kind]);
    }
}

#[test]
fn every_test_that_a_ruling_names_is_there() {
    let folders = ["domain", "protocol", "storage", "actors", "src", "tests"];
    let sources: Vec<String> = folders.iter().flat_map(|folder| sources(&root().join(folder))).collect();
    let document = document("contract-rulings.md");
    let named = document.lines().filter(|line| line.starts_with('|')).filter_map(|line| line.rsplit('|').nth(1));
    let tests: Vec<&str> = named.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(tests.len() > 40, "{tests:?}");
    for test in tests {
        let start = format!("fn {test}(");
        assert!(sources.iter().any(|source| source.contains(&start)), "there is no test {test}");
    }
}

/// The text of every Rust file below a folder.
fn sources(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    let of = |path: &PathBuf| match path {
        path if path.is_dir() => sources(path),
        path if path.extension().is_some_and(|extension| extension == "rs") => {
            vec![fs::read_to_string(path).expect("source is text")]
        }
        _ => Vec::new(),
    };
    paths.iter().flat_map(of).collect()
}

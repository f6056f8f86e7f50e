//! `till inspect`

use serde_json::{Value, json};
use till_domain::ids::MerchantId;
use till_storage::family::Family;

use super::store::{Tampering, ends};
use crate::harness::{Server, Shop, run_command};

/// A stopped server with a merchant that has two payments, the first with the data of a customer.
fn stopped() -> (Server, Shop, [String; 2]) {
    let (mut server, shop) = Server::with_shop();
    let more = json!({ "customer_email": "ada@example.com", "customer_name": "Ada Example", "external_id": "order-1" });
    let first = shop.pay_with(100, &more)["payment_id"].as_str().expect("an id").to_owned();
    let second = shop.pay(250);
    assert!(server.stop());
    (server, shop, [first, second])
}

fn inspect(server: &Server, shop: &Shop, more: &[&str]) -> String {
    ends(server, &[&["inspect", &shop.merchant_id], more].concat(), 0)
}

fn json_lines(server: &Server, shop: &Shop, more: &[&str]) -> Vec<Value> {
    let text = inspect(server, shop, &[&["--json"], more].concat());
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect()
}

fn sequences(lines: &[Value]) -> Vec<u64> {
    lines.iter().map(|line| line["sequence"].as_u64().expect("a number")).collect()
}

#[test]
fn a_payments_records_are_shown_and_those_of_others_are_not() {
    let (server, shop, [first, second]) = stopped();
    let text = inspect(&server, &shop, &["--payment", &first]);
    for words in [
        "payment_initiated",
        "payment_authorized",
        "payment_captured",
        "session_created",
        "follows the record before",
        "by till",
        &format!("by {}", shop.key_id),
        "payment.money.amount  100",
        "payment.external_id  order-1",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    assert!(!text.contains(&second), "{text}");
}

#[test]
fn ranges_show_the_records_that_they_name() {
    let (server, shop, _) = stopped();
    let all = sequences(&json_lines(&server, &shop, &["--from", "1"]));
    assert!(all.len() > 10 && all.iter().copied().eq(1..=all.len() as u64), "{all:?}");
    assert_eq!(sequences(&json_lines(&server, &shop, &["--from", "3", "--to", "5"])), [3, 4, 5]);
    assert_eq!(sequences(&json_lines(&server, &shop, &["--last", "2"])), all[all.len() - 2..]);
    assert_eq!(sequences(&json_lines(&server, &shop, &[])), all[all.len() - 10..]);
    let unknown_merchant = "mer_01h2e8kqvbfwea724h75qc655w";
    assert!(
        ends(&server, &["inspect", unknown_merchant], 1).contains(&format!("there is no merchant {unknown_merchant}"))
    );
}

#[test]
fn each_record_names_the_hash_of_the_one_before() {
    let (server, shop, _) = stopped();
    let lines = json_lines(&server, &shop, &["--from", "1"]);
    for pair in lines.windows(2) {
        assert_eq!(pair[1]["previous_hash"], pair[0]["hash"]);
        assert_eq!((&pair[1]["chain"], &pair[1]["merchant_id"]), (&json!("follows"), &json!(shop.merchant_id)));
    }
}

#[test]
fn personal_data_is_shown_only_on_request_and_with_the_key() {
    let (server, shop, _) = stopped();
    let mut without_key = server.command();
    without_key.env_remove("TILL_VAULT_KEY");
    let (code, text, _) = run_command(without_key, &["inspect", &shop.merchant_id, "--from", "1"]);
    assert_eq!(code, Some(0), "{text}");
    let personal = ["ada@example.com", "Ada Example", "tok_"];
    assert!(
        personal.iter().all(|word| !text.contains(word)) && text.contains("payment.contact.email  [sealed]"),
        "{text}"
    );
    let opened = inspect(&server, &shop, &["--from", "1", "--open-personal-data"]);
    assert!(personal.iter().all(|word| opened.contains(word)), "{opened}");
    assert!(!opened.contains("4242424242424242"), "a card number is shown never");
    let mut without_key = server.command();
    without_key.env_remove("TILL_VAULT_KEY");
    let (code, _, errors) = run_command(without_key, &["inspect", &shop.merchant_id, "--open-personal-data"]);
    assert!(code == Some(1) && errors.contains("TILL_VAULT_KEY"), "{errors}");
}

#[test]
fn damaged_and_missing_records_are_named_and_others_shown() {
    let (server, shop, _) = stopped();
    let merchant: MerchantId = shop.merchant_id.parse().expect("a merchant's id");
    let key = |sequence: u64| [merchant.to_bytes().as_slice(), &sequence.to_be_bytes()].concat();
    let tampering = Tampering::with(server.data());
    let mut value = tampering.rows(Family::Journal, &key(3)).remove(0).1;
    *value.last_mut().expect("it has a body") ^= 1;
    tampering.put(Family::Journal, &key(3), &value);
    tampering.delete(Family::Journal, &key(5));
    drop(tampering);
    let text = ends(&server, &["inspect", &shop.merchant_id, "--from", "2", "--to", "6"], 1);
    for words in [
        "record 3  DAMAGED: the checksum of the record is wrong",
        &format!("which may be damaged too, says: record 3 of {}", shop.merchant_id),
        "whether it follows cannot be told: the record before is damaged",
        "record 5  DAMAGED: it is missing",
        "\nrecord 2 ",
        "\nrecord 4 ",
        "\nrecord 6 ",
    ] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
}

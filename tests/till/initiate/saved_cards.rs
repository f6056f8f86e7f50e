//! Payments that save their card, and payments with a saved card.

use serde_json::{Value, json};

use super::attempt::RefusedAttempt;
use crate::harness::{CARD, Server, Shop, merged};

/// The number of another card whose payments succeed.
const OTHER_CARD: &str = "5555555555554444";

fn default_card(shop: &Shop, customer: &str) -> Value {
    shop.contact(customer)["default_card_id"].clone()
}

fn with_save_card(save_card: &str) -> Value {
    json!({ "customer_id": "ada", "save_card": save_card })
}

#[test]
fn save_card_default_saves_the_card_as_the_default() {
    let (_server, shop) = Server::with_shop();
    let paid = shop.pay_with_token(CARD, &with_save_card("DEFAULT"));
    assert_eq!((&paid["status"], &paid["card"]["card_id"]), (&json!("SUCCESSFUL"), &Value::Null));
    let card = default_card(&shop, "ada");
    assert!(card.as_str().is_some_and(|id| id.starts_with("crd_") && id.len() == 30), "{card}");
    let session = shop.saved_card_session(card.as_str().expect("an id"), 100);
    let again = shop.settled(&shop.initiate(&session, 100, &json!({ "customer_id": "ada" })).id());
    assert_eq!((&again["status"], &again["card"]["card_id"]), (&json!("SUCCESSFUL"), &card));
    assert_eq!((&again["card"]["last_digits"], &again["customer_id"]), (&json!("4242"), &paid["customer_id"]));
}

#[test]
fn save_card_add_saves_the_card_and_keeps_the_default() {
    let (_server, shop) = Server::with_shop();
    shop.pay_with_token(CARD, &with_save_card("ADD"));
    assert_eq!(default_card(&shop, "ada"), Value::Null);
    let later = shop.pay(100);
    shop.pay_with_token(CARD, &with_save_card("DEFAULT"));
    let card = default_card(&shop, "ada").as_str().expect("a card").to_owned();
    assert!(card[4..] < later[4..], "it is the card that was saved first, not a second one: {card} {later}");
    shop.pay_with_token(OTHER_CARD, &with_save_card("ADD"));
    assert_eq!(default_card(&shop, "ada"), card);
}

#[test]
fn the_same_card_is_saved_once_and_the_default_can_change() {
    let (_server, shop) = Server::with_shop();
    shop.pay_with_token(CARD, &with_save_card("DEFAULT"));
    let first = default_card(&shop, "ada");
    shop.pay_with_token(CARD, &with_save_card("DEFAULT"));
    assert_eq!(default_card(&shop, "ada"), first);
    shop.pay_with_token(OTHER_CARD, &with_save_card("DEFAULT"));
    let second = default_card(&shop, "ada");
    assert_ne!(second, first);
    shop.pay_with_token(CARD, &with_save_card("DEFAULT"));
    assert_eq!(default_card(&shop, "ada"), first, "the saved card is recognized by its number");
}

#[test]
fn one_card_number_of_two_customers_is_saved_as_two_cards() {
    let (_server, shop) = Server::with_shop();
    let (_, ada) = shop.saved_card(&json!({ "customer_id": "ada" }));
    let (_, bob) = shop.saved_card(&json!({ "customer_id": "bob" }));
    assert_ne!(ada, bob);
    let attempt = RefusedAttempt::on(&shop, shop.saved_card_session(&ada, 100), 100);
    attempt.refused("CUSTOMER_MISMATCH", &json!({ "customer_id": "bob" }));
}

#[test]
fn a_payment_succeeds_when_its_card_cannot_be_saved() {
    let (_server, shop) = Server::with_shop();
    let single = shop.pay_with(100, &with_save_card("DEFAULT"));
    assert_eq!(
        (&single["status"], default_card(&shop, "ada")),
        (&json!("SUCCESSFUL"), Value::Null),
        "a single-use token"
    );
    for more in [json!({ "save_card": "DEFAULT" }), json!({ "save_card": "DEFAULT", "customer_name": "Nobody" })] {
        let paid = shop.pay_with_token(CARD, &more);
        assert_eq!((&paid["status"], &paid["customer_id"]), (&json!("SUCCESSFUL"), &Value::Null), "no customer");
    }
    let (_, card) = shop.saved_card(&json!({ "customer_id": "bob" }));
    let session = shop.saved_card_session(&card, 100);
    let more = json!({ "customer_id": "bob", "save_card": "DEFAULT" });
    assert_eq!(
        shop.settled(&shop.initiate(&session, 100, &more).id())["status"],
        "SUCCESSFUL",
        "the card is saved already"
    );
    assert_eq!(default_card(&shop, "bob"), card);
}

#[test]
fn a_card_that_was_declined_is_not_saved() {
    let (_server, shop) = Server::with_shop();
    let paid = shop.pay_with_token("4000000000000002", &with_save_card("DEFAULT"));
    assert_eq!((&paid["status"], default_card(&shop, "ada")), (&json!("FAILED"), Value::Null));
}

#[test]
fn a_card_is_saved_when_the_payment_is_only_authorized() {
    let (_server, shop) = Server::with_shop();
    let paid = shop.pay_with_token(CARD, &merged(&with_save_card("DEFAULT"), &json!({ "capture": false })));
    assert_eq!(paid["status"], "AUTHORIZED");
    assert!(default_card(&shop, "ada").is_string());
}

#[test]
fn without_save_card_nothing_is_saved() {
    let (_server, shop) = Server::with_shop();
    shop.pay_with_token(CARD, &json!({ "customer_id": "ada" }));
    assert_eq!(default_card(&shop, "ada"), Value::Null);
}

#[test]
fn a_card_named_at_initiation_pays_for_its_owner_given_or_not() {
    let (_server, shop) = Server::with_shop();
    let (customer, card) = shop.saved_card(&json!({ "customer_id": "ada", "customer_email": "ada@example.com" }));
    for given in [json!({}), json!({ "customer_id": "ada" }), json!({ "customer_email": "ada@example.com" })] {
        let session = shop.session_with(100, &json!({}));
        let paid = shop.settled(&shop.initiate(&session, 100, &merged(&given, &json!({ "card_id": card }))).id());
        assert_eq!((&paid["customer_id"], &paid["card"]["card_id"]), (&json!(customer), &json!(card)), "{given}");
        assert_eq!((&paid["customer_email"], &paid["status"]), (&json!("ada@example.com"), &json!("SUCCESSFUL")));
    }
}

#[test]
fn a_customer_name_given_with_a_card_changes_only_the_payment() {
    let (_server, shop) = Server::with_shop();
    let (customer, card) = shop.saved_card(&json!({ "customer_id": "ada", "customer_name": "Ada" }));
    let session = shop.session_with(100, &json!({}));
    let more = json!({ "card_id": card, "customer_name": "Her brother" });
    let paid = shop.settled(&shop.initiate(&session, 100, &more).id());
    assert_eq!((&paid["customer_id"], &paid["customer_name"]), (&json!(customer), &json!("Her brother")));
    assert_eq!(shop.contact(&customer)["name"], "Ada");
}

#[test]
fn a_session_that_has_a_token_or_a_saved_card_ignores_card_id() {
    let (_server, shop) = Server::with_shop();
    let (_, ada) = shop.saved_card(&json!({ "customer_id": "ada" }));
    let paid = shop.pay_with(100, &json!({ "card_id": ada }));
    assert_eq!((&paid["card"]["card_id"], &paid["customer_id"]), (&Value::Null, &Value::Null));
    let (_, bob) = shop.saved_card(&json!({ "customer_id": "bob" }));
    let session = shop.saved_card_session(&ada, 100);
    let paid = shop.settled(&shop.initiate(&session, 100, &json!({ "customer_id": "ada", "card_id": bob })).id());
    assert_eq!(paid["card"]["card_id"], ada);
}

#[test]
fn a_saved_card_keeps_behaving_like_its_number_after_a_restart() {
    let (mut server, shop) = Server::with_shop();
    shop.pay_with_token("4000000000000077", &with_save_card("DEFAULT"));
    let card = default_card(&shop, "ada").as_str().expect("a card").to_owned();
    let free = shop.balance()["available"].as_u64();
    let shop = server.restart_with(&shop);
    let session = shop.session_with(100, &json!({}));
    shop.settled(&shop.initiate(&session, 100, &json!({ "card_id": card })).id());
    assert_eq!(
        shop.balance()["available"].as_u64(),
        free.map(|minor| minor + 100),
        "the number was read from the vault"
    );
}

#[test]
fn find_contact_answers_by_either_identifier_only() {
    let (_server, shop) = Server::with_shop();
    let given = json!({ "customer_id": "ada", "customer_email": "ada@example.com", "customer_name": "Ada" });
    let customer = shop.pay_with(100, &given)["customer_id"].as_str().expect("a customer").to_owned();
    let contact = shop.contact("ada");
    let expected = json!({
        "contact_id": customer, "external_id": "ada", "email": "ada@example.com", "mobile": null, "name": "Ada",
        "default_card_id": null, "created_at": contact["created_at"], "updated_at": contact["updated_at"],
    });
    assert_eq!((&contact, &shop.contact(&customer)), (&expected, &expected));
    assert!(contact["created_at"].as_u64().is_some_and(|at| at > 1_700_000_000), "{contact}");
    for unknown in ["bob", "ctc_1", "ada@example.com", &crate::harness::id_of_nothing(&customer)] {
        let answer = shop.call("find-contact", &json!({ "contact_id": unknown }));
        assert_eq!(answer.refused("NOT_FOUND"), json!({ "argument": "contact_id" }), "{unknown}");
    }
    assert_eq!(shop.call("find-contact", &json!({ "contact_id": null })).faults(), ["missing contact_id"]);
    assert_eq!(shop.call("find-contact", &json!({ "contact_id": 7 })).faults(), ["invalid contact_id"]);
    assert_eq!(
        shop.call("find-contact", &json!({ "contact_id": "ada", "contactId": 7 })).faults(),
        ["unknown contactId"]
    );
}

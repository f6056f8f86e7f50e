//! Payments that save their card, and payments with a saved card. The rules are tested in the domain.

use serde_json::{Value, json};

use crate::harness::{CARD, Server, Shop, id_of_nothing, merged};

/// The number of another card whose payments succeed.
const OTHER_CARD: &str = "5555555555554444";

fn default_card(shop: &Shop, customer: &str) -> Value {
    shop.contact(customer)["default_card_id"].clone()
}

fn with_save_card(save_card: &str) -> Value {
    json!({ "customer_id": "ada", "save_card": save_card })
}

#[test]
fn a_card_is_saved_as_the_default_or_beside_it_and_pays() {
    let (_server, shop) = Server::with_shop();
    shop.pay_with_token(OTHER_CARD, &with_save_card("ADD"));
    assert_eq!(default_card(&shop, "ada"), Value::Null);
    let paid = shop.pay_with_token(CARD, &with_save_card("DEFAULT"));
    assert_eq!((&paid["status"], &paid["card"]["card_id"]), (&json!("SUCCESSFUL"), &Value::Null));
    let card = default_card(&shop, "ada");
    assert!(card.as_str().is_some_and(|id| id.starts_with("crd_") && id.len() == 30), "{card}");
    assert_eq!(shop.all_of("list-cards", &json!({ "contact_id": "ada" })).len(), 2);
    let session = shop.saved_card_session(card.as_str().expect("an id"), 100);
    let again = shop.settled(&shop.initiate(&session, 100, &json!({ "customer_id": "ada" })).id());
    assert_eq!((&again["status"], &again["card"]["card_id"]), (&json!("SUCCESSFUL"), &card));
    assert_eq!((&again["card"]["last_digits"], &again["customer_id"]), (&json!("4242"), &paid["customer_id"]));
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
    for unknown in ["bob", "ctc_1", "ada@example.com", &id_of_nothing(&customer)] {
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

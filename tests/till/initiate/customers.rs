//! The customer that a payment is linked to: contract, section 4.1.

use serde_json::{Value, json};

use super::attempt::RefusedAttempt;
use crate::harness::{Server, Shop, id_of_nothing};

/// The customer of a settled payment with these arguments.
#[track_caller]
fn customer_of(shop: &Shop, more: &Value) -> String {
    let paid = shop.pay_with(100, more);
    paid["customer_id"].as_str().unwrap_or_else(|| panic!("no customer: {paid}")).to_owned()
}

/// The data of a customer: external identifier, e-mail, mobile, name.
fn known(shop: &Shop, contact_id: &str) -> [Value; 4] {
    let contact = shop.contact(contact_id);
    ["external_id", "email", "mobile", "name"].map(|key| contact[key].clone())
}

#[test]
fn an_id_of_ours_links_to_its_customer_and_shows_its_data() {
    let (_server, shop) = Server::with_shop();
    let given =
        json!({ "customer_email": "ada@example.com", "customer_mobile": "+66812345678", "customer_name": "Ada" });
    let customer = customer_of(&shop, &given);
    let paid = shop.pay_with(100, &json!({ "customer_id": customer }));
    assert_eq!(paid["customer_id"], customer);
    for key in ["customer_email", "customer_mobile", "customer_name"] {
        assert_eq!(paid[key], given[key]);
    }
}

#[test]
fn an_unknown_id_of_our_form_is_not_found() {
    let (_server, shop, other) = Server::with_shops();
    let customer = customer_of(&shop, &json!({ "customer_email": "ada@example.com" }));
    let foreign = customer_of(&other, &json!({ "customer_email": "ada@example.com" }));
    let attempt = RefusedAttempt::new(&shop).watching(&customer);
    for unknown in [id_of_nothing(&customer), foreign, "ctc_".to_owned(), "ctc_mine".to_owned()] {
        let given = json!({ "customer_id": unknown, "customer_email": "ada@example.com", "customer_name": "Eve" });
        assert_eq!(attempt.refused("NOT_FOUND", &given), json!({ "argument": "customer_id" }), "{unknown}");
    }
    attempt.still_pays();
}

#[test]
fn an_unknown_external_identifier_makes_a_customer() {
    let (_server, shop) = Server::with_shop();
    let given = json!({
        "customer_id": "cust-7", "customer_email": "Ada@Example.com", "customer_mobile": "+66812345678",
        "customer_name": "Ada",
    });
    let customer = customer_of(&shop, &given);
    assert!(customer.starts_with("ctc_") && customer.len() == 30, "{customer}");
    let expected = [json!("cust-7"), json!("ada@example.com"), json!("+66812345678"), json!("Ada")];
    assert_eq!(known(&shop, &customer), expected);
    assert_eq!(shop.contact("cust-7"), shop.contact(&customer), "it is found by the merchant's own identifier");
}

#[test]
fn an_external_identifier_alone_makes_a_customer() {
    let (_server, shop) = Server::with_shop();
    let customer = customer_of(&shop, &json!({ "customer_id": "cust-7" }));
    assert_eq!(known(&shop, &customer), [json!("cust-7"), Value::Null, Value::Null, Value::Null]);
    assert_eq!(customer_of(&shop, &json!({ "customer_id": "cust-7" })), customer);
}

#[test]
fn a_known_external_identifier_decides_and_is_updated() {
    let (_server, shop) = Server::with_shop();
    let ada = customer_of(
        &shop,
        &json!({ "customer_id": "ada", "customer_email": "ada@example.com", "customer_name": "Ada" }),
    );
    let again = json!({ "customer_id": "ada", "customer_email": "ada@new.example", "customer_mobile": "+66812345678" });
    assert_eq!(customer_of(&shop, &again), ada);
    assert_eq!(known(&shop, &ada), [json!("ada"), json!("ada@new.example"), json!("+66812345678"), json!("Ada")]);
    let newcomer = customer_of(&shop, &json!({ "customer_email": "ada@example.com" }));
    assert_ne!(newcomer, ada, "the address that was given up is free again");
    assert_eq!(customer_of(&shop, &json!({ "customer_email": "ada@new.example" })), ada);
}

#[test]
fn an_external_identifier_goes_to_the_customer_of_the_email() {
    let (_server, shop) = Server::with_shop();
    let ada = customer_of(&shop, &json!({ "customer_email": "ada@example.com" }));
    let bob = customer_of(&shop, &json!({ "customer_mobile": "+66812345678" }));
    let given = json!({ "customer_id": "ada", "customer_email": "ADA@example.com", "customer_mobile": "+66812345678" });
    assert_eq!(customer_of(&shop, &given), ada, "the e-mail comes before the mobile");
    assert_eq!(known(&shop, &ada)[..3], [json!("ada"), json!("ada@example.com"), Value::Null]);
    assert_eq!(known(&shop, &bob)[2], "+66812345678");
}

#[test]
fn an_external_identifier_goes_to_the_customer_of_the_mobile() {
    let (_server, shop) = Server::with_shop();
    let bob = customer_of(&shop, &json!({ "customer_mobile": "+66812345678" }));
    let given = json!({ "customer_id": "bob", "customer_email": "bob@example.com", "customer_mobile": "+66812345678" });
    assert_eq!(customer_of(&shop, &given), bob);
    assert_eq!(known(&shop, &bob)[..3], [json!("bob"), json!("bob@example.com"), json!("+66812345678")]);
}

#[test]
fn an_external_identifier_is_kept_and_another_customer_is_made() {
    let (_server, shop) = Server::with_shop();
    let ada = customer_of(&shop, &json!({ "customer_id": "ada", "customer_email": "ada@example.com" }));
    let paid = shop.pay_with(100, &json!({ "customer_id": "eve", "customer_email": "ada@example.com" }));
    let eve = paid["customer_id"].as_str().expect("a customer");
    assert_ne!(eve, ada);
    assert_eq!(known(&shop, eve)[..2], [json!("eve"), Value::Null], "the address stays with the first");
    assert_eq!(known(&shop, &ada)[..2], [json!("ada"), json!("ada@example.com")]);
    assert_eq!(paid["customer_email"], "ada@example.com", "the payment keeps what was given");
}

#[test]
fn an_email_finds_its_customer_in_any_case_or_makes_one() {
    let (_server, shop) = Server::with_shop();
    let ada = customer_of(&shop, &json!({ "customer_email": "Ada@Example.com" }));
    assert_eq!(customer_of(&shop, &json!({ "customer_email": "aDA@eXAMPLE.COM", "customer_name": "Ada" })), ada);
    assert_ne!(customer_of(&shop, &json!({ "customer_email": "ada@example.org" })), ada);
    assert_eq!(known(&shop, &ada), [Value::Null, json!("ada@example.com"), Value::Null, json!("Ada")]);
}

#[test]
fn without_an_id_the_mobile_finds_its_customer_or_makes_one() {
    let (_server, shop) = Server::with_shop();
    let bob = customer_of(&shop, &json!({ "customer_mobile": "+66812345678" }));
    assert_eq!(customer_of(&shop, &json!({ "customer_mobile": "+66812345678" })), bob);
    assert_ne!(customer_of(&shop, &json!({ "customer_mobile": "+66812345679" })), bob);
}

#[test]
fn the_email_decides_before_the_mobile() {
    let (_server, shop) = Server::with_shop();
    let ada = customer_of(&shop, &json!({ "customer_email": "ada@example.com" }));
    let bob = customer_of(&shop, &json!({ "customer_mobile": "+66812345678" }));
    let paid = shop.pay_with(100, &json!({ "customer_email": "ada@example.com", "customer_mobile": "+66812345678" }));
    assert_eq!((&paid["customer_id"], &paid["customer_mobile"]), (&json!(ada), &json!("+66812345678")));
    assert_eq!((known(&shop, &ada)[2].clone(), known(&shop, &bob)[2].clone()), (Value::Null, json!("+66812345678")));
}

#[test]
fn an_unknown_email_updates_the_customer_of_a_known_mobile() {
    let (_server, shop) = Server::with_shop();
    let bob = customer_of(&shop, &json!({ "customer_mobile": "+66812345678" }));
    let given = json!({ "customer_email": "bob@example.com", "customer_mobile": "+66812345678" });
    assert_eq!(customer_of(&shop, &given), bob);
    assert_eq!(known(&shop, &bob)[1], "bob@example.com");
}

#[test]
fn a_name_alone_concerns_the_payment_and_makes_no_customer() {
    let (_server, shop) = Server::with_shop();
    let paid = shop.pay_with(100, &json!({ "customer_name": "Ada" }));
    assert_eq!((&paid["customer_id"], &paid["customer_name"]), (&Value::Null, &json!("Ada")));
}

#[test]
fn a_payment_without_customer_fields_has_no_customer() {
    let (_server, shop) = Server::with_shop();
    let paid = shop.pay_with(100, &json!({}));
    for key in ["customer_id", "customer_email", "customer_mobile", "customer_name"] {
        assert_eq!(paid[key], Value::Null, "{key}");
    }
}

#[test]
fn contact_data_of_another_customer_stays_there() {
    let (_server, shop) = Server::with_shop();
    let ada = customer_of(
        &shop,
        &json!({ "customer_id": "ada", "customer_email": "ada@example.com", "customer_mobile": "+66812345678" }),
    );
    let bob = customer_of(&shop, &json!({ "customer_id": "bob", "customer_email": "bob@example.com" }));
    let before = shop.contact(&ada);
    let given = json!({
        "customer_id": bob, "customer_email": "ada@example.com", "customer_mobile": "+66812345678",
            "customer_name": "Bob",
    });
    let paid = shop.pay_with(100, &given);
    assert_eq!((&paid["customer_id"], &paid["customer_email"]), (&json!(bob), &json!("ada@example.com")));
    assert_eq!((&paid["customer_mobile"], &paid["customer_name"]), (&json!("+66812345678"), &json!("Bob")));
    assert_eq!(known(&shop, &bob), [json!("bob"), json!("bob@example.com"), Value::Null, json!("Bob")]);
    assert_eq!(shop.contact(&ada), before);
}

#[test]
fn fields_given_here_win_over_those_given_at_selection() {
    let (_server, shop) = Server::with_shop();
    let defaults = json!({
        "token": shop.token_of(crate::harness::CARD, "SINGLE"), "customer_id": "ada",
            "customer_email": "ada@example.com",
        "customer_mobile": "+66812345678", "customer_name": "Ada",
    });
    let session = shop.session_with(100, &defaults);
    shop.call("find-contact", &json!({ "contact_id": "ada" })).refused("NOT_FOUND");
    let given = json!({ "customer_email": "ada@work.example", "customer_name": null });
    let paid = shop.settled(&shop.initiate(&session, 100, &given).id());
    let expected = [json!("ada"), json!("ada@work.example"), json!("+66812345678"), json!("Ada")];
    assert_eq!(known(&shop, paid["customer_id"].as_str().expect("a customer")), expected);
    assert_eq!(paid["customer_name"], "Ada");
}

#[test]
fn a_saved_card_uses_the_customer_of_selection_or_call() {
    let (_server, shop) = Server::with_shop();
    let (ada, card) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    let selected = |email: &str| shop.session_with(100, &json!({ "card_id": card, "customer_email": email }));
    let attempt = RefusedAttempt::on(&shop, selected("ada@example.com"), 100).watching(&ada);
    attempt.refused("CUSTOMER_MISMATCH", &json!({ "customer_email": "bob@example.com" }));
    assert_eq!(attempt.still_pays()["customer_id"], ada);
    let attempt = RefusedAttempt::on(&shop, selected("bob@example.com"), 100).watching(&ada);
    attempt.refused("CUSTOMER_MISMATCH", &json!({}));
    attempt.refused("CUSTOMER_MISMATCH", &json!({ "customer_id": ada }));
    assert_eq!(attempt.still_pays_with(&json!({ "customer_email": "ada@example.com" }))["customer_id"], ada);
}

#[test]
fn customers_of_one_merchant_are_nothing_to_another() {
    let (_server, shop, other) = Server::with_shops();
    let given = json!({ "customer_id": "ada", "customer_email": "ada@example.com", "customer_mobile": "+66812345678" });
    let (here, there) = (customer_of(&shop, &given), customer_of(&other, &given));
    assert_ne!(here, there);
    assert_eq!(known(&shop, &here), known(&other, &there));
    other.call("find-contact", &json!({ "contact_id": here })).refused("NOT_FOUND");
}

#[test]
fn an_update_shows_its_time_and_a_repetition_changes_nothing() {
    let (_server, shop) = Server::with_shop();
    let given = json!({ "customer_id": "ada", "customer_name": "Ada" });
    let ada = customer_of(&shop, &given);
    let first = shop.contact(&ada);
    assert_eq!(first["created_at"], first["updated_at"]);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    customer_of(&shop, &given);
    assert_eq!(shop.contact(&ada), first);
    customer_of(&shop, &json!({ "customer_id": "ada", "customer_name": "Ada E." }));
    let changed = shop.contact(&ada);
    assert!(changed["updated_at"].as_u64() > first["updated_at"].as_u64(), "{changed}");
    assert_eq!(changed["created_at"], first["created_at"]);
}

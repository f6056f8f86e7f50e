//! The customer that a payment is linked to, as the arguments name it: contract, section 4.1. The rules are tested in
//! the domain.

use serde_json::{Value, json};

use crate::harness::{CARD, Server, Shop};

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
fn fields_given_here_win_over_those_given_at_selection() {
    let (_server, shop) = Server::with_shop();
    let defaults = json!({
        "token": shop.token_of(CARD, "SINGLE"), "customer_id": "ada", "customer_email": "ada@example.com",
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

//! The form of a refusal: the triple, and problem details for callers that ask for them.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Client, Server, Shop, merged};

/// The media type of RFC 9457.
const PROBLEM: &str = "application/problem+json";

/// Checks problem details against their code and status.
#[track_caller]
fn is_problem(answer: &ApiAnswer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.body["code"].as_str()), (status, Some(code)), "{}", answer.body);
    assert_eq!(answer.header("content-type"), Some(PROBLEM));
    assert_eq!(answer.body["status"], status);
    for member in ["type", "title", "detail"] {
        assert!(answer.body[member].is_string(), "{member} of {}", answer.body);
    }
    assert!(answer.body.get("details").is_some());
}

fn problems_of(shop: &Shop) -> impl Fn(&str, &Value) -> ApiAnswer {
    let client = shop.client().header("Accept", PROBLEM);
    move |endpoint, body| client.post(&format!("/merchants/{endpoint}"), body)
}

fn operator_problems(server: &Server) -> impl Fn(&str, &Value) -> ApiAnswer {
    let client = server.admin_client().header("Accept", PROBLEM);
    move |endpoint, body| client.post(&format!("/admin/{endpoint}"), body)
}

#[test]
fn a_refusal_is_a_triple_of_code_message_and_details() {
    let (_server, shop) = Server::with_shop();
    let answer = shop.call("find-payment", &json!({ "payment_id": "nothing" }));
    assert_eq!(answer.refused("NOT_FOUND"), json!({ "argument": "payment_id" }));
    assert!(!answer.message().is_empty());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    for accept in ["application/json", "*/*", "text/html", "application/json, application/problem+json;q=0.5"] {
        let client = shop.client().header("Accept", accept);
        client.post("/merchants/find-payment", &json!({ "payment_id": "nothing" })).refused("NOT_FOUND");
    }
}

#[test]
fn every_fault_comes_at_once_with_type_argument_and_message() {
    let (_server, shop) = Server::with_shop();
    let body = json!({
        "external_Id": "order", "amount": "01", "currency": "thb", "payment_session_id": null, "capture": "true",
        "customer_email": "nobody", "customer_mobile": "0812345678", "save_card": "add", "interest_bearer": "nobody",
        "external_id": "pay_01h455vb4pex5vsknk084sn02q", "customer_name": "", "card_id": 7, "zzz": null,
    });
    let answer = shop.call("initiate-payment-flow", &body);
    let expected = [
        "invalid external_id",
        "invalid amount",
        "invalid currency",
        "missing payment_session_id",
        "invalid card_id",
        "invalid capture",
        "missing return_url",
        "invalid customer_email",
        "invalid customer_mobile",
        "invalid customer_name",
        "invalid save_card",
        "invalid interest_bearer",
        "unknown external_Id",
        "unknown zzz",
    ];
    assert_eq!(answer.faults(), expected);
    let details = answer.details();
    assert_eq!(details[12]["suggestion"], "external_id");
    assert!(details[13].get("suggestion").is_none());
    assert!(details.as_array().expect("faults").iter().all(|fault| fault["message"].is_string()));
}

#[test]
fn null_for_an_optional_argument_means_omitted() {
    let (_server, shop) = Server::with_shop();
    let nulls = json!({ "per_page": null, "after": null, "before": null });
    assert_eq!(shop.call("list-activity-logs", &nulls).ok(), shop.call("list-activity-logs", &json!({})).ok());
}

#[test]
fn problem_details_come_with_the_statuses_of_rest() {
    let (server, shop) = Server::with_shop();
    let call = problems_of(&shop);
    let wrong = Client::new(server.public()).bearer("sk_wrong").header("Accept", PROBLEM);
    let answer = wrong.post("/merchants/get-balance", &json!({}));
    is_problem(&answer, 401, "UNAUTHORIZED");
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    is_problem(&wrong.post("/2001-01-01/merchants/get-balance", &json!({})), 400, "BAD_VERSION");
    is_problem(&wrong.post("/merchants/nothing", &json!({})), 404, "UNKNOWN_ENDPOINT");
    is_problem(&wrong.get("/merchants/get-balance"), 405, "METHOD_NOT_ALLOWED");
    let text = shop.client().header("Accept", PROBLEM).header("Content-Type", "text/plain");
    is_problem(&text.post("/merchants/get-balance", &json!({})), 415, "UNSUPPORTED_MEDIA_TYPE");
    let long = shop.client().header("Accept", PROBLEM).post_bytes("/merchants/get-balance", &vec![b' '; (1 << 20) + 1]);
    is_problem(&long, 413, "BODY_TOO_LARGE");
    is_problem(&call("find-payment", &json!({ "payment_id": "nothing" })), 404, "NOT_FOUND");
    let answer = call("find-payment", &json!({}));
    is_problem(&answer, 400, "INVALID_ARGUMENTS");
    assert_eq!(answer.body["details"][0]["argument"], "payment_id");
    let session = shop.session(500);
    is_problem(&call("initiate-payment-flow", &shop.initiation(&session, 501)), 409, "CONFLICT");
}

#[test]
fn details_of_customers_cards_and_methods_have_statuses() {
    let (server, shop) = Server::with_shop();
    let call = problems_of(&shop);
    let operator = operator_problems(&server);
    let (_, card) = shop.saved_card(&json!({ "customer_email": "ada@shop.example" }));
    let session = shop.session_with(700, &json!({ "card_id": card }));
    is_problem(&call("initiate-payment-flow", &shop.initiation(&session, 700)), 422, "CUSTOMER_REQUIRED");
    let stranger = merged(&shop.initiation(&session, 700), &json!({ "customer_email": "eve@shop.example" }));
    is_problem(&call("initiate-payment-flow", &stranger), 422, "CUSTOMER_MISMATCH");
    is_problem(&operator("configure-payment-method", &json!({})), 400, "INVALID_ARGUMENTS");
    server.configure(&shop, "CARD", &json!({ "authorizes_without_capture": false })).ok();
    let session = shop.session(900);
    let held = merged(&shop.initiation(&session, 900), &json!({ "capture": false }));
    is_problem(&call("initiate-payment-flow", &held), 422, "NOT_SUPPORTED");
    let token = shop.token_of(crate::harness::CARD, "SINGLE");
    shop.session_with(900, &json!({ "token": token }));
    let again = shop.named(&json!({ "amount": 900, "currency": "THB", "payment_method": "CARD", "token": token }));
    let sdk = server.client().header("Accept", PROBLEM);
    is_problem(&sdk.post("/sdk/select-payment-method", &again), 409, "TOKEN_ALREADY_USED");
}

#[test]
fn details_of_money_keys_and_suspension_have_statuses() {
    let (server, shop) = Server::with_shop();
    let operator = operator_problems(&server);
    let topup = json!({ "merchant_id": shop.merchant_id, "amount": "9007199254740991", "external_id": "first" });
    server.admin("add-topup", &topup).ok();
    is_problem(&operator("add-topup", &topup), 409, "CONFLICT");
    let more = json!({ "merchant_id": shop.merchant_id, "amount": 1 });
    is_problem(&operator("add-topup", &more), 422, "AMOUNT_EXCEEDS_LIMIT");
    let named = server.admin_client().header("Accept", PROBLEM).idempotency_key("once");
    let open = json!({ "merchant_id": shop.merchant_id });
    named.post("/admin/open-balance", &open).ok();
    let other = server.shop();
    named.post("/admin/open-balance", &json!({ "merchant_id": other.merchant_id })).ok();
    named.post("/admin/suspend-merchant", &open).ok();
    let installation = json!({ "merchant_id": shop.merchant_id, "name": "A", "platform": "IOS", "identifier": "a.b" });
    named.post("/admin/add-installation", &installation).ok();
    let changed = merged(&installation, &json!({ "name": "B" }));
    is_problem(&named.post("/admin/add-installation", &changed), 422, "IDEMPOTENCY_KEY_REUSED");
    is_problem(
        &problems_of(&shop)("initiate-payment-flow", &shop.initiation(&other.session(100), 100)),
        403,
        "MERCHANT_SUSPENDED",
    );
}

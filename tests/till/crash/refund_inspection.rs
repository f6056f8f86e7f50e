//! Compares the refunds that a server shows with the expected ones.

use serde_json::{Value, json};

use crate::harness::{Server, Shop};

use super::inspection::{assert_same, eventually};
use super::merchants::LoadedMerchant;
use super::payment::{KnownPayment, Refund};
use super::reckoning::in_parallel;
use super::truth::Truth;

/// Checks all refunds, once the acquirer has answered.
pub(super) fn inspect(server: &Server, merchant: &LoadedMerchant, truth: &Truth) {
    let shop = merchant.shop.on(server);
    let pending = || shop.call("list-refunds", &json!({ "status": "PENDING" })).ok();
    eventually("the end of every refund", pending, |page| page["page"] == json!([]));
    check_list(&shop, truth);
    check_each(server, merchant, truth);
    for external_id in &truth.absent_refunds {
        shop.call("find-refund", &json!({ "refund_id": external_id })).refused("NOT_FOUND");
    }
}

/// Each accepted refund is listed once, and no other.
fn check_list(shop: &Shop, truth: &Truth) {
    let mut expected: Vec<String> =
        truth.payments.values().flat_map(|payment| payment.refunds.keys().cloned()).collect();
    expected.sort();
    assert_same("refunds", &ids(&shop.all("list-refunds")), &expected);
}

fn ids(refunds: &[Value]) -> Vec<String> {
    let mut ids: Vec<String> =
        refunds.iter().map(|refund| refund["refund_id"].as_str().expect("an id").to_owned()).collect();
    ids.sort();
    ids
}

/// Each refund is found by its id or its external id, and by its payment, as it was asked for.
fn check_each(server: &Server, merchant: &LoadedMerchant, truth: &Truth) {
    let payments: Vec<(&String, &KnownPayment)> =
        truth.payments.iter().filter(|(_, payment)| !payment.refunds.is_empty()).collect();
    in_parallel(&payments, |payments| {
        let shop = merchant.shop.on(server);
        for (payment_id, payment) in payments {
            let listed =
                shop.call("list-refunds-by-payment", &json!({ "payment_id": payment_id, "per_page": 100 })).ok();
            let listed = ids(listed["page"].as_array().expect("a page"));
            let expected: Vec<String> = payment.refunds.keys().cloned().collect();
            assert_same(&format!("refunds of {payment_id}"), &listed, &expected);
            payment.refunds.iter().for_each(|(id, refund)| check_one(&shop, payment_id, payment, (id, refund)));
        }
        Vec::<()>::new()
    });
}

fn check_one(shop: &Shop, payment_id: &str, payment: &KnownPayment, (id, refund): (&str, &Refund)) {
    let name = refund.external_id.as_deref().unwrap_or(id);
    let found = shop.call("find-refund", &json!({ "refund_id": name })).ok();
    let failure = payment.sale.fate.refund_failure();
    let expected = json!({
        "refund_id": id, "external_id": refund.external_id, "payment_id": payment_id, "amount": refund.minor,
        "status": if failure.is_some() { "FAILED" } else { "SUCCESSFUL" }, "failure_code": failure,
        "full": refund.minor == payment.captured_minor(),
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&found[name], value, "{name} of {found}: {payment:?}");
    }
    assert_eq!(found["refunded_at"].is_u64(), failure.is_none(), "{found}");
}

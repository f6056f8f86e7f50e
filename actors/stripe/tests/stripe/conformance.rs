//! The connector keeps the promises of an acquirer.

use serde_json::json;

use crate::promises::{CallFault, Conformance};
use crate::shop::{CHALLENGED_CARD, GOOD_CARD, MERCHANT, MINOR, Means, Shop, address, thb};

#[tokio::test]
async fn the_connector_keeps_the_promises_of_an_acquirer() {
    let shop = Shop::open();
    let conformance = Conformance {
        acquirer: &*shop.stripe,
        merchant: MERCHANT,
        money: thb(MINOR),
        new_payment: &|| shop.payment(Means::PromptPay).id,
        approved: &|| Means::Number(GOOD_CARD).instrument(),
        declined: &|| Means::Number("4000000000009995").instrument(),
        asking: &|| Means::Number(CHALLENGED_CARD).instrument(),
        pending: &|| Means::Number("4000000000007726").instrument(),
        act: &|required| {
            shop.fake.post(address(required), "answer=authenticate");
            Box::pin(async { Ok(()) })
        },
        end_refund: &|reference| {
            shop.end_refund(reference, "succeeded");
            Box::pin(async { Ok(()) })
        },
        pays_out: false,
        next_fault: &|fault| {
            let capture = "/v1/payment_intents/*/capture";
            match fault {
                CallFault::AnswerLost => shop.fake.fault("lost_answer", "POST", capture),
                CallFault::RequestLost => shop.fake.fault("lost_request", "POST", capture),
                CallFault::FailureStored => {
                    shop.fake.plan(&json!({ "fault": "stored_500", "executed": true, "path": capture }));
                }
                CallFault::NotSent => return false,
            }
            true
        },
        end_keys: &|| {
            shop.fake.control("DELETE", "keys", &json!({}));
        },
    };
    conformance.check().await.expect("kept");
}

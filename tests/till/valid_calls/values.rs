//! Valid values of arguments: by their names, else by their choices or their types.

use serde_json::Value;

use crate::harness::VAULT_KEY;

/// Values that an argument takes, as JSON text. A call with the first value of each required argument must succeed.
/// Placeholders such as `@session@` stand for objects of the fixture, `@fresh@` for a number that is new.
pub(super) fn values_of(endpoint: &str, argument: &Value) -> Vec<String> {
    let name = argument["name"].as_str().expect("a string");
    let texts = texts_of(endpoint, name);
    if texts.is_empty() {
        return by_type(argument);
    }
    let value = |text: &&str| text.strip_prefix('=').map_or_else(|| format!("\"{text}\""), str::to_owned);
    texts.iter().map(value).collect()
}

/// The values of an argument whose name has a meaning: texts, or after `=` any JSON.
fn texts_of(endpoint: &str, name: &str) -> &'static [&'static str] {
    match name {
        "merchant_id" if matches!(endpoint, "suspend-merchant" | "resume-merchant") => &["@other@"],
        "merchant_id" if endpoint == "advance-clock" => &["@tested@"],
        "merchant_id" if endpoint == "add-acquirer" => &["@fresh-merchant@"],
        "merchant_id" if endpoint.contains("-acquirer") => &["@with-acquirers@"],
        "merchant_id" => &["@merchant@"],
        "from" => &["2026-01-01"],
        "to" if endpoint == "reconcile-acquirer" => &["2026-01-31"],
        "to" => &["=@soon@", "=0"],
        "installation_id" if matches!(endpoint, "update-installation" | "remove-installation") => {
            &["@spare-installation@"]
        }
        "installation_id" => &["@installation@"],
        "payment_session_id" if endpoint == "get-redirect-url" => &["@asked-session@", "@session@", "@used-session@"],
        "payment_session_id" if endpoint == "retrieve-qr-data" => &["@scanned-session@", "@session@"],
        "payment_session_id" if endpoint == "get-return-url" => &["@used-session@", "@session@"],
        "payment_session_id" => &[
            "@session@",
            "@bare-session@",
            "@installment-session@",
            "@used-session@",
            "pse_01h455vb4pex5vsknk084sn02q",
        ],
        "payment_id" if matches!(endpoint, "capture-payment" | "void-payment") => &["@held-payment@", "@payment@"],
        "payment_id" if matches!(endpoint, "reverse-payment" | "refund-payment" | "open-dispute") => {
            &["@taken-payment@", "@payment@"]
        }
        "payment_id" if endpoint == "complete-action" => &["@asked-payment@", "@payment@", "order-1"],
        "payment_id" if endpoint == "find-payments" => &["@payment@", "pay_01h455vb4pex5vsknk084sn02q"],
        "payment_id" => &["@payment@", "order-1", "pay_01h455vb4pex5vsknk084sn02q"],
        "checkout_id" => &["@checkout@", "their-own", "chk_01h455vb4pex5vsknk084sn02q"],
        "lines" => &["=[{\"name\":\"Tea\",\"amount\":10000}]"],
        "payment_methods" => &["=[\"CARD\"]", "=[\"CARD\",\"INSTALLMENT\"]"],
        // A checkout that expires while hostile calls are made would be a commit without a call.
        "expires_in" => &["=86400"],
        "color" => &["#0a7d55"],
        "cancel_url" => &["https://shop.example/cart"],
        "refund_id" if matches!(endpoint, "complete-refund" | "fail-refund") => &["@waiting-refund@", "@refund@"],
        "refund_id" => &["@refund@", "return-1", "rfn_01h455vb4pex5vsknk084sn02q"],
        "payout_id" if matches!(endpoint, "complete-payout" | "fail-payout") => &["@waiting-payout@", "@payout@"],
        "payout_id" => &["@payout@", "out-1", "pyo_01h455vb4pex5vsknk084sn02q"],
        "dispute_id" if endpoint != "find-dispute" => &["@open-dispute@", "@dispute@"],
        "dispute_id" => &["@dispute@", "dsp_01h455vb4pex5vsknk084sn02q"],
        "webhook_id" if endpoint == "list-webhook-deliveries" => &["@webhook@"],
        "webhook_id" if endpoint == "reconnect-webhook" => &["@stopped-webhook@", "@webhook@"],
        "webhook_id" => &["@webhook@", "whe_01h455vb4pex5vsknk084sn02q"],
        "destination_url" => &["http://127.0.0.1:1/events", "https://shop.example/events"],
        // No payment of the fixture expires: no delivery changes a list between two reads.
        "events" => &["=[\"PAYMENT_EXPIRED\"]", "=[\"*\"]", "=[\"PAYMENT_COMPLETED\"]"],
        "signature_header" => &["X-Shop-Signature"],
        "api_version" => &["2025-04-01"],
        "since" => &["=0"],
        "event_id" => &["@event@", "evt_01h455vb4pex5vsknk084sn02q"],
        "statement_id" => &["stm_01h455vb4pex5vsknk084sn02q"],
        "part" => &["=1", "=2"],
        "topup_id" => &["@topup@", "transfer-1", "tup_01h455vb4pex5vsknk084sn02q"],
        "contact_id" if endpoint == "remove-contact" => &["@spare-contact@", "@customer@"],
        "contact_id" if endpoint == "list-cards" => &["@customer@"],
        "customer_id" | "contact_id" => &["@customer@", "their-own", "ctc_01h455vb4pex5vsknk084sn02q"],
        "card_id" => &["@card@", "crd_01h455vb4pex5vsknk084sn02q", "their-card"],
        "token" if endpoint == "save-card" => &["@token@", "tok_01h455vb4pex5vsknk084sn02q"],
        "token" => &["@token@", "@token@", "@used-token@", "tok_01h455vb4pex5vsknk084sn02q"],
        "key_id" | "actor_key_id" => &["@key@"],
        "key" if endpoint.contains("-metadata-set") => &["@basket@", "@cart@", "nothing-yet"],
        "key" => &["@cart@", "@basket@", "nothing-yet"],
        "vault_key" => &[VAULT_KEY],
        "path" => &["tags", "a.tags", ""],
        "metadata" => &["={\"tags\":[\"a\"]}", "=[]", "={\"a\":{}}"],
        "value" => &["=\"a\"", "=7", "={\"a\":[null]}", "=null"],
        "version" => &["=0", "=1", "=2", "=3", "=4"],
        "role_id" => &["SUPPORT", "OWNER", "DEVELOPER", "VIEWER"],
        "refund_limit" if endpoint == "update-user" => &["none", "100", "=7"],
        "refund_limit" => &["=7", "100"],
        "user_id" => &["@user@"],
        "invitation_id" => &["@invitation@"],
        "plan_id" => &["@plan@", "@other-plan@"],
        "actor_email" => &["member@shop.example"],
        "object_id" => &["@merchant@", "@payment@", "order-1"],
        "parent_id" => &["@payment@"],
        "created_at" => &["today", "2025-01..", "..2040-01-01", "this_week"],
        "terms" => &["member@", "@payment@", "PAY_0"],
        "after" | "before" if endpoint == "retrieve-metadata" => &["=1", "=7"],
        "after" | "before" => &[
            "@activity@",
            "@entry@",
            "@merchant@",
            "@user@",
            "@invitation@",
            "@key@",
            "@payment@",
            "@refund@",
            "@topup@",
            "@payout@",
            "@dispute@",
        ],
        "external_id" => &["hostile-1", "order-1"],
        "amount" => &["=10000", "10000", "=1"],
        "currency" => &["THB", "THB", "THB", "USD"],
        "return_url" => &["https://shop.example/done"],
        "email" => &["new-@fresh@@shop.example", "ada@shop.example", "member@shop.example"],
        "contact_email" => &["new-@fresh@@shop.example", "ada@shop.example"],
        "customer_email" | "support_email" => &["ada@shop.example", "eve@shop.example"],
        "customer_mobile" | "contact_mobile" | "mobile" => &["+66812345678"],
        "number" => &["4242424242424242", "4000000000000002"],
        "expiration_date" => &["12/49"],
        "security_code" => &["123"],
        "installment_plan_id" => &["sandbox_3_months"],
        "identifier" => &["https://shop.example"],
        "time_zone" => &["Asia/Bangkok"],
        "acquirer" if endpoint == "add-acquirer" => &["stripe"],
        "acquirer" => &["sandbox", "acq_01h455vb4pex5vsknk084sn02q"],
        "acquirer_id" if endpoint == "remove-acquirer" => &["@spare-acquirer@", "@acquirer@"],
        "acquirer_id" => &["@acquirer@", "acq_01h455vb4pex5vsknk084sn02q"],
        "secret" | "webhook_secret" => &["sk_test_EXAMPLE000000000000000000"],
        // There is nobody who could be asked about a secret.
        "unchecked" => &["=true"],
        "expires_at" => &["=4102444800"],
        // A record that expires while hostile calls are made would be a commit without a call.
        "ttl" => &["=63072000"],
        "last_digits" => &["4242", "0002"],
        "per_page" | "settlement_delay_seconds" | "fee_basis_points" | "fee_fixed" => &["=7"],
        "name" | "customer_name" | "contact_name" => &["Ada"],
        _ => &[],
    }
}

fn by_type(argument: &Value) -> Vec<String> {
    if let Some(choices) = argument["choices"].as_array() {
        return choices.iter().map(Value::to_string).collect();
    }
    match argument["type"].as_str() {
        Some("boolean") => vec!["true".to_owned(), "false".to_owned()],
        Some("number") => vec!["1".to_owned()],
        _ => vec!["\"a\"".to_owned()],
    }
}

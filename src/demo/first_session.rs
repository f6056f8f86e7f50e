//! A first session: commands that can be pasted into a shell, word for word.

use std::io::Write;
use std::net::SocketAddr;

use super::merchant::Demo;

/// Prints the session to standard output.
pub(super) fn print(demo: &Demo, public: SocketAddr) {
    let _ = std::io::stdout().write_all(text(demo, public).as_bytes()); // Whoever started us may not be reading.
}

fn text(demo: &Demo, public: SocketAddr) -> String {
    let Demo { merchant_id, installation_id, api_key } = demo;
    format!(
        r#"
Till is ready. A first payment, to paste into another shell:

TILL=http://{public}
KEY={api_key}
SHOP='"merchant_id":"{merchant_id}","installation_id":"{installation_id}"'
call() {{ curl -sS "$TILL$1" -H 'Content-Type: application/json' -H "Authorization: Bearer $KEY" -d "$2"; echo; }}

# The customer's client: keep a test card, select it for an amount.
TOKEN=$(call /sdk/tokenize-card "{{$SHOP,\"number\":\"4242424242424242\",\"name\":\"Ada Example\",\"expiration_date\":\"12/30\",\"security_code\":\"123\",\"usage\":\"SINGLE\"}}")
SESSION=$(call /sdk/select-payment-method "{{$SHOP,\"amount\":\"10000\",\"currency\":\"USD\",\"payment_method\":\"CARD\",\"token\":$TOKEN}}")

# Your server: initiate the payment, look it up, list what happened, and the money.
PAYMENT=$(call /merchants/initiate-payment-flow "{{\"external_id\":\"order-$RANDOM$RANDOM\",\"amount\":\"10000\",\"currency\":\"USD\",\"payment_session_id\":$SESSION,\"capture\":true,\"return_url\":\"https://shop.example/done\",\"customer_email\":\"ada@example.com\"}}")
sleep 1
call /merchants/find-payment "{{\"payment_id\":$PAYMENT}}"
call /merchants/list-activity-logs '{{}}'
call /merchants/balance-history '{{}}'
call /merchants/get-balance '{{}}'

"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_names_the_server_and_the_merchant_s_ids_and_key() {
        let demo = Demo { merchant_id: "mer_x".into(), installation_id: "ins_x".into(), api_key: "sk_x".into() };
        let text = text(&demo, SocketAddr::from(([127, 0, 0, 1], 8080)));
        for part in ["http://127.0.0.1:8080", "mer_x", "ins_x", "sk_x"] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("{{") && text.contains("{$SHOP"));
    }
}

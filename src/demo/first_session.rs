//! A first session: commands that can be pasted into a shell, word for word.
//!
//! No line is a comment: an interactive zsh takes `#` for a command, and an apostrophe in a comment for a quote.

use std::io::Write;
use std::net::SocketAddr;
use std::path::absolute;

use super::merchant::{Demo, ORIGIN};
use crate::configuration::Configuration;

/// The options with which curl reaches the public listener.
pub(super) struct Reached {
    base: String,
    /// Further options of curl, after a space.
    options: String,
}

impl Reached {
    /// The address of a path of the server.
    #[cfg(feature = "pages")]
    pub(super) fn address(&self, path: &str) -> String {
        [&self.base, path].concat()
    }

    /// By the bound address. A listener with TLS is called by the name in `public_url`, when that is set, and trusted
    /// by its own certificates, since those of a first session are rarely known to the machine.
    pub(super) fn by_address(configuration: &Configuration, public: SocketAddr) -> Reached {
        let Some(tls) = &configuration.tls else {
            return Reached { base: format!("http://{public}"), options: String::new() };
        };
        let base = configuration.public_url.clone().unwrap_or_else(|| format!("https://{public}"));
        let certificate = absolute(&tls.certificate).unwrap_or_else(|_| tls.certificate.clone());
        Reached { base, options: format!(" --cacert {}", quoted(&certificate.display().to_string())) }
    }
}

/// Quotes a text as one word for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Prints the session to standard output.
pub(super) fn print(demo: &Demo, reached: &Reached) {
    let _ = std::io::stdout().write_all(text(demo, reached).as_bytes()); // The parent process may not be reading.
}

fn text(demo: &Demo, reached: &Reached) -> String {
    let Demo { merchant_id, installation_id, api_key } = demo;
    let Reached { base, options } = reached;
    let program = std::env::current_exe().map_or_else(|_| "till".to_owned(), |path| path.display().to_string());
    format!(
        r#"
Till is ready. Below is a first payment, to paste into another shell (bash or zsh). The client of the customer makes
the calls named sdk_call, without a key: it keeps a test card and selects it for an amount. Your server makes those
named merchant_call: it initiates the payment, looks it up, and lists what happened and the money. The second payment
is by a card that asks for 3-D Secure: the customer confirms it at the address that is printed, which is a page, and is
sent back to the shop. The page is a plain form, so curl can send it. In a browser, pages
from {ORIGIN} may call /sdk: that is the origin of the installation of the demo merchant.
Events as webhooks: {program} webhook listen receives and prints them, {program} trigger payment_completed
causes one.

TILL={base}
KEY={api_key}
SHOP='"merchant_id":"{merchant_id}","installation_id":"{installation_id}"'
JSON='Content-Type: application/json'
sdk_call() {{ curl -sS{options} "$TILL/sdk/$1" -H "$JSON" -d "$2"; echo; }}
merchant_call() {{ curl -sS{options} "$TILL/merchants/$1" -H "$JSON" -H "Authorization: Bearer $KEY" -d "$2"; echo; }}

TOKEN=$(sdk_call tokenize-card "{{$SHOP,\"number\":\"4242424242424242\",\"name\":\"Ada Example\",\"expiration_date\":\"12/30\",\"security_code\":\"123\",\"usage\":\"SINGLE\"}}")
SESSION=$(sdk_call select-payment-method "{{$SHOP,\"amount\":\"10000\",\"currency\":\"THB\",\"payment_method\":\"CARD\",\"token\":$TOKEN}}")
PAYMENT=$(merchant_call initiate-payment-flow "{{\"external_id\":\"order-$RANDOM$RANDOM\",\"amount\":\"10000\",\"currency\":\"THB\",\"payment_session_id\":$SESSION,\"capture\":true,\"return_url\":\"https://shop.example/done\",\"customer_email\":\"ada@example.com\"}}")
sleep 1
merchant_call find-payment "{{\"payment_id\":$PAYMENT}}"
merchant_call list-activity-logs '{{}}'
merchant_call balance-history '{{}}'
merchant_call get-balance '{{}}'

TOKEN=$(sdk_call tokenize-card "{{$SHOP,\"number\":\"4000002760003184\",\"name\":\"Ada Example\",\"expiration_date\":\"12/30\",\"security_code\":\"123\",\"usage\":\"SINGLE\"}}")
SESSION=$(sdk_call select-payment-method "{{$SHOP,\"amount\":\"25000\",\"currency\":\"THB\",\"payment_method\":\"CARD\",\"token\":$TOKEN}}")
CONFIRMED=$(merchant_call initiate-payment-flow "{{\"external_id\":\"order-$RANDOM$RANDOM\",\"amount\":\"25000\",\"currency\":\"THB\",\"payment_session_id\":$SESSION,\"capture\":true,\"return_url\":\"https://shop.example/done\"}}")
sleep 1
sdk_call discover-next-action "{{$SHOP,\"payment_session_id\":$SESSION}}"
ISSUER=$(sdk_call get-redirect-url "{{$SHOP,\"payment_session_id\":$SESSION}}" | tr -d '"')
echo "$ISSUER"
BACK=$(curl -sS{options} -o /dev/null -w '%{{redirect_url}}' -d outcome=succeed "$ISSUER")
sleep 1
curl -sS{options} -o /dev/null -w '%{{redirect_url}}\n' "$BACK"
merchant_call find-payment "{{\"payment_id\":$CONFIRMED}}"

"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::Layers;

    fn reached(settings: &str) -> Reached {
        let configuration = Configuration::from_layers(Layers::new().with_file_text(settings));
        let configuration = configuration.unwrap_or_else(|error| panic!("{error}"));
        Reached::by_address(&configuration, SocketAddr::from(([127, 0, 0, 1], 8080)))
    }

    fn session(settings: &str) -> String {
        let demo = Demo { merchant_id: "mer_x".into(), installation_id: "ins_x".into(), api_key: "sk_x".into() };
        text(&demo, &reached(settings))
    }

    #[test]
    fn the_session_names_the_server_the_origin_the_ids_and_the_key() {
        let text = session("");
        for part in ["TILL=http://127.0.0.1:8080\n", "mer_x", "ins_x", "sk_x", ORIGIN] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("{{") && text.contains("{$SHOP") && !text.contains("--cacert"));
    }

    #[test]
    fn a_listener_with_tls_is_called_by_https_and_its_certificate() {
        let tls = "tls_certificate_file = \"/etc/ada's/c.pem\"\ntls_key_file = \"/k.pem\"\n";
        let text = session(tls);
        assert!(text.contains("TILL=https://127.0.0.1:8080\n"), "{text}");
        assert_eq!(text.matches(r"curl -sS --cacert '/etc/ada'\''s/c.pem' ").count(), 4, "{text}");
        let named = session(&format!("{tls}public_url = \"https://till.example\"\n"));
        assert!(named.contains("TILL=https://till.example\n"), "{named}");
    }

    #[test]
    fn an_interactive_zsh_can_run_every_line_of_the_session() {
        let text = session("");
        let (prose, commands) = text.split_once("\nTILL=").unwrap_or_else(|| panic!("{text}"));
        assert!(!prose.contains(['\'', '"', '`', '$']), "it may be pasted along: {prose}");
        assert!(!commands.contains('#') && !commands.contains('!'), "{commands}");
    }
}

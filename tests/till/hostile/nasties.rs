//! Difficult values for arguments of one name, as JSON text.

use serde_json::Value;

/// Paths of metadata: empty and unusual segments, names with a meaning elsewhere, many levels.
const PATHS: &str = "\
    . | .. | a. | .a | a..b | a. .b | tags.0 | tags.length | 0 | __proto__.polluted | constructor.prototype | \
    $.a[0] | a/b | a\\.b | é.漢.💳 | e\u{301}.é | a.\u{202e}.b | a\u{0}b | a\tb | *";

const TTLS: &str = "\
    0 | -1 | 63071999 | 63072000 | 63072001 | 63072000.0 | 6.3072e7 | 3600.5 | 9007199254740991 | \"3600\"";

const VERSIONS: &str = "0 | -0 | 0.0 | 1.0 | 1 | 2 | -1 | 0.5 | 9007199254740991 | 9007199254740992 | \"1\" | 1e-3";

const INSTANTS: &str = "\
    .. | 2025 | 2025-04 | 2025-13 | 2025-00 | 2025-02-29 | 2024-02-29 | 2025-1-1 | 0000-01-01 | -0001-01-01 | \
    9999-12-31 | 10000-01-01 | +275760-09-13 | 2025-01-01.. | ..2025-01-01 | 2025-01-02..2025-01-01 | \
    2025-01..2025-01-02..2025-01-03 | today.. | today..tomorrow | TODAY | this_week  | 2025-01-01T24 | \
    2025-01-01T23:59:60Z | 2025-01-01T00:00+99:99 | 2025-03-30T02:30 | 2025-01-01T00:00:00.0000000000000001Z | \
    2025-W01 | 1735689600 | ٢٠٢٥-٠١-٠١ | 2025-01-01\u{0}";

const TERMS: &str =
    "  | % | _ | \\ | .* | (a+)+$ | mer_ | pay_0 | @ | İ | ß | \u{212a} | ﬁ | \u{301} | 0 | ADA@SHOP.EXAMPLE";

const ADDRESSES: &str = "\
    ADA@SHOP.EXAMPLE |  ada@shop.example | ada@shop.example\n | ada@shop.example,eve@shop.example | \
    \"a b\"@shop.example | a@[127.0.0.1] | é@shop.example | ada@xn--e1afmkfd.example | a@b@c | a+b@shop.example | \
    @shop.example | ada@";

const ITEMS: &str = "\
    null | -0 | -0.0 | 1.0 | 1e308 | 0.1e-300 | 9007199254740993 | {\"\":1} | {\"a.b\":1} | {\"__proto__\":{}} | \
    {\"a\":1,\"a\":1} | {\"a\":{\"b\":1,\"b\":2}} | [{\"a\":[{\"a\":1,\"a\":2}]}] | {\"\\u0061\":1,\"a\":1} | \
    {\"é\":1,\"e\\u0301\":1,\"\\ud83d\\ude00\":1,\"\\ufb33\":1} | [1,1.0,1e0,\"1\"] | [[],[],{},{}] | \"\\ud800\"";

const KEYS: &str = ". | a/b | cart\u{0} | cart  | CART | \u{202e}cart | pay_01h455vb4pex5vsknk084sn02q | 💳";

const SIZES: &str = "0 | 101 | 100 | 100.0 | 1e2 | -1 | \"25\" | 1.5 | 10001 | 9007199254740991";

const ENDS: &str = "0 | 1 | -1 | 1735689600 | 253402300800 | 9007199254740991 | 9007199254740992 | \"4102444800\"";

const DESTINATIONS: &str = "\
    https://shop.example | HTTPS://SHOP.EXAMPLE | https:shop.example | https:///shop.example | \
    https:\\\\shop.example | https://shop.example:99999/ | https://shop.example:0/ | https://shop.example./ | \
    https://. | https://%6c%6f%63alhost/ | https://LOCALHOST/ | https://a.localhost./ | https://127.1/ | \
    https://2130706433/ | https://0177.0.0.1/ | https://[::1]:443/ | https://[::ffff:7f00:1]/ | \
    https://[fe80::1%25eth0]/ | https://①②⑦.0.0.1/ | https://ร้าน.example/events | \
    https://shop.example@127.0.0.1/ | https://shop.example/\r\nHost: other.example | https://shop.example/ events | \
    file:///etc/passwd";

const SUBSCRIPTIONS: &str = "\
    [] | [\"*\",\"*\"] | [\"*\",\"PAYMENT_VOIDED\"] | [\"PAYMENT_VOIDED\",\"PAYMENT_VOIDED\"] | \
    [\"payment_voided\"] | [\"TEST\"] | [null] | [[\"*\"]] | \"*\" | {\"0\":\"*\"}";

const HEADERS: &str = "\
    Content-Length | transfer-encoding | HOST | Webhook-Signature | :authority | X-Signature\r\nX-Other: 1 | \
    X Signature | X-Signature: | Ｘ-Signature | ~";

/// The values in a text, which ` | ` separates.
pub(super) fn listed(texts: &'static str) -> Vec<&'static str> {
    texts.split(" | ").collect()
}

/// Difficult values for one argument, beside those for all.
pub(super) fn nasties(argument: &str) -> Vec<String> {
    let quoted = |texts: &[&str]| texts.iter().map(|text| Value::from(*text).to_string()).collect::<Vec<_>>();
    let plain = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    match argument {
        "path" => {
            [quoted(&listed(PATHS)), quoted(&[&"a.".repeat(70), &"a.".repeat(500_000), &"é".repeat(4_096)])].concat()
        }
        "ttl" => plain(&listed(TTLS)),
        "version" => plain(&listed(VERSIONS)),
        "created_at" => quoted(&listed(INSTANTS)),
        "terms" => [quoted(&listed(TERMS)), lengths()].concat(),
        "email" | "actor_email" | "customer_email" | "support_email" => {
            [quoted(&listed(ADDRESSES)), lengths()].concat()
        }
        "value" | "metadata" => [plain(&listed(ITEMS)), large_values()].concat(),
        "key" => [quoted(&listed(KEYS)), lengths()].concat(),
        "vault_key" => quoted(&[&"0".repeat(63), &"0".repeat(65), &"g".repeat(64), &" ".repeat(64), "", "cart"]),
        "destination_url" => [quoted(&listed(DESTINATIONS)), lengths()].concat(),
        "lines" | "payment_methods" => large_values(),
        "events" => [plain(&listed(SUBSCRIPTIONS)), large_values()].concat(),
        "signature_header" => [quoted(&listed(HEADERS)), lengths()].concat(),
        "per_page" => plain(&listed(SIZES)),
        "expires_at" => plain(&listed(ENDS)),
        "activity_type" => quoted(&["DISPUTE", "dispute ", "payment_captured,user_invited", "refund"]),
        "object_id" | "parent_id" => [quoted(&["@payment@", "@user@", "order-1", "mer_"]), lengths()].concat(),
        "user_id" | "invitation_id" | "plan_id" | "key_id" | "actor_key_id" => {
            quoted(&["@user@", "@invitation@", "@plan@", "@merchant@", "usr_", "ivt_01h455vb4pex5vsknk084sn02q"])
        }
        _ => Vec::new(),
    }
}

/// Texts around the limits of 255, in bytes and in characters.
fn lengths() -> Vec<String> {
    let texts =
        ["a".repeat(255), "a".repeat(256), "é".repeat(127), "é".repeat(128), "💳".repeat(255), "x".repeat(300_000)];
    texts.into_iter().map(|text| Value::from(text).to_string()).collect()
}

/// Values at the limits of depth and size.
fn large_values() -> Vec<String> {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let members = |count: usize| (0..count).map(|number| format!("\"m{number}\":{number}")).collect::<Vec<_>>();
    let items = (0..20_000).map(|number| number.to_string()).collect::<Vec<_>>();
    vec![
        deep(61),
        deep(62),
        deep(63),
        deep(64),
        format!("[{}]", items.join(",")),
        format!("{{{}}}", members(5_000).join(",")),
        Value::from("漢".repeat(100_000)).to_string(),
        Value::from("\u{1}".repeat(20_000)).to_string(),
    ]
}

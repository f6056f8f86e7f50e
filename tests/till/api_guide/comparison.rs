//! The comparison of a real answer with the documented one: members and values are the same, and those that differ from
//! run to run have the same form.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

/// Characters of an id after its prefix.
const ID_LEN: usize = 26;

/// The end of a documented address whose last segment is a capability, which no document shows.
const CAPABILITY: &str = "/...";

/// Hexadecimal digits of the capability in the address of a page of the sandbox.
const CAPABILITY_LEN: usize = 64;

/// The beginning of the text of a PromptPay QR code, and where the reference of its bill and its checksum stand.
const BILL_BEGINNING: &str = "000201010212";
const BILL_REFERENCE: Range<usize> = 59..79;
const BILL_CHECKSUM_LEN: usize = 4;

/// The real id of each id in the guide: one for one.
#[derive(Debug, Clone, Default)]
pub(super) struct Ids {
    real: BTreeMap<String, String>,
    documented: BTreeMap<String, String>,
}

impl Ids {
    /// The first difference between two answers: its path and both values.
    pub(super) fn compare(&mut self, documented: &Value, real: &Value) -> Result<(), String> {
        self.value("", documented, real)
    }

    fn value(&mut self, place: &str, documented: &Value, real: &Value) -> Result<(), String> {
        match (documented, real) {
            (Value::Object(_), Value::Object(_)) if place == "/payments/failure_codes" => Ok(()),
            (Value::Object(expected), Value::Object(found)) => {
                let (names, found_names) = (expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
                if names != found_names {
                    return Err(format!("{place}: the members are {found_names:?}, not {names:?}"));
                }
                let mut members = expected.iter();
                members.try_for_each(|(name, value)| self.value(&format!("{place}/{name}"), value, &found[name]))
            }
            (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
                let mut items = (0..).zip(expected.iter().zip(found));
                items.try_for_each(|(at, (value, found))| self.value(&format!("{place}/{at}"), value, found))
            }
            (Value::String(expected), Value::String(found)) if self.is_same_text(place, expected, found) => Ok(()),
            (Value::Number(_), Value::Number(_)) if is_time_place(place) && is_time(documented) && is_time(real) => {
                Ok(())
            }
            (Value::Number(_), Value::Number(_)) if place.ends_with("/latency_ms") => Ok(()),
            (Value::Number(_), Value::Number(_)) if is_of_last_minute(place) => Ok(()),
            (Value::String(_), Value::String(_)) if ["/store_id", "/version"].contains(&place) => Ok(()),
            (Value::Number(_), Value::Number(_)) if is_size_place(place) && is_size(documented) && is_size(real) => {
                Ok(())
            }
            (expected, found) if expected == found => Ok(()),
            (expected, found) => Err(format!("{place}: {found}, not {expected}")),
        }
    }

    fn is_same_text(&mut self, place: &str, expected: &str, found: &str) -> bool {
        match (id_prefix(expected), id_prefix(found)) {
            (Some(kind), Some(other)) => kind == other && self.is_same_id(expected, found),
            (Some(_), None) | (None, Some(_)) => false,
            (None, None) if is_beginning_place(place) => is_beginning_of_key(expected) && is_beginning_of_key(found),
            (None, None) if expected.ends_with(CAPABILITY) => is_capability_at(expected, found),
            (None, None) if place.ends_with("/acquirer_reference") => self.is_same_reference(expected, found),
            (None, None) if expected.starts_with(BILL_BEGINNING) => bill_parts(expected) == bill_parts(found),
            (None, None) => expected == found,
        }
    }

    /// The sandbox's id of a payment or refund has ours in it.
    fn is_same_reference(&mut self, expected: &str, found: &str) -> bool {
        let Some((expected, found)) = reference_parts(expected).zip(reference_parts(found)) else { return false };
        let is_same_refund = match (expected.1.strip_prefix("refund/"), found.1.strip_prefix("refund/")) {
            (Some(expected), Some(found)) => self.is_same_id(&format!("rfn_{expected}"), &format!("rfn_{found}")),
            _ => expected.1 == found.1,
        };
        is_same_refund && self.is_same_id(expected.0, found.0)
    }

    /// Ids of plans are the same everywhere.
    fn is_same_id(&mut self, expected: &str, found: &str) -> bool {
        if expected.starts_with("pln_") {
            return expected == found;
        }
        let real = self.real.entry(expected.to_owned()).or_insert_with(|| found.to_owned());
        let documented = self.documented.entry(found.to_owned()).or_insert_with(|| expected.to_owned());
        real == found && documented == expected
    }
}

/// The payment and the step of an id of the sandbox.
fn reference_parts(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix("sandbox:")?.split_once('/')
}

/// The kind of an id, if a text is one.
fn id_prefix(text: &str) -> Option<&str> {
    let (prefix, rest) = text.split_once('_')?;
    let is_suffix =
        rest.len() == ID_LEN && rest.bytes().all(|byte| b"0123456789abcdefghjkmnpqrstvwxyz".contains(&byte));
    (prefix.len() == 3 && is_suffix).then_some(prefix)
}

fn is_beginning_place(place: &str) -> bool {
    place.ends_with("/display") || place.ends_with("/prefix")
}

fn is_beginning_of_key(text: &str) -> bool {
    text.strip_prefix("sk_")
        .is_some_and(|rest| rest.len() == 5 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// True for an address that is the documented one, with a capability in place of the dots.
fn is_capability_at(documented: &str, address: &str) -> bool {
    let rest = address.strip_prefix(documented.trim_end_matches('.'));
    rest.is_some_and(|rest| rest.len() == CAPABILITY_LEN && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The text of a QR code before and after the reference of its bill, without the checksum; none of another text.
fn bill_parts(text: &str) -> Option<(&str, &str)> {
    let end = text.len().checked_sub(BILL_CHECKSUM_LEN)?;
    Some((text.get(..BILL_REFERENCE.start)?, text.get(BILL_REFERENCE.end..end)?))
}

fn is_time_place(place: &str) -> bool {
    place.ends_with("_at") || place.ends_with("since")
}

/// True for counts of the status, which depend on the pace of the calls.
fn is_of_last_minute(place: &str) -> bool {
    place == "/calls_per_second" || place.starts_with("/payments/")
}

/// True for sizes that depend on the way in which the store wrote, and not on the calls.
fn is_size_place(place: &str) -> bool {
    place.ends_with("bytes") || place.ends_with("/last_commit")
}

fn is_size(value: &Value) -> bool {
    value.as_u64().is_some_and(|size| size > 0)
}

/// True when a value is a time of this century, in seconds.
fn is_time(value: &Value) -> bool {
    value.as_u64().is_some_and(|seconds| (946_684_800..4_133_980_800).contains(&seconds))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(kind: &str, last: u8) -> String {
        format!("{kind}_01jz00000000000000000000{last:02}")
    }

    fn documented() -> Value {
        json!({
            "payment_id": id("pay", 1), "session": id("pse", 1), "plan_id": id("pln", 1), "amount": 100,
            "status": "PENDING", "created_at": 1_767_225_600, "captured_at": null, "display": "sk_EXAMP",
            "fees": [{ "type": "PAYMENT_FEE" }], "bytes": 1_000,
        })
    }

    fn with(name: &str, value: Value) -> Value {
        let mut other = documented();
        other[name] = value;
        other
    }

    #[test]
    fn ids_times_and_beginnings_of_keys_are_compared_by_their_form() {
        assert_eq!(Ids::default().compare(&documented(), &documented()), Ok(()));
        for (name, value) in [
            ("payment_id", json!(id("pay", 7))),
            ("created_at", json!(1_800_000_000)),
            ("display", json!("sk_a0B1c")),
            ("bytes", json!(7)),
        ] {
            assert_eq!(Ids::default().compare(&documented(), &with(name, value)), Ok(()), "{name}");
        }
    }

    #[test]
    fn everything_else_must_be_the_same() {
        for (name, value) in [
            ("payment_id", json!(id("pse", 1))),
            ("payment_id", json!("pay_1")),
            ("payment_id", Value::Null),
            ("plan_id", json!(id("pln", 2))),
            ("amount", json!(101)),
            ("amount", json!("100")),
            ("status", json!("SUCCESSFUL")),
            ("created_at", json!(1_767_225_600_000_u64)),
            ("created_at", json!(1_767_225_600.5)),
            ("created_at", json!("1767225600")),
            ("created_at", Value::Null),
            ("captured_at", json!(1_767_225_600)),
            ("display", json!("sk_")),
            ("fees", json!([])),
            ("fees", json!([{ "type": "FEE" }])),
            ("bytes", json!(0)),
            ("bytes", json!("1000")),
            ("added", Value::Null),
        ] {
            let difference = Ids::default().compare(&documented(), &with(name, value.clone()));
            assert!(difference.is_err(), "{name}: {value}");
        }
        let mut missing = documented();
        missing.as_object_mut().expect("an object").remove("captured_at");
        assert!(Ids::default().compare(&documented(), &missing).is_err());
    }

    #[test]
    fn an_address_with_dots_at_its_end_stands_for_one_with_a_capability() {
        let is_same = |found: &str| {
            let documented = json!("http://127.0.0.1:8080/sandbox/bank/...");
            Ids::default().compare(&documented, &json!(found)).is_ok()
        };
        assert!(is_same(&format!("http://127.0.0.1:8080/sandbox/bank/{}", "0a".repeat(32))));
        for found in [
            format!("http://127.0.0.1:8080/sandbox/bank/{}", "0a".repeat(31)),
            format!("http://127.0.0.1:8080/sandbox/bank/{}", "0g".repeat(32)),
            format!("http://127.0.0.1:8080/sandbox/wallet/{}", "0a".repeat(32)),
            format!("http://127.0.0.1:8081/sandbox/bank/{}", "0a".repeat(32)),
        ] {
            assert!(!is_same(&found), "{found}");
        }
    }

    #[test]
    fn the_text_of_a_qr_code_is_compared_without_reference_and_checksum() {
        const TEXT: &str = "00020101021230630016A00000067701011201150000000000000000220E1R70W3GE1R70W3GE1R7530376454040.015802TH63040A3C";
        let is_same = |found: &str| Ids::default().compare(&json!(TEXT), &json!(found)).is_ok();
        assert!(is_same(TEXT) && is_same(&TEXT.replace("E1R70W3GE1R70W3GE1R7", "061050R3GG28A1C60T3G")));
        assert!(is_same(&TEXT.replace("0A3C", "FFFF")));
        for found in ["", &TEXT.replace("0.01", "0.02"), &TEXT[..TEXT.len() - 1], &TEXT.replace("TH", "XX")] {
            assert!(!is_same(found), "{found}");
        }
    }

    #[test]
    fn an_id_of_the_guide_has_one_real_id_throughout() {
        let mut ids = Ids::default();
        let mut compare = |documented: &str, real: &str| ids.compare(&json!(documented), &json!(real)).is_ok();
        assert!(compare(&id("pay", 1), &id("pay", 8)) && compare(&id("pay", 1), &id("pay", 8)));
        assert!(!compare(&id("pay", 1), &id("pay", 9)), "another payment");
        assert!(!compare(&id("pay", 2), &id("pay", 8)), "the same payment under another name");
    }
}

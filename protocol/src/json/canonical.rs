//! The canonical form of a value: equal values have the same text.
//!
//! Source: RFC 8785. Numbers are doubles there, written as ECMAScript writes them (ECMA-262,
//! Number::toString).

use super::Json;

/// The value as canonical text: no white space, members in the order of their keys' UTF-16 code units, numbers
/// in their shortest form.
#[must_use]
pub fn canonical(value: &Json) -> String {
    serde_json_canonicalizer::to_string(value).expect("a value of a body has keys that are texts and finite numbers")
}

/// The levels of arrays and objects in a value; 0 for any other value.
#[must_use]
pub fn depth(value: &Json) -> usize {
    match value {
        Json::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Json::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse_object;

    fn of(value: &str) -> String {
        let body = parse_object(format!("{{\"value\":{value}}}").as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        canonical(&body["value"])
    }

    fn double_text(double: f64) -> String {
        serde_json_canonicalizer::to_string(&double).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Without the example's 1E30, which no body may contain.
    #[test]
    fn the_example_of_rfc_8785_is_written_as_it_says() {
        let value = r#"{
            "numbers": [333333333.33333329, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        let expected = concat!(
            r#"{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],"#,
            "\"string\":\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
        );
        assert_eq!(of(value), expected);
    }

    #[test]
    fn keys_are_sorted_by_utf_16_code_units() {
        let value = "{\"\\u20ac\":1,\"\\r\":2,\"\\ufb33\":3,\"1\":4,\"\\ud83d\\ude00\":5,\"\\u0080\":6,\"\\u00f6\":7}";
        let expected = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1F600}\":5,\"\u{fb33}\":3}";
        assert_eq!(of(value), expected);
    }

    #[test]
    fn numbers_are_written_as_ecmascript_does() {
        // RFC 8785, appendix B, and the bounds of ECMA-262's rules.
        for (literal, expected) in [
            ("1.0", "1"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("100e-2", "1"),
            ("5e-324", "5e-324"),
            ("-5e-324", "-5e-324"),
            ("9007199254740991.4", "9007199254740991"),
            ("-9007199254740991.4", "-9007199254740991"),
            ("0.000001", "0.000001"),
            ("9.999999999999997e-7", "9.999999999999997e-7"),
            ("1e-7", "1e-7"),
            ("333333333.33333325", "333333333.33333325"),
            ("-0.0000033333333333333333", "-0.0000033333333333333333"),
            ("1424953923781206.2", "1424953923781206.2"),
            ("12.5", "12.5"),
        ] {
            assert_eq!(of(literal), expected, "{literal}");
        }
    }

    #[test]
    fn doubles_beyond_the_limit_are_written_like_in_ecmascript() {
        for (double, expected) in [
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (-9_007_199_254_740_992.0, "-9007199254740992"),
            (295_147_905_179_352_830_000.0, "295147905179352830000"),
            (9.999_999_999_999_997e22, "9.999999999999997e+22"),
            (1e23, "1e+23"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (999_999_999_999_999_900_000.0, "999999999999999900000"),
            (-1.5e300, "-1.5e+300"),
        ] {
            assert_eq!(double_text(double), expected);
        }
    }

    #[test]
    fn the_depth_counts_arrays_and_objects() {
        let body = parse_object(br#"{"a":1,"b":[],"c":[{"d":[1]},2]}"#).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((depth(&body["a"]), depth(&body["b"]), depth(&body["c"])), (0, 1, 3));
    }

    proptest::proptest! {
        #[test]
        fn a_double_reads_back_as_itself(bits in proptest::num::u64::ANY) {
            let double = f64::from_bits(bits);
            if double.is_finite() {
                proptest::prop_assert_eq!(double_text(double).parse::<f64>().ok(), Some(double));
            }
        }

        #[test]
        fn text_is_escaped_as_rfc_8785_says(text in proptest::prelude::any::<String>()) {
            let mut expected = String::from("\"");
            for character in text.chars() {
                match character {
                    '"' => expected.push_str("\\\""),
                    '\\' => expected.push_str("\\\\"),
                    '\u{8}' => expected.push_str("\\b"),
                    '\t' => expected.push_str("\\t"),
                    '\n' => expected.push_str("\\n"),
                    '\u{c}' => expected.push_str("\\f"),
                    '\r' => expected.push_str("\\r"),
                    control if control < ' ' => expected.push_str(&format!("\\u{:04x}", u32::from(control))),
                    plain => expected.push(plain),
                }
            }
            expected.push('"');
            proptest::prop_assert_eq!(canonical(&Json::String(text)), expected);
        }
    }
}

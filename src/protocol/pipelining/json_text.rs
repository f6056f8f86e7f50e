//! Looking things up in JSON as text: nothing of it is read into memory, and what is found is the very text.

/// The text of a value that this program has written, so it is well-formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JsonText<'t>(&'t str);

impl<'t> JsonText<'t> {
    pub(super) fn new(text: &'t str) -> JsonText<'t> {
        JsonText(text.trim_ascii())
    }

    pub(super) fn as_str(self) -> &'t str {
        self.0
    }

    /// The member of that name, if this is an object that has it.
    pub(super) fn member(self, name: &str) -> Option<JsonText<'t>> {
        let mut scan = Scan { text: self.0, at: 0 };
        let mut goes_on = scan.take(b'{');
        while goes_on {
            let key = scan.value()?;
            scan.take(b':');
            let value = scan.value()?;
            if is_name(key, name) {
                return Some(value);
            }
            goes_on = scan.take(b',');
        }
        None
    }

    /// The items, if this is an array; else none.
    pub(super) fn items(self) -> impl Iterator<Item = JsonText<'t>> {
        let mut scan = Scan { text: self.0, at: 0 };
        let mut goes_on = scan.take(b'[');
        std::iter::from_fn(move || {
            let item = scan.value().filter(|_| goes_on)?;
            goes_on = scan.take(b',');
            Some(item)
        })
    }
}

/// True when a key is this name, escapes resolved.
fn is_name(key: JsonText<'_>, name: &str) -> bool {
    if key.0.contains('\\') {
        return serde_json::from_str::<String>(key.0).is_ok_and(|key| key == name);
    }
    key.0.strip_prefix('"').and_then(|key| key.strip_suffix('"')) == Some(name)
}

/// A place in a text.
struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    /// The value that begins here; None where a list ends.
    fn value(&mut self) -> Option<JsonText<'t>> {
        self.skip_blanks();
        let begin = self.at;
        match self.peek()? {
            b']' | b'}' => return None,
            b'"' => self.skip_string(),
            b'{' | b'[' => self.skip_nested(),
            _ => self.skip_word(),
        }
        self.text.get(begin..self.at).map(JsonText)
    }

    fn take(&mut self, expected: u8) -> bool {
        self.skip_blanks();
        let is_there = self.peek() == Some(expected);
        self.at += usize::from(is_there);
        is_there
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                return;
            }
        }
    }

    fn skip_nested(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.skip_string();
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_word(&mut self) {
        while self.peek().is_some_and(|byte| !matches!(byte, b',' | b']' | b'}') && !byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &str = r#" {"a" : [ 1 , "]}\"" , {"b":null} ],"\u0061b":-1.5e3,"":{},"\\":true , "é":"😀"} "#;

    fn member(name: &str) -> Option<&'static str> {
        JsonText::new(OBJECT).member(name).map(JsonText::as_str)
    }

    #[test]
    fn a_member_is_its_very_text() {
        assert_eq!(member("a"), Some(r#"[ 1 , "]}\"" , {"b":null} ]"#));
        assert_eq!((member("ab"), member(""), member("\\")), (Some("-1.5e3"), Some("{}"), Some("true")));
        assert_eq!((member("é"), member("b"), member("\"a\"")), (Some("\"😀\""), None, None));
    }

    #[test]
    fn items_come_in_order_and_only_of_arrays() {
        let items = |text: &'static str| JsonText::new(text).items().map(JsonText::as_str).collect::<Vec<_>>();
        assert_eq!(items(r#"[1, [2,[3]],"4,]",{"5":"}"},null]"#), ["1", "[2,[3]]", "\"4,]\"", "{\"5\":\"}\"}", "null"]);
        for text in ["[]", "[ ]", "{}", "{\"a\":1}", "\"[1]\"", "true", "12"] {
            assert_eq!(items(text), [""; 0], "{text}");
            assert_eq!(JsonText::new(text).member("b"), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn everything_is_found_where_a_parser_finds_it(name in ".*", text in ".*", number in proptest::num::f64::NORMAL) {
            let value = serde_json::json!({ "first": [text, { name.clone(): [number, text] }], name.clone(): text });
            let written = value.to_string();
            let found = JsonText::new(&written).member(&name).and_then(|found| serde_json::from_str(found.as_str()).ok());
            proptest::prop_assert_eq!(found, value.get(&name).cloned());
            let items = JsonText::new(&written).member("first").map_or(0, |first| first.items().count());
            proptest::prop_assert_eq!(items, value["first"].as_array().map_or(0, Vec::len));
        }
    }
}

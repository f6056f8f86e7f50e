//! One example of the guide: a call with curl, the variables that are taken from its answer, and the documented answer.
//!
//! A command has one form, with which bash makes the same call:
//!
//! ```sh
//! sleep 1
//! curl -sS -i "$TILL/merchants/find-payment" \
//!   -H "Authorization: Bearer $KEY" \
//!   -H "Content-Type: application/json" \
//!   -d @- <<JSON | tee answer.json
//! {"payment_id": "$PAYMENT"}
//! JSON
//! CUSTOMER=$(jq -r .customer_id answer.json)
//! ```
//!
//! The first line, `-i`, the headers, the `tee` and the last line may be left out; `-d '{}'` stands for a body without
//! variables. `\$` is a dollar in a body, `$((NOW + 3600))` a sum. A call that waits is about something that takes a
//! moment.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Lines;

use serde_json::Value;

use super::guide::Block;
use crate::harness::{ApiAnswer, Client};

/// A call with its answer.
#[derive(Debug)]
pub(super) struct Example {
    /// Its document and line.
    pub(super) place: String,
    /// True when it follows the documented pause, because its result takes a moment.
    pub(super) waits: bool,
    /// The path that is called.
    pub(super) path: String,
    /// The documented answer.
    pub(super) documented: Documented,
    address: String,
    headers: Vec<(String, String)>,
    body: String,
    kept: Vec<(String, String)>,
}

/// A documented answer, in which variables are not replaced yet.
#[derive(Debug)]
pub(super) struct Documented {
    /// The status line.
    pub(super) status: String,
    /// Some headers.
    pub(super) headers: Vec<(String, String)>,
    /// The JSON.
    pub(super) body: String,
}

/// The variables of the examples: parts of earlier answers, and the addresses of the server.
#[derive(Debug, Default)]
pub(super) struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Sets a variable.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// The text with all variables replaced by their values, as in bash: `${URL##*/}` is the last segment of an
    /// address, and `\$` a dollar.
    pub(super) fn put_into(&self, text: &str) -> String {
        text.split("\\$").map(|part| self.put_into_part(part)).collect::<Vec<_>>().join("$")
    }

    fn put_into_part(&self, text: &str) -> String {
        let mut parts = text.split('$');
        let mut whole = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            if let Some((sum, rest)) = part.strip_prefix("((").and_then(|part| part.split_once("))")) {
                whole.push_str(&self.sum(sum).to_string());
                whole.push_str(rest);
                continue;
            }
            if let Some((name, rest)) = part.strip_prefix('{').and_then(|part| part.split_once("##*/}")) {
                whole.push_str(self.value(name).rsplit('/').next().unwrap_or_default());
                whole.push_str(rest);
                continue;
            }
            let end = part.find(|letter: char| !(letter.is_ascii_uppercase() || letter == '_')).unwrap_or(part.len());
            let (name, rest) = part.split_at(end);
            whole.push_str(self.value(name));
            whole.push_str(rest);
        }
        whole
    }

    fn value(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_else(|| panic!("no example has set ${name}"))
    }

    /// The sum of a variable and a number, such as `NOW + 3600`.
    fn sum(&self, text: &str) -> u64 {
        let (name, number) = text.split_once(" + ").unwrap_or_else(|| panic!("no sum of two: {text}"));
        let number_in = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("no number: {text}"));
        number_in(self.value(name)) + number_in(number)
    }
}

impl Example {
    /// Reads a command and the answer below it.
    pub(super) fn parse(command: &Block, answer: &Block) -> Example {
        let mut command_lines = CurlCommand { lines: command.text.lines().peekable(), place: command.place.clone() };
        let waits = command_lines.take("sleep 1");
        let (shows_head, url) = command_lines.curl();
        let headers = command_lines.headers();
        let (body, is_kept) = command_lines.body();
        let kept = command_lines.kept();
        assert_eq!(is_kept, !kept.is_empty(), "{}: an answer is kept to be used", command.place);
        let Some((address, path)) = url.split_once('/') else { panic!("{}: no path in {url}", command.place) };
        let (address, path) = (address.to_owned(), format!("/{path}"));
        let documented = Documented::parse(shows_head, answer);
        Example { place: command.place.clone(), waits, path, documented, address, headers, body, kept }
    }

    /// Makes the call.
    pub(super) fn call(&self, variables: &Variables) -> ApiAnswer {
        let mut client = Client::new(&variables.put_into(&self.address));
        for (name, value) in &self.headers {
            client = client.header(name, &variables.put_into(value));
        }
        client.post_bytes(&self.path, variables.put_into(&self.body).as_bytes())
    }

    /// Sets the variables that are parts of the answer.
    pub(super) fn keep(&self, answer: &ApiAnswer, variables: &mut Variables) {
        for (name, pointer) in &self.kept {
            let part = match answer.body.pointer(pointer) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number.to_string(),
                _ => panic!("{}: no text or number for {name} in {}", self.place, answer.body),
            };
            variables.set(name, &part);
        }
    }
}

impl Documented {
    fn parse(shows_head: bool, answer: &Block) -> Documented {
        let place = &answer.place;
        if !shows_head {
            assert_eq!(answer.language, "json", "{place}: curl without -i shows the body alone");
            return Documented { status: "HTTP/1.1 200 OK".to_owned(), headers: Vec::new(), body: answer.text.clone() };
        }
        assert_eq!(answer.language, "http", "{place}: curl -i shows headers, too");
        let Some((head, body)) = answer.text.split_once("\n\n") else { panic!("{place}: no empty line") };
        let mut head = head.lines();
        let status = head.next().unwrap_or_default().to_owned();
        let header = |text: &str| {
            let (name, value) = text.split_once(": ").unwrap_or_else(|| panic!("{place}: no header: {text}"));
            (name.to_owned(), value.to_owned())
        };
        Documented { status, headers: head.map(header).collect(), body: body.to_owned() }
    }
}

/// The lines of a command that are not read yet.
struct CurlCommand<'a> {
    lines: Peekable<Lines<'a>>,
    place: String,
}

impl CurlCommand<'_> {
    fn take(&mut self, expected: &str) -> bool {
        self.lines.next_if_eq(&expected).is_some()
    }

    #[track_caller]
    fn refuse(&self, found: Option<&str>) -> ! {
        panic!("{}: the command is not of the guide's form: {found:?}", self.place)
    }

    /// True when headers are shown, and the address.
    fn curl(&mut self) -> (bool, String) {
        let found = self.lines.next();
        let rest = found.and_then(|line| line.strip_prefix("curl -sS ")?.strip_suffix("\" \\"));
        let Some(rest) = rest else { self.refuse(found) };
        let (shows_head, rest) = rest.strip_prefix("-i ").map_or((false, rest), |rest| (true, rest));
        let Some(url) = rest.strip_prefix('"') else { self.refuse(found) };
        (shows_head, self.plain(url))
    }

    fn headers(&mut self) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        while let Some(found) = self.lines.next_if(|line| line.starts_with("  -H ")) {
            let header = found.strip_prefix("  -H \"").and_then(|rest| rest.strip_suffix("\" \\")?.split_once(": "));
            let Some((name, value)) = header else { self.refuse(Some(found)) };
            headers.push((self.plain(name), self.plain(value)));
        }
        assert!(headers.iter().any(|(name, _)| name == "Content-Type"), "{}: curl needs one", self.place);
        headers
    }

    /// The body, and true when the answer is kept.
    fn body(&mut self) -> (String, bool) {
        let found = self.lines.next();
        let is_kept = found.is_some_and(|line| line.ends_with(" | tee answer.json"));
        match found.map(|line| line.trim_end_matches(" | tee answer.json")) {
            Some("  -d '{}'") => ("{}".to_owned(), is_kept),
            Some("  -d @- <<JSON") => {
                let lines: Vec<&str> = self.lines.by_ref().take_while(|line| *line != "JSON").collect();
                (self.plain(&lines.join("\n")), is_kept)
            }
            _ => self.refuse(found),
        }
    }

    /// Names of variables, and the JSON pointers of their values in the answer.
    fn kept(&mut self) -> Vec<(String, String)> {
        let mut kept = Vec::new();
        while let Some(found) = self.lines.next() {
            let assignment = found.strip_suffix(" answer.json)").and_then(|line| line.split_once("=$(jq -r "));
            let Some((name, part)) = assignment else { self.refuse(Some(found)) };
            kept.push((name.to_owned(), pointer(part.trim_matches('\''))));
        }
        kept
    }

    /// The text, which must mean the same in bash as here.
    fn plain(&self, text: &str) -> String {
        let special = text.replace("\\$", "").replace("$((", "");
        assert!(
            !special.contains(['\\', '`', '!']) && !special.contains("$(") && !special.contains("$["),
            "{}: {text}",
            self.place
        );
        text.to_owned()
    }
}

/// `.page[0].key_id` as `/page/0/key_id`, `.` as the whole answer.
fn pointer(part: &str) -> String {
    let places = part.split(['.', '[', ']']).filter(|place| !place.is_empty());
    places.map(|place| format!("/{place}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "sleep 1\n\
        curl -sS -i \"$TILL/merchants/find-payment\" \\\n  \
          -H \"Authorization: Bearer $KEY\" \\\n  \
          -H \"Content-Type: application/json\" \\\n  \
          -d @- <<JSON | tee answer.json\n{\n  \"payment_id\": \"$PAYMENT\"\n}\nJSON\n\
        FIRST=$(jq -r '.fees[0].type' answer.json)";
    const ANSWER: &str = "HTTP/1.1 200 OK\napi-version: 2025-04-01\n\n{\"a\": 1}";

    fn parse(command: &str, language: &str, answer: &str) -> Example {
        let block = |language: &str, text: &str| Block {
            language: language.into(),
            text: text.into(),
            place: "a guide, line 7".into(),
        };
        Example::parse(&block("sh", command), &block(language, answer))
    }

    #[test]
    fn a_sum_of_a_variable_and_a_number_is_put_in_as_bash_does_it() {
        let mut variables = Variables::default();
        variables.set("NOW", "100");
        assert_eq!(variables.put_into(r#"{"to": $((NOW + 23)), "at": $NOW}"#), r#"{"to": 123, "at": 100}"#);
    }

    #[test]
    fn a_command_is_read_as_bash_and_curl_read_it() {
        let example = parse(COMMAND, "http", ANSWER);
        assert!(example.waits);
        assert_eq!((example.address.as_str(), example.path.as_str()), ("$TILL", "/merchants/find-payment"));
        assert_eq!(example.headers[0], ("Authorization".to_owned(), "Bearer $KEY".to_owned()));
        assert_eq!(example.body, "{\n  \"payment_id\": \"$PAYMENT\"\n}");
        assert_eq!(example.kept, [("FIRST".to_owned(), "/fees/0/type".to_owned())]);
        assert_eq!(example.documented.headers, [("api-version".to_owned(), "2025-04-01".to_owned())]);
    }

    #[test]
    fn a_command_of_another_form_is_refused() {
        for (from, to) in [
            ("sleep 1", "sleep 2"),
            ("curl -sS", "curl -s"),
            ("\" \\\n  -d", "\"\n  -d"),
            ("-H \"A", "-H 'A"),
            ("application/json", "application/\\\"json"),
            ("  -H \"Content-Type: application/json\" \\\n", ""),
            ("-d @-", "--data @-"),
            (" | tee answer.json", ""),
            ("jq -r", "jq"),
            ("$PAYMENT", "$(cat payment)"),
            ("$PAYMENT", "$[0]"),
        ] {
            assert!(COMMAND.contains(from), "{from}");
            let other = COMMAND.replace(from, to);
            let parsed = std::panic::catch_unwind(|| parse(&other, "http", ANSWER));
            assert!(parsed.is_err(), "{other}");
        }
    }

    #[test]
    fn variables_are_put_in_by_their_whole_names() {
        let mut variables = Variables::default();
        variables.set("KEY", "a");
        variables.set("KEY_ID", "b");
        assert_eq!(variables.put_into("$KEY/$KEY_ID-$KEY\"$KEY\""), "a/b-a\"a\"");
        assert_eq!(variables.put_into("\\$[0] \\$KEY $KEY"), "$[0] $KEY a");
        assert!(std::panic::catch_unwind(|| variables.put_into("$KEYS")).is_err());
    }
}

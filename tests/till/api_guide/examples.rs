//! The examples, one after another on one server.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use ureq::http::StatusCode;

use super::comparison::Ids;
use super::example::{Example, Variables};
use super::guide::Guide;
use crate::harness::{ApiAnswer, PATIENCE, Server, Start, empty_acquirer};

/// A reader who follows the guide.
struct GuideReader {
    variables: Variables,
    ids: Ids,
}

impl GuideReader {
    fn of(server: &Server) -> GuideReader {
        let mut variables = Variables::default();
        variables.set("TILL", server.public());
        variables.set("ADMIN", server.admin_address());
        variables.set("ADMIN_TOKEN", "admin-token-of-a-test");
        variables.set("VAULT_KEY", &"0123456789abcdef".repeat(4));
        GuideReader { variables, ids: Ids::default() }
    }

    /// Makes the call, and repeats it for a while when its result takes a moment.
    fn follow(&mut self, example: &Example) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        loop {
            let answer = example.call(&self.variables);
            let mut ids = self.ids.clone();
            if answer.status == 200 {
                example.keep(&answer, &mut self.variables);
            }
            match self.compare(example, &answer, &mut ids) {
                Err(_) if example.waits && Instant::now() < until => thread::sleep(Duration::from_millis(10)),
                result => {
                    self.ids = ids;
                    return result.map_err(|error| format!("{}: {error}", example.place));
                }
            }
        }
    }

    fn compare(&self, example: &Example, answer: &ApiAnswer, ids: &mut Ids) -> Result<(), String> {
        let documented = &example.documented;
        let reason = StatusCode::from_u16(answer.status).ok().and_then(|status| status.canonical_reason());
        let status = format!("HTTP/1.1 {} {}", answer.status, reason.unwrap_or_default());
        if status != documented.status {
            return Err(format!("{status}, not {}: {}", documented.status, answer.body));
        }
        for (name, expected) in &documented.headers {
            let found = answer.header(name);
            let is_same = match name.as_str() {
                "x-request-id" => found.is_some_and(|id| id.starts_with("req_")) && expected.starts_with("req_"),
                _ => found == Some(expected),
            };
            if !is_same {
                return Err(format!("{name} is {found:?}, not {expected}"));
            }
        }
        let body = self.variables.put_into(&documented.body);
        let body: Value = serde_json::from_str(&body).map_err(|error| format!("no JSON below it: {error}"))?;
        ids.compare(&body, &answer.body)
    }
}

#[test]
fn every_example_is_answered_as_documented() {
    let server = Start::default().with("TILL_STRIPE_URL", &empty_acquirer()).server();
    let mut reader = GuideReader::of(&server);
    let guide = Guide::read();
    let examples: Vec<&Example> = guide.sections.iter().flat_map(|section| &section.examples).collect();
    assert!(examples.len() > 50, "{} examples", examples.len());
    for example in examples {
        reader.follow(example).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn no_key_of_the_guide_looks_like_one() {
    let guide = Guide::text();
    for (at, _) in guide.match_indices("sk_") {
        let rest = guide[at + 3..].bytes().take_while(u8::is_ascii_alphanumeric).count();
        assert!(rest < 10, "{}", &guide[at..at + 3 + rest]);
    }
}

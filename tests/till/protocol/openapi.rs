//! The OpenAPI documents, operation by operation, against the parsers: generators, linters and people who try a call
//! rely on them. Operations that are declared later are checked as well.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::harness::{ApiAnswer, Client, Server, Shop, merged};
use crate::valid_calls::is_look_up;

/// The one argument whose example is refused on purpose: it would become the key of the store.
const REFUSED_ON_PURPOSE: &str = "vault_key";

/// The example of the one argument whose form depends on another: an origin on the web, any text elsewhere.
const ORIGIN: &str = "https://shop.example";

/// The one argument that must be a later time than now, which no schema can express.
const LIES_AHEAD: &str = "expires_at";

/// Both listeners with their documents, and a merchant to call as.
struct DocumentedInterfaces {
    _server: Server,
    shop: Shop,
    listeners: Vec<(Client, Value)>,
}

/// One operation of a document.
struct Operation<'w> {
    client: Client,
    path: &'w str,
    described: &'w Value,
    /// The schema of its body.
    body: &'w Value,
}

impl DocumentedInterfaces {
    fn start() -> DocumentedInterfaces {
        let (server, shop) = Server::with_shop();
        let document = |client: &Client| client.get("/openapi.json").ok();
        let clients = [shop.client(), server.admin_client()];
        let listeners = clients.into_iter().map(|client| (client.clone(), document(&client))).collect();
        DocumentedInterfaces { _server: server, shop, listeners }
    }

    fn documents(&self) -> impl Iterator<Item = &Value> {
        self.listeners.iter().map(|(_, document)| document)
    }

    fn operations(&self) -> Vec<Operation<'_>> {
        let mut operations = Vec::new();
        for (client, document) in &self.listeners {
            for (path, item) in document["paths"].as_object().expect("paths") {
                let described = &item["post"];
                let name = described["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str();
                let body =
                    document.pointer(name.expect("a reference").trim_start_matches('#')).expect("it is described");
                operations.push(Operation { client: client.clone(), path, described, body });
            }
        }
        assert!(operations.len() > 40, "there are many");
        operations
    }
}

impl Operation<'_> {
    fn properties(&self) -> &Map<String, Value> {
        self.body["properties"].as_object().expect("properties")
    }

    fn example(&self) -> &Value {
        &self.described["requestBody"]["content"]["application/json"]["example"]
    }

    fn is_required(&self, argument: &str) -> bool {
        self.body["required"].as_array().expect("names").contains(&json!(argument))
    }

    /// The example with the required arguments only, and this one.
    fn with(&self, argument: &str, value: &Value) -> Value {
        let example = self.example().as_object().expect("an object").iter();
        let required: Map<String, Value> = example
            .filter(|(name, _)| self.is_required(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        merged(&Value::Object(required), &json!({ argument: value }))
    }

    fn post(&self, body: &Value) -> ApiAnswer {
        self.client.post(self.path, body)
    }

    /// True when the parser accepts a value of an argument, in a call by card or by instalments.
    fn takes(&self, argument: &str, value: &Value) -> bool {
        let body = self.with(argument, value);
        let by_instalments = merged(&body, &json!({ "payment_method": "INSTALLMENT" }));
        let has_methods = argument != "payment_method" && self.properties().contains_key("payment_method");
        let by_support = merged(&body, &json!({ "role_id": "SUPPORT" }));
        let needs_support = argument == "refund_limit";
        let bodies = [Some(body), has_methods.then_some(by_instalments), needs_support.then_some(by_support)];
        bodies.iter().flatten().any(|body| !is_faulty(&self.post(body), argument))
    }
}

/// True for a refusal of an argument, or of the body as a whole.
fn is_faulty(answer: &ApiAnswer, argument: &str) -> bool {
    let faults = answer.details();
    let faults = faults.as_array().filter(|_| answer.code() == "INVALID_ARGUMENTS");
    let is_its = |fault: &Value| fault["argument"] == argument && fault["type"] == "invalid";
    faults.is_some_and(|faults| faults.is_empty() || faults.iter().any(is_its))
}

/// The base types of a schema.
fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(single) => vec![single],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The schema of the values of an argument other than null.
fn own(schema: &Value) -> &Value {
    schema.pointer("/oneOf/0").unwrap_or(schema)
}

/// True when an argument may be null.
fn takes_null(schema: &Value) -> bool {
    let types = types(schema);
    let is_null = |schema: &Value| schema["type"] == "null";
    schema["oneOf"]
        .as_array()
        .map_or(types.is_empty() || types.contains(&"null"), |schemas| schemas.iter().any(is_null))
}

/// Every schema in a document, with its path.
fn schemas(document: &Value) -> Vec<(String, &Value)> {
    let mut open = vec![(String::new(), document)];
    let mut found = Vec::new();
    while let Some((place, value)) = open.pop() {
        match value {
            Value::Object(members) => {
                open.extend(members.iter().map(|(name, member)| (format!("{place}/{name}"), member)));
                if members.contains_key("type") || members.contains_key("$ref") {
                    found.push((place, value));
                }
            }
            Value::Array(entries) => {
                open.extend(entries.iter().enumerate().map(|(at, entry)| (format!("{place}/{at}"), entry)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

#[test]
fn every_operation_has_the_members_that_linters_require() {
    let walk = DocumentedInterfaces::start();
    let tags: BTreeSet<&str> =
        walk.documents().flat_map(|document| document["tags"].as_array().expect("tags")).map(described_tag).collect();
    for document in walk.documents() {
        assert!(document["info"]["license"]["name"].is_string() && document["info"]["contact"]["name"].is_string());
    }
    for operation in walk.operations() {
        let Operation { path, described, .. } = operation;
        let text = |member: &str| described[member].as_str().unwrap_or_default().to_owned();
        assert!(!text("description").is_empty() && !text("summary").is_empty(), "{path}");
        assert!(!text("summary").contains('`'), "a summary is no Markdown: {path}");
        assert!(described["security"].is_array(), "{path}");
        assert!(tags.contains(described["tags"][0].as_str().expect("a tag")), "{path}");
        let triple = &described["responses"]["400"]["content"]["application/json"]["schema"]["$ref"];
        assert_eq!(triple, "#/components/schemas/error_triple", "{path}");
    }
}

/// Calls that change something and take no Idempotency-Key: one with a card number, and those about the server itself.
const WITHOUT_IDEMPOTENCY_KEY: [&str; 6] =
    ["tokenize-card", "pipeline", "create-checkpoint", "resume-effects", "reload", "rotate-vault-key"];

#[test]
fn every_call_that_changes_something_takes_an_idempotency_key() {
    for Operation { path, described, .. } in DocumentedInterfaces::start().operations() {
        let name = path.rsplit('/').next().expect("a name");
        let parameters = described["parameters"].as_array().expect("parameters");
        let takes_one = parameters.iter().any(|parameter| parameter["name"] == "Idempotency-Key");
        assert_eq!(takes_one, !is_look_up(name) && !WITHOUT_IDEMPOTENCY_KEY.contains(&name), "{path}");
    }
}

#[test]
fn a_pipeline_takes_a_key_but_needs_none() {
    for Operation { path, described, .. } in DocumentedInterfaces::start().operations() {
        if path.ends_with("/pipeline") {
            let both = json!([{}, { "bearer": [] }]);
            let expected = if path == "/sdk/pipeline" { json!([]) } else { both };
            assert_eq!(described["security"], expected, "{path}");
        }
    }
}

/// The name of a tag whose description says more than the name.
fn described_tag(tag: &Value) -> &str {
    let (name, description) =
        (tag["name"].as_str().expect("a name"), tag["description"].as_str().expect("a description"));
    assert!(!name.ends_with(description), "{name} has no description");
    name
}

#[test]
fn every_array_has_an_item_type_and_every_reference_resolves() {
    let walk = DocumentedInterfaces::start();
    for document in walk.documents() {
        for (place, schema) in schemas(document) {
            let is_tuple = schema["prefixItems"].is_array() && schema["maxItems"].as_u64() == Some(3);
            assert!(!types(schema).contains(&"array") || is_tuple || schema["items"].is_object(), "{place}");
            if let Some(reference) = schema["$ref"].as_str() {
                assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{place}: {reference}");
            }
        }
    }
}

#[test]
fn words_that_a_description_lists_are_an_enum() {
    let is_word = |word: &&str| word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let walk = DocumentedInterfaces::start();
    for document in walk.documents() {
        for (place, schema) in schemas(document) {
            let description = schema["description"].as_str().unwrap_or_default();
            let words: BTreeSet<&str> =
                description.split(|at: char| !(at.is_ascii_alphanumeric() || at == '_')).filter(is_word).collect();
            let open = types(schema).contains(&"string") && schema.get("enum").is_none();
            assert!(!open || words.len() < 2, "{place} lists {words:?}");
        }
    }
}

#[test]
fn every_argument_has_an_example_and_bounds() {
    for operation in DocumentedInterfaces::start().operations() {
        for (argument, schema) in operation.properties() {
            let place = format!("{} {argument}", operation.path);
            assert!(
                schema["examples"].as_array().is_some_and(|examples| !examples.is_empty()),
                "{place} has no example"
            );
            let types = types(own(schema));
            let bounded = |member: &str| own(schema).get(member).is_some();
            if types.contains(&"string") {
                assert!(["enum", "pattern", "maxLength"].into_iter().any(bounded), "{place} has no bound");
            }
            if types.contains(&"integer") {
                assert!(bounded("minimum") && bounded("maximum"), "{place} has no limits");
            }
            assert_eq!(takes_null(schema), types.is_empty() || !operation.is_required(argument), "{place}");
        }
    }
}

#[test]
fn every_example_can_be_executed() {
    let walk = DocumentedInterfaces::start();
    for operation in walk.operations() {
        let answer = operation.post(operation.example());
        let on_purpose = operation.properties().contains_key(REFUSED_ON_PURPOSE);
        assert_eq!(answer.code() == "INVALID_ARGUMENTS", on_purpose, "{}: {}", operation.path, answer.body);
    }
    for operation in walk.operations() {
        for (argument, schema) in operation.properties() {
            let taken = operation.takes(argument, &schema["examples"][0]);
            assert_eq!(taken, argument != REFUSED_ON_PURPOSE, "{} {argument}", operation.path);
        }
    }
    walk.shop.pay(100); // The examples have left the merchant usable.
}

#[test]
fn every_bound_is_the_parsers_bound() {
    for operation in DocumentedInterfaces::start().operations() {
        for (argument, schema) in operation.properties().iter().filter(|(name, _)| *name != REFUSED_ON_PURPOSE) {
            for (value, expected) in at_the_bounds(schema, argument == LIES_AHEAD) {
                let taken = operation.takes(argument, &value);
                assert_eq!(taken, expected, "{} {argument}: {value}", operation.path);
            }
        }
    }
}

/// Values on both sides of the bounds of a schema, with true for those that it allows.
fn at_the_bounds(schema: &Value, lies_ahead: bool) -> Vec<(Value, bool)> {
    let words = own(schema)["enum"].as_array().into_iter().flatten();
    let mut values: Vec<(Value, bool)> = words.map(|word| (word.clone(), true)).collect();
    if let (Some(least), Some(most)) = (schema["minimum"].as_i64(), schema["maximum"].as_i64()) {
        values.extend([(json!(most), true), (json!(least - 1), false), (json!(most + 1), false)]);
        values.extend((!lies_ahead).then(|| (json!(least), true)));
    }
    if let (Some(example), Some(most)) = (schema["examples"][0].as_str(), schema["maxLength"].as_u64()) {
        let long = |length: u64| {
            json!(example.chars().cycle().take(usize::try_from(length).expect("it is short")).collect::<String>())
        };
        values.push((long(most + 1), false));
        let is_free = schema["pattern"].as_str().is_some_and(|pattern| pattern.starts_with("^[^"));
        values.extend((is_free && example != ORIGIN).then(|| (long(most), true)));
    }
    if types(own(schema)).contains(&"string") {
        values.push((json!("\u{1}"), schema["pattern"].as_str().is_some_and(|pattern| pattern.starts_with("^([^.]"))));
    }
    values
}

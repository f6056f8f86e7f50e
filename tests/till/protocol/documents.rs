//! The package documents against the interface that they describe.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::harness::{ApiAnswer, Client, Server, Shop, Wire};
use crate::valid_calls::PACKAGES;

/// The base types by the names that package documents use.
const TYPES: [&str; 6] = ["object", "any", "string", "number", "boolean", "null"];

/// The refinements of strings and numbers that published clients know and that are used here.
const REFINEMENTS: [&str; 5] = ["i64", "timestamp", "email", "phone", "url"];

/// A server with the credentials and ids that calls of all endpoints need.
struct Interfaces {
    server: Server,
    shop: Shop,
}

impl Interfaces {
    fn start() -> Interfaces {
        let (server, shop) = Server::with_shop();
        Interfaces { server, shop }
    }

    fn client(&self, package: &str) -> Client {
        match package {
            "admin" => self.server.admin_client(),
            "merchants" => self.shop.client(),
            _ => self.server.client(),
        }
    }

    fn document(&self, package: &str) -> Value {
        let base = if package == "admin" { self.server.admin_address() } else { self.server.public() };
        Client::new(base).get(&format!("/{package}")).ok()
    }

    fn call(&self, package: &str, endpoint: &Value, body: &Value) -> ApiAnswer {
        self.client(package).post(&format!("/{package}/{}", text(&endpoint["name"])), body)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a string: {value}"))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("an array: {value}"))
}

fn names(list: &Value) -> Vec<&str> {
    items(list).iter().map(|item| text(&item["name"])).collect()
}

/// True when a type has the spelling of the protocol, and names only objects that are described.
fn is_type(value: &Value, objects: &BTreeSet<&str>) -> bool {
    match value {
        Value::String(name) => match name.split_once('.') {
            None => TYPES.contains(&name.as_str()),
            Some(("object", object)) => objects.contains(object),
            Some((base, narrowing)) => ["string", "number"].contains(&base) && REFINEMENTS.contains(&narrowing),
        },
        Value::Array(union) => !union.is_empty() && union.iter().all(|value| is_type(value, objects)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

#[test]
fn each_interface_describes_itself_without_a_key() {
    let interfaces = Interfaces::start();
    for (package, base) in [
        ("merchants", interfaces.server.public()),
        ("sdk", interfaces.server.public()),
        ("admin", interfaces.server.admin_address()),
    ] {
        let client = Client::new(base);
        let path = format!("/{package}");
        let document = client.get(&path).ok();
        assert_eq!(client.post(&path, &json!({})).ok(), document);
        assert_eq!(document["base_url"], format!("{base}/{package}/"));
        assert_eq!(document["version"], "2025-04-01");
        assert_eq!(document["versions"], json!(["2025-04-01"]));
        assert_eq!(document["flags"], json!(["versioned"]));
        assert!(document["name"].is_string());
        assert_eq!(client.post(&path, &json!({ "x": 1 })).faults(), ["unknown x"]);
        let own = document["base_url"].as_str().and_then(|url| url.strip_prefix(base)).expect("an address here");
        assert_eq!(client.get(own).ok(), document, "a document answers at the address that it names");
        assert_eq!(client.post(own, &json!({})).ok(), document);
        let head = Wire::new(base).receive("HEAD", &path, &[], b"");
        assert_eq!((head.status, head.body.len()), (200, 0), "{package}");
    }
}

#[test]
fn a_document_has_the_form_of_the_protocol() {
    let interfaces = Interfaces::start();
    for package in PACKAGES {
        let document = interfaces.document(package);
        let objects: BTreeSet<&str> = names(&document["objects"]).into_iter().collect();
        assert_eq!(objects.len(), items(&document["objects"]).len(), "each object once");
        for attribute in items(&document["objects"]).iter().flat_map(|object| items(&object["attributes"])) {
            assert!(is_type(&attribute["type"], &objects), "{attribute}");
        }
        for error in items(&document["errors"]) {
            assert!(error["code"].is_string() && error["docs"].is_string(), "{error}");
        }
        for endpoint in items(&document["endpoints"]) {
            has_the_form_of_an_endpoint(package, endpoint, &objects);
        }
    }
}

fn has_the_form_of_an_endpoint(package: &str, endpoint: &Value, objects: &BTreeSet<&str>) {
    let name = text(&endpoint["name"]);
    assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name}");
    assert!(!text(&endpoint["group"]).is_empty() && !text(&endpoint["docs"]).is_empty(), "{name}");
    assert!(is_type(&endpoint["returns"], objects), "{name}");
    let flags: Vec<&str> = items(&endpoint["flags"]).iter().map(text).collect();
    assert!(flags.contains(&"error_triple"), "{name}");
    let open = package == "sdk" || name == "available-api-versions";
    assert_eq!((flags.contains(&"bearer_auth"), &endpoint["bearer_auth"]), (!open, &json!(!open)), "{name}");
    for argument in items(&endpoint["arguments"]) {
        assert!(is_type(&argument["type"], objects) && argument["required"].is_boolean(), "{name}: {argument}");
        assert!(!text(&argument["docs"]).is_empty(), "{name}: {argument}");
    }
    for attribute in items(&endpoint["attributes"]) {
        assert!(is_type(&attribute["type"], objects) && attribute["nullable"].is_boolean(), "{name}: {attribute}");
    }
    let codes: Vec<&str> = items(&endpoint["errors"]).iter().map(|error| text(&error["code"])).collect();
    assert_eq!(codes.contains(&"UNAUTHORIZED"), !open, "{name}");
    assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), codes.len(), "{name} names each code once: {codes:?}");
    let has_pages = names(&endpoint["attributes"]) == ["previous", "page", "next"];
    assert_eq!((flags.contains(&"paginated"), &endpoint["paginated"]), (has_pages, &json!(has_pages)), "{name}");
}

// The endpoints that the contract names.
const ENDPOINTS_OF_MERCHANTS: &str = "
    initiate-payment-flow list-activity-logs balance-history find-payment get-balance available-api-versions
    add-to-metadata-set remove-from-metadata-set sync-metadata retrieve-metadata list-metadata delete-metadata
    list-payments find-contact generate-key list-keys find-key update-key revoke-key invite-user
    accept-invitation update-user remove-user list-users list-user-invitations list-plans retrieve-current-plan
    select-plan";

const ENDPOINTS_OF_SDK: &str = "
    retrieve-installation-settings tokenize-card select-payment-method list-installment-plans
    discover-next-action check-status retrieve-payment-session";

const ENDPOINTS_OF_ADMIN: &str = "
    create-merchant find-merchant list-merchants suspend-merchant resume-merchant advance-clock generate-key
    revoke-key find-key list-keys find-payments status add-installation list-installations update-installation
    remove-installation configure-payment-method open-balance add-topup charge-invoice open-dispute
    escalate-dispute close-dispute complete-payout fail-payout complete-refund fail-refund create-checkpoint
    resume-effects invite-user";

#[test]
fn the_endpoints_of_the_contract_are_listed() {
    let interfaces = Interfaces::start();
    for (package, expected) in
        [("merchants", ENDPOINTS_OF_MERCHANTS), ("sdk", ENDPOINTS_OF_SDK), ("admin", ENDPOINTS_OF_ADMIN)]
    {
        let document = interfaces.document(package);
        let listed = names(&document["endpoints"]);
        for name in expected.split_whitespace() {
            assert!(listed.contains(&name), "{package}: {name}");
        }
    }
}

#[test]
fn every_declared_argument_is_taken_and_every_other_is_refused() {
    let interfaces = Interfaces::start();
    for package in PACKAGES {
        for endpoint in items(&interfaces.document(package)["endpoints"]) {
            let name = text(&endpoint["name"]);
            let arguments = names(&endpoint["arguments"]);
            let wrong: Map<String, Value> = arguments.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
            let mut body = Value::Object(wrong);
            body["never_declared"] = json!(1);
            let faults = interfaces.call(package, endpoint, &body).faults();
            let unknown: Vec<&String> = faults.iter().filter(|fault| fault.starts_with("unknown")).collect();
            assert_eq!(unknown, ["unknown never_declared"], "{name}");
            for argument in items(&endpoint["arguments"]).iter().filter(|argument| !takes_any(argument)) {
                let argument = text(&argument["name"]);
                assert!(faults.contains(&format!("invalid {argument}")), "{name} does not read {argument}: {faults:?}");
            }
        }
    }
}

/// True when every value of the argument is valid, also an object.
fn takes_any(argument: &Value) -> bool {
    argument["type"] == "any"
}

#[test]
fn required_arguments_are_those_that_an_empty_body_misses() {
    let interfaces = Interfaces::start();
    for package in PACKAGES {
        for endpoint in items(&interfaces.document(package)["endpoints"]) {
            let required = items(&endpoint["arguments"]).iter().filter(|argument| argument["required"] == true);
            let mut expected: Vec<String> =
                required.map(|argument| format!("missing {}", text(&argument["name"]))).collect();
            if endpoint["name"] == "find-payments" {
                expected.push("missing payment_id".to_owned()); // The endpoint needs one of three arguments.
            }
            if endpoint["name"] == "add-contact" {
                expected.push("missing contact_email".to_owned()); // The endpoint needs one of four arguments.
            }
            let answer = interfaces.call(package, endpoint, &json!({}));
            if expected.is_empty() {
                answer.ok();
            } else {
                assert_eq!(answer.faults(), expected, "{}", endpoint["name"]);
            }
        }
    }
}

#[test]
fn an_answer_has_the_attributes_that_are_declared_and_no_others() {
    let interfaces = Interfaces::start();
    interfaces.shop.pay(1_000);
    let payment = interfaces.shop.initiate(&interfaces.shop.session(5), 5, &json!({})).id();
    let document = interfaces.document("merchants");
    let declared = |object: &str| -> BTreeSet<String> {
        let found = items(&document["objects"]).iter().find(|item| item["name"] == object);
        let attributes = &found.unwrap_or_else(|| panic!("{object} is declared"))["attributes"];
        names(attributes).into_iter().map(str::to_owned).collect()
    };
    let members = |value: &Value| -> BTreeSet<String> {
        value.as_object().unwrap_or_else(|| panic!("an object: {value}")).keys().cloned().collect()
    };
    let shop = &interfaces.shop;
    assert_eq!(members(&shop.call("find-payment", &json!({ "payment_id": payment })).ok()), declared("payment"));
    assert_eq!(members(&shop.call("get-balance", &json!({})).ok()), declared("balance"));
    assert_eq!(members(&shop.call("balance-history", &json!({})).ok()["page"][0]), declared("entry"));
    assert_eq!(members(&shop.call("list-activity-logs", &json!({})).ok()["page"][0]), declared("activity_log"));
    let document = interfaces.document("admin");
    let merchant = interfaces.server.admin("find-merchant", &json!({ "merchant_id": shop.merchant_id })).ok();
    let found = items(&document["objects"]).iter().find(|item| item["name"] == "merchant").expect("it is declared");
    assert_eq!(members(&merchant), names(&found["attributes"]).into_iter().map(str::to_owned).collect());
}

/// Every `type` of a schema below.
fn types_of(schema: &Value) -> Vec<&Value> {
    match schema {
        Value::Object(members) => {
            let own = members.get("type").filter(|found| found.is_array() || found.is_string());
            own.into_iter().chain(members.values().flat_map(types_of)).collect()
        }
        Value::Array(items) => items.iter().flat_map(types_of).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[test]
fn a_schema_of_the_openapi_documents_names_each_type_once() {
    let interfaces = Interfaces::start();
    for base in [interfaces.server.public(), interfaces.server.admin_address()] {
        let document = Client::new(base).get("/openapi.json").ok();
        let several: Vec<&Vec<Value>> = types_of(&document).into_iter().filter_map(Value::as_array).collect();
        assert!(!several.is_empty());
        for types in several {
            let distinct: BTreeSet<&str> = types.iter().map(text).collect();
            assert_eq!(distinct.len(), types.len(), "{types:?}");
        }
    }
}

#[test]
fn the_openapi_documents_say_the_same_as_the_package_documents() {
    let interfaces = Interfaces::start();
    for (base, packages) in
        [(interfaces.server.public(), &["merchants", "sdk"][..]), (interfaces.server.admin_address(), &["admin"][..])]
    {
        let openapi = Client::new(base).get("/openapi.json").ok();
        let mut paths = BTreeSet::new();
        for package in packages {
            let document = interfaces.document(package);
            for endpoint in items(&document["endpoints"]) {
                let path = format!("/{package}/{}", text(&endpoint["name"]));
                says_the_same(endpoint, &openapi["paths"][&path]["post"], &openapi);
                paths.insert(path);
            }
            paths.insert(format!("/{package}/pipeline")); // Package documents name it as `pipeline_url`.
        }
        let described = openapi["paths"].as_object().expect("paths");
        assert_eq!(described.keys().cloned().collect::<BTreeSet<_>>(), paths);
    }
}

/// The schema that a reference names.
fn resolved<'d>(openapi: &'d Value, schema: &Value) -> &'d Value {
    let reference = text(&schema["$ref"]);
    openapi.pointer(reference.trim_start_matches('#')).unwrap_or_else(|| panic!("{reference} is described"))
}

fn says_the_same(endpoint: &Value, operation: &Value, openapi: &Value) {
    let name = text(&endpoint["name"]);
    let body = resolved(openapi, &operation["requestBody"]["content"]["application/json"]["schema"]);
    let properties: BTreeSet<&str> =
        body["properties"].as_object().into_iter().flat_map(|all| all.keys().map(String::as_str)).collect();
    assert_eq!(properties, names(&endpoint["arguments"]).into_iter().collect(), "{name}");
    let is_required = |argument: &&Value| argument["required"] == true;
    let required: Vec<&str> =
        items(&endpoint["arguments"]).iter().filter(is_required).map(|it| text(&it["name"])).collect();
    assert_eq!(items(&body["required"]).iter().map(text).collect::<Vec<_>>(), required, "{name}");
    let needs_key = items(&endpoint["flags"]).contains(&json!("bearer_auth"));
    let security = if needs_key { json!([{ "bearer": [] }]) } else { json!([]) };
    assert_eq!(operation["security"], security, "{name}");
}

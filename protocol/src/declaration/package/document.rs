//! The package document: the interface described to machines.
//!
//! Facts that clients of different drafts of the format read in different places are given in both: requiredness,
//! nullability and the properties of a call are members and flags. `base_url` ends in a slash: published clients
//! resolve the endpoint's name against it as a relative reference, which would replace a last segment without a slash.
//!
//! Source: webfunction.org/package, webfunction.org/versioning, webfunction.org/error.

use serde_json::{Map, Value, json};

use super::spelling::spelling_of;
use crate::api_error::Code;
use crate::declaration::objects::objects;
use crate::declaration::{Argument, Attribute, Declaration, ObjectType, Package, Returns, ValueType};
use crate::version::ApiVersion;

/// The last segment of the path of pipelines. The document gives the whole path as `pipeline_url`.
pub(crate) const PIPELINE: &str = "pipeline";

/// The codes that any endpoint may answer.
const COMMON_CODES: &[Code] = &[
    Code::InvalidArguments,
    Code::BadVersion,
    Code::UnknownEndpoint,
    Code::MethodNotAllowed,
    Code::UnsupportedMediaType,
    Code::BodyTooLarge,
    Code::RateLimited,
    Code::UnhandledError,
    Code::Unavailable,
];

/// Describes one interface in `version`; `base_url` ends in a slash.
#[must_use]
pub fn package_document<'a>(
    package: Package,
    base_url: &str,
    version: ApiVersion,
    declarations: impl IntoIterator<Item = &'a Declaration>,
) -> Value {
    let declarations: Vec<&Declaration> = declarations.into_iter().collect();
    json!({
        "base_url": base_url,
        "pipeline_url": format!("{base_url}{}", PIPELINE),
        "name": package.title(),
        "docs": package.docs(),
        "version": version.name(),
        "versions": ApiVersion::names(),
        "flags": ["versioned"],
        "endpoints": declarations.iter().map(|declaration| endpoint(declaration)).collect::<Vec<_>>(),
        "objects": objects(&declarations_of_objects(&declarations)).into_values().map(object).collect::<Vec<_>>(),
        "errors": COMMON_CODES.iter().map(|code| error(*code, code.docs())).collect::<Vec<_>>(),
    })
}

/// The endpoints whose types name objects. The type of an answer that may also be any other value does not.
fn declarations_of_objects<'a>(declarations: &[&'a Declaration]) -> Vec<&'a Declaration> {
    let names = |declaration: &&&Declaration| !matches!(declaration.returns, Returns::AnyOf(_));
    declarations.iter().filter(names).copied().collect()
}

fn endpoint(declaration: &Declaration) -> Value {
    json!({
        "name": declaration.name,
        "group": declaration.group,
        "docs": docs(declaration),
        "returns": spelling_of(&declaration.returns.value_type()),
        "bearer_auth": declaration.flags.needs_key,
        "paginated": declaration.returns.is_page(),
        "flags": endpoint_flags(declaration),
        "arguments": declaration.arguments.iter().map(argument).collect::<Vec<_>>(),
        "attributes": attributes(&declaration.returns),
        "errors": declaration.refusals().iter().map(|declared| error(declared.code, declared.docs)).collect::<Vec<_>>(),
    })
}

/// The members of the answered object, or of a page's objects.
fn attributes(returns: &Returns) -> Vec<Value> {
    match returns {
        Returns::Object(object) => object.attributes.iter().map(attribute).collect(),
        Returns::ListPage(object) => page_attributes(object),
        Returns::Id(_)
        | Returns::Words(_)
        | Returns::Boolean
        | Returns::Integer
        | Returns::Text(_)
        | Returns::Array(_)
        | Returns::Any(_)
        | Returns::AnyOf(_) => Vec::new(),
    }
}

fn page_attributes(object: &'static ObjectType) -> Vec<Value> {
    let previous = "The body of the call for the previous page; null on the first.";
    let next = "The body of the call for the next page; null on the last.";
    let mut page = attribute(&Attribute::of("page", ValueType::ANY, "The entries, newest first."));
    page["type"] = json!([[format!("object.{}", object.name)]]);
    vec![
        attribute(&Attribute::of("previous", ValueType::OBJECT, previous).null()),
        page,
        attribute(&Attribute::of("next", ValueType::OBJECT, next).null()),
    ]
}

fn docs(declaration: &Declaration) -> String {
    match declaration.docs {
        "" => declaration.summary.to_owned(),
        docs => format!("{}\n\n{docs}", declaration.summary),
    }
}

fn endpoint_flags(declaration: &Declaration) -> Vec<&'static str> {
    let bearer_auth = declaration.flags.needs_key.then_some("bearer_auth");
    let paginated = declaration.returns.is_page().then_some("paginated");
    ["error_triple"].into_iter().chain(bearer_auth).chain(paginated).collect()
}

fn error(code: Code, docs: &str) -> Value {
    json!({ "code": code.name(), "docs": docs })
}

fn argument(argument: &Argument) -> Value {
    let mut members = typed(argument.name, &argument.value_type, argument.docs);
    members.insert("required".to_owned(), argument.required.into());
    let flags: &[&str] = if argument.required { &["required"] } else { &[] };
    members.insert("flags".to_owned(), flags.into());
    if !argument.value_type.choices().is_empty() {
        members.insert("choices".to_owned(), argument.value_type.choices().into());
    }
    Value::Object(members)
}

/// An optional member is documented as nullable: clients read a missing one as null.
fn attribute(attribute: &Attribute) -> Value {
    let mut members = typed(attribute.name, &attribute.value_type, attribute.docs);
    let nullable = attribute.nullable || attribute.optional;
    members.insert("nullable".to_owned(), nullable.into());
    let flags = nullable.then_some("nullable").into_iter().chain(attribute.optional.then_some("optional"));
    members.insert("flags".to_owned(), flags.collect());
    if !attribute.value_type.choices().is_empty() {
        members.insert("values".to_owned(), attribute.value_type.choices().into());
    }
    Value::Object(members)
}

fn typed(name: &str, value_type: &ValueType, docs: &str) -> Map<String, Value> {
    let members = [("name", name.into()), ("type", spelling_of(value_type)), ("docs", docs.into())];
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn object(object: &'static ObjectType) -> Value {
    let attributes: Vec<Value> = object.attributes.iter().map(attribute).collect();
    json!({ "name": object.name, "attributes": attributes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declaration::{Attribute, DeclaredError, Flags, ObjectType, ValueType, list_page_arguments};

    static PAYMENT: ObjectType = ObjectType {
        name: "payment",
        attributes: &[
            Attribute::of("payment_id", ValueType::STRING, "The id."),
            Attribute::of("status", ValueType::words(&["PENDING"]), "Its status.").null(),
        ],
    };

    static INITIATE: Declaration = Declaration {
        name: "initiate-payment-flow",
        package: Package::Merchants,
        group: "payments",
        summary: "Creates a payment.",
        docs: "More.",
        arguments: &[
            Argument::required("amount", ValueType::AMOUNT, "How much."),
            Argument::optional("save_card", ValueType::words(&["ADD", "DEFAULT"]), "Whether to keep the card."),
        ],
        returns: Returns::Id("pay"),
        errors: &[DeclaredError::new(Code::Conflict, "The session differs.")],
        flags: Flags::COMMAND,
    };

    static LIST: Declaration = Declaration {
        name: "list-payments",
        arguments: &list_page_arguments("pay"),
        returns: Returns::ListPage(&PAYMENT),
        errors: &[],
        flags: Flags::QUERY,
        docs: "",
        ..INITIATE
    };

    static SELECT: Declaration = Declaration {
        errors: &[DeclaredError::new(Code::IdempotencyKeyReused, "The card was another one.")],
        ..INITIATE
    };

    static FIND: Declaration = Declaration {
        name: "find-payment",
        arguments: &[],
        returns: Returns::Object(&PAYMENT),
        errors: &[],
        flags: Flags::QUERY,
        docs: "",
        ..INITIATE
    };

    fn document() -> Value {
        package_document(
            Package::Merchants,
            "http://till.test/merchants/",
            ApiVersion::NEWEST,
            [&INITIATE, &LIST, &FIND],
        )
    }

    #[test]
    fn the_package_names_itself_its_versions_and_its_common_errors() {
        let document = document();
        assert_eq!(document["base_url"], "http://till.test/merchants/");
        assert_eq!(document["flags"], json!(["versioned"]));
        assert_eq!((&document["version"], &document["versions"]), (&json!("2025-04-01"), &json!(["2025-04-01"])));
        assert_eq!(document["errors"][0]["code"], "INVALID_ARGUMENTS");
    }

    #[test]
    fn an_endpoint_shows_what_it_takes_answers_and_refuses() {
        let endpoint = &document()["endpoints"][0];
        assert_eq!(endpoint["docs"], "Creates a payment.\n\nMore.");
        assert_eq!(endpoint["returns"], "string");
        assert_eq!((&endpoint["bearer_auth"], &endpoint["paginated"]), (&json!(true), &json!(false)));
        assert_eq!(endpoint["flags"], json!(["error_triple", "bearer_auth"]));
        let amount = json!({"name": "amount", "type": ["string", "number.i64"], "docs": "How much.", "required": true,
            "flags": ["required"]});
        assert_eq!(endpoint["arguments"][0], amount);
        assert_eq!(endpoint["arguments"][1]["choices"], json!(["ADD", "DEFAULT"]));
        assert_eq!(
            (&endpoint["arguments"][1]["type"], &endpoint["arguments"][1]["required"]),
            (&json!("string"), &json!(false))
        );
        let codes: Vec<_> = (0..6).map(|index| endpoint["errors"][index]["code"].clone()).collect();
        let expected = ["CONFLICT", "MERCHANT_SUSPENDED", "UNAUTHORIZED", "FORBIDDEN", "IDEMPOTENCY_KEY_REUSED"];
        assert_eq!(codes, [&expected.map(Value::from)[..], &[Value::Null]].concat());
    }

    #[test]
    fn a_list_is_paginated_and_its_entries_are_described_once() {
        let document = document();
        let endpoint = &document["endpoints"][1];
        assert_eq!(endpoint["flags"], json!(["error_triple", "bearer_auth", "paginated"]));
        assert_eq!(endpoint["attributes"][1]["name"], "page");
        assert_eq!(endpoint["paginated"], true);
        assert_eq!(endpoint["attributes"][1]["type"], json!([["object.payment"]]));
        assert_eq!(document["objects"][0]["name"], "payment");
        assert_eq!(document["objects"][0]["attributes"][1]["values"], json!(["PENDING"]));
        assert_eq!(document["objects"].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn a_code_that_a_declaration_words_itself_is_listed_once() {
        let endpoint = endpoint(&SELECT);
        let errors = endpoint["errors"].as_array().expect("an array");
        let codes: Vec<&Value> = errors.iter().map(|error| &error["code"]).collect();
        assert_eq!(codes, ["IDEMPOTENCY_KEY_REUSED", "MERCHANT_SUSPENDED", "UNAUTHORIZED", "FORBIDDEN"]);
        assert_eq!(errors[0]["docs"], "The card was another one.");
    }
}

//! The whole document.

use serde_json::{Map, Value, json};

use super::components::schemas;
use super::operation::path;
use super::refusals::shared_examples;
use super::tags::tags;
use super::webhooks::webhooks;
use crate::declaration::{Declaration, DeliveryDeclaration, Package};
use crate::version::ApiVersion;

/// The description of refusals, once for all operations.
const REFUSALS: &str = "A call that is refused answers status 400 with an error triple, `[code, message, details]`. A \
    caller that sends `Accept: application/problem+json` gets RFC 9457 problem details instead, under the status that \
    the code has there.";

/// Describes the interfaces of one listener, whose base address is `base_url`, and what the server delivers itself. The
/// bodies of that are objects that an endpoint answers, too.
#[must_use]
pub fn openapi_document<'a>(
    base_url: &str,
    version: ApiVersion,
    declarations: impl IntoIterator<Item = &'a Declaration>,
    deliveries: &[&DeliveryDeclaration],
) -> Value {
    let declarations: Vec<&Declaration> = declarations.into_iter().collect();
    let mut document = json!({
        "openapi": "3.1.1",
        "info": info(version, &declarations),
        "servers": [{ "url": base_url }],
        "tags": tags(&declarations),
        "paths": declarations.iter().map(|declaration| path(declaration)).collect::<Map<_, _>>(),
        "components": {
            "schemas": schemas(&declarations),
            "examples": shared_examples(),
            "securitySchemes": { "bearer": bearer(&declarations) },
        },
    });
    if !deliveries.is_empty() {
        document["webhooks"] = webhooks(deliveries).into();
    }
    document
}

fn info(version: ApiVersion, declarations: &[&Declaration]) -> Value {
    json!({
        "title": "Till",
        "version": version.name(),
        "description": description(declarations),
        "contact": { "name": "The operator of this server" },
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    })
}

fn description(declarations: &[&Declaration]) -> String {
    let docs = packages(declarations).map(|package| format!("`/{}`: {}", package.segment(), package.docs()));
    docs.chain([REFUSALS.to_owned()]).collect::<Vec<_>>().join("\n\n")
}

fn packages(declarations: &[&Declaration]) -> impl Iterator<Item = Package> {
    let has = |package: &Package| declarations.iter().any(|declaration| declaration.package == *package);
    Package::ALL.into_iter().filter(has)
}

fn bearer(declarations: &[&Declaration]) -> Value {
    let is_operators = packages(declarations).any(|package| package == Package::Admin);
    let token = if is_operators { "The admin token." } else { "An API key (`sk_...`) of the merchant." };
    json!({ "type": "http", "scheme": "bearer", "description": token })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_error::Code;
    use crate::declaration::{
        Argument, Attribute, DeclaredError, Flags, ObjectType, Returns, ValueType, list_page_arguments,
    };

    static PART: ObjectType = ObjectType { name: "part", attributes: &[] };

    static THING: ObjectType = ObjectType {
        name: "thing",
        attributes: &[
            Attribute::of("thing_id", ValueType::STRING, "Its id.").such_as("thg_1"),
            Attribute::of("bearer", ValueType::words(&["a", "b"]), "Who.").null(),
            Attribute::of("part", ValueType::Object(&PART), "What it consists of.").null().optional(),
        ],
    };

    static CHANGE_THING: Declaration = Declaration {
        name: "change-thing",
        package: Package::Merchants,
        group: "things",
        summary: "Changes a thing; `false` when it was so before.",
        docs: "",
        arguments: &[
            Argument::required("amount", ValueType::AMOUNT, "How much."),
            Argument::optional("version", ValueType::integer(0, 9, 1), "Which."),
        ],
        returns: Returns::Object(&THING),
        errors: &[DeclaredError::STALE_VERSION, DeclaredError::new(Code::NotFound, "There is none.")],
        flags: Flags::QUERY,
    };

    static LIST_THINGS: Declaration = Declaration {
        name: "list-things",
        arguments: &list_page_arguments("thg"),
        returns: Returns::ListPage(&THING),
        flags: Flags::OPEN_QUERY,
        ..CHANGE_THING
    };

    static DELIVERED_THING: DeliveryDeclaration = DeliveryDeclaration {
        name: "thing",
        group: "things",
        summary: "A thing.",
        docs: "It was made.",
        headers: &[Argument::required("thing-id", ValueType::Id("thg"), "Its id.")],
        body: &THING,
        delivered_members: &[("bearer", "\"b\"")],
    };

    fn document() -> Value {
        openapi_document("http://localhost", ApiVersion::NEWEST, [&CHANGE_THING, &LIST_THINGS], &[&DELIVERED_THING])
    }

    fn operation(name: &str) -> Value {
        document()["paths"][format!("/merchants/{name}")]["post"].clone()
    }

    #[test]
    fn an_operation_has_its_arguments_and_its_answer() {
        let body = &document()["components"]["schemas"]["merchants_change_thing_body"];
        assert_eq!(body["required"], json!(["amount"]));
        assert_eq!(body["properties"]["amount"]["type"], json!(["string", "integer"]));
        assert_eq!(body["properties"]["version"]["type"], json!(["integer", "null"]));
        assert_eq!(body["properties"]["version"]["examples"], json!([1]));
        let content = &operation("change-thing")["requestBody"]["content"]["application/json"];
        assert_eq!(content["schema"]["$ref"], "#/components/schemas/merchants_change_thing_body");
        assert_eq!(content["example"], json!({ "amount": "10000" }));
        let answer = operation("change-thing")["responses"]["200"]["content"]["application/json"].clone();
        assert_eq!(answer["schema"]["$ref"], "#/components/schemas/thing");
    }

    #[test]
    fn an_object_declares_nullable_members_and_inner_objects() {
        let schemas = document()["components"]["schemas"].clone();
        assert_eq!(schemas["thing"]["required"], json!(["thing_id", "bearer"]));
        assert_eq!(schemas["thing"]["properties"]["bearer"]["oneOf"][1], json!({ "type": "null" }));
        assert_eq!(schemas["thing"]["properties"]["part"]["oneOf"][0]["$ref"], "#/components/schemas/part");
        assert!(schemas["part"].is_object());
    }

    #[test]
    fn refusals_stand_where_each_kind_of_client_meets_them() {
        let responses = operation("change-thing")["responses"].clone();
        let triple = &responses["400"]["content"]["application/json"]["schema"]["$ref"];
        assert_eq!(triple, "#/components/schemas/error_triple");
        for status in ["401", "404", "409"] {
            let content = responses[status]["content"].as_object().expect("forms");
            assert_eq!(content.keys().collect::<Vec<_>>(), ["application/problem+json"], "{status}");
            let description = responses[status]["description"].as_str().expect("a text");
            assert!(description.contains("`Accept: application/problem+json`"), "{description}");
        }
        let bad = responses["400"]["description"].as_str().expect("a text");
        assert_eq!(bad.matches("`BAD_VERSION`").count(), 1, "{bad}");
        let has =
            |status: &str, text: &str| responses[status]["description"].as_str().is_some_and(|it| it.contains(text));
        assert!(has("400", "`NOT_FOUND`: There is none.") && has("404", "`NOT_FOUND`: There is none."));
        assert!(has("409", "version_mismatch") && has("400", "version_mismatch"));
    }

    #[test]
    fn a_page_names_the_bodies_of_its_own_call() {
        let page = operation("list-things")["responses"]["200"]["content"]["application/json"]["schema"].clone();
        let body = &page["properties"]["next"]["oneOf"][0]["$ref"];
        assert_eq!(body, "#/components/schemas/merchants_list_things_body");
        assert_eq!(page["properties"]["page"]["items"]["$ref"], "#/components/schemas/thing");
    }

    #[test]
    fn a_delivery_has_its_headers_and_its_own_members() {
        let delivery = document()["webhooks"]["thing"]["post"].clone();
        assert_eq!(delivery["parameters"][0]["name"], "thing-id");
        let content = &delivery["requestBody"]["content"]["application/json"];
        assert_eq!(content["schema"]["$ref"], "#/components/schemas/thing");
        assert_eq!(content["example"], json!({ "thing_id": "thg_1", "bearer": "b" }));
    }

    #[test]
    fn an_answer_has_the_example_of_its_object() {
        let example =
            |name: &str| operation(name)["responses"]["200"]["content"]["application/json"]["example"].clone();
        let thing = json!({ "thing_id": "thg_1", "bearer": null });
        assert_eq!(example("change-thing"), thing);
        let next = json!({ "after": "thg_01h2e8kqvbfwea724h75qc655w", "per_page": 25 });
        assert_eq!(example("list-things"), json!({ "previous": null, "page": [thing], "next": next }));
    }

    #[test]
    fn an_example_of_a_refusal_has_the_status_of_its_code() {
        let responses = operation("change-thing")["responses"].clone();
        let example =
            |status: &str, form: &str, name: &str| responses[status]["content"][form]["examples"][name].clone();
        let triple = json!(["NOT_FOUND", "There is none.", null]);
        assert_eq!(example("400", "application/json", "NOT_FOUND")["value"], triple);
        let problem = example("404", "application/problem+json", "NOT_FOUND")["value"].clone();
        assert_eq!((&problem["status"], &problem["code"]), (&json!(404), &json!("NOT_FOUND")));
        let missing = example("400", "application/json", "INVALID_ARGUMENTS")["value"].clone();
        assert_eq!(missing[2][0]["argument"], "amount");
        assert_eq!(example("409", "application/problem+json", "VERSION_MISMATCH")["value"]["status"], 409);
        let shared = example("503", "application/json", "UNAVAILABLE")["$ref"].clone();
        assert_eq!(shared, "#/components/examples/UNAVAILABLE_triple");
        let shared = document()["components"]["examples"]["UNAUTHORIZED_problem"]["value"].clone();
        assert_eq!(shared["status"], 401);
    }

    #[test]
    fn a_call_without_a_key_says_so_and_a_summary_is_plain() {
        assert_eq!(operation("change-thing")["security"], json!([{ "bearer": [] }]));
        assert_eq!(operation("list-things")["security"], json!([]));
        assert_eq!(operation("change-thing")["summary"], "Changes a thing; false when it was so before.");
        assert_eq!(operation("change-thing")["description"], CHANGE_THING.summary);
    }
}

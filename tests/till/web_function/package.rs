//! A package document as the protocol defines it, and a check of values against its declarations.
//!
//! A type is a name, with a refinement after a dot, or a list of several; a list inside of the list is an array of
//! these types.

use serde_json::{Map, Value};

/// The base types.
const BASE_TYPES: [&str; 7] = ["object", "array", "string", "number", "boolean", "null", "any"];

/// A package.
#[derive(Debug, Clone)]
pub(super) struct Package {
    pub(super) base_url: String,
    pub(super) versions: Vec<String>,
    pub(super) endpoints: Vec<PackageEndpoint>,
    flags: Vec<String>,
    errors: Vec<String>,
    objects: Vec<(String, Vec<Member>)>,
}

/// An endpoint.
#[derive(Debug, Clone)]
pub(super) struct PackageEndpoint {
    pub(super) name: String,
    pub(super) arguments: Vec<Member>,
    returns: Vec<String>,
    flags: Vec<String>,
    attributes: Vec<Member>,
    pub(super) errors: Vec<String>,
}

/// An argument, or an attribute of an object.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) types: Vec<String>,
    /// The only valid values, where the document lists them.
    pub(super) choices: Vec<Value>,
    flags: Vec<String>,
}

impl Package {
    /// Reads a document, all parts of which must have the protocol's form.
    pub(super) fn read(document: &Value) -> Package {
        let list = |name: &str| document[name].as_array().map(Vec::as_slice).unwrap_or_default();
        let object = |object: &Value| (text(&object["name"]), members(&object["attributes"], "values"));
        let package = Package {
            base_url: text(&document["base_url"]),
            versions: texts(&document["versions"]),
            endpoints: list("endpoints").iter().map(PackageEndpoint::read).collect(),
            flags: texts(&document["flags"]),
            errors: codes(&document["errors"]),
            objects: list("objects").iter().map(object).collect(),
        };
        if package.has_flag("versioned") {
            assert!(package.versions.contains(&text(&document["version"])), "{}", document["versions"]);
        }
        package
    }

    pub(super) fn has_flag(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }

    /// The endpoint of a name.
    pub(super) fn endpoint(&self, name: &str) -> &PackageEndpoint {
        let found = self.endpoints.iter().find(|endpoint| endpoint.name == name);
        found.unwrap_or_else(|| panic!("no endpoint {name}"))
    }

    /// Checks that an endpoint may answer with a code.
    pub(super) fn check_code(&self, endpoint: &PackageEndpoint, code: &str) {
        let known = endpoint.errors.iter().chain(&self.errors).any(|known| known == code);
        assert!(known, "{} answers {code}, which is declared neither by it nor by its package", endpoint.name);
    }

    /// Checks that a value is one that an endpoint is declared to return.
    pub(super) fn check_value(&self, endpoint: &PackageEndpoint, value: &Value) {
        let name = &endpoint.name;
        assert!(is_of(value, &endpoint.returns), "{name} returns {:?}, not {value}", endpoint.returns);
        let has_shape = value.is_object() && !endpoint.attributes.is_empty();
        if has_shape {
            check_object(name, value, &endpoint.attributes);
        }
        if endpoint.has_flag("paginated") {
            self.check_page(endpoint, &value["page"]);
        }
    }

    /// Each entry of a page is of the object that the attribute names.
    fn check_page(&self, endpoint: &PackageEndpoint, page: &Value) {
        let attribute = endpoint.attributes.iter().find(|attribute| attribute.name == "page").expect("a page");
        let object = attribute.types.iter().find_map(|name| name.strip_prefix("array of object."));
        let object = object.unwrap_or_else(|| panic!("{} does not say what its pages hold", endpoint.name));
        let (_, members) = self.objects.iter().find(|(name, _)| name == object).expect("the object is defined");
        for entry in page.as_array().expect("a page is an array") {
            check_object(object, entry, members);
        }
    }
}

impl PackageEndpoint {
    fn read(endpoint: &Value) -> PackageEndpoint {
        let returns = types(&endpoint["returns"]);
        let read = PackageEndpoint {
            name: text(&endpoint["name"]),
            arguments: members(&endpoint["arguments"], "choices"),
            returns,
            flags: texts(&endpoint["flags"]),
            attributes: members(&endpoint["attributes"], "values"),
            errors: codes(&endpoint["errors"]),
        };
        for flag in ["bearer_auth", "paginated"] {
            assert_eq!(endpoint[flag], read.has_flag(flag), "{flag} of {endpoint}");
        }
        read
    }

    pub(super) fn has_flag(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }
}

impl Member {
    fn read(member: &Value, choices: &str) -> Member {
        Member {
            name: text(&member["name"]),
            types: types(&member["type"]),
            choices: member[choices].as_array().cloned().unwrap_or_default(),
            flags: texts(&member["flags"]),
        }
    }

    pub(super) fn has_flag(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }

    fn has_refinement(&self, refinement: &str) -> bool {
        self.types.iter().any(|name| name.split_once('.').is_some_and(|(_, known)| known == refinement))
    }

    /// True when the member may have this value.
    fn takes(&self, value: &Value) -> bool {
        if value.is_null() {
            return self.has_flag("nullable") || self.types.iter().any(|name| name == "null" || name == "any");
        }
        let numbers = value.is_number() && (self.has_refinement("i64") || self.has_refinement("timestamp"));
        let whole = !numbers || value.as_i64().is_some();
        let chosen = self.choices.is_empty() || self.choices.contains(value);
        let email = !self.has_refinement("email") || value.as_str().is_some_and(|text| text.contains('@'));
        is_of(value, &self.types) && whole && chosen && email
    }
}

/// Every declared attribute is there, unless it is optional, and has a valid value; there is no other.
fn check_object(what: &str, object: &Value, attributes: &[Member]) {
    let members: &Map<String, Value> = object.as_object().unwrap_or_else(|| panic!("{what} is no object: {object}"));
    let there = |attribute: &&Member| !attribute.has_flag("optional") || members.contains_key(&attribute.name);
    for attribute in attributes.iter().filter(there) {
        let value = members.get(&attribute.name).unwrap_or_else(|| panic!("{what} lacks {}: {object}", attribute.name));
        assert!(attribute.takes(value), "{} of {what} is declared {attribute:?}, not {value}", attribute.name);
    }
    let undeclared = members.keys().find(|name| !attributes.iter().any(|attribute| attribute.name == **name));
    assert_eq!(undeclared, None, "{what} has what is not declared: {object}");
}

fn is_base(name: &str) -> bool {
    BASE_TYPES.contains(&base(name))
}

/// The base type of a name.
fn base(name: &str) -> &str {
    if name.starts_with("array of ") { "array" } else { name.split('.').next().unwrap_or(name) }
}

/// The types of a union, each as a name; an array with its element types.
fn types(spelt: &Value) -> Vec<String> {
    let union = spelt.as_array().cloned().unwrap_or_else(|| vec![spelt.clone()]);
    let name = |spelt: &Value| match spelt {
        Value::Array(_) => format!("array of {}", types(spelt).join(" or ")),
        name => text(name),
    };
    let names: Vec<String> = union.iter().map(name).collect();
    assert!(!names.is_empty() && names.iter().all(|name| is_base(name)), "{spelt}");
    names
}

/// True when a value is of one of these types.
pub(super) fn is_of(value: &Value, types: &[String]) -> bool {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    types.iter().any(|name| base(name) == kind || name == "any")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("a string: {value}")).to_owned()
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().map(|list| list.iter().map(text).collect()).unwrap_or_default()
}

fn members(list: &Value, choices: &str) -> Vec<Member> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|member| Member::read(member, choices)).collect()
}

fn codes(list: &Value) -> Vec<String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let codes: Vec<String> = list.iter().map(|error| text(&error["code"])).collect();
    let twice = codes.iter().enumerate().find(|(at, code)| codes[..*at].contains(code));
    assert_eq!(twice, None, "a code is listed once");
    codes
}

//! Endpoints as the package documents describe them, with values that their arguments take.

use serde_json::Value;

use super::values::values_of;

/// The first words in the names of endpoints that only read.
const LOOK_UPS: [&str; 10] =
    ["find-", "list-", "get-", "retrieve-", "check-", "discover-", "balance-", "available-", "reconcile-", "status"];

/// Optional arguments that a valid call has: of these endpoints, one of several must be given, or none can be tried.
const ONE_OF_SEVERAL: [(&str, &str); 10] = [
    ("redeliver-webhook", "since"),
    ("add-acquirer", "unchecked"),
    ("update-acquirer", "unchecked"),
    ("add-contact", "contact_name"),
    ("find-payments", "last_digits"),
    ("find-payments", "created_at"),
    ("pay-checkout", "token"),
    // A refund limit is of SUPPORT alone.
    ("generate-key", "role_id"),
    ("invite-user", "role_id"),
    ("update-user", "role_id"),
];

/// An endpoint as its package document describes it.
#[derive(Debug, Clone)]
pub(crate) struct DescribedEndpoint {
    /// Its package.
    pub(crate) package: String,
    /// Its name.
    pub(crate) name: String,
    /// Its arguments.
    pub(crate) arguments: Vec<Argument>,
    errors: Vec<String>,
}

/// An argument.
#[derive(Debug, Clone)]
pub(crate) struct Argument {
    /// Its name.
    pub(crate) name: String,
    /// True when every valid call has it.
    pub(crate) required: bool,
    /// Valid values as JSON text, with placeholders for objects. A call with the first one must succeed.
    pub(crate) valid: Vec<String>,
}

/// True when the endpoint of this name only reads.
pub(crate) fn is_look_up(name: &str) -> bool {
    LOOK_UPS.iter().any(|word| name.starts_with(word))
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

impl DescribedEndpoint {
    /// Reads an entry of a document.
    pub(super) fn read(package: &str, endpoint: &Value) -> DescribedEndpoint {
        let name = text(&endpoint["name"]);
        let argument = |argument: &Value| Argument {
            name: text(&argument["name"]),
            required: argument["required"] == true
                || ONE_OF_SEVERAL.iter().any(|(of, one)| *of == name && argument["name"] == *one),
            valid: values_of(&name, argument),
        };
        DescribedEndpoint {
            package: package.to_owned(),
            arguments: list(&endpoint["arguments"]).iter().map(argument).collect(),
            errors: list(&endpoint["errors"]).iter().map(|error| text(&error["code"])).collect(),
            name,
        }
    }

    /// Its name with that of its package.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.package, self.name)
    }

    /// True when the document declares that it may be refused with a code.
    pub(crate) fn declares(&self, code: &str) -> bool {
        self.errors.iter().any(|declared| declared == code)
    }

    /// The first valid values of the required arguments, and of those that are named.
    pub(crate) fn members(&self, also: &[&str]) -> Vec<(String, String)> {
        let wanted = |argument: &&Argument| argument.required || also.contains(&argument.name.as_str());
        let member = |argument: &Argument| (argument.name.clone(), argument.valid[0].clone());
        self.arguments.iter().filter(wanted).map(member).collect()
    }
}

/// A body of members whose values are JSON text already.
pub(crate) fn object(members: Vec<(String, String)>) -> String {
    let member = |(name, value): (String, String)| format!("{}:{value}", Value::from(name));
    format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(","))
}

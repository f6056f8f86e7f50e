//! A request that the server makes itself, to an address that a merchant gave.

use serde_json::Value;

use super::{Argument, ObjectType};

/// The declaration of such requests, for the documents.
#[derive(Debug)]
pub struct DeliveryDeclaration {
    /// The name of what is delivered.
    pub name: &'static str,
    /// The subject that it belongs to, as that of the endpoints of `/merchants`.
    pub group: &'static str,
    /// The description in one sentence.
    pub summary: &'static str,
    /// More description, in Markdown.
    pub docs: &'static str,
    /// The headers, declared as arguments are.
    pub headers: &'static [Argument],
    /// The body.
    pub body: &'static ObjectType,
    /// The members that a body has when it is delivered and not otherwise, with example values as JSON.
    pub delivered_members: &'static [(&'static str, &'static str)],
}

impl DeliveryDeclaration {
    /// An example of the body.
    #[must_use]
    pub fn example(&self) -> Value {
        let mut body = self.body.example();
        for (name, json) in self.delivered_members {
            body[*name] = serde_json::from_str(json).expect("an example is written as JSON");
        }
        body
    }
}

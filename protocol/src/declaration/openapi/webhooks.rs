//! The requests that the server makes itself.

use serde_json::{Map, Value, json};

use super::schema::reference;
use super::schema::schema;
use super::tags::name;
use crate::declaration::{Argument, DeliveryDeclaration, Package};

/// The webhooks by the names of what is delivered.
pub(super) fn webhooks(deliveries: &[&DeliveryDeclaration]) -> Map<String, Value> {
    deliveries.iter().map(|delivery| (delivery.name.to_owned(), json!({ "post": operation(delivery) }))).collect()
}

fn operation(delivery: &DeliveryDeclaration) -> Value {
    json!({
        "operationId": format!("deliver-{}", delivery.name),
        "tags": [name(Package::Merchants, delivery.group)],
        "summary": delivery.summary,
        "description": delivery.docs,
        "security": [],
        "parameters": delivery.headers.iter().map(header).collect::<Vec<_>>(),
        "requestBody": {
            "required": true,
            "content": { "application/json": {
                "schema": reference(delivery.body.name),
                "example": delivery.example(),
            } },
        },
        "responses": {
            "2XX": { "description": "Taken. The body of the answer has no meaning." },
            "410": { "description": "The address is gone: the webhook is disabled." },
            "default": { "description": "Not taken: the delivery is repeated later." },
        },
    })
}

fn header(header: &Argument) -> Value {
    json!({
        "name": header.name,
        "in": "header",
        "required": header.required,
        "schema": schema(&header.value_type),
        "description": header.docs,
        "example": header.example(),
    })
}

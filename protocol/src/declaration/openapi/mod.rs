//! The OpenAPI document: the same declarations as the package document, for REST clients and for people.
//!
//! Generated clients send no `Accept`, or `*/*`, and get refusals as error triples with status 400, so this is the
//! documented form. Problem details are documented as well, with their own statuses.
//!
//! Source: the OpenAPI specification 3.1.1; JSON Schema 2020-12; RFC 9457 for problem details.

mod components;
mod document;
mod operation;
mod refusals;
mod responses;
mod schema;
mod tags;
mod webhooks;

pub use document::openapi_document;

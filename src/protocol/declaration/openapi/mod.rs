//! The OpenAPI document: the same declarations as the package document, for REST clients and for people.
//!
//! Generated clients send no `Accept`, or `*/*`, and get refusals as error triples under status 400: that is what stands
//! there. Problem details stand beside, under the statuses that they come with.
//!
//! Source: the OpenAPI specification 3.1.1; JSON Schema 2020-12; RFC 9457 for problem details.

mod components;
mod document;
mod operation;
mod responses;
mod schema;
mod tags;

pub use document::openapi_document;

//! Tests of the HTTP protocol, clause by clause: contract, sections 1 to 3.

mod bodies;
mod browsers;
mod documents;
mod errors;
mod examples;
mod framing;
mod headers;
mod judgement;
mod keys;
mod openapi;
mod pages;
mod root;
mod unread;
mod wrong_requests;
mod versions;

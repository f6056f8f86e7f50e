//! Raw endpoints over HTTP.

use std::sync::Arc;
use std::thread;

use actix_web::http::Method;
use actix_web::http::header::HeaderMap;
use actix_web::test::TestRequest;
use serde_json::json;

use super::judgement_tests::{Hooks, TestResponse, refused, send_to};
use super::{Dispatcher, JudgeBody, RawEndpoint};
use crate::api_error::{ApiError, Code};
use crate::declaration::Package;

/// Takes bodies that begin with the value of a header.
struct Echoed;

impl RawEndpoint for Echoed {
    fn pattern(&self) -> &'static str {
        "/given/{name}/raw"
    }

    fn open(&self, texts: &[String], headers: &HeaderMap) -> Result<JudgeBody, ApiError> {
        let refused = || ApiError::new(Code::Forbidden, "It is not the one.");
        let begun = headers.get("x-begin").filter(|_| texts == ["known"]).ok_or_else(refused)?.clone();
        Ok(Box::new(move |body| judged(body, begun.as_bytes())))
    }
}

fn judged(body: &[u8], begun: &[u8]) -> Result<(), ApiError> {
    let message = format!("{} bytes on {:?}", body.len(), thread::current().id());
    if body.starts_with(begun) { Ok(()) } else { Err(ApiError::new(Code::Forbidden, message)) }
}

fn raw(path: &str) -> TestRequest {
    TestRequest::with_uri(path).method(Method::POST).insert_header(("X-Begin", "x"))
}

async fn send_raw(request: TestRequest) -> TestResponse {
    let builder = Dispatcher::builder(&[Package::Merchants], Arc::new(Hooks)).raw_endpoint(Arc::new(Echoed));
    send_to(&Arc::new(builder.build()), request).await
}

#[actix_web::test]
async fn a_raw_endpoint_takes_bodies_of_any_form_up_to_a_mebibyte() {
    for (bytes, kind) in [(1, "text/plain"), (100_000, "application/xml; q"), (1 << 20, "")] {
        let received =
            send_raw(raw("/given/known/raw").insert_header(("Content-Type", kind)).set_payload("x".repeat(bytes)))
                .await;
        assert_eq!((received.status, received.json()), (200, json!(true)), "{bytes}");
        assert_eq!(received.header("content-type"), Some("application/json"));
    }
    for path in ["/given/known/raw", "/given/unknown/raw"] {
        let larger = raw(path).set_payload("x".repeat((1 << 20) + 1)).insert_header(("Content-Length", (1 << 20) + 1));
        assert_eq!(send_raw(larger).await.refusal(), refused(413, Code::BodyTooLarge), "{path}");
    }
    let unannounced = send_raw(raw("/given/known/raw").set_payload("x".repeat((1 << 20) + 1))).await;
    assert_eq!(unannounced.refusal(), refused(413, Code::BodyTooLarge));
    let message = "The body is larger than 1048576 bytes, the limit of this address. Send less in one call.";
    assert_eq!(unannounced.json()[1], message);
}

#[actix_web::test]
async fn a_raw_endpoint_refuses_in_triples_and_by_the_head_first() {
    let head = send_raw(raw("/given/unknown/raw").set_payload("x")).await;
    assert_eq!((head.status, head.json()), (400, json!(["FORBIDDEN", "It is not the one.", null])));
    for (bytes, is_here) in [(2, true), (70_000, false)] {
        let received = send_raw(raw("/given/known/raw").set_payload("y".repeat(bytes))).await;
        assert_eq!((received.status, received.code()), (400, "FORBIDDEN".to_owned()));
        let here = format!("{bytes} bytes on {:?}", thread::current().id());
        assert_eq!(received.json()[1] == here.as_str(), is_here, "{}", received.json());
    }
    let get = send_raw(raw("/given/known/raw").method(Method::GET)).await;
    assert_eq!((get.refusal(), get.header("allow")), (refused(405, Code::MethodNotAllowed), Some("POST")));
    for path in ["/given/known/raw/", "/given//raw", "/given/known"] {
        assert_eq!(send_raw(raw(path)).await.refusal(), refused(404, Code::UnknownEndpoint), "{path}");
    }
}

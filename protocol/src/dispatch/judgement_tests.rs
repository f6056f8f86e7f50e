//! The dispatcher over HTTP: one test per promise, the order of checks first.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use actix_web::body::to_bytes;
use actix_web::http::Method;
use actix_web::test::TestRequest;
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use serde_json::{Value, json};

use super::hooks::{AdmissionGate, Arrival, Authenticate, AuthenticatedCaller, NoToken, Observe};
use super::large_answers::{UNFETCHED_BYTES_MAX, reserve};
use super::{Call, Dispatcher, Entrance, Reply, endpoint};
use crate::api_error::{ApiError, Code};
use crate::connection::{ConnectionLimits, ShareOf};
use crate::declaration::{Argument, Declaration, Flags, Package, Returns, ValueType, list_page_arguments};
use crate::field;
use crate::transport::{Listener, ListenerSettings, ReservedAddress};
use crate::version::ApiVersion;

/// The limit of bytes of a body.
const BODY_BYTES_MAX: usize = Package::Merchants.body_bytes_max();

pub(super) static ECHO: Declaration = Declaration {
    name: "echo-text",
    package: Package::Merchants,
    group: "tests",
    summary: "Returns the text.",
    docs: "",
    arguments: &[Argument::required("text", ValueType::STRING, "What to answer.")],
    returns: Returns::Any("null"),
    errors: &[],
    flags: Flags::COMMAND,
};
static LIST: Declaration =
    Declaration { name: "list-nothing", arguments: &list_page_arguments("tst"), flags: Flags::QUERY, ..ECHO };
static PANIC: Declaration = Declaration { name: "panic-now", arguments: &[], ..ECHO };
static SDK: Declaration =
    Declaration { name: "check-status", package: Package::Sdk, flags: Flags::OPEN_COMMAND, ..ECHO };

#[derive(Clone)]
pub(super) struct Key;

impl AuthenticatedCaller for Key {
    type LogName = &'static str;

    fn pinned_version(&self) -> ApiVersion {
        ApiVersion::NEWEST
    }

    fn log_name(&self) -> &'static str {
        "key_test"
    }
}

pub(super) struct Hooks;

impl Authenticate<Key> for Hooks {
    fn authenticate<'a>(&'a self, token: &'a str) -> LocalBoxFuture<'a, Result<Key, ApiError>> {
        async move { if token == "sk_good" || token == "sk_eager" { Ok(Key) } else { Err(ApiError::unauthorized()) } }
            .boxed_local()
    }

    fn no_token(&self, problem: NoToken) -> ApiError {
        ApiError::new(Code::Unauthorized, problem.to_string())
    }
}

impl AdmissionGate<Key> for Hooks {
    fn count(&self, arrival: &Arrival<'_, Key>) -> Result<(), ApiError> {
        if arrival.declaration.name == "list-nothing" {
            Err(ApiError::rate_limited(9, "one API key", 7))
        } else {
            Ok(())
        }
    }

    fn share_of(&self, arrival: &Arrival<'_, Key>) -> ShareOf {
        let without_key = ShareOf::Address(IpAddr::V4(Ipv4Addr::LOCALHOST));
        if arrival.caller.is_some() { ShareOf::Merchant([1; 16]) } else { without_key }
    }
}

impl Observe for Hooks {
    fn metrics(&self) -> String {
        "up 1\n".to_owned()
    }

    fn not_ready(&self) -> Option<String> {
        Some("starting".to_owned())
    }
}

async fn echo((): (), call: Call<Key>) -> Result<Reply, ApiError> {
    call.allow_only_origin("https://shop.example");
    let mut fields = call.fields();
    let text = fields.required("text", field::text(1..=BODY_BYTES_MAX));
    let text = fields.finish(|| text)?;
    let replayed = call.idempotency_key()? == Some("again");
    Ok(Reply::new(&text).replayed(replayed))
}

async fn panic_now((): (), call: Call<Key>) -> Result<Reply, ApiError> {
    let secret = call.request_id().to_string();
    panic!("the secret is {secret}");
}

fn dispatcher() -> Arc<Dispatcher<Key>> {
    let hooks = Arc::new(Hooks);
    let functions = [
        endpoint(&ECHO, (), echo),
        endpoint(&LIST, (), echo),
        endpoint(&PANIC, (), panic_now),
        endpoint(&SDK, (), echo),
    ];
    let builder = Dispatcher::builder(&[Package::Merchants, Package::Sdk], hooks.clone()).functions(functions);
    Arc::new(builder.gate(hooks.clone()).observe(hooks).build())
}

/// A request that succeeds, to be altered by a test.
pub(super) fn post(path: &str) -> TestRequest {
    let request = TestRequest::with_uri(path).method(Method::POST).insert_header(("Authorization", "Bearer sk_good"));
    request.insert_header(("Content-Type", "application/json")).set_payload("{\"text\":\"hi\"}")
}

pub(super) struct TestResponse {
    pub(super) status: u16,
    headers: actix_web::http::header::HeaderMap,
    pub(super) body: Vec<u8>,
}

impl TestResponse {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(&self.body)))
    }

    pub(super) fn code(&self) -> String {
        self.json()[0].as_str().unwrap_or_default().to_owned()
    }

    /// Status and code of a refusal, as one line of a table.
    pub(super) fn refusal(&self) -> (u16, String) {
        (self.status, self.code())
    }
}

fn entrance() -> Entrance {
    Entrance { is_secure: false, host: "localhost:8080".to_owned(), forwarded: None }
}

async fn send(request: TestRequest) -> TestResponse {
    send_to(&dispatcher(), request).await
}

pub(super) async fn send_to(dispatcher: &Arc<Dispatcher<Key>>, request: TestRequest) -> TestResponse {
    let (request, payload) = request.to_http_parts();
    let response = dispatcher.handle(&request, payload, &entrance()).await;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = to_bytes(response.into_body()).await.unwrap_or_else(|error| panic!("{error}"));
    TestResponse { status, headers, body: body.to_vec() }
}

pub(super) fn refused(status: u16, code: Code) -> (u16, String) {
    (status, code.name().to_owned())
}

#[actix_web::test]
async fn a_call_that_is_in_order_is_answered_with_bare_json() {
    let received = send(post("/merchants/echo-text")).await;
    assert_eq!((received.status, received.json()), (200, json!("hi")));
    assert_eq!(received.header("content-type"), Some("application/json"));
    assert_eq!(received.header("api-version"), Some("2025-04-01"));
    assert!(received.header("x-request-id").is_some_and(|id| id.starts_with("req_")));
    assert_eq!(received.header("idempotent-replayed"), None);
}

/// Each request is made faulty in every respect from some point of the order on; the earliest fault decides the answer.
#[actix_web::test]
async fn a_request_is_judged_in_the_order_of_the_contract() {
    let everything_wrong =
        |path: &str| TestRequest::with_uri(path).method(Method::PUT).insert_header(("Api-Version", "1999-01-01"));
    assert_eq!(send(everything_wrong("/merchants/nothing")).await.refusal(), refused(404, Code::UnknownEndpoint));
    assert_eq!(send(everything_wrong("/merchants/list-nothing")).await.refusal(), refused(405, Code::MethodNotAllowed));
    let wrong_version = everything_wrong("/merchants/list-nothing").method(Method::POST);
    assert_eq!(send(wrong_version).await.refusal(), refused(400, Code::BadVersion));
    let no_key = || {
        TestRequest::with_uri("/merchants/list-nothing")
            .method(Method::POST)
            .set_payload("x".repeat(BODY_BYTES_MAX + 1))
    };
    assert_eq!(send(no_key()).await.refusal(), refused(400, Code::Unauthorized));
    let key = ("Authorization", "Bearer sk_good");
    assert_eq!(send(no_key().insert_header(key)).await.refusal(), refused(429, Code::RateLimited));
    let too_large = || no_key().uri("/merchants/echo-text").insert_header(key);
    assert_eq!(send(too_large()).await.refusal(), refused(415, Code::UnsupportedMediaType));
    assert_eq!(
        send(too_large().insert_header(("Content-Type", "application/json"))).await.refusal(),
        refused(413, Code::BodyTooLarge)
    );
    let malformed = post("/merchants/echo-text").set_payload("x".repeat(BODY_BYTES_MAX));
    assert_eq!(send(malformed).await.refusal(), refused(400, Code::InvalidArguments));
}

#[actix_web::test]
async fn a_full_answer_budget_refuses_changes_but_never_their_answers() {
    let dispatcher = dispatcher();
    let call = async || {
        let body = json!({ "text": "x".repeat(20_000) }).to_string();
        let (request, payload) = post("/merchants/echo-text").set_payload(body).to_http_parts();
        dispatcher.handle(&request, payload, &entrance()).await
    };
    let almost_all = reserve(&dispatcher.answer_budget, UNFETCHED_BYTES_MAX - 1, true);
    let answered = call().await;
    assert_eq!(answered.status(), 200, "it is made, and so it is told");
    let refused = call().await;
    assert_eq!((refused.status().as_u16(), refused.headers().contains_key("retry-after")), (503, true));
    drop((almost_all, answered));
    assert_eq!(call().await.status(), 200);
}

#[actix_web::test]
async fn a_path_of_another_spelling_is_no_endpoint() {
    for path in [
        "/nothing",
        "/merchants/echo-text/",
        "//merchants/echo-text",
        "/merchants/echo%2Dtext",
        "/merchants/Echo-text",
        "/admin/echo-text",
        "/merchants//",
    ] {
        assert_eq!(send(post(path)).await.refusal(), refused(404, Code::UnknownEndpoint), "{path}");
    }
    let near = send(post("/merchants/echo_txt")).await;
    assert_eq!(near.json()[2], json!({"suggestion": "/merchants/echo-text"}));
}

#[actix_web::test]
async fn other_methods_are_refused_with_those_that_are_allowed() {
    for (path, method, allow) in [
        ("/merchants/echo-text", Method::GET, "POST"),
        ("/merchants/echo-text", Method::OPTIONS, "POST"),
        ("/merchants/echo-text", Method::HEAD, "POST"),
        ("/sdk/check-status", Method::OPTIONS, "POST, OPTIONS"),
        ("/merchants", Method::DELETE, "GET, HEAD, POST"),
        ("/metrics", Method::POST, "GET, HEAD"),
    ] {
        let received = send(post(path).method(method)).await;
        assert_eq!((received.status, received.header("allow")), (405, Some(allow)), "{path}");
    }
}

#[actix_web::test]
async fn a_version_may_be_named_in_three_places_that_agree() {
    let good = [post("/2025-04-01/merchants/echo-text"), post("/merchants/echo-text?x=1&api_version=2025-04-01")];
    for request in good.into_iter().map(|request| request.insert_header(("Api-Version", "2025-04-01"))) {
        assert_eq!(send(request).await.status, 200);
    }
    for path in [
        "/2024-01-01/merchants/echo-text",
        "/v1/merchants/echo-text",
        "/merchants/echo-text?api_version=",
        "/merchants?api_version=1",
    ] {
        let received = send(post(path)).await;
        assert_eq!(received.refusal(), refused(400, Code::BadVersion), "{path}");
        assert_eq!(received.header("api-version"), Some("2025-04-01"));
    }
    let disagreeing = post("/2025-04-01/merchants/echo-text").insert_header(("Api-Version", "2024-01-01"));
    assert_eq!(send(disagreeing).await.refusal(), refused(400, Code::BadVersion));
}

#[actix_web::test]
async fn the_versions_are_listed_without_a_key() {
    let request = TestRequest::with_uri("/merchants/available-api-versions")
        .method(Method::POST)
        .insert_header(("Content-Type", "application/json"));
    assert_eq!(send(request.set_payload("{}")).await.json(), json!(["2025-04-01"]));
}

#[actix_web::test]
async fn a_missing_or_wrong_key_is_unauthorized_in_both_forms() {
    for value in ["", "Bearer", "Bearer sk_bad", "Basic sk_good"] {
        let request = post("/merchants/echo-text").insert_header(("Authorization", value));
        assert_eq!(send(request).await.refusal(), refused(400, Code::Unauthorized), "{value}");
    }
    let request = post("/merchants/echo-text").insert_header(("Authorization", "Bearer sk_bad"));
    let received = send(request.insert_header(("Accept", "application/problem+json"))).await;
    assert_eq!((received.status, received.header("www-authenticate")), (401, Some("Bearer")));
    assert_eq!(received.header("content-type"), Some("application/problem+json"));
    assert_eq!(received.json()["code"], "UNAUTHORIZED");
}

#[actix_web::test]
async fn a_caller_that_asks_too_often_is_told_when_to_come_back() {
    let received = send(post("/merchants/list-nothing")).await;
    assert_eq!((received.status, received.header("retry-after")), (429, Some("7")));
}

#[actix_web::test]
async fn a_malformed_body_has_no_faults_and_any_other_has_all_of_them() {
    for body in ["", "[]", "{", "{\"text\":1e999}", "{\"text\":\"a\",\"text\":\"b\"}"] {
        let received = send(post("/merchants/echo-text").set_payload(body)).await;
        assert_eq!((received.code(), &received.json()[2]), ("INVALID_ARGUMENTS".to_owned(), &json!([])), "{body}");
    }
    let received = send(post("/merchants/echo-text").set_payload("{\"txt\":1,\"text\":null}")).await;
    let expected = json!([
        {"type": "missing", "argument": "text", "message": "is required"},
        {"type": "unknown", "argument": "txt", "message": "is not an argument of this endpoint; did you mean text?",
            "suggestion": "text"},
    ]);
    assert_eq!(received.json()[2], expected);
}

#[actix_web::test]
async fn a_sane_request_id_comes_back_with_refusals_too() {
    for path in ["/merchants/echo-text", "/nowhere", "/metrics"] {
        let received = send(post(path).insert_header(("X-Request-Id", "order-17.a_b"))).await;
        assert_eq!(received.header("x-request-id"), Some("order-17.a_b"), "{path}");
    }
    let received = send(post("/merchants/echo-text").insert_header(("X-Request-Id", "<script>"))).await;
    assert!(received.header("x-request-id").is_some_and(|id| id.starts_with("req_")));
}

#[actix_web::test]
async fn a_replayed_answer_says_so_and_a_malformed_key_is_a_fault() {
    let received = send(post("/merchants/echo-text").insert_header(("Idempotency-Key", "again"))).await;
    assert_eq!((received.status, received.header("idempotent-replayed")), (200, Some("true")));
    let received = send(post("/merchants/echo-text").insert_header(("Idempotency-Key", "a\tb"))).await;
    assert_eq!(received.json()[2][0]["argument"], "Idempotency-Key");
}

#[actix_web::test]
async fn a_panic_is_answered_without_its_text() {
    let received = send(post("/merchants/panic-now").set_payload("{}").insert_header(("X-Request-Id", "req-1"))).await;
    assert_eq!(received.refusal(), refused(500, Code::UnhandledError));
    assert_eq!(received.header("x-request-id"), Some("req-1"));
    assert!(!received.json()[1].as_str().unwrap_or_default().contains("secret"));
}

#[actix_web::test]
async fn the_package_document_is_open_to_all_by_get_and_by_post() {
    for request in [
        TestRequest::with_uri("/merchants").method(Method::GET),
        TestRequest::with_uri("/merchants")
            .method(Method::POST)
            .insert_header(("Content-Type", "application/json"))
            .set_payload("{}"),
        TestRequest::with_uri("/2025-04-01/merchants?api_version=2025-04-01").method(Method::GET),
    ] {
        let document = send(request.insert_header(("Host", "till.test:8080"))).await.json();
        assert!(
            document["base_url"]
                .as_str()
                .is_some_and(|url| url.starts_with("http://till.test:8080/") && url.ends_with("/merchants/"))
        );
        let names: Vec<_> =
            document["endpoints"].as_array().into_iter().flatten().map(|endpoint| endpoint["name"].clone()).collect();
        assert_eq!(names, ["available-api-versions", "echo-text", "list-nothing", "panic-now"]);
    }
    assert_eq!(send(post("/sdk").set_payload("{}")).await.json()["endpoints"][0]["name"], "check-status");
    assert_eq!(send(post("/merchants").set_payload("{\"x\":1}")).await.refusal(), refused(400, Code::InvalidArguments));
}

#[actix_web::test]
async fn preflights_of_any_origin_succeed_for_sdk_calls_only() {
    let preflight = |origin: &'static str| {
        let request =
            TestRequest::with_uri("/sdk/check-status").method(Method::OPTIONS).insert_header(("Origin", origin));
        request.insert_header(("Access-Control-Request-Method", "POST"))
    };
    for origin in ["https://shop.example", "https://other.example"] {
        let received = send(preflight(origin)).await;
        assert_eq!((received.status, received.header("access-control-allow-origin")), (204, Some(origin)));
        assert_eq!(received.header("access-control-allow-methods"), Some("POST"));
    }
    assert_eq!(send(preflight("https://shop.example").uri("/merchants/echo-text")).await.status, 405);
}

#[actix_web::test]
async fn a_page_reads_the_answer_once_the_endpoint_allows_it() {
    let page = || {
        let request = TestRequest::with_uri("/sdk/check-status").method(Method::POST);
        request.insert_header(("Content-Type", "application/json")).insert_header(("Origin", "https://shop.example"))
    };
    for body in ["{\"text\":\"hi\"}", "{}"] {
        let received = send(page().set_payload(body)).await;
        assert_eq!(received.header("access-control-allow-origin"), Some("https://shop.example"), "{body}");
    }
    assert_eq!(send(page().set_payload("")).await.header("access-control-allow-origin"), None);
}

#[actix_web::test]
async fn a_secret_key_that_a_page_sends_is_refused_and_the_page_told() {
    let origin = ("Origin", "https://shop.example");
    for key in ["Bearer sk_good", "Bearer sk_of_nobody", "sk_good", "Basic sk_good"] {
        let received =
            send(post("/sdk/check-status").insert_header(("Authorization", key)).insert_header(origin)).await;
        assert_eq!(received.refusal(), refused(400, Code::Forbidden), "{key}");
        assert!(received.json()[1].as_str().is_some_and(|message| message.contains("revoke it with revoke-key")));
        assert_eq!(received.header("access-control-allow-origin"), Some("https://shop.example"));
    }
    assert_eq!(send(post("/sdk/check-status")).await.status, 200, "a server's own call");
    let other = post("/sdk/check-status").insert_header(("Authorization", "Bearer other")).insert_header(origin);
    assert_eq!(send(other).await.status, 200, "no key of Till's");
    let of_step = json!({ "steps": [{
        "url": "http://localhost:8080/merchants/echo-text", "headers": { "Authorization": "Bearer sk_good" },
        "body": { "text": "hi" },
    }] });
    let of_step = post("/sdk/pipeline").insert_header(("Authorization", "")).set_payload(of_step.to_string());
    for leaking in [pipeline("sdk", &["/sdk/check-status"]), of_step] {
        let received = send(leaking.insert_header(origin)).await;
        assert_eq!(received.refusal(), refused(400, Code::Forbidden));
        assert_eq!(received.header("access-control-allow-origin"), Some("https://shop.example"));
    }
}

#[actix_web::test]
async fn the_operator_s_tools_need_no_token() {
    let get = |path: &str| TestRequest::with_uri(path).method(Method::GET);
    let metrics = send(get("/metrics")).await;
    assert_eq!((metrics.status, metrics.body.as_slice()), (200, b"up 1\n".as_slice()));
    assert_eq!(send(get("/health/live")).await.json(), json!({"status": "live"}));
    let ready = send(get("/health/ready")).await;
    assert_eq!((ready.refusal(), ready.header("retry-after")), (refused(503, Code::Unavailable), Some("1")));
}

#[actix_web::test]
async fn a_long_answer_is_compressed_when_asked_for() {
    let text = "x".repeat(5000);
    let request = || post("/merchants/echo-text").set_payload(json!({ "text": text }).to_string());
    let received = send(request().insert_header(("Accept-Encoding", "gzip"))).await;
    assert_eq!(received.header("content-encoding"), Some("gzip"));
    assert!(received.body.len() < 500);
    assert_eq!(send(request()).await.header("content-encoding"), None);
}

/// Serves on a thread of its own, with one thread for requests, for behaviour that only a socket shows.
pub(super) fn serve(dispatcher: Arc<Dispatcher<Key>>) -> std::net::SocketAddr {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let settings = ListenerSettings {
                name: "test",
                begin_thread: |_| {},
                workers: 1,
                connections: ConnectionLimits::in_all(100, Duration::from_secs(60)),
                forwarded: None,
                tls: None,
                pulse: None,
            };
            let reserved = ReservedAddress::reserve(([127, 0, 0, 1], 0).into());
            let listener = reserved.and_then(|reserved| Listener::listen(reserved, dispatcher, &settings));
            let listener = listener.unwrap_or_else(|error| panic!("{error}"));
            let _ = send.send(listener.address);
            let _ = listener.server.await;
        });
    });
    receive.recv().unwrap_or_else(|error| panic!("{error}"))
}

fn connect() -> TcpStream {
    let stream = TcpStream::connect(serve(dispatcher())).unwrap_or_else(|error| panic!("{error}"));
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap_or_else(|error| panic!("{error}"));
    stream
}

const HEAD: &str = "POST /merchants/echo-text HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk_good\r\nContent-Type: \
    application/json\r\n";

/// Writes as much as it can, and reads to the end or until the answer contains `last`.
fn exchange(mut stream: TcpStream, parts: &[&[u8]], last: &str) -> String {
    for part in parts {
        if stream.write_all(part).is_err() {
            break; // The server has already answered and closed.
        }
    }
    let (mut received, mut buffer) = (String::new(), [0_u8; 4096]);
    while !received.contains(last) {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(count) => received.push_str(&String::from_utf8_lossy(&buffer[..count])),
        }
    }
    received
}

#[test]
fn a_body_without_a_length_is_cut_off_at_the_limit() {
    let chunk = [b"10000\r\n".as_slice(), &[b' '; 0x10000], b"\r\n"].concat();
    let head = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n");
    let mut parts = vec![head.as_bytes()];
    parts.extend(std::iter::repeat_n(chunk.as_slice(), 40));
    let answer = exchange(connect(), &parts, "BODY_TOO_LARGE");
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("BODY_TOO_LARGE"), "{answer}");
}

#[test]
fn a_body_announced_as_too_large_is_refused_before_it_is_sent() {
    let answer = exchange(connect(), &[format!("{HEAD}Content-Length: 1048577\r\n\r\n").as_bytes()], "BODY_TOO_LARGE");
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("BODY_TOO_LARGE"), "{answer}");
}

#[test]
fn a_body_of_exactly_the_limit_is_read() {
    let body = format!("{{\"text\":\"{}\"}}", "x".repeat(BODY_BYTES_MAX - 11));
    let head = format!("{HEAD}Connection: close\r\nContent-Length: {}\r\n\r\n", body.len());
    let answer = exchange(connect(), &[head.as_bytes(), body.as_bytes()], "HTTP/1.1 200");
    assert!(answer.starts_with("HTTP/1.1 200"), "{}", &answer[..200.min(answer.len())]);
}

#[test]
fn the_next_request_is_read_after_a_refusal_with_an_unread_body() {
    let refused = "POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 13\r\n\r\n{\"text\":\"hi\"}";
    let good = format!("{HEAD}Connection: close\r\nContent-Length: 13\r\n\r\n{{\"text\":\"hi\"}}");
    let answer = exchange(connect(), &[refused.as_bytes(), good.as_bytes()], "\"hi\"");
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    let second = answer.rsplit("HTTP/1.1 ").next().unwrap_or_default();
    assert!(second.starts_with("200"), "{answer}");
}

#[test]
fn head_of_the_package_has_its_headers_and_no_body() {
    let answer = exchange(
        connect(),
        &[b"HEAD /merchants HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
        "no end but the end",
    );
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.ends_with("\r\n\r\n") && !answer.contains("endpoints"),
        "{answer}"
    );
}

/// A pipeline of calls to these paths, each with a body that `echo-text` takes.
fn pipeline(package: &str, paths: &[&str]) -> TestRequest {
    let step = |path: &&str| json!({ "url": format!("http://localhost:8080{path}"), "body": { "text": "hi" } });
    let body = json!({ "steps": paths.iter().map(step).collect::<Vec<_>>() });
    post(&format!("/{package}/pipeline")).set_payload(body.to_string())
}

#[actix_web::test]
async fn a_page_reads_a_pipelines_answer_when_it_may_read_every_steps() {
    let origin = ("Origin", "https://shop.example");
    let readable =
        |received: &TestResponse| received.header("access-control-allow-origin") == Some("https://shop.example");
    let of_page =
        |paths| pipeline("sdk", paths).insert_header(origin).insert_header(("Authorization", "Bearer no_key"));
    let granted = ["/sdk/check-status", "/sdk/check-status"];
    let received = send(of_page(&granted)).await;
    assert_eq!((received.status, received.json(), readable(&received)), (200, json!(["hi", "hi"]), true));
    let one_without = ["/sdk/check-status", "/merchants/panic-now"];
    assert!(!readable(&send(of_page(&one_without)).await));
    let asks = TestRequest::with_uri("/sdk/pipeline").method(Method::OPTIONS).insert_header(origin);
    let preflight = send(asks.insert_header(("Access-Control-Request-Method", "POST"))).await;
    assert_eq!((preflight.status, readable(&preflight)), (204, true));
    assert_eq!(send(pipeline("merchants", &granted).method(Method::OPTIONS)).await.status, 405);
}

#[actix_web::test]
async fn a_step_that_panics_or_is_refused_ends_its_pipeline() {
    let received = send(pipeline("merchants", &["/merchants/echo-text", "/merchants/panic-now"])).await;
    assert_eq!(received.refusal(), refused(500, Code::UnhandledError));
    let received = send(pipeline("merchants", &["/merchants/list-nothing"])).await;
    assert_eq!((received.refusal(), received.header("retry-after")), (refused(429, Code::RateLimited), Some("7")));
}

#[actix_web::test]
async fn a_full_answer_budget_refuses_a_step_that_changes_something() {
    let dispatcher = dispatcher();
    let (request, payload) = pipeline("merchants", &["/merchants/echo-text"]).to_http_parts();
    let all = reserve(&dispatcher.answer_budget, UNFETCHED_BYTES_MAX, true);
    assert_eq!(dispatcher.handle(&request, payload, &entrance()).await.status(), 503);
    drop(all);
}

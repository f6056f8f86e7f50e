//! Calls that belong on the worker pool, as the dispatcher passes them on.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use super::judgement_tests::{ECHO, Hooks, Key, TestResponse, post, send_to};
use super::{Call, CallLimits, Dispatcher, Reply, WorkerPool, endpoint};
use crate::api_error::ApiError;
use crate::connection::ShareOf;
use crate::declaration::{Declaration, Flags, Package};
use crate::field;
use crate::request_thread::{self, LARGE_BYTES};

static COMMAND: Declaration = Declaration { name: "name-thread", ..ECHO };
static QUERY: Declaration = Declaration { name: "list-letters", flags: Flags::QUERY, ..ECHO };
static FIND: Declaration = Declaration { name: "find-letters", flags: Flags::QUERY, ..ECHO };
static SEARCH: Declaration = Declaration { name: "search-letters", flags: Flags::QUERY, ..ECHO };

/// The number of times that an endpoint was started.
type Begun = Arc<AtomicUsize>;

fn text(call: &Call<Key>) -> Result<String, ApiError> {
    let mut fields = call.fields();
    let text = fields.required("text", field::text(1..=LARGE_BYTES + 1));
    fields.finish(|| text)
}

fn this_thread() -> String {
    format!("{:?}", thread::current().id())
}

async fn name_thread((): (), call: Call<Key>) -> Result<Reply, ApiError> {
    text(&call).map(|_| Reply::new(&this_thread()))
}

/// Answers a page with the number of letters that its text names.
async fn list_letters(begun: Begun, call: Call<Key>) -> Result<Reply, ApiError> {
    begun.fetch_add(1, Ordering::SeqCst);
    let count = text(&call)?.parse().unwrap_or_else(|error| panic!("{error}"));
    Reply::list_page(&json!({ "thread": this_thread(), "letters": "x".repeat(count) }))
}

/// Answers as many letters as its text names.
async fn find_letters((): (), call: Call<Key>) -> Result<Reply, ApiError> {
    Ok(Reply::new(&"x".repeat(text(&call)?.parse().unwrap_or_else(|error| panic!("{error}")))))
}

async fn search_letters(begun: Begun, _: Call<Key>) -> Result<Reply, ApiError> {
    begun.fetch_add(1, Ordering::SeqCst);
    request_thread::interrupt_scan().await?;
    Ok(Reply::new(&json!({ "thread": this_thread() })))
}

/// Answers the calls that hold a permit of either kind while it waits for somebody else.
async fn count_permits((limits, pool): (CallLimits, WorkerPool), call: Call<Key>) -> Result<Reply, ApiError> {
    text(&call)?;
    let before = limits.count().in_flight + pool.count().in_flight;
    call.give_permit_back();
    Ok(Reply::new(&[before, limits.count().in_flight + pool.count().in_flight]))
}

/// Sends this text to an endpoint. Also returns the number of times that the endpoint was started.
async fn sent(path: &str, text: &str, accepted: &str) -> (TestResponse, usize) {
    let begun = Begun::default();
    let hooks = Arc::new(Hooks);
    let dispatcher = Dispatcher::builder(&[Package::Merchants], hooks.clone())
        .function(endpoint(&COMMAND, (), name_thread))
        .function(endpoint(&QUERY, Arc::clone(&begun), list_letters))
        .function(endpoint(&SEARCH, Arc::clone(&begun), search_letters))
        .gate(hooks)
        .build();
    let body = json!({ "text": text }).to_string();
    let request = post(path).insert_header(("Accept-Encoding", accepted)).set_payload(body);
    let received = send_to(&Arc::new(dispatcher), request).await;
    assert_eq!(received.status, 200);
    (received, begun.load(Ordering::SeqCst))
}

#[actix_web::test]
async fn only_large_calls_run_on_the_worker_pool() {
    let (small, _) = sent("/merchants/name-thread", "a", "").await;
    assert_eq!(small.json(), json!(this_thread()));
    let (large, _) = sent("/merchants/name-thread", &"a".repeat(LARGE_BYTES), "").await;
    assert_ne!(large.json(), json!(this_thread()));
}

#[actix_web::test]
async fn a_call_that_waits_for_others_can_give_its_permit_back() {
    for length in [1, LARGE_BYTES] {
        let (hooks, limits, pool) = (Arc::new(Hooks), CallLimits::new(1), WorkerPool::start(1, |_| {}));
        let dispatcher = Dispatcher::builder(&[Package::Merchants], hooks.clone())
            .function(endpoint(&COMMAND, (limits.clone(), pool.clone()), count_permits))
            .limits(limits)
            .pool(pool)
            .gate(hooks)
            .build();
        let body = json!({ "text": "a".repeat(length) }).to_string();
        let request = post("/merchants/name-thread").set_payload(body);
        let received = send_to(&Arc::new(dispatcher), request).await;
        assert_eq!(received.json(), json!([1, 0]), "{length} bytes");
    }
}

#[actix_web::test]
async fn a_list_with_a_large_page_begins_anew_on_the_worker_pool() {
    let (small, begun) = sent("/merchants/list-letters", "9", "").await;
    assert_eq!((small.json()["thread"].as_str(), begun), (Some(this_thread().as_str()), 1));
    let (large, begun) = sent("/merchants/list-letters", "100000", "").await;
    assert_eq!(large.json()["letters"].as_str().map(str::len), Some(100_000));
    assert_ne!(large.json()["thread"], json!(this_thread()));
    assert_eq!(begun, 2);
}

#[actix_web::test]
async fn a_long_search_goes_on_on_the_worker_pool() {
    let (found, begun) = sent("/merchants/search-letters", "a", "").await;
    assert_ne!(found.json()["thread"], json!(this_thread()));
    assert_eq!(begun, 2);
}

#[actix_web::test]
async fn a_large_answer_is_compressed_as_a_small_one_is() {
    for count in ["2000", "100000"] {
        let (received, _) = sent("/merchants/list-letters", count, "gzip").await;
        assert_eq!(received.header("content-encoding"), Some("gzip"), "{count}");
        let mut text = String::new();
        let decoded = flate2::read::GzDecoder::new(received.body.as_slice()).read_to_string(&mut text);
        assert!(decoded.is_ok() && received.body.len() < 1_000, "{count}: {decoded:?}");
        let answer: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(answer["letters"].as_str().map(|letters| letters.len().to_string()).as_deref(), Some(count));
    }
}

#[actix_web::test]
async fn a_large_answer_is_compressed_in_the_share_of_the_key_that_was_shown() {
    let (hooks, pool) = (Arc::new(Hooks), WorkerPool::start(2, |_| {}));
    let dispatcher = Dispatcher::builder(&[Package::Merchants], hooks.clone())
        .function(endpoint(&FIND, (), find_letters))
        .pool(pool.clone())
        .gate(hooks)
        .build();
    let held = pool.permit(ShareOf::Address([127, 0, 0, 9].into())).await;
    assert!(held.is_ok(), "callers without a key have all of theirs");
    let body = json!({ "text": "100000" }).to_string();
    let call = post("/merchants/find-letters").insert_header(("Accept-Encoding", "gzip")).set_payload(body);
    let received = send_to(&Arc::new(dispatcher), call).await;
    assert_eq!((received.status, received.header("content-encoding")), (200, Some("gzip")));
}

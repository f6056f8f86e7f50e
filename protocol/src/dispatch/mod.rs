//! From a request to a call, and from its outcome to a response. `dispatcher.rs` has the order of the checks, each of
//! which has a file of its own. Endpoints use `call.rs`; the dispatcher uses the rest of the program through
//! `hooks.rs`.

mod answer;
mod checked_call;
mod bearer;
mod body;
mod call;
mod call_limits;
mod calls;
mod concurrency;
mod cross_origin;
mod dispatcher;
mod documents;
mod encoding;
mod entrance;
mod exchange;
mod hooks;
mod hosts;
mod idempotency_key;
#[cfg(test)]
mod judgement_tests;
mod large_answers;
#[cfg(test)]
mod large_calls_tests;
mod page;
mod page_calls;
mod page_cookies;
mod page_judgement;
mod page_reply;
mod page_response;
#[cfg(test)]
mod page_turn_tests;
mod path;
mod pipeline;
mod rates;
mod raw_endpoint;
#[cfg(test)]
mod raw_endpoint_tests;
mod raw_judgement;
mod request_id;
mod log_subject;
mod log_throttle;
mod table;
mod target;
mod unknown_path;
mod without_request;
mod worker_pool;

pub use call::{Call, Function, Reply, endpoint};
pub use call_limits::CallLimits;
pub use concurrency::{CallCount, Concurrency, ConcurrencyLimit, Permit};
pub use dispatcher::Dispatcher;
pub use entrance::Entrance;
pub use hooks::{AdmissionGate, Arrival, Authenticate, AuthenticatedCaller, NoToken, Observe};
pub use hosts::Hosts;
pub(super) use large_answers::SLICE_BYTES;
pub use page::{
    BrowserPage, BrowserPages, BrowserRequest, IDEMPOTENCY_FIELD, PageDeclaration, PostedForm, browser_page,
    session_page,
};
pub use page_cookies::PageCookies;
pub use page_reply::{PageAsset, PageReply};
pub use path::UNKNOWN_PATH;
pub use rates::CallsPerSecond;
pub use raw_endpoint::{JudgeBody, RawEndpoint};
pub use request_id::RequestId;
pub(super) use without_request::{HEAD_ARRIVAL_MAX, answer_to_refused_connection, answer_to_unreadable};
pub use worker_pool::WorkerPool;

//! From a request to a call, and from its outcome to a response: the order of judgement stands in
//! `dispatcher.rs`, each of its steps in a file of its own. Endpoints see `call.rs`; the rest of the program is asked
//! through `hooks.rs`.

mod answer;
mod bearer;
mod body;
mod call;
mod cross_origin;
mod dispatcher;
mod encoding;
mod hooks;
mod idempotency_key;
#[cfg(test)]
mod judgement_tests;
mod limits;
mod path;
mod request_id;
mod table;

pub use body::BODY_BYTES_MAX;
pub use call::{Call, Function, Reply, endpoint};
pub use dispatcher::Dispatcher;
pub use hooks::{Arrival, Authenticate, Caller, Gate, Observe, Origins, Permit};
pub use limits::{CallsInFlight, CallsInFlightPerKey, CallsPerSecond};
pub use request_id::RequestId;
pub use table::DispatcherBuilder;

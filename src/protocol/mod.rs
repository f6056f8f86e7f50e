//! The Web Function protocol: how bytes become a checked call, and how an answer becomes bytes.
//!
//! To read from the bottom up: `json`, what can be wrong with a body (`fault`, `fields`), single arguments
//! (`field`), how a refusal is answered (`api_error`), how endpoints are declared (`declaration`), and the
//! dispatcher that judges a request (`dispatch`), or each step of several in one (`pipelining`), behind its socket
//! (`transport`).

pub mod api_error;
pub mod declaration;
pub mod dispatch;
pub mod fault;
pub mod field;
pub mod fields;
pub mod json;
mod pipelining;
pub mod quality;
pub(crate) mod request_thread;
mod swagger_ui;
pub mod transport;
pub mod version;

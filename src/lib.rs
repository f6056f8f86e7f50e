//! Till, a payments server for merchants: the edge, where HTTP becomes commands and answers.
//!
//! The modules are private. What other programs of this repository use is re-exported below.

// The endpoints.
mod endpoints;

// Pages for customers.
#[cfg(feature = "pages")]
mod pages;

// Files for spreadsheets.
mod csv;

// Signing in.
#[cfg(feature = "pages")]
mod seats;

// Services for endpoints.
mod access;
mod service;

// Building, starting and watching the program.
mod configuration;
mod process;
mod startup;
mod counted;
mod exposition;
mod server_status;
mod supervision;
mod tls;
mod demo;

// The command line.
mod commands;

// For the binary.
pub use commands::{Arguments, parse, run};

// For the load tester, whose command line has the same settings and exit codes.
pub use commands::{ExitCode, Settings};
pub use configuration::{Configuration, Layers, Secrets, settings_in_markdown};
pub use process::VERSION;
pub use process::owner_only::{keep_memory_to_the_process, make_files_for_the_owner_only};

// For the generator of stores, which opens a data directory and makes merchants, keys and cards as endpoints do.
pub use endpoints::admin::fresh_merchant_id;
pub use endpoints::sdk::card_facts;
pub use endpoints::{fresh_key, key_of};
pub use startup::{Buffers, Opened, abort_with_message, check_directory, open_with};

// For tests that serve the endpoints in their own process, on a store in memory.
pub use access::{AdminToken, KeyAuthentication, Operator};
pub use endpoints::admin::functions as admin_endpoints;
pub use endpoints::merchants::functions as merchant_endpoints;
pub use endpoints::sdk::functions as sdk_endpoints;
#[cfg(feature = "pages")]
pub use pages::browser_pages;
pub use service::{LastUsed, NoteFiles, OnDisk, SdkRate, SdkWrites, Service, ServiceParts, Shared};
pub use till_protocol::connection::ConnectionLimits;
pub use till_protocol::declaration::Package;
pub use till_protocol::dispatch::{Dispatcher, Entrance};
pub use till_protocol::transport::{Listener, ListenerSettings, ReservedAddress};

// For tests that compare answers and documents with what the program says.
pub use till_protocol::api_error::{ApiError, Code, Form};
pub use tls::trusting;

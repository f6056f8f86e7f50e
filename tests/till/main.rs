//! Black-box tests: the real binary over HTTP and the command line.

#[expect(dead_code, unused_imports, reason = "harness of more tests than are here")]
mod harness;

mod activity_filters;
mod activity_paging;
mod keys;
mod list_payments;
mod team;

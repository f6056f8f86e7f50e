//! Black-box tests: the real binary over HTTP and the command line.

mod harness;
mod first_payment;
mod documents;
mod hostile;
mod operator;
mod protocol;
mod crash;
mod damage;
mod initiate;
mod sdk;
mod lists;
mod concurrency;
mod isolation;
mod activity_filters;
mod activity_paging;
mod keys;
mod list_payments;
mod team;
mod metadata;
mod bench;

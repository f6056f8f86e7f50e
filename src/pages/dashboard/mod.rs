//! The merchant's dashboard: contract, section 13. A page is one or a few calls of `/merchants`, made in the name of
//! the member who is signed in. `lists.rs` and `forms.rs` have the pages, a line or a few for each.

mod all;
mod lists;
mod forms;
mod home;
mod payment;
mod chart;
mod files;
mod seat;
mod account;
mod joining;
mod session;
mod sign_in;

pub(super) use all::pages;

#[cfg(test)]
mod page_tests;

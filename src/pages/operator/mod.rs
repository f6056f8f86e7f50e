//! The operator's pages, on the admin listener: contract, section 14. A page is one or a few calls of `/admin`, made in
//! the name of the operator who signed in with the admin token. `tables.rs` has the pages, a line or a few for each.

mod all;
mod overview;
mod merchant;
mod seat;
mod session;
mod tables;

pub(super) use all::pages;

#[cfg(test)]
mod page_tests;

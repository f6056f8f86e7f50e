//! The merchant's dashboard: contract, section 13. A page is one or a few calls of `/merchants`, made in the name of
//! the member who is signed in; columns, filters and fields follow from the declarations of these calls. `lists.rs` and
//! `forms.rs` have the pages, a line or a few for each.

mod all;
mod lists;
mod home;
mod payment;
mod files;
mod list;
mod form;
mod page;
mod chart;
mod visit;
mod account;
mod joining;
mod session;
mod sign_in;
mod table;
mod forms;
mod field;
mod given;
mod entered_amount;
mod cell;
mod words;
mod assets;

pub(super) use all::pages;
pub(super) use assets::STYLE_ASSET;

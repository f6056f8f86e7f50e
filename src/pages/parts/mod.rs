//! Pages for those who are signed in, which follow from the declarations of calls: lists with their filters, objects,
//! and forms. Columns, filters and fields are those of the declarations; whoever has such pages names them in tables, a
//! line or a few for each.

pub(super) mod assets;
mod words;
mod entered_amount;
mod cell;
mod table;
mod given;
mod field;
mod forms;
mod lists;
mod seat;
mod visit;
mod page;
mod form;
mod list;

pub(super) use cell::{Cell, Labelled, Merchant, state};
pub(super) use forms::{After, FormPage, When, forms};
pub(super) use given::Given;
pub(super) use lists::{ListPage, ObjectPage, Part, lists, objects, parts};
pub(super) use page::{Form, Page, Section, form_key};
pub(super) use seat::{Seat, Site};
pub(super) use table::{Link, Table, number};
pub(super) use visit::Visit;
pub(super) use words::words;
pub(super) use {form::open as open_form, list::open as open_list, list::open_object, list::parts as parts_of};

#[cfg(test)]
pub(super) mod site_tests;

//! Pages of lists and of objects, and what else stands on a page.

use till_protocol::dispatch::PageDeclaration;

/// A page of a list.
#[derive(Debug)]
pub(in crate::pages) struct ListPage {
    pub(in crate::pages) page: PageDeclaration,
    pub(in crate::pages) title: &'static str,
    /// The name of its call.
    pub(in crate::pages) call: &'static str,
    /// The members that are shown of each entry, with spaces between them.
    pub(in crate::pages) columns: &'static str,
    /// What is said where there is nothing yet.
    pub(in crate::pages) empty: &'static str,
    /// True for a search: nothing is listed before something is asked for, and the navigation does not have it.
    pub(in crate::pages) is_search: bool,
}

/// A page of an object.
#[derive(Debug)]
pub(in crate::pages) struct ObjectPage {
    pub(in crate::pages) page: PageDeclaration,
    /// The name of the call that finds it, and its argument.
    pub(in crate::pages) call: &'static str,
    pub(in crate::pages) argument: &'static str,
}

/// What stands on a page beside its own list or object: what another call lists, or members of what it finds.
#[derive(Debug)]
pub(in crate::pages) struct Part {
    /// The pattern of the page.
    pub(in crate::pages) of: &'static str,
    pub(in crate::pages) title: &'static str,
    pub(in crate::pages) call: &'static str,
    /// The argument by which it belongs to the object of its page; empty without one.
    pub(in crate::pages) by: &'static str,
    pub(in crate::pages) columns: &'static str,
}

/// Lists below a first page: path, title, call, columns, and what is said where there is nothing yet.
macro_rules! lists {
    ($base:literal; $($path:literal $title:literal $call:literal $columns:literal $empty:literal;)+) => {
        [$($crate::pages::parts::ListPage {
            page: till_protocol::dispatch::PageDeclaration { pattern: concat!($base, $path), has_form: false },
            title: $title, call: $call, columns: $columns, empty: $empty, is_search: false,
        }),+]
    };
}

/// Objects below a first page: the path of their list, the call that finds one, and its argument.
macro_rules! objects {
    ($base:literal; $($path:literal $call:literal $argument:literal;)+) => {
        [$($crate::pages::parts::ObjectPage {
            page: till_protocol::dispatch::PageDeclaration {
                pattern: concat!($base, $path, "/{", $argument, "}"), has_form: false,
            },
            call: $call, argument: $argument,
        }),+]
    };
}

/// What else stands on pages: path, title, call, the argument by which it belongs to the object of the page, columns.
macro_rules! parts {
    ($base:literal; $($of:literal $title:literal $call:literal $by:literal $columns:literal;)+) => {
        [$($crate::pages::parts::Part {
            of: concat!($base, $of), title: $title, call: $call, by: $by, columns: $columns,
        }),+]
    };
}

pub(in crate::pages) use {lists, objects, parts};

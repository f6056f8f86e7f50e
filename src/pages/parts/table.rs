//! Tables of a page.

use super::cell::{Cell, Labelled};

/// A link to another page of the dashboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::pages) struct Link {
    pub(in crate::pages) label: String,
    pub(in crate::pages) href: String,
}

/// A table of a page.
#[derive(Debug, Default)]
pub(in crate::pages) struct Table {
    pub(in crate::pages) name: String,
    /// True when the heading of the page has the same words.
    pub(in crate::pages) is_main: bool,
    pub(in crate::pages) rows: Vec<Row>,
    /// What is said where there are no rows.
    pub(in crate::pages) empty: String,
    /// The pages of newer and of older entries.
    pub(in crate::pages) newer: Option<String>,
    pub(in crate::pages) older: Option<String>,
}

/// A row of a table.
#[derive(Debug, Default)]
pub(in crate::pages) struct Row {
    /// The values, each with the label of its column.
    pub(in crate::pages) cells: Vec<Labelled>,
    /// What can be done with it.
    pub(in crate::pages) acts: Vec<Link>,
}

impl Link {
    pub(in crate::pages) fn new(label: impl Into<String>, href: impl Into<String>) -> Link {
        Link { label: label.into(), href: href.into() }
    }
}

impl Table {
    /// A table of these rows.
    pub(in crate::pages) fn new(name: &str, empty: &str, rows: impl Iterator<Item = Vec<Labelled>>) -> Table {
        let rows = rows.map(|cells| Row { cells, acts: Vec::new() }).collect();
        Table { name: name.to_owned(), empty: empty.to_owned(), rows, ..Table::default() }
    }

    /// The labels of the columns, each with the look of its values.
    pub(in crate::pages) fn heads(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rows.first().into_iter().flat_map(|row| row.cells.iter().map(|(label, cell)| (label.as_str(), cell.look)))
    }

    /// True when something can be done with one of the rows.
    pub(in crate::pages) fn has_acts(&self) -> bool {
        self.rows.iter().any(|row| !row.acts.is_empty())
    }
}

/// A number with the label of its column.
pub(in crate::pages) fn number(label: &str, text: String) -> Labelled {
    (label.to_owned(), Cell { text, look: "number", href: None })
}

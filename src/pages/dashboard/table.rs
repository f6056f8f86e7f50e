//! Tables of a page.

use super::cell::{Cell, Labelled};

/// A link to another page of the dashboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) label: String,
    pub(super) href: String,
}

/// A table of a page.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) name: String,
    /// True when the heading of the page has the same words.
    pub(super) is_main: bool,
    pub(super) rows: Vec<Row>,
    /// What is said where there are no rows.
    pub(super) empty: String,
    /// The pages of newer and of older entries.
    pub(super) newer: Option<String>,
    pub(super) older: Option<String>,
}

/// A row of a table.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// The values, each with the label of its column.
    pub(super) cells: Vec<Labelled>,
    /// What can be done with it.
    pub(super) acts: Vec<Link>,
}

impl Link {
    pub(super) fn new(label: impl Into<String>, href: impl Into<String>) -> Link {
        Link { label: label.into(), href: href.into() }
    }
}

impl Table {
    /// A table of these rows.
    pub(super) fn new(name: &str, empty: &str, rows: impl Iterator<Item = Vec<Labelled>>) -> Table {
        let rows = rows.map(|cells| Row { cells, acts: Vec::new() }).collect();
        Table { name: name.to_owned(), empty: empty.to_owned(), rows, ..Table::default() }
    }

    /// The labels of the columns, each with the look of its values.
    pub(super) fn heads(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rows.first().into_iter().flat_map(|row| row.cells.iter().map(|(label, cell)| (label.as_str(), cell.look)))
    }

    /// True when something can be done with one of the rows.
    pub(super) fn has_acts(&self) -> bool {
        self.rows.iter().any(|row| !row.acts.is_empty())
    }
}

/// A number with the label of its column.
pub(super) fn number(label: &str, text: String) -> Labelled {
    (label.to_owned(), Cell { text, look: "number", href: None })
}

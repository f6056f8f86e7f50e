//! Pages of lists.

/// The directions in which a list continues beyond a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beside {
    /// True when there are newer entries.
    pub newer: bool,
    /// True when there are older entries.
    pub older: bool,
}

//! Searches of lists: every filter is a range of an index or a union of several; filters together are their
//! intersection. A filter that no index decides is checked on the rows.

mod activity_terms;
mod known_entries;
mod merge;
mod payment_filters;
mod payment_terms;
#[expect(clippy::module_inception, reason = "one page of a search, beside the ranges and the texts that it is made of")]
mod search;

#[cfg(test)]
mod activity_tests;
#[cfg(test)]
mod payment_tests;
#[cfg(test)]
mod test_list;

pub(crate) use activity_terms::ActivityTerms;
pub(crate) use payment_filters::{AmountRange, PaymentFilters};
pub(crate) use search::{Selection, search};

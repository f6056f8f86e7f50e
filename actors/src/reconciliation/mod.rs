//! Reconciliation: the acquirer's own list of the money of an account, compared with Till's captures and refunds.

mod findings;
mod comparison;
mod reconciliations;

pub use findings::{
    Compared, DIFFERENCES_MAX, Difference, DifferenceCounts, DifferenceKind, ReconciledRange, Reconciliation,
};
pub use reconciliations::{NotReconciled, Reconciliations};

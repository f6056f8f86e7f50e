//! The plan of a measurement: read from the command line, checked as a whole.

mod fail_if;
mod load;
mod parameters;
mod scenario;
mod stages;
mod units;

pub use fail_if::{FailIf, Metric};
pub use load::{Knob, Skew, Sweep};
pub use parameters::Plan;
#[cfg(test)]
pub(crate) use parameters::examples;
pub use scenario::{Scenario, ScenarioKind};
pub use stages::{Rates, Stages};
pub use units::{Span, parse_rate, parse_share};

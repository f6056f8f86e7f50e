//! What is to be measured, and how: read from the command line, checked as a whole.

mod fail_if;
mod load;
pub(crate) mod parameters;
mod plan_faults;
mod scenario;
mod units;

pub use fail_if::{FailIf, Metric};
pub use load::{Knob, Load, SearchGoal, Skew, Sweep};
pub use parameters::{ListWork, MetadataWork, Plan, Webhooks};
pub use plan_faults::PlanFaults;
pub use scenario::{Filter, Kind, Scenario, Weights};
pub use units::{Seconds, parse_rate, parse_share, parse_span};

//! The plan of a measurement: read from the command line, checked as a whole.

mod fail_if;
mod load;
pub(crate) mod parameters;
mod plan_faults;
mod scenario;
mod units;

pub use fail_if::{FailIf, Metric};
pub use load::{Knob, LoadMode, SearchGoal, Skew, Sweep};
pub use parameters::{ListWork, MetadataWork, Plan, Webhooks};
pub use plan_faults::PlanFaults;
pub use scenario::{Filter, Scenario, ScenarioKind, Weights};
pub use units::{Seconds, parse_rate, parse_share, parse_span};

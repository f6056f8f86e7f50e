//! The faults of a plan.

use std::ops::RangeInclusive;

/// All faults of a plan, one in each line.
#[derive(Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("this cannot be measured:\n  {}", .0.join("\n  "))]
pub struct PlanFaults(Vec<String>);

impl PlanFaults {
    pub(super) fn add(&mut self, fault: &str) {
        self.0.push(fault.to_owned());
    }

    pub(super) fn check_range(&mut self, flag: &str, value: usize, range: RangeInclusive<usize>) {
        if !range.contains(&value) {
            self.0.push(format!("{flag}: must be from {} to {}, not {value}", range.start(), range.end()));
        }
    }

    pub(super) fn into_result(self) -> Result<(), PlanFaults> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}

//! The times at which calls are made.

mod alarm;
mod pace;
mod turns;

pub(crate) use pace::CallSchedule;
pub(crate) use turns::{Turns, keep_pace};

//! When calls are made.

mod alarm;
mod pace;
mod turns;

pub(in crate::bench) use pace::Pace;
pub(in crate::bench) use turns::{Turns, keep_pace};

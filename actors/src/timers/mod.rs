//! Timers: what is due by a merchant's time, and the advance of test clocks from one timer to the next.

mod service;
mod calls_under_way;
mod advancer;

pub(crate) use advancer::Advancer;
pub(crate) use service::TimerService;

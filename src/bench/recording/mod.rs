//! What was seen: latencies in histograms, failures by code, answers that are wrong.

mod interval;
mod latency;
mod recorder;
mod step;
mod tally;

pub(in crate::bench) use interval::{Interval, Moment, Timeline};
pub(in crate::bench) use latency::{Latency, Percentile};
pub(in crate::bench) use recorder::{Recorder, Window};
pub(in crate::bench) use step::{Step, Trouble};
pub(in crate::bench) use tally::{Failure, Tally};

//! Recording of results: latencies in histograms, failures by code, wrong answers.

mod interval;
mod latency;
mod recorder;
mod step;
mod tally;

pub(crate) use interval::{Interval, Moment, Timeline};
pub(crate) use latency::{Latency, Percentile};
pub(crate) use recorder::{Recorder, Silence, Window};
pub(crate) use step::{Step, Trouble};
pub(crate) use tally::{Failure, Tally};

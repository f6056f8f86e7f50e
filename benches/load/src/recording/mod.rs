//! What was seen: latencies in histograms, failures by code, answers that are wrong.

mod interval;
mod latency;
mod processor_time;
mod recorder;
mod step;
mod tally;

pub(crate) use interval::{Interval, Moment, Timeline};
pub(crate) use latency::{Latency, Percentile};
pub(crate) use processor_time::{BUSY_SHARE, ProcessorTime};
pub(crate) use recorder::{Recorder, Silence, Window};
pub(crate) use step::{Step, Trouble};
pub(crate) use tally::{Failure, Tally};

//! Recording of results: latencies in histograms, failures by code, wrong answers.

mod interval;
mod latency;
mod processor_time;
mod recorder;
mod step;
mod tally;

pub(crate) use interval::{Interval, Timeline, TimelinePoint};
pub(crate) use latency::Latency;
pub(crate) use processor_time::{BUSY_SHARE, ProcessorTime};
pub(crate) use recorder::{Recorder, Silence, Window};
pub(crate) use step::{MeasuredStep, Trouble};
pub(crate) use tally::{CustomerCounts, FailureCount, MadeObject, RunTally, Wrong};

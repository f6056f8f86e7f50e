//! Pipelining: several calls in one request, in which later ones refer to the answers of earlier ones.
//!
//! Read it from the bottom up: paths into results (`json_path`, read by `path_parser`), which are looked up in their
//! text (`json_text`), the results themselves (`results`), a step's body with its references replaced (`references`),
//! addresses of steps (`address`), and everything that is read of a pipeline before its first step (`plan`). The
//! dispatcher runs it, and checks each step as a call of its own.
//!
//! Source: webfunction.org/pipelining.

mod address;
mod declaration;
mod json_path;
mod json_text;
mod path_parser;
mod plan;
mod references;
mod results;

pub(super) use address::Address;
pub(super) use declaration::declaration;
pub(super) use plan::{PipelinePlan, PipelineStep};
pub(super) use results::{Results, Sink};

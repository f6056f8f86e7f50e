//! A report is put together from the results of a command, with sentences about them.

use jiff::Timestamp;

use super::document::{Document, Origin, SCHEMA, SCHEMA_VERSION};
use super::machine::{Machine, Program};
use super::notes::notes;
use super::remarks::remarks;
use super::verdict::verdicts;
use crate::plan::Plan;
use crate::run::BenchResult;
use crate::target::TargetServer;

/// The report of a command's results.
#[must_use]
pub fn document(
    plan: &Plan,
    server: &TargetServer,
    started_at: Timestamp,
    machine: Machine,
    result: BenchResult,
) -> Document {
    let mut document = Document {
        schema: SCHEMA.to_owned(),
        schema_version: SCHEMA_VERSION,
        title: plan.title(),
        started_at: started_at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        till: Program::built(),
        machine,
        server: Origin {
            own: server.is_own,
            same_machine: server.is_on_this_machine(),
            tls: server.public.tls().is_some(),
            settings: server.settings.clone(),
            data_filesystem: server.data_filesystem.clone(),
        },
        parameters: plan.clone(),
        points: result.points,
        search: result.search,
        ended_early: result.ended_early,
        fail_if: Vec::new(),
        notes: Vec::new(),
    };
    document.points.iter_mut().for_each(|point| point.remarks = remarks(point));
    (document.fail_if, document.notes) = (verdicts(&plan.fail_if, &document.points), notes(&document));
    document
}

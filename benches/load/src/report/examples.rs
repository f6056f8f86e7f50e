//! A report that tests vary.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::assembly;
use super::document::Document;
use super::machine::Machine;
use crate::plan::ScenarioKind;
use crate::plan::examples::plan;
use crate::recording::{Latency, TimelinePoint, Wrong};
use crate::run::{BenchResult, Point, StepLatency};
use crate::target::{Access, ExistingMerchant, ServerAddress, TargetServer};

/// A report that tests vary.
pub(crate) fn document() -> Document {
    let address = ServerAddress::without_tls(std::net::SocketAddr::from(([127, 0, 0, 1], 1)));
    let access = Access::Merchant(ExistingMerchant { key: "key".to_owned().into(), ids: None });
    let server = TargetServer { is_own: true, ..TargetServer::running(address, access) };
    let result = BenchResult { points: vec![point()], search: None, ended_early: None };
    assembly::document(&plan(ScenarioKind::Ping), &server, Timestamp::UNIX_EPOCH, Machine::observe(), result)
}

/// A point that tests vary.
pub(crate) fn point() -> Point {
    let latency = Latency { count: 100, min: 80, mean: 120, p50: 110, p90: 150, p99: 300, p999: 900, max: 1_200 };
    let moment = |at_millis| TimelinePoint { at_millis, rate: 50.0, failure_rate: 0.0, p50: 110, p99: 300, max: 1_200 };
    Point {
        merchants: 4,
        connections: 8,
        intended_rate: None,
        seconds: 2.0,
        operations: 100,
        rate: 50.0,
        failures: BTreeMap::new(),
        wrong: Wrong::default(),
        never_made: 0,
        rate_kept: None,
        ended_early: None,
        latency_micros: latency,
        refused_micros: Latency::default(),
        steps: vec![StepLatency { name: "get-balance".to_owned(), latency_micros: latency }],
        interval_millis: 1_000,
        timeline: vec![moment(0), moment(1_000)],
        follow_up: None,
        customers: None,
        deliveries: None,
        others_busy: None,
        remarks: Vec::new(),
    }
}

//! What the engine below the edge counts.

use till_actors::Engine;

use super::text::{Text, Unit};

/// Writes the engine's numbers.
pub fn expose_engine(engine: &Engine, text: &mut Text) {
    let stats = engine.commit_stats();
    text.histogram(
        "till_commit_seconds",
        "Time from the hand-over of a batch that a caller waits for to its verdict: its wait in the queue and its write.",
        stats.commit_micros(),
        Unit::Micros,
    );
    text.histogram(
        "till_commit_group_seconds",
        "Time that a group of batches took to be written, sync included.",
        stats.append_micros(),
        Unit::Micros,
    );
    text.histogram("till_commit_group_batches", "Batches written with one sync.", stats.group_batches(), Unit::Count);
    text.gauge(
        "till_commit_staged_records",
        "Records that were decided and are not durable yet.",
        stats.staged_records(),
    );
    text.counter("till_commit_rejected_total", "Batches turned away by a full commit queue.", stats.rejected());
    let (open, oldest) = engine.open_effects();
    text.gauge("till_effects_open", "Calls to acquirers that have no result yet.", open as u64);
    text.gauge_seconds("till_effects_oldest_seconds", "For how long the oldest of them has been open.", oldest);
    text.gauge_seconds(
        "till_timers_lag_seconds",
        "How late the earliest timer is that has come due and was not served.",
        engine.timer_lag(),
    );
}

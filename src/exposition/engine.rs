//! Metrics of the engine.

use till_actors::reconciliation::DifferenceKind;
use till_actors::{AGES_SECONDS, ActionStep, DecidedCalls, Engine, OpenEffects, PaymentCounts, RecordCounts};
use till_domain::payment::PaymentStatus;
use till_operate::archive::ArchiveStats;
use till_protocol::dispatch::CallCount;

use super::families::{Families, Unit};

/// Adds the engine's metrics.
pub(crate) fn expose_engine(engine: &Engine, families: &mut Families) {
    expose_commits(engine, families);
    let records = engine.counts().records();
    let RecordCounts { payments, removed_rows, .. } = records;
    let removed = removed_rows.by_kind();
    families.counters("till_swept_rows_total", "Rows removed in the background, by kind.", "kind", removed);
    expose_payments(&payments, families);
    expose_effects(&engine.open_effects(), families);
    expose_acquirers(engine, families);
    expose_customers(&records, families);
    expose_webhooks(engine, families);
    let gauges = [
        (
            "till_effects_paused",
            "1 on a restored or copied server before it is resumed, else 0.",
            u64::from(engine.is_paused()),
        ),
        ("till_live_actors", "Merchants whose actor is live.", engine.live_actors() as u64),
        (
            "till_merchants_not_loaded",
            "Merchants whose newest load has failed: their calls are refused until one succeeds.",
            engine.not_loaded().len() as u64,
        ),
        ("till_requests_in_flight", "Calls that change something, not answered yet.", engine.in_flight() as u64),
        ("till_acquirer_calls_in_flight", "Calls to acquirers under way.", engine.running_effects() as u64),
    ];
    for (name, help, value) in gauges {
        families.gauge(name, help, value);
    }
    let help = "Merchants whose available balance is below zero, counted again a minute after the last count.";
    families.gauge("till_merchants_overdrawn", help, engine.counts().overdrawn_merchants());
    families.gauge_seconds(
        "till_timers_lag_seconds",
        "Delay of the earliest timer that is due and not served yet.",
        engine.timer_lag(),
    );
}

/// Adds the payments by what became of them. Every series exists from the start, so that its first increase shows.
fn expose_payments(payments: &PaymentCounts, families: &mut Families) {
    let not_failed = [
        (PaymentStatus::Successful, payments.successful),
        (PaymentStatus::Authorized, payments.authorized),
        (PaymentStatus::Expired, payments.expired),
    ];
    let not_failed = not_failed.into_iter().map(|(status, count)| ([status.name(), ""], count));
    let failed = payments.failed_by_code().map(|(code, count)| ([PaymentStatus::Failed.name(), code], count));
    let help =
        "Payments by what became of them first: authorized for a later capture, captured, failed by code, or expired.";
    families.counters_by("till_payments_total", help, ["status", "failure_code"], not_failed.chain(failed));
}

fn expose_effects(open: &OpenEffects, families: &mut Families) {
    let OpenEffects { count, older_than, oldest, awaiting_customers, decided: _ } = open;
    families.gauge("till_effects_open", "Calls to acquirers that have no result yet.", *count as u64);
    let help = "Calls to acquirers that have had no result for longer than these seconds.";
    let older = AGES_SECONDS.map(|seconds| seconds.to_string());
    let older =
        std::array::from_fn::<_, { AGES_SECONDS.len() }, _>(|age| (older[age].as_str(), older_than[age] as u64));
    families.gauges("till_effects_open_older_than", help, "seconds", older);
    let help = "For how long the oldest call that is neither a refund nor a payout has been open.";
    families.gauge_seconds("till_effects_oldest_seconds", help, *oldest);
    let (refunds, payouts) = (open.of(DecidedCalls::Refunds), open.of(DecidedCalls::Payouts));
    families.gauge("till_refunds_open", "Refunds that the acquirer has not ended.", refunds.count as u64);
    let help = "Time since the oldest of them was requested.";
    families.gauge_seconds("till_refunds_oldest_seconds", help, refunds.age);
    families.gauge("till_payouts_open", "Payouts that the acquirer has not ended.", payouts.count as u64);
    let help = "Time since the oldest of these payouts was requested.";
    families.gauge_seconds("till_payouts_oldest_seconds", help, payouts.age);
    let help = "Payments whose customers must act, or have acted without an answer of the acquirer yet.";
    families.gauge("till_customer_actions_open", help, *awaiting_customers as u64);
}

/// Adds the calls to acquirers, and the accounts there.
fn expose_acquirers(engine: &Engine, families: &mut Families) {
    let statistics = engine.call_statistics();
    let help = "Calls to acquirers, by result; those that prepare a call and look-ups included.";
    families.counters_by("till_acquirer_calls_total", help, ["acquirer", "call", "result"], statistics.calls());
    let help = "Time until an acquirer's answer, or until none was waited for any more.";
    let micros = statistics.micros();
    let micros = micros.iter().map(|(of, micros)| (*of, &**micros));
    families.histograms("till_acquirer_call_seconds", help, ["acquirer", "call"], micros, Unit::Micros);
    let accounts = engine.accounts().by_state().map(|(state, count)| (state.name(), count));
    let help = "Accounts at acquirers that this process has called, by state.";
    families.gauges("till_acquirer_accounts", help, "state", accounts);
    let help = "Time since the oldest call was made of which it is unknown whether it was carried out.";
    families.gauge_seconds("till_acquirer_unknown_age_seconds", help, engine.unknown_age());
    let differences = DifferenceKind::ALL.map(|kind| (kind.name(), engine.reconciliations().differences(kind)));
    let help = "Differences that the last reconciliations of accounts found, in this process.";
    families.gauges("till_acquirer_differences", help, "kind", differences);
    let help = "Answers that were about another amount, currency, reference or mode than their call.";
    families.counter("till_acquirer_mismatches_total", help, statistics.mismatches());
}

/// Adds what customers did, and late successes.
fn expose_customers(records: &RecordCounts, families: &mut Families) {
    let actions = ActionStep::ALL.map(|step| (step.name(), records.actions[step as usize]));
    families.counters(
        "till_customer_actions_total",
        "Actions of customers, by what happened to them.",
        "step",
        actions,
    );
    let help = "Payments that an acquirer authorized when they were over, and whose money is given back.";
    families.counter("till_late_successes_total", help, records.late_successes);
    let help = "Those of them whose money is back.";
    families.counter("till_late_successes_returned_total", help, records.late_successes_returned);
}

fn expose_webhooks(engine: &Engine, families: &mut Families) {
    let statistics = engine.webhooks().statistics();
    let help = "Attempts to deliver an event to a webhook, by result.";
    families.counters("till_webhook_attempts_total", help, "result", statistics.attempts());
    let (waiting, lag) = engine.webhook_lag();
    let help = "Deliveries that failed and wait for another attempt, at most 1,000 counted for each webhook.";
    families.gauge("till_webhook_deliveries_waiting", help, waiting as u64);
    families.gauge(
        "till_webhook_endpoints_busy",
        "Webhooks that are sent something now.",
        engine.busy_webhooks() as u64,
    );
    let help = "Webhooks that are sent nothing, since their deliveries cannot be read or written here.";
    families.gauge("till_webhook_endpoints_failing", help, engine.failing_webhooks() as u64);
    families.gauge_seconds("till_webhook_oldest_seconds", "Time since the oldest of them was made.", lag);
}

fn expose_commits(engine: &Engine, families: &mut Families) {
    let stats = engine.commit_stats();
    families.histogram(
        "till_commit_seconds",
        "Time from the hand-over of a batch that a caller waits for to its verdict: its wait in the queue and its \
            write.",
        stats.commit_micros(),
        Unit::Micros,
    );
    families.histogram(
        "till_commit_group_seconds",
        "Time that a group of batches took to be written, sync included.",
        stats.append_micros(),
        Unit::Micros,
    );
    families.histogram(
        "till_commit_group_batches",
        "Batches written with one sync.",
        stats.group_batches(),
        Unit::Count,
    );
    families.counter("till_commit_groups_total", "Groups written, each with one sync.", stats.groups());
    let verdicts = [
        ("committed", stats.committed()),
        ("fenced", stats.fenced()),
        ("stale", stats.stale()),
        ("unavailable", stats.unavailable()),
        ("ambiguous", stats.ambiguous()),
    ];
    families.counters("till_commit_batches_total", "Batches by verdict.", "verdict", verdicts);
    families.counter("till_commit_rejected_total", "Batches turned away by a full commit queue.", stats.rejected());
    let staged = stats.staged_records();
    families.gauge("till_commit_staged_records", "Records that were decided and are not durable yet.", staged);
    families.gauge("till_commit_queued", "Batches and barriers that wait for the commit thread.", stats.queued());
    families.gauge("till_commit_queued_bytes", "Their bytes.", stats.queued_bytes());
    let help =
        "1 when the last write failed within the last five minutes, or one is under way for five seconds, else 0.";
    families.gauge("till_commit_fails", help, u64::from(stats.writes_fail()));
}

/// Adds the numbers of calls in progress and waiting calls, for all calls and for those on the worker pool.
pub(crate) fn expose_calls(calls: CallCount, large: CallCount, families: &mut Families) {
    families.gauge("till_calls_in_flight", "Calls that are worked on.", calls.in_flight as u64);
    families.gauge("till_calls_waiting", "Calls that wait for a permit.", calls.waiting as u64);
    families.gauge("till_large_calls_in_flight", "Calls on the worker pool.", large.in_flight as u64);
    families.gauge("till_large_calls_waiting", "Calls that wait for the worker pool.", large.waiting as u64);
}

/// Adds the archive's metrics.
pub(crate) fn expose_archive(stats: &ArchiveStats, families: &mut Families) {
    let closed = stats.segments_closed;
    families.counter("till_archive_segments_closed_total", "Segments of the archive that were closed.", closed);
    let failures = stats.failures;
    families.counter("till_archive_failures_total", "Times that the archive could not be written to.", failures);
    families.gauge("till_archive_lag_commits", "Commits that are not archived yet.", stats.lag_commits);
    families.gauge_seconds("till_archive_lag_seconds", "For how long there have been some.", stats.lag);
}

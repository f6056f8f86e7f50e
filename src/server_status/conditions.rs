//! Conditions of alerts that the present metrics tell. Those that need metrics of earlier times are left to Prometheus,
//! and so is the time for which a condition must hold until its alert fires.

use super::last_minute::MinuteCounts;
use crate::exposition::Families;

/// An alert, and its condition as far as the present metrics tell it.
struct Condition {
    alert: &'static str,
    /// The condition as the rule in `deploy/prometheus/alerts.yml` has it, alone or among others.
    expression: &'static str,
    holds: Holds,
}

impl Condition {
    fn holds_at(&self, present: &Present<'_>) -> bool {
        match self.holds {
            Holds::Above(limit) => present.value(self.expression.split(' ').next().unwrap_or_default()) > limit,
            Holds::When(holds) => holds(present),
        }
    }
}

enum Holds {
    /// While the metric that the expression begins with is above this.
    Above(f64),
    When(fn(&Present<'_>) -> bool),
}

const fn above(alert: &'static str, expression: &'static str, limit: f64) -> Condition {
    Condition { alert, expression, holds: Holds::Above(limit) }
}

const fn when(alert: &'static str, expression: &'static str, holds: fn(&Present<'_>) -> bool) -> Condition {
    Condition { alert, expression, holds: Holds::When(holds) }
}

/// The metrics, and the time that they are of.
struct Present<'m> {
    metrics: &'m Families,
    /// In Unix seconds.
    time: f64,
    minute: &'m MinuteCounts,
}

impl Present<'_> {
    /// The value of a metric without labels; 0 when it is not there.
    fn value(&self, name: &str) -> f64 {
        self.metrics.values(name).next().unwrap_or_default()
    }

    fn is_paused(&self) -> bool {
        self.value("till_effects_paused") > 0.0
    }
}

/// The seconds of a day.
const DAY: f64 = 86_400.0;

/// All of them, in the order of the rules.
const CONDITIONS: [Condition; 25] = [
    when("TillRestarted", "till_store_closed_before_start == 0", |now| {
        let was_killed = now.metrics.values("till_store_closed_before_start").any(|was_closed| was_closed < 1.0);
        was_killed && now.time - now.value("process_start_time_seconds") < 900.0
    }),
    when("TillCommitsWait", "till_calls_waiting > till_calls_in_flight", |now| {
        now.value("till_calls_waiting") > now.value("till_calls_in_flight")
    }),
    above("TillWritesFail", "till_commit_fails == 1", 0.0),
    when("TillDiskFillsUp", "till_disk_free_bytes < 2 * till_disk_reserve_bytes", |now| {
        now.value("till_disk_free_bytes") < 2.0 * now.value("till_disk_reserve_bytes")
    }),
    above("TillMerchantNotLoaded", "till_merchants_not_loaded > 0", 0.0),
    above("TillTableDamaged", "till_scrub_damaged_tables > 0", 0.0),
    above("TillScrubOld", "till_scrub_age_seconds > 15 * 86400", 15.0 * DAY),
    when("TillEffectsLag", "till_effects_oldest_seconds > 120 and till_effects_paused == 0", |now| {
        now.value("till_effects_oldest_seconds") > 120.0 && !now.is_paused()
    }),
    above("TillRefundsDoNotEnd", "till_refunds_oldest_seconds > 3 * 86400", 3.0 * DAY),
    above("TillPayoutsDoNotEnd", "till_payouts_oldest_seconds > 3 * 86400", 3.0 * DAY),
    when("TillLateSuccessKept", "till_late_successes_total > till_late_successes_returned_total", |now| {
        now.value("till_late_successes_total") > now.value("till_late_successes_returned_total")
    }),
    above("TillWebhooksUnreadable", "till_webhook_endpoints_failing > 0", 0.0),
    when("TillTimersLag", "till_timers_lag_seconds > 60 and till_effects_paused == 0", |now| {
        now.value("till_timers_lag_seconds") > 60.0 && !now.is_paused()
    }),
    when("TillPaused", "till_effects_paused == 1", |now| now.is_paused()),
    when("TillCheckpointOld", CHECKPOINT_OR_START, |now| {
        let since = |newest: f64| if newest > 0.0 { newest } else { now.value("process_start_time_seconds") };
        let mut newest = now.metrics.values("till_checkpoint_newest_timestamp_seconds");
        newest.any(|newest| now.time - since(newest) > DAY + 3_600.0)
    }),
    when("TillArchiveLags", "till_archive_lag_seconds > 300 or till_archive_lag_commits > 100000", |now| {
        now.value("till_archive_lag_seconds") > 300.0 || now.value("till_archive_lag_commits") > 100_000.0
    }),
    when("TillJournalUnreachable", "till_journal_reachable == 0", |now| {
        now.metrics.values("till_journal_reachable").any(|reachable| reachable < 1.0)
    }),
    when("TillJournalLost", "till_journal_shards_lost > 0 or till_journal_losses_total > 0", |now| {
        now.value("till_journal_shards_lost") + now.value("till_journal_losses_total") > 0.0
    }),
    when("TillJournalStandbyMissing", "till_journal_synchronous_standbys == 0", |now| {
        now.metrics.values("till_journal_synchronous_standbys").any(|standbys| standbys < 1.0)
    }),
    above("TillJournalSnapshotOld", "till_journal_oldest_snapshot_seconds > 600", 600.0),
    when("TillCertificateEnds", "(till_tls_certificate_end_timestamp_seconds > 0) - time() < 14 * 86400", |now| {
        let mut ends = now.metrics.values("till_tls_certificate_end_timestamp_seconds");
        ends.any(|end| end > 0.0 && end - now.time < 14.0 * DAY)
    }),
    when("TillConnectionsRefused", "increase(till_connections_refused_total[5m])", |now| {
        now.minute.connections_refused > 0
    }),
    above("TillClockJumped", "till_clock_jump_seconds > 3600", 3_600.0),
    when("TillFewDescriptors", "process_open_fds{job=\"till\"} / process_max_fds{job=\"till\"} > 0.8", |now| {
        now.value("process_open_fds") > 0.8 * now.value("process_max_fds")
    }),
    above("TillLogFileGone", "till_log_file_gone == 1", 0.0),
];

/// The newest checkpoint, which a database with the log has not, or the start where there is none yet.
const CHECKPOINT_OR_START: &str = "(till_checkpoint_newest_timestamp_seconds > 0 \
                                   or till_checkpoint_newest_timestamp_seconds + process_start_time_seconds)";

/// The names of the alerts whose condition these metrics and the last minute tell, at a time in Unix seconds.
#[must_use]
pub(super) fn conditions(metrics: &Families, time: f64, minute: &MinuteCounts) -> Vec<&'static str> {
    let present = Present { metrics, time, minute };
    CONDITIONS.iter().filter(|condition| condition.holds_at(&present)).map(|condition| condition.alert).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The expression of an alert.
    fn rule(alert: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/prometheus/alerts.yml");
        let rules = fs::read_to_string(path).expect("the rules can be read");
        let (_, rule) =
            rules.split_once(&format!("- alert: {alert}\n")).unwrap_or_else(|| panic!("there is no alert {alert}"));
        rule.split_once("labels:").expect("every rule has labels").0.to_owned()
    }

    #[test]
    fn every_condition_is_in_the_rule_of_its_alert() {
        for Condition { alert, expression, holds: _ } in &CONDITIONS {
            assert!(rule(alert).contains(expression), "{alert}: {expression}");
        }
    }

    /// Metrics of a server without any condition, at the time 10,000,000, but for one.
    fn metrics_with(name: &str, value: u64) -> Families {
        let usual = [
            ("till_disk_free_bytes", 100),
            ("till_disk_reserve_bytes", 10),
            ("till_checkpoint_newest_timestamp_seconds", 9_999_000),
            ("process_max_fds", 100),
            ("process_start_time_seconds", 9_999_500),
        ];
        let mut metrics = Families::default();
        let add = if name.ends_with("_total") { Families::counter } else { Families::gauge };
        add(&mut metrics, name, "Help.", value);
        usual.iter().filter(|(usual, _)| *usual != name).for_each(|(name, value)| metrics.gauge(name, "Help.", *value));
        metrics
    }

    #[test]
    fn each_condition_holds_beyond_its_threshold_only() {
        for (name, within, beyond, alert) in [
            ("till_calls_waiting", 0, 1, "TillCommitsWait"),
            ("till_store_closed_before_start", 1, 0, "TillRestarted"),
            ("till_commit_fails", 0, 1, "TillWritesFail"),
            ("till_disk_free_bytes", 20, 19, "TillDiskFillsUp"),
            ("till_scrub_damaged_tables", 0, 1, "TillTableDamaged"),
            ("till_merchants_not_loaded", 0, 1, "TillMerchantNotLoaded"),
            ("till_journal_losses_total", 0, 1, "TillJournalLost"),
            ("till_scrub_age_seconds", 1_296_000, 1_296_001, "TillScrubOld"),
            ("till_effects_oldest_seconds", 120, 121, "TillEffectsLag"),
            ("till_refunds_oldest_seconds", 259_200, 259_201, "TillRefundsDoNotEnd"),
            ("till_payouts_oldest_seconds", 259_200, 259_201, "TillPayoutsDoNotEnd"),
            ("till_late_successes_total", 0, 1, "TillLateSuccessKept"),
            ("till_webhook_endpoints_failing", 0, 1, "TillWebhooksUnreadable"),
            ("till_timers_lag_seconds", 60, 61, "TillTimersLag"),
            ("till_effects_paused", 0, 1, "TillPaused"),
            ("till_checkpoint_newest_timestamp_seconds", 9_910_000, 9_909_999, "TillCheckpointOld"),
            ("till_archive_lag_seconds", 300, 301, "TillArchiveLags"),
            ("till_archive_lag_commits", 100_000, 100_001, "TillArchiveLags"),
            ("till_tls_certificate_end_timestamp_seconds", 11_209_600, 11_209_599, "TillCertificateEnds"),
            ("till_tls_certificate_end_timestamp_seconds", 0, 1, "TillCertificateEnds"),
            ("till_clock_jump_seconds", 3_600, 3_601, "TillClockJumped"),
            ("process_open_fds", 80, 81, "TillFewDescriptors"),
            ("till_log_file_gone", 0, 1, "TillLogFileGone"),
        ] {
            assert_eq!(present(&metrics_with(name, within)), [""; 0], "{name} {within}");
            assert_eq!(present(&metrics_with(name, beyond)), [alert], "{name} {beyond}");
        }
    }

    fn present(metrics: &Families) -> Vec<&'static str> {
        conditions(metrics, 10_000_000.0, &MinuteCounts::default())
    }

    #[test]
    fn a_refused_connection_of_the_last_minute_is_a_condition() {
        let minute = MinuteCounts { connections_refused: 1, ..MinuteCounts::default() };
        let metrics = metrics_with("process_open_fds", 0);
        assert_eq!(conditions(&metrics, 10_000_000.0, &minute), ["TillConnectionsRefused"]);
    }

    #[test]
    fn a_server_without_a_checkpoint_has_a_day_and_an_hour_to_take_one() {
        let metrics = metrics_with("till_checkpoint_newest_timestamp_seconds", 0); // Of a server since 9,999,500.
        let at = |time| conditions(&metrics, time, &MinuteCounts::default());
        assert_eq!((at(10_089_500.0), at(10_089_501.0)), (vec![], vec!["TillCheckpointOld"]));
    }
}

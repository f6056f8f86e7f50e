//! Conditions of alerts that the present metrics tell. Those that need metrics of earlier times are left to Prometheus, and
//! so is the time for which a condition must hold until its alert fires.

use crate::exposition::Families;

/// An alert, and its condition as far as the present metrics tell it.
struct Condition {
    alert: &'static str,
    /// The condition as the rule in `deploy/prometheus/alerts.yml` has it, alone or among others.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test compares it with the rule"))]
    expression: &'static str,
    holds: fn(&Present<'_>) -> bool,
}

/// The metrics, and the time that they are of.
struct Present<'m> {
    metrics: &'m Families,
    /// In Unix seconds.
    time: f64,
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
const CONDITIONS: [Condition; 20] = [
    Condition {
        alert: "TillCommitsWait",
        expression: "till_calls_waiting > till_calls_in_flight",
        holds: |now| now.value("till_calls_waiting") > now.value("till_calls_in_flight"),
    },
    Condition {
        alert: "TillDiskFillsUp",
        expression: "till_disk_free_bytes < 2 * till_disk_reserve_bytes",
        holds: |now| now.value("till_disk_free_bytes") < 2.0 * now.value("till_disk_reserve_bytes"),
    },
    Condition {
        alert: "TillTableDamaged",
        expression: "till_scrub_damaged_tables > 0",
        holds: |now| now.value("till_scrub_damaged_tables") > 0.0,
    },
    Condition {
        alert: "TillScrubOld",
        expression: "till_scrub_age_seconds > 15 * 86400",
        holds: |now| now.value("till_scrub_age_seconds") > 15.0 * DAY,
    },
    Condition {
        alert: "TillEffectsLag",
        expression: "till_effects_oldest_seconds > 120 and till_effects_paused == 0",
        holds: |now| now.value("till_effects_oldest_seconds") > 120.0 && !now.is_paused(),
    },
    Condition {
        alert: "TillRefundsDoNotEnd",
        expression: "till_refunds_oldest_seconds > 3 * 86400",
        holds: |now| now.value("till_refunds_oldest_seconds") > 3.0 * DAY,
    },
    Condition {
        alert: "TillPayoutsDoNotEnd",
        expression: "till_payouts_oldest_seconds > 3 * 86400",
        holds: |now| now.value("till_payouts_oldest_seconds") > 3.0 * DAY,
    },
    Condition {
        alert: "TillLateSuccessKept",
        expression: "till_late_successes_total > till_late_successes_returned_total",
        holds: |now| now.value("till_late_successes_total") > now.value("till_late_successes_returned_total"),
    },
    Condition {
        alert: "TillWebhooksUnreadable",
        expression: "till_webhook_endpoints_failing > 0",
        holds: |now| now.value("till_webhook_endpoints_failing") > 0.0,
    },
    Condition {
        alert: "TillTimersLag",
        expression: "till_timers_lag_seconds > 60 and till_effects_paused == 0",
        holds: |now| now.value("till_timers_lag_seconds") > 60.0 && !now.is_paused(),
    },
    Condition { alert: "TillPaused", expression: "till_effects_paused == 1", holds: |now| now.is_paused() },
    Condition {
        alert: "TillCheckpointOld",
        expression: "time() - till_checkpoint_newest_timestamp_seconds > 86400 + 3600",
        // Not there when a database has the log.
        holds: |now| {
            now.metrics
                .values("till_checkpoint_newest_timestamp_seconds")
                .any(|newest| now.time - newest > DAY + 3_600.0)
        },
    },
    Condition {
        alert: "TillArchiveLags",
        expression: "till_archive_lag_seconds > 300 or till_archive_lag_commits > 100000",
        holds: |now| now.value("till_archive_lag_seconds") > 300.0 || now.value("till_archive_lag_commits") > 100_000.0,
    },
    Condition {
        alert: "TillJournalUnreachable",
        expression: "till_journal_reachable == 0",
        holds: |now| now.metrics.values("till_journal_reachable").any(|reachable| reachable < 1.0),
    },
    Condition {
        alert: "TillJournalLost",
        expression: "till_journal_shards_lost > 0",
        holds: |now| now.value("till_journal_shards_lost") > 0.0,
    },
    Condition {
        alert: "TillJournalStandbyMissing",
        expression: "till_journal_synchronous_standbys == 0",
        holds: |now| now.metrics.values("till_journal_synchronous_standbys").any(|standbys| standbys < 1.0),
    },
    Condition {
        alert: "TillJournalSnapshotOld",
        expression: "till_journal_oldest_snapshot_seconds > 600",
        holds: |now| now.value("till_journal_oldest_snapshot_seconds") > 600.0,
    },
    Condition {
        alert: "TillCertificateEnds",
        expression: "(till_tls_certificate_end_timestamp_seconds > 0) - time() < 14 * 86400",
        holds: |now| {
            let mut ends = now.metrics.values("till_tls_certificate_end_timestamp_seconds");
            ends.any(|end| end > 0.0 && end - now.time < 14.0 * DAY)
        },
    },
    Condition {
        alert: "TillFewDescriptors",
        expression: "process_open_fds{job=\"till\"} / process_max_fds{job=\"till\"} > 0.8",
        holds: |now| now.value("process_open_fds") > 0.8 * now.value("process_max_fds"),
    },
    Condition {
        alert: "TillLogFileGone",
        expression: "till_log_file_gone == 1",
        holds: |now| now.value("till_log_file_gone") > 0.0,
    },
];

/// The names of the alerts whose condition these metrics tell, at a time in Unix seconds.
#[must_use]
pub fn conditions(metrics: &Families, time: f64) -> Vec<&'static str> {
    let present = Present { metrics, time };
    CONDITIONS.iter().filter(|condition| (condition.holds)(&present)).map(|condition| condition.alert).collect()
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
            ("till_disk_free_bytes", 20, 19, "TillDiskFillsUp"),
            ("till_scrub_damaged_tables", 0, 1, "TillTableDamaged"),
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
            ("process_open_fds", 80, 81, "TillFewDescriptors"),
            ("till_log_file_gone", 0, 1, "TillLogFileGone"),
        ] {
            let time = 10_000_000.0;
            assert_eq!(conditions(&metrics_with(name, within), time), [""; 0], "{name} {within}");
            assert_eq!(conditions(&metrics_with(name, beyond), time), [alert], "{name} {beyond}");
        }
    }
}

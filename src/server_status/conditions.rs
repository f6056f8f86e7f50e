//! Conditions of alerts that the present metrics tell, read from the alerts' own rules. Those that need metrics of
//! earlier times are left to Prometheus, and so is the time for which a condition must hold until its alert fires.

use std::cmp::Ordering;

use super::last_minute::MinuteCounts;
use crate::exposition::Families;

/// The rules for Prometheus.
const RULES: &str = include_str!("../../deploy/prometheus/alerts.yml");

/// The name and the expression of each alert, in the order of the rules.
fn alerts() -> impl Iterator<Item = (&'static str, String)> {
    RULES.split("- alert: ").skip(1).filter_map(|rule| {
        let (alert, rest) = rule.split_once('\n')?;
        let (_, rest) = rest.split_once("expr: ")?;
        let lines =
            rest.lines().map(str::trim).take_while(|line| !["for:", "labels:"].iter().any(|key| line.starts_with(key)));
        Some((alert, lines.collect::<Vec<_>>().join(" ").trim_start_matches("| ").to_owned()))
    })
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

    /// True when an expression holds: one of its alternatives, with all of its comparisons.
    fn holds(&self, expression: &str) -> bool {
        expression.split(" or ").any(|alternative| alternative.split(" and ").all(|part| self.holds_compared(part)))
    }

    /// True when a metric compares as the text says with a number, another metric, or a product of these. What it
    /// cannot read, such as a function, does not hold.
    fn holds_compared(&self, comparison: &str) -> bool {
        let mut words = comparison.splitn(3, ' ');
        let (Some(metric), Some(sign), Some(limit)) = (words.next(), words.next(), words.next()) else { return false };
        let limit: f64 =
            limit.split(" * ").map(|factor| factor.parse().unwrap_or_else(|_| self.value(factor))).product();
        let expected = match sign {
            ">" => Ordering::Greater,
            "<" => Ordering::Less,
            "==" => Ordering::Equal,
            _ => return false,
        };
        self.metrics.values(metric).any(|value| value.partial_cmp(&limit) == Some(expected))
    }
}

/// The seconds of a day.
const DAY: f64 = 86_400.0;

/// Tells whether the condition of an alert holds.
type Condition = fn(&Present<'_>) -> bool;

/// The conditions of alerts whose expressions compare more than a metric with a limit.
const CONDITIONS: [(&str, Condition); 5] = [
    ("TillRestarted", |now| {
        let was_killed = now.metrics.values("till_store_closed_before_start").any(|was_closed| was_closed < 1.0);
        was_killed && now.time - now.value("process_start_time_seconds") < 900.0
    }),
    ("TillCheckpointOld", |now| {
        let since = |newest: f64| if newest > 0.0 { newest } else { now.value("process_start_time_seconds") };
        let mut newest = now.metrics.values("till_checkpoint_newest_timestamp_seconds");
        newest.any(|newest| now.time - since(newest) > DAY + 3_600.0)
    }),
    ("TillCertificateEnds", |now| {
        let mut ends = now.metrics.values("till_tls_certificate_end_timestamp_seconds");
        ends.any(|end| end > 0.0 && end - now.time < 14.0 * DAY)
    }),
    ("TillConnectionsRefused", |now| now.minute.connections_refused > 0),
    ("TillFewDescriptors", |now| now.value("process_open_fds") > 0.8 * now.value("process_max_fds")),
];

/// The names of the alerts whose condition these metrics and the last minute tell, at a time in Unix seconds.
#[must_use]
pub(super) fn conditions(metrics: &Families, time: f64, minute: &MinuteCounts) -> Vec<&'static str> {
    let present = Present { metrics, time, minute };
    let holds = |alert: &str, expression: &str| {
        let condition = CONDITIONS.iter().find(|(known, _)| *known == alert);
        condition.map_or_else(|| present.holds(expression), |(_, condition)| condition(&present))
    };
    alerts().filter(|(alert, expression)| holds(alert, expression)).map(|(alert, _)| alert).collect()
}

#[cfg(test)]
mod tests {
    use till_actors::reconciliation::DifferenceKind;
    use till_domain::acquirer::AccountState;

    use super::*;

    #[test]
    fn the_rules_are_read_with_their_expressions() {
        let rules: Vec<(&str, String)> = alerts().collect();
        assert_eq!(rules.len(), RULES.matches("alert:").count());
        let expression = |alert: &str| {
            let rule = rules.iter().find(|(name, _)| *name == alert);
            rule.unwrap_or_else(|| panic!("there is no alert {alert}")).1.as_str()
        };
        assert_eq!(expression("TillPaused"), "till_effects_paused == 1");
        for (alert, said) in [
            ("TillRestarted", "[15m]) > 0 and on (job, instance) till_store_closed_before_start == 0"),
            ("TillCheckpointOld", "> 86400 + 3600"),
            ("TillCertificateEnds", "(till_tls_certificate_end_timestamp_seconds > 0) - time() < 14 * 86400"),
            ("TillConnectionsRefused", "increase(till_connections_refused_total[5m])"),
            ("TillFewDescriptors", "process_open_fds{job=\"till\"} / process_max_fds{job=\"till\"} > 0.8"),
        ] {
            assert!(expression(alert).contains(said), "{alert}: {}", expression(alert));
        }
        let expected = "till_calls_waiting > till_calls_in_flight or (till_commit_queued > 0 and ";
        assert!(expression("TillCommitsWait").starts_with(expected), "{}", expression("TillCommitsWait"));
    }

    /// Metrics of a server without any condition, at the time 10,000,000, but for one.
    fn metrics_with(name: &str, value: u64) -> Families {
        let usual = [
            ("till_disk_free_bytes", 100),
            ("till_disk_reserve_bytes", 10),
            ("till_checkpoint_newest_timestamp_seconds", 9_999_000),
            ("process_max_fds", 100),
            ("process_start_time_seconds", 9_999_500),
            ("till_calls_in_flight", 0),
            ("till_effects_paused", 0),
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
            ("till_journal_shards_lost", 0, 1, "TillJournalLost"),
            ("till_journal_reachable", 1, 0, "TillJournalUnreachable"),
            ("till_journal_synchronous_standbys", 1, 0, "TillJournalStandbyMissing"),
            ("till_journal_oldest_snapshot_seconds", 600, 601, "TillJournalSnapshotOld"),
            ("till_scrub_age_seconds", 1_296_000, 1_296_001, "TillScrubOld"),
            ("till_effects_oldest_seconds", 120, 121, "TillEffectsLag"),
            ("till_refunds_oldest_seconds", 259_200, 259_201, "TillRefundsDoNotEnd"),
            ("till_payouts_oldest_seconds", 259_200, 259_201, "TillPayoutsDoNotEnd"),
            ("till_late_successes_total", 0, 1, "TillLateSuccessKept"),
            ("till_acquirer_unknown_age_seconds", 600, 601, "TillAcquirerOutcomeUnknown"),
            ("till_acquirer_mismatches_total", 0, 1, "TillAcquirerMismatch"),
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

    #[test]
    fn money_that_an_acquirer_moved_twice_or_otherwise_is_a_condition() {
        for kind in DifferenceKind::ALL {
            let mut metrics = metrics_with("till_effects_paused", 0);
            let counts = DifferenceKind::ALL.map(|of| (of.name(), u64::from(of == kind)));
            metrics.gauges("till_acquirer_differences", "Help.", "kind", counts);
            let is_told = ["twice", "amount"].contains(&kind.name());
            assert_eq!(present(&metrics) == ["TillAcquirerDifferences"], is_told, "{kind:?}: {:?}", present(&metrics));
        }
    }

    #[test]
    fn accounts_in_a_state_other_than_ready_are_conditions() {
        for (state, expected) in [
            (AccountState::Ready, &[] as &[&str]),
            (AccountState::CredentialsRefused, &["TillAcquirerRefusesAccount"]),
            (AccountState::CardNumbersRefused, &["TillAcquirerRefusesAccount"]),
            (AccountState::NotAnswering, &["TillAcquirerSilent"]),
        ] {
            let mut metrics = metrics_with("till_effects_paused", 0);
            let counts = AccountState::ALL.map(|of| (of.name(), u64::from(of == state)));
            metrics.gauges("till_acquirer_accounts", "Help.", "state", counts);
            assert_eq!(present(&metrics), expected, "{state:?}");
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

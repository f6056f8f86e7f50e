//! Conditions under which a run counts as failed.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;

use super::units::Span;
use crate::recording::MeasuredStep;

/// A figure of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Metric {
    /// Half of all latencies are at most this.
    P50,
    /// 90 % are at most this.
    P90,
    /// 99 % are at most this.
    P99,
    /// 99.9 % are at most this.
    P999,
    /// The greatest latency.
    Max,
    /// The mean latency.
    Mean,
    /// Operations a second.
    Rate,
    /// Operations that failed, of all codes.
    Errors,
    /// Operations that were due and never made.
    #[value(name = "never_made")]
    NeverMade,
}

/// The comparison of a figure with a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// A condition under which a run counts as failed, such as `p99>50ms` or `capture-payment.p99>50ms`.
#[derive(Debug, Clone, PartialEq)]
pub struct FailIf {
    /// The step whose latency it is; None for all operations.
    pub step: Option<MeasuredStep>,
    /// The figure.
    pub metric: Metric,
    relation: Relation,
    /// In microseconds, where the figure is a latency.
    bound: f64,
    /// The condition as it was written.
    text: String,
}

impl Metric {
    /// True when its values are spans of time.
    #[must_use]
    pub const fn is_latency(self) -> bool {
        match self {
            Metric::P50 | Metric::P90 | Metric::P99 | Metric::P999 | Metric::Max | Metric::Mean => true,
            Metric::Rate | Metric::Errors | Metric::NeverMade => false,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.to_possible_value().expect("no metric is hidden").get_name())
    }
}

impl Relation {
    /// Those of two characters first, since they begin with one of the others.
    const ALL: [(&'static str, Relation); 4] =
        [(">=", Relation::AtLeast), ("<=", Relation::AtMost), (">", Relation::Above), ("<", Relation::Below)];
}

impl FailIf {
    /// True when a run with this figure counts as failed; a latency is in microseconds.
    #[must_use]
    pub fn holds(&self, measured: f64) -> bool {
        match self.relation {
            Relation::Above => measured > self.bound,
            Relation::AtLeast => measured >= self.bound,
            Relation::Below => measured < self.bound,
            Relation::AtMost => measured <= self.bound,
        }
    }
}

impl FromStr for FailIf {
    type Err = String;

    fn from_str(text: &str) -> Result<FailIf, String> {
        let wrong = |reason: &str| {
            let metrics: Vec<String> = Metric::value_variants().iter().map(ToString::to_string).collect();
            format!(
                "{reason}; write a metric, one of > >= < <=, and a bound: 'p99>50ms', 'rate<1000', 'errors>0', or with \
                    a step 'capture-payment.p99>50ms'. Metrics are {}; spans of time have a unit (us, ms, s)",
                metrics.join(", ")
            )
        };
        let at = text.find(['<', '>']).ok_or_else(|| wrong("there is no comparison"))?;
        let (figure, rest) = (text[..at].trim(), &text[at..]);
        let (step, word) = figure.rsplit_once('.').map_or((None, figure), |(step, word)| (Some(step), word));
        let metric = Metric::from_str(word, false).map_err(|_| wrong(&format!("there is no metric '{word}'")))?;
        let step = step.map(|name| step_named(name).map_err(|fault| wrong(&fault))).transpose()?;
        if step.is_some() && !metric.is_latency() {
            return Err(wrong(&format!("a step has latencies, and no '{word}'")));
        }
        let relation =
            Relation::ALL.into_iter().find_map(|(sign, relation)| Some((rest.strip_prefix(sign)?, relation)));
        let (bound, relation) = relation.ok_or_else(|| wrong("there is no comparison"))?;
        let bound = bound.trim();
        let no_bound = || wrong(&format!("'{bound}' is not a bound of {word}"));
        let bound = match metric.is_latency() {
            true => bound.parse::<Span>().map_err(|_| no_bound())?.as_secs_f64() * 1e6,
            false => {
                bound.parse::<f64>().ok().filter(|bound| bound.is_finite() && *bound >= 0.0).ok_or_else(no_bound)?
            }
        };
        Ok(FailIf { step, metric, relation, bound, text: text.to_owned() })
    }
}

fn step_named(name: &str) -> Result<MeasuredStep, String> {
    let names = || MeasuredStep::value_variants().iter().map(|step| step.name()).collect::<Vec<_>>().join("', '");
    MeasuredStep::from_str(name, false).map_err(|_| format!("there is no step '{name}'; steps are '{}'", names()))
}

impl fmt::Display for FailIf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str, measured: f64) -> bool {
        text.parse::<FailIf>().unwrap_or_else(|reason| panic!("{reason}")).holds(measured)
    }

    #[test]
    fn a_condition_compares_latencies_in_their_unit() {
        assert!(holds("p99>50ms", 50_001.0) && !holds("p99>50ms", 50_000.0));
        assert!(holds("p999 >= 1.5s", 1_500_000.0) && !holds("p999 >= 1.5s", 1_499_999.0));
        assert!(holds("p50<80us", 79.0) && !holds("p50<80us", 80.0));
        assert!(holds("rate<1000", 999.5) && !holds("rate<1000", 1_000.0));
        assert!(holds("errors<=0", 0.0) && holds("errors>0", 1.0) && !holds("errors>0", 0.0));
        assert!(holds("max>1s", 1_000_001.0) && holds("mean>1ms", 1_001.0) && holds("never_made>0", 1.0));
    }

    #[test]
    fn a_condition_may_name_a_step() {
        let condition = |text: &str| text.parse::<FailIf>().map(|condition| (condition.step, condition.metric));
        let of = |step| Ok((Some(step), Metric::P99));
        assert_eq!(condition("capture-payment.p99>50ms"), of(MeasuredStep::CapturePayment));
        assert_eq!(condition("flow: tokenize-card.p99 > 50ms"), of(MeasuredStep::TokenizeCard));
        assert_eq!(condition("p99>50ms"), Ok((None, Metric::P99)));
    }

    #[test]
    fn an_invalid_condition_is_refused_with_the_right_form() {
        let wrong = [
            "",
            "p99",
            "p99=50ms",
            "p98>50ms",
            "p99>50",
            "p99>",
            ">50ms",
            "rate<1000ms",
            "rate<-1",
            "errors>x",
            "p99>=>1s",
            "rate<NaN",
            "rate<inf",
        ];
        for text in wrong {
            let refused = text.parse::<FailIf>().map(|condition| condition.to_string());
            assert!(refused.as_ref().is_err_and(|reason| reason.contains("'p99>50ms'")), "{text}: {refused:?}");
        }
        for wrong in ["pay.p99>1s", "capture-payment.rate<5", ".p99>1s"] {
            assert!(wrong.parse::<FailIf>().is_err_and(|reason| reason.contains("step")), "{wrong}");
        }
        assert!("p98>1s".parse::<FailIf>().is_err_and(|reason| reason.contains("there is no metric 'p98'")));
        assert!("p99>50".parse::<FailIf>().is_err_and(|reason| reason.contains("'50' is not a bound of p99")));
    }
}

//! The number of objects that a run uses up, and their creation beforehand.

use std::time::{Duration, Instant};

use super::prepare::Lines;
use super::stock::Stock;
use crate::chance::{Distribution, SeededDice};
use crate::plan::Plan;

/// Objects that are made at the same time, unless their number is estimated and the run has fewer connections.
const AT_ONCE: usize = 64;

/// The least time for which objects are made in order to estimate the number that is needed.
const TRIAL: Duration = Duration::from_millis(400);

/// The least number of objects that each connection makes for the estimate, so that opening it does not count.
const TRIAL_EACH: usize = 8;

/// The most objects of a run, unless their number is given.
const COUNT_MAX: f64 = 4_000_000.0;

/// What the preparation of a run needs.
pub(super) struct Preparation<'a> {
    pub(super) stock: &'a Stock,
    pub(super) plan: &'a Plan,
    pub(super) distribution: &'a Distribution,
    pub(super) dice: SeededDice,
    pub(super) tell: &'a dyn Fn(&str),
}

/// Objects that operations use up.
pub(super) struct Supply {
    /// Their name, in the plural.
    pub(super) what: &'static str,
    /// The number of these objects that an operation of the run uses, on average.
    pub(super) share: f64,
    /// The number of objects, where the plan gives it.
    pub(super) given: Option<usize>,
    /// The most objects that a closed loop uses in the time in which one is made.
    pub(super) used_for_one_made: f64,
}

impl Supply {
    /// Makes the objects that a run needs, each by `job` for the merchant of an index; none when no operation uses one.
    pub(super) async fn make<T>(
        &self,
        preparation: &mut Preparation<'_>,
        job: impl AsyncFn(&mut Lines, usize) -> anyhow::Result<T>,
    ) -> anyhow::Result<Vec<T>> {
        let Preparation { stock, plan, distribution, tell, .. } = *preparation;
        let (dice, mut all) = (&mut preparation.dice, Vec::new());
        if self.share == 0.0 {
            return Ok(all);
        }
        let count = match (self.given, self.needed(plan)) {
            (Some(count), _) | (None, Some(count)) => count,
            (None, None) => {
                let start = Instant::now();
                all = try_out(stock, plan.connections, distribution, dice, &job).await?;
                self.guessed(plan, all.len(), start.elapsed())
            }
        };
        tell(&format!("making {count} {}", self.what));
        let drawn: Vec<usize> = (all.len()..count).map(|_| distribution.draw(dice)).collect();
        let make = async |lines: &mut Lines, index: usize| job(lines, drawn[index]).await;
        all.extend(stock.ends.each(drawn.len(), AT_ONCE, make).await?);
        Ok(all)
    }

    /// The number of objects that a run with a rate uses; None without a rate.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates and spans are bounded")]
    fn needed(&self, plan: &Plan) -> Option<usize> {
        // The kind of each call is drawn, so slightly more calls than their share may use an object.
        let due = plan.rates()?.due_within((*plan.warm_up + *plan.duration).as_secs_f64());
        let mean = due * self.share;
        Some((mean + 6.0 * mean.sqrt()).ceil() as usize + plan.connections)
    }

    /// The number of objects that a closed loop may use, when as many connections made `made` of them in `took`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is bounded")]
    #[expect(clippy::cast_precision_loss, reason = "few were made")]
    fn guessed(&self, plan: &Plan, made: usize, within: Duration) -> usize {
        let rate = made as f64 / within.as_secs_f64();
        let span = (*plan.warm_up + *plan.duration).as_secs_f64();
        (rate * span * self.used_for_one_made).min(COUNT_MAX).ceil() as usize + plan.connections
    }
}

/// Makes objects for the time of the estimate.
async fn try_out<T>(
    stock: &Stock,
    at_once: usize,
    distribution: &Distribution,
    dice: &mut SeededDice,
    job: &impl AsyncFn(&mut Lines, usize) -> anyhow::Result<T>,
) -> anyhow::Result<Vec<T>> {
    let (mut made, until) = (Vec::new(), Instant::now() + TRIAL);
    let worker = async |mut dice: SeededDice| {
        let (mut lines, mut made) = (stock.ends.lines(), Vec::new());
        while Instant::now() < until || made.len() < TRIAL_EACH {
            made.push(job(&mut lines, distribution.draw(&mut dice)).await?);
        }
        anyhow::Ok(made)
    };
    let workers: Vec<_> = (0..at_once).map(|_| worker(SeededDice::new(dice.number()))).collect();
    for part in futures_util::future::try_join_all(workers).await? {
        made.extend(part);
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::examples::{flags, plan};
    use crate::plan::{Scenario, ScenarioKind};

    fn supply(plan: &Plan) -> Supply {
        let share = plan.scenario.share(ScenarioKind::Initiate);
        Supply { what: "sessions", share, given: None, used_for_one_made: 1.25 }
    }

    #[test]
    fn a_run_with_a_rate_needs_slightly_more_than_its_share() {
        let open = flags(ScenarioKind::Initiate, "--rate 1000 --duration 4s --warm-up 0s --connections 8");
        let weights: Scenario = "initiate=1,ping=3".parse().unwrap_or_else(|error: String| panic!("{error}"));
        let mixed = Plan { scenario: weights, ..open.clone() };
        assert!(supply(&open).needed(&open).is_some_and(|count| (4008..4500).contains(&count)));
        assert!(supply(&mixed).needed(&mixed).is_some_and(|count| (1008..1300).contains(&count)));
        let closed = plan(ScenarioKind::Initiate);
        assert_eq!(supply(&closed).needed(&closed), None);
    }

    #[test]
    fn a_run_without_one_gets_more_than_were_made_in_the_same_time() {
        let (made, plan) = (400, plan(ScenarioKind::Initiate));
        assert!((1200..1400).contains(&supply(&plan).guessed(&plan, made, Duration::from_millis(400))));
    }
}

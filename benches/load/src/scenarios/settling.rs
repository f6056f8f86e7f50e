//! A check that captures keep up with payments, by the merchants' balances, which contain exactly the captured amounts.
//!
//! No metric counts payments that wait for their capture, and reading each payment would be a load of its own. A
//! balance is one cheap call for each merchant, gives the number of missing captures, and shows money that no payment
//! explains.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

use super::amounts::INITIATED_MINOR;
use super::ping::Balance;
use super::prepare::{Lines, check_accepted};
use super::stock::Stock;

/// Balances that are read at the same time.
const AT_ONCE: usize = 8;

/// The longest time that the capture of the last payment is waited for.
const PATIENCE: Duration = Duration::from_secs(120);

/// The pause between two reads.
const PAUSE: Duration = Duration::from_millis(5);

/// Captures keep up when the last payment is captured within this time after the last answer, or within
/// [`KEEPS_UP_SHARE`] of the time that was measured.
const KEEPS_UP_WITHIN: Duration = Duration::from_millis(250);

/// A backlog that takes less than this share of the measured time did not exceed this share of the payments.
const KEEPS_UP_SHARE: f64 = 0.05;

/// The money of all merchants before a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Baseline {
    total_minor: u64,
    shops: usize,
}

/// The progress of the captures that follow from a run's payments.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FollowUp {
    /// Payments that were answered.
    pub payments: u64,
    /// Payments that were not yet captured at the time of the last answer, computed from the missing amount.
    pub backlog_at_end: u64,
    /// The time from the last answer to the capture of the last payment, in microseconds; null when some never were.
    pub last_captured_after_micros: Option<u64>,
    /// True when the captures kept up with the answers.
    pub kept_up: bool,
    /// Money that no payment explains, in minor units: a wrong answer.
    pub unexplained_minor: u64,
}

/// The settlement of a run's payments, which is waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settling {
    /// The money before the run.
    pub(crate) before: Baseline,
    /// Payments of the run.
    pub(crate) payments: u64,
    /// The amount of these payments, in minor units.
    pub(crate) paid_minor: u64,
    /// The amount of refunds, also of earlier payments, and of payouts, in minor units.
    pub(crate) given_minor: u64,
    /// Calls that failed: each may have made its payment nevertheless.
    pub(crate) uncertain: u64,
    /// The time of the last answer.
    pub(crate) last_answer: Instant,
    /// The duration of the run.
    pub(crate) span: Duration,
}

impl Baseline {
    /// Adds up the money of the first merchants.
    pub(crate) async fn read(stock: &Stock, shops: usize) -> anyhow::Result<Baseline> {
        let ask = async |lines: &mut Lines, index: usize| {
            let shop = &stock.shops[index];
            let answer = check_accepted("read a balance", lines.public.call(&shop.get_balance).await)?;
            let balance = Balance::read(answer.body, &shop.currency);
            let balance = balance.context("failed to read a balance: the answer is not one")?;
            u64::try_from(balance.total_minor()).context("a balance is below zero")
        };
        let totals: Vec<u64> = stock.ends.each(shops, AT_ONCE, ask).await?;
        Ok(Baseline { total_minor: totals.iter().sum(), shops })
    }
}

impl FollowUp {
    /// The difference between the balances and the acknowledged payouts, after a run without payments.
    pub(crate) fn unlike_acknowledged(&self) -> Option<String> {
        if self.last_captured_after_micros.is_none() {
            return Some("the balances are below what the acknowledged payouts have left".to_owned());
        }
        let more = self.unexplained_minor;
        (more > 0).then(|| format!("the balances have {more} minor units that were acknowledged as paid out"))
    }
}

impl Settling {
    /// Waits until the balances contain all payments.
    pub(crate) async fn wait(&self, stock: &Stock) -> anyhow::Result<FollowUp> {
        let expected_minor = (self.before.total_minor + self.paid_minor).saturating_sub(self.given_minor);
        let mut backlog_at_end = None;
        loop {
            let asked = Instant::now();
            let found_minor = Baseline::read(stock, self.before.shops).await?.total_minor;
            let missing = expected_minor.saturating_sub(found_minor).div_ceil(INITIATED_MINOR);
            let backlog_at_end = *backlog_at_end.get_or_insert(missing.min(self.payments));
            if found_minor >= expected_minor {
                return Ok(self.summarize(backlog_at_end, Some(asked), found_minor - expected_minor));
            }
            if self.last_answer.elapsed() > PATIENCE {
                return Ok(self.summarize(backlog_at_end, None, 0));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn summarize(&self, backlog_at_end: u64, captured: Option<Instant>, more_minor: u64) -> FollowUp {
        let after = captured.map(|captured| captured.saturating_duration_since(self.last_answer));
        let bound = KEEPS_UP_WITHIN.max(self.span.mul_f64(KEEPS_UP_SHARE));
        FollowUp {
            payments: self.payments,
            backlog_at_end,
            last_captured_after_micros: after.map(|after| u64::try_from(after.as_micros()).unwrap_or(u64::MAX)),
            kept_up: after.is_some_and(|after| after <= bound),
            unexplained_minor: if self.uncertain == 0 { more_minor } else { 0 },
        }
    }
}

/// Waits until payments that were made beforehand are captured.
pub(super) async fn wait_until_paid(stock: &Stock, before: &Baseline, paid_minor: u64) -> anyhow::Result<()> {
    let settling = Settling {
        before: *before,
        payments: paid_minor / INITIATED_MINOR,
        paid_minor,
        given_minor: 0,
        uncertain: 0,
        last_answer: Instant::now(),
        span: Duration::ZERO,
    };
    let follow_up = settling.wait(stock).await?;
    ensure!(follow_up.last_captured_after_micros.is_some(), "payments made beforehand were not captured in time");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settling(span_seconds: u64) -> Settling {
        let before = Baseline { total_minor: 0, shops: 1 };
        let (last_answer, span) = (Instant::now(), Duration::from_secs(span_seconds));
        Settling { before, payments: 10, paid_minor: 100_000, given_minor: 0, uncertain: 0, last_answer, span }
    }

    fn kept_up(settling: &Settling, after_millis: u64) -> bool {
        settling.summarize(1, Some(settling.last_answer + Duration::from_millis(after_millis)), 0).kept_up
    }

    #[test]
    fn a_short_backlog_keeps_up_and_a_growing_one_does_not() {
        assert!(kept_up(&settling(1), 200) && !kept_up(&settling(1), 300));
        assert!(kept_up(&settling(60), 2_900) && !kept_up(&settling(60), 3_100));
        assert!(!settling(60).summarize(10, None, 0).kept_up);
    }

    #[test]
    fn money_is_unexplained_unless_a_call_failed_that_may_have_paid() {
        let captured = Some(Instant::now());
        assert_eq!(settling(1).summarize(0, captured, 500).unexplained_minor, 500);
        assert_eq!(Settling { uncertain: 1, ..settling(1) }.summarize(0, captured, 500).unexplained_minor, 0);
    }
}

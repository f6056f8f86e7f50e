//! Sessions, made beforehand so that only the initiation is measured.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::prepare::{Lines, accepted};
use super::shop::Shop;
use super::stock::Stock;
use crate::chance::{Dice, Distribution};
use crate::client::Connection;
use crate::plan::{Kind, Load, Plan};

/// Bytes of a session's id: its prefix and the 26 characters of a TypeID.
pub(super) const SESSION_BYTES: usize = 30;

/// Sessions made at once, unless a run has fewer connections and their number is found out.
const AT_ONCE: usize = 64;

/// For how long sessions are made to find out how many are needed.
const TRIAL: Duration = Duration::from_millis(400);

/// Initiations for one session that is made in the same time, at most, with closed loops. Both are one commit.
const INITIATIONS_FOR_A_SESSION: f64 = 1.25;

/// Most sessions of a run, unless their number is given.
const SESSIONS_MAX: f64 = 4_000_000.0;

/// A session, with the index of its merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) shop: usize,
    pub(super) id: [u8; SESSION_BYTES],
}

/// Sessions that are used once each, in the order of the merchants that were drawn.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    all: Vec<Session>,
    next: AtomicUsize,
}

impl Sessions {
    /// The next one.
    pub(super) fn take(&self) -> Option<&Session> {
        self.all.get(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Makes as many as a run needs.
    pub(super) async fn prepare(
        stock: &Stock,
        plan: &Plan,
        distribution: &Distribution,
        dice: &mut Dice,
        tell: &dyn Fn(&str),
    ) -> anyhow::Result<Sessions> {
        if !plan.scenario.has(Kind::Initiate) {
            return Ok(Sessions::default());
        }
        let mut all = Vec::new();
        let count = match (plan.sessions, needed(plan)) {
            (Some(count), _) | (None, Some(count)) => count,
            (None, None) => {
                all = try_out(stock, plan.connections, distribution, dice).await?;
                guessed(plan, all.len())
            }
        };
        tell(&format!("making {count} payment sessions"));
        let missing = count.saturating_sub(all.len());
        all.extend(make(stock, missing, AT_ONCE, distribution, dice).await?);
        Ok(Sessions { all, next: AtomicUsize::new(0) })
    }
}

/// How many a run with a rate uses; None without one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates and spans are bounded")]
fn needed(plan: &Plan) -> Option<usize> {
    match plan.load {
        // A part of calls is drawn as initiations, so a few more than that part may be.
        Load::Open { rate, patience: _ } => {
            let mean =
                rate * (plan.warm_up + plan.duration).as_secs_f64() * plan.scenario.weights.share(Kind::Initiate);
            Some((mean + 6.0 * mean.sqrt()).ceil() as usize + plan.connections)
        }
        Load::Closed | Load::Search(_) => None,
    }
}

/// How many a run without a rate may use, when `made` were made in [`TRIAL`] by as many connections.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is bounded")]
#[expect(clippy::cast_precision_loss, reason = "few were made")]
fn guessed(plan: &Plan, made: usize) -> usize {
    let rate = made as f64 / TRIAL.as_secs_f64();
    let span = (plan.warm_up + plan.duration).as_secs_f64();
    (rate * span * INITIATIONS_FOR_A_SESSION).min(SESSIONS_MAX).ceil() as usize + plan.connections
}

/// Makes sessions for a time.
async fn try_out(
    stock: &Stock,
    at_once: usize,
    distribution: &Distribution,
    dice: &mut Dice,
) -> anyhow::Result<Vec<Session>> {
    let (mut made, until) = (Vec::new(), Instant::now() + TRIAL);
    let worker = async |mut dice: Dice| {
        let (mut lines, mut made) = (stock.ends.lines(), Vec::new());
        while Instant::now() < until {
            let shop = distribution.draw(&mut dice);
            made.push(Session { shop, id: session_of(&stock.shops[shop], &mut lines.public).await? });
        }
        anyhow::Ok(made)
    };
    let workers: Vec<_> = (0..at_once).map(|_| worker(Dice::new(dice.number()))).collect();
    for part in futures_util::future::try_join_all(workers).await? {
        made.extend(part);
    }
    Ok(made)
}

async fn make(
    stock: &Stock,
    count: usize,
    at_once: usize,
    distribution: &Distribution,
    dice: &mut Dice,
) -> anyhow::Result<Vec<Session>> {
    let drawn: Vec<usize> = (0..count).map(|_| distribution.draw(dice)).collect();
    let make = async |lines: &mut Lines, index: usize| {
        let shop = drawn[index];
        anyhow::Ok(Session { shop, id: session_of(&stock.shops[shop], &mut lines.public).await? })
    };
    stock.ends.each(count, at_once, make).await
}

/// A fresh session of a merchant.
pub(super) async fn session_of(shop: &Shop, connection: &mut Connection) -> anyhow::Result<[u8; SESSION_BYTES]> {
    let answer = accepted("select a payment method", connection.call(&shop.select).await)?;
    let id = answer.id().and_then(|id| id.as_bytes().try_into().ok());
    id.with_context(|| format!("failed to select a payment method: {} is no session", answer.excerpt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Scenario;
    use crate::plan::parameters::examples::plan;

    #[test]
    fn a_run_with_a_rate_needs_its_share_of_all_calls_and_a_little_more() {
        let weights = "initiate=1,ping=3".parse().unwrap_or_else(|error: String| panic!("{error}"));
        let open = Plan {
            load: Load::Open { rate: 1000.0, patience: None },
            duration: Duration::from_secs(4),
            ..plan(Kind::Initiate)
        };
        let mixed = Plan { scenario: Scenario::mixed(weights), ..open.clone() };
        assert!(needed(&open).is_some_and(|count| (4008..4500).contains(&count)));
        assert!(needed(&mixed).is_some_and(|count| (1008..1300).contains(&count)));
        assert_eq!(needed(&plan(Kind::Initiate)), None);
    }

    #[test]
    fn a_run_without_one_gets_more_than_were_made_in_the_same_time() {
        let made = 400;
        assert!((1200..1400).contains(&guessed(&plan(Kind::Initiate), made)));
    }
}

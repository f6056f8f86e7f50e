//! Sessions, made beforehand so that only the initiation is measured.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;

use super::prepare::{Lines, accepted};
use super::shop::LoadMerchant;
use super::stock::Stock;
use super::supply::Supply;
use crate::chance::{Distribution, SeededDice};
use crate::client::Connection;
use crate::plan::{Plan, ScenarioKind};

/// Bytes of a session's id: its prefix and the 26 characters of a TypeID.
pub(super) const SESSION_BYTES: usize = 30;

/// The most initiations in the time in which one session is made, in closed loops. Both take one commit.
const INITIATIONS_FOR_A_SESSION: f64 = 1.25;

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
    /// The next session.
    pub(super) fn take(&self) -> Option<&Session> {
        self.all.get(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Makes the sessions that a run needs.
    pub(super) async fn prepare(
        stock: &Stock,
        plan: &Plan,
        distribution: &Distribution,
        dice: &mut SeededDice,
        tell: &dyn Fn(&str),
    ) -> anyhow::Result<Sessions> {
        if !plan.scenario.has(ScenarioKind::Initiate) {
            return Ok(Sessions::default());
        }
        let supply = Supply {
            what: "payment sessions",
            share: plan.scenario.weights.share(ScenarioKind::Initiate),
            given: plan.sessions,
            used_for_one_made: INITIATIONS_FOR_A_SESSION,
        };
        let make = async |lines: &mut Lines, shop: usize| {
            anyhow::Ok(Session { shop, id: session_of(&stock.shops[shop], &mut lines.public).await? })
        };
        let all = supply.make(stock, plan, distribution, dice, tell, make).await?;
        Ok(Sessions { all, next: AtomicUsize::new(0) })
    }
}

/// A fresh session of a merchant.
pub(super) async fn session_of(
    shop: &LoadMerchant,
    connection: &mut Connection,
) -> anyhow::Result<[u8; SESSION_BYTES]> {
    let answer = accepted("select a payment method", connection.call(&shop.select).await)?;
    let id = answer.id().and_then(|id| id.as_bytes().try_into().ok());
    id.with_context(|| format!("failed to select a payment method: {} is not a session id", answer.excerpt()))
}

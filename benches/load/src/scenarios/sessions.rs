//! Sessions, made beforehand so that only the initiation is measured.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use till_domain::ids::PaymentId;

use super::asking::AskingMethod;
use super::prepare::{Lines, check_accepted};
use super::shop::LoadMerchant;
use super::supply::{Preparation, Supply};
use crate::chance::SeededDice;
use crate::client::Connection;
use crate::plan::{Plan, ScenarioKind};

/// Bytes of a session's id: its prefix and the 26 characters of a TypeID.
pub(super) const SESSION_BYTES: usize = 30;

/// The most initiations in the time in which one session is made, in closed loops. Both take one commit.
const INITIATIONS_FOR_A_SESSION: f64 = 1.25;

/// A session, with the index of its merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenSession {
    pub(super) shop: usize,
    pub(super) id: [u8; SESSION_BYTES],
    pub(super) course: SessionCourse,
}

/// The course of a session's payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionCourse {
    /// Its card succeeds.
    Approved,
    /// Its card is declined.
    Declined,
    /// It asks its customer, and succeeds then.
    Asking(AskingMethod),
}

/// The payment of a session that asks its customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AskingPayment {
    /// The index of its merchant.
    pub(super) shop: usize,
    pub(super) session: [u8; SESSION_BYTES],
    pub(super) id: PaymentId,
    pub(super) method: AskingMethod,
}

/// Sessions that are used once each, in the order of the merchants that were drawn.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    all: Vec<OpenSession>,
    next: AtomicUsize,
}

impl Sessions {
    /// The next session.
    pub(super) fn take(&self) -> Option<&OpenSession> {
        self.all.get(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Makes the sessions that a run needs. The cards of some are declined.
    pub(super) async fn prepare(preparation: &mut Preparation<'_>) -> anyhow::Result<Sessions> {
        let Preparation { stock, plan, .. } = *preparation;
        let supply = Supply {
            what: "payment sessions",
            share: plan.scenario.share(ScenarioKind::Initiate),
            given: plan.sessions,
            used_for_one_made: INITIATIONS_FOR_A_SESSION,
        };
        let dice = RefCell::new(SeededDice::new(preparation.dice.number()));
        let make = async |lines: &mut Lines, shop: usize| {
            let (course, request) = draw_course(&stock.shops[shop], plan, &mut dice.borrow_mut());
            anyhow::Ok(OpenSession { shop, id: session_of(request, &mut lines.public).await?, course })
        };
        let all = supply.make(preparation, make).await?;
        Ok(Sessions { all, next: AtomicUsize::new(0) })
    }
}

/// The course of a merchant's next payment, with its selection.
fn draw_course<'s>(shop: &'s LoadMerchant, plan: &Plan, dice: &mut SeededDice) -> (SessionCourse, &'s [u8]) {
    let (declines, asks) = (plan.declines.unwrap_or_default(), plan.action_share.unwrap_or_default());
    let drawn = if declines + asks > 0.0 { dice.share() } else { 1.0 };
    if drawn < declines {
        return (SessionCourse::Declined, &shop.select_declined);
    }
    match &shop.customers {
        Some(customers) if drawn < declines + asks => {
            let (method, request) = customers.draw(dice);
            (SessionCourse::Asking(*method), request)
        }
        Some(_) | None => (SessionCourse::Approved, &shop.select),
    }
}

/// The fresh session that a request makes.
pub(super) async fn session_of(request: &[u8], connection: &mut Connection) -> anyhow::Result<[u8; SESSION_BYTES]> {
    let answer = check_accepted("select a payment method", connection.call(request).await)?;
    let id = answer.id().and_then(|id| id.as_bytes().try_into().ok());
    id.with_context(|| format!("failed to select a payment method: {} is not a session id", answer.excerpt()))
}

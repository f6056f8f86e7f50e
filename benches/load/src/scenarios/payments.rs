//! Payments, made beforehand so that only the operations on them are measured, and how they are read.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use till_domain::ids::PaymentId;

use super::acknowledged::{Acknowledged, PaymentView};
use super::amounts::REFUNDS_OF_A_PAYMENT;
use super::prepare::{Lines, check_accepted};
use super::sessions::session_of;
use super::shop::LoadMerchant;
use super::stock::Stock;
use super::supply::{Preparation, Supply};
use crate::client::{Connection, Template};
use crate::plan::ScenarioKind;

/// The most captures, voids or refunds in the time in which one payment is made: a payment takes two calls, they take
/// one.
const CHANGES_FOR_A_PAYMENT: f64 = 2.0;

/// Payments that are read at the same time.
const AT_ONCE: usize = 64;

/// The time for which the acquirer's answer to a payment is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two reads.
const PAUSE: Duration = Duration::from_millis(5);

/// A payment, with the index of its merchant and the operations on it that were acknowledged.
#[derive(Debug)]
pub(super) struct PreparedPayment {
    pub(super) shop: usize,
    pub(super) id: PaymentId,
    pub(super) acknowledged: Acknowledged,
}

/// The state of a payment that is waited for, as `find-payment` answers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PaymentCheck {
    /// The payment is in the expected state.
    Right,
    /// The acquirer has not answered yet.
    OnItsWay,
    /// The payment will never reach the expected state.
    Wrong,
}

/// Payments that are used in the order of the merchants that were drawn.
#[derive(Debug, Default)]
pub(super) struct PreparedPayments {
    pub(super) all: Vec<PreparedPayment>,
    uses: AtomicUsize,
}

impl PreparedPayments {
    /// The next payment, which is given out only once, and its number.
    pub(super) fn take(&self) -> Option<(usize, &PreparedPayment)> {
        let number = self.uses.fetch_add(1, Ordering::Relaxed);
        Some((number, self.all.get(number)?))
    }

    /// The next payment that is not wholly refunded; each is given out once for each of its refunds.
    pub(super) fn take_for_refund(&self) -> Option<&PreparedPayment> {
        self.all.get(self.uses.fetch_add(1, Ordering::Relaxed) / REFUNDS_OF_A_PAYMENT)
    }

    /// Makes the payments that a run captures and voids.
    pub(super) async fn authorized(preparation: &mut Preparation<'_>) -> anyhow::Result<PreparedPayments> {
        let scenario = &preparation.plan.scenario;
        let supply = Supply {
            what: "authorized payments",
            share: scenario.share(ScenarioKind::Capture) + scenario.share(ScenarioKind::Void),
            given: preparation.plan.payments,
            used_for_one_made: CHANGES_FOR_A_PAYMENT,
        };
        PreparedPayments::make(preparation, &supply, |shop| &shop.authorize, "AUTHORIZED").await
    }

    /// Makes the payments that a run refunds.
    pub(super) async fn captured(preparation: &mut Preparation<'_>) -> anyhow::Result<PreparedPayments> {
        let refunds = f64::from(u32::try_from(REFUNDS_OF_A_PAYMENT).expect("it is small"));
        let supply = Supply {
            what: "captured payments",
            share: preparation.plan.scenario.share(ScenarioKind::Refund) / refunds,
            given: preparation.plan.payments,
            used_for_one_made: CHANGES_FOR_A_PAYMENT / refunds,
        };
        PreparedPayments::make(preparation, &supply, |shop| &shop.initiate, "SUCCESSFUL").await
    }

    /// Makes payments by an initiation, and waits until they have a status.
    async fn make(
        preparation: &mut Preparation<'_>,
        supply: &Supply,
        initiation: fn(&LoadMerchant) -> &Template,
        status: &str,
    ) -> anyhow::Result<PreparedPayments> {
        let stock = preparation.stock;
        let pay = async |lines: &mut Lines, index: usize| {
            let shop = &stock.shops[index];
            PreparedPayment::initiate(index, shop, initiation(shop), &mut lines.public).await
        };
        let all = supply.make(preparation, pay).await?;
        wait_until(stock, &all, status).await?;
        Ok(PreparedPayments { all, uses: AtomicUsize::new(0) })
    }
}

impl PreparedPayment {
    async fn initiate(
        index: usize,
        shop: &LoadMerchant,
        initiation: &Template,
        connection: &mut Connection,
    ) -> anyhow::Result<PreparedPayment> {
        let session = session_of(&shop.select, connection).await?;
        let mut request = Vec::new();
        initiation.write(&session, &mut request);
        let answer = check_accepted("initiate a payment", connection.call(&request).await)?;
        let id = answer.id().and_then(|id| id.parse().ok());
        let id =
            id.with_context(|| format!("failed to initiate a payment: {} is not a payment id", answer.excerpt()))?;
        Ok(PreparedPayment { shop: index, id, acknowledged: Acknowledged::default() })
    }

    /// Writes a call about the payment to `request`.
    pub(super) fn write(&self, template: &Template, request: &mut Vec<u8>) {
        template.write(self.id.to_string().as_bytes(), request);
    }

    /// Reads the payment until it is in the expected state. Else the text says in which state it was seen last.
    pub(super) async fn read_until(
        &self,
        shop: &LoadMerchant,
        connection: &mut Connection,
        judge: impl Fn(&PaymentView<'_>) -> PaymentCheck,
    ) -> anyhow::Result<Result<(), String>> {
        let (start, mut request) = (Instant::now(), Vec::new());
        self.write(&shop.find, &mut request);
        loop {
            let answer = check_accepted("find a payment", connection.call(&request).await)?;
            let found: PaymentView<'_> =
                serde_json::from_slice(answer.body).context("failed to find a payment: the answer is not one")?;
            match judge(&found) {
                PaymentCheck::Right => return Ok(Ok(())),
                PaymentCheck::OnItsWay if start.elapsed() < PATIENCE => tokio::time::sleep(PAUSE).await,
                PaymentCheck::OnItsWay | PaymentCheck::Wrong => return Ok(Err(found.to_string())),
            }
        }
    }
}

/// Waits until the acquirer has answered payments that were made beforehand.
async fn wait_until(stock: &Stock, payments: &[PreparedPayment], status: &str) -> anyhow::Result<()> {
    let read = async |lines: &mut Lines, index: usize| {
        let payment = &payments[index];
        let shop = &stock.shops[payment.shop];
        let judge = |found: &PaymentView<'_>| match found.status {
            "PENDING" => PaymentCheck::OnItsWay,
            reached if reached == status => PaymentCheck::Right,
            _ => PaymentCheck::Wrong,
        };
        let seen = payment.read_until(shop, &mut lines.public, judge).await?;
        seen.map_err(|found| anyhow!("a payment made beforehand should be {status}, and is {found}"))
    };
    stock.ends.each(payments.len(), AT_ONCE, read).await.map(|_: Vec<()>| ())
}

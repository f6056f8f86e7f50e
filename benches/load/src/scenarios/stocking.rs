//! Prepares the merchants that all runs of one command share.

use std::net::SocketAddr;

use super::prepare::{Ends, OPERATOR_CALLS_AT_ONCE};
use super::shop::LoadMerchant;
use super::stock::Stock;
use super::{deliveries, entries, payouts};
use crate::plan::{Plan, ScenarioKind};
use crate::target::{Access, TargetServer};

impl Stock {
    /// Creates the merchants and entries that all runs of a plan share, with webhooks to `webhook_address` when there
    /// is one. A merchant that exists already is taken as it is.
    pub(crate) async fn prepare(
        plan: &Plan,
        server: &TargetServer,
        webhook_address: Option<SocketAddr>,
        tell: &dyn Fn(&str),
    ) -> anyhow::Result<Stock> {
        let (public, count) = (server.public.clone(), plan.merchants_max());
        let (ends, shops) = match &server.access {
            Access::Merchant(merchant) => {
                let ends = Ends { public, operator: None };
                let shop = LoadMerchant::existing(&mut ends.lines(), &ends.public, merchant, plan).await?;
                (ends, vec![shop])
            }
            Access::Operator(operator) => {
                let ends = Ends { public, operator: Some(operator.clone()) };
                tell(&format!("making {count} merchants"));
                let create = async |lines: &mut _, _| LoadMerchant::create(lines, &ends.public, plan).await;
                let shops = ends.each(count, OPERATOR_CALLS_AT_ONCE, create).await?;
                (ends, shops)
            }
        };
        let mut stock = Stock { ends, shops, activity: Vec::new(), balance: Vec::new() };
        if let Some(address) = webhook_address {
            deliveries::connect(&stock, address).await?;
        }
        if plan.scenario.has(ScenarioKind::Activity) {
            stock.activity = entries::of_activity(&stock, plan.entries(), tell).await?;
        }
        if plan.scenario.has(ScenarioKind::Balance) {
            stock.balance = entries::of_balance(&stock, plan.entries(), tell).await?;
        }
        if plan.scenario.has(ScenarioKind::Payout) {
            payouts::fund(&stock).await?;
        }
        Ok(stock)
    }
}

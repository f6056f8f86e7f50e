//! Creates the merchants that all runs of one command share.

use std::net::SocketAddr;

use secrecy::SecretString;

use super::prepare::Ends;
use super::shop::{LoadMerchant, OperatorHeads};
use super::stock::Stock;
use super::{deliveries, entries, payouts};
use crate::plan::{Plan, ScenarioKind};
use crate::target::ServerAddress;

/// The calls of the operator at the same time: its listener has one thread.
const OPERATOR_CALLS_AT_ONCE: usize = 16;

impl Stock {
    /// Creates the merchants and entries that all runs of a plan share, with webhooks to `webhook_address` when there is one.
    pub(crate) async fn prepare(
        plan: &Plan,
        public: ServerAddress,
        admin: ServerAddress,
        token: SecretString,
        webhook_address: Option<SocketAddr>,
        tell: &dyn Fn(&str),
    ) -> anyhow::Result<Stock> {
        let (count, operator) = (plan.merchants_max(), OperatorHeads::new(admin.clone(), token));
        let ends = Ends { public, admin };
        tell(&format!("making {count} merchants"));
        let create = async |lines: &mut _, _| LoadMerchant::create(lines, &ends, &operator).await;
        let shops = ends.each(count, OPERATOR_CALLS_AT_ONCE, create).await?;
        let mut stock = Stock { ends, shops, activity: Vec::new(), balance: Vec::new() };
        if let Some(address) = webhook_address {
            deliveries::connect(&stock, address).await?;
        }
        if plan.scenario.has(ScenarioKind::Activity) {
            tell(&format!("making {} activity entries for each merchant", plan.lists.entries));
            stock.activity = entries::of_activity(&stock, plan.lists.entries).await?;
        }
        if plan.scenario.has(ScenarioKind::Balance) {
            tell(&format!("making {} ledger entries for each merchant", plan.lists.entries));
            stock.balance = entries::of_balance(&stock, plan.lists.entries, &operator, OPERATOR_CALLS_AT_ONCE).await?;
        }
        if plan.scenario.has(ScenarioKind::Payout) {
            payouts::fund(&stock, &operator, OPERATOR_CALLS_AT_ONCE).await?;
        }
        Ok(stock)
    }
}

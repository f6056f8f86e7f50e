//! Selects the operation that a connection makes next.

use super::load_client::LoadClient;
use super::world::RunContext;
use super::{changes, checkout, customer, flow, initiate, lists, metadata, payouts, ping};
use crate::plan::ScenarioKind;
use crate::recording::{MeasuredStep, Trouble};

impl RunContext {
    /// Makes the next operation.
    pub(crate) async fn perform(&self, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
        match self.plan.scenario.kind_of(client.dice.number()) {
            ScenarioKind::Ping => ping::ping(self, client).await,
            ScenarioKind::Initiate => initiate::initiate(self, client).await,
            ScenarioKind::Flow => flow::flow(self, client).await,
            ScenarioKind::Checkout => checkout::checkout(self, client).await,
            ScenarioKind::Capture => changes::capture(self, client).await,
            ScenarioKind::Void => changes::void(self, client).await,
            ScenarioKind::Refund => changes::refund(self, client).await,
            ScenarioKind::Payout => payouts::send(self, client).await,
            ScenarioKind::Metadata => metadata::add(self, client).await,
            ScenarioKind::Activity => lists::activity(self, client).await,
            ScenarioKind::Balance => lists::balance(self, client).await,
        }
    }

    /// Acts as the customer of the last operation's payment, when it has one that acts after the operation.
    pub(crate) async fn act_as_customer(&self, client: &mut LoadClient) -> Result<(), Trouble> {
        let Some(payment) = client.asking.take() else { return Ok(()) };
        customer::act(self, client, &payment).await?;
        self.completed(payment.shop, payment.id);
        Ok(())
    }
}

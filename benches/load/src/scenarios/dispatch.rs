//! Selects the operation that a connection makes next.

use super::hands::Hands;
use super::world::RunContext;
use super::{changes, flow, initiate, lists, metadata, payouts, ping};
use crate::plan::ScenarioKind;
use crate::recording::{MeasuredStep, Trouble};

impl RunContext {
    /// Makes the next operation.
    pub(crate) async fn perform(&self, hands: &mut Hands) -> Result<MeasuredStep, Trouble> {
        match self.plan.scenario.weights.kind_of(hands.dice.number()) {
            ScenarioKind::Ping => ping::ping(self, hands).await,
            ScenarioKind::Initiate => initiate::initiate(self, hands).await,
            ScenarioKind::Flow => flow::flow(self, hands).await,
            ScenarioKind::Capture => changes::capture(self, hands).await,
            ScenarioKind::Void => changes::void(self, hands).await,
            ScenarioKind::Refund => changes::refund(self, hands).await,
            ScenarioKind::Payout => payouts::send(self, hands).await,
            ScenarioKind::Metadata => metadata::add(self, hands).await,
            ScenarioKind::Activity => lists::activity(self, hands).await,
            ScenarioKind::Balance => lists::balance(self, hands).await,
        }
    }
}

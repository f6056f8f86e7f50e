//! Selects the operation that a connection makes next.

use super::hands::Hands;
use super::world::World;
use super::{changes, flow, initiate, lists, metadata, payouts, ping};
use crate::plan::Kind;
use crate::recording::{Step, Trouble};

impl World {
    /// Makes the next operation.
    pub(crate) async fn perform(&self, hands: &mut Hands) -> Result<Step, Trouble> {
        match self.plan.scenario.weights.kind_of(hands.dice.number()) {
            Kind::Ping => ping::ping(self, hands).await,
            Kind::Initiate => initiate::initiate(self, hands).await,
            Kind::Flow => flow::flow(self, hands).await,
            Kind::Capture => changes::capture(self, hands).await,
            Kind::Void => changes::void(self, hands).await,
            Kind::Refund => changes::refund(self, hands).await,
            Kind::Payout => payouts::send(self, hands).await,
            Kind::Metadata => metadata::add(self, hands).await,
            Kind::Activity => lists::activity(self, hands).await,
            Kind::Balance => lists::balance(self, hands).await,
        }
    }
}

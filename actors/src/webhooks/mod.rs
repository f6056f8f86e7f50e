//! Delivering events to merchants' endpoints: signatures, addresses that may be called, attempts and their schedule.

mod body;
mod signing;
mod verification;
mod allowed_networks;
mod address_policy;
mod destination;
mod failure;
mod limits;
mod shares;
mod names;
mod sender;
mod connection;
mod answer;
mod retry_schedule;
mod endpoint;
mod outcome;
mod resting;
mod failing;
mod statistics;
mod order_in_turn;
mod dispatcher;
mod redelivery;
mod by_hand;
mod removal;

pub use crate::outbox::WebhookEndpoint;
pub use address_policy::{AddressPolicy, RefusedAddress};
pub use allowed_networks::{ALLOWED_NETWORKS_MAX, AllowedNetworks, AllowedNetworksError};
pub use answer::{EXCERPT_BYTES_MAX, EndpointAnswer};
pub use body::{EventBody, name_of_delivered};
pub use by_hand::{AskedEvents, Webhooks};
pub use destination::{DESTINATION_BYTES_MAX, RefusedDestination};
pub(crate) use dispatcher::Dispatcher;
pub use dispatcher::WebhookDelivery;
pub use failure::FailureReason;
pub use limits::SOCKETS_MAX;
pub use names::{ResolveNames, Resolving, SystemNames};
pub(crate) use removal::remove_old_deliveries;
pub use retry_schedule::{
    DeliveryVerdict, RETRY_AFTER_MAX, RETRY_DELAY_MAX, RETRY_DELAYS_MAX, RetrySchedule, RetryScheduleError, retry_after,
};
pub use sender::{ATTEMPT_TIME_LIMIT, Attempt, AttemptResult, Post, Sender};
pub use signing::{SIGNING_SECRET_BYTES, SignedHeaders, SigningSecret, sign};
pub use statistics::{WaitingDeliveries, WebhookStatistics};
pub use verification::{
    ReceivedHeaders, TIMESTAMP_TOLERANCE_SECONDS, VerificationError, VerificationKey, VerificationKeyError,
};

//! The destinations of the webhooks of a run.

mod endpoint;
mod receiver;

pub(crate) use endpoint::WebhookTarget;
pub(crate) use receiver::WebhookReceiver;

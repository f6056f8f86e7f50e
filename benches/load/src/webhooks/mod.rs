//! The receiver of the webhooks of a run.

mod receiver;

pub(crate) use receiver::WebhookReceiver;

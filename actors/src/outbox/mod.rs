//! The outbox: queues of background work that follows from durable records.

mod made_calls;
mod effect_queue;
mod timer_queue;
mod webhook_queue;
mod erasures;
mod queues;
mod pending;

pub(crate) use effect_queue::PreparedCall;
pub(crate) use erasures::Erasures;
pub(crate) use made_calls::{MadeCall, MadeCalls};
pub(crate) use pending::Pending;
pub(crate) use queues::Outbox;
pub use webhook_queue::WebhookEndpoint;
pub(crate) use webhook_queue::WebhookQueue;

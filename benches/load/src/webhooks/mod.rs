//! The destinations of the webhooks of a run.

mod endpoint;
mod receiver;

pub(crate) use endpoint::Endpoint;
pub(crate) use receiver::Receiver;

//! Where the webhooks of a run lead.

mod endpoint;
mod receiver;

pub(crate) use endpoint::Endpoint;
pub(crate) use receiver::Receiver;

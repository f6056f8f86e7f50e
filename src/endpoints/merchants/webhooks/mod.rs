//! Webhooks: connected, changed and looked up.

mod arguments;
mod changes;
mod delivered;
mod look_up;
mod refusals;
mod secrets;

pub(super) use arguments::{WEBHOOK_ARGUMENT, named, webhook_id};
pub(super) use changes::{
    DISCONNECT_WEBHOOK, RECONNECT_WEBHOOK, UPDATE_WEBHOOK, disconnect_webhook, reconnect_webhook, update_webhook,
};
pub(super) use delivered::DELIVERED_EVENT;
pub(super) use look_up::{FIND_WEBHOOK, LIST_WEBHOOKS, find_webhook, found, list_webhooks};
pub(super) use refusals::WEBHOOK_NOT_FOUND;
pub(super) use secrets::{CONNECT_WEBHOOK, ROTATE_WEBHOOK_SECRET, connect_webhook, rotate_webhook_secret};

//! The deliveries of each event to each webhook, apart from the log and its rows: deliveries change without an event.
//!
//! They are in a RocksDB of their own in the data directory's `webhooks`. Its writes are atomic and not synced: they
//! survive the end of the process, also by `kill -9`. Deliveries that a power cut loses are made again, as when the
//! whole store is moved away because it is damaged: a webhook is sent an event at least once. Format:
//! `docs/storage-format.md`, "Deliveries of webhooks".

mod delivery;
mod contract;
mod keys;
mod shapes;
mod sorted;
mod read;
mod store;
mod check;
mod memory;
mod rocks;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod store_tests;

pub use contract::{Deliveries, DeliveriesError, DeliveryBatch, DeliveryFilter, DeliveryPage};
pub use delivery::{Delivery, DeliveryStatus, EXCERPT_BYTES_MAX, RedeliveryProgress, WebhookProgress};
pub use memory::MemoryDeliveries;
pub use rocks::RocksDeliveries;
pub use shapes::FORMAT;

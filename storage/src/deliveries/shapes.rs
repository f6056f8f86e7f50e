//! The values as bytes: frozen shapes after a format byte, see [`crate::shapes`].

use super::contract::DeliveriesError;
use super::delivery::{Delivery, DeliveryStatus, RedeliveryProgress, WebhookProgress};
use crate::frozen_struct;
use crate::shapes::ShapeError;
use crate::shapes::frozen::{self, Decode, Shape, Tag};
use crate::shapes::tag::tagged;

/// The format of every value.
pub const FORMAT: u8 = 1;

const DELIVERY: &str = "delivery of a webhook";
const PROGRESS: &str = "progress of a webhook";

frozen_struct! {
    /// A delivery.
    DeliveryV1 of Delivery {
        id: [u8; 16],
        webhook_id: [u8; 16],
        event_id: [u8; 16],
        kind: Option<Tag>,
        status: Tag,
        attempt: u32,
        response_status: Option<u16>,
        response_excerpt: Option<String>,
        failure: Option<String>,
        latency_ms: Option<u64>,
        attempted_at: Option<u64>,
        next_attempt_at: Option<u64>,
        created_at: u64,
    }
}

tagged! { DeliveryStatus }

frozen_struct! {
    /// The progress of a webhook.
    WebhookProgressV1 of WebhookProgress {
        handled_up_to: [u8; 16],
        failing_ms: u64,
        failed_at: Option<u64>,
        redelivered: Option<RedeliveryProgressV1>,
    }
}

frozen_struct! {
    /// The progress of an order to deliver events to a webhook again.
    RedeliveryProgressV1 of RedeliveryProgress {
        ordered_after: [u8; 16],
        handled_up_to: Option<[u8; 16]>,
    }
}

pub(super) fn encode_delivery(delivery: &Delivery) -> Result<Vec<u8>, DeliveriesError> {
    encode::<DeliveryV1, _>(DELIVERY, delivery)
}

pub(super) fn decode_delivery(bytes: &[u8]) -> Result<Delivery, DeliveriesError> {
    frozen::decode::<DeliveryV1, _>(DELIVERY, FORMAT, bytes).map_err(DeliveriesError::from)
}

pub(super) fn encode_progress(progress: &WebhookProgress) -> Result<Vec<u8>, DeliveriesError> {
    encode::<WebhookProgressV1, _>(PROGRESS, progress)
}

pub(super) fn decode_progress(bytes: &[u8]) -> Result<WebhookProgress, DeliveriesError> {
    frozen::decode::<WebhookProgressV1, _>(PROGRESS, FORMAT, bytes).map_err(DeliveriesError::from)
}

fn encode<S: Shape<D> + Decode<()>, D>(what: &'static str, value: &D) -> Result<Vec<u8>, DeliveriesError> {
    let encoded = frozen::encode::<S, D>(what, FORMAT, value);
    encoded.map_err(|error| DeliveriesError::NotWritten { reason: error.reason })
}

impl From<ShapeError> for DeliveriesError {
    fn from(error: ShapeError) -> DeliveriesError {
        match error {
            ShapeError::UnknownFormat { what, found } => DeliveriesError::UnknownFormat { what, found },
            ShapeError::Empty { .. }
            | ShapeError::Undecodable { .. }
            | ShapeError::Trailing { .. }
            | ShapeError::OutOfRange { .. }
            | ShapeError::OtherKey { .. }
            | ShapeError::Sealed { .. }
            | ShapeError::Unreadable(_) => DeliveriesError::Damaged { reason: error.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{keys, samples};
    use super::*;

    const CHANGED: &str = "bytes on disk have changed: leave the shape as it was, and add a new version beside it";

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Today's bytes of every sample, in the form of the golden lines.
    fn written() -> Vec<String> {
        let mut lines = Vec::new();
        for (name, delivery) in samples::deliveries() {
            lines.push(format!("{name} {}", hex(&encode_delivery(&delivery).expect("small"))));
        }
        for (name, progress) in samples::progress() {
            lines.push(format!("{name} {}", hex(&encode_progress(&progress).expect("small"))));
        }
        for delivery in samples::deliveries().iter().rev().take(4).map(|(_, delivery)| delivery) {
            let keys = keys::of_delivery(samples::MERCHANT, delivery);
            lines.extend(keys.iter().map(|key| format!("key.{} {}", delivery.status.name(), hex(key))));
        }
        lines.extend(words().into_iter().map(|(name, words)| format!("words.{name} {}", words.join(" "))));
        lines.push(format!("key.progress {}", hex(&keys::progress(samples::MERCHANT, samples::WEBHOOK))));
        lines
    }

    #[test]
    fn deliveries_and_their_keys_are_the_bytes_of_format_1() {
        let golden = include_str!("golden_deliveries.txt").lines().filter(|line| !line.starts_with('#'));
        let (written, golden) = (written(), golden.collect::<Vec<_>>());
        assert!(written == golden, "{CHANGED}\nlines now:\n{}", written.join("\n"));
    }

    #[test]
    fn every_sample_reads_back_as_it_was_written() {
        for (name, delivery) in samples::deliveries() {
            assert_eq!(decode_delivery(&encode_delivery(&delivery).expect("small")), Ok(delivery), "{name}");
        }
        for (name, progress) in samples::progress() {
            assert_eq!(decode_progress(&encode_progress(&progress).expect("small")), Ok(progress), "{name}");
        }
    }

    #[test]
    fn a_later_format_is_not_damage_and_asks_for_an_upgrade() {
        let mut bytes = encode_delivery(&samples::pending(1)).expect("small");
        bytes[0] = FORMAT + 1;
        let error = decode_delivery(&bytes).expect_err("an unknown format");
        assert_eq!(error, DeliveriesError::UnknownFormat { what: DELIVERY, found: FORMAT + 1 });
        assert!(error.to_string().contains("upgrade the program"), "{error}");
        assert!(matches!(decode_progress(&bytes), Err(DeliveriesError::UnknownFormat { what: PROGRESS, .. })));
    }

    #[test]
    fn a_value_cut_short_or_made_longer_is_damaged() {
        let bytes = encode_delivery(&samples::pending(1)).expect("small");
        for length in 0..bytes.len() {
            assert!(
                matches!(decode_delivery(&bytes[..length]), Err(DeliveriesError::Damaged { .. })),
                "{length} bytes"
            );
        }
        assert!(decode_delivery(&[bytes.as_slice(), &[0]].concat()).is_err());
    }
}

//! A check of every row, for verification.

use std::ops::ControlFlow;

use super::contract::DeliveriesError;
use super::keys::{self, ValueKind};
use super::read::{damaged, decode};
use super::shapes;
use super::sorted::SortedRows;
use super::store::DeliveryStore;
use crate::rows::ScanDirection;

#[expect(private_bounds, reason = "what deliveries are kept in is known to this module alone")]
impl<R: SortedRows> DeliveryStore<R> {
    /// Reads every row, so that the checksum of every block is compared, and decodes it. Returns the number of rows.
    ///
    /// # Errors
    /// The first damage: a damaged store is replaced as a whole.
    pub fn check(&self) -> Result<u64, DeliveriesError> {
        let (mut count, mut checked) = (0, Ok(()));
        self.rows().view().visit(&keys::every_key(), ScanDirection::Forward, &mut |key, value| {
            count += 1;
            checked = check_row(key, value);
            if checked.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        checked.map(|()| count)
    }
}

fn check_row(key: &[u8], value: &[u8]) -> Result<(), DeliveriesError> {
    let kind = keys::value_kind(key).ok_or_else(|| damaged("a key is none of deliveries".to_owned()))?;
    match (kind, keys::listed(key)) {
        (ValueKind::Delivery, Some(id)) => decode(id, value).map(drop),
        (ValueKind::Progress, _) => shapes::decode_progress(value).map(drop),
        (ValueKind::Nothing, _) if value.is_empty() => Ok(()),
        (ValueKind::Nothing | ValueKind::Delivery, _) => Err(damaged("a key of a list has a value".to_owned())),
    }
}

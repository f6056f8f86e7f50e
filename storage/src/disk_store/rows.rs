//! The rows of the store.

use till_domain::ids::MerchantId;

use crate::family::Family;
use crate::journal::layout;
use crate::positions::Head;
use crate::rows::{ReadAtHand, RowError, RowGate, RowRange, RowReader, RowStore, RowWrites, Visit};

use super::DiskStore;

impl RowReader for DiskStore {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        self.engine.get(family, key)
    }

    fn get_many(&self, family: Family, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, RowError> {
        self.engine.get_many(family, keys)
    }

    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        self.engine.visit(range, visit)
    }
}

impl RowStore for DiskStore {
    fn get_at_hand(&self, family: Family, key: &[u8]) -> ReadAtHand {
        self.engine.get_at_hand(family, key)
    }

    fn view(&self) -> Box<dyn RowReader + '_> {
        Box::new(self.engine.snapshot())
    }

    fn applied(&self, merchant_id: MerchantId) -> Result<Head, RowError> {
        layout::read_applied(&*self.engine, merchant_id)
    }

    fn gate(&self, merchant_id: MerchantId) -> Result<RowGate, RowError> {
        let is_ahead = self.stages.remote_log().is_some_and(|log| log.may_have_told_more(merchant_id));
        if !is_ahead && self.caught_up.contains(merchant_id) {
            return Ok(RowGate::Open);
        }
        let moment = self.engine.snapshot();
        let applied = layout::read_applied(&moment, merchant_id)?;
        let head = layout::read_head(&moment, merchant_id)?;
        if is_ahead || applied != head {
            return Ok(RowGate::Behind { applied, head });
        }
        self.caught_up.remember(merchant_id);
        Ok(RowGate::Open)
    }

    fn append_rows(&self, merchant_id: MerchantId, rows: &RowWrites, applied: Head) -> Result<(), RowError> {
        let note = |head| self.stages.lagging.note(merchant_id, applied, head);
        self.engine.append_rows(merchant_id, rows, applied, note)
    }

    fn purge(&self, family: Family, keys: &[Vec<u8>]) -> Result<(), RowError> {
        self.engine.purge(family, keys, self.stages.is_archived())
    }
}

//! A stored list of a merchant in memory, and walks through its pages.

use std::collections::BTreeMap;
use std::sync::Arc;

use till_domain::apply::apply_rows;
use till_domain::command::Caller;
use till_domain::cursor::Cursor;
use till_domain::event::{Event, Mutation};
use till_domain::ids::{IdPosition, MerchantId};
use till_domain::records::{AnyKey, AnyRow, MemoryRows, RowsMut};
use till_domain::time::Millis;
use till_protocol::api_error::ApiError;
use till_protocol::field::ListPageRequest;
use till_storage::family::Family;
use till_storage::rows::{RowError, RowRange, RowReader, ScanDirection, Visit};
use till_storage::shapes::{ListIndex, ListKey, MerchantPersonal, MerchantReader, MerchantView, encode_row, row_key};
use till_storage::vault::{Keyring, RootKey};

use super::search::{ListRow, Search, Selection, Window};

/// The merchant whose list it is.
pub(super) const MERCHANT: MerchantId = MerchantId::from_bytes([0xa1; 16]);
/// The time of the first entry, in milliseconds.
pub(super) const START: u64 = 1_750_000_000_000;

/// Stored rows in memory.
#[derive(Default)]
pub(super) struct Rows(pub(super) BTreeMap<(Family, Vec<u8>), Vec<u8>>);

impl RowReader for Rows {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        Ok(self.0.get(&(family, key.to_vec())).cloned())
    }

    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        let RowRange { family, lower, upper, direction } = range;
        if lower >= upper {
            return Ok(());
        }
        let mut range = self.0.range((family, lower.to_vec())..(family, upper.to_vec()));
        let mut next = || match direction {
            ScanDirection::Forward => range.next(),
            ScanDirection::Backward => range.next_back(),
        };
        while let Some(((_, key), value)) = next()
            && visit(key, value).is_continue()
        {}
        Ok(())
    }
}

/// Numbers that a seed decides.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn number_below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.number_below(times) == 0
    }

    pub(super) fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.number_below(u64::try_from(of.len()).expect("small"))).expect("small")].clone()
    }
}

/// The stored rows of merchants.
pub(super) struct TestList {
    pub(super) rows: Rows,
    derived: BTreeMap<MerchantId, MemoryRows>,
    keyring: Arc<Keyring>,
}

impl TestList {
    pub(super) fn new() -> TestList {
        let root = RootKey::from_hex(&"0123456789abcdef".repeat(4)).expect("a root key of a test");
        let (keyring, _) = Keyring::create(&root).expect("a key ring can be made");
        TestList { rows: Rows::default(), derived: BTreeMap::new(), keyring: Arc::new(keyring) }
    }

    /// Writes the rows that follow from events.
    pub(super) fn write(&mut self, merchant: MerchantId, events: Vec<Event>) {
        let last_id = IdPosition::default();
        let mutation = Mutation { at: Millis(START), caller: Caller::System, last_id, answer: None, events };
        let derived = self.derived.entry(merchant).or_default();
        apply_rows(&mutation, derived).expect("every row that an event changes is there");
    }

    /// Adds rows.
    pub(super) fn put(&mut self, merchant: MerchantId, rows: impl IntoIterator<Item = (AnyKey, AnyRow)>) {
        let derived = self.derived.entry(merchant).or_default();
        rows.into_iter().for_each(|(key, row)| derived.write(key, Some(row)));
    }

    /// Stores the rows of all merchants.
    pub(super) fn store(&mut self) {
        self.rows.0.clear();
        for (merchant, derived) in &self.derived {
            let mut personal = MerchantPersonal::new(*merchant, Arc::clone(&self.keyring), Rows::default());
            for (key, row) in derived.iter() {
                let value = encode_row(row, key, &mut personal).expect("every row encodes");
                self.rows.0.insert(row_key(*merchant, key, &personal), value);
            }
            let keys = personal.take_pending().into_iter().map(|(key, value)| ((Family::Vault, key), value));
            self.rows.0.extend(keys);
        }
    }

    pub(super) fn view(&self) -> MerchantView<'_> {
        let rows: Box<dyn RowReader + '_> = Box::new(&self.rows);
        MerchantReader::new(MERCHANT, Some(Arc::clone(&self.keyring)), rows)
    }

    pub(super) fn try_page<I: ListIndex>(
        &self,
        selection: &Selection<I>,
        request: ListPageRequest<ListKey<I>>,
    ) -> Result<Window<ListRow<I>>, ApiError> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be made");
        let Window { entries, beside } = runtime.block_on(Search { view: &self.view(), selection }.page(request))?;
        Ok(Window { entries: entries.into_iter().map(|(_, row)| row).collect(), beside })
    }

    pub(super) fn page<I: ListIndex>(
        &self,
        selection: &Selection<I>,
        request: ListPageRequest<ListKey<I>>,
    ) -> Window<ListRow<I>> {
        self.try_page(selection, request).unwrap_or_else(|error| panic!("{error:?}"))
    }

    /// Every entry, page by page from the newest, and then back from the oldest page.
    pub(super) fn walk<I: ListIndex>(
        &self,
        selection: &Selection<I>,
        per_page: u16,
        id: impl Fn(&ListRow<I>) -> ListKey<I>,
    ) -> (Vec<ListRow<I>>, Vec<ListRow<I>>) {
        let (mut there, mut back) = (Vec::new(), Vec::new());
        let mut window = self.page(selection, ListPageRequest { per_page, cursor: None });
        assert!(!window.beside.newer);
        while window.beside.older {
            let last = id(window.entries.last().expect("a page that is followed by another is full"));
            there.append(&mut window.entries);
            window = self.page(selection, ListPageRequest { per_page, cursor: Some(Cursor::After(last)) });
            assert!(window.beside.newer);
        }
        there.extend(window.entries.iter().cloned());
        loop {
            let first = window.entries.first().map(&id);
            back.splice(0..0, window.entries);
            let Some(first) = first.filter(|_| window.beside.newer) else { return (there, back) };
            window = self.page(selection, ListPageRequest { per_page, cursor: Some(Cursor::Before(first)) });
            assert!(window.beside.older);
        }
    }
}

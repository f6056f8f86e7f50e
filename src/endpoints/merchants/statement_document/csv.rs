//! The entries of a statement as CSV: RFC 4180, UTF-8, in parts.
//!
//! The one free text is the external identifier, which is quoted where that is needed and which no spreadsheet mistakes
//! for a formula.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use till_domain::ids::StatementId;
use till_domain::ledger::Entry;
use till_domain::merchant::Profile;
use till_domain::records::{EffectiveEntries, Entries, Rows};
use till_domain::statement::Statement;
use till_domain::text::ExternalId;
use till_domain::time::Millis;
use till_protocol::api_error::ApiError;
use till_protocol::request_thread;
use till_storage::rows::{RowReader, ScanDirection};
use till_storage::shapes::{ExternalIdFinder, MerchantReader};

use crate::csv::{no_formula, quoted};
use crate::endpoints::created_at::zone;
use crate::endpoints::shapes::entry::PARENT_TYPE;

/// The limit of entries of a part: some 12 MB of CSV.
pub(in super::super) const CSV_PART_ENTRIES: u64 = 50_000;

/// Entries that are read, each with what it is linked to, before the scan yields to other calls of the thread.
const READ_AT_ONCE: u64 = 64;

/// The usual bytes of a line.
const LINE_BYTES: usize = 256;

/// The columns: the members of an entry in the answer of `balance-history`, in their order, and what is joined to
/// other books last.
const COLUMNS: [&str; 20] = [
    "entry_id",
    "transaction_id",
    "direction",
    "type",
    "amount",
    "currency",
    "status",
    "payment_id",
    "refund_id",
    "invoice_id",
    "statement_id",
    "payout_id",
    "topup_id",
    "dispute_id",
    "parent_id",
    "parent_type",
    "created_at",
    "effective_at",
    "canceled_at",
    EXTERNAL_ID,
];

const EXTERNAL_ID: &str = "external_id";

/// The number of parts of a statement, each with up to this number of entries. A month without entries has one part
/// without lines.
pub(in super::super) fn csv_parts(statement: &Statement, part_entries: u64) -> u64 {
    statement.entries.count().div_ceil(part_entries).max(1)
}

/// One part of a statement. Entries are numbered, so the parts before it are not read.
///
/// # Errors
/// `UNAVAILABLE` when an entry cannot be read; [`ApiError::for_worker_pool`] when there are many entries and this
/// thread reads requests.
pub(in super::super) async fn csv_part<R: RowReader>(
    rows: &MerchantReader<R>,
    statement: &Statement,
    profile: &Profile,
    (part, part_entries): (u64, u64),
) -> Result<Vec<u8>, ApiError> {
    let zone = zone(profile);
    let first = statement.entries.first.saturating_add(part.saturating_sub(1).saturating_mul(part_entries));
    let end = first.saturating_add(part_entries).min(statement.entries.next());
    let lines = usize::try_from(end.saturating_sub(first)).unwrap_or(0).saturating_add(1);
    let mut text = String::with_capacity(lines.saturating_mul(LINE_BYTES));
    push_line(&mut text, COLUMNS.map(str::to_owned));
    let mut external_ids = ExternalIdFinder::default();
    let mut next = first;
    while next < end {
        let until = next.saturating_add(READ_AT_ONCE).min(end);
        push_entries(&mut text, rows, next..until, (statement.id, &zone), &mut external_ids)?;
        next = until;
        if next < end {
            request_thread::interrupt_scan().await?;
        }
    }
    Ok(text.into_bytes())
}

fn push_entries<R: RowReader>(
    text: &mut String,
    rows: &MerchantReader<R>,
    numbers: std::ops::Range<u64>,
    (statement_id, zone): (StatementId, &TimeZone),
    external_ids: &mut ExternalIdFinder,
) -> Result<(), ApiError> {
    let count = usize::try_from(numbers.end.saturating_sub(numbers.start)).unwrap_or(usize::MAX);
    let ids = rows.scan::<EffectiveEntries>(numbers, ScanDirection::Forward, count)?;
    if ids.len() != count {
        return Err(ApiError::unhandled());
    }
    for (_, id) in ids {
        let entry = rows.get::<Entries>(id)?.ok_or_else(ApiError::unhandled)?;
        let external_id = external_ids.find(rows, &entry)?;
        push_line(text, line(&entry, external_id.as_ref(), statement_id, zone));
    }
    Ok(())
}

fn line(
    entry: &Entry,
    external_id: Option<&ExternalId>,
    statement_id: StatementId,
    zone: &TimeZone,
) -> [String; COLUMNS.len()] {
    fn id(id: Option<impl ToString>) -> String {
        id.map(|id| id.to_string()).unwrap_or_default()
    }
    let time = |at: Option<Millis>| at.map(|at| time_text(at, zone)).unwrap_or_default();
    let Entry { cause, .. } = entry;
    [
        entry.id.to_string(),
        entry.transaction_id.to_string(),
        entry.direction.name().to_owned(),
        entry.entry_type.name().to_owned(),
        entry.amount.get().to_string(),
        entry.currency.to_string(),
        entry.status.name().to_owned(),
        id(cause.payment_id()),
        id(cause.refund_id()),
        id(cause.invoice_id()),
        statement_id.to_string(),
        id(cause.payout_id()),
        id(cause.topup_id()),
        id(cause.dispute_id()),
        id(cause.disputed_payment_id()),
        cause.disputed_payment_id().map(|_| PARENT_TYPE.to_owned()).unwrap_or_default(),
        time(Some(entry.created_at)),
        time(entry.effective_at),
        time(entry.canceled_at),
        external_id.map(|id| no_formula(id.as_str()).into_owned()).unwrap_or_default(),
    ]
}

/// A time to the second with its offset, such as `2026-11-01T00:00:00+07:00`.
fn time_text(at: Millis, zone: &TimeZone) -> String {
    let seconds = i64::try_from(at.unix_seconds()).ok();
    let instant = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
    instant
        .map(|instant| instant.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
        .unwrap_or_default()
}

/// Lines end with CR and LF: RFC 4180, section 2.
fn push_line(text: &mut String, columns: [String; COLUMNS.len()]) {
    for (index, column) in columns.iter().enumerate() {
        let separator = if index == 0 { "" } else { "," };
        write!(text, "{separator}{}", quoted(column)).expect("a text in memory takes everything");
    }
    text.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use till_domain::ids::{EntryId, MerchantId, TopupId, TransactionId};
    use till_domain::ledger::{Cause, Direction as Side, EntryStatus, EntryType, Topup};
    use till_domain::money::AmountMinor;
    use till_domain::records::{AnyKey, AnyRow, Table, Topups};
    use till_domain::statement::{EntrySum, Month, MonthEntries};
    use till_domain::text::{Name, TimeZone as ZoneName};
    use till_storage::memory::MemoryStore;
    use till_storage::shapes::{StaysSealed, encode_row, row_key};

    use super::*;
    use crate::endpoints::shapes::entry::ENTRY;

    const MERCHANT: MerchantId = MerchantId::from_bytes([1; 16]);

    fn entry(number: u8) -> Entry {
        Entry {
            id: EntryId::from_bytes([number; 16]),
            transaction_id: TransactionId::from_bytes([number; 16]),
            direction: Side::Credit,
            entry_type: EntryType::AddPrefund,
            amount: AmountMinor::new(u64::from(number)).expect("positive"),
            currency: "THB".parse().expect("a currency"),
            status: EntryStatus::Effective,
            cause: Cause::Topup(TopupId::from_bytes([number; 16])),
            created_at: Millis(1_793_466_000_000),
            effective_at: Some(Millis(1_793_466_001_999)),
            canceled_at: None,
        }
    }

    /// The external identifiers of the top-ups that entries 3 to 6 are linked to.
    const EXTERNAL_IDS: [&str; 4] = ["wire-3", "=HYPERLINK(1)", "3 \"big\", or 4", "-5"];

    fn topup(number: u8) -> Topup {
        let external_id = EXTERNAL_IDS.get(usize::from(number).wrapping_sub(3));
        Topup {
            id: TopupId::from_bytes([number; 16]),
            external_id: external_id.map(|id| ExternalId::new(*id).expect("an identifier")),
            amount: entry(number).amount,
            transaction_id: entry(number).transaction_id,
            created_at: entry(number).created_at,
        }
    }

    /// Entries 1 to 9, of which the statement contains 3 to 7.
    fn store() -> MemoryStore {
        let store = MemoryStore::new();
        let put = |key: AnyKey, row: AnyRow| {
            let value = encode_row(&row, &key, &mut StaysSealed).expect("nothing is sealed");
            let (family, key) = row_key(MERCHANT, &key, &StaysSealed);
            store.damage(family, &key, &value);
        };
        for number in 1..10 {
            put(AnyKey::Entries(entry(number).id), Entries::wrap(entry(number)));
            put(AnyKey::Topups(topup(number).id), Topups::wrap(topup(number)));
            put(AnyKey::EffectiveEntries(u64::from(number)), EffectiveEntries::wrap(entry(number).id));
        }
        store
    }

    fn statement(count: u64) -> Statement {
        let sum = EntrySum { entry_type: EntryType::AddPrefund, direction: Side::Credit, count, amount_minor: 25 };
        Statement {
            id: StatementId::from_bytes([0x29; 16]),
            month: Month { year: 2026, number: 11 },
            starts_at: Millis(1_793_466_000_000),
            ends_at: Millis(1_796_058_000_000),
            currency: "THB".parse().expect("a currency"),
            opening_minor: 3,
            entries: MonthEntries { first: 3, sums: vec![sum] },
            closed_at: Millis(1_796_058_000_017),
        }
    }

    fn profile() -> Profile {
        Profile {
            name: Name::new("Shop".to_owned()).expect("a name"),
            currency: "THB".parse().expect("a currency"),
            time_zone: ZoneName::from_stored("Asia/Bangkok".to_owned()),
            settlement_delay_seconds: 0,
            support_email: None,
            created_at: Millis(0),
            suspended: false,
            card_numbers_in_identifiers: false,
            color: None,
        }
    }

    async fn part(part: u64) -> Vec<String> {
        let store = store();
        let rows = MerchantReader::new(MERCHANT, None, &store);
        let bytes = csv_part(&rows, &statement(5), &profile(), (part, 2)).await.expect("readable");
        let text = String::from_utf8(bytes).expect("UTF-8");
        assert!(text.ends_with("\r\n"));
        text.split_terminator("\r\n").map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn each_part_has_its_entries_behind_the_names_of_the_columns() {
        assert_eq!(csv_parts(&statement(5), 2), 3);
        let ids = |lines: &[String]| {
            assert_eq!(lines[0], COLUMNS.join(","));
            lines[1..].iter().map(|line| line.split(',').next().map(str::to_owned)).collect::<Vec<_>>()
        };
        let id = |number: u8| Some(entry(number).id.to_string());
        assert_eq!(ids(&part(1).await), [id(3), id(4)]);
        assert_eq!(ids(&part(2).await), [id(5), id(6)]);
        assert_eq!(ids(&part(3).await), [id(7)]);
    }

    #[tokio::test]
    async fn a_line_has_the_times_in_the_zone_of_the_merchant() {
        let (entry, statement) = (entry(3), statement(5));
        let expected = format!(
            "{},{},CREDIT,ADD_PREFUND,3,THB,EFFECTIVE,,,,{},,{},,,,2026-11-01T00:00:00+07:00,2026-11-01T00:00:01+07:00,,wire-3",
            entry.id,
            entry.transaction_id,
            statement.id,
            entry.cause.id_text()
        );
        assert_eq!(part(1).await[1], expected);
    }

    #[tokio::test]
    async fn an_external_identifier_is_quoted_and_is_no_formula() {
        let lines = [part(1).await, part(2).await, part(3).await].concat();
        let ends = lines.iter().filter(|line| line.starts_with("ent_")).map(|line| line.split_once("+07:00,,"));
        let ends: Vec<_> = ends.map(|parts| parts.expect("it was not canceled").1).collect();
        assert_eq!(ends, ["wire-3", "'=HYPERLINK(1)", "\"3 \"\"big\"\", or 4\"", "'-5", ""]);
    }

    #[tokio::test]
    async fn no_other_column_needs_quotes_or_could_be_a_formula() {
        for line in part(1).await {
            for column in line.split(',').take(COLUMNS.len() - 1) {
                assert_eq!(no_formula(column), column);
                assert!(
                    column.chars().all(|letter| letter.is_ascii_alphanumeric() || "_:+-".contains(letter)),
                    "{column}"
                );
            }
        }
    }

    #[test]
    fn a_month_without_entries_has_one_part() {
        assert_eq!(csv_parts(&statement(0), 2), 1);
    }

    #[test]
    fn the_columns_are_the_members_of_an_entry() {
        let members = ENTRY.attributes.iter().map(|attribute| attribute.name);
        let members: Vec<&str> = members.filter(|name| *name != EXTERNAL_ID).chain([EXTERNAL_ID]).collect();
        assert_eq!(members, COLUMNS);
    }
}

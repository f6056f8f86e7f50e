//! Exports a store for auditors: JSON Lines, in a directory that gets its name only when it is complete.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};
use till_domain::activity::Activity;
use till_domain::card::Card;
use till_domain::customer::{Customer, CustomerRef};
use till_domain::dispute::Dispute;
use till_domain::ids::{CustomerId, MerchantId, PaymentId, StatementId};
use till_domain::ledger::Entry;
use till_domain::payment::Payment;
use till_domain::payout::Payout;
use till_domain::records::{
    Activities, AnyRow, Balances, Cards, Customers, CustomersByExternalId, Disputes, Entries, Payments, Payouts,
    Profiles, Refunds, Rows, Single, Unreadable,
};
use till_domain::refund::Refund;
use till_domain::text::ExternalId;
use till_domain::time::Millis;
use till_storage::family::Family;
use till_storage::journal::{Head, Sequence};
use till_storage::keys::{AppliedKey, JournalKey, decode_head};
use till_storage::rows::{RowPair, RowRange, RowReader};
use till_storage::shapes::{
    Disclosure, ExternalIdFinder, MerchantReader, Shown, StatementFinder, StoredTable, decode_row_of, table_range,
};

use super::log_record::{self, hex};
use super::parts;
use super::source::Source;

/// Rows of one read: each is a few kilobytes at most.
const ROWS_PER_READ: usize = 1_024;

/// Records of one read: each may be 8 MiB.
const RECORDS_PER_READ: usize = 16;

/// The form of an export that this program writes.
const FORMAT: u64 = 1;

/// The file that lists the contents of an export; it is written last.
const MANIFEST: &str = "export.json";

/// An export is private to its owner, with personal data opened or sealed.
const OWNER_ONLY_DIRECTORY: u32 = 0o700;
const OWNER_ONLY_FILE: u32 = 0o600;

/// Suffix of the name of a directory that is not complete yet.
const UNFINISHED: &str = ".in-progress";

/// An object that the merchant API answers.
pub enum ApiObject<'a> {
    /// A payment as `find-payment` answers it at an instant.
    Payment(&'a Payment, Millis),
    /// An entry with its statement and its external identifier as `balance-history` answers it.
    Entry(&'a Entry, Option<StatementId>, Option<ExternalId>),
    /// A customer as `find-contact` answers it.
    Contact(&'a Customer),
    /// A saved card with its customer as `find-card` answers it.
    Card(&'a Card, &'a Customer),
    /// A refund as `find-refund` answers it.
    Refund(&'a Refund),
    /// A dispute with the external identifier of its payment as `find-dispute` answers it.
    Dispute(&'a Dispute, Option<ExternalId>),
    /// A payout as `find-payout` answers it.
    Payout(&'a Payout),
    /// An entry of the activity log as `list-activity-logs` answers it.
    Activity(&'a Activity),
}

till_domain::word_enum! {
    /// A file of an export, with its name on the command line.
    pub enum ExportFile: name {
        /// Merchants with their balance and the end of their log.
        Merchants => "merchants",
        /// Payments as `find-payment` shows them.
        Payments => "payments",
        /// Customers as `find-contact` shows them.
        Contacts => "contacts",
        /// Saved cards as `find-card` shows them, without their numbers.
        Cards => "cards",
        /// Refunds as `find-refund` shows them.
        Refunds => "refunds",
        /// Disputes as `find-dispute` shows them.
        Disputes => "disputes",
        /// Payouts as `find-payout` shows them.
        Payouts => "payouts",
        /// Ledger entries as `balance-history` shows them.
        Entries => "entries",
        /// The activity log as `list-activity-logs` shows it.
        Activity => "activity",
        /// Every record of the log.
        Log => "log",
    }
}

impl ExportFile {
    /// The files that an export of one customer has: what is stored of that person.
    pub const OF_A_CUSTOMER: [ExportFile; 6] = [
        ExportFile::Payments,
        ExportFile::Contacts,
        ExportFile::Cards,
        ExportFile::Refunds,
        ExportFile::Disputes,
        ExportFile::Entries,
    ];

    fn file_name(self) -> String {
        format!("{}.jsonl", self.name())
    }
}

/// An export of a store.
pub struct Export<'a> {
    /// The store.
    pub source: &'a Source,
    /// The JSON form of the merchant API's objects.
    pub api: fn(ApiObject<'_>) -> Value,
    /// The merchant to export; all merchants when none is named.
    pub merchant_id: Option<MerchantId>,
    /// The customer of that merchant whose data alone is exported; all customers when none is named.
    pub customer: Option<CustomerRef>,
    /// The files to write: with a customer, some of [`ExportFile::OF_A_CUSTOMER`].
    pub what: Vec<ExportFile>,
    /// The instant by which expiry is judged, or the merchant's last event if that is later.
    pub now: Millis,
}

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportSummary {
    /// The number of merchants.
    pub merchants: u64,
    /// The number of lines in each file.
    pub lines: Vec<(String, u64)>,
}

impl Export<'_> {
    /// Writes it to a directory that does not exist yet. `tell` is called with the number of merchants that are done,
    /// and of all.
    ///
    /// # Errors
    /// An error when anything cannot be read or written: then there is no such directory.
    pub fn write(&self, to: &Path, tell: &mut dyn FnMut(u64, u64)) -> anyhow::Result<ExportSummary> {
        if to.exists() {
            bail!("{} exists already: name a new directory", to.display());
        }
        let unfinished = unfinished(to);
        clear(&unfinished).with_context(|| format!("failed to remove {}", unfinished.display()))?;
        make_directory(&unfinished).with_context(|| format!("failed to make {}", unfinished.display()))?;
        let merchants = self.merchants()?;
        let files = self.write_files(&unfinished, &merchants, tell)?;
        let manifest = self.manifest(&merchants, &files)?;
        finish(&unfinished, to, &manifest).with_context(|| format!("failed to finish {}", to.display()))?;
        let lines = files.iter().map(|file| (file.what.file_name(), file.lines)).collect();
        Ok(ExportSummary { merchants: count(merchants.len()), lines })
    }

    fn merchants(&self) -> anyhow::Result<Vec<(MerchantId, Head)>> {
        match self.merchant_id {
            Some(merchant_id) => Ok(vec![(merchant_id, self.source.head(merchant_id)?)]),
            None => self.source.merchants(),
        }
    }

    fn write_files(
        &self,
        directory: &Path,
        merchants: &[(MerchantId, Head)],
        tell: &mut dyn FnMut(u64, u64),
    ) -> anyhow::Result<Vec<ExportWriter>> {
        let make = |what: &ExportFile| ExportWriter::make(directory, *what);
        let mut files = self.what.iter().map(make).collect::<io::Result<Vec<ExportWriter>>>()?;
        for (number, (merchant_id, head)) in merchants.iter().enumerate() {
            tell(count(number), count(merchants.len()));
            let rows = self.source.reader(*merchant_id);
            let customer_id = self.customer.as_ref().map(|named| customer_id(&rows, named)).transpose()?;
            let merchant = OfMerchant { export: self, rows, merchant_id: *merchant_id, head: *head, customer_id };
            merchant.write(&mut files).with_context(|| format!("failed to export {merchant_id}"))?;
        }
        tell(count(merchants.len()), count(merchants.len()));
        files.iter_mut().try_for_each(ExportWriter::finish)?;
        Ok(files)
    }

    fn manifest(&self, merchants: &[(MerchantId, Head)], files: &[ExportWriter]) -> anyhow::Result<Value> {
        let file = |file: &ExportWriter| {
            json!({
                "name": file.what.file_name(),
                "lines": file.lines,
                "bytes": file.bytes,
                "blake3": file.hasher.finalize().to_hex().as_str(),
            })
        };
        Ok(json!({
            "format": FORMAT,
            "program": env!("CARGO_PKG_VERSION"),
            "made_at": self.now.unix_seconds(),
            "last_commit": self.source.last_commit()?.0,
            "personal_data": self.source.disclosure().name(),
            "merchant_id": parts::text(self.merchant_id),
            "contact_id": self.customer.as_ref().map(CustomerRef::to_string),
            "merchants": merchants.len(),
            "files": files.iter().map(file).collect::<Vec<_>>(),
        }))
    }
}

/// One merchant's part.
struct OfMerchant<'a> {
    export: &'a Export<'a>,
    rows: MerchantReader<&'a dyn RowReader>,
    merchant_id: MerchantId,
    head: Head,
    /// The customer whose data alone is exported.
    customer_id: Option<CustomerId>,
}

/// The id of the customer that is named.
fn customer_id(rows: &MerchantReader<&dyn RowReader>, named: &CustomerRef) -> anyhow::Result<CustomerId> {
    let id = match named {
        CustomerRef::Own(id) => rows.get::<Customers>(*id).map(|found| found.map(|customer| customer.id)),
        CustomerRef::External(external_id) => rows.get::<CustomersByExternalId>(external_id.clone()),
    };
    id.map_err(reason)?.context("the merchant has no such customer, or the customer was removed")
}

fn reason(error: Unreadable) -> anyhow::Error {
    anyhow::anyhow!(error.reason)
}

impl OfMerchant<'_> {
    fn write(&self, files: &mut [ExportWriter]) -> anyhow::Result<()> {
        self.check_rows_are_derived()?;
        let now = self.now()?;
        files.iter_mut().try_for_each(|file| self.write_file(file, now))
    }

    fn write_file(&self, file: &mut ExportWriter, now: Millis) -> anyhow::Result<()> {
        let (api, disclosure) = (self.export.api, self.export.source.disclosure());
        match file.what {
            ExportFile::Merchants => Ok(file.line("merchant", self.merchant_id, self.merchant()?)?),
            ExportFile::Payments => self.table::<Payments>(file, "payment", &mut |payment| {
                let answered = || parts::payment(api(ApiObject::Payment(&payment, now)), &payment, disclosure);
                Ok(self.is_of_customer(payment.customer_id).then(answered))
            }),
            ExportFile::Contacts => self.table::<Customers>(file, "contact", &mut |customer| {
                let answered = || parts::contact(api(ApiObject::Contact(&customer)), &customer, disclosure);
                Ok(self.is_of_customer(Some(customer.id)).then(answered))
            }),
            ExportFile::Cards => self.table::<Cards>(file, "card", &mut |card| {
                // The cards of a removed customer are answered no longer.
                let customer = self.rows.get::<Customers>(card.customer_id)?;
                let customer = customer.filter(|customer| self.is_of_customer(Some(customer.id)));
                let answered = |customer| parts::card(api(ApiObject::Card(&card, &customer)), &card, disclosure);
                Ok(customer.map(answered))
            }),
            ExportFile::Refunds => self.table::<Refunds>(file, "refund", &mut |refund| {
                let is_wanted = self.has_payment_of_customer(refund.payment_id)?;
                Ok(is_wanted.then(|| api(ApiObject::Refund(&refund))))
            }),
            ExportFile::Disputes => self.table::<Disputes>(file, "dispute", &mut |dispute| {
                if !self.has_payment_of_customer(dispute.payment_id)? {
                    return Ok(None);
                }
                let payment = self.rows.get::<Payments>(dispute.payment_id)?;
                let external_id = payment.and_then(|payment| payment.external_id);
                Ok(Some(api(ApiObject::Dispute(&dispute, external_id))))
            }),
            ExportFile::Payouts => {
                self.table::<Payouts>(file, "payout", &mut |payout| Ok(Some(api(ApiObject::Payout(&payout)))))
            }
            ExportFile::Entries => self.entries(file),
            ExportFile::Activity => self.table::<Activities>(file, "activity", &mut |activity| {
                Ok(Some(parts::activity(api(ApiObject::Activity(&activity)), disclosure)))
            }),
            ExportFile::Log => self.log(file, disclosure),
        }
    }

    /// Refuses rows that lag behind the log: they would show an older moment than the log.
    fn check_rows_are_derived(&self) -> anyhow::Result<()> {
        let applied = self.export.source.rows().get(Family::Rows, &AppliedKey(self.merchant_id).encode())?;
        if applied.as_deref().and_then(decode_head) != Some(self.head) {
            bail!("its rows do not match the end of its log: see till repair rows");
        }
        Ok(())
    }

    /// True for what belongs to the customer, and for everything when none is named.
    fn is_of_customer(&self, customer_id: Option<CustomerId>) -> bool {
        self.customer_id.is_none_or(|wanted| customer_id == Some(wanted))
    }

    /// The same for what belongs to a payment.
    fn has_payment_of_customer(&self, payment_id: PaymentId) -> anyhow::Result<bool> {
        if self.customer_id.is_none() {
            return Ok(true);
        }
        let payment = self.rows.get::<Payments>(payment_id)?;
        Ok(self.is_of_customer(payment.and_then(|payment| payment.customer_id)))
    }

    fn entries(&self, file: &mut ExportWriter) -> anyhow::Result<()> {
        let (mut statements, mut external_ids) = (StatementFinder::default(), ExternalIdFinder::default());
        self.table::<Entries>(file, "entry", &mut |entry| {
            let is_wanted = match entry.cause.payment_id() {
                Some(payment_id) => self.has_payment_of_customer(payment_id)?,
                None => self.customer_id.is_none(),
            };
            if !is_wanted {
                return Ok(None);
            }
            let statement_id = statements.find(&self.rows, &entry)?;
            let external_id = external_ids.find(&self.rows, &entry)?;
            let mut shown = (self.export.api)(ApiObject::Entry(&entry, statement_id, external_id));
            shown["cause_id"] = Value::from(entry.cause.id_text());
            Ok(Some(shown))
        })
    }

    fn now(&self) -> anyhow::Result<Millis> {
        let (rows, last) = (self.export.source.rows(), self.head.sequence);
        let last = log_record::read(rows, self.merchant_id, last, &self.rows)?;
        Ok(self.export.now.max(last.mutation.at))
    }

    fn merchant(&self) -> anyhow::Result<Value> {
        let profile = self.rows.get::<Profiles>(Single).map_err(reason)?;
        let totals = self.rows.get::<Balances>(Single).map_err(reason)?;
        let profile = profile.context("its profile is missing")?;
        let mut shown = parts::shape(Shown::new(&profile, Disclosure::Opened)); // Nothing in it is personal.
        shown["available"] = totals.map_or(Value::Null, |totals| Value::from(totals.available_minor()));
        shown["pending"] = totals.map_or(Value::Null, |totals| Value::from(totals.pending_minor()));
        shown["records"] = Value::from(self.head.sequence.0);
        shown["hash"] = Value::from(hex(&self.head.hash));
        Ok(shown)
    }

    /// Writes a line for each row of a table for which `show` returns one.
    fn table<T: StoredTable>(
        &self,
        file: &mut ExportWriter,
        kind: &str,
        show: &mut dyn FnMut(T::Row) -> anyhow::Result<Option<Value>>,
    ) -> anyhow::Result<()> {
        let table = T::KIND;
        let (lower, upper) = table_range(self.merchant_id, table);
        self.each((table.family(), lower, upper), ROWS_PER_READ, &mut |(_, value)| {
            let row: AnyRow = decode_row_of(table, &value, &self.rows)?;
            let row = T::unwrap(row).with_context(|| format!("a row of {} belongs to another table", table.name()))?;
            let shown = show(row)?;
            Ok(shown.map_or(Ok(()), |shown| file.line(kind, self.merchant_id, shown))?)
        })
    }

    fn log(&self, file: &mut ExportWriter, disclosure: Disclosure) -> anyhow::Result<()> {
        let (lower, upper) = JournalKey::range(self.merchant_id, Sequence(1));
        let mut before = Head::EMPTY;
        self.each((Family::Journal, lower, upper), RECORDS_PER_READ, &mut |(_, value)| {
            let sequence = before.sequence.next();
            let record = log_record::of(self.merchant_id, sequence, &value, &self.rows)?;
            if !log_record::follows(&record, before) {
                bail!("record {sequence} does not follow the one before");
            }
            before = record.head();
            let members = log_record::members(&record, disclosure);
            Ok(file.line("record", self.merchant_id, Value::Object(members))?)
        })?;
        if before != self.head {
            bail!("its log ends at record {}, and should end at {}", before.sequence, self.head.sequence);
        }
        Ok(())
    }

    /// Calls `visit` with every row of a range, a page at a time.
    fn each(
        &self,
        (family, mut lower, upper): (Family, Vec<u8>, Vec<u8>),
        page_rows: usize,
        visit: &mut dyn FnMut(RowPair) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        loop {
            let page = self.export.source.rows().scan(RowRange::forward(family, &lower, &upper), page_rows)?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            lower = [last.as_slice(), &[0]].concat(); // The smallest key that is greater.
            page.into_iter().try_for_each(&mut *visit)?;
        }
    }
}

/// A file that is being written.
struct ExportWriter {
    what: ExportFile,
    file: BufWriter<File>,
    hasher: blake3::Hasher,
    lines: u64,
    bytes: u64,
}

impl ExportWriter {
    fn make(directory: &Path, what: ExportFile) -> io::Result<ExportWriter> {
        let file = BufWriter::new(make_file(&directory.join(what.file_name()))?);
        Ok(ExportWriter { what, file, hasher: blake3::Hasher::new(), lines: 0, bytes: 0 })
    }

    /// Writes a line, with its kind and merchant.
    fn line(&mut self, kind: &str, merchant_id: MerchantId, shown: Value) -> io::Result<()> {
        let mut line = Map::new();
        line.insert("kind".to_owned(), Value::from(kind));
        line.insert("merchant_id".to_owned(), Value::from(merchant_id.to_string()));
        if let Value::Object(mut members) = shown {
            line.append(&mut members);
        }
        let text = format!("{}\n", Value::Object(line));
        self.hasher.update(text.as_bytes());
        self.lines += 1;
        self.bytes += count(text.len());
        self.file.write_all(text.as_bytes())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()
    }
}

/// Creates a directory that only its owner may enter, and those above it that are missing.
fn make_directory(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    DirBuilder::new().mode(OWNER_ONLY_DIRECTORY).create(path)
}

/// Creates a file that only its owner may read.
fn make_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY_FILE).open(path)
}

fn unfinished(to: &Path) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(UNFINISHED);
    PathBuf::from(name)
}

/// Removes the files of an interrupted export, and the directory when nothing else is in it.
fn clear(unfinished: &Path) -> io::Result<()> {
    if !unfinished.exists() {
        return Ok(());
    }
    for name in ExportFile::ALL.map(ExportFile::file_name).into_iter().chain([MANIFEST.to_owned()]) {
        match fs::remove_file(unfinished.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    fs::remove_dir(unfinished)
}

/// Writes the manifest, and gives the directory its name.
fn finish(unfinished: &Path, to: &Path, manifest: &Value) -> io::Result<()> {
    let mut file = make_file(&unfinished.join(MANIFEST))?;
    writeln!(file, "{manifest:#}")?;
    file.sync_all()?;
    File::open(unfinished)?.sync_all()?;
    fs::rename(unfinished, to)?;
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

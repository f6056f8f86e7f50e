//! Shows a merchant's log to a person.

use std::io::{self, Write};

use jiff::Timestamp;
use serde_json::{Map, Value};
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::records::{Payments, Rows};
use till_storage::journal::{Head, LogRecord, Sequence};
use till_storage::shapes::Disclosure;

use super::event;
use super::log_record::{self, DamagedRecord, FoundRecord, follows, hex};
use super::source::Source;

/// The records to show.
#[derive(Debug, Clone, Copy)]
pub struct RecordSelection {
    /// The first record.
    pub from: u64,
    /// The last record.
    pub to: u64,
    /// Only records that concern this payment; and damaged ones, which may concern it.
    pub payment: Option<PaymentId>,
}

/// Shows records of one merchant.
pub struct Inspect<'a> {
    source: &'a Source,
    merchant_id: MerchantId,
    head: Head,
}

/// The number of records shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shown {
    /// All records shown.
    pub records: u64,
    /// Those of them that are damaged or do not follow the one before.
    pub damaged: u64,
}

impl<'a> Inspect<'a> {
    /// For a merchant that has a log.
    ///
    /// # Errors
    /// An error when there is none, or its end cannot be read.
    pub fn of(source: &'a Source, merchant_id: MerchantId) -> anyhow::Result<Inspect<'a>> {
        Ok(Inspect { source, merchant_id, head: source.head(merchant_id)? })
    }

    /// The number of records in the log.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.head.sequence.0
    }

    /// Writes the records for a person.
    ///
    /// # Errors
    /// An error when the writer fails.
    pub fn write_text(&self, selection: &RecordSelection, out: &mut dyn Write) -> io::Result<Shown> {
        let (merchant_id, head) = (self.merchant_id, self.head);
        writeln!(out, "{merchant_id}: {} records, the last with hash {}", head.sequence, hex(&head.hash))?;
        self.each(selection, &mut |record, chain| match record {
            Ok(sound) => self.write_sound(sound, chain, out),
            Err(damaged) => write_damaged(damaged, out),
        })
    }

    /// Writes the records as a JSON object a line, the same as `till export` writes.
    ///
    /// # Errors
    /// An error when the writer fails.
    pub fn write_json(&self, selection: &RecordSelection, out: &mut dyn Write) -> io::Result<Shown> {
        self.each(selection, &mut |record, chain| {
            let mut line = Map::new();
            line.insert("kind".to_owned(), Value::from("record"));
            line.insert("merchant_id".to_owned(), Value::from(self.merchant_id.to_string()));
            match record {
                Ok(sound) => {
                    line.append(&mut log_record::members(sound, self.source.disclosure()));
                    line.insert("chain".to_owned(), Value::from(chain.name()));
                }
                Err(damaged) => {
                    line.insert("sequence".to_owned(), Value::from(damaged.sequence.0));
                    line.insert("damaged".to_owned(), Value::from(damaged.reason.as_str()));
                }
            }
            writeln!(out, "{}", Value::Object(line))
        })
    }

    /// Calls `visit` with every selected record, and its relation to the one before.
    fn each(
        &self,
        selection: &RecordSelection,
        visit: &mut dyn FnMut(&FoundRecord, ChainLink) -> io::Result<()>,
    ) -> io::Result<Shown> {
        let personal = self.source.reader(self.merchant_id);
        let read = |sequence| log_record::read(self.source.rows(), self.merchant_id, Sequence(sequence), &personal);
        let mut related = Related::of(self, selection.payment);
        let (first, last) = (selection.from.max(1), selection.to.min(self.records()));
        let mut before = if first == 1 { Some(Head::EMPTY) } else { head_of(&read(first - 1)) };
        let mut shown = Shown::default();
        for sequence in first..=last {
            let record = read(sequence);
            let chain = ChainLink::of(&record, before, self.head);
            before = head_of(&record);
            if related.concerns(&record) {
                visit(&record, chain)?;
                shown.records += 1;
                shown.damaged += u64::from(chain.is_fault());
            }
        }
        Ok(shown)
    }

    fn write_sound(&self, sound: &LogRecord, chain: ChainLink, out: &mut dyn Write) -> io::Result<()> {
        let members = log_record::members(sound, self.source.disclosure());
        let LogRecord { commit, header, hash, byte_count, mutation: _ } = sound;
        let actor = members.get("actor").and_then(Value::as_str).unwrap_or_default();
        writeln!(out, "\nrecord {}  commit {commit}  {}  by {actor}", header.sequence, instant_ms(header.at_ms))?;
        writeln!(out, "  {byte_count} bytes, hash {}, {}", hex(hash), chain.words())?;
        for member in ["call", "answer"] {
            write_fields(&format!("  {member}"), members.get(member), out)?;
        }
        for happened in members.get("events").and_then(Value::as_array).into_iter().flatten() {
            writeln!(out, "  {}", happened["event"].as_str().unwrap_or_default())?;
            write_fields("    ", happened.get("fields"), out)?;
        }
        Ok(())
    }
}

till_domain::word_enum! {
    /// The relation of a record to the one before it, and to the end of the log.
    enum ChainLink: name, words {
        Follows => "follows" | "follows the record before",
        Broken => "broken" | "DOES NOT FOLLOW the record before: it names another hash",
        Unknown => "unknown" | "whether it follows cannot be told: the record before is damaged",
        OtherEnd => "other end" | "IS NOT THE RECORD that the head of the log names",
        Damaged => "damaged" | "damaged",
    }
}

impl ChainLink {
    fn of(record: &FoundRecord, before: Option<Head>, end: Head) -> ChainLink {
        match (record, before) {
            (Err(_), _) => ChainLink::Damaged,
            (Ok(sound), _) if sound.header.sequence == end.sequence && sound.hash != end.hash => ChainLink::OtherEnd,
            (Ok(_), None) => ChainLink::Unknown,
            (Ok(sound), Some(before)) if follows(sound, before) => ChainLink::Follows,
            (Ok(_), Some(_)) => ChainLink::Broken,
        }
    }

    const fn is_fault(self) -> bool {
        match self {
            ChainLink::Broken | ChainLink::OtherEnd | ChainLink::Damaged => true,
            ChainLink::Follows | ChainLink::Unknown => false,
        }
    }
}

/// The ids of one payment and of its parts that records name.
struct Related(Option<Vec<String>>);

impl Related {
    /// The session is known by the payment's row, where that can be read.
    fn of(inspect: &Inspect<'_>, payment: Option<PaymentId>) -> Related {
        let Some(payment_id) = payment else { return Related(None) };
        let rows = inspect.source.reader(inspect.merchant_id);
        let session = rows.get::<Payments>(payment_id).ok().flatten().map(|payment| payment.session_id.to_string());
        Related(Some([payment_id.to_string()].into_iter().chain(session).collect()))
    }

    /// True when a record names one of the ids, or is damaged and may concern the payment.
    fn concerns(&mut self, record: &FoundRecord) -> bool {
        let (Some(ids), Ok(sound)) = (&mut self.0, record) else { return true };
        let mut concerns = false;
        for happened in &sound.mutation.events {
            let (_, fields) = event::event(happened, Disclosure::Sealed);
            let text = fields.to_string();
            if ids.iter().any(|id| text.contains(id.as_str())) {
                concerns = true;
                // A later settlement names the transaction only.
                let transaction = fields["transaction"]["id"].as_str();
                ids.extend(transaction.map(str::to_owned));
            }
        }
        concerns
    }
}

/// The end of the log up to a record, when its hash is known.
fn head_of(record: &FoundRecord) -> Option<Head> {
    record.as_ref().ok().map(LogRecord::head)
}

fn write_damaged(damaged: &DamagedRecord, out: &mut dyn Write) -> io::Result<()> {
    let DamagedRecord { sequence, reason, header, byte_count } = damaged;
    writeln!(out, "\nrecord {sequence}  DAMAGED: {reason}")?;
    if let Some(byte_count) = byte_count {
        writeln!(out, "  {byte_count} bytes are stored")?;
    }
    if let Some(header) = header {
        writeln!(
            out,
            "  its header, which may be damaged too, says: record {} of {}, decided {}, after the hash {}",
            header.sequence,
            header.merchant_id,
            instant_ms(header.at_ms),
            hex(&header.prev_hash),
        )?;
    }
    Ok(())
}

/// Fields as lines, nested ones by their path; absent ones are left out.
fn write_fields(path: &str, value: Option<&Value>, out: &mut dyn Write) -> io::Result<()> {
    let below = |name: &str| {
        let at_start = path.trim_start().is_empty();
        if at_start { format!("{path}{name}") } else { format!("{path}.{name}") }
    };
    match value {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Object(members)) => {
            members.iter().try_for_each(|(name, value)| write_fields(&below(name), Some(value), out))
        }
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, value)| write_fields(&below(&index.to_string()), Some(value), out)),
        Some(Value::Number(number)) if is_instant(path) => {
            writeln!(out, "{path}  {number} ({})", instant(number.as_u64().unwrap_or_default()))
        }
        Some(value @ (Value::Number(_) | Value::Bool(_))) => writeln!(out, "{path}  {value}"),
        Some(Value::String(text)) => writeln!(out, "{path}  {}", text.escape_debug()),
    }
}

fn is_instant(path: &str) -> bool {
    let name = path.rsplit(['.', ' ']).next().unwrap_or_default();
    name == "at" || name == "since" || name.starts_with("timer_") || name.ends_with("_at")
}

fn instant(seconds: u64) -> String {
    instant_ms(seconds.saturating_mul(1_000))
}

/// An instant as ISO 8601 in UTC.
fn instant_ms(millis: u64) -> String {
    let moment = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    moment.map_or_else(|| format!("{millis} ms"), |moment| moment.to_string())
}

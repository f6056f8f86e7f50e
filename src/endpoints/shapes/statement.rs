//! The JSON of a statement: contract, section 9.1a.

use serde::Serialize;
use till_domain::ids::StatementId;
use till_domain::ledger::Direction;
use till_domain::statement::Statement;

use crate::protocol::declaration::{Attribute, ObjectType, ValueType};

pub(in crate::endpoints) static STATEMENT: ObjectType = ObjectType {
    name: "statement",
    attributes: &[
        Attribute::always("statement_id", ValueType::Id(StatementId::PREFIX), "The statement's id (`stm_...`)."),
        Attribute::always("month", ValueType::STRING, "The month in the merchant's time zone, such as `2026-11`.").such_as("2025-12"),
        Attribute::always("currency", ValueType::STRING, "The ISO 4217 code.").such_as("THB"),
        Attribute::always(
            "opening_balance",
            ValueType::INTEGER,
            "The balance at the beginning of the month, in minor units: the closing balance of the month before. May be negative.",
        ).such_as("0"),
        Attribute::always("credits", ValueType::INTEGER, "Credits that became effective in the month, in minor units.").such_as("5010000"),
        Attribute::always("debits", ValueType::INTEGER, "Debits that became effective in the month, in minor units.").such_as("20590"),
        Attribute::always(
            "closing_balance",
            ValueType::INTEGER,
            "Opening balance and credits less debits, in minor units. May be negative.",
        ).such_as("4989410"),
        Attribute::always("entry_count", ValueType::INTEGER, "Entries that became effective in the month.").such_as("4"),
        Attribute::always("closed_at", ValueType::TIMESTAMP, "The time at which the month was closed."),
    ],
};

#[derive(Serialize)]
pub(crate) struct StatementShape {
    statement_id: String,
    month: String,
    currency: String,
    opening_balance: i64,
    credits: u64,
    debits: u64,
    closing_balance: i64,
    entry_count: u64,
    closed_at: u64,
}

impl StatementShape {
    /// The object for a statement.
    pub(crate) fn new(statement: &Statement) -> StatementShape {
        StatementShape {
            statement_id: statement.id.to_string(),
            month: statement.month.to_string(),
            currency: statement.currency.to_string(),
            opening_balance: statement.opening_minor,
            credits: statement.entries.total_minor(Direction::Credit),
            debits: statement.entries.total_minor(Direction::Debit),
            closing_balance: statement.closing_minor(),
            entry_count: statement.entries.count(),
            closed_at: statement.closed_at.unix_seconds(),
        }
    }
}

/// The declared members of a document.
pub(in crate::endpoints) static STATEMENT_DOCUMENT: ObjectType = ObjectType {
    name: "statement_document",
    attributes: &[
        Attribute::always("file_name", ValueType::STRING, "A name for the file, such as `statement-2026-11.csv`.")
            .such_as("statement-2025-12.pdf"),
        Attribute::always("content_type", ValueType::STRING, "Its media type.").such_as("application/pdf"),
        Attribute::always("content", ValueType::STRING, "Its bytes in Base64.").such_as("JVBERi0xLjcK"),
        Attribute::always("part", ValueType::INTEGER, "The number of the part, from 1.").such_as("1"),
        Attribute::always("parts", ValueType::INTEGER, "The number of parts.").such_as("1"),
    ],
};

/// The answered document.
#[derive(Serialize)]
pub(crate) struct StatementDocumentShape {
    pub(crate) file_name: String,
    pub(crate) content_type: &'static str,
    pub(crate) content: String,
    pub(crate) part: u64,
    pub(crate) parts: u64,
}

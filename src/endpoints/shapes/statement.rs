//! The JSON of a statement: contract, section 9.1a.

use till_domain::ids::StatementId;
use till_domain::ledger::Direction;
use till_domain::statement::Statement;

use super::object::object;

object! {
    /// A statement.
    pub(in crate::endpoints) STATEMENT "statement" as StatementShape<'a> of (statement: &'a Statement) {
        statement_id: Id(StatementId::PREFIX) = statement.id, "The statement's id (`stm_...`).";
        month: STRING = statement.month,
            "The month in the merchant's time zone, such as `2026-11`.", such_as("2025-12");
        currency: STRING = statement.currency, "The ISO 4217 code.", such_as("THB");
        opening_balance: MINOR_UNITS = statement.opening_minor,
            "The balance at the beginning of the month, in minor units: the closing balance of the month before. \
             May be negative.",
            such_as("0");
        credits: MINOR_UNITS = statement.entries.total_minor(Direction::Credit),
            "Credits that became effective in the month, in minor units.", such_as("5010000");
        debits: MINOR_UNITS = statement.entries.total_minor(Direction::Debit),
            "Debits that became effective in the month, in minor units.", such_as("20590");
        closing_balance: MINOR_UNITS = statement.closing_minor(),
            "Opening balance and credits less debits, in minor units. May be negative.", such_as("4989410");
        entry_count: INTEGER = statement.entries.count(), "Entries that became effective in the month.", such_as("4");
        closed_at: TIMESTAMP = statement.closed_at, "The time at which the month was closed.";
    }
}

object! {
    /// A part of a document.
    pub(in crate::endpoints) STATEMENT_DOCUMENT "statement_document" as StatementDocumentShape of (
        file_name: String,
        content_type: &'static str,
        content: String,
        part: u64,
        parts: u64
    ) {
        file_name: STRING = file_name,
            "A name for the file, such as `statement-2026-11.csv`.", such_as("statement-2025-12.pdf");
        content_type: STRING = content_type, "Its media type.", such_as("application/pdf");
        content: STRING = content, "Its bytes in Base64.", such_as("JVBERi0xLjcK");
        part: INTEGER = part, "The number of the part, from 1.", such_as("1");
        parts: INTEGER = parts, "The number of parts.", such_as("1");
    }
}

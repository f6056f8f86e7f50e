//! The common properties of a statement's files.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use till_domain::statement::Statement;
use till_protocol::api_error::ApiError;
use till_protocol::request_thread;

till_domain::word_enum! {
    /// The form of a file.
    pub(in super::super) enum DocumentFormat: name, media_type, extension {
        /// Every entry, on a line each.
        Csv => "CSV" | "text/csv; charset=utf-8" | "csv",
        /// The balances and the sums, on one page.
        Pdf => "PDF" | "application/pdf" | "pdf",
    }
}

/// The name of the file. It contains the number of the part when there are several.
pub(in super::super) fn file_name(statement: &Statement, format: DocumentFormat, (part, parts): (u64, u64)) -> String {
    let (month, extension) = (statement.month, format.extension());
    if parts == 1 {
        format!("statement-{month}.{extension}")
    } else {
        format!("statement-{month}-part-{part}-of-{parts}.{extension}")
    }
}

/// The content of a file as base64 text.
///
/// # Errors
/// [`ApiError::for_worker_pool`] when the file is large and this thread reads requests.
pub(in super::super) fn base64(content: &[u8]) -> Result<String, ApiError> {
    request_thread::check_bytes(u64::try_from(content.len()).unwrap_or(u64::MAX))?;
    Ok(STANDARD.encode(content))
}

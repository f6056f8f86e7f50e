//! The trait of stores that keep the lines.

use super::line::BookLine;

/// Lines of a book, in order.
pub type Entries<'a> = Box<dyn Iterator<Item = Result<BookLine, BookError>> + 'a>;

/// Keeps the lines of the book. There is one writer at a time, and any number of readers.
pub trait Book: Send + 'static {
    /// The line under a reference.
    ///
    /// # Errors
    /// [`BookError`] when it cannot be read; a missing line is no error.
    fn line(&self, reference: &str) -> Result<Option<BookLine>, BookError>;

    /// Writes lines, all or none, over those under the same references, and returns when they are on disk.
    ///
    /// # Errors
    /// After [`BookError::TimedOut`] the lines may or may not be in the book: read before writing again.
    /// After [`BookError::NotWritten`] they are not, and may be written later.
    /// After any other error nothing may be written any more: what reached the disk is not known.
    fn write(&mut self, lines: &[BookLine]) -> Result<(), BookError>;

    /// All lines in the byte order of their references, as of the call.
    fn entries(&self) -> Entries<'_>;
}

/// The reason that a book did not carry out a request.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// It did not answer in time.
    #[error("the sandbox's book did not answer in time")]
    TimedOut,
    /// It cannot be written to now; none of the lines was written.
    #[error("the sandbox's book cannot be written to now: {reason}")]
    NotWritten {
        /// The reason.
        reason: String,
    },
    /// Its store failed.
    #[error("the sandbox's book cannot be used")]
    Broken(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A line is not what was written.
    #[error("the line {reference} of the sandbox's book is damaged: {what}")]
    Damaged {
        /// The reference of the line, as far as it is text.
        reference: String,
        /// The mismatch.
        what: String,
    },
    /// A later version of the program wrote a line: upgrade the program.
    #[error("the line {reference} of the sandbox's book has the unknown format {found}")]
    UnknownFormat {
        /// The reference of the line.
        reference: String,
        /// The format byte.
        found: u8,
    },
}

//! The trait of the stores that keep the lines of the book.

use super::line::BookLine;

/// The lines of a book, in the byte order of their references.
pub type Entries<'a> = Box<dyn Iterator<Item = Result<BookLine, BookError>> + 'a>;

/// A store of the lines of the book. It has one writer at a time and any number of readers.
pub trait Book: Send + 'static {
    /// Returns the line with this reference.
    ///
    /// # Errors
    /// [`BookError`] when the line cannot be read. A missing line is not an error.
    fn line(&self, reference: &str) -> Result<Option<BookLine>, BookError>;

    /// Writes all of the lines or none of them, and returns when they are on disk. A line replaces the stored line with
    /// the same reference.
    ///
    /// # Errors
    /// After [`BookError::TimedOut`] the lines may or may not be in the book: read them before you write again.
    /// After [`BookError::NotWritten`] none of the lines is in the book, and they may be written later.
    /// After any other error it is unknown which lines reached the disk, and the book must not be written to again.
    fn write(&mut self, lines: &[BookLine]) -> Result<(), BookError>;

    /// Returns all lines in the byte order of their references, as they are at the time of the call.
    fn entries(&self) -> Entries<'_>;

    /// Returns the lines whose references begin with these characters, in the same way.
    fn entries_under(&self, prefix: &str) -> Entries<'_>;
}

/// The reason why a book did not carry out a request.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// The book did not answer in time.
    #[error("the sandbox's book did not answer in time")]
    TimedOut,
    /// The book cannot be written to now. None of the lines was written.
    #[error("the sandbox's book cannot be written to now: {reason}")]
    NotWritten {
        /// The reason.
        reason: String,
    },
    /// The store of the book failed.
    #[error("the sandbox's book cannot be used")]
    Broken(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The stored bytes of a line are not those that were written.
    #[error("the line {reference} of the sandbox's book is damaged: {what}")]
    Damaged {
        /// The reference of the line; bytes that are not UTF-8 are replaced.
        reference: String,
        /// A description of the damage.
        what: String,
    },
    /// A later version of the program wrote the line. The operator must upgrade the program.
    #[error("the line {reference} of the sandbox's book has the unknown format {found}")]
    UnknownFormat {
        /// The reference of the line.
        reference: String,
        /// The format byte.
        found: u8,
    },
}

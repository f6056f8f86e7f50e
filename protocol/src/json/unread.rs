//! The reasons why a body is not read.

/// The reason why no endpoint accepts a body. The message repeats nothing of the body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Malformed {
    message: String,
}

impl Malformed {
    /// A body that did not arrive whole, or that is refused for `message`.
    pub(crate) fn new(message: impl Into<String>) -> Malformed {
        Malformed { message: message.into() }
    }
}

/// The reason why a body was not read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// It is not acceptable JSON.
    Malformed(Malformed),
    /// It has [`super::UNKNOWN_NAMES_MAX`] unknown names; those read so far are among the members.
    UnknownNames,
    /// There is no memory for its values now.
    NoRoom,
}

//! A fault of one argument of a body.

use serde_json::{Value, json};

/// The header that is reported like an argument when it is malformed.
pub const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// An argument's fault, in the form of the details of `INVALID_ARGUMENTS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    kind: FaultKind,
    argument: String,
    message: String,
}

/// The kind of fault. Clients branch on its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// A required argument is absent or null.
    Missing,
    /// The value is of the wrong type or form.
    Invalid,
    /// The endpoint knows no such argument.
    Unknown {
        /// The most similar name that it does know.
        suggestion: Option<&'static str>,
    },
    /// The record's version differs from the one that the caller named.
    VersionMismatch {
        /// The record's present version; 0 when there is no record.
        current: u64,
    },
    /// The value at the path cannot be used as a set.
    NotASet,
}

impl Fault {
    /// A required argument that is absent.
    #[must_use]
    pub fn missing(argument: &str) -> Fault {
        Fault::new(FaultKind::Missing, argument, "is required")
    }

    /// A missing argument that only some calls need; `message` says why this one does.
    #[must_use]
    pub fn missing_because(argument: &str, message: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Missing, argument, message)
    }

    /// A value that cannot be read. `message` says what to send instead, without repeating the value.
    #[must_use]
    pub fn invalid(argument: &str, message: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Invalid, argument, message)
    }

    /// An argument that the endpoint does not have.
    #[must_use]
    pub fn unknown(argument: &str, suggestion: Option<&'static str>) -> Fault {
        let message = match suggestion {
            Some(name) => format!("is not an argument of this endpoint; did you mean {name}?"),
            None => "is not an argument of this endpoint".to_owned(),
        };
        Fault::new(FaultKind::Unknown { suggestion }, argument, message)
    }

    /// The same with advice, which says what to send or do instead. None is given by an empty one.
    #[must_use]
    pub fn with_advice(self, advice: &str) -> Fault {
        let message = match (&self.kind, advice) {
            (_, "") => self.message,
            (FaultKind::Unknown { suggestion: Some(_) }, advice) => format!("{} {advice}", self.message),
            (_, advice) => format!("{}: {advice}", self.message),
        };
        Fault { message, ..self }
    }

    /// A stale version. `current` is the version to read and send.
    #[must_use]
    pub fn version_mismatch(argument: &str, current: u64) -> Fault {
        let message = match current {
            0 => "there is no such record yet; send 0, or leave the version out".to_owned(),
            current => format!("the record is at version {current}; read it again before you change it"),
        };
        Fault::new(FaultKind::VersionMismatch { current }, argument, message)
    }

    /// A value at the path that is not a set.
    #[must_use]
    pub fn not_a_set(argument: &str, message: impl Into<String>) -> Fault {
        Fault::new(FaultKind::NotASet, argument, message)
    }

    fn new(kind: FaultKind, argument: &str, message: impl Into<String>) -> Fault {
        Fault { kind, argument: argument.to_owned(), message: message.into() }
    }

    /// The argument's name.
    #[must_use]
    pub fn argument(&self) -> &str {
        &self.argument
    }

    /// The kind of fault.
    #[must_use]
    pub fn kind(&self) -> &FaultKind {
        &self.kind
    }

    /// Advice on how to correct it.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The fault as JSON: `type`, `argument`, `message`, and the members of the kind.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut fault = json!({ "type": self.kind.name(), "argument": self.argument, "message": self.message });
        match &self.kind {
            FaultKind::Unknown { suggestion: Some(name) } => fault["suggestion"] = json!(name),
            FaultKind::VersionMismatch { current } => fault["current"] = json!(current),
            FaultKind::Unknown { suggestion: None } | FaultKind::Missing | FaultKind::Invalid | FaultKind::NotASet => {}
        }
        fault
    }
}

impl FaultKind {
    /// The name clients branch on. Renaming one breaks the API.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            FaultKind::Missing => "missing",
            FaultKind::Invalid => "invalid",
            FaultKind::Unknown { .. } => "unknown",
            FaultKind::VersionMismatch { .. } => "version_mismatch",
            FaultKind::NotASet => "not_a_set",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_fault_has_its_form_in_json() {
        assert_eq!(
            Fault::missing("amount").to_json(),
            json!({"type": "missing", "argument": "amount", "message": "is required"})
        );
        assert_eq!(Fault::invalid("a", "send a string").to_json()["type"], "invalid");
        let unknown = Fault::unknown("external_Id", Some("external_id")).to_json();
        assert_eq!((&unknown["type"], &unknown["suggestion"]), (&json!("unknown"), &json!("external_id")));
        assert!(Fault::unknown("x", None).to_json().get("suggestion").is_none());
        let message = |suggestion, advice| Fault::unknown("x", suggestion).with_advice(advice).message().to_owned();
        assert_eq!(message(Some("y"), "Send z"), "is not an argument of this endpoint; did you mean y? Send z");
        assert_eq!(message(None, "send z"), "is not an argument of this endpoint: send z");
        assert_eq!(message(None, ""), "is not an argument of this endpoint");
        let stale = Fault::version_mismatch("version", 7).to_json();
        assert_eq!((&stale["type"], &stale["current"]), (&json!("version_mismatch"), &json!(7)));
        assert_eq!(Fault::not_a_set("path", "is a string").to_json()["type"], "not_a_set");
    }
}

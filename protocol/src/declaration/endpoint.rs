//! One endpoint.

use super::{Argument, Returns};
use crate::api_error::Code;

/// The declaration of an endpoint: one `static` for each, from which every other part takes its facts about the
/// endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Declaration {
    /// The last segment of the path, in kebab-case.
    pub name: &'static str,
    /// The interface that it belongs to, whose name is the first segment of the path.
    pub package: Package,
    /// The subject that it belongs to, by which documents group endpoints.
    pub group: &'static str,
    /// The description in one sentence.
    pub summary: &'static str,
    /// More description, in Markdown; may be empty.
    pub docs: &'static str,
    /// The arguments, in the order in which faults are reported.
    pub arguments: &'static [Argument],
    /// The shape of the answer.
    pub returns: Returns,
    /// The codes of this endpoint, apart from those of every endpoint and those that follow from its flags.
    pub errors: &'static [DeclaredError],
    /// The properties of its calls.
    pub flags: Flags,
}

impl Declaration {
    /// The properties that most endpoints of a subject share that only read: no arguments, and no codes of their own.
    #[must_use]
    pub const fn query(package: Package, group: &'static str) -> Declaration {
        let (name, summary, docs, arguments, errors) = ("", "", "", &[], &[]);
        let (returns, flags) = (Returns::Boolean, Flags::QUERY);
        Declaration { name, package, group, summary, docs, arguments, returns, errors, flags }
    }

    /// The properties that most endpoints of a subject share that change something: they answer `true` or `false`.
    #[must_use]
    pub const fn command(package: Package, group: &'static str) -> Declaration {
        Declaration { flags: Flags::COMMAND, ..Declaration::query(package, group) }
    }

    /// The position of an argument in the declaration.
    #[must_use]
    pub fn position(&self, argument: &str) -> Option<usize> {
        self.arguments.iter().position(|known| known.name == argument)
    }

    /// Its own codes and those that follow from its flags, each once. The codes of every endpoint are not included.
    #[must_use]
    pub fn refusals(&self) -> Vec<DeclaredError> {
        let needs_active = match self.package {
            Package::Merchants => self.flags.changes_something && !self.flags.works_while_suspended,
            Package::Sdk => !self.flags.works_while_suspended,
            Package::Admin => false,
        };
        let is_judged = match self.package {
            Package::Merchants => self.flags.needs_key,
            Package::Sdk => true,
            Package::Admin => false,
        };
        let following = [
            needs_active.then_some(Code::MerchantSuspended),
            self.flags.needs_key.then_some(Code::Unauthorized),
            is_judged.then_some(Code::Forbidden),
            self.flags.takes_idempotency_key.then_some(Code::IdempotencyKeyReused),
        ];
        let mut refusals = self.errors.to_vec();
        for code in following.into_iter().flatten() {
            if !refusals.iter().any(|declared| declared.code == code) {
                refusals.push(DeclaredError::new(code, code.docs()));
            }
        }
        refusals
    }
}

/// A code that an endpoint may answer, and its condition.
#[derive(Debug, Clone, Copy)]
pub struct DeclaredError {
    /// The code.
    pub code: Code,
    /// The condition, in Markdown.
    pub docs: &'static str,
    /// An example of its details as JSON, where the code alone does not tell them.
    pub details: Option<&'static str>,
    /// True when the cause is a stale version of a record.
    pub stale_version: bool,
}

impl DeclaredError {
    /// The refusal of a call that names a stale version of a record.
    pub const STALE_VERSION: DeclaredError = DeclaredError {
        stale_version: true,
        ..DeclaredError::new(
            Code::InvalidArguments,
            "`version` is not that of the record: the fault is a `version_mismatch` and names the `current` one.",
        )
    };

    /// A code with the condition for it.
    #[must_use]
    pub const fn new(code: Code, docs: &'static str) -> DeclaredError {
        DeclaredError { code, docs, details: None, stale_version: false }
    }

    /// The same with an example of its details as JSON.
    #[must_use]
    pub const fn with(self, details: &'static str) -> DeclaredError {
        DeclaredError { details: Some(details), ..self }
    }

    /// Its status in the form of problem details.
    #[must_use]
    pub fn problem_status(&self) -> u16 {
        if self.stale_version { Code::stale_version_status() } else { self.code.problem_status() }
    }
}

till_domain::word_enum! {
    /// One of the three interfaces, each under its own first path segment, with its title and its description in
    /// documents.
    pub enum Package: segment, title, docs {
        /// The merchants' interface.
        Merchants => "merchants" | "Till"
            | "Payments, balances, activity and metadata of one merchant. Send the API key as a bearer token.",
        /// The interface of the customers' devices.
        Sdk => "sdk" | "Till SDK"
            | "Calls of a customer's device on behalf of an installation, without a key. Bodies are at most 64 KiB.",
        /// The operator's interface.
        Admin => "admin" | "Till Admin" | "Calls of the operator. Send the admin token as a bearer token.",
    }
}

impl Package {
    /// The limit of bytes of a body: 1 MiB where metadata comes in. Devices, which need no key, never have to send more
    /// than 64 KiB.
    #[must_use]
    pub const fn body_bytes_max(self) -> usize {
        match self {
            Package::Merchants | Package::Admin => 1 << 20,
            Package::Sdk => 64 << 10,
        }
    }

    /// The interface under that path segment.
    #[must_use]
    pub fn from_segment(segment: &str) -> Option<Package> {
        Package::ALL.into_iter().find(|package| package.segment() == segment)
    }
}

/// The properties of an endpoint's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags {
    /// True when it changes stored data.
    pub changes_something: bool,
    /// True when the caller must show a key.
    pub needs_key: bool,
    /// True when it hands a key on that the caller may show, as a pipeline does to its steps.
    pub hands_key_on: bool,
    /// True when it honours an `Idempotency-Key`.
    pub takes_idempotency_key: bool,
    /// True when its body holds card data, which is wiped from memory after the call.
    pub carries_card_data: bool,
    /// True when a suspended merchant may still call it, like [`till_domain::command::Command::works_while_suspended`]
    /// of its command.
    pub works_while_suspended: bool,
    /// True when its answer has addresses of this server.
    pub answers_addresses: bool,
}

impl Flags {
    /// Only reads, and needs a key.
    pub const QUERY: Flags = Flags {
        changes_something: false,
        needs_key: true,
        hands_key_on: false,
        takes_idempotency_key: false,
        carries_card_data: false,
        works_while_suspended: false,
        answers_addresses: false,
    };

    /// Changes something, needs a key and honours an `Idempotency-Key`.
    pub const COMMAND: Flags = Flags { changes_something: true, takes_idempotency_key: true, ..Flags::QUERY };

    /// Only reads, without a key.
    pub const OPEN_QUERY: Flags = Flags { needs_key: false, ..Flags::QUERY };

    /// Changes something and honours an `Idempotency-Key`, without a key.
    pub const OPEN_COMMAND: Flags = Flags { needs_key: false, ..Flags::COMMAND };

    /// Takes card data from a device: without a key, and without an `Idempotency-Key`, since the number could be found
    /// from the stored fingerprint by trial.
    pub const CARD_INTAKE: Flags =
        Flags { carries_card_data: true, takes_idempotency_key: false, ..Flags::OPEN_COMMAND };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_declared_once_with_the_endpoints_own_text_first() {
        const OWN: &[DeclaredError] = &[DeclaredError::new(Code::MerchantSuspended, "In its own words.")];
        let declaration = Declaration {
            name: "select-plan",
            package: Package::Merchants,
            group: "plans",
            summary: "",
            docs: "",
            arguments: &[],
            returns: Returns::Boolean,
            errors: OWN,
            flags: Flags::COMMAND,
        };
        let refusals = declaration.refusals();
        let codes: Vec<Code> = refusals.iter().map(|declared| declared.code).collect();
        assert_eq!(codes, [Code::MerchantSuspended, Code::Unauthorized, Code::Forbidden, Code::IdempotencyKeyReused]);
        assert_eq!(refusals[0].docs, "In its own words.");
        let flags = Flags { works_while_suspended: true, ..Flags::COMMAND };
        let harmless = Declaration { errors: &[], flags, ..declaration }.refusals();
        assert!(harmless.iter().all(|declared| declared.code != Code::MerchantSuspended));
        let of = |package| Declaration { package, errors: &[], flags: Flags::QUERY, ..declaration }.refusals().len();
        assert_eq!((of(Package::Merchants), of(Package::Admin), of(Package::Sdk)), (2, 1, 3));
    }
}

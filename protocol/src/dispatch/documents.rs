//! Documents about the interfaces, written out once: making one takes milliseconds of processor time, and anybody may
//! ask for it. Only the called address differs from request to request.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

use crate::declaration::Package;
use crate::version::ApiVersion;

/// The placeholder for the address in a document.
const ADDRESS: &str = "http://the-address-that-was-called.invalid/";

/// The scope of a document: everything that a listener serves, or one package, in one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DocumentScope {
    pub(super) package: Option<Package>,
    pub(super) version: ApiVersion,
}

/// The documents that were requested so far.
#[derive(Default)]
pub(super) struct Documents {
    written: Mutex<BTreeMap<DocumentScope, Arc<DocumentTemplate>>>,
}

/// A document's text, split at its address, which may occur several times and be the beginning of longer ones.
struct DocumentTemplate {
    parts: Vec<String>,
}

impl Documents {
    /// The document about `subject` with this address. `document` builds it for a given address.
    pub(super) fn text(&self, subject: DocumentScope, address: &str, document: impl FnOnce(&str) -> Value) -> String {
        // The value is consistent after each statement, so a panic elsewhere has not damaged it.
        let mut written = self.written.lock();
        let written =
            Arc::clone(written.entry(subject).or_insert_with(|| Arc::new(DocumentTemplate::of(&document(ADDRESS)))));
        written.with(address)
    }
}

impl DocumentTemplate {
    fn of(document: &Value) -> DocumentTemplate {
        DocumentTemplate { parts: document.to_string().split(ADDRESS).map(str::to_owned).collect() }
    }

    fn with(&self, address: &str) -> String {
        let quoted = Value::from(address).to_string();
        self.parts.join(&quoted[1..quoted.len() - 1])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SUBJECT: DocumentScope = DocumentScope { package: None, version: ApiVersion::NEWEST };

    fn document(address: &str) -> Value {
        json!({ "first": 1, "address": address, "last": [2, format!("{address}pipeline")] })
    }

    #[test]
    fn a_document_is_made_once_but_names_each_requests_address() {
        let documents = Documents::default();
        let unlike = ["http://127.0.0.1:8080", "https://\"quoted\"\\.example/", ""];
        for (asked, address) in unlike.into_iter().enumerate() {
            let text = documents.text(SUBJECT, address, |address| {
                assert_eq!(asked, 0, "it was made before");
                document(address)
            });
            assert_eq!(text, document(address).to_string());
        }
    }

    #[test]
    fn documents_about_different_things_are_different() {
        let documents = Documents::default();
        let of_merchants = DocumentScope { package: Some(Package::Merchants), ..SUBJECT };
        assert_eq!(documents.text(SUBJECT, "", |address| json!([address])), r#"[""]"#);
        assert_eq!(documents.text(of_merchants, "", |address| json!({ "a": address })), r#"{"a":""}"#);
    }
}

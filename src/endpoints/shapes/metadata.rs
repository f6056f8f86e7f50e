//! The JSON of a metadata record: contract, section 5.
//!
//! The value is JSON text already, and may be large: it is copied into the answer unchanged.

use till_domain::metadata::MetadataRecord;
use till_domain::text::MetadataKey;
use till_protocol::declaration::ValueType;

use super::object::object;

object! {
    pub(in crate::endpoints) METADATA "metadata_record" {
        key: STRING, "The record's key.", such_as("order-1001");
        metadata: ANY or null, "The value.", such_as(r#"{"delivery": {"door": 7, "tags": ["gift", "fragile"]}}"#);
        version: INTEGER,
            "The version, which starts at 1 and increases by one with every change of the value.", such_as("2");
        bytesize: INTEGER, "Bytes of the whole value in canonical form (RFC 8785).", such_as("49");
        created_at: TIMESTAMP, "The time at which it was created.";
        updated_at: TIMESTAMP, "The time of the last change of its value.", such_as("1767225602");
        expires_at: TIMESTAMP, "The time at which it expires.", such_as("1767312002");
        previous: type(RETRIEVE_BODY) or null,
            "The body of the call for the previous page, for a page of a set.", optional;
        next: type(RETRIEVE_BODY) or null, "The body of the call for the next page, for a page of a set.", optional;
        truncated: Array(&RETRIEVE_BODY),
            "The bodies of the calls of retrieve-metadata for the sets that are too large for `metadata`.", optional;
    }
}

object! {
    pub(in crate::endpoints) METADATA_ITEMS "metadata_items" {
        previous: type(RETRIEVE_BODY) or null, "The body of the call for the previous page; null on the first.";
        page: Array(&ValueType::ANY), "The items.", such_as(r#"["gift", "fragile"]"#);
        next: type(RETRIEVE_BODY) or null, "The body of the call for the next page; null on the last.";
    }
}

/// The body of a call of retrieve-metadata.
const RETRIEVE_BODY: ValueType = ValueType::Body("merchants_retrieve_metadata_body");

/// The object for a record with this value and further members, all of them JSON text.
pub(in crate::endpoints) fn metadata_json(
    key: &MetadataKey,
    record: &MetadataRecord,
    value: &str,
    further: &[(&str, String)],
) -> String {
    let MetadataRecord { version, bytesize, created_at, updated_at, expires_at, .. } = record;
    let key = serde_json::to_string(key.as_str()).expect("a string has a JSON form");
    let [created_at, updated_at, expires_at] = [created_at, updated_at, expires_at].map(|at| at.unix_seconds());
    let mut json = format!(
        r#"{{"key":{key},"metadata":{value},"version":{version},"bytesize":{bytesize},"created_at":{created_at},"#
    );
    json.push_str(&format!(r#""updated_at":{updated_at},"expires_at":{expires_at}"#));
    for (name, value) in further {
        json.push_str(&format!(",\"{name}\":{value}"));
    }
    json.push('}');
    json
}

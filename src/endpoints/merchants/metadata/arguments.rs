//! The common arguments of calls about metadata.

use till_domain::metadata::{CanonicalJson, DEPTH_MAX, MetadataPath, TTL_MAX_SECONDS, VALUE_BYTES_MAX};
use till_domain::text::{EXTERNAL_ID_MAX_BYTES, MetadataKey};
use till_protocol::declaration::Argument;
use till_protocol::fault::Fault;
use till_protocol::fields::Fields;
use till_protocol::json::{self, Json};

use crate::endpoints::forms::{checked, own_text, printable, whole_number};
use crate::endpoints::prelude::*;

/// The largest version that a caller can name: 2^53-1.
const VERSION_MAX: u64 = (1 << 53) - 1;

/// Keys of objects, separated by dots; at most 62.
const METADATA_PATH: Field<MetadataPath> = Field {
    value_type: ValueType::Text(Text {
        pattern: Some("^([^.]+(\\.[^.]+){0,61})?$"),
        example: Some("accounts.suspended"),
        ..Text::PLAIN
    }),
    parse: |value| checked(MetadataPath::parse(&own_text(value)?)),
};
const _: () = assert!(DEPTH_MAX == 63, "the pattern of paths counts one segment less");

/// The key of the record.
pub(super) const KEY: Required<MetadataKey> = Field {
    value_type: printable(EXTERNAL_ID_MAX_BYTES, "watchlist"),
    parse: |value| checked(MetadataKey::new(own_text(value)?)),
}
.required("The record's key, 1 to 255 bytes.")
.with_name("key");

/// The path within the record.
pub(super) const PATH: Optional<MetadataPath> = METADATA_PATH
    .optional("Keys of objects separated by dots, from the root; the root itself when left out or empty.")
    .or_empty()
    .in_examples()
    .with_name("path");

/// An item of a set.
pub(super) const VALUE: Argument = Argument::required(
    "value",
    ValueType::ANY,
    "The item, which may be null. Two values are the same item when their canonical forms (RFC 8785) are equal.",
)
.such_as("{\"account\": \"A-1001\"}");

/// The version that the caller saw.
pub(super) const VERSION: Optional<u64> = whole_number::<0, VERSION_MAX>(1)
    .optional(
        "The version that the record must have, 0 for no record; else the call is refused with \
        `version_mismatch` and `current`.",
    )
    .with_name("version");

/// The seconds until the record expires, from now on.
pub(super) const TTL: Optional<u64> = whole_number::<1, TTL_MAX_SECONDS>(86_400)
    .optional(
        "Seconds until the whole record expires, from now on, 1 to 63072000; the last given value when left \
        out, two years when there is none.",
    )
    .with_name("ttl");

/// Reads [`VALUE`], an item of the set at `path`.
pub(super) fn value(fields: &mut Fields<'_>, path: &MetadataPath) -> Option<CanonicalJson> {
    let value = fields.required_or_null("value")?;
    // The set itself is one more level.
    read(fields, "value", value, path.segments().len() + 1)
}

/// Reads `metadata`, the whole value of a record.
pub(super) fn metadata(fields: &mut Fields<'_>) -> Option<CanonicalJson> {
    let value = fields.required("metadata", |value| Ok(value.clone()))?;
    read(fields, "metadata", &value, 0)
}

fn read(fields: &mut Fields<'_>, name: &'static str, value: &Json, levels_above: usize) -> Option<CanonicalJson> {
    if json::depth(value) + levels_above > DEPTH_MAX {
        fields.fault(Fault::invalid(name, format!("would nest deeper than {DEPTH_MAX} levels in the record")));
        return None;
    }
    let canonical = json::canonical(value);
    if canonical.len() > VALUE_BYTES_MAX {
        fields.fault(Fault::invalid(name, format!("is larger than {VALUE_BYTES_MAX} bytes in canonical form")));
        return None;
    }
    Some(CanonicalJson::from_canonical(canonical))
}

//! The place that a pass has reached: a database, one of its families, and a key.

use serde::Serialize;
use serde_json::Value;

/// A place in the tables of all databases. The default is the beginning.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(super) struct TablePosition {
    /// The database, by its directory's name.
    pub(super) database: String,
    /// One of its families.
    pub(super) family: String,
    /// The last key that was read, in hexadecimal form; none at the beginning of the family.
    pub(super) after: Option<String>,
}

impl TablePosition {
    pub(super) fn at_family(database: &str, family: &str) -> TablePosition {
        TablePosition { database: database.to_owned(), family: family.to_owned(), after: None }
    }

    /// The position that JSON has; none when it is no position.
    pub(super) fn from_json(value: &Value) -> Option<TablePosition> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Some(TablePosition { database: text("database")?, family: text("family")?, after: text("after") })
    }

    /// The same family, after a key.
    pub(super) fn after_key(&self, key: &[u8]) -> TablePosition {
        TablePosition { after: Some(hexadecimal(key)), ..self.clone() }
    }

    /// The key after which to read on.
    pub(super) fn key(&self) -> Option<Vec<u8>> {
        bytes(self.after.as_deref()?)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_from_its_place() {
        let family = TablePosition::at_family("db", "rows");
        assert_eq!(family.key(), None);
        for key in [&b""[..], &[0, 0x0f, 0xf0, 0xff]] {
            assert_eq!(family.after_key(key).key().as_deref(), Some(key));
        }
        assert_eq!(TablePosition { after: Some("0".to_owned()), ..family.clone() }.key(), None);
        assert_eq!(TablePosition { after: Some("zz".to_owned()), ..family }.key(), None);
    }
}

//! Limits of parsing a body: the names that it may have, the number of its values, and the memory that they take.

use super::Json;
use super::literals::NumberLiterals;
use super::unread::Unread;

/// The limit of unknown names in a body: parsing stops at the last of them.
pub const UNKNOWN_NAMES_MAX: usize = 100;

/// The limit of values of a body, apart from those within arguments that are objects or arrays. No call needs a tenth
/// of it.
pub(super) const VALUES_MAX: usize = 1_000;

/// Bytes of an item: lists grow by doubling.
const ITEM_BYTES: usize = 2 * size_of::<Json>();

/// The minimum of bytes of a list with an item: it has capacity for four.
const LIST_BYTES: usize = 4 * size_of::<Json>();

/// The minimum of bytes of an object with a member: a node of a tree, with capacity for eleven.
const OBJECT_BYTES: usize = 11 * (size_of::<String>() + size_of::<Json>()) + 32;

/// Bytes of a member without the text of its name: nodes are at least about half full.
const MEMBER_BYTES: usize = 2 * (size_of::<String>() + size_of::<Json>()) + TEXT_BYTES;

/// Bytes of a text beyond its own: no allocation is smaller.
const TEXT_BYTES: usize = 16;

/// The kind of value that a name of the body may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedValue {
    /// No value: there is no argument of this name.
    Nothing,
    /// A single value.
    Single,
    /// An object or an array, with any number of values that memory allows.
    Container,
}

/// The limits that the parser of a body consults.
pub trait Bounds {
    /// The kind of value that this name of the body may have.
    fn expected(&self, name: &str) -> ExpectedValue;

    /// Reserves memory for values. False when there is none left.
    fn take(&mut self, bytes: usize) -> bool;
}

/// One body while it is parsed.
pub(super) struct Reading<'a> {
    pub(super) literals: NumberLiterals<'a>,
    pub(super) bounds: &'a mut dyn Bounds,
    /// The reason why parsing stopped, unless the text itself is at fault.
    pub(super) stopped: Option<Unread>,
    value_count: usize,
    unknown_name_count: usize,
}

impl<'a> Reading<'a> {
    pub(super) fn new(text: &'a str, bounds: &'a mut dyn Bounds) -> Reading<'a> {
        let literals = NumberLiterals::of(text);
        Reading { literals, bounds, stopped: None, value_count: 0, unknown_name_count: 0 }
    }

    /// Stops the parser. The returned error only ends the parsing; `why` is the reason that is reported.
    pub(super) fn stop<E: serde::de::Error>(&mut self, why: Unread) -> E {
        self.stopped = Some(why);
        E::custom("reading was stopped")
    }

    /// Counts one more unknown name; true when it is the last that is allowed.
    pub(super) fn is_last_unknown_name(&mut self) -> bool {
        self.unknown_name_count += 1;
        self.unknown_name_count == UNKNOWN_NAMES_MAX
    }

    /// Counts one more value, unless their number is unlimited here.
    pub(super) fn count_value<E: serde::de::Error>(&mut self, expected: ExpectedValue) -> Result<(), E> {
        self.value_count += usize::from(expected != ExpectedValue::Container);
        if self.value_count > VALUES_MAX {
            return Err(E::custom(format_args!(
                "it has more than {VALUES_MAX} values, apart from those of arguments that take objects or arrays"
            )));
        }
        Ok(())
    }

    /// Reserves memory for one more item of a list.
    pub(super) fn take_item<E: serde::de::Error>(&mut self, items_before: usize) -> Result<(), E> {
        self.take(if items_before == 0 { LIST_BYTES } else { ITEM_BYTES })
    }

    /// Reserves memory for one more member of an object.
    pub(super) fn take_member<E: serde::de::Error>(&mut self, members_before: usize) -> Result<(), E> {
        self.take(if members_before == 0 { OBJECT_BYTES + MEMBER_BYTES } else { MEMBER_BYTES })
    }

    /// Reserves memory for a text.
    pub(super) fn take_text<E: serde::de::Error>(&mut self) -> Result<(), E> {
        self.take(TEXT_BYTES)
    }

    fn take<E: serde::de::Error>(&mut self, bytes: usize) -> Result<(), E> {
        if self.bounds.take(bytes) { Ok(()) } else { Err(self.stop(Unread::NoRoom)) }
    }
}

/// Limits for tests of other code.
#[cfg(test)]
pub(super) struct Unbounded;

#[cfg(test)]
impl Bounds for Unbounded {
    fn expected(&self, _: &str) -> ExpectedValue {
        ExpectedValue::Container
    }

    fn take(&mut self, _: usize) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Malformed, Object, read_object};

    /// A body with the arguments `one` and `many`, and a limit of memory.
    struct Bounded {
        taken: usize,
        bytes_max: usize,
    }

    impl Bounds for Bounded {
        fn expected(&self, name: &str) -> ExpectedValue {
            match name {
                "one" => ExpectedValue::Single,
                "many" => ExpectedValue::Container,
                _ => ExpectedValue::Nothing,
            }
        }

        fn take(&mut self, bytes: usize) -> bool {
            self.taken += bytes;
            self.taken <= self.bytes_max
        }
    }

    fn read(body: &str, bytes_max: usize) -> (Result<(), Unread>, Object, usize) {
        let (mut members, mut bounds) = (Object::new(), Bounded { taken: 0, bytes_max });
        let outcome = read_object(body.as_bytes(), &mut members, &mut bounds);
        (outcome, members, bounds.taken)
    }

    fn bytes_taken(value: &str) -> usize {
        let (outcome, _, taken) = read(&format!("{{\"many\":{value}}}"), usize::MAX);
        assert_eq!(outcome, Ok(()), "{value}");
        taken - OBJECT_BYTES - MEMBER_BYTES
    }

    #[test]
    fn every_value_takes_memory_by_its_kind() {
        assert_eq!(
            (bytes_taken("12"), bytes_taken("\"[,,{\""), bytes_taken("[]"), bytes_taken("{}")),
            (0, TEXT_BYTES, 0, 0)
        );
        assert_eq!(bytes_taken("[1,2,3]"), LIST_BYTES + 2 * ITEM_BYTES);
        assert_eq!(bytes_taken(r#"{"a":1,"b":[2]}"#), OBJECT_BYTES + 2 * MEMBER_BYTES + LIST_BYTES);
    }

    #[test]
    fn no_json_of_a_mebibyte_takes_more_than_the_room_of_all_bodies() {
        for filling in ["0,", "[],", "[0],", "[[0]],", "{},", "{\"\":0},", "\"\",", "[\"\"],"] {
            let most = bytes_taken(&format!("[{}0]", filling.repeat(100))) / 100 * ((1 << 20) / filling.len());
            assert!(most < 255 << 20, "{filling}: {} MiB", most >> 20);
        }
    }

    #[test]
    fn reading_stops_where_there_is_no_room_for_more() {
        let (outcome, _, taken) = read(&format!("{{\"many\":[{}0]}}", "0,".repeat(100_000)), 10_000);
        assert_eq!(outcome, Err(Unread::NoRoom));
        assert!(taken <= 10_000 + ITEM_BYTES, "{taken}");
    }

    #[test]
    fn reading_stops_at_the_hundredth_unknown_name() {
        let body = |count: usize| (0..count).map(|number| format!(",\"x{number}\":0")).collect::<String>();
        let (outcome, members, _) = read(&format!("{{\"one\":1{}}}", body(99)), usize::MAX);
        assert_eq!((outcome, members.len()), (Ok(()), 100));
        // The rest is not parsed.
        let (outcome, members, _) = read(&format!("{{\"one\":1{},!", body(100)), usize::MAX);
        assert_eq!((outcome, members.len()), (Err(Unread::UnknownNames), 101));
    }

    #[test]
    fn the_values_of_scalar_and_unknown_arguments_are_limited() {
        let list = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        for name in ["one", "x"] {
            assert_eq!(read(&format!("{{\"{name}\":{}}}", list(VALUES_MAX - 1)), usize::MAX).0, Ok(()));
            let (outcome, _, _) = read(&format!("{{\"{name}\":{}", list(VALUES_MAX)), usize::MAX);
            assert!(matches!(&outcome, Err(Unread::Malformed(fault)) if names_the_limit(fault)), "{name}: {outcome:?}");
        }
        let both = format!("{{\"many\":{},\"one\":{}}}", list(50_000), list(VALUES_MAX - 1));
        assert_eq!(read(&both, usize::MAX).0, Ok(()));
    }

    fn names_the_limit(fault: &Malformed) -> bool {
        fault.to_string().contains("more than 1000 values")
    }
}

//! The named objects that documents describe.

use std::collections::BTreeMap;

use super::{Declaration, ObjectType};

/// The objects of all answers and the objects within these, each once, by name.
pub(super) fn objects(declarations: &[&Declaration]) -> BTreeMap<&'static str, &'static ObjectType> {
    let mut found = BTreeMap::new();
    let mut open: Vec<&ObjectType> =
        declarations.iter().flat_map(|declaration| declaration.returns.objects()).collect();
    while let Some(object) = open.pop() {
        if found.insert(object.name, object).is_none() {
            open.extend(object.attributes.iter().filter_map(|attribute| attribute.value_type.object()));
        }
    }
    found
}

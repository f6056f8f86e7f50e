//! Reads a body's arguments and collects all their faults.

use crate::api_error::ApiError;
use crate::declaration::Declaration;
use crate::fault::Fault;
use crate::json::{Json, Object};
use crate::synonyms::{self, Meant, is_spelt_like};

/// The limit of characters of an unknown argument's name that are repeated to the caller. A longer name does not get a
/// suggestion either: the cost of comparing names is the product of their lengths.
const NAME_REPEATED_MAX: usize = 64;

/// Letters of a word for each typing error in it beside the first: 1 in 5.
const LETTERS_PER_EDIT: usize = 5;

/// The shortest word in which the server looks for a typing error. A shorter one is taken for another word.
const MISTYPED_WORD_MIN: usize = 3;

/// The arguments of one call, by the declaration of its endpoint.
///
/// Every declared argument is read once. For a faulty one, None is returned and the fault is collected;
/// [`Fields::finish`] refuses with all faults at once: those of declared arguments in the declaration's order, then
/// unknown arguments, then the header's.
///
/// Most endpoints read them all by an `ArgumentSet`; those that judge by hand read one after the other:
///
/// ```ignore
/// let mut fields = call.fields();
/// let amount = fields.required("amount", field::amount);
/// let note = fields.optional("note", field::text(1..=255));
/// let command = fields.finish(|| Some(Capture { amount: amount?, note }))?;
/// ```
pub struct Fields<'a> {
    declaration: &'static Declaration,
    body: &'a Object,
    /// In the declaration's order.
    slots: Vec<ArgumentSlot<'a>>,
    has_unknown: bool,
    /// The position of the argument that is probably read next.
    next: usize,
    faults: Vec<(usize, Fault)>,
    header_fault: Option<Fault>,
}

/// A declared argument.
#[derive(Clone, Copy, Default)]
struct ArgumentSlot<'a> {
    /// The value in the body.
    value: Option<&'a Json>,
    /// True once the endpoint has read it.
    is_read: bool,
}

impl<'a> Fields<'a> {
    /// Begins to read a body.
    #[must_use]
    pub fn new(declaration: &'static Declaration, body: &'a Object) -> Fields<'a> {
        let mut slots = vec![ArgumentSlot::default(); declaration.arguments.len()];
        let mut has_unknown = false;
        for (name, value) in body {
            match declaration.position(name) {
                Some(position) => slots[position].value = Some(value),
                None => has_unknown = true,
            }
        }
        Fields { declaration, body, slots, has_unknown, next: 0, faults: Vec::new(), header_fault: None }
    }

    /// Adds the fault of a header that is reported like an argument.
    #[must_use]
    pub fn with_header_fault(mut self, fault: Option<Fault>) -> Fields<'a> {
        self.header_fault = fault;
        self
    }

    /// A required argument; null counts as missing. None when it is faulty.
    pub fn required<T>(&mut self, name: &'static str, parse: impl FnOnce(&Json) -> Result<T, String>) -> Option<T> {
        let Some(value) = self.non_null_value(name) else {
            self.fault(Fault::missing(name));
            return None;
        };
        self.parsed(name, value, parse)
    }

    /// An optional argument; null is the same as leaving it out. None when it is left out or faulty: a faulty one never
    /// passes [`Fields::finish`].
    pub fn optional<T>(&mut self, name: &'static str, parse: impl FnOnce(&Json) -> Result<T, String>) -> Option<T> {
        let value = self.non_null_value(name)?;
        self.parsed(name, value, parse)
    }

    /// A required argument for which null is a value like any other.
    pub fn required_or_null(&mut self, name: &'static str) -> Option<&'a Json> {
        let value = self.value_of(name);
        if value.is_none() {
            self.fault(Fault::missing(name));
        }
        value
    }

    /// True when the caller sent a value for this argument, faulty or not.
    #[must_use]
    pub fn is_given(&self, name: &str) -> bool {
        let slot = self.declaration.position(name).map(|position| self.slots[position]);
        slot.and_then(|slot| slot.value).is_some_and(|value| !value.is_null())
    }

    /// Adds a fault of two arguments together.
    pub fn fault(&mut self, fault: Fault) {
        let position = self.declaration.position(fault.argument()).unwrap_or(usize::MAX);
        self.faults.push((position, fault));
    }

    /// The finished command, or all faults.
    ///
    /// `build` combines the values. It may use `?` on the results of [`Fields::required`], since it runs only when
    /// there was no fault.
    ///
    /// # Errors
    /// `INVALID_ARGUMENTS` with every fault.
    pub fn finish<T>(self, build: impl FnOnce() -> Option<T>) -> Result<T, ApiError> {
        debug_assert!(
            self.slots.iter().all(|slot| slot.is_read),
            "{} declares an argument that its endpoint never asks for",
            self.declaration.name
        );
        let faults = self.into_faults();
        if !faults.is_empty() {
            return Err(ApiError::invalid_arguments(&faults));
        }
        build().ok_or_else(ApiError::unhandled)
    }

    fn into_faults(mut self) -> Vec<Fault> {
        self.faults.sort_by_key(|(position, _)| *position);
        let unknown = self.has_unknown.then(|| unknown_arguments(self.declaration, self.body)).into_iter().flatten();
        self.faults.into_iter().map(|(_, fault)| fault).chain(unknown).chain(self.header_fault).collect()
    }

    fn non_null_value(&mut self, name: &'static str) -> Option<&'a Json> {
        self.value_of(name).filter(|value| !value.is_null())
    }

    /// The value in the body under a declared name.
    fn value_of(&mut self, name: &'static str) -> Option<&'a Json> {
        let position = self.position(name);
        debug_assert!(position.is_some(), "{} does not declare {name}", self.declaration.name);
        let position = position?;
        let slot = &mut self.slots[position];
        slot.is_read = true;
        self.next = position + 1;
        slot.value
    }

    /// The position of an argument. Endpoints usually read arguments in the declaration's order.
    fn position(&self, name: &str) -> Option<usize> {
        let is_next = self.declaration.arguments.get(self.next).is_some_and(|argument| argument.name == name);
        if is_next { Some(self.next) } else { self.declaration.position(name) }
    }

    fn parsed<T>(&mut self, name: &str, value: &Json, parse: impl FnOnce(&Json) -> Result<T, String>) -> Option<T> {
        match parse(value) {
            Ok(value) => Some(value),
            Err(message) => {
                self.fault(Fault::invalid(name, message));
                None
            }
        }
    }
}

/// A fault for each name in a body that its endpoint does not declare. Their number is limited while the body is
/// parsed.
pub(crate) fn unknown_arguments<'b>(
    declaration: &'static Declaration,
    body: &'b Object,
) -> impl Iterator<Item = Fault> + use<'b> {
    let names = body.keys().filter(|name| declaration.position(name).is_none());
    names.map(|name| unknown_argument(declaration, name))
}

fn unknown_argument(declaration: &Declaration, name: &str) -> Fault {
    if name.chars().count() > NAME_REPEATED_MAX {
        let start: String = name.chars().take(NAME_REPEATED_MAX).collect();
        return Fault::unknown(&format!("{start}…"), None);
    }
    let names = declaration.arguments.iter().map(|argument| argument.name);
    let is_respelt = names.clone().any(|known| is_spelt_like(name, known));
    match synonyms::argument(name, names.clone()).filter(|_| !is_respelt) {
        Some(Meant { ours, advice }) => Fault::unknown(name, ours).with_advice(advice),
        None => Fault::unknown(name, nearest(name, names)),
    }
}

/// The known name that a mistyped one stands for. Letter case, separators and a few edits are ignored.
pub(crate) fn nearest(name: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let folded = name.to_lowercase().replace('-', "_");
    let distance = |known: &str| strsim::damerau_levenshtein(&folded, &known.replace('-', "_"));
    let near = known.filter(|known| is_spelt_like(name, known) || is_mistyped(&folded, &known.replace('-', "_")));
    near.min_by_key(|known| distance(known))
}

/// True when each word is the known one but for typing errors. One word that is another one makes the name that of
/// another thing: `success_url` is no mistyped `cancel_url`.
fn is_mistyped(name: &str, known: &str) -> bool {
    let (words, known): (Vec<&str>, Vec<&str>) = (name.split('_').collect(), known.split('_').collect());
    words.len() == known.len() && words.iter().zip(known).all(|(word, known)| is_mistyped_word(word, known))
}

fn is_mistyped_word(word: &str, known: &str) -> bool {
    let edits_max = if known.len() < MISTYPED_WORD_MIN { 0 } else { (known.len() / LETTERS_PER_EDIT).max(1) };
    strsim::damerau_levenshtein(word, known) <= edits_max
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::declaration::{Argument, Flags, Package, Returns, ValueType, list_page_arguments};
    use crate::field;
    use crate::json::parse_object;

    static CAPTURE: Declaration = Declaration {
        name: "capture-payment",
        package: Package::Merchants,
        group: "payments",
        summary: "Captures a payment.",
        docs: "",
        arguments: &[
            Argument::required("payment_id", ValueType::STRING, "The payment."),
            Argument::required("amount", ValueType::AMOUNT, "How much."),
            Argument::optional("external_id", ValueType::STRING, "The merchant's own reference."),
        ],
        returns: Returns::Boolean,
        errors: &[],
        flags: Flags::COMMAND,
    };

    static LIST: Declaration = Declaration { name: "list-payments", arguments: &list_page_arguments("pay"), ..CAPTURE };

    static SET: Declaration = Declaration {
        name: "add-to-metadata-set",
        arguments: &[Argument::required("value", ValueType::ANY, "The item.")],
        ..CAPTURE
    };

    fn read(body: &str) -> Result<(String, u64, Option<String>), ApiError> {
        let body = parse_object(body.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        let mut fields = Fields::new(&CAPTURE, &body);
        let external_id = fields.optional("external_id", field::text(1..=255));
        let amount = fields.required("amount", field::amount);
        let payment_id = fields.required("payment_id", field::text(1..=255));
        fields.finish(|| Some((payment_id?, amount?, external_id)))
    }

    fn faults(body: &str) -> Vec<(String, String)> {
        let Err(error) = read(body) else { panic!("accepted {body}") };
        let faults = error.details().and_then(Value::as_array).cloned().unwrap_or_default();
        let text = |fault: &Value, key: &str| fault[key].as_str().unwrap_or_default().to_owned();
        faults.iter().map(|fault| (text(fault, "type"), text(fault, "argument"))).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(kind, argument)| ((*kind).to_owned(), (*argument).to_owned())).collect()
    }

    #[test]
    fn a_good_body_becomes_its_values() {
        assert_eq!(read(r#"{"payment_id":"p","amount":"100"}"#).ok(), Some(("p".to_owned(), 100, None)));
    }

    #[test]
    fn all_faults_are_reported_in_declared_order_unknown_ones_last() {
        let found = faults(r#"{"zzz":1,"external_id":5,"amount":"01","external_Id":"x"}"#);
        let expected = [
            ("missing", "payment_id"),
            ("invalid", "amount"),
            ("invalid", "external_id"),
            ("unknown", "external_Id"),
            ("unknown", "zzz"),
        ];
        assert_eq!(found, pairs(&expected));
    }

    #[test]
    fn null_counts_as_a_missing_argument() {
        assert_eq!(faults(r#"{"payment_id":null,"amount":1}"#), pairs(&[("missing", "payment_id")]));
        assert_eq!(read(r#"{"payment_id":"p","amount":1,"external_id":null}"#).ok(), Some(("p".to_owned(), 1, None)));
    }

    #[test]
    fn null_is_a_value_where_the_endpoint_says_so() {
        let null = parse_object(br#"{"value":null}"#).unwrap_or_default();
        let mut fields = Fields::new(&SET, &null);
        let value = fields.required_or_null("value");
        assert_eq!(fields.finish(|| value).ok(), Some(&Json::Null));
        let empty = Object::new();
        let mut fields = Fields::new(&SET, &empty);
        assert_eq!(fields.required_or_null("value"), None);
        assert!(fields.finish(|| Some(())).is_err());
    }

    #[test]
    fn a_mistyped_name_is_refused_with_the_nearest_known_one() {
        for (name, expected) in [
            ("external_Id", Some("external_id")),
            ("externalId", Some("external_id")),
            ("external-id", Some("external_id")),
            ("ammount", Some("amount")),
            ("metadata_of_mine", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, CAPTURE.arguments.iter().map(|argument| argument.name)), expected, "{name}");
        }
    }

    #[test]
    fn a_name_that_other_interfaces_use_is_refused_with_ours() {
        let message = |declaration: &'static Declaration, name: &str| unknown_argument(declaration, name).to_json();
        for (name, ours) in [("limit", "per_page"), ("starting_after", "after"), ("ending_before", "before")] {
            assert_eq!(message(&LIST, name)["suggestion"], ours, "{name}");
        }
        assert_eq!(message(&CAPTURE, "id")["suggestion"], "payment_id");
        let page = message(&LIST, "page");
        assert_eq!(page["suggestion"], "after");
        assert!(page["message"].as_str().is_some_and(|text| text.contains("the last id of a page")), "{page}");
        assert_eq!(message(&LIST, "id").get("suggestion"), None);
        let metadata = message(&CAPTURE, "metadata");
        assert!(metadata["message"].as_str().is_some_and(|text| text.contains("sync-metadata")), "{metadata}");
    }

    #[test]
    fn another_thing_is_never_suggested_for_a_mistyped_name() {
        for (name, known) in [
            ("success_url", "cancel_url"),
            ("destination", "description"),
            ("updated_at", "created_at"),
            ("expires_at", "expires_in"),
            ("account", "amount"),
            ("refund_id", "payment_id"),
            ("member", "number"),
        ] {
            assert_eq!(nearest(name, [known].into_iter()), None, "{name}");
        }
        for (name, known) in [
            ("return_uri", "return_url"),
            ("custumer_emial", "customer_email"),
            ("instalment_plan_id", "installment_plan_id"),
            ("paymentMethods", "payment_methods"),
        ] {
            assert_eq!(nearest(name, [known].into_iter()), Some(known), "{name}");
        }
    }

    #[test]
    fn of_a_long_unknown_name_only_the_beginning_is_repeated() {
        let long = faults(&format!("{{\"{}\":1}}", "é".repeat(100_000)));
        assert_eq!(long.last().map(|(_, name)| name.chars().count()), Some(NAME_REPEATED_MAX + 1));
    }

    #[test]
    fn a_malformed_header_is_reported_beside_the_body() {
        let body = Object::new();
        let mut fields =
            Fields::new(&SET, &body).with_header_fault(Some(Fault::invalid("Idempotency-Key", "too long")));
        fields.required_or_null("value");
        let Err(error) = fields.finish(|| Some(())) else { panic!("accepted") };
        let details = error.details().cloned().unwrap_or_default();
        assert_eq!((&details[0]["argument"], &details[1]["argument"]), (&json!("value"), &json!("Idempotency-Key")));
    }
}

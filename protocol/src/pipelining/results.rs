//! The answers of the steps so far, and look-ups of paths in them.

use std::cell::Cell;

use super::json_path::{JsonPath, find};
use super::json_text::JsonText;
use crate::api_error::ApiError;
use crate::fault::Fault;
use crate::memory_budget::Reservation;

/// The limit of bytes of all results of a pipeline: 2 MiB, some twenty pages of a list. A thread that reads requests
/// copies them within a millisecond.
const RESULTS_BYTES_MAX: usize = 2 << 20;

/// The limit of bytes of results that the references of one step are looked up in: 2 MiB, parsed in some three
/// milliseconds. A reference counts with the whole result that it leads into.
const LOOKED_UP_BYTES_MAX: usize = 2 << 20;

/// A target of JSON text, which is written in pieces.
pub(crate) trait Sink {
    /// Writes a piece.
    ///
    /// # Errors
    /// Fails when it does not fit.
    fn push(&mut self, piece: &str) -> Result<(), ApiError>;
}

impl Sink for String {
    fn push(&mut self, piece: &str) -> Result<(), ApiError> {
        self.push_str(piece);
        Ok(())
    }
}

/// The results, in order, as the JSON text that each step answered.
#[derive(Default)]
pub(crate) struct Results {
    kept: Vec<StoredResult>,
    byte_count: usize,
    looked_up_bytes: Cell<usize>,
}

/// One result, with the memory that it reserves from the budget of large answers.
struct StoredResult {
    text: String,
    _share: Option<Reservation>,
}

/// The reason why a reference does not become a value.
#[derive(Debug, PartialEq)]
pub(super) enum Unresolved {
    /// Its path finds nothing.
    Nothing,
    /// The results that it leads into exceed the limit.
    TooMuch,
    /// The value does not fit into the body or answer.
    NoRoom(ApiError),
}

impl From<ApiError> for Unresolved {
    fn from(refused: ApiError) -> Unresolved {
        Unresolved::NoRoom(refused)
    }
}

impl Unresolved {
    /// The error, which names the position of the reference.
    pub(super) fn refused_at(self, place: &str) -> ApiError {
        let message = match self {
            Unresolved::Nothing => "refers to something that is not in the results so far".to_owned(),
            Unresolved::TooMuch => format!(
                "refers to too large results too often: the references of a step are looked up in \
                    {LOOKED_UP_BYTES_MAX} bytes at most; use more steps, or more pipelines"
            ),
            Unresolved::NoRoom(refused) => return refused,
        };
        ApiError::invalid_arguments(&[Fault::invalid(place, message)])
    }
}

impl Results {
    /// Their number.
    pub(crate) fn count(&self) -> usize {
        self.kept.len()
    }

    /// Stores the next result. A result that reports a change is always stored.
    ///
    /// # Errors
    /// `INVALID_ARGUMENTS`, which names the step, when the results exceed their limit.
    pub(crate) fn keep(
        &mut self,
        text: String,
        share: Option<Reservation>,
        tells_of_a_change: bool,
    ) -> Result<(), ApiError> {
        self.byte_count += text.len();
        self.looked_up_bytes.set(0); // Each step has a count of its own, and so has the answer.
        if self.byte_count > RESULTS_BYTES_MAX && !tells_of_a_change {
            let message = format!(
                "with its answer the results are larger than {RESULTS_BYTES_MAX} bytes together; ask for less, or use \
                    more pipelines"
            );
            return Err(ApiError::invalid_arguments(&[Fault::invalid(&format!("steps[{}]", self.count()), message)]));
        }
        self.kept.push(StoredResult { text, _share: share });
        Ok(())
    }

    /// The answer of a pipeline that returns this path; null when the path finds nothing, since the steps are done
    /// already.
    pub(crate) fn returned(&self, path: &JsonPath) -> String {
        let mut text = String::new();
        match self.write(path, &mut text) {
            Ok(()) => text,
            Err(_) => "null".to_owned(),
        }
    }

    /// Writes the values that the path finds: the value of a singular path, else an array. `$[-1:]` is the last result
    /// itself.
    ///
    /// # Errors
    /// Fails when a singular path finds nothing, or the text does not fit.
    pub(super) fn write(&self, path: &JsonPath, out: &mut dyn Sink) -> Result<(), Unresolved> {
        if path.is_last() {
            let last = self.kept.last().ok_or(Unresolved::Nothing)?;
            return Ok(out.push(&last.text)?);
        }
        let mut found = 0;
        let mut write_one = |value: JsonText<'_>| -> Result<(), Unresolved> {
            found += 1;
            if !path.is_one_value() {
                out.push(if found == 1 { "[" } else { "," })?;
            }
            Ok(out.push(value.as_str())?)
        };
        self.find(path, &mut write_one)?;
        match (path.is_one_value(), found) {
            (true, 0) => Err(Unresolved::Nothing),
            (true, _) => Ok(()),
            (false, 0) => Ok(out.push("[]")?),
            (false, _) => Ok(out.push("]")?),
        }
    }

    fn find<'t>(
        &'t self,
        path: &JsonPath,
        found: &mut impl FnMut(JsonText<'t>) -> Result<(), Unresolved>,
    ) -> Result<(), Unresolved> {
        let (places, rest) = match path.split() {
            Some((first, rest)) => (first.places(self.count()), rest),
            None => (0..self.count(), &[][..]),
        };
        for kept in self.kept.iter().skip(places.start).take(places.len()) {
            if !rest.is_empty() {
                self.note_look_up(&kept.text)?;
            }
            find(JsonText::new(&kept.text), rest, found)?;
        }
        Ok(())
    }

    fn note_look_up(&self, text: &str) -> Result<(), Unresolved> {
        let bytes = self.looked_up_bytes.get() + text.len();
        self.looked_up_bytes.set(bytes);
        if bytes > LOOKED_UP_BYTES_MAX { Err(Unresolved::TooMuch) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(texts: &[&str]) -> Results {
        let mut results = Results::default();
        for text in texts {
            assert_eq!(results.keep((*text).to_owned(), None, false), Ok(()));
        }
        results
    }

    fn path(text: &str) -> JsonPath {
        JsonPath::parse(text).unwrap_or_else(|| panic!("no path: {text}"))
    }

    const THREE: [&str; 3] = ["\"pse_1\"", "true", r#"{"page":[{"id":1},{"id":2}]}"#];

    #[test]
    fn a_pipeline_returns_the_values_that_its_path_finds() {
        for (returns, answer) in [
            ("$", r#"["pse_1",true,{"page":[{"id":1},{"id":2}]}]"#),
            ("$[-1:]", r#"{"page":[{"id":1},{"id":2}]}"#),
            ("$[0]", "\"pse_1\""),
            ("$[-2]", "true"),
            ("$[2].page[-1].id", "2"),
            ("$[2].page[0:].id", "[1,2]"),
            ("$[0:2]", "[\"pse_1\",true]"),
            ("$[-2:]", r#"[true,{"page":[{"id":1},{"id":2}]}]"#),
            ("$[2:1]", "[]"),
            ("$[2].page[5:].id", "[]"),
            ("$[2].page[5].id", "null"),
        ] {
            assert_eq!(results(&THREE).returned(&path(returns)), answer, "{returns}");
        }
        assert_eq!(results(&[]).returned(&path("$")), "[]");
    }

    #[test]
    fn a_reference_that_finds_nothing_is_no_value() {
        for text in ["$[0].page", "$[3]", "$[2].page[2]"] {
            let mut out = String::new();
            assert_eq!(results(&THREE).write(&path(text), &mut out), Err(Unresolved::Nothing), "{text}");
        }
    }

    #[test]
    fn results_are_limited_but_the_result_of_a_change_is_stored() {
        let mut results = results(&["1"]);
        let large = || "1".repeat(RESULTS_BYTES_MAX);
        let refused = results.keep(large(), None, false);
        assert!(refused.is_err_and(|error| error.message().starts_with("steps[1]: ")));
        assert_eq!((results.keep(large(), None, true), results.count()), (Ok(()), 2));
    }

    #[test]
    fn references_are_looked_up_in_a_bounded_number_of_bytes() {
        let large = format!("{{\"a\":\"{}\"}}", "x".repeat(RESULTS_BYTES_MAX / 2));
        let mut results = results(&[&large]);
        let mut out = String::new();
        let times = std::iter::repeat_with(|| results.write(&path("$[0].b"), &mut out));
        let found = times.take_while(|found| *found == Err(Unresolved::Nothing)).count();
        assert_eq!(found, LOOKED_UP_BYTES_MAX / large.len());
        assert_eq!(results.write(&path("$[0].a"), &mut out), Err(Unresolved::TooMuch));
        assert_eq!(results.keep("1".to_owned(), None, false), Ok(()));
        assert_eq!(results.write(&path("$[0].a"), &mut out), Ok(()), "the next step has a count of its own");
    }
}

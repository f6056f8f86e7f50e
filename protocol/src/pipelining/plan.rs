//! The steps of a pipeline, read as a whole before the first one runs: all faults are reported at once.

use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};

use super::address::{Address, PathAndQuery};
use super::json_path::JsonPath;
use super::references::{self, Meaning, fault_of, write_text};
use super::results::{Results, Sink};
use crate::api_error::ApiError;
use crate::declaration::Declaration;
use crate::fault::Fault;
use crate::fields::{Fields, nearest};
use crate::json::{Json, Object};

/// The limit of steps of a pipeline.
const STEPS_MAX: usize = 32;

/// The limit of reported faults of steps: a body of a mebibyte could have a hundred thousand.
const FAULTS_MAX: usize = 100;

/// The limit of characters of a member's name that are repeated to the caller.
const NAME_REPEATED_MAX: usize = 64;

/// The members of a step.
const MEMBERS: [&str; 3] = ["url", "headers", "body"];

/// The headers of a step that have an effect.
static COUNTED: [HeaderName; 4] = [
    header::AUTHORIZATION,
    HeaderName::from_static("api-version"),
    HeaderName::from_static("idempotency-key"),
    header::ACCEPT,
];

/// The headers that each step inherits from the pipeline's own request, unless it has its own.
static INHERITED: [HeaderName; 4] = [header::AUTHORIZATION, header::ACCEPT, header::ORIGIN, header::HOST];

/// The message for a body that is neither an object nor a reference.
const NO_BODY: &str = "send a JSON object, or a reference to one";

/// The steps, and the path to the answer. The bodies of the steps stay in the pipeline's arguments.
pub(crate) struct PipelinePlan {
    pub(crate) steps: Vec<PipelineStep>,
    pub(crate) returns: JsonPath,
}

/// One call of a pipeline.
pub(crate) struct PipelineStep {
    position: usize,
    pub(crate) called: PathAndQuery,
    headers: Vec<(&'static HeaderName, String)>,
}

impl PipelinePlan {
    /// Reads the arguments of a pipeline, whose own header may have a fault.
    ///
    /// # Errors
    /// `INVALID_ARGUMENTS` with every fault that is known before the first step.
    pub(crate) fn read(
        declaration: &'static Declaration,
        arguments: &Object,
        header_fault: Option<Fault>,
        address: &Address,
        is_pipeline: impl Fn(&str) -> bool,
    ) -> Result<PipelinePlan, ApiError> {
        let mut fields = Fields::new(declaration, arguments).with_header_fault(header_fault);
        let are_steps = fields.required("steps", is_list_of_steps).is_some();
        let steps = arguments.get("steps").filter(|_| are_steps).map_or(&[][..], items);
        let returns = fields.optional("returns", |returns| path_among(returns, steps.len()));
        let mut reader = StepReader { address, is_pipeline, faults: Vec::new() };
        let read: Vec<Option<PipelineStep>> =
            steps.iter().enumerate().map(|(position, step)| reader.step(position, step)).collect();
        reader.faults.into_iter().for_each(|fault| fields.fault(fault));
        fields.finish(|| {
            Some(PipelinePlan { steps: read.into_iter().collect::<Option<_>>()?, returns: returns.unwrap_or_default() })
        })
    }
}

impl PipelineStep {
    /// The headers with which it is checked: those of its own that have an effect, and the inherited ones.
    ///
    /// # Errors
    /// `INVALID_ARGUMENTS` when a reference finds nothing, or a value that cannot be a header's.
    pub(crate) fn headers(&self, of_pipeline: &HeaderMap, results: &Results) -> Result<HeaderMap, ApiError> {
        let mut headers = HeaderMap::new();
        for (name, text) in &self.headers {
            headers.append((*name).clone(), self.header(name, text, results)?);
        }
        for name in &INHERITED {
            if !headers.contains_key(name) {
                of_pipeline.get_all(name).for_each(|value| headers.append(name.clone(), value.clone()));
            }
        }
        Ok(headers)
    }

    fn header(&self, name: &HeaderName, text: &str, results: &Results) -> Result<HeaderValue, ApiError> {
        let place = format!("steps[{}].headers.{name}", self.position);
        let fault = |message: &str| ApiError::invalid_arguments(&[Fault::invalid(&place, message)]);
        let referred = match Meaning::of(text) {
            Meaning::Text(text) => {
                return HeaderValue::from_bytes(text.as_bytes()).map_err(|_| fault("cannot be sent in a header"));
            }
            Meaning::Reference(path) => {
                let mut json = String::new();
                results.write(&path, &mut json).map_err(|unresolved| unresolved.refused_at(&place))?;
                json
            }
        };
        let text: String = serde_json::from_str(&referred).map_err(|_| fault("refers to a value that is not text"))?;
        HeaderValue::from_bytes(text.as_bytes()).map_err(|_| fault("refers to a text that cannot be sent in a header"))
    }

    /// Writes the body, of which the pipeline's arguments have the text, with its references replaced.
    ///
    /// # Errors
    /// `INVALID_ARGUMENTS` when a reference finds nothing, or the error of `out` when it is full.
    pub(crate) fn write_body(&self, arguments: &Object, results: &Results, out: &mut dyn Sink) -> Result<(), ApiError> {
        let place = format!("steps[{}].body", self.position);
        let body = body_of_step(arguments, self.position).expect("the step was read of these arguments");
        let Json::Object(members) = body else {
            return references::write(body, results, out).map_err(|unresolved| unresolved.refused_at(&place));
        };
        for (count, (name, value)) in members.iter().enumerate() {
            out.push(if count == 0 { "{" } else { "," })?;
            let written = write_text(name, out).and_then(|()| Ok(out.push(":")?));
            let written = written.and_then(|()| references::write(value, results, out));
            written.map_err(|unresolved| unresolved.refused_at(&format!("{place}.{}", repeated(name))))?;
        }
        out.push(if members.is_empty() { "{}" } else { "}" })
    }
}

/// Reads steps and collects their faults, up to [`FAULTS_MAX`].
struct StepReader<'a, F> {
    address: &'a Address,
    is_pipeline: F,
    faults: Vec<Fault>,
}

impl<F: Fn(&str) -> bool> StepReader<'_, F> {
    fn step(&mut self, position: usize, step: &Json) -> Option<PipelineStep> {
        let place = format!("steps[{position}]");
        let Json::Object(members) = step else {
            return self.fault(|| Fault::invalid(&place, "send an object with url, headers and body"));
        };
        for name in members.keys().filter(|name| !MEMBERS.contains(&name.as_str())) {
            self.fault::<()>(|| unknown_member(&place, name));
        }
        let given = |name: &str| members.get(name).filter(|value| !value.is_null());
        let called = self.url(&format!("{place}.url"), given("url"));
        let headers = self.headers(&format!("{place}.headers"), position, given("headers"));
        let has_body = self.body(&format!("{place}.body"), position, given("body"));
        has_body?;
        Some(PipelineStep { position, called: called?, headers: headers? })
    }

    fn url(&mut self, place: &str, url: Option<&Json>) -> Option<PathAndQuery> {
        let Some(url) = url else { return self.fault(|| Fault::missing(place)) };
        let address = self.address;
        let Some(called) = url.as_str().and_then(|url| address.resolve(url)) else {
            let beginning = address.beginning();
            let message = format!("is not an address of this server, whose own begin with {beginning}");
            return self.fault(|| Fault::invalid(place, message));
        };
        if (self.is_pipeline)(&called.path) {
            return self.fault(|| Fault::invalid(place, "is a pipeline itself; send its steps here instead"));
        }
        Some(called)
    }

    fn headers(
        &mut self,
        place: &str,
        position: usize,
        headers: Option<&Json>,
    ) -> Option<Vec<(&'static HeaderName, String)>> {
        let members = match headers {
            None => return Some(Vec::new()),
            Some(Json::Object(members)) => members,
            Some(_) => return self.fault(|| Fault::invalid(place, "send an object with a text for each header")),
        };
        let counted = members.iter().filter(|(_, value)| !value.is_null()).filter_map(|(name, value)| {
            Some((COUNTED.iter().find(|counted| counted.as_str().eq_ignore_ascii_case(name))?, value))
        });
        let read: Vec<_> =
            counted.map(|(name, value)| Some((name, self.header(place, position, name, value)?))).collect();
        read.into_iter().collect()
    }

    fn header(&mut self, place: &str, position: usize, name: &HeaderName, value: &Json) -> Option<String> {
        let place = || format!("{place}.{name}");
        let Some(text) = value.as_str() else { return self.fault(|| Fault::invalid(&place(), "send a text")) };
        self.check_references(place, position, value);
        Some(text.to_owned())
    }

    fn body(&mut self, place: &str, position: usize, body: Option<&Json>) -> Option<()> {
        let Some(body) = body else { return self.fault(|| Fault::missing(place)) };
        match body {
            Json::Object(members) => {
                for (name, value) in members {
                    self.check_references(|| format!("{place}.{}", repeated(name)), position, value);
                }
            }
            Json::String(text) if JsonPath::parse(text).is_some() => {
                self.check_references(|| place.to_owned(), position, body);
            }
            _ => return self.fault(|| Fault::invalid(place, NO_BODY)),
        }
        Some(())
    }

    /// A step can refer only to earlier steps, and to one value. A plan with all faults that are reported is not
    /// searched for more.
    fn check_references(&mut self, place: impl Fn() -> String, position: usize, value: &Json) {
        if self.faults.len() < FAULTS_MAX
            && let Some(message) = fault_of(value, position)
        {
            self.faults.push(Fault::invalid(&place(), message));
        }
    }

    /// Adds a fault, unless there are as many as are reported.
    fn fault<T>(&mut self, fault: impl FnOnce() -> Fault) -> Option<T> {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(fault());
        }
        None
    }
}

fn unknown_member(place: &str, name: &str) -> Fault {
    let suggestion = if name.len() <= NAME_REPEATED_MAX { nearest(name, MEMBERS.into_iter()) } else { None };
    Fault::unknown(&format!("{place}.{}", repeated(name)), suggestion)
}

fn is_list_of_steps(value: &Json) -> Result<(), String> {
    let count = items(value).len();
    if (1..=STEPS_MAX).contains(&count) { Ok(()) } else { Err(format!("send an array of 1 to {STEPS_MAX} steps")) }
}

fn items(value: &Json) -> &[Json] {
    match value {
        Json::Array(items) => items,
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => &[],
    }
}

fn body_of_step(arguments: &Object, position: usize) -> Option<&Json> {
    let Json::Object(step) = items(arguments.get("steps")?).get(position)? else { return None };
    step.get("body")
}

/// A path into this number of results.
fn path_among(value: &Json, result_count: usize) -> Result<JsonPath, String> {
    let path = value.as_str().and_then(JsonPath::parse);
    let path = path.ok_or("send a path into the results, such as $, $[-1:] or $[0].payment_id")?;
    if !path.is_looked_up() {
        return Err("may select by names, indexes, slices without a step, and wildcards only".to_owned());
    }
    if path.reaches(result_count) {
        Ok(path)
    } else {
        Err(format!("leads to a result that there will not be: there are {result_count} steps"))
    }
}

/// The beginning of a member's name, for a message to the caller.
fn repeated(name: &str) -> &str {
    name.char_indices().nth(NAME_REPEATED_MAX).map_or(name, |(end, _)| &name[..end])
}

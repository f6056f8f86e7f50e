//! Reports of two sides, each of one run or several, beside each other.

use anyhow::ensure;
use serde_json::{Value, json};

use super::document::Document;
use super::machine::Machine;
use super::notes::{CLOSED_LOOP, is_busy};
use super::spread::too_few_runs;
use crate::run::Point;

/// Parameters that do not change what is asked of the server.
const CIRCUMSTANCES: [&str; 4] = ["threads", "duration_seconds", "warm_up_seconds", "webhooks"];

/// Reports of two sides whose runs were told the same.
#[derive(Debug)]
pub struct Comparison {
    /// The first side: at least one run.
    pub before: Vec<Document>,
    /// The second side: at least one run.
    pub after: Vec<Document>,
    /// The differences beside the load: machine, program, duration. They do not prevent a comparison, but may explain
    /// it.
    pub(super) differences: Vec<Difference>,
}

/// Something in which reports differ: its name, and its values in the first and in the second side.
pub(super) type Difference = [String; 3];

impl Comparison {
    /// Compares the reports of two sides, each of at least one run.
    ///
    /// # Errors
    /// All properties of the load that differ, each with both values.
    pub fn new(before: Vec<Document>, after: Vec<Document>) -> anyhow::Result<Comparison> {
        let told_differently = differing(&before, &after, |document| parameters(document, true));
        let lines: Vec<String> =
            told_differently.iter().map(|[what, before, after]| format!("{what}: {before} and {after}")).collect();
        let told = lines.join("\n  ");
        ensure!(told.is_empty(), "these runs cannot be compared, since their parameters differ:\n  {told}");
        let differences = differing(&before, &after, circumstances);
        Ok(Comparison { before, after, differences })
    }

    /// A short description of the runs of both sides.
    pub(super) fn title(&self) -> &str {
        &self.before[0].title
    }

    /// Points that both sides have: of each, those of all runs.
    pub(super) fn points(&self) -> Vec<(Vec<&Point>, Vec<&Point>)> {
        let both = |index: usize| (points_at(&self.before, index), points_at(&self.after, index));
        let is_there = |(before, after): &(Vec<_>, Vec<_>)| !before.is_empty() && !after.is_empty();
        (0..).map(both).take_while(is_there).collect()
    }

    /// Sentences that a reader must know of the comparison.
    pub(super) fn notes(&self) -> Vec<String> {
        let runs = || self.before.iter().chain(&self.after);
        let (all, busy) = (runs().count(), runs().filter(|document| is_busy(document)).count());
        let ended_early = runs().filter(|document| ended_early(document)).count();
        let notes = [
            too_few_runs(self.before.len(), self.after.len()),
            (busy > 0).then(|| {
                format!("BUSY MACHINE: in {busy} of {all} runs other processes took much of the processors' time")
            }),
            (ended_early > 0).then(|| format!("ENDED EARLY: {ended_early} of {all} runs")),
            self.is_one_after_the_other().then(|| {
                "NOTE: all runs of one side were made before those of the other. What changed on the machine meanwhile \
                 counts as a difference: make them in turns"
                    .to_owned()
            }),
            self.before[0].parameters.is_closed_loop().then(|| CLOSED_LOOP.to_owned()),
        ];
        notes.into_iter().flatten().collect()
    }

    /// True when several runs were made and those of one side were all made first.
    fn is_one_after_the_other(&self) -> bool {
        // Times of one form and one zone are in the order of their texts.
        let times = |side: &[Document]| {
            let times = || side.iter().map(|document| document.started_at.clone());
            times().min().zip(times().max())
        };
        let (Some(before), Some(after)) = (times(&self.before), times(&self.after)) else { return false };
        self.before.len() + self.after.len() > 2 && (before.1 < after.0 || after.1 < before.0)
    }
}

/// The points of this index, of the runs that have one.
fn points_at(side: &[Document], index: usize) -> Vec<&Point> {
    side.iter().filter_map(|run| run.points.get(index)).collect()
}

fn ended_early(document: &Document) -> bool {
    document.ended_early.is_some() || document.points.iter().any(|point| point.ended_early.is_some())
}

/// The parameters by their names: those of the load, since reports with different ones measure different things, or
/// the [`CIRCUMSTANCES`].
fn parameters(document: &Document, is_load: bool) -> Vec<(String, String)> {
    let parameters = members("", &json!(document.parameters));
    parameters.into_iter().filter(|(name, _)| CIRCUMSTANCES.contains(&name.as_str()) != is_load).collect()
}

/// The properties that may explain a difference between results.
fn circumstances(document: &Document) -> Vec<(String, String)> {
    let machine = Machine { load_before: None, busy_before: None, ..document.machine.clone() };
    let parts = [("till.", json!(document.till)), ("machine.", json!(machine)), ("server.", json!(document.server))];
    let parts = parts.iter().flat_map(|(prefix, part)| members(prefix, part));
    parts.chain(parameters(document, false)).collect()
}

/// The members of an object, with a prefix before their names, and their values as text.
fn members(prefix: &str, object: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::Null => "none".to_owned(),
        value => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    };
    let members = object.as_object().into_iter().flatten();
    members.map(|(name, value)| (format!("{prefix}{name}"), text(value))).collect()
}

/// Everything that has not the same value in all runs of both sides.
fn differing(
    before: &[Document],
    after: &[Document],
    values: impl Fn(&Document) -> Vec<(String, String)>,
) -> Vec<Difference> {
    let [before, after] = [before, after].map(|side| side.iter().map(&values).collect::<Vec<_>>());
    let distinct = |side: &[Vec<(String, String)>], index: usize| {
        let mut distinct: Vec<String> = Vec::new();
        for run in side.iter().map(|run| &run[index].1) {
            if !distinct.contains(run) {
                distinct.push(run.clone());
            }
        }
        distinct
    };
    let difference = |(index, (what, _)): (usize, &(String, String))| {
        let (before, after) = (distinct(&before, index), distinct(&after, index));
        let is_one = before.len() == 1 && before == after;
        let (before, after) = (before.join(", then "), after.join(", then "));
        (!is_one).then(|| [what.clone(), before, after])
    };
    before[0].iter().enumerate().filter_map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::super::examples::document;
    use super::*;
    use crate::plan::ScenarioKind;

    fn comparison(before: Vec<Document>, after: Vec<Document>) -> Comparison {
        Comparison::new(before, after).unwrap_or_else(|refused| panic!("{refused}"))
    }

    /// A run that began in this minute.
    fn document_of_minute(minute: u32) -> Document {
        Document { started_at: format!("2026-01-01T00:{minute:02}:00Z"), ..document() }
    }

    #[test]
    fn equal_loads_are_compared_and_other_differences_are_named() {
        let (before, mut after) = (document(), document());
        after.machine.processors += 2;
        after.parameters.threads += 1;
        let comparison = comparison(vec![before], vec![after]);
        let named: Vec<&str> = comparison.differences.iter().map(|difference| difference[0].as_str()).collect();
        assert_eq!(named, ["machine.processors", "threads"]);
    }

    #[test]
    fn runs_of_one_side_with_other_parameters_are_refused() {
        let mut other = document();
        other.parameters.connections = 3;
        let refused = Comparison::new(vec![document(), other], vec![document()]).map(|_| ());
        let refused = refused.map_err(|refused| refused.to_string());
        assert!(refused.as_ref().is_err_and(|text| text.contains("connections: 8, then 3 and 8")), "{refused:?}");
    }

    #[test]
    fn one_run_of_each_side_is_too_few() {
        let one = comparison(vec![document_of_minute(1)], vec![document_of_minute(2)]).notes();
        assert!(one[0].starts_with("TOO FEW RUNS: with 1 and 1 runs"), "{one:?}");
        let in_turns =
            comparison([1, 3, 5, 7].map(document_of_minute).to_vec(), [2, 4, 6, 8].map(document_of_minute).to_vec())
                .notes();
        assert_eq!(in_turns, [CLOSED_LOOP]);
        let after_each_other =
            comparison([1, 2, 3, 4].map(document_of_minute).to_vec(), [5, 6, 7, 8].map(document_of_minute).to_vec())
                .notes();
        assert!(after_each_other[0].contains("make them in turns"), "{after_each_other:?}");
    }

    #[test]
    fn busy_runs_and_runs_that_ended_early_are_counted() {
        let mut busy = document_of_minute(2);
        busy.points[0].others_busy = Some(0.5);
        busy.points[0].ended_early = Some("used up".to_owned());
        let notes = comparison(
            [1, 3, 5, 7].map(document_of_minute).to_vec(),
            vec![busy, document_of_minute(4), document_of_minute(6), document_of_minute(8)],
        )
        .notes();
        assert!(notes[0].starts_with("BUSY MACHINE: in 1 of 8 runs"), "{notes:?}");
        assert_eq!(notes[1], "ENDED EARLY: 1 of 8 runs");
    }

    #[test]
    fn a_run_that_ended_before_a_point_is_left_out_of_it() {
        let mut swept = document();
        swept.points.push(swept.points[0].clone());
        let comparison = comparison(vec![swept.clone(), document()], vec![swept]);
        let counts: Vec<_> = comparison.points().iter().map(|(before, after)| (before.len(), after.len())).collect();
        assert_eq!(counts, [(2, 1), (1, 1)]);
    }

    #[test]
    fn different_loads_are_refused_and_each_difference_is_named() {
        let mut after = document();
        after.parameters.scenario = ScenarioKind::Flow.into();
        after.parameters.connections = 3;
        after.parameters.rate = Some(5.0);
        let refused = Comparison::new(vec![document()], vec![after]).map(|_| ()).map_err(|refused| refused.to_string());
        let says = |text: &str| refused.as_ref().is_err_and(|refused| refused.contains(text));
        assert!(says("scenario: ping and flow") && says("connections: 8 and 3") && says("rate: none and 5.0"));
        assert!(!says("merchants"), "{refused:?}");
    }
}

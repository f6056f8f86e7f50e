//! Two reports side by side.

use super::document::{Document, Parameters};

/// Two reports whose runs were told the same.
#[derive(Debug)]
pub struct Comparison {
    /// The first.
    pub before: Document,
    /// The second.
    pub after: Document,
    /// What differs beside the load: machine, program, length. Not a reason to refuse, and worth knowing.
    pub notes: Vec<Difference>,
}

/// Something in which two reports differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it is.
    pub what: String,
    /// In the first.
    pub before: String,
    /// In the second.
    pub after: String,
}

/// Why two reports are not compared: they were told different things.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("these runs cannot be compared, since they were told different things:\n  {}", lines(.0))]
pub struct Incomparable(pub Vec<Difference>);

fn lines(differences: &[Difference]) -> String {
    let line = |Difference { what, before, after }: &Difference| format!("{what}: {before} and {after}");
    differences.iter().map(line).collect::<Vec<_>>().join("\n  ")
}

impl Comparison {
    /// Compares two reports.
    ///
    /// # Errors
    /// When anything that makes the load differs: each with what it was.
    pub fn new(before: Document, after: Document) -> Result<Comparison, Incomparable> {
        let differences = differing(&load(&before.parameters), &load(&after.parameters));
        if !differences.is_empty() {
            return Err(Incomparable(differences));
        }
        let notes = differing(&circumstances(&before), &circumstances(&after));
        Ok(Comparison { before, after, notes })
    }
}

/// What makes the load: with another of these another thing is measured.
fn load(parameters: &Parameters) -> Vec<(&'static str, String)> {
    let none = || "none".to_owned();
    let json = |value: Option<serde_json::Value>| value.map_or_else(none, |value| value.to_string());
    vec![
        ("scenario", parameters.scenario.word.clone()),
        ("weights", parameters.scenario.weights.to_string()),
        ("loop", parameters.mode.clone()),
        ("rate", parameters.rate.map_or_else(none, |rate| rate.to_string())),
        ("p99-below", parameters.p99_below_micros.map_or_else(none, |micros| format!("{micros} us"))),
        ("merchants", parameters.merchants.to_string()),
        ("skew", parameters.skew.clone()),
        ("connections", parameters.connections.to_string()),
        ("sweep", json(parameters.sweep.as_ref().map(|sweep| serde_json::json!(sweep)))),
        ("metadata", json(parameters.metadata.map(|metadata| serde_json::json!(metadata)))),
        ("lists", json(parameters.lists.map(|lists| serde_json::json!(lists)))),
    ]
}

/// What may explain a difference.
fn circumstances(document: &Document) -> Vec<(&'static str, String)> {
    let Document { till, machine, server, parameters, .. } = document;
    let unknown = || "unknown".to_owned();
    vec![
        ("version of till", till.version.clone()),
        ("build profile", till.profile.clone()),
        ("optimization", till.optimization.clone()),
        ("processors", machine.processors.to_string()),
        ("processor", machine.processor_name.clone().unwrap_or_else(unknown)),
        ("kernel", machine.kernel.clone()),
        ("own server", server.own.to_string()),
        ("server on the same machine", server.same_machine.to_string()),
        ("TLS", server.tls.to_string()),
        ("settings of the server", format!("{:?}", server.settings)),
        ("file system", server.data_filesystem.clone().unwrap_or_else(unknown)),
        ("webhooks", parameters.webhooks.description().unwrap_or("none").to_owned()),
        ("threads", parameters.threads.to_string()),
        ("duration", format!("{} s", parameters.duration_seconds)),
        ("warm-up", format!("{} s", parameters.warm_up_seconds)),
    ]
}

fn differing(before: &[(&'static str, String)], after: &[(&'static str, String)]) -> Vec<Difference> {
    let pairs = before.iter().zip(after).filter(|((_, before), (_, after))| before != after);
    let difference = |((what, before), (_, after)): (&(&str, String), &(&str, String))| Difference {
        what: (*what).to_owned(),
        before: before.clone(),
        after: after.clone(),
    };
    pairs.map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::super::document::examples::document;
    use super::*;
    use crate::plan::{Kind, Scenario};

    #[test]
    fn runs_that_were_told_the_same_are_compared_and_what_may_explain_a_difference_is_named() {
        let (before, mut after) = (document(), document());
        after.machine.processors += 2;
        after.parameters.threads += 1;
        let notes = Comparison::new(before, after).map(|comparison| comparison.notes).unwrap_or_default();
        let named: Vec<&str> = notes.iter().map(|note| note.what.as_str()).collect();
        assert_eq!(named, ["processors", "threads"]);
    }

    #[test]
    fn runs_that_were_told_different_things_are_refused_and_each_of_them_is_named() {
        let mut after = document();
        after.parameters.scenario = Scenario::of(Kind::Flow);
        after.parameters.connections = 3;
        after.parameters.mode = "search".to_owned();
        let refused = Comparison::new(document(), after).map(|_| ()).map_err(|refused| refused.to_string());
        let says = |text: &str| refused.as_ref().is_err_and(|refused| refused.contains(text));
        assert!(says("scenario: ping and flow") && says("connections: 8 and 3") && says("loop: closed and search"));
        assert!(!says("merchants"), "{refused:?}");
    }
}

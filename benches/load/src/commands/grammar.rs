//! The grammar of the command line. In the help of a scenario stands what it takes, and nothing else.

use clap::{Arg, Command, CommandFactory, ValueEnum};

use super::arguments::Arguments;
use crate::plan::ScenarioKind;

/// Settings of a server that serves, which is another one than the load tester measures or generates for.
const OF_A_SERVER: [&str; 3] = ["listen", "admin_listen", "journal"];

/// The grammar of the whole command line.
#[must_use]
pub fn grammar() -> Command {
    let whole = Arguments::command()
        .mut_args(|arg| if OF_A_SERVER.contains(&arg.get_id().as_str()) { arg.hide(true) } else { arg });
    ScenarioKind::value_variants().iter().map(ToString::to_string).fold(whole, |whole, name| {
        if whole.find_subcommand(&name).is_none() {
            return whole; // It is part of a mix only.
        }
        let own = name.clone();
        whole.mut_subcommand(name, move |scenario| {
            scenario.mut_args(|arg| if is_of_others(&arg, &own) { arg.hide(true) } else { arg })
        })
    })
}

/// True when the help of a flag begins with the names of scenarios that take it, and this one is not among them.
fn is_of_others(arg: &Arg, scenario: &str) -> bool {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let Some((names, _)) = help.split_once(": ") else { return false };
    let mut names = names.split(", ").map(|name| ScenarioKind::from_str(name, false).map(|kind| kind.to_string()));
    names.clone().all(|name| name.is_ok()) && !names.any(|name| name.as_deref() == Ok(scenario))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_of_a_scenario_has_its_flags_only() {
        let help = |name: &str| {
            let mut grammar = grammar();
            grammar.build();
            let scenario = grammar.find_subcommand_mut(name).unwrap_or_else(|| panic!("there is no {name}"));
            scenario.render_long_help().to_string()
        };
        let initiate = help("initiate");
        assert!(
            ["--sessions", "--declines", "--action-share", "--data"].iter().all(|flag| initiate.contains(flag)),
            "{initiate}"
        );
        for flag in ["--set-size", "--entries", "--payments", "--per-page", "--listen", "--journal"] {
            assert!(!initiate.contains(flag), "{flag}: {initiate}");
        }
        assert!(help("balance").contains("--entries") && help("mixed").contains("--set-size"));
    }
}

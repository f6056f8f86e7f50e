//! The help of the program: its commands in groups, by what they need.

use clap::{Command, CommandFactory};

use super::arguments::Arguments;

/// A group of commands: its heading, and their names.
type Group = (&'static str, &'static [&'static str]);

/// Every command, in the order in which the help shows them.
const GROUPS: [Group; 6] = [
    ("The server", &["serve", "status", "configuration"]),
    (
        "Calls to a running server, by the operator",
        &[
            "merchant",
            "key",
            "user",
            "installation",
            "payment",
            "payment-method",
            "acquirer",
            "balance",
            "topup",
            "invoice",
            "payout",
            "dispute",
            "refund",
            "clock",
            "reconcile",
            "resume",
            "reload",
            "admin-token",
            "vault",
        ],
    ),
    (
        "Files: of a stopped server, or copies of a running one",
        &["checkpoint", "archive", "restore", "verify", "repair", "export", "inspect"],
    ),
    ("The log in a PostgreSQL database", &["journal"]),
    ("For developers of shops", &["webhook", "trigger"]),
    ("This program", &["completions", "manual", "help"]),
];

/// The grammar of the command line, whose help shows the commands in groups.
pub(super) fn command() -> Command {
    let mut command = Arguments::command();
    command.build();
    let template =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}", list(&command));
    command.help_template(template)
}

/// All groups as text.
fn list(command: &Command) -> String {
    let group = |(heading, names): &Group| {
        let lines: String = names.iter().map(|name| line(command, name)).collect();
        format!("\n{heading}:\n{lines}")
    };
    GROUPS.iter().map(group).collect()
}

/// The line of one command.
fn line(command: &Command, name: &str) -> String {
    let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
    format!("  {name:<15} {}\n", about.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_is_in_one_group_and_the_help_shows_it() {
        let mut command = command();
        let help = command.render_long_help().to_string();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let known: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), known);
        assert_eq!(grouped.len(), known.len());
        for name in grouped {
            assert!(help.contains(&format!("\n  {name} ")), "{name} is not in\n{help}");
        }
    }
}

//! The operator's calls as commands, which follow from the declarations of `/admin`.

use std::time::Duration;
use std::{fs, io};

use anyhow::Context;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, FromArgMatches, Subcommand, value_parser};
use serde_json::{Value, json};
use till_protocol::declaration::{Argument, Declaration, ValueType};

use super::accounts::accounts;
use super::admin_client::AdminClient;
use super::exit_code::ExitCode;
use super::finding::{TextTable, keys_of_page, one_key, payments};
use super::progress::{print, say};
use crate::configuration::{Configuration, Secrets};
use crate::endpoints::admin;

/// The subjects of commands, as the help describes them. A call such as `create-merchant` of another subject is no
/// command `till merchant create` here: it has a command of its own, or none.
const SUBJECTS: [(&str, &str); 14] = [
    ("merchant", "Merchants"),
    ("clock", "Test clocks of merchants"),
    ("key", "API keys"),
    ("user", "Members of a merchant's team"),
    ("payment", "Payments of any merchant"),
    ("installation", "Installations of the SDK"),
    ("payment-method", "Payment methods of a merchant"),
    ("acquirer", "Accounts of a merchant at acquirers"),
    ("balance", "Balances"),
    ("topup", "Top-ups"),
    ("invoice", "Invoices"),
    ("payout", "Payouts that wait for the sandbox"),
    ("dispute", "Disputes about payments of the sandbox"),
    ("refund", "Refunds that wait for the sandbox"),
];

/// Verbs of two words: their subjects, and the calls that they make.
const TWO_WORDS: [(&str, &str, &str); 1] = [("user", "reset-credentials", "reset-user-credentials")];

/// Commands of one word, with the calls that they make.
const SINGLE: [(&str, &str); 3] = [("resume", RESUME), ("reload", "reload"), ("reconcile", RECONCILE)];

/// The call after which people are told the accounts that are called again.
const RESUME: &str = "resume-effects";

/// The call that reads for long, and whose command fails when there are differences.
const RECONCILE: &str = "reconcile-acquirer";

/// The longest time that a reconciliation is waited for: a day.
const RECONCILING_MAX: Duration = Duration::from_secs(86_400);

/// Calls of which people are shown a table.
const TABLES: [(&str, TextTable); 3] =
    [("find-payments", payments), ("find-key", one_key), ("list-keys", keys_of_page)];

/// Calls whose first option may be given without its name.
const BY_KEY: [&str; 2] = ["find-key", "revoke-key"];

/// Arguments of which a call of `find-payments` has exactly one.
const CLUES: [&str; 3] = ["payment_id", "external_id", "last_digits"];

/// Arguments that are flags: they are given, or left out.
const FLAGS: [&str; 2] = ["test_clock", "unchecked"];

/// Arguments that are read from a file: what is given on a command line is seen by others.
const FROM_FILES: [&str; 2] = ["secret", "webhook_secret"];

/// The name of a file for a line of standard input.
const STANDARD_INPUT: &str = "-";

/// The note at the merchant of a key, which is found by the key.
const DEFAULT_OWNER: &str = "[default: the one that has the key]";

/// The id of the option by which the answer is printed as JSON instead of a table.
const JSON: &str = "json";

/// The id of the option for the header of the same name.
const IDEMPOTENCY_KEY: &str = "idempotency_key";

/// The id of an option that is given without its name.
const UNNAMED: &str = "unnamed";

/// A call to a running server's admin listener.
#[derive(Debug)]
pub(super) struct OperatorCall {
    endpoint: &'static str,
    body: Value,
    idempotency_key: Option<String>,
    /// The table that shows the answer to people; none when the answer is printed as it is.
    table: Option<TextTable>,
}

/// The commands of one subject, with their verbs.
fn commands_of(subject: &str) -> impl Iterator<Item = (&'static str, &'static Declaration)> {
    let is_single = |name: &str| SINGLE.iter().any(|(_, call)| *call == name);
    admin::declarations().filter(move |declaration| !is_single(declaration.name)).filter_map(move |declaration| {
        if let Some((_, verb, _)) = TWO_WORDS.iter().find(|(of, _, call)| *of == subject && *call == declaration.name) {
            return Some((*verb, declaration));
        }
        let (verb, object) = declaration.name.split_once('-')?;
        (object == subject || object.strip_suffix('s') == Some(subject)).then_some((verb, declaration))
    })
}

fn single(command: &str) -> Option<&'static Declaration> {
    let (_, name) = SINGLE.iter().find(|(known, _)| *known == command)?;
    admin::declarations().find(|declaration| declaration.name == *name)
}

/// The command that makes a call, with an option for each argument.
fn command(name: &'static str, declaration: &'static Declaration) -> Command {
    let call = declaration.name;
    Command::new(name)
        .about(plain(declaration.summary))
        .args(declaration.arguments.iter().map(|argument| option(call, argument)))
        .args(BY_KEY.contains(&call).then(unnamed_key))
        .args(declaration.flags.takes_idempotency_key.then(idempotency_key))
        .args(table(call).is_some().then(as_json))
        .groups((call == "find-payments").then(|| ArgGroup::new("clue").args(CLUES).required(true)))
}

fn unnamed_key() -> Arg {
    let unnamed = Arg::new(UNNAMED).value_name("KEY_ID").required_unless_present("key_id").conflicts_with("key_id");
    unnamed.help("The key's uid, as the log's lines name it")
}

fn idempotency_key() -> Arg {
    let option = Arg::new(IDEMPOTENCY_KEY).long("idempotency-key").value_name("IDEMPOTENCY_KEY");
    option.help("A call with the same key and the same values is carried out only once")
}

fn as_json() -> Arg {
    Arg::new(JSON).long(JSON).action(ArgAction::SetTrue).help("Prints the answer as JSON")
}

/// The option that gives an argument.
fn option(call: &str, argument: &'static Argument) -> Arg {
    let is_unnamed = BY_KEY.contains(&call) && argument.name == "key_id";
    let is_found = call == "revoke-key" && argument.name == "merchant_id";
    if FROM_FILES.contains(&argument.name) {
        let file = Arg::new(argument.name).long(format!("{}-file", argument.name.replace('_', "-"))).value_name("FILE");
        let help = format!("{} [from this file, or - for a line of standard input]", help(argument));
        return file.required(argument.required).help(help);
    }
    let option = Arg::new(argument.name).long(argument.name.replace('_', "-")).value_name(argument.name.to_uppercase());
    let option = option.required(argument.required && !is_unnamed && !is_found);
    let option = option.help(if is_found { format!("{} {DEFAULT_OWNER}", help(argument)) } else { help(argument) });
    match argument.value_type {
        ValueType::Boolean if FLAGS.contains(&argument.name) => option.action(ArgAction::SetTrue),
        ValueType::Boolean => option.value_parser(value_parser!(bool)).value_name("BOOL"),
        ValueType::Integer(_) => option.value_parser(value_parser!(u64)),
        _ => option,
    }
}

/// The description of an argument, with the words that it may be where the description does not say them.
fn help(argument: &Argument) -> String {
    let docs = plain(argument.docs);
    let words = argument.value_type.choices();
    let are_told = words.first().is_none_or(|word| docs.contains(word));
    if are_told { docs } else { format!("{docs}: {}", words.join(", ")) }
}

/// Markdown of a declaration as the help shows it.
fn plain(docs: &str) -> String {
    docs.trim_end_matches('.').replace('`', "")
}

fn table(call: &str) -> Option<TextTable> {
    TABLES.iter().find(|(known, _)| *known == call).map(|(_, table)| *table)
}

/// The given value of an argument; null when it is left out.
fn value(matches: &ArgMatches, argument: &Argument) -> Value {
    let name = argument.name;
    match argument.value_type {
        ValueType::Boolean if FLAGS.contains(&name) => json!(matches.get_flag(name).then_some(true)),
        ValueType::Boolean => json!(matches.get_one::<bool>(name)),
        ValueType::Integer(_) => json!(matches.get_one::<u64>(name)),
        _ => json!(matches.get_one::<String>(name)),
    }
}

impl OperatorCall {
    fn read(declaration: &'static Declaration, matches: &ArgMatches) -> OperatorCall {
        let endpoint = declaration.name;
        let members = declaration.arguments.iter();
        let mut body: Value = members.map(|argument| (argument.name.to_owned(), value(matches, argument))).collect();
        let text = |id: &str| matches.try_get_one::<String>(id).ok().flatten().cloned();
        if let Some(key_id) = text(UNNAMED) {
            body["key_id"] = key_id.into();
        }
        let is_json = matches.try_get_one::<bool>(JSON).ok().flatten().is_some_and(|is_json| *is_json);
        let table = table(endpoint).filter(|_| !is_json);
        OperatorCall { endpoint, body, idempotency_key: text(IDEMPOTENCY_KEY), table }
    }
}

impl FromArgMatches for OperatorCall {
    fn from_arg_matches(matches: &ArgMatches) -> Result<OperatorCall, clap::Error> {
        let unknown = || clap::Error::new(ErrorKind::InvalidSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(unknown)?;
        if let Some(declaration) = single(name) {
            return Ok(OperatorCall::read(declaration, matches));
        }
        let (verb, matches) = matches.subcommand().ok_or_else(unknown)?;
        let (_, declaration) = commands_of(name).find(|(known, _)| *known == verb).ok_or_else(unknown)?;
        Ok(OperatorCall::read(declaration, matches))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = OperatorCall::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for OperatorCall {
    fn augment_subcommands(grammar: Command) -> Command {
        let subject = |(name, about): (&'static str, &'static str)| {
            let commands = commands_of(name).map(|(verb, declaration)| command(verb, declaration));
            Command::new(name).about(about).subcommand_required(true).arg_required_else_help(true).subcommands(commands)
        };
        let single = SINGLE.iter().filter_map(|(name, _)| single(name).map(|declaration| command(name, declaration)));
        grammar.subcommands(SUBJECTS.map(subject)).subcommands(single)
    }

    fn augment_subcommands_for_update(grammar: Command) -> Command {
        OperatorCall::augment_subcommands(grammar)
    }

    fn has_subcommand(name: &str) -> bool {
        SUBJECTS.iter().chain(&SINGLE).any(|(known, _)| *known == name)
    }
}

/// Makes the call and prints the answer: a bare id as it is, a table of what is found, anything else as JSON. A reload
/// that kept a file has failed, so that the program that renewed the file notices, and so has a reconciliation that
/// found differences.
pub(super) fn operate(configuration: &Configuration, call: &OperatorCall) -> anyhow::Result<ExitCode> {
    let client = AdminClient::of(configuration, Secrets::find_admin_token(configuration)?)?;
    let OperatorCall { endpoint, idempotency_key, table, .. } = call;
    let client = if *endpoint == RECONCILE { client.with_timeout(RECONCILING_MAX) } else { client };
    let mut body = call.body.clone();
    for name in FROM_FILES {
        if let Some(file) = body[name].as_str().map(str::to_owned) {
            body[name] = read_secret(&file)?.into();
        }
    }
    if *endpoint == "revoke-key" && body["merchant_id"].is_null() {
        let key = client.call_admin("find-key", &json!({ "key_id": body["key_id"] }), None)?;
        body["merchant_id"] = key["merchant_id"].clone();
    }
    let answer = client.call_admin(endpoint, &body, idempotency_key.as_deref())?;
    let has_kept_a_file = answer["kept"].as_array().is_some_and(|kept| !kept.is_empty());
    let has_differences = *endpoint == RECONCILE && answer["count"] != 0;
    if *endpoint == RESUME && answer == true {
        match accounts(&client) {
            Ok(lines) => lines.iter().for_each(|line| say(line)),
            Err(error) => say(&format!("resumed; the accounts at acquirers could not be listed: {error}")),
        }
    }
    match (answer, table) {
        (answer, Some(table)) => print(&table(&answer)),
        (Value::String(text), None) => print(&text),
        (answer, None) => print(&serde_json::to_string_pretty(&answer)?),
    };
    Ok(if has_kept_a_file || has_differences { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The text of a file, or the next line of standard input, without the end of the line.
fn read_secret(file: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    if file == STANDARD_INPUT {
        io::stdin().read_line(&mut text).context("failed to read standard input")?;
    } else {
        text = fs::read_to_string(file).with_context(|| format!("failed to read {file}"))?;
    }
    text.truncate(text.trim_end().len());
    Ok(text)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::commands::Arguments;
    use crate::commands::arguments::TillCommand;

    fn request(line: &str) -> OperatorCall {
        let arguments = Arguments::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{error}"));
        let TillCommand::Operate(call) = arguments.command else { panic!("not a call of the operator") };
        call
    }

    #[test]
    fn every_command_calls_its_endpoint() {
        for (line, endpoint) in [
            ("till merchant create --name A --currency THB", "create-merchant"),
            ("till merchant update --merchant-id mer_1 --card-numbers-in-identifiers true", "update-merchant"),
            ("till merchant find --merchant-id mer_1", "find-merchant"),
            ("till merchant list", "list-merchants"),
            ("till merchant suspend --merchant-id mer_1", "suspend-merchant"),
            ("till merchant resume --merchant-id mer_1", "resume-merchant"),
            ("till clock advance --merchant-id mer_1 --to 1767225600", "advance-clock"),
            ("till key generate --merchant-id mer_1 --name A", "generate-key"),
            ("till key revoke --merchant-id mer_1 --key-id key_1", "revoke-key"),
            ("till key revoke key_1", "revoke-key"),
            ("till key find key_1", "find-key"),
            ("till key list --merchant-id mer_1", "list-keys"),
            ("till user reset-credentials --merchant-id mer_1 --user-id usr_1", "reset-user-credentials"),
            ("till payment find --external-id order-1", "find-payments"),
            ("till installation add --merchant-id mer_1 --name A --platform WEB --identifier a.b", "add-installation"),
            ("till installation list --merchant-id mer_1 --per-page 5", "list-installations"),
            ("till installation update --merchant-id mer_1 --installation-id ins_1 --name A", "update-installation"),
            ("till installation remove --merchant-id mer_1 --installation-id ins_1", "remove-installation"),
            (
                "till payment-method configure --merchant-id mer_1 --payment-method CARD --acquirer sandbox --enabled \
                    true --authorizes-without-capture false",
                "configure-payment-method",
            ),
            (
                "till acquirer add --merchant-id mer_1 --acquirer stripe --name A --secret-file - --unchecked",
                "add-acquirer",
            ),
            ("till acquirer find --merchant-id mer_1 --acquirer-id acq_1", "find-acquirer"),
            ("till acquirer list --merchant-id mer_1", "list-acquirers"),
            (
                "till acquirer update --merchant-id mer_1 --acquirer-id acq_1 --webhook-secret-file /w",
                "update-acquirer",
            ),
            ("till acquirer remove --merchant-id mer_1 --acquirer-id acq_1", "remove-acquirer"),
            (
                "till reconcile --merchant-id mer_1 --acquirer-id acq_1 --from 2026-01-01 --to 2026-01-31",
                "reconcile-acquirer",
            ),
            ("till balance open --merchant-id mer_1", "open-balance"),
            ("till topup add --merchant-id mer_1 --amount 100", "add-topup"),
            ("till invoice charge --merchant-id mer_1 --amount 100", "charge-invoice"),
            ("till payout complete --merchant-id mer_1 --payout-id pyo_1", "complete-payout"),
            ("till payout fail --merchant-id mer_1 --payout-id pyo_1", "fail-payout"),
            ("till dispute open --merchant-id mer_1 --payment-id pay_1 --amount 5", "open-dispute"),
            ("till dispute escalate --merchant-id mer_1 --dispute-id dsp_1", "escalate-dispute"),
            ("till dispute close --merchant-id mer_1 --dispute-id dsp_1 --outcome WON", "close-dispute"),
            ("till refund complete --merchant-id mer_1 --refund-id rfn_1", "complete-refund"),
            ("till refund fail --merchant-id mer_1 --refund-id rfn_1", "fail-refund"),
            ("till resume", "resume-effects"),
            ("till reload", "reload"),
        ] {
            assert_eq!(request(line).endpoint, endpoint, "{line}");
        }
    }

    #[test]
    fn a_secret_is_read_from_a_file_and_is_no_argument() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("secret");
        fs::write(&file, "sk_test_EXAMPLE\n").expect("a file");
        assert_eq!(read_secret(&file.display().to_string()).expect("it is there"), "sk_test_EXAMPLE");
        let line = "till acquirer add --merchant-id mer_1 --acquirer stripe --name A --secret sk_test_EXAMPLE";
        assert!(Arguments::try_parse_from(line.split(' ')).is_err());
    }

    #[test]
    fn flags_become_arguments_and_those_left_out_are_null() {
        let call = request(
            "till merchant create --name A --currency THB --time-zone Asia/Bangkok --idempotency-key once --data /d",
        );
        let expected = json!({"name": "A", "currency": "THB", "time_zone": "Asia/Bangkok",
            "settlement_delay_seconds": null, "support_email": null, "card_numbers_in_identifiers": null,
                "test_clock": null});
        assert_eq!((call.body, call.idempotency_key.as_deref()), (expected, Some("once")));
    }
}

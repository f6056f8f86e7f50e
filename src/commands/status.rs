//! `till status`

use clap::Args;
use indicatif::BinaryBytes;
use serde_json::{Value, json};

use super::admin_client::AdminClient;
use super::exit_code::ExitCode;
use super::screen::{age, facts, text, time};
use crate::configuration::{Configuration, Secrets};

/// Options of `till status`.
#[derive(Debug, Args)]
pub(super) struct StatusArguments {
    /// Prints the answer as JSON
    #[arg(long)]
    json: bool,
    /// Leaves a condition out, when its alert was removed; may be repeated
    #[arg(long, value_name = "ALERT")]
    ignore: Vec<String>,
}

/// Asks the running server for its status. Returns the text to print, and the failure code when it has conditions.
pub(super) fn status(configuration: &Configuration, arguments: &StatusArguments) -> anyhow::Result<(String, ExitCode)> {
    let client = AdminClient::of(configuration, Secrets::find_admin_token(configuration)?)?;
    let mut status = client.call_admin("status", &json!({}), None)?;
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.retain(|condition| !arguments.ignore.iter().any(|ignored| condition == ignored.as_str()));
    }
    let output = if arguments.json { serde_json::to_string_pretty(&status)? } else { screen(&status) };
    let has_conditions = status["conditions"].as_array().is_some_and(|conditions| !conditions.is_empty());
    Ok((output, if has_conditions { ExitCode::FAILURE } else { ExitCode::SUCCESS }))
}

fn screen(status: &Value) -> String {
    facts(&[
        ("state", state(status)),
        ("conditions", conditions(&status["conditions"])),
        ("store", text(&status["store_id"])),
        ("disk", disk(status)),
        ("log", journal(&status["journal"])),
        ("checkpoint", checkpoint(&status["last_checkpoint"])),
        ("archive", archive(&status["archive_lag_seconds"])),
        ("damaged tables", listed(&status["damaged_tables"])),
        ("not loaded", listed(&status["merchants_not_loaded"])),
        ("calls", format!("{} a second in the last minute", status["calls_per_second"])),
        ("payments", payments(&status["payments"])),
        ("failures", failures(&status["payments"]["failure_codes"])),
    ])
}

fn state(status: &Value) -> String {
    let started_at = &status["started_at"];
    let (state, version, since) = (text(&status["state"]), text(&status["version"]), time(started_at));
    format!("{state}, version {version}, for {} (since {since})", age(started_at.as_u64().unwrap_or(0)))
}

fn conditions(conditions: &Value) -> String {
    match listed(conditions).as_str() {
        "none" => "none".to_owned(),
        names => format!("{names} (what to do: docs/alerts.md)"),
    }
}

fn disk(status: &Value) -> String {
    let bytes = |name: &str| status[name].as_u64().map(|bytes| BinaryBytes(bytes).to_string());
    let free = bytes("disk_free_bytes").unwrap_or_else(|| "an unknown number of bytes".to_owned());
    format!("{free} free; writes stop below {}", bytes("disk_reserve_bytes").unwrap_or_default())
}

fn journal(journal: &Value) -> String {
    if journal.is_null() {
        return "in the data directory".to_owned();
    }
    let Some(server) = journal["server"].as_str() else { return "in PostgreSQL, which does not answer".to_owned() };
    let standbys = match journal["synchronous_standbys"].as_u64() {
        Some(count) => format!("synchronous standbys: {count}"),
        None => "synchronous standbys that the role may not see".to_owned(),
    };
    let (held, lost, losses) = (&journal["shards_held"], &journal["shards_lost"], &journal["losses"]);
    format!("in PostgreSQL {server}, {standbys}; {held} shards held, {lost} lost; {losses} other losses")
}

fn checkpoint(checkpoint: &Value) -> String {
    let Some(taken_at) = checkpoint["taken_at"].as_u64() else { return "none".to_owned() };
    let damage = if checkpoint["known_damage"] == true { "with a damaged table" } else { "no known damage" };
    format!("{} ago ({}), {damage}: {}", age(taken_at), time(&checkpoint["taken_at"]), text(&checkpoint["path"]))
}

fn archive(lag_seconds: &Value) -> String {
    match lag_seconds.as_u64() {
        None => "none".to_owned(),
        Some(0) => "up to date".to_owned(),
        Some(seconds) => format!("{seconds} s behind"),
    }
}

fn payments(payments: &Value) -> String {
    let count = |status: &str| format!("{} {status}", payments[status]);
    let counts = ["successful", "authorized", "failed", "expired"].map(count).join(", ");
    format!("{counts} in the last minute")
}

fn failures(codes: &Value) -> String {
    let codes = codes.as_object().into_iter().flatten().map(|(code, count)| format!("{count} {code}"));
    let codes = codes.collect::<Vec<String>>().join(", ");
    if codes.is_empty() { "none".to_owned() } else { codes }
}

fn listed(names: &Value) -> String {
    let names: Vec<String> = names.as_array().into_iter().flatten().map(text).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_screen_has_a_line_for_each_fact() {
        let status = json!({
            "state": "PAUSED", "store_id": "ab12", "version": "0.1.0", "started_at": 4_102_444_800_u64,
            "disk_free_bytes": 3_221_225_472_u64, "disk_reserve_bytes": 1_073_741_824,
            "last_checkpoint": { "path": "/data/checkpoints/a", "taken_at": 4_102_444_800_u64, "known_damage": false },
            "journal": null, "archive_lag_seconds": 7, "damaged_tables": ["db/000012.sst"], "calls_per_second": 3,
            "merchants_not_loaded": [],
            "payments": {
                "successful": 5, "authorized": 0, "failed": 2, "expired": 0, "failure_codes": { "card_declined": 2 },
            },
            "conditions": ["TillTableDamaged", "TillPaused"],
        });
        let expected = "\
state           PAUSED, version 0.1.0, for 0 seconds (since 2100-01-01T00:00:00Z)
conditions      TillTableDamaged, TillPaused (what to do: docs/alerts.md)
store           ab12
disk            3.00 GiB free; writes stop below 1.00 GiB
log             in the data directory
checkpoint      0 seconds ago (2100-01-01T00:00:00Z), no known damage: /data/checkpoints/a
archive         7 s behind
damaged tables  db/000012.sst
not loaded      none
calls           3 a second in the last minute
payments        5 successful, 0 authorized, 2 failed, 0 expired in the last minute
failures        2 card_declined";
        assert_eq!(screen(&status), expected);
    }

    #[test]
    fn the_log_in_a_database_is_told_with_its_standbys() {
        let of = |server: Value, standbys: Value| {
            let counts = json!({ "shards_held": 63, "shards_lost": 1, "losses": 2 });
            let mut told = json!({ "server": server, "synchronous_standbys": standbys });
            told.as_object_mut().expect("an object").extend(counts.as_object().expect("an object").clone());
            journal(&told)
        };
        assert_eq!(
            of(json!("15.18"), json!(1)),
            "in PostgreSQL 15.18, synchronous standbys: 1; 63 shards held, 1 lost; 2 other losses"
        );
        assert!(of(json!("15.18"), json!(null)).contains("standbys that the role may not see"));
        assert_eq!(of(json!(null), json!(null)), "in PostgreSQL, which does not answer");
    }
}

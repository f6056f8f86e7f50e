//! The table of limits in the documents says the numbers of the constants: each entry below names a row, the number as
//! the row says it, and the constant that it is.

use std::path::Path;

/// The document.
const DOCUMENT: &str = "docs/limits.md";

/// A number of a row: the beginning of the row, the number in words or digits, the file and the name of its constant,
/// and the number of the constant's units in one of the row's.
type Entry = (&'static str, &'static str, &'static str, &'static str, u64);

const MIB: u64 = 1 << 20;
const KIB: u64 = 1 << 10;

const ENTRIES: &[Entry] = &[
    ("bodies above 16 KiB", "256 MiB", "protocol/src/dispatch/body.rs", "LARGE_BODIES_BYTES_MAX", MIB),
    ("bodies above ", "16 KiB", "protocol/src/dispatch/body.rs", "UNCOUNTED_BYTES", KIB),
    ("notices above", "16 for each", "protocol/src/dispatch/call_limits.rs", "RAW_BODIES_PER_THREAD", 1),
    ("notices above", "2 of them", "protocol/src/dispatch/call_limits.rs", "RAW_BODIES_PER_THREAD_AND_CALLER", 1),
    ("look-ups of one call", "2 s", "actors/src/effects/times.rs", "BETWEEN_LOOK_UPS", 1_000),
    ("answers above 16 KiB", "256 MiB", "protocol/src/dispatch/large_answers.rs", "UNFETCHED_BYTES_MAX", MIB),
    ("records that wait for their commit | ", "256 MiB", "storage/src/commit/queue.rs", "QUEUE_BYTES_MAX", MIB),
    ("records that wait for their commit | 65", "65,536", "storage/src/commit/queue.rs", "QUEUE_SUBMISSIONS_MAX", 1),
    ("a call that is worked on", "256 for each", "protocol/src/dispatch/call_limits.rs", "CHANGES_PER_THREAD", 1),
    ("calls to acquirers", "1,024 in", "actors/src/effects/runner.rs", "SERVED_MAX", 1),
    ("calls to acquirers", "256 of", "actors/src/outbox/effect_queue.rs", "CALLS_OF_MERCHANT_MAX", 1),
    ("calls to acquirers", "32 of", "actors/src/effects/account_lane.rs", "CALLS_OF_ACCOUNT_MAX", 1),
    ("calls to acquirers", "512 of", "actors/src/effects/account_lanes.rs", "CALLS_OF_ACCOUNTS_MAX", 1),
    ("a live merchant", "1,024 rows", "actors/src/merchant/staged.rs", "KEPT_ROWS_MAX", 1),
    ("bytes of a body", "64 KiB", "protocol/src/dispatch/body.rs", "PIPELINE_WITHOUT_KEY_BYTES_MAX", KIB),
    ("bytes of a body", "30 s", "protocol/src/dispatch/body.rs", "ARRIVAL_MAX", 1_000),
    ("calls that change something", "256 for each", "protocol/src/dispatch/call_limits.rs", "CHANGES_PER_THREAD", 1),
    ("calls that read", "32 for each", "protocol/src/dispatch/call_limits.rs", "READS_PER_THREAD", 1),
    ("calls that read", "4 of them", "protocol/src/dispatch/call_limits.rs", "READS_PER_THREAD_AND_CALLER", 1),
    ("the program with", "256 drawings", "src/pages/checkout/qr.rs", "DRAWINGS_MAX", 1),
    ("forms of pages", "64 for each", "protocol/src/dispatch/call_limits.rs", "FORMS_PER_THREAD", 1),
    ("forms of pages", "8 of them", "protocol/src/dispatch/call_limits.rs", "FORMS_PER_THREAD_AND_CALLER", 1),
    ("bytes of a page's query", "8 KiB", "protocol/src/dispatch/page_judgement.rs", "QUERY_BYTES_MAX", KIB),
    ("bytes of all headers", "8 KiB", "protocol/src/dispatch/page_judgement.rs", "HEAD_BYTES_MAX", KIB),
    ("fields of a form", "64 |", "protocol/src/dispatch/page.rs", "FORM_FIELDS_MAX", 1),
    ("payments of an export", "100 pages", "src/pages/dashboard/files.rs", "EXPORT_PAGES_MAX", 1),
    ("payments of an export", "16 MiB", "src/pages/dashboard/files.rs", "EXPORT_BYTES_MAX", MIB),
    ("wrong attempts", "10 of", "src/seats/attempts.rs", "OF_NAME_MAX", 1),
    ("wrong attempts", "50 of", "src/seats/attempts.rs", "OF_ADDRESS_MAX", 1),
    ("counts of wrong attempts", "65,536", "src/seats/attempts.rs", "COUNTS_MAX", 1),
    ("passwords that are hashed", "19 MiB", "src/seats/hashing.rs", "MEMORY_KIB", KIB),
    ("bytes that the system keeps", "256 KiB", "protocol/src/transport/send_bounds.rs", "SEND_BUFFER_BYTES", KIB),
    ("the time in which a caller must fetch", "20 s", "protocol/src/transport/send_bounds.rs", "STALLED_MAX", 1_000),
    ("calls that wait", "1,024 of each", "protocol/src/dispatch/call_limits.rs", "WAITING_MAX", 1),
    ("large calls", "64 KiB", "protocol/src/request_thread.rs", "LARGE_BYTES", KIB),
    ("`reconcile-acquirer`", "31 days", "src/endpoints/admin/reconciliation.rs", "DAYS_MAX", 1),
    ("`reconcile-acquirer`", "2,000,000", "actors/src/reconciliation/reconciliations.rs", "CHANGES_MAX", 1),
    ("`reconcile-acquirer`", "1,000 differences", "actors/src/reconciliation/findings.rs", "DIFFERENCES_MAX", 1),
    ("large calls", "64 wait", "protocol/src/dispatch/worker_pool.rs", "QUEUE", 1),
    ("a load of a merchant", "1 MiB", "storage/src/journal/contract.rs", "READ_BYTES_MAX", MIB),
    ("merchants that are loaded", "8 loader", "actors/src/merchant/loader.rs", "LOADER_THREADS", 1),
    ("merchants that are loaded", "1 MiB", "actors/src/merchant/loader.rs", "LIGHT_LOAD_BYTES", MIB),
    ("merchants that are loaded", "4 further", "actors/src/merchant/loader.rs", "LARGE_LOAD_THREADS", 1),
    ("what a load replays", "256 records", "storage/src/journal/snapshot_schedule.rs", "SNAPSHOT_EVERY", 1),
    ("what a load replays", "2 MiB", "storage/src/journal/snapshot_schedule.rs", "SNAPSHOT_BYTES", MIB),
    ("these calls for one", "10 s", "src/service/usage/shared_rate.rs", "CAPACITY", 1_000),
    ("the time of a call that advances", "25 s", "actors/src/timers/advancer.rs", "ADVANCE_TIME_MAX", 1_000),
    ("free bytes of the disk", "8 MiB", "storage/src/engine/disk.rs", "BELOW_RESERVE_BYTES", MIB),
    ("table files", "1,024", "src/process/descriptors.rs", "TABLES_MAX", 1),
    ("the admin listener", "384", "src/process/descriptors.rs", "ADMIN_SOCKETS_MAX", 1),
    ("webhooks that are sent events", "1,024", "actors/src/webhooks/limits.rs", "ENDPOINTS_MAX", 1),
    ("attempts at one webhook", "8;", "actors/src/webhooks/resting.rs", "ATTEMPTS_AT_ONCE", 1),
    ("attempts beside the first", "512,", "actors/src/webhooks/limits.rs", "FURTHER_ATTEMPTS_MAX", 1),
    ("attempts in all", "256 that", "actors/src/webhooks/limits.rs", "TESTS_MAX", 1),
    ("names that are looked up", "256,", "actors/src/webhooks/limits.rs", "LOOKUPS_MAX", 1),
    ("interim answers", "8 |", "actors/src/outgoing/failure.rs", "INTERIM_HEADS_MAX", 1),
    ("the head of an answer", "16 KiB", "actors/src/outgoing/http_connection.rs", "READ_BUFFER_BYTES_MAX", KIB),
    ("the head of an answer", "512 bytes", "actors/src/webhooks/answer.rs", "EXCERPT_BYTES_MAX", 1),
    ("ports", "443 and", "actors/src/webhooks/address_policy.rs", "HTTPS_PORT", 1),
    ("ports", "1,023", "actors/src/webhooks/address_policy.rs", "PRIVILEGED_PORT_MAX", 1),
    ("the amount of `PROMPTPAY`", "999,999,999,999", "domain/src/payment_method.rs", "PROMPT_PAY_MAX_MINOR", 1),
    ("the pause after which", "30 s", "actors/src/effects/times.rs", "CUSTOMER_ASKED_AGAIN", 1_000),
    ("deliveries to one webhook", "1,000", "actors/src/webhooks/dispatcher.rs", "PENDING_DELIVERIES_MAX", 1),
];

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The text of a constant's value in a source.
fn expression(file: &str, name: &str) -> String {
    let source = read(file);
    let declared = source.split(&format!("const {name}: ")).nth(1);
    let declared = declared.unwrap_or_else(|| panic!("{file} has no constant {name}"));
    let (_, value) = declared.split_once("= ").expect("a constant has a value");
    value.split(';').next().expect("the text before the semicolon").to_owned()
}

/// A constant's value: a number, a product, a shift, or a duration in milliseconds.
fn value(expression: &str) -> u64 {
    let number = |digits: &str| digits.trim().replace('_', "").parse::<u64>().expect("a number");
    if let Some(seconds) = expression.strip_prefix("Duration::from_secs(") {
        return 1_000 * value(seconds.trim_end_matches(')'));
    }
    if let Some((left, right)) = expression.split_once("<<") {
        return number(left) << number(right);
    }
    expression.split('*').map(number).product()
}

/// A number as documents write it: a comma before each three digits from one thousand on.
fn written(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", written(number / 1_000), number % 1_000),
    }
}

#[test]
fn the_table_of_limits_has_the_numbers_of_the_constants() {
    let document = read(DOCUMENT);
    for &(row, said, file, name, unit) in ENTRIES {
        let rows = document.lines().filter(|line| line.strip_prefix("| ").is_some_and(|line| line.starts_with(row)));
        let digits = said.split(|letter: char| !letter.is_ascii_digit() && letter != ',').next().expect("digits");
        let constant = written(value(&expression(file, name)) / unit);
        assert_eq!(digits.trim_end_matches(','), constant, "{file}: {name}, in the row of {row:?}");
        assert!(rows.clone().any(|row| row.contains(said)), "{DOCUMENT}: no row {row:?} says {said:?}");
    }
}

//! What the metrics are that count as they go: their help in the text form.

use metrics::{describe_counter, describe_gauge, describe_histogram};

/// Describes them to the recorder, once it is installed.
pub fn describe() {
    for (name, help) in COUNTERS {
        describe_counter!(name, help);
    }
    for (name, help) in GAUGES {
        describe_gauge!(name, help);
    }
    describe_histogram!("till_http_request_seconds", "Time to answer, by endpoint.");
}

const COUNTERS: [(&str, &str); 6] = [
    ("till_http_requests_total", "Requests answered, by endpoint and code."),
    ("till_commit_groups_total", "Groups written, each with one sync."),
    ("till_commit_batches_total", "Batches by what became of them."),
    ("till_swept_rows_total", "Rows removed in the background, by kind."),
    ("till_checkpoints_total", "Checkpoints that were asked for, by outcome."),
    ("till_reloads_total", "Files read anew at the operator's word, by file and outcome."),
];

const GAUGES: [(&str, &str); 8] = [
    ("till_commit_queued", "Batches and barriers that wait for the commit thread."),
    ("till_commit_queued_bytes", "Their bytes."),
    ("till_effects_paused", "1 on a restored server before it is resumed, else 0."),
    ("till_live_actors", "Merchants whose actor is live."),
    ("till_requests_in_flight", "Calls that change something, not answered yet."),
    ("till_acquirer_calls_running", "Calls to acquirers under way."),
    (
        "till_tls_certificate_end_timestamp_seconds",
        "When the first certificate of a listener ends, in Unix seconds, 0 when it is not known.",
    ),
    ("till_checkpoint_newest_timestamp_seconds", "When the newest checkpoint was taken, 0 for none."),
];

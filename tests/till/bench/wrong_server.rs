//! Servers with wrong answers, which the load tester must detect.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::tester::{Ended, Tester};

/// The answer of a wrong server to a function, given the number of payments so far; none where it answers rightly.
type Answers = fn(&str, &AtomicU64) -> Option<String>;

/// A server that knows only the calls of a load tester, and gives these answers.
fn serve(answers: Answers) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("it is bound");
    let initiated = Arc::new(AtomicU64::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let initiated = Arc::clone(&initiated);
            std::thread::spawn(move || answer_all(stream, answers, &initiated));
        }
    });
    address
}

/// Answers calls until the caller closes.
fn answer_all(stream: TcpStream, answers: Answers, initiated: &AtomicU64) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let (mut line, mut length) = (String::new(), 0);
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let function = line.split(' ').nth(1)?.rsplit('/').next()?.to_owned();
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).ok()?;
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().ok()?;
            }
        }
        reader.read_exact(&mut vec![0; length]).ok()?;
        let body = answers(&function, initiated).unwrap_or_else(|| usual(&function, initiated));
        let status = if body.starts_with('[') { "400 Bad Request" } else { "200 OK" };
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        writer.write_all(answer.as_bytes()).ok()?;
    }
}

/// The right answers.
fn usual(function: &str, initiated: &AtomicU64) -> String {
    let count = initiated.load(Ordering::SeqCst);
    match function {
        "create-merchant" => "\"mer_00000000000000000000000001\"".to_owned(),
        "add-installation" => "\"ins_00000000000000000000000001\"".to_owned(),
        "generate-key" => "{\"key\":\"sk_1\"}".to_owned(),
        "tokenize-card" => "\"tok_00000000000000000000000001\"".to_owned(),
        "select-payment-method" => "\"pse_00000000000000000000000001\"".to_owned(),
        "get-balance" => format!("{{\"currency\":\"THB\",\"available\":0,\"pending\":{}}}", 10_000 * count),
        "initiate-payment-flow" => {
            let number = initiated.fetch_add(1, Ordering::SeqCst);
            format!("\"pay_{number:026}\"")
        }
        "find-payment" => payment("AUTHORIZED", 0),
        _ => "true".to_owned(),
    }
}

fn payment(status: &str, captured: u64) -> String {
    format!("{{\"status\":\"{status}\",\"amount_captured\":{captured},\"amount_refunded\":0}}")
}

/// Every payment is captured, whatever was asked for.
fn captured(function: &str, _: &AtomicU64) -> Option<String> {
    (function == "find-payment").then(|| payment("SUCCESSFUL", 10_000))
}

/// Runs a scenario against a server with these answers, and checks the exit code and what the load tester prints.
#[track_caller]
fn ends(scenario: &str, answers: Answers, code: i32, printed: &[&str]) {
    let (server, tester) = (serve(answers), Tester::new());
    // It is fast enough to use up all sessions in a warm-up.
    let load = "--merchants 1 --connections 4 --duration 300ms --warm-up 0s";
    let line = format!("{scenario} {load} --target http://{server} --admin http://{server}");
    let ended = tester.command(&line).env("TILL_ADMIN_TOKEN", "token").output().expect("it starts");
    let ended = Ended::of(ended);
    assert_eq!(ended.code, code, "{ended:?}");
    for words in printed {
        assert!(ended.output.contains(words), "{ended:?}");
    }
}

#[test]
fn a_payment_id_that_was_answered_before_is_a_wrong_answer() {
    let doubled: Answers = |function, initiated| {
        (function == "initiate-payment-flow").then(|| {
            initiated.store(1, Ordering::SeqCst);
            "\"pay_00000000000000000000000007\"".to_owned()
        })
    };
    ends("initiate --sessions 50", doubled, 3, &["WRONG ANSWERS", "expected the id of a new payment"]);
}

#[test]
fn a_customer_who_is_asked_nothing_or_led_elsewhere_is_a_wrong_answer() {
    let nothing: Answers = |function, _| (function == "discover-next-action").then(|| "\"CHECK_STATUS\"".to_owned());
    let elsewhere: Answers = |function, _| match function {
        "discover-next-action" => Some("\"REDIRECT\"".to_owned()),
        "get-redirect-url" => Some("\"https://bank.example/pay\"".to_owned()),
        _ => None,
    };
    for (answers, expected) in
        [(nothing, "expected REDIRECT in time"), (elsewhere, "expected the address of a page of the sandbox")]
    {
        let printed = [expected, "UNFINISHED: customers completed 0 of 50 payments", "that no payment explains"];
        ends("initiate --sessions 50 --action-share 1", answers, 3, &printed);
    }
}

#[test]
fn money_that_no_payment_explains_is_a_wrong_answer() {
    let generous: Answers = |function, initiated| {
        let available = 10_001 * initiated.load(Ordering::SeqCst);
        let balance = || format!("{{\"currency\":\"THB\",\"available\":{available},\"pending\":0}}");
        (function == "get-balance").then(balance)
    };
    ends("initiate --sessions 50", generous, 3, &["that no payment explains"]);
}

#[test]
fn an_item_wrongly_answered_as_present_is_a_wrong_answer() {
    let forgetful: Answers = |function, _| (function == "add-to-metadata-set").then(|| "false".to_owned());
    ends("metadata", forgetful, 3, &["expected true, got 200 false"]);
}

#[test]
fn a_server_that_answers_rightly_is_not_accused() {
    ends("initiate --sessions 50", |_, _| None, 0, &[]);
}

#[test]
fn errors_are_counted_by_code_and_a_run_of_errors_fails() {
    let refusing: Answers = |function, _| {
        (function == "initiate-payment-flow").then(|| "[\"NOT_FOUND\",\"No active session.\",null]".to_owned())
    };
    let told = "NOT_FOUND: 400 [\"NOT_FOUND\",\"No active session.\",null]";
    ends("initiate --sessions 20", refusing, 1, &[told]);
}

#[test]
fn an_answer_that_is_no_payment_id_is_a_wrong_answer() {
    let chatty: Answers = |function, _| (function == "initiate-payment-flow").then(|| "\"no payment\"".to_owned());
    ends("initiate --sessions 20", chatty, 3, &["expected the id of a payment"]);
}

#[test]
fn a_refund_without_a_refund_id_is_a_wrong_answer() {
    ends("refund --payments 5", captured, 3, &["expected the id of a refund, got 200 true"]);
}

#[test]
fn a_payout_that_leaves_the_balance_is_a_wrong_answer() {
    let forgetful: Answers = |function, sent| match function {
        "add-topup" => Some("\"tup_00000000000000000000000001\"".to_owned()),
        "send-payout" => Some(format!("\"pyo_{:026}\"", sent.fetch_add(1, Ordering::SeqCst))),
        "get-balance" => Some("{\"currency\":\"THB\",\"available\":1000000000,\"pending\":0}".to_owned()),
        _ => None,
    };
    ends("mixed --weights payout=1", forgetful, 3, &["that were acknowledged as paid out"]);
}

#[test]
fn a_void_that_is_not_shown_afterwards_is_a_wrong_answer() {
    const VOIDED: u64 = 1_000_000; // More than all payments: the count then marks a void.
    let forgetful: Answers = |function, initiated| match function {
        "void-payment" => {
            initiated.fetch_add(VOIDED, Ordering::SeqCst);
            Some("true".to_owned())
        }
        _ if initiated.load(Ordering::SeqCst) >= VOIDED => captured(function, initiated),
        _ => None,
    };
    let told = "expected VOIDED with 0 captured and 0 paid back, got SUCCESSFUL with 10000 captured";
    ends("mixed --weights void=1 --payments 5", forgetful, 3, &[told]);
}

#[test]
fn a_declined_card_that_pays_nevertheless_is_a_wrong_answer() {
    let told = "expected FAILED with 0 captured and 0 paid back, got SUCCESSFUL";
    ends("initiate --sessions 20 --declines 1", captured, 3, &[told]);
}

#[test]
fn an_unchecked_run_keeps_its_results_and_a_remark() {
    let failing: Answers = |function, initiated| {
        let fails = function == "get-balance" && initiated.load(Ordering::SeqCst) > 0;
        fails.then(|| "[\"UNAVAILABLE\",\"Later.\",null]".to_owned())
    };
    let told = ["50 in ", "but could not be checked: failed to read a balance: the server answers 400", "Later."];
    ends("initiate --sessions 50", failing, 4, &told);
}

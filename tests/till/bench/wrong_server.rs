//! Servers with wrong answers, which the load tester must detect.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::tester::{Ended, Tester};

/// The answer of a wrong server to a function, given the number of payments so far.
type Answers = fn(&str, &AtomicU64) -> String;

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
        let body = answers(&function, initiated);
        let status = if body.starts_with('[') { "400 Bad Request" } else { "200 OK" };
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        writer.write_all(answer.as_bytes()).ok()?;
    }
}

/// The right answers, which a test replaces in part.
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

fn run(scenario: &str, answers: Answers) -> Ended {
    let (server, tester) = (serve(answers), Tester::new());
    // It is fast enough to use up all sessions in a warm-up.
    let load = "--merchants 1 --connections 4 --duration 300ms --warm-up 0s";
    let line = format!("{scenario} {load} --target http://{server} --admin http://{server}");
    let ended = tester.command(&line).env("TILL_ADMIN_TOKEN", "token").output().expect("it starts");
    Ended::of(ended)
}

#[test]
fn a_payment_id_that_was_answered_before_is_a_wrong_answer() {
    let doubled = |function: &str, initiated: &AtomicU64| {
        let answer = usual(function, initiated);
        if function == "initiate-payment-flow" {
            initiated.store(1, Ordering::SeqCst);
            return "\"pay_00000000000000000000000007\"".to_owned();
        }
        answer
    };
    let ended = run("initiate --sessions 50", doubled);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(
        ended.output.contains("WRONG ANSWERS") && ended.output.contains("expected the id of a new payment"),
        "{ended:?}"
    );
}

#[test]
fn money_that_no_payment_explains_is_a_wrong_answer() {
    let generous = |function: &str, initiated: &AtomicU64| match function {
        "get-balance" => {
            let count = initiated.load(Ordering::SeqCst);
            format!("{{\"currency\":\"THB\",\"available\":{},\"pending\":0}}", 10_001 * count)
        }
        _ => usual(function, initiated),
    };
    let ended = run("initiate --sessions 50", generous);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(ended.output.contains("that no payment explains"), "{ended:?}");
}

#[test]
fn an_item_wrongly_answered_as_present_is_a_wrong_answer() {
    let forgetful = |function: &str, initiated: &AtomicU64| match function {
        "add-to-metadata-set" => "false".to_owned(),
        _ => usual(function, initiated),
    };
    let ended = run("metadata", forgetful);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(ended.output.contains("expected true, got 200 false"), "{ended:?}");
}

#[test]
fn a_server_that_answers_rightly_is_not_accused() {
    let ended = run("initiate --sessions 50", usual);
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[test]
fn errors_are_counted_by_code_and_a_run_of_errors_fails() {
    let refusing = |function: &str, initiated: &AtomicU64| match function {
        "initiate-payment-flow" => "[\"NOT_FOUND\",\"No active session.\",null]".to_owned(),
        _ => usual(function, initiated),
    };
    let ended = run("initiate --sessions 20", refusing);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.output.contains("NOT_FOUND: 400 [\"NOT_FOUND\",\"No active session.\",null]"), "{ended:?}");
}

#[test]
fn an_answer_that_is_no_payment_id_is_a_wrong_answer() {
    let chatty = |function: &str, initiated: &AtomicU64| match function {
        "initiate-payment-flow" => "\"no payment\"".to_owned(),
        _ => usual(function, initiated),
    };
    let ended = run("initiate --sessions 20", chatty);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(ended.output.contains("expected the id of a payment"), "{ended:?}");
}

#[test]
fn a_refund_without_a_refund_id_is_a_wrong_answer() {
    let captured = |function: &str, initiated: &AtomicU64| match function {
        "find-payment" => payment("SUCCESSFUL", 10_000),
        _ => usual(function, initiated),
    };
    let ended = run("refund --payments 5", captured);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(ended.output.contains("expected the id of a refund, got 200 true"), "{ended:?}");
}

#[test]
fn a_payout_that_leaves_the_balance_is_a_wrong_answer() {
    let forgetful = |function: &str, sent: &AtomicU64| match function {
        "add-topup" => "\"tup_00000000000000000000000001\"".to_owned(),
        "send-payout" => format!("\"pyo_{:026}\"", sent.fetch_add(1, Ordering::SeqCst)),
        "get-balance" => "{\"currency\":\"THB\",\"available\":1000000000,\"pending\":0}".to_owned(),
        _ => usual(function, sent),
    };
    let ended = run("mixed --weights payout=1", forgetful);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(ended.output.contains("that were acknowledged as paid out"), "{ended:?}");
}

#[test]
fn a_void_that_is_not_shown_afterwards_is_a_wrong_answer() {
    const VOIDED: u64 = 1_000_000; // More than all payments: the count then marks a void.
    let forgetful = |function: &str, initiated: &AtomicU64| match function {
        "void-payment" => {
            initiated.fetch_add(VOIDED, Ordering::SeqCst);
            "true".to_owned()
        }
        "find-payment" if initiated.load(Ordering::SeqCst) >= VOIDED => payment("SUCCESSFUL", 10_000),
        _ => usual(function, initiated),
    };
    let ended = run("mixed --weights void=1 --payments 5", forgetful);
    assert_eq!(ended.code, 3, "{ended:?}");
    let told = "expected VOIDED with 0 captured and 0 paid back, got SUCCESSFUL with 10000 captured";
    assert!(ended.output.contains(told), "{ended:?}");
}

#[test]
fn a_declined_card_that_pays_nevertheless_is_a_wrong_answer() {
    let generous = |function: &str, initiated: &AtomicU64| match function {
        "find-payment" => payment("SUCCESSFUL", 10_000),
        _ => usual(function, initiated),
    };
    let ended = run("initiate --sessions 20 --declines 1", generous);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(ended.output.contains("expected FAILED with 0 captured and 0 paid back, got SUCCESSFUL"), "{ended:?}");
}

#[test]
fn an_unchecked_run_keeps_its_results_and_a_remark() {
    let failing = |function: &str, initiated: &AtomicU64| match function {
        "get-balance" if initiated.load(Ordering::SeqCst) > 0 => "[\"UNAVAILABLE\",\"Later.\",null]".to_owned(),
        _ => usual(function, initiated),
    };
    let ended = run("initiate --sessions 50", failing);
    assert_eq!(ended.code, 4, "{ended:?}");
    for told in ["50 in ", "but could not be checked: failed to read a balance: the server answers 400", "Later."] {
        assert!(ended.output.contains(told), "{ended:?}");
    }
}

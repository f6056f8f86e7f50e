//! Makes hostile calls and checks their results.

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::json;

use super::bodies::{Case, batches, difficult_calls, never_acceptable, raw_requests, too_large};
use super::world::AttackedServer;
use crate::harness::{ApiAnswer, Wire};

/// Cases in the suite.
const CASES: u32 = 2_400;
/// Calls between two checks of everything.
const BATCH: u32 = 20;
/// Requests that are damaged byte by byte.
const RAW_CASES: u32 = 300;
/// The most bytes of a refusal: a hostile call must not cause a long answer.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;

fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("it is a number"))
}

fn runner(cases: u32) -> TestRunner {
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("the clock is set");
    let seed = number_of("TILL_HOSTILE_SEED").unwrap_or(u64::from(clock.subsec_nanos()));
    eprintln!("TILL_HOSTILE_SEED={seed}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_be_bytes());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

fn report<T: std::fmt::Debug>(outcome: Result<(), TestError<T>>) {
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, input)) => panic!("{reason}\nfor {input:#?}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

/// Checks the answer to a hostile call. True when the call was accepted.
fn judge(case: &Case, answer: &ApiAnswer) -> Result<bool, TestCaseError> {
    if answer.status == 200 {
        return Ok(true);
    }
    let triple = answer.body.as_array().is_some_and(|members| members.len() == 3 && members[1].is_string());
    let expected = matches!(answer.status, 400 | 413 | 415) && triple && !answer.code().is_empty();
    if !expected {
        return Err(TestCaseError::fail(format!("{} {} to {case:?}", answer.status, answer.body)));
    }
    let length = answer.body.to_string().len();
    if length > REFUSAL_BYTES_MAX {
        return Err(TestCaseError::fail(format!("{length} bytes of refusal to {case:?}")));
    }
    Ok(false)
}

/// Makes the calls of a batch. A refused call commits nothing; and when all that were refused are made again, what
/// callers can read is the same afterwards as before.
fn play(world: &mut AttackedServer, batch: &[Case]) -> Result<(), TestCaseError> {
    world.refresh();
    let mut commits = world.fixture.commits();
    let mut refused = Vec::new();
    for case in batch {
        let answer = world.call(case);
        world.count(case, &answer);
        let accepted = judge(case, &answer)?;
        if accepted && world.may_change(case) {
            commits = world.settle_after(case, answer);
            continue;
        }
        if world.fixture.commits() != commits {
            commits = world.fixture.settle();
            // Remains of a record are removed in the background, and the acquirer answers some calls late: a
            // repetition of the call shows whether the commit was its own.
            let again = world.call(case);
            if judge(case, &again)? != accepted || world.fixture.commits() != commits {
                return Err(TestCaseError::fail(format!("a call that changes nothing was committed: {case:?}")));
            }
        }
        refused.push(case);
    }
    play_again(world, &refused)
}

/// Makes calls that change nothing again. One that is accepted by now, since a later one of its batch made it right,
/// begins the comparison anew.
fn play_again(world: &mut AttackedServer, refused: &[&Case]) -> Result<(), TestCaseError> {
    let mut before = world.picture();
    for case in refused {
        let answer = world.call(case);
        world.count(case, &answer);
        if judge(case, &answer)? && world.may_change(case) {
            world.settle_after(case, answer);
            before = world.picture();
        }
    }
    let after = world.picture();
    if after == before { Ok(()) } else { Err(TestCaseError::fail(format!("{before:#?}\nbecame\n{after:#?}"))) }
}

#[test]
fn a_hostile_body_is_never_a_500_and_a_refusal_changes_nothing() {
    let mut world = AttackedServer::start();
    let cases =
        number_of("TILL_HOSTILE_CASES").map_or(CASES, |cases| u32::try_from(cases).expect("it is a sane number"));
    let endpoints = world.fixture.endpoints.clone();
    let strategy = batches(&endpoints, usize::try_from(BATCH).expect("it is small"));
    let world = std::cell::RefCell::new(&mut world);
    report(runner(cases.div_ceil(BATCH)).run(&strategy, |batch| play(&mut world.borrow_mut(), &batch)));
    let world = world.into_inner();
    world.reached_the_rules();
    world.is_sound();
}

#[test]
fn every_endpoint_refuses_bodies_of_other_forms() {
    let mut world = AttackedServer::start();
    let before = world.picture();
    let commits = world.fixture.commits();
    for (endpoint, number) in world.fixture.endpoints.clone().into_iter().zip(0..) {
        // A body that is too large is refused before the endpoint is asked, and after a pause.
        let with_too_large = number % 20 == 0;
        for body in never_acceptable().into_iter().chain(with_too_large.then(too_large)) {
            let case = Case::plain(&endpoint, body);
            let answer = world.call(&case);
            let accepted = judge(&case, &answer).unwrap_or_else(|error| panic!("{error}"));
            assert!(!accepted, "{case:?}");
        }
    }
    assert_eq!(world.fixture.commits(), commits);
    assert_eq!(world.picture(), before);
    world.is_sound();
}

#[test]
fn difficult_values_are_accepted_or_refused_without_a_trace() {
    let mut world = AttackedServer::start();
    for endpoint in world.fixture.endpoints.clone() {
        play(&mut world, &difficult_calls(&endpoint)).unwrap_or_else(|error| panic!("{error}"));
    }
    world.is_sound();
}

#[test]
fn damaged_requests_are_refused_or_dropped_and_change_nothing() {
    let mut world = AttackedServer::start();
    let before = world.picture();
    let wire = Wire::new(world.fixture.server.public());
    let request = world.request_of_nothing();
    report(runner(RAW_CASES).run(&raw_requests(request), |bytes| {
        let status = wire.exchange_and_end(&bytes).status;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if status < 500 { Ok(()) } else { Err(TestCaseError::fail(format!("{status} to {text:?}"))) }
    }));
    world.fixture.shop.call("get-balance", &json!({})).ok();
    assert_eq!(world.picture(), before);
    world.is_sound();
}

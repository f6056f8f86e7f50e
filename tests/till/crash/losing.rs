//! Faults after which the database lacks commits that it acknowledged: whoever is told yes afterwards has lost nothing,
//! and who has lost something is told no, by this server and by the next.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::harness::{PATIENCE, Server, Shop, Start, holds_within};

use super::replicated::Rig;
use super::round::Round;

/// Merchants of which nothing is lost, unless all share shards with those that lose something.
const QUIET: usize = 3;

/// The invitations of one merchant, by what it was told.
struct Invited {
    shop: Shop,
    done: Vec<String>,
    not_done: Vec<String>,
    number: usize,
}

impl Invited {
    fn of(shop: &Shop) -> Invited {
        Invited { shop: shop.clone(), done: Vec::new(), not_done: Vec::new(), number: 0 }
    }

    /// Invites somebody; true when it was acknowledged.
    fn invite(&mut self, server: &Server) -> bool {
        self.number += 1;
        let email = format!("invited-{}@example.com", self.number);
        let answer = self.shop.on(server).call("invite-user", &json!({ "email": email }));
        match (answer.status, answer.details()["outcome"].as_str()) {
            (200, _) => self.done.push(email),
            (_, Some("not_done")) => self.not_done.push(email),
            _ => {}
        }
        answer.status == 200
    }

    /// Checks a merchant that is told yes: what it was told is true.
    fn check(&self, server: &Server) {
        let there = self.shop.on(server).all("list-user-invitations");
        let is_there = |email: &&String| there.iter().any(|invitation| invitation["email"] == email.as_str());
        assert_eq!(self.done.iter().find(|email| !is_there(email)), None, "acknowledged, and gone");
        assert_eq!(self.not_done.iter().find(is_there), None, "refused, and there");
    }
}

/// The standby lacks what was committed last, and becomes the primary: by itself, or after another server has claimed
/// and written its log. The round is over afterwards.
pub(super) fn lose(round: &mut Round, rig: &mut Rig, lasts: Duration, by_another: Option<&Start>) {
    let (server, has_ended) = (&round.server, AtomicBool::new(false));
    let mut invited: Vec<Invited> = round.merchants.iter().map(|merchant| Invited::of(&merchant.shop)).collect();
    let busy = invited.len();
    invited.extend((0..QUIET).map(|_| Invited::of(&server.shop())));
    invited.iter_mut().for_each(|of| assert!(of.invite(server), "the standby is there"));
    thread::scope(|scope| {
        for of in &mut invited[..busy] {
            scope.spawn(|| {
                while !has_ended.load(Ordering::Relaxed) {
                    if !of.invite(server) {
                        thread::sleep(Duration::from_millis(20));
                    }
                }
            });
        }
        rig.lose_last_commits(lasts, |address| {
            if let Some(start) = by_another {
                let start = start.clone().with("TILL_JOURNAL", address).with("TILL_JOURNAL_UNREPLICATED", "true");
                write_by_another(&start, &round.merchants[0].shop);
            }
        });
        thread::sleep(lasts);
        has_ended.store(true, Ordering::Relaxed);
    });
    judge(&mut round.server, &mut invited, by_another.is_some());
}

/// Another server changes the same merchant: the number of its commits may be that of the commits that were lost.
fn write_by_another(start: &Start, shop: &Shop) {
    let mut other = start.server();
    for number in 0..5 {
        shop.on(&other).call("invite-user", &json!({ "email": format!("other-{number}@example.com") })).ok();
    }
    other.kill();
}

/// Each merchant has everything, or is told no, before and after a start; the log can be read whole.
fn judge(server: &mut Server, invited: &mut [Invited], is_fenced: bool) {
    if is_fenced {
        assert!(server.ended_by_itself(PATIENCE), "a server goes on whose log was claimed");
        server.restart();
    }
    let told_no = |server: &Server, invited: &mut [Invited]| -> Vec<bool> {
        invited.iter_mut().map(|of| !of.invite(server)).collect()
    };
    let some_are_told_no = holds_within(PATIENCE, || told_no(server, invited).contains(&true));
    assert!(some_are_told_no && server.metric("till_journal_shards_lost") > Some(0.0), "a loss was not noticed");
    let before = told_no(server, invited);
    assert!(before.contains(&false), "merchants are told no that have lost nothing");
    server.restart();
    assert_eq!(told_no(server, invited), before, "a start changes who is told no");
    for (of, is_told_no) in invited.iter().zip(before) {
        if !is_told_no {
            of.check(server);
        }
    }
    assert!(server.stop(), "a stop ends well");
    let verified = server.start_command().args(["journal", "verify"]).output().expect("the program can be started");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

//! Sessions: who has one, where signing in leads, and what ends it.

use serde_json::json;

use super::seat::{PASSWORD, Seat, Visitor, code_at, invited, step_now, text};
use crate::harness::{Server, Start};

#[test]
fn without_a_session_every_page_leads_to_the_sign_in_and_back() {
    let (server, shop) = Server::with_shop();
    let (seat, _) = Seat::owner(&server, &shop);
    let visitor = Visitor::of(&server);
    let asked = visitor.get(&format!("{}/account?tab=a%2Fb", seat.path()));
    let sign_in = asked.header("location").expect("the sign-in").to_owned();
    assert_eq!((asked.status, sign_in.as_str()), (303, &*format!("{}?to=account%3Ftab%3Da%252Fb", seat.path())));
    let page = text(&visitor.get(&sign_in), 200);
    assert!(page.contains("<h1>Sign in</h1>") && !page.contains("Shop"), "it names no merchant: {page}");
    let code = seat.fresh_code();
    let fields = [("email", &*seat.email), ("password", PASSWORD), ("code", code), ("to", "account?tab=a%2Fb")];
    let signed_in = visitor.post(&seat.path(), &fields);
    assert_eq!(signed_in.header("location"), Some(&*format!("{}/account?tab=a%2Fb", seat.path())));
    assert!(visitor.is_signed_in(&shop));
}

#[test]
fn signing_in_leads_nowhere_else() {
    let (server, shop) = Server::with_shop();
    let (seat, _) = Seat::owner(&server, &shop);
    for to in ["//evil.example", "https://evil.example/", "../../sandbox/scan", "\\evil", "/evil", "a\r\nX: y"] {
        let fields = [("email", &*seat.email), ("password", PASSWORD), ("code", seat.fresh_code()), ("to", to)];
        let answer = Visitor::of(&server).post(&seat.path(), &fields);
        assert_eq!((answer.status, answer.header("location")), (303, Some(&*seat.path())), "{to}");
        assert_eq!(answer.header("x"), None);
    }
}

#[test]
fn a_session_is_of_one_merchant_and_whole() {
    let (server, shop, other) = Server::with_shops();
    let (_, visitor) = Seat::owner(&server, &shop);
    Seat::join(&server, &other, &invited("ada@shop.example", &json!({ "role_id": "OWNER" })));
    assert!(visitor.is_signed_in(&shop) && !visitor.is_signed_in(&other));
    let cookie = visitor.cookie.borrow().clone().expect("a session");
    let (name, value) = cookie.split_once('=').expect("a pair");
    for forged in ["", &value[..value.len() - 1], &value[1..], &value.to_lowercase(), "AAAA"] {
        *visitor.cookie.borrow_mut() = Some(format!("{name}={forged}"));
        assert!(!visitor.is_signed_in(&shop), "{forged}");
    }
    *visitor.cookie.borrow_mut() = Some(cookie);
    assert!(visitor.is_signed_in(&shop));
}

#[test]
fn signing_in_begins_a_new_session_whatever_the_browser_had() {
    let (server, shop) = Server::with_shop();
    let (seat, attacker) = Seat::owner(&server, &shop);
    let victim = Visitor::of(&server);
    victim.cookie.replace(attacker.cookie.borrow().clone());
    let fixed = victim.cookie.borrow().clone();
    assert_eq!(seat.sign_in_with(&victim, seat.fresh_code()).status, 303);
    assert_ne!(*victim.cookie.borrow(), fixed);
}

#[test]
fn signing_out_takes_the_cookie_away_and_a_link_does_not() {
    let (server, shop) = Server::with_shop();
    let (seat, visitor) = Seat::owner(&server, &shop);
    let path = format!("{}/sign-out", seat.path());
    assert!(visitor.get(&path).status == 303 && visitor.is_signed_in(&shop));
    let answer = visitor.post(&path, &[]);
    assert_eq!((answer.status, answer.header("location")), (303, Some(&*seat.path())));
    assert!(visitor.cookie.borrow().is_none() && !visitor.is_signed_in(&shop));
}

#[test]
fn removal_another_role_and_new_credentials_end_all_sessions_at_once() {
    let (server, shop) = Server::with_shop();
    Seat::join(&server, &shop, &invited("owner@shop.example", &json!({ "role_id": "OWNER" })));
    let (seat, visitor) = Seat::join(&server, &shop, &invited("bob@shop.example", &json!({ "role_id": "VIEWER" })));
    let user = |more: serde_json::Value| crate::harness::merged(&json!({ "user_id": seat.user_id }), &more);
    shop.call("update-user", &user(json!({ "role_id": "SUPPORT" }))).ok();
    assert!(!visitor.is_signed_in(&shop));
    let visitor = seat.signed_in(&server);
    assert!(visitor.is_signed_in(&shop));
    shop.call("remove-user", &user(json!({}))).ok();
    assert!(!visitor.is_signed_in(&shop));
    text(&seat.sign_in_with(&Visitor::of(&server), seat.fresh_code()), 400);
}

#[test]
fn an_idle_session_ends_and_use_renews_it() {
    let (server, shop) = Start::default().with("TILL_DASHBOARD_IDLE_SECONDS", "3").server_with_shop();
    let (_, visitor) = Seat::owner(&server, &shop);
    for _ in 0..4 {
        std::thread::sleep(std::time::Duration::from_millis(1_200));
        assert!(visitor.is_signed_in(&shop));
    }
    std::thread::sleep(std::time::Duration::from_millis(3_100));
    assert!(!visitor.is_signed_in(&shop));
}

#[test]
fn a_code_opens_once_after_a_crash_too() {
    let (mut server, shop) = Server::with_shop();
    let (seat, _) = Seat::owner(&server, &shop);
    let (code, recovery) = (code_at(&seat.secret, step_now() + 1), seat.fresh_code());
    assert_eq!(seat.sign_in_with(&Visitor::of(&server), &code).status, 303);
    assert_eq!(seat.sign_in_with(&Visitor::of(&server), recovery).status, 303);
    server.kill();
    server.restart();
    for used in [&code, recovery, &recovery.to_lowercase()] {
        text(&seat.sign_in_with(&Visitor::of(&server), used), 400);
    }
    let fresh = seat.fresh_code().to_lowercase();
    assert_eq!(seat.sign_in_with(&Visitor::of(&server), &fresh).status, 303, "letters in any case");
}

#[test]
fn a_session_outlives_the_server() {
    let (mut server, shop) = Server::with_shop();
    let (_, visitor) = Seat::owner(&server, &shop);
    let cookie = visitor.cookie.borrow().clone();
    let shop = server.restart_with(&shop);
    let visitor = Visitor::of(&server);
    visitor.cookie.replace(cookie);
    assert!(visitor.is_signed_in(&shop));
}

#[test]
fn a_member_changes_password_authenticator_and_recovery_codes() {
    let (server, shop) = Server::with_shop();
    let (seat, visitor) = Seat::owner(&server, &shop);
    let other = seat.signed_in(&server);
    let path = format!("{}/account", seat.path());
    let another = "a-blue-kettle-beside-the-door-77";
    let fields = [("step", "password"), ("password", another), ("repeated", another)];
    text(&visitor.post(&path, &[&fields[..], &[("code", "000000")]].concat()), 400);
    let changed = visitor.post(&path, &[&fields[..], &[("code", seat.fresh_code())]].concat());
    assert_eq!(changed.status, 303, "{changed:?}");
    assert!(visitor.is_signed_in(&shop) && !other.is_signed_in(&shop));
    text(&seat.sign_in_with(&Visitor::of(&server), seat.fresh_code()), 400);
    let sign_in = |code: &str| {
        let fields = [("email", &*seat.email), ("password", another), ("code", code)];
        Visitor::of(&server).post(&seat.path(), &fields).status
    };
    assert_eq!(sign_in(seat.fresh_code()), 303);

    let scan = text(&visitor.post(&path, &[("step", "authenticator"), ("code", seat.fresh_code())]), 200);
    let secret = super::seat::from_base32(super::seat::between(&scan, "this secret: <code>", "</code>"));
    let code = code_at(&secret, step_now());
    let fields = [("step", "code"), ("draft", &*super::seat::hidden(&scan, "draft")), ("code", &code)];
    assert_eq!(visitor.post(&path, &fields).status, 303);
    assert_eq!(
        (sign_in(&code_at(&seat.secret, step_now() + 1)), sign_in(&code_at(&secret, step_now() + 1))),
        (400, 303)
    );

    let old = seat.fresh_code();
    let shown = text(&visitor.post(&path, &[("step", "recovery"), ("code", seat.fresh_code())]), 200);
    let new = super::seat::between(&shown, "<li><code>", "<").to_owned();
    assert!(visitor.is_signed_in(&shop));
    assert_eq!((sign_in(old), sign_in(&new)), (400, 303));

    let everywhere = visitor.post(&path, &[("step", "everywhere")]);
    assert_eq!((everywhere.status, everywhere.header("location")), (303, Some(&*seat.path())));
    assert!(!visitor.is_signed_in(&shop));
}

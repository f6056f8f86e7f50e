//! Invitations and resets: three steps, of which the last one changes something, once.

use serde_json::{Value, json};

use super::seat::{PASSWORD, Seat, Visitor, code_at, hidden, invitation_path, invited, step_now, text};
use crate::harness::{Server, id_of_nothing};

#[test]
fn an_invited_person_joins_in_three_steps_and_is_signed_in() {
    let (server, shop) = Server::with_shop();
    shop.call("invite-user", &invited("ada@shop.example", &json!({ "role_id": "SUPPORT" }))).ok();
    let (path, visitor) = (invitation_path(&shop), Visitor::of(&server));
    let opened = visitor.get(&path);
    let page = text(&opened, 200);
    assert!(page.contains("<h1>Join ") && page.contains("ada@shop.example") && page.contains("SUPPORT"), "{page}");
    assert_eq!(opened.header("referrer-policy"), Some("same-origin"));
    let policy = opened.header("content-security-policy").expect("a policy");
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self';"), "{policy}");
    let (seat, done) = Seat::set(&visitor, &shop, "ada@shop.example", &path);
    assert_eq!(done.header("location"), Some(&*seat.path()));
    let cookie = done.header("set-cookie").expect("a session");
    assert!(cookie.starts_with("__Host-till_session="), "{cookie}");
    assert!(cookie.ends_with("; Path=/; Secure; HttpOnly; SameSite=Lax"), "{cookie}");
    assert!(visitor.is_signed_in(&shop));
    let codes = &seat.recovery_codes;
    let is_code = |code: &String| {
        code.len() == 10 && code.bytes().all(|byte| b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".contains(&byte))
    };
    assert!(codes.len() == 10 && codes.iter().all(is_code), "{codes:?}");
    let user = &shop.all("list-users")[0];
    assert_eq!(user["role_id"], json!("SUPPORT"));
    assert!(user["last_signed_in_at"].is_u64(), "{user}");
    let activity = &shop.all("list-activity-logs")[0];
    assert_eq!((&activity["activity_type"], &activity["actor_type"]), (&json!("INVITATION_ACCEPTED"), &json!("USER")));
    assert_eq!(activity["actor_email"], json!("ada@shop.example"));
    text(&visitor.get(&path), 410);
    let invitation = &shop.all("list-user-invitations")[0];
    assert_eq!((&invitation["status"], &invitation["url"]), (&json!("ACCEPTED"), &Value::Null));
}

#[test]
fn a_password_that_differs_or_is_easy_to_guess_is_refused_with_reasons() {
    let (server, shop) = Server::with_shop();
    shop.call("invite-user", &invited("ada@shop.example", &json!({}))).ok();
    let (path, visitor) = (invitation_path(&shop), Visitor::of(&server));
    for (password, repeated, reason) in [
        (PASSWORD, "another", "The passwords differ."),
        ("short", "short", "Use 12 to 128 characters."),
        ("passwordpassword", "passwordpassword", "This password is easy to guess."),
        ("ada@shop.example", "ada@shop.example", "This password is easy to guess."),
    ] {
        let fields = [("step", "password"), ("password", password), ("repeated", repeated)];
        let page = text(&visitor.post(&path, &fields), 400);
        assert!(page.contains(reason) && page.contains("aria-invalid"), "{page}");
    }
    assert!(shop.all("list-users").is_empty());
}

#[test]
fn nothing_is_accepted_without_a_code_of_the_new_authenticator() {
    let (server, shop) = Server::with_shop();
    shop.call("invite-user", &invited("ada@shop.example", &json!({}))).ok();
    let (path, visitor) = (invitation_path(&shop), Visitor::of(&server));
    let fields = [("step", "password"), ("password", PASSWORD), ("repeated", PASSWORD)];
    let draft = hidden(&text(&visitor.post(&path, &fields), 200), "draft");
    let again = text(&visitor.post(&path, &[("step", "code"), ("draft", &draft), ("code", "000000")]), 400);
    assert_eq!(hidden(&again, "draft"), draft, "the same authenticator is asked again");
    for forged in [draft.as_str(), "", "x"] {
        text(&visitor.post(&path, &[("step", "done"), ("draft", forged)]), 410);
    }
    assert!(shop.all("list-users").is_empty() && visitor.cookie.borrow().is_none());
}

#[test]
fn credentials_are_for_the_address_that_they_were_made_at() {
    let (server, shop) = Server::with_shop();
    let visitor = Visitor::of(&server);
    let mut drafts = Vec::new();
    for email in ["ada@shop.example", "bob@shop.example"] {
        shop.call("invite-user", &invited(email, &json!({}))).ok();
        let path = invitation_path(&shop);
        let fields = [("step", "password"), ("password", PASSWORD), ("repeated", PASSWORD)];
        let draft = hidden(&text(&visitor.post(&path, &fields), 200), "draft");
        drafts.push((path, draft));
    }
    let [(first, _), (_, draft)] = &drafts[..] else { panic!("two") };
    text(&visitor.post(first, &[("step", "code"), ("draft", draft), ("code", "000000")]), 410);
}

#[test]
fn an_id_opens_nothing_and_an_address_nothing_of_another_merchant() {
    let (server, shop, other) = Server::with_shops();
    let invitation = shop.call("invite-user", &invited("ada@shop.example", &json!({}))).id();
    let (path, visitor) = (invitation_path(&shop), Visitor::of(&server));
    let link = path.rsplit('/').next().expect("a segment");
    assert!(link.starts_with("crt_") && link.len() == 30, "{link}");
    let base = format!("/dashboard/{}", shop.merchant_id);
    for link in
        [invitation.replace("ivt_", "crt_"), invitation, id_of_nothing(link), "crt_".to_owned(), link.to_uppercase()]
    {
        text(&visitor.get(&format!("{base}/invitation/{link}")), 404);
    }
    text(&visitor.get(&format!("{base}/credentials/{link}")), 404);
    text(&visitor.get(&path.replace(&shop.merchant_id, &other.merchant_id)), 404);
}

#[test]
fn a_reset_sets_credentials_once_and_the_old_ones_open_until_then() {
    let (server, shop, other) = Server::with_shops();
    let (seat, before) = Seat::owner(&server, &shop);
    let path = seat.reset_path(&shop);
    assert!(path.contains("/credentials/crt_"), "{path}");
    seat.signed_in(&server);
    let visitor = Visitor::of(&server);
    text(&visitor.get(&path.replace(&shop.merchant_id, &other.merchant_id)), 404);
    let (renewed, done) = Seat::set(&visitor, &shop, &seat.email, &path);
    assert_eq!(done.status, 303);
    assert!(visitor.is_signed_in(&shop) && !before.is_signed_in(&shop), "new credentials end all sessions");
    text(&visitor.get(&path), 410);
    text(&seat.sign_in_with(&Visitor::of(&server), seat.fresh_code()), 400);
    assert_eq!(renewed.sign_in_with(&Visitor::of(&server), renewed.fresh_code()).status, 303);
}

#[test]
fn a_member_who_was_accepted_by_a_key_signs_in_after_a_reset() {
    let (server, shop) = Server::with_shop();
    let user_id = shop.join("ada@shop.example");
    assert_eq!(shop.all("list-users")[0]["last_signed_in_at"], Value::Null);
    let url = shop.call("reset-user-credentials", &json!({ "user_id": user_id })).ok();
    let path = super::seat::path_of(url.as_str().expect("an address"));
    let (seat, done) = Seat::set(&Visitor::of(&server), &shop, "ada@shop.example", &path);
    assert_eq!(done.status, 303);
    let code = code_at(&seat.secret, step_now() + 1);
    assert_eq!(seat.sign_in_with(&Visitor::of(&server), &code).status, 303, "one step ahead counts");
    shop.call("reset-user-credentials", &json!({ "user_id": id_of_nothing(&user_id) })).refused("NOT_FOUND");
}

#[test]
fn a_repeated_reset_under_an_idempotency_key_is_the_same_address() {
    let (server, shop) = Server::with_shop();
    let user = json!({ "user_id": shop.join("ada@shop.example") });
    let client = shop.client().idempotency_key("reset-ada");
    let first = client.post("/merchants/reset-user-credentials", &user).ok();
    assert_eq!(client.post("/merchants/reset-user-credentials", &user).ok(), first);
    let second = shop.call("reset-user-credentials", &user).ok();
    assert_ne!(second, first);
    let visitor = Visitor::of(&server);
    let path = |url: &Value| super::seat::path_of(url.as_str().expect("an address"));
    text(&visitor.get(&path(&first)), 404);
    text(&visitor.get(&path(&second)), 200);
}

#[test]
fn the_operator_resets_credentials_by_call_and_by_command() {
    let (server, shop) = Server::with_shop();
    let user_id = shop.join("ada@shop.example");
    let body = json!({ "merchant_id": shop.merchant_id, "user_id": user_id });
    let path = server.admin("reset-user-credentials", &body).ok();
    let path = path.as_str().expect("a path").to_owned();
    text(&Visitor::of(&server).get(&path), 200);
    let options = ["user", "reset-credentials", "--merchant-id", &shop.merchant_id, "--user-id", &user_id];
    let output = server.command().args(options).output().expect("the binary can be started");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let printed: Value = serde_json::from_str(&printed).unwrap_or_else(|_| json!(printed.trim()));
    text(&Visitor::of(&server).get(printed.as_str().expect("a path")), 200);
    text(&Visitor::of(&server).get(&path), 404);
}

#[test]
fn a_session_of_a_merchant_with_a_test_clock_goes_by_the_servers_clock() {
    let (server, shop) =
        Server::with(|server| server.shop_with(json!({ "name": "Shop", "currency": "THB", "test_clock": true })));
    let (seat, visitor) = Seat::owner(&server, &shop);
    let path = seat.reset_path(&shop);
    let advance = json!({ "merchant_id": shop.merchant_id, "to": step_now() * 30 + 2 * 86_400 });
    server.admin("advance-clock", &advance).ok();
    assert!(visitor.is_signed_in(&shop));
    text(&visitor.get(&path), 410);
    seat.signed_in(&server);
}

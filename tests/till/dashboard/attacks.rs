//! Guessing, forged and replayed requests, and listeners on the way.

use serde_json::json;

use super::seat::{PASSWORD, Seat, Visitor, text};
use crate::harness::{Server, Start, id_of_nothing};

/// The number of passwords that the server has hashed.
fn hashed(server: &Server) -> u64 {
    let metrics = server.metrics();
    let line = metrics.lines().find_map(|line| line.strip_prefix("till_passwords_hashed_total "));
    line.map_or(0, |count| count.parse().expect("a whole number"))
}

#[test]
fn whatever_is_wrong_the_words_and_the_work_are_the_same() {
    let (server, shop, other) = Server::with_shops();
    let (seat, _) = Seat::owner(&server, &shop);
    shop.join("keyless@shop.example");
    let mut pages = Vec::new();
    for (merchant_id, email, password, code) in [
        (&*seat.merchant_id, &*seat.email, "wrong", "000000"),
        (&seat.merchant_id, &seat.email, PASSWORD, "000000"),
        (&seat.merchant_id, &seat.email, "wrong", seat.fresh_code()),
        (&seat.merchant_id, "nobody@shop.example", PASSWORD, "000000"),
        (&seat.merchant_id, "keyless@shop.example", PASSWORD, "000000"),
        (&other.merchant_id, &seat.email, PASSWORD, "000000"),
        (&id_of_nothing(&seat.merchant_id), &seat.email, PASSWORD, "000000"),
        ("nothing", &seat.email, PASSWORD, "000000"),
        (&seat.merchant_id, "", "", ""),
    ] {
        let before = hashed(&server);
        let fields = [("email", email), ("password", password), ("code", code)];
        let answer = Visitor::of(&server).post(&format!("/dashboard/{merchant_id}"), &fields);
        let page = text(&answer, 400);
        assert!(page.contains("Email, password or code is wrong"), "{page}");
        assert_eq!(hashed(&server), before + 1, "{email} at {merchant_id}");
        assert_eq!(answer.header("set-cookie"), None);
        pages.push(page.replace(&format!("name=\"email\" value=\"{email}\""), ""));
    }
    assert!(pages.iter().all(|page| *page == pages[0]), "{pages:?}");
}

#[test]
fn guessing_ends_after_ten_failures_and_the_member_signs_in_from_elsewhere() {
    let (server, shop) = Server::with_shop();
    let (seat, _) = Seat::owner(&server, &shop);
    let guesser = Visitor::of(&server);
    let before = hashed(&server);
    let wrong = |email: &str| guesser.post(&seat.path(), &[("email", email), ("password", "guess"), ("code", "1")]);
    (0..10).for_each(|_| drop(text(&wrong(&seat.email), 400)));
    let refused = wrong(&seat.email.to_uppercase());
    text(&refused, 429);
    let wait: u64 = refused.header("retry-after").and_then(|seconds| seconds.parse().ok()).expect("seconds");
    assert!((600..=900).contains(&wait), "{wait}");
    text(&seat.sign_in_with(&guesser, seat.fresh_code()), 429);
    assert_eq!(hashed(&server), before + 10, "what is refused computes nothing");
    assert_eq!(seat.sign_in_with(&guesser.from(9), seat.fresh_code()).status, 303);
    for other in 0..40 {
        text(&wrong(&format!("m{other}@shop.example")), 400);
    }
    text(&wrong("another@shop.example"), 429);
}

#[test]
fn a_form_that_no_page_of_this_server_sent_does_nothing() {
    let (server, shop) = Server::with_shop();
    let (seat, visitor) = Seat::owner(&server, &shop);
    let reset = seat.reset_path(&shop);
    let own = server.public();
    let before = hashed(&server);
    for headers in [
        &[][..],
        &[("Origin", "null")],
        &[("Origin", "https://evil.example")],
        &[("Origin", "http://127.0.0.1")],
        &[("Sec-Fetch-Site", "same-origin")],
        &[("Origin", own), ("Sec-Fetch-Site", "cross-site")],
        &[("Origin", own), ("Sec-Fetch-Site", "same-site")],
        &[("Origin", own), ("Sec-Fetch-Site", "none")],
    ] {
        let fields = [("email", &*seat.email), ("password", PASSWORD), ("code", "000000")];
        text(&visitor.post_with(&seat.path(), headers, &fields), 403);
        text(&visitor.post_with(&format!("{}/sign-out", seat.path()), headers, &[]), 403);
        text(&visitor.post_with(&format!("{}/account", seat.path()), headers, &[("act", "everywhere")]), 403);
        let fields = [("step", "password"), ("password", PASSWORD), ("repeated", PASSWORD)];
        text(&visitor.post_with(&reset, headers, &fields), 403);
    }
    assert!(visitor.is_signed_in(&shop));
    assert_eq!(hashed(&server), before);
}

#[test]
fn pages_of_members_are_in_no_frame_and_in_no_cache() {
    let (server, shop) = Server::with_shop();
    let (seat, visitor) = Seat::owner(&server, &shop);
    for path in [seat.path(), format!("{}/account", seat.path()), format!("{}/nothing/at/all", seat.path())] {
        let answer = visitor.get(&path);
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"), "{path}");
    }
}

#[test]
fn over_plain_http_nobody_signs_in_but_on_the_same_machine() {
    let at = |server: &Server, seat: &Seat, host: &str| {
        let visitor = Visitor::of(server);
        let shown = text(&visitor.send("GET", &seat.path(), &[("Host", host)], ""), 200);
        let origin = format!("http://{host}");
        let headers = [("Host", host), ("Origin", &origin)];
        let fields = [("email", &*seat.email), ("password", PASSWORD), ("code", seat.fresh_code())];
        (shown.contains("name=\"password\""), visitor.post_with(&seat.path(), &headers, &fields).status)
    };
    let (server, shop) = Server::with_shop();
    let (seat, _) = Seat::owner(&server, &shop);
    assert_eq!(at(&server, &seat, "till.internal:8080"), (false, 403));
    assert_eq!(at(&server, &seat, "localhost:8080"), (true, 303));
    assert_eq!(at(&server, &seat, "[::1]:8080"), (true, 303));
    let (server, shop) = Start::default().with("TILL_PUBLIC_URL", "https://pay.example").server_with_shop();
    shop.call("invite-user", &json!({ "email": "ada@shop.example" })).ok();
    let path = super::seat::invitation_path(&shop);
    let page = text(&Visitor::of(&server).send("GET", &path, &[("Host", "pay.example")], ""), 200);
    assert!(page.contains("name=\"password\""), "a proxy ends TLS: {page}");
}

#[test]
fn credentials_are_in_no_log_and_not_readable_on_disk() {
    let directory = tempfile::TempDir::new().expect("a temporary directory can be made");
    let record = directory.path().join("log");
    let (mut server, shop) = Start::default().with("TILL_LOG_FILTER", "trace").recording(&record).server_with_shop();
    let (seat, visitor) = Seat::owner(&server, &shop);
    let link = super::seat::path_of(&seat.reset_path(&shop).replacen('/', "http://till/", 1));
    let secret = link.rsplit('/').next().expect("a segment").to_owned();
    visitor.get(&link);
    let cookie = visitor.cookie.borrow().clone().expect("a session");
    let cookie = cookie.split_once('=').expect("a pair").1.to_owned();
    assert!(server.stop());
    let mut files = vec![record];
    collect(server.data(), &mut files);
    assert!(files.len() > 3);
    for file in files {
        let bytes = std::fs::read(&file).unwrap_or_default();
        for text in
            [PASSWORD.as_bytes(), &seat.secret, seat.recovery_codes[0].as_bytes(), secret.as_bytes(), cookie.as_bytes()]
        {
            assert!(
                !bytes.windows(text.len()).any(|window| window == text),
                "{} in {}",
                text.escape_ascii(),
                file.display()
            );
        }
    }
}

fn collect(directory: &std::path::Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("readable").flatten() {
        if entry.path().is_dir() { collect(&entry.path(), files) } else { files.push(entry.path()) }
    }
}

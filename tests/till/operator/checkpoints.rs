//! Checkpoints over HTTP and the command line, and servers on restored checkpoints.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Client, Server, Shop, Start, directory, first_answer, run_command, text};

/// The longest time that a test waits for work in the background.
const PATIENCE: Duration = Duration::from_secs(60);

#[track_caller]
fn succeeds(server: &Server, arguments: &[&str]) -> String {
    let (code, output, errors) = run_command(server.command(), arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {output}{errors}");
    output
}

/// Restores, which must be refused, and returns the message.
#[track_caller]
fn refused(server: &Server, from: &Path, to: &Path) -> String {
    let (code, output, errors) = run_command(server.command(), &["restore", "--from", text(from), "--to", text(to)]);
    assert_eq!(code, Some(1), "{output}{errors}");
    errors
}

fn taken(server: &Server, name: &str) -> PathBuf {
    let answer = server.admin("create-checkpoint", &json!({ "name": name })).ok();
    assert_eq!(answer["name"], name);
    server.data().join("checkpoints").join(name)
}

/// A server on a restored copy, paused.
fn restored(server: &Server, from: &Path, to: &Path) -> Server {
    succeeds(server, &["restore", "--from", text(from), "--to", text(to)]);
    let started = Start::default().try_server_on(to, None);
    started.unwrap_or_else(|error| panic!("the restored server does not start: {error}"))
}

/// Pays again and again while `act` runs.
fn while_paying<T>(shop: &Shop, act: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Acquire) {
                    shop.pay(100);
                }
            });
        }
        let result = act();
        stop.store(true, Ordering::Release);
        result
    })
}

#[test]
fn a_restored_checkpoint_has_everything_acknowledged_before() {
    let (server, place) = (Server::start(), directory());
    let (quiet, busy) = (server.shop(), server.shop());
    let payments: Vec<String> = [500, 700].into_iter().map(|minor| quiet.pay(minor)).collect();
    let ids: Vec<&str> = payments.iter().map(String::as_str).collect();
    let before = quiet.picture(&ids);
    let earlier = busy.pay(300);
    let earlier_seen = busy.payment(&earlier);
    let taken_under_load: Value = while_paying(&busy, || {
        let first = succeeds(&server, &["checkpoint", "create", "--name", "first"]);
        succeeds(&server, &["checkpoint", "create", "--name", "under-load"]);
        serde_json::from_str(&first).expect("it is JSON")
    });
    assert_eq!((&taken_under_load["name"], &taken_under_load["merchants"]), (&json!("first"), &json!(2)));
    let checkpoint = server.data().join("checkpoints/under-load");
    let verified = succeeds(&server, &["checkpoint", "verify", text(&checkpoint)]);
    assert!(verified.ends_with("no faults\n"), "{verified}");
    let to = place.path().join("restored");
    let copy = restored(&server, &checkpoint, &to);
    assert_eq!(quiet.on(&copy).picture(&ids), before);
    assert_eq!(busy.on(&copy).payment(&earlier), earlier_seen);
    assert_eq!(succeeds(&copy, &["resume"]), "true\n");
    assert!(quiet.pay(100) != quiet.on(&copy).pay(100), "both go on, each by itself");
    assert!(!to.join("secrets").exists(), "secrets were given, and none came from the checkpoint");
    // While nothing is written, everything of both must be equal.
    let resting = [busy.clone(), quiet.clone()].map(|shop| shop.picture(&[]));
    let copy = restored(&server, &taken(&server, "at-rest"), &place.path().join("resting"));
    assert_eq!([busy, quiet].map(|shop| shop.on(&copy).picture(&[])), resting);
}

#[test]
fn a_restored_server_is_paused_until_it_is_resumed() {
    let (server, place) = (Server::start(), directory());
    let shop = server.shop();
    shop.pay(100);
    let mut copy = restored(&server, &taken(&server, "paused"), &place.path().join("copy"));
    let waiting = shop.on(&copy).initiate(&shop.on(&copy).session(200), 200, &json!({})).id();
    let metrics = |copy: &Server, line: &str| {
        let text = copy.metrics();
        assert!(text.lines().any(|printed| printed == line), "{line} is not in\n{text}");
    };
    let ready = |copy: &Server| Client::new(copy.admin_address()).get("/health/ready").ok();
    for _ in 0..2 {
        assert_eq!(ready(&copy), json!({ "status": "paused" }));
        metrics(&copy, "till_effects_paused 1");
        assert_eq!(shop.on(&copy).payment(&waiting)["status"], "PENDING");
        copy.restart();
    }
    assert_eq!((succeeds(&copy, &["resume"]), succeeds(&copy, &["resume"])), ("true\n".into(), "false\n".into()));
    assert_eq!(shop.on(&copy).settled(&waiting)["status"], "SUCCESSFUL");
    assert_eq!(ready(&copy), json!({ "status": "ready" }));
    metrics(&copy, "till_effects_paused 0");
    copy.restart();
    assert_eq!(ready(&copy), json!({ "status": "ready" }), "for good");
    shop.on(&copy).pay(300);
    assert_eq!(server.admin("resume-effects", &json!({})).ok(), false, "one that was never paused");
}

#[test]
fn a_name_is_checked_taken_once_and_needs_the_token() {
    let server = Server::start();
    taken(&server, "once");
    server.admin("create-checkpoint", &json!({ "name": "once" })).refused("CONFLICT");
    for wrong in ["", "Once", "../once", "a.b", "-a"] {
        assert_eq!(
            server.admin("create-checkpoint", &json!({ "name": wrong })).faults(),
            ["invalid name"],
            "{wrong:?}"
        );
    }
    Client::new(server.admin_address()).post("/admin/create-checkpoint", &json!({})).refused("UNAUTHORIZED");
    let named_by_time = server.admin("create-checkpoint", &json!({})).ok();
    assert!(named_by_time["name"].as_str().is_some_and(|name| name.len() == 19 && name.ends_with('z')));
    let (code, _, errors) = run_command(server.command(), &["checkpoint", "create", "--name", "once"]);
    assert!(code == Some(1) && errors.contains("CONFLICT"), "{errors}");
}

#[test]
fn checkpoints_are_listed_and_pruned_without_a_server() {
    let mut server = Server::start();
    for name in ["one", "two", "three"] {
        taken(&server, name);
    }
    assert!(server.stop());
    let shelf = server.data().join("checkpoints");
    fs::create_dir(shelf.join("cut-off.in-progress")).expect("writable");
    fs::create_dir(shelf.join("empty")).expect("writable");
    let listed = succeeds(&server, &["checkpoint", "list"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 5, "{listed}");
    assert!(lines[0].starts_with("unfinished  ") && lines[0].ends_with("cut-off.in-progress"), "{listed}");
    assert!(lines[1].starts_with("unusable  ") && lines[1].contains("checkpoint-manifest"), "{listed}");
    for (line, name) in lines[2..].iter().zip(["one", "two", "three"]) {
        assert!(line.starts_with("complete  ") && line.contains("commit ") && line.ends_with(name), "{listed}");
    }
    assert_eq!(succeeds(&server, &["checkpoint", "prune", "--keep", "1"]), "cut-off.in-progress\none\ntwo\n");
    assert!(!shelf.join("one").exists() && shelf.join("three").exists() && shelf.join("empty").exists());
}

#[test]
fn list_and_prune_name_an_empty_directory() {
    let place = directory();
    for made in [false, true] {
        let shelf = place.path().join("checkpoints");
        if made {
            fs::create_dir(&shelf).expect("writable");
        }
        for arguments in [["checkpoint", "list"].as_slice(), &["checkpoint", "prune", "--keep", "1"]] {
            let (code, output, errors) = run_command(Start::default().command(place.path()), arguments);
            assert_eq!((code, output.as_str()), (Some(0), ""), "{errors}");
            assert_eq!(errors, format!("no checkpoints in {}\n", shelf.display()));
        }
    }
}

#[test]
fn a_start_removes_unfinished_checkpoints() {
    let mut server = Server::start();
    let left = [server.data().join("checkpoints/cut-off.in-progress"), server.data().join("checkpoint-staging/db")];
    left.iter().for_each(|left| fs::create_dir_all(left).expect("writable"));
    server.restart();
    assert!(!left[0].exists() && !server.data().join("checkpoint-staging").exists());
}

#[test]
fn the_server_takes_checkpoints_and_keeps_the_set_number() {
    let place = directory();
    let start = Start::default().with("TILL_CHECKPOINT_EVERY_SECONDS", "1").with("TILL_CHECKPOINTS_KEPT", "1");
    let server = start.with("TILL_CHECKPOINT_DIRECTORY", text(place.path())).server();
    server.admin("create-checkpoint", &json!({ "name": "by-hand" })).ok();
    let scheduled = || -> Vec<String> {
        let entries = fs::read_dir(place.path()).expect("readable").flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.starts_with("scheduled-") && !name.contains('.')).collect()
    };
    let wait_for = |wanted: &dyn Fn(&[String]) -> bool| {
        first_answer(PATIENCE, "other checkpoints are there", scheduled, |found| wanted(found))
    };
    let first = wait_for(&|found| found.len() == 1);
    let later = wait_for(&|found| found.len() == 1 && found != first);
    assert!(later > first, "{later:?} after {first:?}");
    assert!(place.path().join("by-hand").exists(), "only those of the schedule are removed by it");
    assert!(!server.data().join("checkpoints").exists());
}

#[test]
fn an_impossible_restore_is_refused_and_makes_nothing() {
    let (server, place) = (Server::start(), directory());
    server.shop().pay(100);
    let (checkpoint, to) = (taken(&server, "sound"), place.path().join("to"));
    let says = |errors: &str, words: &[&str]| {
        words.iter().for_each(|word| assert!(errors.contains(word), "{word} is not in {errors}"));
        assert!(!to.exists(), "{errors}");
    };
    says(&refused(&server, &checkpoint, server.data()), &["in use by another process"]);
    fs::write(place.path().join("something"), b"a").expect("writable");
    says(&refused(&server, &checkpoint, place.path()), &["is not empty"]);
    says(&refused(&server, place.path(), &to), &["is not a checkpoint", "checkpoint-manifest"]);
    let unfinished = checkpoint.with_extension("in-progress");
    fs::rename(&checkpoint, &unfinished).expect("it can be renamed");
    says(&refused(&server, &unfinished, &to), &["not finished"]);
    fs::rename(&unfinished, &checkpoint).expect("it can be renamed");
    for (variables, words) in [
        ([("TILL_VAULT_KEY", "ff".repeat(32))].to_vec(), ["failed to open the checkpoint", "vault key"]),
        (Vec::new(), ["TILL_VAULT_KEY", "vault_key_file"]),
    ] {
        let mut command = server.command();
        command.env_remove("TILL_VAULT_KEY").envs(variables);
        let (code, _, errors) = run_command(command, &["restore", "--from", text(&checkpoint), "--to", text(&to)]);
        assert_eq!(code, Some(1), "{errors}");
        says(&errors, &words);
    }
    let high_water = checkpoint.join("high-water");
    let mut bytes = fs::read(&high_water).expect("readable");
    bytes[12] ^= 1;
    fs::write(&high_water, &bytes).expect("writable");
    says(&refused(&server, &checkpoint, &to), &["is damaged", "high-water: its bytes"]);
    let (code, _, errors) = run_command(server.command(), &["checkpoint", "verify", text(&checkpoint)]);
    assert!(code == Some(1) && errors.contains("high-water: its bytes"), "{errors}");
    let newer = "till-checkpoint 2\n";
    let hash = blake3::hash(b"something else");
    let manifest = checkpoint.join("checkpoint-manifest");
    fs::write(&manifest, format!("{newer}end {hash}\n")).expect("writable");
    says(&refused(&server, &checkpoint, &to), &["checkpoint-manifest is damaged"]);
    let hash = blake3::hash(newer.as_bytes());
    fs::write(&manifest, format!("{newer}end {hash}\n")).expect("writable");
    says(&refused(&server, &checkpoint, &to), &["format 2", "upgrade the program"]);
}

#[test]
fn no_server_starts_on_a_checkpoint_or_a_partial_restore() {
    let (server, place) = (Server::start(), directory());
    server.shop().pay(100);
    let checkpoint = taken(&server, "sound");
    let to = place.path().join("to");
    succeeds(&server, &["restore", "--from", text(&checkpoint), "--to", text(&to)]);
    fs::write(to.join("restore-in-progress"), b"").expect("writable");
    for (data, reason) in [(&checkpoint, "is a checkpoint: restore it"), (&to, "is not restored yet")] {
        let (serving, generating) = (Start::default().command(data), Start::default().load_tester(data));
        let calls = [(serving, ["serve"].as_slice()), (generating, &["generate", "--payments", "1"])];
        for (mut command, arguments) in calls {
            command.env_remove("TILL_ADMIN_TOKEN").env_remove("TILL_VAULT_KEY");
            let (code, _, errors) = run_command(command, arguments);
            assert!(code == Some(1) && errors.contains(reason), "{arguments:?}: {errors}");
            assert!(!data.join("secrets").exists());
        }
    }
    succeeds(&server, &["checkpoint", "verify", text(&checkpoint)]);
    fs::remove_file(to.join("restore-in-progress")).expect("it is there");
    let mut command = Start::default().command(&to);
    command.env_remove("TILL_ADMIN_TOKEN").env_remove("TILL_VAULT_KEY");
    let (code, _, errors) = run_command(command, &["serve"]);
    assert!(code == Some(1) && errors.contains("its vault key is neither in TILL_VAULT_KEY"), "{errors}");
    assert!(!to.join("secrets").exists(), "no new key is made beside data, and no token either");
}

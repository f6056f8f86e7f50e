//! The file system becomes read-only while the server writes to it.
//!
//! Linux refuses `mount -o remount,ro` as long as a file is open for writing, and the server always has its log open.
//! Two other things can happen: a read-only mount at its path, and an error of the file system, which `campaign` makes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::json;

use crate::harness::{Shop, Start, Volume};

use super::MIB;
use super::load::{Acknowledged, WritingLoad, verify};

/// A read-only mount over a directory, until it is dropped.
struct ReadOnly {
    root: PathBuf,
}

impl ReadOnly {
    fn over(root: &Path) -> ReadOnly {
        mount(&["--bind"], &[root, root]).expect("a directory can be mounted over itself");
        let read_only = ReadOnly { root: root.to_owned() };
        mount(&["-o", "remount,bind,ro"], &[root]).expect("nobody writes by this mount");
        read_only
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        let status = Command::new("umount").arg("-l").arg(&self.root).status(); // Files of it may be open.
        assert!(status.is_ok_and(|status| status.success()), "it can be taken away again");
    }
}

fn mount(options: &[&str], paths: &[&Path]) -> Result<(), String> {
    let output = Command::new("mount").args(options).args(paths).output().expect("mount is there");
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn start() -> Start {
    Start::default().with("TILL_DISK_RESERVE_BYTES", &(64 * MIB).to_string())
}

#[track_caller]
fn reads_go_on(shop: &Shop, payment: &str) {
    assert_eq!(shop.payment(payment)["status"], "SUCCESSFUL");
    shop.call("list-payments", &json!({})).ok();
}

#[test]
fn a_file_system_under_load_cannot_be_remounted_read_only() {
    let disk = Volume::made(512 * MIB);
    let mut server = start().server_in(&disk.path().join("data"));
    let (shop, acknowledged) = (server.shop(), Arc::default());
    let load = WritingLoad::start(&shop, &acknowledged);
    acknowledged.wait_for_more("a write", &acknowledged.done, || false);
    let refused = mount(&["-o", "remount,ro"], &[&disk.path()]).expect_err("a file is open for writing");
    assert!(refused.contains("busy"), "{refused}");
    acknowledged.wait_for_more("a write", &acknowledged.done, || false);
    load.end();
    assert!(server.ended().is_none());
    acknowledged.check(&shop);
    verify(&mut server);
}

#[test]
fn a_read_only_mount_refuses_writes_until_it_is_removed() {
    let disk = Volume::made(512 * MIB);
    let mut server = start().server_in(&disk.path().join("data"));
    let (shop, acknowledged) = (server.shop(), Arc::<Acknowledged>::default());
    let payment = shop.pay(100);
    let load = WritingLoad::start(&shop, &acknowledged);
    for round in 0..2 {
        acknowledged.wait_for_more("a write", &acknowledged.done, || false);
        let read_only = ReadOnly::over(&disk.path());
        acknowledged.wait_for_more("a refusal", &acknowledged.not_done, || false);
        reads_go_on(&shop, &payment);
        let session = json!({ "amount": 1, "currency": "THB", "payment_method": "CARD" });
        let refused = shop.sdk("select-payment-method", &session);
        assert_eq!((refused.status, refused.code()), (503, "UNAVAILABLE"), "{round}: {}", refused.body);
        assert_eq!(refused.details(), json!({ "outcome": "not_done" }));
        assert_ne!(server.admin("create-checkpoint", &json!({})).status, 200, "nor is a checkpoint taken");
        drop(read_only);
    }
    acknowledged.wait_for_more("a write after it could be written to again", &acknowledged.done, || false);
    load.end();
    assert!(server.ended().is_none(), "it runs on");
    acknowledged.check(&shop);
    verify(&mut server);
}

#[test]
fn a_start_on_a_read_only_file_system_is_refused_by_reason() {
    let disk = Volume::made(256 * MIB);
    let data = disk.path().join("data");
    let mut server = start().server_in(&data);
    let shop = server.shop();
    let payment = shop.pay(100);
    for is_stopped in [true, false] {
        if is_stopped {
            assert!(server.stop(), "a stop ends well");
        } else {
            server.kill();
        }
        mount(&["-o", "remount,ro"], &[&disk.path()]).expect("nobody writes");
        let printed = start().try_server_on(&data, None).map(drop).expect_err("it is refused");
        assert!(printed.contains("Read-only file system") || printed.contains("read-only"), "{printed}");
        mount(&["-o", "remount,rw"], &[&disk.path()]).expect("it is sound");
        server = start().server_in(&data);
        reads_go_on(&shop.on(&server), &payment);
        shop.on(&server).pay(100);
    }
    verify(&mut server);
}

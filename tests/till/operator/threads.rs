//! The names of a running server's threads, by which `top -H` tells them apart.

use std::collections::BTreeSet;
use std::fs;

use crate::harness::{PATIENCE, Server, Start, first_answer};

#[test]
fn threads_have_names_that_tell_them_apart() {
    let server = Start::default().with("TILL_HTTP_THREADS", "2").server();
    let once = ["till", "commit", "sandbox-book", "till-background", "till-webhooks", "rocksdb:open"];
    let numbered = ["actor-0", "http-0", "http-1", "admin-0", "pool-0"];
    let are_told_apart = |names: &Vec<String>| {
        let distinct: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let has_all = once.iter().chain(&numbered).all(|name| distinct.contains(name));
        let is_twice = |name: &&str| names.iter().filter(|found| found == name).count() > 1;
        let unnamed = names.iter().any(|name| name.starts_with("actix-rt"));
        has_all && !unnamed && !once.iter().chain(&numbered).any(is_twice)
    };
    // A thread takes its name when it first runs.
    first_answer(PATIENCE, "threads are without their names", || names(&server), are_told_apart);
}

fn names(server: &Server) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{}/task", server.id())).expect("it runs, on Linux").flatten();
    let names = threads.filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
    names.map(|name| name.trim_end().to_owned()).collect()
}

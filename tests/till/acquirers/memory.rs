//! Secrets in the memory of the running server, as a core file would have it. What is in use, and what connections have
//! read and written, is there; Till's own copies are overwritten.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;

use serde_json::json;

use super::account::{Account, AtStripe, OF_NOTICES, come_back};
use crate::harness::Server;

/// A card that is sent by its number, with its code, and one that is entered at the acquirer's page: valid numbers that
/// no other test has.
const BY_NUMBER: (&str, &str) = ("347196052839162", "7391");
const AT_PAGE: &str = "4539284617305521";
const MINOR: u64 = 20_000;
const PAGE_BYTES: usize = 4_096;
/// Bytes that are read at once, at most.
const PART_BYTES: u64 = 1 << 20;

/// The memory that the process may write to, in parts; none when the system lets only the superuser read it.
fn memory_of(server: &Server) -> Option<Vec<String>> {
    let open = |name: &str| File::open(format!("/proc/{}/{name}", server.id()));
    let memory = match open("mem") {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return None,
        opened => opened.expect("Linux shows the memory of a process"),
    };
    let pages = open("pagemap").expect("Linux shows the pages of a process");
    let maps = fs::read_to_string(format!("/proc/{}/maps", server.id())).expect("Linux shows the map of a process");
    let written = maps.lines().filter_map(|line| line.split_once(" rw").map(|(range, _)| range));
    let mut parts = Vec::new();
    for range in written {
        let (begin, end) = range.split_once('-').expect("a range has two ends");
        let [begin, end] = [begin, end].map(|text| u64::from_str_radix(text, 16).expect("an address"));
        let mut at = begin;
        while at < end {
            let is_there = |page: &u64| page - at < PART_BYTES && is_present(&pages, *page);
            let count = (at..end).step_by(PAGE_BYTES).take_while(is_there).count();
            let mut bytes = vec![0; count * PAGE_BYTES];
            let read = memory.read_at(&mut bytes, at).unwrap_or(0); // The process may give it back meanwhile.
            parts.push(String::from_utf8_lossy(&bytes[..read]).into_owned());
            at += (count.max(1) * PAGE_BYTES) as u64;
        }
    }
    Some(parts)
}

/// True for a page that is in memory: what was never written is not.
fn is_present(pages: &File, address: u64) -> bool {
    let mut entry = [0; 8];
    pages.read_exact_at(&mut entry, address / PAGE_BYTES as u64 * 8).expect("each page has an entry");
    u64::from_ne_bytes(entry) >> 63 == 1
}

/// The places of a text that does not follow one of these, with what is before it.
fn found<'m>(memory: &'m [String], text: &str, but_after: &[&str]) -> Vec<&'m str> {
    let places = memory.iter().flat_map(|part| part.match_indices(text).map(|(at, _)| part[..at].rsplit('\0').next()));
    let places = places.map(|before| before.expect("a text has a last part"));
    places.filter(|before| !but_after.iter().any(|known| before.ends_with(known))).collect()
}

#[test]
fn secrets_are_in_buffers_of_connections_alone() {
    let at = AtStripe::by_number();
    let (number, code) = BY_NUMBER;
    let card = json!({
        "number": number, "name": "Ada", "expiration_date": "12/49", "security_code": code, "usage": "SINGLE",
    });
    let token = at.account.shop.sdk("tokenize-card", &card).id();
    let session = at.account.shop.session_with(MINOR, &json!({ "token": token }));
    let paid = at.account.shop.settled(&at.account.shop.initiate(&session, MINOR, &json!({})).id());
    let other = Account::open(&at.server, &at.fake, "PAGE", &json!({}));
    let payment = other.shop.initiate(&other.shop.session_with(MINOR, &json!({})), MINOR, &json!({})).id();
    come_back(&at.server, &at.fake.remote().enter_card(&other.asked(&payment), AT_PAGE));
    let statuses = [&paid, &other.shop.settled(&payment)].map(|payment| payment["status"].clone());
    assert_eq!(statuses, ["SUCCESSFUL", "SUCCESSFUL"]);
    let Some(memory) = memory_of(&at.server) else { return };
    assert!(!found(&memory, &payment, &[]).is_empty(), "the search finds what is there");
    for secret in [&at.account.secret, &other.secret] {
        assert_eq!(found(&memory, secret, &["\"secret\":\"", "authorization: Bearer "]), [""; 0]);
    }
    assert_eq!(found(&memory, OF_NOTICES, &["\"webhook_secret\":\""]), [""; 0]);
    assert_eq!(found(&memory, number, &["\"number\":\""]), [""; 0]);
    assert_eq!(found(&memory, &format!("cvc%5D={code}"), &[]), [""; 0], "the code in a form");
    assert_eq!(found(&memory, AT_PAGE, &[]), [""; 0], "a card that Till never had");
}

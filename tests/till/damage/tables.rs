//! Flipped bits in table files.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::harness::{Server, Shop, TestDice, holds_within};

use super::image::{Copy, Image, Witness, dice, flip, flips, name_of};

/// The number of writes after which RocksDB has finished its compactions.
const WRITES: usize = 20;

/// Families with at least one row for each payment.
const FAMILIES: [&str; 3] = ["rows", "journal", "indexes"];

/// True when a table file belongs to a family: the properties near its end name the family in clear.
pub(super) fn is_of(table: &Path, family: &str) -> bool {
    let bytes = fs::read(table).expect("readable");
    let property = format!("name{family}");
    let tail = &bytes[bytes.len().saturating_sub(4_096)..];
    tail.windows(property.len()).any(|window| window == property.as_bytes())
}

/// The table file of a family.
fn table(copy: &Copy, family: &str) -> PathBuf {
    let db = copy.data().join("db");
    copy.file(|name| name.ends_with(".sst") && is_of(&db.join(name), family))
}

/// A byte of the first merchant's rows: they fill nine tenths of the bytes before filter and index.
fn place_of_first(dice: &mut TestDice, table: &Path) -> usize {
    let length = fs::read(table).expect("readable").len();
    length / 20 + dice.index(length / 2)
}

#[test]
fn a_flipped_bit_of_a_table_fails_only_the_reads_that_touch_it() {
    let image = Image::stopped();
    let [first, second] = &image.witnesses;
    let mut dice = dice();
    let mut refused = 0;
    for number in 0..10 * flips(6) {
        // Sometimes all flips hit bytes that no call reads: rows that have been rewritten since.
        if number >= flips(6) && refused > 0 {
            break;
        }
        let copy = image.copy();
        let table = table(&copy, FAMILIES[number % FAMILIES.len()]);
        let damage = flip(&table, place_of_first(&mut dice, &table), dice.index(8));
        let server = copy.start(&damage).unwrap_or_else(|message| panic!("{damage}: {message}"));
        let touched = first.ask_all(&first.shop.on(&server), &damage);
        println!("{damage}: {touched} calls refused");
        assert!(touched == 0 || damaged_tables(&server) > Some(0.0), "{damage}: it is noted");
        refused += touched;
        let others = second.ask_all(&second.shop.on(&server), &damage);
        assert_eq!(others, 0, "{damage}: another merchant's calls were refused");
    }
    assert!(refused > 0, "no flipped bit was in what can be asked for");
}

/// Tops the merchant up and reads the balance, so that RocksDB starts compactions; returns the acknowledged amount, and
/// true when the server still runs.
fn write_and_read(server: &Server, merchant_id: &str, read: impl Fn()) -> (u64, bool) {
    let topup = json!({ "merchant_id": merchant_id, "amount": 100 });
    let mut acknowledged = 0;
    for _ in 0..WRITES {
        if server.admin("add-topup", &topup).status != 200 {
            return (acknowledged, false);
        }
        acknowledged += 100;
        read();
        thread::sleep(Duration::from_millis(20));
    }
    (acknowledged, true)
}

/// RocksDB writes nothing more once it has found a damaged block while it rewrites tables.
#[test]
fn a_flipped_bit_found_by_a_compaction_needs_only_one_restart() {
    let image = Image::stopped();
    let second = &image.witnesses[1];
    let mut dice = dice();
    for number in 0..flips(3) {
        let copy = image.copy();
        let table = table(&copy, FAMILIES[number % FAMILIES.len()]);
        let damage = flip(&table, place_of_first(&mut dice, &table), dice.index(8));
        let mut server = copy.start(&damage).unwrap_or_else(|message| panic!("{damage}: {message}"));
        let shop = second.shop.on(&server);
        let balance = |shop: &Shop| shop.call("get-balance", &json!({})).body["available"].as_u64();
        let before = balance(&shop).expect("another merchant's balance can be read");
        let (mut acknowledged, goes_on) = write_and_read(&server, &shop.merchant_id, || {
            balance(&shop);
        });
        println!("{damage}: {acknowledged} acknowledged, {}", if goes_on { "it goes on" } else { "it stopped" });
        if !goes_on {
            let printed = copy.printed_with("the process stops");
            assert!(printed.contains(&name_of(&table)) && printed.contains("the process stops"), "{damage}: {printed}");
            server.restart();
            let (more, goes_on) = write_and_read(&server, &shop.merchant_id, || {
                balance(&shop.on(&server));
            });
            assert!(goes_on, "{damage}: without compaction nothing prevents writes");
            acknowledged += more;
        }
        let now = balance(&shop.on(&server)).expect("another merchant's balance can be read");
        let at_most_one_unknown = u64::from(!goes_on) * 100;
        let expected = before + acknowledged..=before + acknowledged + at_most_one_unknown;
        assert!(expected.contains(&now), "{damage}: {now} of {expected:?}");
    }
}

/// Tables of the newest level of a family at which RocksDB merges them, see `NEWEST_TABLES` of the engine.
const MERGED_TABLES: usize = 8;

/// The time within which damage that was met is noted: RocksDB is asked every five seconds.
const NOTED_WITHIN: Duration = Duration::from_secs(7);

/// The table of a family that has most bytes.
fn largest_table(copy: &Copy, family: &str) -> PathBuf {
    let files = fs::read_dir(copy.data().join("db")).expect("a database").map(|file| file.expect("it lists").path());
    let tables = files.filter(|file| file.extension().is_some_and(|end| end == "sst") && is_of(file, family));
    tables.max_by_key(|table| fs::metadata(table).expect("it is there").len()).expect("there is one")
}

/// The tables that are noted as damaged.
fn damaged_tables(server: &Server) -> Option<f64> {
    server.metric("till_scrub_damaged_tables")
}

/// True once the note of damaged tables has one.
fn is_noted(server: &Server) -> bool {
    holds_within(NOTED_WITHIN, || damaged_tables(server) == Some(1.0))
}

/// Nothing is written: nothing but the merge of tables meets the damage. It may do so before the start has ended.
#[test]
fn damage_met_by_a_merge_of_tables_is_noted_at_once() {
    let image = Image::stopped();
    let (copy, mut dice) = (image.copy(), dice());
    // The older merchant's: its new records come before those of the other one, so that they are merged with the table.
    let topup = json!({ "merchant_id": image.witnesses[0].shop.merchant_id, "amount": 100 });
    let start = || copy.start("before the damage").unwrap_or_else(|message| panic!("{message}"));
    for _ in 1..MERGED_TABLES {
        let mut server = start();
        server.admin("add-topup", &topup).ok();
        assert!(server.stop(), "a stop writes one more table of each family");
    }
    let mut server = start();
    server.admin("add-topup", &topup).ok();
    server.kill();
    let table = largest_table(&copy, "journal");
    let damage = flip(&table, place_of_first(&mut dice, &table), dice.index(8));
    let server = copy.start(&damage).or_else(|_| copy.start(&damage));
    let mut server = server.unwrap_or_else(|message| panic!("{damage}: {message}"));
    for _ in 0..MERGED_TABLES {
        if damaged_tables(&server) == Some(1.0) {
            break;
        }
        // The tables were merged before one was damaged: so many new ones are merged with it again. A merge that meets
        // the damage ends the server, and is begun again at every start until the damage is noted.
        let _answered_or_ended = server.admin("add-topup", &topup);
        server.stop();
        let again = copy.start(&damage).or_else(|_| copy.start(&damage));
        server = again.unwrap_or_else(|message| panic!("{damage}: {message}"));
    }
    assert!(is_noted(&server), "{damage}: it is not noted");
    server.admin("create-checkpoint", &json!({ "name": "bad" })).refused("CONFLICT");
    assert!(server.stop(), "{damage}: everything acknowledged is on the disk");
    let server = copy.start(&damage).unwrap_or_else(|message| panic!("{damage}: {message}"));
    assert_eq!(damaged_tables(&server), Some(1.0), "{damage}");
}

#[test]
fn a_flipped_bit_of_a_table_is_named_by_merchant_and_place() {
    let image = Image::stopped();
    let [first, second] = &image.witnesses;
    let mut dice = dice();
    let (is_clean, text) = image.copy().verify();
    assert!(is_clean, "an image without damage: {text}");
    for number in 0..flips(3) {
        let copy = image.copy();
        let family = FAMILIES[number % FAMILIES.len()];
        let table = table(&copy, family);
        let damage = flip(&table, place_of_first(&mut dice, &table), dice.index(8));
        let (is_clean, text) = copy.verify();
        println!("{damage}: {text}");
        assert!(!is_clean, "{damage}: {text}");
        let own: Vec<&str> = text.lines().filter(|line| line.contains(&first.shop.merchant_id)).collect();
        let place = if family == "journal" { "record" } else { family };
        assert!(own.iter().any(|line| line.contains(place)), "{damage}: no place in {family} is named: {text}");
        assert!(!text.contains(&second.shop.merchant_id), "{damage}: another merchant is named: {text}");
    }
}

#[test]
fn a_flipped_bit_after_the_rows_is_refused_or_fails_only_reads() {
    let image = Image::stopped();
    let mut dice = dice();
    for number in 0..flips(4) {
        let copy = image.copy();
        let table = table(&copy, FAMILIES[number % FAMILIES.len()]);
        let length = fs::read(&table).expect("readable").len();
        let damage = flip(&table, length - 1 - dice.index(length / 10), dice.index(8));
        match copy.start(&damage) {
            Err(message) => assert!(message.contains(".sst"), "{damage}: the refusal names no file: {message}"),
            Ok(server) => {
                let ask = |witness: &Witness| witness.ask_all(&witness.shop.on(&server), &damage);
                let refused: Vec<usize> = image.witnesses.iter().map(ask).collect();
                println!("{damage}: {refused:?} calls refused");
            }
        }
    }
}

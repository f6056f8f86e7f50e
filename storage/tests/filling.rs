//! A new directory that is filled without a log: everything or nothing.

mod fixtures;

use std::path::Path;
use std::sync::Arc;

use fixtures::{Chain, copy, merchant};
use tempfile::TempDir;
use till_domain::ids::MerchantId;
use till_storage::engine::high_water::{FoundMark, HighWater};
use till_storage::engine::{Engine, EngineOptions, FILLING_FILE, Filling, OpenError, StoppedStore, refuse_unfit};
use till_storage::journal::{CommitNumber, Journal, Sequence, Verdict};

const SHOP: MerchantId = merchant(1);
const RECORDS: u64 = 300;

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn options(directory: &Path) -> EngineOptions {
    EngineOptions { disk_reserve_bytes: 0, ..EngineOptions::new(directory) }
}

fn is_unfinished<T>(opened: Result<T, OpenError>) -> bool {
    matches!(opened, Err(OpenError::GenerateUnfinished { .. }))
}

#[track_caller]
fn is_refused(directory: &Path, when: &str) {
    assert!(is_unfinished(refuse_unfit(directory)), "{when}");
    assert!(is_unfinished(Engine::open(&options(directory))), "{when}: by a server");
    assert!(is_unfinished(StoppedStore::open(&options(directory))), "{when}: by who only reads");
    assert!(is_unfinished(Filling::begin(directory)), "{when}: by who fills");
}

fn begin(directory: &Path) -> Arc<Filling> {
    Arc::new(Filling::begin(directory).unwrap_or_else(|error| panic!("{error}")))
}

fn fill(directory: &Path, filling: Arc<Filling>) -> Engine {
    let options = EngineOptions { filling: Some(filling), ..options(directory) };
    let engine = Engine::open(&options).unwrap_or_else(|error| panic!("{error}"));
    let mut shop = Chain::claim(&engine, SHOP);
    let group = (0..RECORDS).map(|_| shop.batch_with_row()).collect();
    assert!(engine.append(group).iter().all(|verdict| matches!(verdict, Verdict::Committed(_))));
    engine
}

/// A copy of a directory as it is, which is what the end of the process would leave of it.
fn broken_off(directory: &Path) -> TempDir {
    let image = self::directory();
    copy(directory, image.path());
    image
}

#[test]
fn a_directory_is_refused_by_everybody_from_the_first_step_of_its_filling_to_the_last() {
    let place = directory();
    let data = place.path();
    let filling = begin(data);
    is_refused(broken_off(data).path(), "before there is a database");
    let engine = fill(data, Arc::clone(&filling));
    is_refused(broken_off(data).path(), "with records");
    engine.close().expect("nothing fails");
    drop(engine);
    is_refused(broken_off(data).path(), "with everything on the disk and not told so");
    drop(filling);
    is_refused(data, "given up");
}

#[test]
fn a_directory_that_was_filled_has_every_record_and_a_mark_at_the_last_one() {
    let place = directory();
    let data = place.path();
    let filling = begin(data);
    fill(data, Arc::clone(&filling)).close().expect("nothing fails");
    filling.end().expect("the file can be removed");
    assert!(!data.join(FILLING_FILE).exists());
    let (mark, found) = HighWater::open(data).expect("nobody has it");
    assert!(matches!(found, FoundMark::Mark(mark) if mark.commit == CommitNumber(RECORDS)), "{found:?}");
    drop(mark);
    let engine = Engine::open(&options(data)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(engine.last_commit(), CommitNumber(RECORDS));
    assert_eq!(engine.head(SHOP).map(|head| head.sequence), Ok(Sequence(RECORDS)));
    let records = engine.read(SHOP, Sequence(1), 1_000).expect("readable");
    assert_eq!(u64::try_from(records.len()), Ok(RECORDS));
}

#[test]
fn what_a_filling_wrote_is_not_on_the_disk_before_it_is_closed() {
    let place = directory();
    let data = place.path();
    let engine = fill(data, begin(data));
    let image = broken_off(data);
    std::fs::remove_file(image.path().join(FILLING_FILE)).expect("it is there");
    let refused = Engine::open(&options(image.path())).err().expect("records are missing");
    let missing = (CommitNumber(1), CommitNumber(RECORDS));
    assert!(
        matches!(refused, OpenError::CommitsMissing { first, last, .. } if (first, last) == missing),
        "the mark tells also without the file: {refused}"
    );
    drop(engine);
}

#[test]
fn a_directory_with_data_is_not_filled_at_bulk_speed() {
    let place = directory();
    drop(Engine::open(&options(place.path())).expect("a new one"));
    let refused = Filling::begin(place.path()).expect_err("it holds data");
    assert!(matches!(refused, OpenError::NotNew { .. }), "{refused}");
    assert!(!place.path().join(FILLING_FILE).exists());
}

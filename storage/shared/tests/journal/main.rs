//! The log in a real PostgreSQL: fences, unknown outcomes, lost commits.

mod postgres;
mod proxy;

#[path = "../../../tests/fixtures/mod.rs"]
mod fixtures;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fixtures::{Chain, merchant};
use postgres::Postgres;
use proxy::{Proxy, Treatment};
use till_domain::ids::MerchantId;
use till_shared::{
    JournalCopy, JournalSettings, Migrated, RowsOf, SharedJournal, SharedJournalError, SharedRows, migrate, status,
};
use till_storage::family::Family;
use till_storage::journal::first_commit::{FirstCommit, FirstRows, FirstVerdict, RemoteLog};
use till_storage::journal::{Append, AppendVerdict, CommitNumber, EncodedRecord, Epoch, Head, Journal, Sequence};
use till_storage::memory::MemoryStore;
use till_storage::rows::RowWrite;

const SHOP: MerchantId = merchant(1);
const CAFE: MerchantId = merchant(2);
const PATIENCE: Duration = Duration::from_secs(1);

fn settings(port: u16) -> JournalSettings {
    let address = format!("postgres://till@127.0.0.1:{port}/till");
    JournalSettings::new(&address, "till", PATIENCE).expect("an address")
}

/// A server with an empty log.
fn server() -> Postgres {
    let server = Postgres::start();
    assert_eq!(migrate(&settings(server.port()), None), Ok(Migrated { is_new: true, shards: 64 }));
    server
}

fn opened(server: &Postgres) -> SharedJournal {
    opened_at(server.port())
}

fn opened_at(port: u16) -> SharedJournal {
    SharedJournal::open(&settings(port), Arc::new(|| {})).expect("there is a log")
}

fn chain(merchant_id: MerchantId) -> Chain {
    Chain { merchant_id, epoch: Epoch(1), head: Head::EMPTY }
}

fn commit(journal: &SharedJournal, appends: &[Append]) -> Vec<FirstVerdict> {
    let batches: Vec<(CommitNumber, &Append)> = (1..).map(CommitNumber).zip(appends.iter()).collect();
    journal.commit(&batches, CommitNumber(0))
}

fn log(journal: &SharedJournal, merchant_id: MerchantId) -> Vec<Vec<u8>> {
    journal.reader().records(merchant_id, Sequence(0), 1_000).expect("readable")
}

fn bytes(appends: &[Append]) -> Vec<Vec<u8>> {
    appends.iter().flat_map(|append| append.records.iter().map(|record| record.bytes.clone())).collect()
}

/// The shard of the only merchant that has ever written.
fn written_shard(server: &Postgres) -> String {
    server.sql("select shard from till.shard where commits > 0")
}

#[test]
fn large_records_are_read_in_parts_of_a_mebibyte() {
    let server = server();
    let journal = opened(&server);
    let mut shop = chain(SHOP);
    let (light, heavy) = (vec![1; 400 << 10], vec![2; 1200 << 10]);
    let group = [shop.batch(&[&light, &light, &light, &light]), shop.batch(&[&heavy, &heavy, &heavy])];
    assert_eq!(commit(&journal, &group), vec![FirstVerdict::Written; 2]);
    let all = bytes(&group);
    let read = |from| journal.reader().records(SHOP, Sequence(from), 1_000).expect("readable");
    assert_eq!(read(1), all[..3]);
    assert_eq!(read(4), all[3..5]);
    assert_eq!(read(5), all[4..6]);
    assert_eq!(read(7), all[6..]);
    let after = |head| journal.records_after(SHOP, head).expect("readable");
    let (mut part, mut followed) = (after(Head::EMPTY), Vec::new());
    while let Some(last) = part.last().map(EncodedRecord::head) {
        followed.extend(part.into_iter().map(|record| record.bytes));
        part = after(last);
    }
    assert_eq!(followed, all);
}

#[test]
fn a_group_is_written_with_its_rows_and_read_back() {
    let server = server();
    let journal = opened(&server);
    let (mut shop, mut cafe) = (chain(SHOP), chain(CAFE));
    let vault = |value| RowWrite { family: Family::Vault, key: b"key", value };
    let mut group = vec![shop.batch(&[b"one", b"two"]), cafe.batch(&[b"one"]), shop.batch(&[b"three"])];
    group[0].vault = [vault(Some(b"first"))].into_iter().collect();
    group[2].vault = [vault(Some(b"last"))].into_iter().collect();
    group[1].derived = [
        RowWrite { family: Family::Directory, key: b"digest", value: Some(b"merchant") },
        RowWrite { family: Family::Rows, key: b"derived", value: Some(b"not sent") },
    ]
    .into_iter()
    .collect();
    assert_eq!(commit(&journal, &group), vec![FirstVerdict::Written; 3]);
    assert_eq!(log(&journal, SHOP), bytes(&[group[0].clone(), group[2].clone()]));
    assert_eq!(log(&journal, CAFE), bytes(&group[1..2]));
    assert_eq!(journal.reader().merchants(), Ok(vec![SHOP, CAFE]));
    assert_eq!(journal.reader().records(merchant(9), Sequence(1), 1), Ok(Vec::new()));
    let rows = |family, prefix: &[u8]| {
        let range = (prefix.to_vec(), [prefix, &[u8::MAX; 9]].concat());
        let (mut rows, reader) = (Vec::new(), journal.reader());
        let read = reader.each_page(family, range, &mut |page| {
            rows.extend(page.rows);
            Ok(())
        });
        read.map(|()| rows).expect("readable")
    };
    assert_eq!(rows(Family::Vault, b"k"), [(b"key".to_vec(), b"last".to_vec())]);
    assert_eq!(rows(Family::Vault, b"other"), []);
    assert_eq!(rows(Family::Directory, b""), [(b"digest".to_vec(), b"merchant".to_vec())]);
    assert_eq!(rows(Family::Rows, b""), []);
    let mut deleting = shop.batch(&[b"four"]);
    deleting.vault = [vault(None)].into_iter().collect();
    assert_eq!(commit(&journal, &[deleting]), [FirstVerdict::Written]);
    assert_eq!(rows(Family::Vault, b""), []);
}

#[test]
fn a_log_is_made_once_and_described() {
    let server = Postgres::start();
    let settings = settings(server.port());
    assert!(
        matches!(SharedJournal::open(&settings, Arc::new(|| {})), Err(SharedJournalError::Schema(_))),
        "there is no log"
    );
    assert!(matches!(migrate(&settings, Some(0)), Err(SharedJournalError::Schema(_))));
    assert_eq!(migrate(&settings, Some(8)), Ok(Migrated { is_new: true, shards: 8 }));
    assert_eq!(migrate(&settings, None), Ok(Migrated { is_new: false, shards: 8 }));
    assert!(matches!(migrate(&settings, Some(16)), Err(SharedJournalError::Schema(_))));
    let found = JournalCopy::open(&settings).expect("there is one");
    let journal = opened(&server);
    assert_eq!(journal.claim(), found.replicated_log().claim, "the next claim");
    let status = status(&settings).expect("readable");
    let identity = u128::from_be_bytes(found.replicated_log().identity);
    assert_eq!((status.shards, status.log.as_str(), status.commits), (8, format!("{identity:032x}").as_str(), 0));
    assert_eq!((status.waits_for_standby, status.synchronous_standbys), (false, Some(0)));
    assert_eq!(status.unsafe_settings, ["fsync = off"]);
    server.sql("update till.meta set value = '\\x0000000000000063' where name = 'version'");
    assert!(
        matches!(SharedJournal::open(&settings, Arc::new(|| {})), Err(SharedJournalError::Schema(_))),
        "it is newer"
    );
}

#[test]
fn a_shard_that_is_fenced_loses_alone() {
    let server = server();
    let journal = opened(&server);
    let (mut shop, mut cafe) = (chain(SHOP), chain(CAFE));
    assert_eq!(commit(&journal, &[shop.batch(&[b"1"])]), [FirstVerdict::Written]);
    let shard = written_shard(&server);
    server.sql(&format!(
        "update till.shard set epoch = epoch + 1, incarnation = gen_random_uuid() where shard = {shard}"
    ));
    let group = [shop.batch(&[b"2"]), cafe.batch(&[b"1"])];
    assert_eq!(commit(&journal, &group), [FirstVerdict::Fenced, FirstVerdict::Written]);
    assert_eq!((log(&journal, SHOP).len(), log(&journal, CAFE).len()), (1, 1));
    assert_eq!(commit(&journal, &[cafe.batch(&[b"2"])]), [FirstVerdict::Written]);
    let stats = journal.stats();
    assert_eq!((stats.fenced, stats.shards_held, stats.shards_lost), (1, 63, 0));
}

#[test]
fn the_process_that_claimed_last_writes_and_the_one_before_does_not() {
    let server = server();
    let (first, mut shop) = (opened(&server), chain(SHOP));
    assert_eq!(commit(&first, &[shop.batch(&[b"1"])]), [FirstVerdict::Written]);
    let second = opened(&server);
    let next = [shop.batch(&[b"2"])];
    assert_eq!(commit(&first, &next), [FirstVerdict::Fenced]);
    assert_eq!(commit(&second, &next), [FirstVerdict::Written]);
    assert_eq!(commit(&first, &next), [FirstVerdict::Fenced]);
    assert_eq!(log(&second, SHOP).len(), 2);
}

#[test]
fn a_statement_that_arrives_after_a_claim_writes_nothing_and_is_sent_again_under_the_new_epoch() {
    let server = server();
    let (journal, mut shop) = (opened(&server), chain(SHOP));
    assert_eq!(commit(&journal, &[shop.batch(&[b"1"])]), [FirstVerdict::Written]);
    // As an abandoned claim of this process that took effect late.
    server.sql("update till.shard set epoch = epoch + 1");
    let next = [shop.batch(&[b"2"])];
    assert_eq!(commit(&journal, &next), [FirstVerdict::Written]);
    assert_eq!(log(&journal, SHOP).len(), 2);
    assert_eq!(journal.stats().uncertain, 0);
}

#[test]
fn an_answer_that_is_lost_is_found_out_whether_the_statement_arrived_or_not() {
    let server = server();
    let proxy = Proxy::before(server.port());
    let journal = opened_at(proxy.port);
    let mut shop = chain(SHOP);
    let mut written = Vec::new();
    for treatment in [Treatment::Swallow, Treatment::Dark, Treatment::Reset] {
        for now in [Treatment::Pass, treatment] {
            proxy.treat_open(now);
            let append = shop.batch(&[b"record"]);
            assert_eq!(commit(&journal, std::slice::from_ref(&append)), [FirstVerdict::Written], "{treatment:?}");
            written.push(append);
        }
        assert_eq!(server.sql("select count(*) from till.record"), written.len().to_string(), "{treatment:?}");
    }
    assert_eq!(journal.stats().uncertain, 3);
    assert_eq!(log(&journal, SHOP), bytes(&written));
    assert!(!journal.may_be_ahead(SHOP));
}

#[test]
fn a_commit_that_waits_for_its_standby_is_never_taken_for_done_when_its_backend_is_stopped() {
    let server = server();
    let (journal, mut shop) = (opened(&server), chain(SHOP));
    assert_eq!(commit(&journal, &[shop.batch(&[b"1"])]), [FirstVerdict::Written]);
    for (number, stop) in [(1, "pg_cancel_backend"), (2, "pg_terminate_backend")] {
        server.sql("alter system set synchronous_standby_names = 'nobody'");
        server.sql("select pg_reload_conf()");
        std::thread::sleep(Duration::from_millis(300)); // Until a process of the database has read it.
        let append = shop.batch(&[b"waits"]);
        std::thread::scope(|scope| {
            let verdict = scope.spawn(|| commit(&journal, std::slice::from_ref(&append)));
            let waiting = "from pg_stat_activity where application_name = 'till' and wait_event = 'SyncRep'";
            let until = Instant::now() + Duration::from_secs(10);
            while server.sql(&format!("select count({stop}(pid)) {waiting}")) == "0" {
                assert!(Instant::now() < until, "no commit waits");
            }
            std::thread::sleep(Duration::from_millis(100));
            assert!(!verdict.is_finished(), "nobody may be told before the standby has it");
            server.sql("alter system reset synchronous_standby_names");
            server.sql("select pg_reload_conf()");
            assert_eq!(verdict.join().expect("no panic"), [FirstVerdict::Written], "{stop}");
        });
        assert_eq!(log(&journal, SHOP).len(), number + 1, "{stop}");
        assert_eq!(usize::try_from(journal.stats().uncertain), Ok(number), "{stop}");
    }
}

/// A server that panics once it has written the commit record says so with a code of the disk, and has the commit.
#[test]
fn a_server_that_panics_leaves_the_outcome_open() {
    let server = server();
    let proxy = Proxy::before(server.port());
    let (journal, mut shop) = (opened_at(proxy.port), chain(SHOP));
    let first = shop.batch(&[b"1"]);
    assert_eq!(commit(&journal, std::slice::from_ref(&first)), [FirstVerdict::Written]);
    proxy.treat_open(Treatment::Panic);
    let second = shop.batch(&[b"2"]);
    assert_eq!(commit(&journal, std::slice::from_ref(&second)), [FirstVerdict::Written]);
    assert_eq!((log(&journal, SHOP), journal.stats().uncertain), (bytes(&[first, second]), 1));
    assert_eq!(journal.stats().shards_lost, 0);
}

#[test]
fn an_outcome_that_cannot_be_found_out_is_unknown_until_it_can() {
    let server = server();
    let proxy = Proxy::before(server.port());
    let journal = opened_at(proxy.port);
    let told = Arc::new(AtomicUsize::new(0));
    let refuse = Arc::clone(&told);
    journal.when_refusing(Box::new(move |_| _ = refuse.fetch_add(1, Ordering::SeqCst)));
    let (mut shop, mut cafe) = (chain(SHOP), chain(CAFE));
    assert_eq!(commit(&journal, &[shop.batch(&[b"1"])]), [FirstVerdict::Written]);
    proxy.treat_open(Treatment::Swallow);
    proxy.treat_new(Treatment::Dark);
    let append = shop.batch(&[b"2"]);
    let started = Instant::now();
    let verdict = commit(&journal, std::slice::from_ref(&append));
    assert!(matches!(verdict[..], [FirstVerdict::Unknown(_)]), "{verdict:?}");
    assert!(started.elapsed() >= PATIENCE * 2 && told.load(Ordering::SeqCst) == 1);
    let asked = Instant::now();
    let refused = commit(&journal, &[cafe.batch(&[b"1"])]);
    assert!(matches!(refused[..], [FirstVerdict::Unavailable(_)]), "{refused:?}");
    assert!(asked.elapsed() < PATIENCE / 2 && journal.refusal().is_some(), "nobody waits for what is not there");
    assert!(journal.may_be_ahead(SHOP) && !journal.may_be_ahead(CAFE));
    assert!(!journal.may_have_told_more(SHOP), "what was durable before is read");
    let before = Head { sequence: Sequence(1), hash: append.expected_head.hash };
    assert!(journal.records_after(SHOP, before).is_err(), "nobody may claim the log yet");
    proxy.treat_open(Treatment::Pass);
    proxy.treat_new(Treatment::Pass);
    wait_until(|| journal.refusal().is_none());
    let missing = journal.records_after(SHOP, before).expect("readable again");
    assert_eq!(missing.len(), 1);
    journal.note_caught_up(SHOP);
    assert!(!journal.may_be_ahead(SHOP));
    assert_eq!(log(&journal, SHOP).len(), 2);
    assert_eq!(commit(&journal, &[shop.batch(&[b"3"])]), [FirstVerdict::Written]);
}

#[track_caller]
fn wait_until(is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < until, "it does not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_database_that_cannot_be_reached_refuses_at_once() {
    let server = server();
    let (journal, mut shop) = (opened(&server), chain(SHOP));
    assert_eq!(commit(&journal, &[shop.batch(&[b"1"])]), [FirstVerdict::Written]);
    server.stop("fast");
    let append = shop.batch(&[b"2"]);
    let started = Instant::now();
    let verdicts = commit(&journal, std::slice::from_ref(&append));
    assert!(matches!(verdicts[..], [FirstVerdict::Unavailable(_)]), "{verdicts:?}");
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
    server.run();
    wait_until(|| journal.refusal().is_none());
    assert_eq!(commit(&journal, &[append]), [FirstVerdict::Written]);
    assert_eq!((log(&journal, SHOP).len(), journal.stats().uncertain), (2, 0));
}

/// A shard that is sent once more meets a record that is there: what another shard has written before is no refusal.
#[test]
fn what_was_written_before_a_record_was_found_is_not_refused() {
    let server = server();
    let (journal, mut shop, mut cafe) = (opened(&server), chain(SHOP), chain(CAFE));
    assert_eq!(commit(&journal, &[shop.batch(&[b"1"])]), [FirstVerdict::Written]);
    let (shard, foreign) = (written_shard(&server), shop.clone().batch(&[b"of a commit that nobody knows of"]));
    insert(&server, &foreign);
    // As an abandoned claim of this process: the shard of the shop takes no part in the first statement.
    server.sql(&format!("update till.shard set epoch = epoch + 1 where shard = {shard}"));
    let verdicts = commit(&journal, &[shop.batch(&[b"2"]), cafe.batch(&[b"1"])]);
    assert!(matches!(verdicts[..], [FirstVerdict::Unavailable(_), FirstVerdict::Written]), "{verdicts:?}");
    assert_eq!(log(&journal, CAFE).len(), 1);
    assert!(journal.may_be_ahead(SHOP) && !journal.may_be_ahead(CAFE));
}

/// Inserts a record as if a commit of nobody's had.
fn insert(server: &Postgres, append: &Append) {
    let record = &append.records[0];
    let hex: String = record.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let (merchant, sequence) = (uuid(append.merchant_id), record.sequence.0);
    server.sql(&format!("insert into till.record values ('{merchant}', {sequence}, '\\x{hex}')"));
}

#[test]
fn a_merchant_whose_next_record_is_there_is_compared_and_refuses_no_other() {
    let server = server();
    let (journal, mut shop) = (opened(&server), chain(SHOP));
    assert_eq!(commit(&journal, &[shop.batch(&[b"1"])]), [FirstVerdict::Written]);
    let shard = written_shard(&server);
    // Another merchant of the same shard, and one of another.
    let shares = |id: &u8| commit_shard(&server, &journal, merchant(*id)) == shard;
    let neighbor = (10..=255).find(shares).expect("there are 64 shards");
    let (before, mut neighbor, mut cafe) = (shop.head, chain(merchant(neighbor)), chain(CAFE));
    neighbor.head = journal_head(&journal, neighbor.merchant_id);
    let foreign = shop.clone().batch(&[b"of a commit that nobody knows of"]);
    insert(&server, &foreign);
    let group = [shop.clone().batch(&[b"2"]), neighbor.batch(&[b"2"]), cafe.batch(&[b"1"])];
    let verdicts = commit(&journal, &group);
    let [FirstVerdict::Unavailable(_), FirstVerdict::Written, FirstVerdict::Written] = &verdicts[..] else {
        panic!("{verdicts:?}")
    };
    assert!(journal.may_be_ahead(SHOP));
    let missing = journal.records_after(SHOP, before).expect("it follows");
    assert_eq!(missing.iter().map(|record| record.bytes.clone()).collect::<Vec<_>>(), bytes(&[foreign]));
    journal.note_caught_up(SHOP);
    shop.head = missing[0].head();
    assert_eq!(commit(&journal, &[shop.batch(&[b"3"])]), [FirstVerdict::Written]);
}

fn uuid(merchant_id: MerchantId) -> String {
    format!("{:032x}", u128::from_be_bytes(merchant_id.to_bytes()))
}

/// The shard whose count moves when a merchant writes its first record.
fn commit_shard(server: &Postgres, journal: &SharedJournal, merchant_id: MerchantId) -> String {
    let counts = || server.sql("select string_agg(shard || ' ' || commits, ',' order by shard) from till.shard");
    let before = counts();
    assert_eq!(commit(journal, &[chain(merchant_id).batch(&[b"1"])]), [FirstVerdict::Written]);
    let after = counts();
    let changed = after.split(',').zip(before.split(',')).find(|(after, before)| after != before);
    changed.and_then(|(after, _)| after.split(' ').next()).expect("one has moved").to_owned()
}

fn journal_head(journal: &SharedJournal, merchant_id: MerchantId) -> Head {
    let last = log(journal, merchant_id).pop().expect("it has one");
    till_storage::journal::record::decode(&last).expect("it is one").head()
}

#[test]
fn counts_that_agree_by_chance_are_not_taken_for_the_same_commits() {
    let server = server();
    let (first, store, mut shop) = (opened(&server), MemoryStore::new(), chain(SHOP));
    shop.epoch = store.claim(SHOP).expect("a claim").epoch;
    let written = [shop.batch(&[b"1"]), shop.batch(&[b"2"])];
    for append in &written {
        assert_eq!(commit(&first, std::slice::from_ref(append)), [FirstVerdict::Written]);
        assert!(matches!(store.append(vec![append.clone()])[..], [AppendVerdict::Committed(_)]));
    }
    let noted = first.position();
    assert_eq!(opened(&server).compare(&noted, &store).ok(), Some(false), "nothing is missing");
    // The database is set back by a commit, and another server writes as many.
    server.sql("delete from till.record where sequence = 2");
    server.sql(
        "update till.shard set commits = commits - 1, records = records - 1, incarnation = null where commits > 0",
    );
    let (second, mut other) = (opened(&server), chain(SHOP));
    (other.epoch, other.head) = (shop.epoch, written[0].new_head);
    assert_eq!(commit(&second, &[other.batch(&[b"of another history"])]), [FirstVerdict::Written]);
    let third = opened(&server);
    assert_eq!(third.compare(&noted, &store).ok(), Some(true));
    assert_eq!(third.stats().shards_lost, 1, "the store has a record that the database does not have");
    let verdicts = commit(&third, &[shop.batch(&[b"3"])]);
    assert!(matches!(verdicts[..], [FirstVerdict::Unavailable(_)]), "{verdicts:?}");
}

#[test]
fn a_start_says_that_the_newest_record_of_a_log_is_missing() {
    let server = server();
    let (journal, mut shop) = (opened(&server), chain(SHOP));
    for body in [b"1", b"2"] {
        assert_eq!(commit(&journal, &[shop.batch(&[body])]), [FirstVerdict::Written]);
    }
    let losses = || {
        let journal = opened(&server);
        journal.compare(&[], &MemoryStore::new()).expect("readable");
        journal.stats().losses
    };
    assert_eq!(losses(), 0);
    server.sql("delete from till.record where sequence = 2");
    assert_eq!(losses(), 1);
}

#[test]
fn an_idle_server_learns_that_its_log_was_taken_and_an_older_copy_is_no_other_server() {
    let server = server();
    let ended = Arc::new(AtomicUsize::new(0));
    let end = {
        let ended = Arc::clone(&ended);
        move || _ = ended.fetch_add(1, Ordering::SeqCst)
    };
    let first = SharedJournal::open(&settings(server.port()), Arc::new(end)).expect("there is a log");
    first.look();
    assert_eq!(ended.load(Ordering::SeqCst), 0);
    let before = server.sql("select string_agg(shard || ',' || epoch - 1, ' ') from till.shard where shard >= 0");
    let second = opened(&server);
    first.look();
    assert!(ended.load(Ordering::SeqCst) > 0 && first.stats().shards_held == 0);
    for (shard, epoch) in before.split(' ').filter_map(|pair| pair.split_once(',')) {
        server.sql(&format!("update till.shard set epoch = {epoch}, incarnation = null where shard = {shard}"));
    }
    second.look();
    assert_eq!((second.stats().shards_held, second.stats().shards_lost), (0, 64));
    let verdicts = commit(&second, &[chain(SHOP).batch(&[b"1"])]);
    assert!(matches!(&verdicts[..], [FirstVerdict::Unavailable(reason)] if reason.contains("lost commits")));
}

#[test]
fn a_warning_at_sign_in_is_no_outcome() {
    let server = server();
    server.sql("update pg_database set datcollversion = '0.0' where datname = 'till'");
    let (journal, mut shop) = (opened(&server), chain(SHOP));
    assert_eq!(commit(&journal, &[shop.batch(&[b"1"])]), [FirstVerdict::Written]);
    assert_eq!((log(&journal, SHOP).len(), journal.stats().uncertain), (1, 0));
}

#[test]
fn claims_that_wait_for_a_lock_do_not_pile_up() {
    let server = server();
    let (journal, mut shop) = (opened(&server), chain(SHOP));
    assert_eq!(commit(&journal, &[shop.batch(&[b"1"])]), [FirstVerdict::Written]);
    let sessions = || server.sql("select count(*) from pg_stat_activity where application_name = 'till'");
    let append = shop.batch(&[b"2"]);
    std::thread::scope(|scope| {
        scope.spawn(|| server.sql("begin; select 1 from till.shard for update; select pg_sleep(8); commit"));
        wait_until(|| server.sql("select count(*) from pg_stat_activity where query like '%pg_sleep(8)%'") != "1");
        let verdict = commit(&journal, std::slice::from_ref(&append));
        assert!(matches!(verdict[..], [FirstVerdict::Unknown(_)]), "{verdict:?}");
        std::thread::sleep(PATIENCE * 4);
        let sessions: usize = sessions().parse().expect("a number");
        assert!(sessions <= 5, "{sessions}");
    });
    wait_until(|| journal.refusal().is_none());
    assert_eq!(log(&journal, SHOP).len(), 2, "what waited for the lock has landed");
}

#[test]
fn a_host_that_says_nothing_does_not_hide_the_next() {
    let server = server();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("it is bound").port();
    let address = format!("postgres://till@127.0.0.1:{port},127.0.0.1:{}/till", server.port());
    let settings = |patience| JournalSettings::new(&address, "till", patience).expect("an address");
    let (patience, begun) = (Duration::from_secs(8), Instant::now());
    JournalCopy::open(&settings(patience)).expect("the second host has it");
    assert!(begun.elapsed() < patience, "the silent host had more than its half of the patience");
    let journal = SharedJournal::open(&settings(PATIENCE), Arc::new(|| {})).expect("the second host has it");
    assert_eq!(commit(&journal, &[chain(SHOP).batch(&[b"1"])]), [FirstVerdict::Written]);
}

#[test]
fn a_session_of_a_database_that_became_read_only_is_dropped() {
    let server = server();
    let (journal, mut shop) = (opened(&server), chain(SHOP));
    assert_eq!(commit(&journal, &[shop.batch(&[b"1"])]), [FirstVerdict::Written]);
    // As after a failover that closes no connection: this session is read-only, and a new one is not.
    let append = shop.batch(&[b"2"]);
    let lane = server
        .sql("select pid from pg_stat_activity where application_name = 'till' and query like 'with req%' limit 1");
    server.sql("alter system set default_transaction_read_only = on");
    server.sql("select pg_reload_conf()");
    wait_until(|| server.sql("show default_transaction_read_only") == "on");
    std::thread::sleep(Duration::from_millis(300)); // Until the session has read it.
    let refused = commit(&journal, std::slice::from_ref(&append));
    assert!(matches!(refused[..], [FirstVerdict::Unavailable(_)]), "{refused:?}");
    let is_there = || server.sql(&format!("select count(*) from pg_stat_activity where pid = {lane}"));
    wait_until(|| is_there() == "0");
}

/// Fewer, as of a standby without the last commits that was promoted; and more, which nobody can have made.
#[test]
fn lost_and_foreign_commits_stop_their_shard_and_no_other() {
    for change in ["- 1", "+ 1"] {
        stops_its_shard_alone(change);
    }
}

fn stops_its_shard_alone(change: &str) {
    let server = server();
    let (journal, mut shop, mut cafe) = (opened(&server), chain(SHOP), chain(CAFE));
    assert_eq!(commit(&journal, &[shop.batch(&[b"1"])]), [FirstVerdict::Written]);
    server.sql(&format!("update till.shard set commits = commits {change} where commits > 0"));
    for _ in 0..2 {
        let verdicts = commit(&journal, &[shop.clone().batch(&[b"2"]), cafe.batch(&[b"1"])]);
        assert!(matches!(verdicts[..], [FirstVerdict::Unavailable(_), FirstVerdict::Written]), "{verdicts:?}");
    }
    assert_eq!((journal.stats().shards_lost, log(&journal, SHOP).len()), (1, 1));
}

#[test]
fn rows_of_no_log_end_their_server_when_they_are_claimed_and_go_on_when_they_are_lost() {
    let server = server();
    let ended = Arc::new(AtomicUsize::new(0));
    let open = || {
        let ended = Arc::clone(&ended);
        let end = move || _ = ended.fetch_add(1, Ordering::SeqCst);
        SharedRows::open(&settings(server.port()), RowsOf::Deliveries, Arc::new(end)).expect("there is a log")
    };
    let write = |rows: &SharedRows, value: &[u8]| rows.write(&[(b"key".to_vec(), value.to_vec())], &[]);
    let first = open();
    assert_eq!(write(&first, b"1"), Ok(first.position()));
    let second = open();
    assert!(write(&first, b"2").expect_err("fenced").contains("another server has claimed"));
    assert_eq!((write(&second, b"3"), ended.load(Ordering::SeqCst)), (Ok(second.position()), 1));
    let noted = second.position();
    server.sql("update till.shard set commits = commits - 1 where shard = -1");
    assert_eq!(write(&second, b"4"), Ok(second.position()), "a loss stops nothing");
    assert!(!open().has_all(Some(&second.position())), "the next start makes what is beside it anew");
    assert!(!open().has_all(Some(&noted)));
    assert_eq!(ended.load(Ordering::SeqCst), 1, "a loss is no claim");
    let mut kept = Vec::new();
    let read = second.each_page(&mut |page| {
        kept.extend(page);
        Ok::<_, SharedJournalError>(())
    });
    assert_eq!((read, kept), (Ok(()), vec![(b"key".to_vec(), b"4".to_vec())]));
}

#[test]
fn a_promoted_standby_has_everything_and_goes_on() {
    let primary = server();
    let standby = primary.standby();
    primary.wait_for_standby(true);
    let proxy = Proxy::before(primary.port());
    let (journal, mut shop) = (opened_at(proxy.port), chain(SHOP));
    let first = shop.batch(&[b"1"]);
    assert_eq!(commit(&journal, std::slice::from_ref(&first)), [FirstVerdict::Written]);
    primary.stop("immediate");
    standby.promote();
    standby.wait_for_standby(false);
    proxy.lead_to(standby.port());
    let second = shop.batch(&[b"2"]);
    assert_eq!(commit(&journal, std::slice::from_ref(&second)), [FirstVerdict::Written]);
    assert_eq!(log(&journal, SHOP), bytes(&[first, second]));
}

#[test]
fn the_database_is_spoken_to_by_tls_and_only_where_its_certificate_is_trusted() {
    let server = server();
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    server.require_tls(&own.cert.pem(), &own.signing_key.serialize_pem());
    let files = tempfile::tempdir().expect("a temporary directory");
    let trusting = |name: &str, host: &str, pem: String| {
        let file = files.path().join(name);
        std::fs::write(&file, pem).expect("it can be written");
        let address = format!("postgres://till@{host}:{}/till?sslmode=require", server.port());
        JournalSettings::new(&address, "till", PATIENCE).expect("an address").with_ca_file(Some(file))
    };
    let open = |settings: &JournalSettings| SharedJournal::open(settings, Arc::new(|| {}));
    let journal = open(&trusting("own", "localhost", own.cert.pem())).expect("it is trusted");
    assert_eq!(commit(&journal, &[chain(SHOP).batch(&[b"1"])]), [FirstVerdict::Written]);
    for (name, host, pem) in [("other", "localhost", other.cert.pem()), ("own", "127.0.0.1", own.cert.pem())] {
        let refused = open(&trusting(name, host, pem)).err();
        assert!(matches!(refused, Some(SharedJournalError::Unreachable(_))), "{name} {host}: {refused:?}");
    }
    assert!(open(&settings(server.port())).is_err(), "the server takes nothing else");
}

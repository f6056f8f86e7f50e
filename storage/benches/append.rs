//! Durable appends through the journal on disk: groups of 1, 64 and 512 batches of 64 merchants, each with one
//! record of about 600 bytes and 12 row writes. One element is one batch.

use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use till_domain::ids::MerchantId;
use till_storage::engine::{Engine, EngineOptions};
use till_storage::family::Family;
use till_storage::journal::record::{self, HEADER_LEN, RecordHeader, RecordType};
use till_storage::journal::{Append, AppendVerdict, BatchId, Epoch, Head, Journal, RowWrite, RowWrites};

const MERCHANTS: u8 = 64;
const RECORD_LEN: usize = 600;
const ROWS: u8 = 12;
const ROW_LEN: usize = 100;

struct Chain {
    merchant_id: MerchantId,
    epoch: Epoch,
    head: Head,
}

impl Chain {
    fn claim(engine: &Engine, number: u8) -> Chain {
        let merchant_id = MerchantId::from_bytes([number; 16]);
        let claim = engine.claim(merchant_id).expect("the store can be read");
        Chain { merchant_id, epoch: claim.epoch, head: claim.head }
    }

    fn batch(&mut self) -> Append {
        let expected_head = self.head;
        let header = RecordHeader {
            record_type: RecordType::Mutation,
            merchant_id: self.merchant_id,
            sequence: self.head.sequence.next(),
            batch_id: BatchId([7; 16]),
            epoch: self.epoch,
            at_ms: 1_743_500_000_000,
            prev_hash: self.head.hash,
        };
        let record = record::encode(&header, &[42; RECORD_LEN - HEADER_LEN]).expect("the body is short");
        self.head = record.head();
        let mut derived = RowWrites::default();
        (0..ROWS).for_each(|number| self.push_row(number, &mut derived));
        Append {
            merchant_id: self.merchant_id,
            epoch: self.epoch,
            expected_head,
            new_head: self.head,
            batch_id: BatchId([7; 16]),
            records: vec![record],
            derived,
            snapshot: None,
            may_use_reserve: false,
        }
    }

    fn push_row(&self, number: u8, rows: &mut RowWrites) {
        let family = if number.is_multiple_of(2) { Family::Rows } else { Family::Indexes };
        let sequence = self.head.sequence.0.to_be_bytes();
        let key = [self.merchant_id.to_bytes().as_slice(), &[1 + number], &sequence, &self.head.hash[..8]].concat();
        rows.push(RowWrite { family, key: &key, value: Some(&[number; ROW_LEN]) });
    }
}

fn opened(directory: &Path) -> Engine {
    Engine::open(&EngineOptions::new(directory)).expect("a new store opens")
}

/// The time that the journal takes for `rounds` groups, without the time to make the groups.
fn time_groups(engine: &Engine, chains: &mut [Chain], batches: usize, rounds: u64) -> Duration {
    let mut took = Duration::ZERO;
    for round in 0..rounds {
        let first = usize::try_from(round).unwrap_or(0) * batches;
        let count = chains.len();
        let group: Vec<Append> = (first..first + batches).map(|number| chains[number % count].batch()).collect();
        let start = Instant::now();
        let verdicts = engine.append(group);
        took += start.elapsed();
        assert!(verdicts.iter().all(|verdict| matches!(verdict, AppendVerdict::Committed(_))));
    }
    took
}

fn append(criterion: &mut Criterion) {
    // The directory is next to the build, hence on a disk: a temporary directory may be in memory.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory");
    let engine = opened(directory.path());
    let mut chains: Vec<Chain> = (1..=MERCHANTS).map(|number| Chain::claim(&engine, number)).collect();
    let mut group = criterion.benchmark_group("append");
    for batches in [1_u64, 64, 512] {
        group.throughput(Throughput::Elements(batches));
        let count = usize::try_from(batches).expect("small");
        group.bench_function(BenchmarkId::from_parameter(batches), |bencher| {
            bencher.iter_custom(|rounds| time_groups(&engine, &mut chains, count, rounds));
        });
    }
    group.finish();
}

criterion_group!(benches, append);
criterion_main!(benches);

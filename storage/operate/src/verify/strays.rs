//! Finds the merchants of a store, and rows that belong to none of them.

use std::collections::BTreeMap;

use till_domain::ids::MerchantId;
use till_storage::family::Family;
use till_storage::journal::Head;
use till_storage::keys::{HeadKey, MERCHANT_LEN, decode_head};

use super::comparison::BELOW_MERCHANTS;
use super::fault::{FaultLocation, Wrong};
use super::job::Job;
use super::walk::{RowWalk, WalkStep, prefix_range};

/// The merchants with their heads; one whose head is missing or damaged has none. At 56 bytes each they stay in
/// memory: a million take some 100 MB with the map around them.
pub(super) type Merchants = BTreeMap<MerchantId, Option<Head>>;

/// Every merchant that has a head or a record.
pub(super) fn find_merchants(job: &mut Job<'_>) -> Merchants {
    let mut merchants = Merchants::new();
    for step in RowWalk::new(job.rows, Family::Meta, HeadKey::range(None)) {
        match step {
            WalkStep::Row(key, value) => match HeadKey::decode(&key) {
                Some(HeadKey(merchant_id)) => {
                    let head = decode_head(&value);
                    if head.is_none() {
                        let reason = "it is not as long as a head".to_owned();
                        job.fault(merchant_id, FaultLocation::Head, Wrong::Undecodable { reason });
                    }
                    merchants.insert(merchant_id, head);
                }
                None => job.row_fault(None, Family::Meta, &key, Wrong::Extra),
            },
            WalkStep::Gap(gap) => job.gap(None, Family::Meta, gap, None),
        }
    }
    each_merchant(Family::Journal, job, |merchant_id, _, _| {
        merchants.entry(merchant_id).or_insert(None);
    });
    merchants
}

/// Reports the first row of each owner that is not a merchant, in every family below merchants.
pub(super) fn find_strays(merchants: &Merchants, job: &mut Job<'_>) {
    for family in BELOW_MERCHANTS.into_iter().chain([Family::Snapshots]) {
        each_merchant(family, job, |merchant_id, key, job| {
            if !merchants.contains_key(&merchant_id) {
                job.row_fault(Some(merchant_id), family, key, Wrong::NoMerchant);
            }
        });
    }
}

/// Calls `visit` with the first row of each merchant in a family. Ranges that cannot be read are reported where each
/// merchant's rows are walked.
fn each_merchant(family: Family, job: &mut Job<'_>, mut visit: impl FnMut(MerchantId, &[u8], &mut Job<'_>)) {
    let mut walk = RowWalk::new(job.rows, family, prefix_range(&[])).one_by_one();
    while let Some(step) = walk.next() {
        let WalkStep::Row(key, _) = step else { continue };
        let Some(merchant) = key.first_chunk::<MERCHANT_LEN>() else {
            let reason = format!("{} bytes are too few", key.len());
            job.row_fault(None, family, &key, Wrong::BadKey { reason });
            continue;
        };
        visit(MerchantId::from_bytes(*merchant), &key, job);
        walk.skip_to(prefix_range(merchant).1);
    }
}

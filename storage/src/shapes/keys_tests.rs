use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq};
use proptest::proptest;
use till_domain::command::IdempotencyScope;
use till_domain::effect::{EffectId, Timer, TimerKind};
use till_domain::ids::{DisputeId, EntryId, MetadataId, PaymentId, PayoutId, RefundId, TransactionId};
use till_domain::metadata::SetNumber;
use till_domain::text::{ExternalId, IdempotencyKey};
use till_domain::time::Millis;

use super::super::drawn::Draw;
use super::super::samples::{self, MERCHANT, TestPersonal};
use super::*;

fn key(merchant: MerchantId, key: &AnyKey) -> (Family, Vec<u8>) {
    row_key(merchant, key, &TestPersonal::default())
}

fn refund(payment_id: [u8; 16], refund_id: [u8; 16]) -> EffectId {
    EffectId { payment_id: PaymentId::from_bytes(payment_id), refund_id: Some(RefundId::from_bytes(refund_id)) }
}

fn is_inside(range: &KeyRange, key: &[u8]) -> bool {
    range.0.as_slice() <= key && key < range.1.as_slice()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_key_is_only_in_the_range_of_its_own_merchant_and_table(
        choices in vec(any::<u64>(), 1..40),
        merchants in any::<([u8; 16], [u8; 16])>(),
    ) {
        let (own, other) = (MerchantId::from_bytes(merchants.0), MerchantId::from_bytes(merchants.1));
        let (row, _) = Draw::new(choices).row();
        let (family, bytes) = key(own, &row);
        for table in TableKind::ALL.iter().copied().filter(|table| table.family() == family) {
            let is_own = table == TableKind::of(&row);
            prop_assert_eq!(is_inside(&table_range(own, table), &bytes), is_own);
            if own != other && table.is_below_a_merchant() {
                prop_assert!(!is_inside(&table_range(other, table), &bytes));
            }
        }
    }

    #[test]
    fn a_key_reads_back_as_far_as_it_is_recoverable(choices in vec(any::<u64>(), 0..40)) {
        let (row, _) = Draw::new(choices).row();
        let (family, bytes) = key(MERCHANT, &row);
        let (merchant, parts) = decode_key(family, &bytes).expect("just encoded");
        let table = TableKind::of(&row);
        prop_assert_eq!(merchant, table.is_below_a_merchant().then_some(MERCHANT));
        prop_assert_eq!(parts.table(), Some(table));
        match parts {
            KeyParts::Row(read) => prop_assert_eq!(read, row),
            KeyParts::Digest { digest, .. } => prop_assert!(bytes[HEAD_LEN..].starts_with(&digest)),
            KeyParts::AppliedPosition => prop_assert!(false),
        }
    }

    #[test]
    fn different_keys_have_different_bytes(one in vec(any::<u64>(), 0..40), other in vec(any::<u64>(), 0..40)) {
        let (one, other) = (Draw::new(one).row().0, Draw::new(other).row().0);
        prop_assert_eq!(one == other, key(MERCHANT, &one) == key(MERCHANT, &other));
    }

    #[test]
    fn no_bytes_whatever_make_the_decoder_panic(bytes in vec(any::<u8>(), 0..80)) {
        for family in Family::ALL {
            let _ = decode_key(family, &bytes);
        }
    }
}

#[test]
fn the_byte_of_a_table_is_its_own_and_leads_back_to_it() {
    for table in TableKind::ALL {
        assert_eq!(TableKind::from_tag(table.tag()), Some(*table));
        assert!(table.tag() >= FIRST_TYPED_TABLE && table.tag() < u8::MAX, "{table:?}");
    }
    assert_eq!(TableKind::from_tag(0), None);
    assert!(TableKind::ALL.is_sorted_by_key(|table| table.tag()));
}

#[test]
fn a_text_and_its_prefix_are_separate_keys() {
    let of = |text: &str| AnyKey::PaymentsByExternalId(ExternalId::new(text).expect("plain"));
    assert_ne!(key(MERCHANT, &of("inv")), key(MERCHANT, &of("inv_1")));
}

#[test]
fn an_endpoint_and_a_key_cannot_be_shifted_against_each_other() {
    let scope = |endpoint: &str, name: &str| {
        let key = IdempotencyKey::new(name).expect("visible");
        AnyKey::Answers(IdempotencyScope { installation_id: None, endpoint: endpoint.to_owned(), key })
    };
    assert_ne!(key(MERCHANT, &scope("admin/a", "bc")), key(MERCHANT, &scope("admin/ab", "c")));
}

#[test]
fn ids_before_another_are_those_in_the_range() {
    let entry = |number| key(MERCHANT, &AnyKey::Entries(EntryId::from_bytes([number; 16]))).1;
    let range = range_before_id(MERCHANT, TableKind::Entries, RawId::from_bytes([6; 16]));
    assert_eq!((0..=255).filter(|number| is_inside(&range, &entry(*number))).collect::<Vec<u8>>(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn timers_are_ordered_by_instant_and_items_by_position() {
    let of = |due, kind| key(MERCHANT, &AnyKey::Timers(Timer { due: Millis(due), kind })).1;
    let settle = |due| of(due, TimerKind::Settle(TransactionId::from_bytes([0xff; 16])));
    let lapse = |due| of(due, TimerKind::Lapse(PaymentId::from_bytes([0; 16])));
    assert!([settle(1), lapse(1), settle(255), settle(256), lapse(u64::MAX)].is_sorted());
    let (id, set) = (MetadataId::from_bytes([1; 16]), SetNumber(3));
    let positions = [0, 1, 255, 256].map(|at| key(MERCHANT, &AnyKey::MetadataPositions((id, set, at))).1);
    assert!(positions.is_sorted());
}

#[test]
fn the_effects_and_timers_of_all_merchants_are_in_their_ranges() {
    let timer =
        AnyKey::Timers(Timer { due: Millis(u64::MAX), kind: TimerKind::Lapse(PaymentId::from_bytes([0xff; 16])) });
    let effect = AnyKey::Effects(refund([0xff; 16], [0xff; 16]));
    for merchant in [[0; 16], [0xff; 16]].map(MerchantId::from_bytes) {
        assert!(is_inside(&all_timers_range(), &key(merchant, &timer).1));
        assert!(is_inside(&open_calls_range(None, None), &key(merchant, &effect).1));
    }
}

#[test]
fn the_operation_of_a_payment_is_16_bytes_and_a_refund_of_it_32() {
    let (payment_id, refunded) = ([0xa5; 16], refund([0xa5; 16], [0x5a; 16]));
    let operation = EffectId::operation(PaymentId::from_bytes(payment_id));
    let of = |effect_id| key(MERCHANT, &AnyKey::Effects(effect_id)).1;
    assert_eq!(of(operation)[HEAD_LEN..], payment_id);
    assert_eq!(of(refunded)[HEAD_LEN..], [[0xa5; 16], [0x5a; 16]].concat());
    for effect_id in [operation, refunded] {
        let read = decode_key(Family::Effects, &of(effect_id));
        assert_eq!(read, Ok((Some(MERCHANT), KeyParts::Row(AnyKey::Effects(effect_id)))));
    }
    let torn = &of(refunded)[..HEAD_LEN + 16 + 8];
    assert_eq!(decode_key(Family::Effects, torn), Err(KeyError::Malformed { table: TableKind::Effects }));
}

#[test]
fn a_payments_refunds_follow_its_operation_in_the_key_order() {
    let operation = |payment| EffectId::operation(PaymentId::from_bytes([payment; 16]));
    let effects =
        [operation(1), refund([1; 16], [0; 16]), refund([1; 16], [7; 16]), refund([1; 16], [0xff; 16]), operation(2)];
    assert!(effects.is_sorted(), "as the domain orders them");
    for (at, after) in effects.into_iter().enumerate() {
        let range = open_calls_range(None, Some((MERCHANT, OpenCall::Payment(after))));
        let inside = effects.map(|effect_id| is_inside(&range, &key(MERCHANT, &AnyKey::Effects(effect_id)).1));
        assert_eq!(inside, std::array::from_fn(|place| place > at), "after {after:?}");
    }
}

#[test]
fn a_merchants_open_payouts_follow_its_effects_in_the_key_order() {
    let next = MerchantId::from_bytes([0xa2; 16]);
    let calls = [
        (MERCHANT, OpenCall::Payment(EffectId::operation(PaymentId::from_bytes([0xff; 16])))),
        (MERCHANT, OpenCall::Payout(PayoutId::from_bytes([1; 16]))),
        (MERCHANT, OpenCall::Payout(PayoutId::from_bytes([2; 16]))),
        (MERCHANT, OpenCall::Evidence(DisputeId::from_bytes([1; 16]))),
        (next, OpenCall::Payment(EffectId::operation(PaymentId::from_bytes([0; 16])))),
    ];
    let key_of = |(merchant, call): (MerchantId, OpenCall)| key(merchant, &call.key()).1;
    for (at, after) in calls.into_iter().enumerate() {
        let range = open_calls_range(None, Some(after));
        assert_eq!(calls.map(|call| is_inside(&range, &key_of(call))), std::array::from_fn(|place| place > at));
        let range = open_calls_range(Some(MERCHANT), Some(after));
        let inside = std::array::from_fn(|place| place > at && calls[place].0 == MERCHANT);
        assert_eq!(calls.map(|call| is_inside(&range, &key_of(call))), inside, "of one merchant");
    }
    let of_one = open_calls_range(Some(MERCHANT), None);
    assert_eq!(calls.map(|call| is_inside(&of_one, &key_of(call))), [true, true, true, true, false]);
}

#[test]
fn the_applied_position_is_no_row_and_its_key_is_below_no_table() {
    let applied = crate::keys::AppliedKey(MERCHANT).encode();
    assert_eq!(decode_key(Family::Rows, &applied), Ok((Some(MERCHANT), KeyParts::AppliedPosition)));
    for table in TableKind::ALL {
        assert!(!is_inside(&table_range(MERCHANT, *table), &applied));
    }
}

#[test]
fn bytes_that_are_not_a_key_are_refused_with_the_reason() {
    let (family, payment) = key(MERCHANT, &AnyKey::Payments(samples::payment().id));
    let longer = [payment.as_slice(), &[0]].concat();
    assert_eq!(decode_key(family, &longer), Err(KeyError::Malformed { table: TableKind::Payments }));
    assert_eq!(decode_key(family, &payment[..16]), Err(KeyError::TooShort { family, found_len: 16 }));
    let mut unknown = payment.clone();
    unknown[16] = 63;
    assert_eq!(decode_key(family, &unknown), Err(KeyError::UnknownTable { family, tag: 63 }));
    let elsewhere = decode_key(Family::Indexes, &payment);
    assert_eq!(elsewhere, Err(KeyError::UnknownTable { family: Family::Indexes, tag: 8 }));
    assert_eq!(decode_key(Family::Vault, &payment), Err(KeyError::NoRows { family: Family::Vault }));
}

//! The operator's calls, first and repeated.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::card::TokenUsage;
use till_domain::command::Command;
use till_domain::decide::Outcome;
use till_domain::event::{Answer, VaultWrite};
use till_domain::ids::KeyId;
use till_domain::key::{ApiKey, KEYS_MAX, LIVE_KEYS_MAX};
use till_domain::merchant::{Integration, PaymentMethod};
use till_domain::records::{CreatedMerchants, KeyDirectory, MerchantDirectory};
use till_domain::refusal::Refusal;
use till_domain::text::IdempotencyKey;
use till_domain::time::Millis;

#[test]
fn a_new_merchant_has_cards_and_instalments_on_the_sandbox_without_a_fee() {
    let world = ScenarioWorld::open();
    for method in PaymentMethod::ALL {
        let initial = PaymentMethod::ON_AT_FIRST.contains(&method).then(Integration::initial);
        assert_eq!(world.state.integrations.get(&method).copied(), initial, "{method:?}");
    }
    assert!(world.find::<MerchantDirectory>(world.merchant_id).is_some());
}

#[test]
fn a_method_of_another_currency_than_the_merchants_is_refused() {
    let mut world = ScenarioWorld::empty();
    let mut ask = create_merchant(world.merchant_id);
    if let Command::CreateMerchant(merchant) = &mut ask.command {
        merchant.currency = usd(1).currency;
    }
    world.given(ask);
    for integration in [with_fee(0, 0), disabled()] {
        let refusal = Refusal::MethodOfOtherCurrency { currency: thb(1).currency };
        world.when(configure(PaymentMethod::PromptPay, integration)).refused(refusal);
    }
    world.when(configure(PaymentMethod::MobileBanking, with_fee(0, 0))).answers(Answer::Changed(true));
    assert_eq!(world.state.integrations.get(&PaymentMethod::PromptPay), None);
}

#[test]
fn a_merchant_is_created_once() {
    let mut world = ScenarioWorld::open();
    let merchant_id = world.merchant_id;
    world.when(create_merchant(merchant_id)).changes_nothing(Answer::Merchant(merchant_id));
}

#[test]
fn a_named_call_that_created_a_merchant_is_found_by_its_name() {
    let mut world = ScenarioWorld::empty();
    let ask = create_merchant(world.merchant_id).named("call-1");
    let answer = world.given(ask.clone());
    let key = IdempotencyKey::new("call-1").expect("a test key of proper form");
    assert_eq!(world.look_up::<CreatedMerchants>(key).merchant_id, world.merchant_id);
    world.when(ask).replays(answer);
}

#[test]
fn nothing_can_be_asked_of_a_merchant_that_was_never_created() {
    let asks = [
        suspend(),
        resume(),
        open_balance(),
        topup(1),
        add_installation(),
        tokenize(1, TokenUsage::Single),
        fire([]),
        revoke_key(crate::world::raw_id(9, KeyId::from_raw)),
        configure(PaymentMethod::Card, disabled()),
    ];
    for ask in asks {
        ScenarioWorld::empty().when(ask).refused(Refusal::MerchantNotFound);
    }
}

#[test]
fn suspending_and_resuming_say_whether_they_changed_anything() {
    let mut world = ScenarioWorld::open();
    world.when(resume()).changes_nothing(Answer::Changed(false));
    world.when(suspend()).answers(Answer::Changed(true));
    world.when(suspend()).changes_nothing(Answer::Changed(false));
    world.when(resume()).answers(Answer::Changed(true));
}

#[test]
fn a_suspended_merchants_calls_are_refused_until_it_is_resumed() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let token = world.token(1, TokenUsage::Multiple);
    world.given(suspend());
    world.when(initiate(session)).refused(Refusal::MerchantSuspended);
    world.when(tokenize(1, TokenUsage::Single)).refused(Refusal::MerchantSuspended);
    world.when(select_token(token)).refused(Refusal::MerchantSuspended);
    world.given(resume());
    world.when(initiate(session)).takes_effect();
}

#[test]
fn the_operator_can_still_manage_a_suspended_merchant() {
    let mut world = ScenarioWorld::open();
    world.given(suspend());
    let merchant_id = world.merchant_id;
    let key = generate_key(merchant_id, 2, None);
    for ask in [topup(1), key, add_installation(), configure(PaymentMethod::Card, disabled())] {
        world.when(ask).takes_effect();
    }
}

#[test]
fn a_keys_text_is_in_the_vault_only_for_a_repeatable_call() {
    let mut world = ScenarioWorld::open();
    let ask = generate_key(world.merchant_id, 3, None);
    assert_eq!(world.when(ask).writes_to_the_vault().1, [], "nobody could ask for it again");
    let ask = generate_key(world.merchant_id, 2, None).named("call-1");
    let (answer, vault) = world.when(ask).writes_to_the_vault();
    let key = world.state.keys.values().last().cloned().expect("three keys were made");
    assert_eq!(answer, Answer::Key { key_id: key.id, created_at: world.clock });
    assert_eq!(vault, [VaultWrite::KeepKeyText(key.id)]);
    let owner = world.look_up::<KeyDirectory>(key.digest);
    assert_eq!((owner.merchant_id, owner.key_id), (world.merchant_id, key.id));
}

#[test]
fn an_unknown_keys_calls_are_refused() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let unknown = TestCaller::MerchantWith(crate::world::raw_id(9, KeyId::from_raw));
    world.when(Ask::from(initiate(session)).by(unknown)).refused(Refusal::CallerNotLive);
}

#[test]
fn a_revoked_key_opens_nothing_from_then_on() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let key_id = world.first_key();
    world.when(revoke_key(key_id)).answers(Answer::Changed(true));
    world.when(initiate(session)).refused(Refusal::CallerNotLive);
    world.when(revoke_key(key_id)).changes_nothing(Answer::Changed(false));
}

#[test]
fn revoking_a_key_again_keeps_the_first_time() {
    let (mut world, key_id) = ScenarioWorld::open_with(|world| world.first_key());
    world.given(revoke_key(key_id));
    let revoked_at = world.clock;
    world.after_seconds(60);
    world.given(revoke_key(key_id));
    assert_eq!(world.state.keys[&key_id].revoked_at, Some(revoked_at));
}

#[test]
fn an_unknown_key_cannot_be_revoked() {
    ScenarioWorld::open().when(revoke_key(crate::world::raw_id(9, KeyId::from_raw))).refused(Refusal::KeyNotFound);
}

#[test]
fn a_key_ends_at_its_expiry_to_the_millisecond() {
    let mut world = ScenarioWorld::open();
    let end = world.clock.plus_seconds(60);
    let key_id = world.key(generate_key(world.merchant_id, 2, Some(end)));
    let (first, second) = (world.card_session(), world.card_session());
    world.clock.0 = end.0 - 1;
    world.when(Ask::from(initiate(first)).by(TestCaller::MerchantWith(key_id))).takes_effect();
    world.clock = end;
    world.when(Ask::from(initiate(second)).by(TestCaller::MerchantWith(key_id))).refused(Refusal::CallerNotLive);
}

#[test]
fn the_number_of_a_merchants_live_keys_is_limited() {
    let mut world = ScenarioWorld::open();
    let merchant_id = world.merchant_id;
    let end = world.clock.plus_seconds(60);
    let last = add_keys(&mut world, 1..LIVE_KEYS_MAX - 1, None);
    add_keys(&mut world, LIVE_KEYS_MAX - 1..LIVE_KEYS_MAX, Some(end));
    let refused = Refusal::TooMany { kind: "API keys", limit: LIVE_KEYS_MAX };
    world.when(generate_key(merchant_id, 255, None)).refused(refused);
    world.given(revoke_key(last));
    add_keys(&mut world, LIVE_KEYS_MAX..LIVE_KEYS_MAX + 1, None);
    world.when(generate_key(merchant_id, 255, None)).refused(refused);
    world.clock = end;
    world.when(generate_key(merchant_id, 255, None)).takes_effect();
}

#[test]
fn the_number_of_all_keys_of_a_merchant_is_limited() {
    let mut world = ScenarioWorld::open();
    let first = world.state.keys[&world.first_key()].clone();
    let former = (2..=KEYS_MAX).map(|number| ApiKey {
        id: raw_id(1_000 + number as u64, KeyId::from_raw),
        revoked_at: Some(world.clock),
        ..first.clone()
    });
    // Making them one by one would take minutes.
    world.state.keys.extend(former.map(|key| (key.id, key)));
    assert_eq!(world.state.keys.len(), KEYS_MAX);
    let generate = generate_key(world.merchant_id, 255, None);
    let kind = "API keys, former ones included";
    world.refused_without_checks(generate.clone(), Refusal::TooMany { kind, limit: KEYS_MAX });
    let one = *world.state.keys.keys().last().expect("there are some");
    world.state.keys.remove(&one);
    world.accepted_without_checks(generate);
}

/// Makes keys of these numbers, and returns the last one.
fn add_keys(world: &mut ScenarioWorld, numbers: std::ops::Range<usize>, expires_at: Option<Millis>) -> KeyId {
    let mut last = None;
    for number in numbers {
        let mut ask = generate_key(world.merchant_id, 0, expires_at);
        set_digest(&mut ask, number);
        let outcome = world.step(&ask).expect("there is room for a key");
        let Outcome::Effective { answer: Answer::Key { key_id, .. }, .. } = outcome else { panic!("{outcome:?}") };
        last = Some(key_id);
    }
    last.expect("there are some")
}

fn set_digest(ask: &mut Ask, number: usize) {
    if let till_domain::command::Command::GenerateKey(command) = &mut ask.command {
        command.digest.0[..8].copy_from_slice(&number.to_be_bytes());
    }
}

#[test]
fn configuring_a_method_says_whether_it_changed_anything() {
    let mut world = ScenarioWorld::open();
    let card = PaymentMethod::Card;
    world.when(configure(card, Integration::initial())).changes_nothing(Answer::Changed(false));
    world.when(configure(card, with_fee(100, 5))).answers(Answer::Changed(true));
    world.when(configure(card, with_fee(100, 5))).changes_nothing(Answer::Changed(false));
    assert_eq!(world.state.integrations[&PaymentMethod::Installment], Integration::initial());
}

//! Accounts at acquirers: opened from their rows and the vault.

use till_actors::Secret;
use till_actors::acquirer::{AccountSecrets, AcquirerUnavailable, UnansweredOutcome};
use till_domain::acquirer::{AccountMode, AccountSecret, AcquirerName, AcquirerRef, CardEntry};
use till_domain::command::{AcquirerChange, AddAcquirer, Caller, Command, KnownAccount, PublicAddress, UpdateAcquirer};
use till_domain::event::Answer;
use till_domain::ids::AcquirerId;
use till_domain::merchant::{Integration, PaymentMethod};
use till_domain::payment::PaymentStatus;
use till_domain::text::Name;
use till_storage::family::Family;
use till_storage::vault::{AccountSecretOf, VaultKey};
use zeroize::Zeroizing;

use crate::acquirer::CallTreatment;
use crate::shop::{TestShop, by};
use crate::world::{EngineWorld, Settings, done, eventually};

const FIRST: &str = "sk_test_first_0123456789";
const NEXT: &str = "sk_test_next_0123456789";
const OF_NOTICES: &str = "whsec_0123456789";

fn known() -> KnownAccount {
    let secret_hint = "sk_test_...6789".to_owned();
    KnownAccount { mode: AccountMode::Test, account: Some("acct_1".to_owned()), secret_hint }
}

fn secrets(calls: &str, notices: Option<&str>) -> Secret {
    let text = |text: &str| Zeroizing::new(text.to_owned());
    Secret::OfAccount(AccountSecrets { calls: Some(text(calls)), notices: notices.map(text) })
}

impl EngineWorld {
    pub(crate) async fn change_account(
        &self,
        shop: &TestShop,
        change: AcquirerChange,
        secret: Option<Secret>,
    ) -> Answer {
        let request = by(Caller::Operator, Command::ChangeAcquirer(shop.merchant_id, change));
        done(self.engine.submit(shop.merchant_id, request, secret).await)
    }

    /// A merchant whose cards are at an account.
    async fn with_account() -> (EngineWorld, TestShop, AcquirerId) {
        EngineWorld::with_account_and(Settings::default()).await
    }

    pub(crate) async fn with_account_and(settings: Settings) -> (EngineWorld, TestShop, AcquirerId) {
        let world = EngineWorld::start_with(settings);
        let shop = world.open_shop().await;
        let id = world.open_account(&shop).await;
        (world, shop, id)
    }

    /// An account, at which the merchant's cards are from now on.
    pub(crate) async fn open_account(&self, shop: &TestShop) -> AcquirerId {
        let command = AddAcquirer {
            acquirer: AcquirerName::Stripe,
            name: Name::new("Bangkok").expect("a name"),
            known: known(),
            card_entry: CardEntry::Number,
            has_webhook_secret: true,
        };
        let secrets = secrets(FIRST, Some(OF_NOTICES));
        let Answer::Acquirer(id) = self.change_account(shop, AcquirerChange::Add(command), Some(secrets)).await else {
            panic!("no account was added")
        };
        self.configure_cards(shop, AcquirerRef::Account(AcquirerName::Stripe, id)).await;
        id
    }

    /// Gives an account another secret, as the operator does.
    pub(crate) async fn replace_secret(&self, shop: &TestShop, acquirer_id: AcquirerId) {
        let (name, known, card_entry, has_webhook_secret) = (None, Some(known()), None, false);
        let update = UpdateAcquirer { acquirer_id, name, known, card_entry, has_webhook_secret };
        self.change_account(shop, AcquirerChange::Update(update), Some(secrets(NEXT, None))).await;
        self.engine.accounts().renew(acquirer_id, till_domain::time::Millis(0));
    }

    pub(crate) async fn configure_cards(&self, shop: &TestShop, acquirer: AcquirerRef) {
        let integration = Integration { acquirer, ..Integration::initial() };
        let account = acquirer.account_id().map(|id| (id, PublicAddress::Https));
        let command = Command::ConfigurePaymentMethod(PaymentMethod::Card, integration, account);
        done(self.submit(shop.merchant_id, by(Caller::Operator, command)).await);
    }

    fn vault_has(&self, shop: &TestShop, acquirer_id: AcquirerId) -> bool {
        let merchant = shop.merchant_id;
        let key = |secret| VaultKey::AccountSecret { merchant, of: AccountSecretOf { acquirer_id, secret } }.encode();
        let keys = [key(AccountSecret::Calls), key(AccountSecret::Notices)];
        self.store.dump(Family::Vault).iter().any(|(found, _)| keys.iter().any(|key| found.as_slice() == key))
    }

    fn calls_with(&self, secret: &str) -> Vec<String> {
        let opened = self.connector.opened().into_iter().filter(|opened| opened.secret == secret);
        opened.flat_map(|opened| opened.script.calls_made()).collect()
    }
}

#[actix_rt::test]
async fn a_payment_is_made_at_its_account() {
    let (world, shop, id) = EngineWorld::with_account().await;
    assert!(world.connector.opened().is_empty(), "nothing is opened before it is needed");
    for _ in 0..2 {
        let answer = world.pay(&shop, |initiate| initiate).await;
        let payment = world.settles_down_as(&shop, answer, PaymentStatus::Successful).await;
        assert_eq!(payment.acquirer, AcquirerRef::Account(AcquirerName::Stripe, id));
    }
    let [opened] = &world.connector.opened()[..] else { panic!("one secret is used") };
    assert_eq!(opened.acquirer_id, id);
    assert_eq!(opened.secret, FIRST);
    assert_eq!((opened.script.calls(), world.script.calls()), (2, 0), "the sandbox is not called");
}

#[actix_rt::test]
async fn a_call_without_answer_is_repeated_with_the_secret_that_came_meanwhile() {
    let (world, shop, id) = EngineWorld::with_account().await;
    let settled = world.pay(&shop, |initiate| initiate).await;
    world.settles_down_as(&shop, settled, PaymentStatus::Successful).await;
    let script = world.connector.opened()[0].script.clone();
    script.do_not_answer(Some(shop.merchant_id));
    let waiting = world.pay(&shop, |initiate| initiate).await;
    eventually("it is called", || script.calls() > 1).await;
    world.replace_secret(&shop, id).await;
    world.clock.pass_seconds(60);
    world.settles_down_as(&shop, waiting, PaymentStatus::Successful).await;
    let opened: Vec<_> = world.connector.opened().into_iter().map(|opened| opened.secret).collect();
    assert_eq!(opened, [FIRST, NEXT]);
    assert_eq!(world.calls_with(NEXT).len(), 2, "it is looked up and made");
}

#[actix_rt::test]
async fn a_call_under_way_keeps_its_secret() {
    let (world, shop, id) = EngineWorld::with_account().await;
    let first = world.pay(&shop, |initiate| initiate).await;
    world.settles_down_as(&shop, first, PaymentStatus::Successful).await;
    let script = world.connector.opened()[0].script.clone();
    let (release, released) = std::sync::mpsc::channel::<()>();
    script.next([CallTreatment::After(Box::new(move || released.recv().expect("it is released")))]);
    let under_way = world.pay(&shop, |initiate| initiate).await;
    eventually("the call is under way", || script.calls() == 2).await;
    world.replace_secret(&shop, id).await;
    release.send(()).expect("it waits");
    world.settles_down_as(&shop, under_way, PaymentStatus::Successful).await;
    assert_eq!((script.calls(), world.calls_with(NEXT).len()), (2, 0));
}

#[actix_rt::test]
async fn payments_go_on_at_their_account_after_a_restart() {
    let (world, shop, id) = EngineWorld::with_account().await;
    let answer = world.pay(&shop, |initiate| initiate.authorize_only()).await;
    world.settles_down_as(&shop, answer, PaymentStatus::Authorized).await;
    let world = world.restart();
    world.configure_cards(&shop, AcquirerRef::Sandbox).await;
    let answer = world.pay(&shop, |initiate| initiate).await;
    let payment = world.settles_down_as(&shop, answer, PaymentStatus::Successful).await;
    assert_eq!(payment.acquirer, AcquirerRef::Sandbox);
    assert!(world.connector.opened().iter().all(|opened| opened.acquirer_id == id));
}

#[actix_rt::test]
async fn a_removed_account_leaves_no_secret() {
    let (world, shop, id) = EngineWorld::with_account().await;
    world.configure_cards(&shop, AcquirerRef::Sandbox).await;
    assert!(world.vault_has(&shop, id));
    assert_eq!(world.change_account(&shop, AcquirerChange::Remove(id), None).await, Answer::Changed(true));
    assert!(!world.vault_has(&shop, id));
}

#[actix_rt::test]
async fn a_secret_is_tried_by_the_connector_of_its_acquirer() {
    let world = EngineWorld::start();
    let (outcome, reason) = (UnansweredOutcome::CredentialsRefused, String::new());
    let refused = AcquirerUnavailable { outcome, reason };
    world.connector.answer_trials(FIRST, Ok("acct_1".to_owned()));
    world.connector.answer_trials(NEXT, Err(refused.clone()));
    let acquirers = world.engine.acquirers();
    let check = |name, secret: &str| acquirers.check(name, Zeroizing::new(secret.to_owned()), AccountMode::Live);
    assert_eq!(check(AcquirerName::Stripe, FIRST).await, Ok("acct_1".to_owned()));
    assert_eq!(check(AcquirerName::Stripe, NEXT).await, Err(refused));
    let unanswered = check(AcquirerName::Stripe, OF_NOTICES).await.map_err(|error| error.outcome);
    assert_eq!(unanswered, Err(UnansweredOutcome::Unknown));
    let unconnected = check(AcquirerName::Sandbox, FIRST).await.map_err(|error| error.outcome);
    assert_eq!(unconnected, Err(UnansweredOutcome::NotSent));
}

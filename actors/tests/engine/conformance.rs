//! The scripted acquirer, which forgets what it was asked and fails as it is told, keeps the promises of an acquirer.

use std::cell::Cell;
use std::sync::Arc;
use till_actors::acquirer::{Instrument, NamedCall};
use till_domain::card::CardExpiry;
use till_domain::command::RequiredAction;
use till_domain::customer_action::CustomerStep;
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::money::{AmountMinor, Money};
use till_sandbox::book::MemoryBook;
use till_sandbox::{ActionId, ActionOutcome, PendingEnd, PlayedAcquirer, SandboxAcquirer};
use till_storage::vault::CardNumber;

use crate::acquirer::{CallTreatment, Preparing, ScriptHandle, ScriptedAcquirer};
use crate::promises::Conformance;

fn card(digits: &str) -> Instrument {
    Instrument::Card {
        number: CardNumber::parse(digits).expect("a card number"),
        expiry: CardExpiry { year: 2030, month: 12 },
        security_code: None,
        is_saved: false,
    }
}

fn action_id(required: &RequiredAction) -> ActionId {
    let CustomerStep::Redirect(address) = &required.step else { panic!("{required:?} is no address") };
    let (_, id) = address.as_str().rsplit_once('/').expect("a path");
    id.parse().expect("the id of an action")
}

#[actix_rt::test]
async fn the_scripted_acquirer_keeps_the_promises_of_an_acquirer() {
    check(ScriptHandle::default()).await;
}

#[actix_rt::test]
async fn the_scripted_acquirer_keeps_them_when_it_prepares_authorizations() {
    let script = ScriptHandle::default();
    script.prepare(Preparing::WithPage);
    check(script).await;
}

async fn check(script: ScriptHandle) {
    let merchant = MerchantId::from_bytes([1; 16]);
    let sandbox = Arc::new(SandboxAcquirer::start(MemoryBook::new()).expect("a thread"));
    let (seen, money) = (Cell::new(0), AmountMinor::new(100).expect("an amount"));
    let conformance = Conformance {
        acquirer: &ScriptedAcquirer { sandbox: Arc::clone(&sandbox), script: script.clone() },
        merchant,
        money: Money { amount: money, currency: "THB".parse().expect("a currency") },
        new_payment: &|| PaymentId::from_bytes([seen.replace(seen.get() + 1); 16]),
        approved: &|| card("4242424242424242"),
        declined: &|| card("4000000000009995"),
        asking: &|| card("4000002760003184"),
        pending: &|| card("4000000000007726"),
        act: &|required| {
            let acted = sandbox.act_on_page(action_id(required), ActionOutcome::Succeed);
            Box::pin(async move { acted.await.map(|_| ()) })
        },
        end_refund: &|reference: NamedCall| {
            let ended = sandbox.end_pending(merchant, reference, PendingEnd::Completed);
            Box::pin(async move { ended.await.map(|_| ()) })
        },
        pays_out: true,
        next_fault: &|fault| {
            script.next([CallTreatment::Fault(fault)]);
            true
        },
        end_keys: &|| script.end_keys(),
    };
    conformance.check().await.expect("kept");
}

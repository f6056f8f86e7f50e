//! While nothing crashes or times out, the acquirer is called once for each effect.

use till_actors::acquirer::{NamedCall, PaymentStep};
use till_domain::command::{Caller, CapturePayment, Command, RefundPayment};
use till_domain::event::Answer;
use till_domain::ids::{PaymentId, RefundId};
use till_domain::money::AmountMinor;
use till_domain::payment::{PaymentRef, PaymentStatus};
use till_storage::family::Family;

use crate::shop::{PRICE_MINOR, TestShop, by};
use crate::world::{EngineWorld, done, eventually};

/// The number of payments of each kind: their effects are open at the same time.
const EACH: usize = 10;

/// The operation that follows an authorization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextOperation {
    Nothing,
    Capture,
    Void,
    Reverse,
    Refund,
}

impl NextOperation {
    /// Every operation, several times.
    fn all() -> Vec<NextOperation> {
        [
            NextOperation::Nothing,
            NextOperation::Capture,
            NextOperation::Void,
            NextOperation::Reverse,
            NextOperation::Refund,
        ]
        .repeat(EACH)
    }

    fn is_captured_at_once(self) -> bool {
        !matches!(self, NextOperation::Capture | NextOperation::Void)
    }

    fn authorized_as(self) -> PaymentStatus {
        if self.is_captured_at_once() { PaymentStatus::Successful } else { PaymentStatus::Authorized }
    }

    /// The commands that lead to it.
    fn commands(self, payment: PaymentId) -> Vec<Command> {
        let payment = PaymentRef::Own(payment);
        match self {
            NextOperation::Nothing => Vec::new(),
            NextOperation::Capture => vec![Command::CapturePayment(CapturePayment { payment, amount: None })],
            NextOperation::Void => vec![Command::VoidPayment(payment)],
            NextOperation::Reverse => vec![Command::ReversePayment(payment)],
            NextOperation::Refund => [1_000, PRICE_MINOR - 1_000].map(|minor| part(&payment, minor)).to_vec(),
        }
    }

    /// The calls to the acquirer after the authorization.
    fn calls(self, payment: PaymentId, refunds: &[RefundId]) -> Vec<String> {
        let call = |name: &str, step| format!("{name} as {}", NamedCall::first(payment, step));
        match self {
            NextOperation::Nothing => Vec::new(),
            NextOperation::Capture => vec![call("capture", PaymentStep::Capture)],
            NextOperation::Void => vec![call("void", PaymentStep::Void)],
            NextOperation::Reverse => vec![call("refund", PaymentStep::Reverse)],
            NextOperation::Refund => {
                refunds.iter().map(|refund| call("refund", PaymentStep::Refund(*refund))).collect()
            }
        }
    }
}

fn part(payment: &PaymentRef, minor: u64) -> Command {
    let amount = AmountMinor::new(minor);
    Command::RefundPayment(RefundPayment { payment: payment.clone(), amount, external_id: None, reason: None })
}

/// Pays, and returns the payment once it is authorized.
async fn authorized(world: &EngineWorld, shop: &TestShop, operation: NextOperation) -> PaymentId {
    let answer =
        world.pay(shop, |words| if operation.is_captured_at_once() { words } else { words.authorize_only() }).await;
    world.settles_down_as(shop, answer, operation.authorized_as()).await.id
}

/// Asks for the operation, and returns the refunds that result.
async fn ask(world: &EngineWorld, shop: &TestShop, operation: NextOperation, payment: PaymentId) -> Vec<RefundId> {
    let mut refunds = Vec::new();
    for command in operation.commands(payment) {
        let request = by(Caller::ApiKey(shop.key_id), command);
        if let Answer::Refund(refund) = done(world.submit(shop.merchant_id, request).await) {
            refunds.push(refund);
        }
    }
    refunds
}

async fn everything_is_carried_out(world: &EngineWorld, shop: &TestShop) {
    let is_idle = || world.count(Family::Effects, shop) == 0 && world.engine.running_effects() == 0;
    eventually("everything is carried out", is_idle).await;
}

#[actix_rt::test]
async fn each_effect_is_one_call_to_the_acquirer_even_after_a_restart() {
    let (world, shop) = EngineWorld::with_shop().await;
    let mut expected = Vec::new();
    let mut payments = Vec::new();
    for operation in NextOperation::all() {
        let payment = authorized(&world, &shop, operation).await;
        expected.push(format!("authorize as {}", NamedCall::first(payment, PaymentStep::Authorize)));
        payments.push((operation, payment));
    }
    for (operation, payment) in payments {
        let refunds = ask(&world, &shop, operation, payment).await;
        expected.extend(operation.calls(payment, &refunds));
    }
    everything_is_carried_out(&world, &shop).await;
    let mut made = world.script.calls_made();
    made.sort();
    expected.sort();
    assert_eq!(made, expected);
    let world = world.restart();
    authorized(&world, &shop, NextOperation::Nothing).await;
    everything_is_carried_out(&world, &shop).await;
    assert_eq!(world.script.calls(), 1, "that of the payment after the restart: {:?}", world.script.calls_made());
}

//! The invariants that hold after every command.

use crate::statements;
use crate::world::ScenarioWorld;
use std::collections::{BTreeMap, BTreeSet};
use till_domain::acquirer::AcquirerUse;
use till_domain::activity::Actor;
use till_domain::apply::{apply_rows, apply_state};
use till_domain::card::TokenUsage;
use till_domain::checkout::{Checkout, CheckoutStatus};
use till_domain::customer::{CustomerFields, NamedBy, OTHER_EMAILS_MAX};
use till_domain::customer_action::AuthenticationStatus;
use till_domain::dispute::{DisputeStatus, OpenDispute};
use till_domain::effect::{EffectId, EffectKind, Timer, TimerKind};
use till_domain::event::{Answer, Event, Mutation};
use till_domain::ids::{AcquirerId, CardId, CheckoutId, CustomerId, IdPosition, PaymentId, RawId, TokenId};
use till_domain::ledger::{Account, BalanceTotals, Cause, Direction, Entry, EntryStatus, Transaction};
use till_domain::metadata::{ItemHash, MetadataPath, MetadataRecord, MetadataSet, SetNumber};
use till_domain::money::AMOUNT_MAX_MINOR;
use till_domain::payment::{CaptureMode, CaptureTime, Payment, PaymentAction, PaymentStatus};
use till_domain::payout::PayoutStatus;
use till_domain::records::{
    AcquirerAccounts, AcquirerUses, Activities, Answers, AnyKey, ApiKeys, Balances, Cards, CardsByExternalId,
    CardsByFingerprint, CheckoutNeighbors, Checkouts, CheckoutsByExternalId, CheckoutsByStatus, CurrentPlan,
    CustomerActions, CustomerCards, CustomerTokens, Customers, CustomersByEmail, CustomersByExternalId,
    CustomersByMobile, CustomersByOtherEmail, Disputes, DisputesByPayment, DisputesByStatus, Effects, Entries,
    Installations, Integrations, Invoices, InvoicesByExternalId, MemoryRows, MerchantState, Metadata,
    MetadataByCreation, MetadataDocuments, MetadataGarbage, MetadataItems, MetadataPositions, MetadataSets,
    NewestCheckoutsByCustomer, NewestCheckoutsByEmail, NewestCheckoutsByMobile, OpenEvidence, OpenPayouts, Payments,
    PaymentsByExternalId, Payouts, PayoutsByExternalId, PayoutsByStatus, Preparations, Profiles, QueuedTokens, Refunds,
    RefundsByExternalId, RefundsByPayment, RefundsByStatus, Sessions, Single, Table, TestClocks, Timers, TokenQueues,
    TokenUses, Tokens, Topups, TopupsByExternalId, Transactions, Users,
};
use till_domain::refund::{Refund, RefundStatus};
use till_domain::team::SeatChange;
use till_domain::time::Millis;

/// Checks everything, the whole log included. Its cost grows with the log.
pub(crate) fn check(world: &ScenarioWorld) {
    check_replay(world);
    check_order(&world.log);
    check_mirrors(world);
    check_accounts(world);
    check_ledger(world);
    check_payments(world);
    check_payment_indexes(world);
    check_refunds(world);
    check_disputes(world);
    check_payouts(world);
    check_checkouts(world);
    statements::check(world);
    check_customers(world);
    check_timers(world);
    check_activity(world);
    check_references(world);
    check_metadata(world);
}

/// Every entry of the activity log has its index rows, and there are no others.
fn check_activity(world: &ScenarioWorld) {
    let mut expected: BTreeSet<AnyKey> = BTreeSet::new();
    for activity in world.all::<Activities>() {
        let id = activity.id;
        expected.insert(AnyKey::ActivitiesByType((activity.activity_type, id)));
        expected.insert(AnyKey::ActivitiesByObject((activity.object, id)));
        expected.extend(activity.parent.map(|parent| AnyKey::ActivitiesByParent((parent, id))));
        let actor_email = if let Actor::User { email } = &activity.actor { email.clone() } else { None };
        for email in activity.user_email.into_iter().chain(actor_email) {
            expected.extend([AnyKey::ActivitiesByEmail((email, id)), AnyKey::ActivitiesWithEmail(id)]);
        }
        match activity.actor {
            Actor::ApiKey(key_id) => _ = expected.insert(AnyKey::ActivitiesByActorKey((key_id, id))),
            Actor::User { email } => {
                expected.extend(email.map(|email| AnyKey::ActivitiesByActorEmail((email, id))));
            }
            Actor::System => {}
        }
    }
    let is_index = |key: &&AnyKey| {
        matches!(
            key,
            AnyKey::ActivitiesByType(_)
                | AnyKey::ActivitiesByObject(_)
                | AnyKey::ActivitiesByParent(_)
                | AnyKey::ActivitiesByEmail(_)
                | AnyKey::ActivitiesWithEmail(_)
                | AnyKey::ActivitiesByActorEmail(_)
                | AnyKey::ActivitiesByActorKey(_)
        )
    };
    let found: BTreeSet<AnyKey> = world.rows.iter().map(|(key, _)| key).filter(is_index).cloned().collect();
    assert_eq!(found, expected);
    check_sweeping(world);
}

/// Every payment has its index rows, and there are no others; one that is PENDING is found by its open effect.
fn check_payment_indexes(world: &ScenarioWorld) {
    let mut expected: BTreeSet<AnyKey> = BTreeSet::new();
    for payment in world.all::<Payments>() {
        let (id, method) = (payment.id, payment.instrument.method());
        expected.insert(AnyKey::PaymentsByAmount((payment.money.amount.get(), id)));
        expected.extend(payment.customer_id.map(|customer_id| AnyKey::PaymentsByCustomer((customer_id, id))));
        let digits = payment.instrument.card().map(|card| card.last_digits.as_bytes().to_vec());
        let digits = digits.map(|digits| digits.try_into().expect("a card has four last digits"));
        expected.extend(digits.map(|digits| AnyKey::PaymentsByLastDigits((digits, id))));
        let day = |at: Millis| CaptureTime::Day(u32::try_from(at.0 / 86_400_000).expect("the simulated time is near"));
        let is_late = |at: Millis| at.0 - payment.created_at.0 > 60_000;
        let time = |at: Millis| if is_late(at) { day(at) } else { CaptureTime::AtOnce };
        expected.extend(payment.capture.map(|capture| AnyKey::PaymentsByCapture((time(capture.at), id))));
        if payment.status == PaymentStatus::Pending {
            assert!(world.find::<Effects>(EffectId::operation(id)).is_some(), "{id} is PENDING and waits for nobody");
        } else {
            expected.insert(AnyKey::PaymentsByStatus((payment.status, method, id)));
        }
    }
    let is_index = |key: &&AnyKey| {
        matches!(
            key,
            AnyKey::PaymentsByStatus(_)
                | AnyKey::PaymentsByAmount(_)
                | AnyKey::PaymentsByCustomer(_)
                | AnyKey::PaymentsByLastDigits(_)
                | AnyKey::PaymentsByCapture(_)
        )
    };
    let found: BTreeSet<AnyKey> = world.rows.iter().map(|(key, _)| key).filter(is_index).cloned().collect();
    assert_eq!(found, expected);
}

/// The checks of one mutation that take no longer than its decision took.
pub(crate) fn check_step(before: (&MerchantState, &Mutation), after: &MerchantState) {
    let (state, mutation) = before;
    assert!(mutation.at >= state.last_at, "time of the log goes back");
    check_ids(state.last_id, mutation);
    for event in &mutation.events {
        if let Event::TopupAdded { transaction, .. }
        | Event::InvoiceCharged { transaction, .. }
        | Event::PayoutRequested { transaction, .. }
        | Event::PaymentCaptured { transaction, .. }
        | Event::DisputeOpened { transaction, .. }
        | Event::RefundRequested { transaction, .. } = event
        {
            check_transaction(transaction);
        }
    }
    check_webhook_events(state.webhook_events, mutation, after.webhook_events);
    let totals = after.balance.unwrap_or_default();
    for event in &mutation.events {
        let left_minor = totals.available_minor() + totals.pending_minor();
        match event {
            Event::PayoutRequested { .. } => assert!(totals.available_minor() >= 0, "a payout overdraws"),
            Event::RefundRequested { uncovered_minor: 1.., .. } => assert!(left_minor >= 0, "a refund overdraws"),
            _ => {}
        }
    }
    assert!(totals.uncovered_debit_minor <= totals.held_debit_minor);
    let credit = [totals.effective_credit_minor, totals.held_credit_minor, after.reserved_minor];
    assert!(credit.into_iter().map(u128::from).sum::<u128>() <= u128::from(AMOUNT_MAX_MINOR), "a total outgrew");
    let debit = [totals.effective_debit_minor, totals.held_debit_minor];
    let is_charged = mutation.events.iter().any(|event| matches!(event, Event::InvoiceCharged { .. }));
    let has_outgrown = debit.into_iter().map(u128::from).sum::<u128>() > u128::from(AMOUNT_MAX_MINOR);
    assert!(!(is_charged && has_outgrown), "an invoice makes the debits outgrow");
}

/// Webhook events are numbered without a gap, and one follows each final change of a payment or refund.
fn check_webhook_events(before: u64, mutation: &Mutation, after: u64) {
    let mut numbers = before;
    for event in &mutation.events {
        if let Event::WebhookEventRecorded(event) = event {
            numbers += 1;
            assert_eq!(event.sequence, numbers, "a gap among events");
            assert_eq!(event.created_at, mutation.at);
        }
    }
    assert_eq!(numbers, after, "the state counts other events than there are");
    let ends = mutation.events.iter().filter(|event| {
        matches!(
            event,
            Event::PaymentCaptured { .. }
                | Event::PaymentFailed { .. }
                | Event::PaymentExpired { .. }
                | Event::PaymentVoided { .. }
                | Event::PaymentReversed { .. }
                | Event::RefundConfirmed { .. }
                | Event::RefundFailed { .. }
                | Event::PayoutPaid { .. }
                | Event::PayoutFailed { .. }
                | Event::DisputeOpened { .. }
                | Event::DisputeClosed(_)
                | Event::CheckoutCompleted { .. }
                | Event::CheckoutExpired { .. }
        )
    });
    let ends = u64::try_from(ends.count()).expect("few");
    assert!(numbers - before >= ends, "an end of a payment or refund that no webhook is told");
}

/// The log alone gives the same state and rows.
fn check_replay(world: &ScenarioWorld) {
    let mut state = MerchantState::default();
    let mut rows = MemoryRows::default();
    for mutation in &world.log {
        apply_rows(mutation, &mut rows).expect("a log that was written live can be replayed");
        apply_state(mutation, &mut state);
    }
    assert_eq!(state, world.state, "replayed state");
    assert!(rows == world.rows, "replayed rows");
}

/// Times never go back; ids grow strictly.
fn check_order(log: &[Mutation]) {
    let mut at = log.first().map(|mutation| mutation.at).unwrap_or_default();
    let mut last_id = IdPosition::default();
    for mutation in log {
        assert!(mutation.at >= at, "time of the log goes back");
        check_ids(last_id, mutation);
        at = mutation.at;
        last_id = mutation.last_id;
    }
}

/// The ids of a mutation are after every earlier one and are all different.
fn check_ids(earlier: IdPosition, mutation: &Mutation) {
    assert!(mutation.last_id >= earlier, "the last id goes back");
    let mut positions: Vec<IdPosition> = mutation.events.iter().flat_map(made_by).map(RawId::position).collect();
    positions.sort_unstable();
    let made = positions.len();
    positions.dedup();
    assert_eq!(positions.len(), made, "an id is made twice");
    for position in positions {
        assert!(position > earlier && position <= mutation.last_id, "an id is out of order");
    }
}

/// The ids that an event creates.
fn made_by(event: &Event) -> Vec<RawId> {
    match event {
        Event::KeyGenerated { merchant_id: _, key } => vec![key.id.raw()],
        Event::InstallationAdded(installation) => vec![installation.id.raw()],
        Event::TopupAdded { topup, transaction } => [vec![topup.id.raw()], posted_by(transaction)].concat(),
        Event::InvoiceCharged { invoice, transaction } => [vec![invoice.id.raw()], posted_by(transaction)].concat(),
        Event::CardTokenized(token) => vec![token.id.raw()],
        Event::SessionCreated { session, token_used_up: _ } => vec![session.id.raw()],
        Event::CustomerCreated(customer) => vec![customer.id.raw()],
        Event::PaymentInitiated { payment, effect: _ } => vec![payment.id.raw()],
        Event::CheckoutStarted(checkout) => vec![checkout.id.raw()],
        Event::PaymentCaptured { payment_id: _, released_minor: _, capture: _, transaction, activity } => {
            [posted_by(transaction), vec![activity.id.raw()]].concat()
        }
        Event::UserInvited { invitation, activity } => vec![invitation.id.raw(), activity.id.raw()],
        Event::InvitationAccepted { user, activity } => vec![user.id.raw(), activity.id.raw()],
        Event::SeatChanged { user_id: _, change: SeatChange::ResetAllowed(reset), at: _ } => vec![reset.id.raw()],
        Event::UserRemoved { user_id: _, activity } | Event::PlanSwitched { choice: _, activity } => {
            vec![activity.id.raw()]
        }
        Event::CardSaved { card, is_default: _, at: _ } => vec![card.id.raw()],
        Event::StatementClosed { statement } => vec![statement.id.raw()],
        Event::WebhookEventRecorded(event) => vec![event.id.raw()],
        Event::PaymentVoided { payment_id: _, released_minor: _, activity }
        | Event::PaymentReversed { activity, .. } => {
            vec![activity.id.raw()]
        }
        Event::RefundRequested { refund, transaction, uncovered_minor: _, activity } => {
            [vec![refund.id.raw(), activity.id.raw()], posted_by(transaction)].concat()
        }
        Event::PayoutRequested { payout, transaction, activity } => {
            [vec![payout.id.raw(), activity.id.raw()], posted_by(transaction)].concat()
        }
        Event::DisputeOpened { dispute, transaction, uncovered_minor: _ } => {
            [vec![dispute.id.raw()], posted_by(transaction)].concat()
        }
        Event::DisputeChallenged { activity, .. } | Event::DisputeEscalated { activity, .. } => vec![activity.id.raw()],
        Event::DisputeClosed(closing) => closing.activities.iter().map(|activity| activity.id.raw()).collect(),
        Event::RefundConfirmed { activity, .. } => activity.iter().map(|activity| activity.id.raw()).collect(),
        Event::MetadataSaved { record, timer_was: None, .. } => vec![record.id.raw()],
        Event::MerchantCreated { .. }
        | Event::TestClockSet { .. }
        | Event::SuspensionChanged { .. }
        | Event::CardNumbersInIdentifiersChanged { .. }
        | Event::KeyRevoked { .. }
        | Event::PaymentMethodConfigured { .. }
        | Event::BalanceOpened
        | Event::CustomerUpdated { .. }
        | Event::CustomerRemoved { .. }
        | Event::SeatChanged { .. }
        | Event::CardRenewed { .. }
        | Event::CardForgotten { .. }
        | Event::PaymentAuthorized { .. }
        | Event::PaymentFailed { .. }
        | Event::DefaultCardSet { .. }
        | Event::TransactionSettled { .. }
        | Event::OperationRequested { .. }
        | Event::OperationRefused { .. }
        | Event::PaymentExpired { .. }
        | Event::LateSuccess { .. }
        | Event::LateCallEnded { .. }
        | Event::ActionRequired { .. }
        | Event::ActionTaken { .. }
        | Event::ActionCancelRequested { .. }
        | Event::CallPrepared(_)
        | Event::CardTold { .. }
        | Event::SessionCanceled { .. }
        | Event::ColorChanged { .. }
        | Event::CheckoutPaid { .. }
        | Event::CheckoutReopened { .. }
        | Event::CheckoutClosed { .. }
        | Event::CheckoutCompleted { .. }
        | Event::CheckoutExpired { .. }
        | Event::CheckoutCustomerErased { .. }
        | Event::RefundFailed { .. }
        | Event::PayoutPaid { .. }
        | Event::PayoutFailed { .. }
        | Event::EvidenceTaken { .. }
        | Event::DebitsUncovered { .. }
        | Event::DebitSettled { .. }
        | Event::KeyRenamed { .. }
        | Event::UserUpdated(_)
        | Event::MetadataSaved { .. }
        | Event::MetadataSetFormed { .. }
        | Event::MetadataRepeatsDropped { .. }
        | Event::MetadataItemAdded { .. }
        | Event::MetadataItemRemoved { .. }
        | Event::MetadataEnded { .. }
        | Event::MetadataTimerMoved { .. }
        | Event::MetadataSwept { .. } => Vec::new(),
        Event::SessionsSwept { .. }
        | Event::StatementPeriodOpened { .. }
        | Event::TokensSwept { .. }
        | Event::AnswersSwept { .. }
        | Event::InstallationUpdated(_)
        | Event::InstallationRemoved { .. }
        | Event::TokenQueued { .. }
        | Event::TokenKept { .. }
        | Event::TokenUsed { .. }
        | Event::TokensErased { .. }
        | Event::CustomerTokensErased { .. }
        | Event::WebhookSaved { .. }
        | Event::AcquirerSaved { .. }
        | Event::AcquirerRemoved { .. }
        | Event::WebhookEventsSwept { .. } => Vec::new(),
    }
}

fn posted_by(transaction: &Transaction) -> Vec<RawId> {
    let entries = transaction.legs.iter().map(|leg| leg.entry_id.raw());
    std::iter::once(transaction.id.raw()).chain(entries).collect()
}

/// The state in memory equals the rows.
fn check_mirrors(world: &ScenarioWorld) {
    let state = &world.state;
    assert_eq!(world.find::<Profiles>(Single), state.profile);
    assert_eq!(world.find::<Balances>(Single), state.balance);
    assert_eq!(world.find::<TestClocks>(world.merchant_id), state.test_clock);
    assert_eq!(world.all::<ApiKeys>(), state.keys.values().cloned().collect::<Vec<_>>());
    assert_eq!(world.all::<Installations>(), state.installations.values().cloned().collect::<Vec<_>>());
    assert_eq!(world.all::<Users>(), state.users.values().cloned().collect::<Vec<_>>());
    assert_eq!(world.find::<CurrentPlan>(Single), state.plan);
    assert_eq!(world.all::<Integrations>(), state.integrations.values().copied().collect::<Vec<_>>());
    assert_eq!(world.all::<AcquirerAccounts>(), state.acquirers.values().cloned().collect::<Vec<_>>());
}

/// Each account knows how many of its payments are open, or of which a refund is, and when the last one was made.
fn check_accounts(world: &ScenarioWorld) {
    let (payments, refunds) = (world.all::<Payments>(), world.all::<Refunds>());
    assert_eq!(world.state.mode_of_payments.is_some(), !payments.is_empty());
    let mut uses: BTreeMap<AcquirerId, AcquirerUse> = BTreeMap::new();
    for payment in &payments {
        let Some(id) = payment.acquirer.account_id().filter(|id| world.state.acquirers.contains_key(id)) else {
            continue;
        };
        let refunds: Vec<&Refund> = refunds.iter().filter(|refund| refund.payment_id == payment.id).collect();
        let is_open = matches!(payment.status, PaymentStatus::Pending | PaymentStatus::Authorized)
            || payment.open_dispute.is_some()
            || world.find::<Effects>(EffectId::operation(payment.id)).is_some()
            || refunds.iter().any(|refund| refund.status == RefundStatus::Pending);
        let made = refunds.iter().map(|refund| refund.created_at).fold(payment.created_at, Millis::max);
        let counted = uses.entry(id).or_insert(AcquirerUse { open_payments: 0, last_at: made });
        counted.open_payments += u64::from(is_open);
        counted.last_at = counted.last_at.max(made);
    }
    let found = world.rows.iter().filter_map(|(key, row)| match key {
        AnyKey::AcquirerUses(id) => Some((*id, AcquirerUses::unwrap(row.clone()).expect("it is of this kind"))),
        _ => None,
    });
    assert_eq!(found.collect::<BTreeMap<_, _>>(), uses, "what payments mean for the removal of their account");
}

/// Every transaction is balanced, its entries have its status, and the totals are their sums.
fn check_ledger(world: &ScenarioWorld) {
    let mut entries: Vec<Entry> = Vec::new();
    for transaction in world.all::<Transactions>() {
        check_transaction(&transaction);
        entries.extend(transaction.balance_entries());
    }
    entries.sort_by_key(|entry| entry.id);
    assert_eq!(world.all::<Entries>(), entries, "entries are those of the transactions");
    assert_eq!(world.state.balance.unwrap_or_default(), sums(&entries), "totals are the sums of the entries");
}

pub(crate) fn check_transaction(transaction: &Transaction) {
    assert!(transaction.is_balanced(), "{transaction:?}");
    assert_eq!(transaction.effective_at.is_some(), transaction.status == EntryStatus::Effective);
    assert_eq!(transaction.canceled_at.is_some(), transaction.status == EntryStatus::Canceled);
    let waits_for_answer = matches!(transaction.cause, Cause::Refund(_, _) | Cause::Dispute(_, _) | Cause::Payout(_));
    let is_on_hold = transaction.status == EntryStatus::OnHold;
    assert!(transaction.settles_at.is_some() == is_on_hold || (waits_for_answer && is_on_hold));
    let net = |account: Account| transaction.legs.iter().filter(|leg| leg.account == account).map(signed).sum::<i128>();
    let accounts = [
        Account::Balance,
        Account::AcquirerClearing,
        Account::BankClearing,
        Account::Fees,
        Account::Invoices,
        Account::Interest,
    ];
    assert_eq!(accounts.into_iter().map(net).sum::<i128>(), 0, "the accounts sum to zero");
}

fn signed(leg: &till_domain::ledger::Leg) -> i128 {
    match leg.direction {
        Direction::Credit => i128::from(leg.amount.get()),
        Direction::Debit => -i128::from(leg.amount.get()),
    }
}

fn sums(entries: &[Entry]) -> BalanceTotals {
    let sum = |status: EntryStatus, direction: Direction| {
        let of = entries.iter().filter(|entry| entry.status == status && entry.direction == direction);
        of.map(|entry| entry.amount.get()).sum()
    };
    BalanceTotals {
        effective_credit_minor: sum(EntryStatus::Effective, Direction::Credit),
        effective_debit_minor: sum(EntryStatus::Effective, Direction::Debit),
        held_credit_minor: sum(EntryStatus::OnHold, Direction::Credit),
        held_debit_minor: sum(EntryStatus::OnHold, Direction::Debit),
        uncovered_debit_minor: uncovered(entries),
    }
}

/// The sum of the excesses of debits over their captures on hold. For a payment without one and for a payout, all of
/// its debits on hold.
fn uncovered(entries: &[Entry]) -> u64 {
    let mut left: BTreeMap<Option<PaymentId>, i128> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.status == EntryStatus::OnHold) {
        let payment_id = entry.cause.payment_id();
        assert!(payment_id.is_some() || entry.cause.payout_id().is_some(), "only payments and payouts hold entries");
        let minor = i128::from(entry.amount.get());
        *left.entry(payment_id).or_default() += if entry.direction == Direction::Credit { minor } else { -minor };
    }
    left.into_values().map(|left| u64::try_from(-left).unwrap_or(0)).sum()
}

/// A payment's status, effect, capture and session agree; the amount that may still be captured is reserved.
fn check_payments(world: &ScenarioWorld) {
    let payments = world.all::<Payments>();
    let mut reserved_minor = 0;
    for payment in &payments {
        check_payment(world, payment);
        if matches!(payment.status, PaymentStatus::Pending | PaymentStatus::Authorized) {
            reserved_minor += payment.reserved_minor();
        }
    }
    assert_eq!(world.state.reserved_minor, reserved_minor, "reserved is what may still be captured");
    let by_session: BTreeMap<_, _> = payments.iter().map(|payment| (payment.session_id, payment.id)).collect();
    assert_eq!(by_session.len(), payments.len(), "a session is used once");
    for session in world.all::<Sessions>() {
        assert_eq!(session.payment_id, by_session.get(&session.id).copied());
    }
    check_references_of_payments(world, &payments);
}

/// The calls that may be open for a payment that is over.
const LATE: [EffectKind; 3] = [EffectKind::VoidLate, EffectKind::RefundLate, EffectKind::CancelAction];

/// The action of a payment is kept exactly while its customer must act. A late success is given back, or has been.
fn check_action(world: &ScenarioWorld, payment: &Payment) {
    let until = world.find::<CustomerActions>(payment.id).map(|action| action.expires_at);
    assert_eq!(until, payment.open_action_until(), "{payment:?}");
    let is_challenged = payment.authentication.is_some_and(|it| it.status == AuthenticationStatus::Challenged);
    assert!(!is_challenged || payment.status == PaymentStatus::Pending, "{payment:?}");
    let Some(late) = payment.late_success else { return };
    assert_eq!(payment.authorization.as_ref().map(|authorization| authorization.at), Some(late.received_at));
    assert!(payment.capture.is_none(), "money that is given back is in no ledger");
}

/// An authorization is open as a prepared one exactly when it is one. The address of a page is known exactly while the
/// payment is pending.
fn check_preparation(world: &ScenarioWorld, payment: &Payment, open: Option<EffectKind>) {
    let prepared = world.find::<Preparations>(payment.id);
    let is_authorization = open.is_some_and(EffectKind::is_authorization);
    assert_eq!(is_authorization && prepared.is_some(), open == Some(EffectKind::AuthorizePrepared), "{payment:?}");
    let (is_pending, has_page) = (payment.status == PaymentStatus::Pending, prepared.and_then(|it| it.page).is_some());
    assert_eq!(world.pages.contains(&payment.id), is_pending && has_page, "{payment:?}");
}

pub(crate) fn check_payment(world: &ScenarioWorld, payment: &Payment) {
    let open = world.find::<Effects>(EffectId::operation(payment.id)).map(|effect| effect.kind);
    let operation = payment.operation.as_ref().map(|operation| operation.kind.effect_kind());
    match payment.status {
        PaymentStatus::Pending => assert!(open.is_some_and(EffectKind::is_authorization), "{payment:?}"),
        PaymentStatus::Authorized => {
            let is_lapse = operation.is_none() && open == Some(EffectKind::Void);
            assert!(is_lapse || open == operation, "{payment:?}");
        }
        PaymentStatus::Failed | PaymentStatus::Expired => {
            assert!(open.is_none_or(|kind| kind.is_authorization() || LATE.contains(&kind)));
            assert_eq!(operation, None);
        }
        PaymentStatus::Voided => assert!(open.is_none_or(|kind| LATE.contains(&kind)), "{payment:?}"),
        PaymentStatus::Successful
        | PaymentStatus::Reversed
        | PaymentStatus::PartiallyRefunded
        | PaymentStatus::Refunded
        | PaymentStatus::Disputed => assert_eq!(open, operation, "{payment:?}"),
    }
    check_amounts(world, payment);
    check_action(world, payment);
    check_preparation(world, payment, open);
    let has_failed = payment.status == PaymentStatus::Failed;
    let may_have_failed = matches!(payment.status, PaymentStatus::Authorized | PaymentStatus::Expired);
    assert!(payment.failure.is_some() == has_failed || may_have_failed);
    let is_over = matches!(payment.status, PaymentStatus::Failed | PaymentStatus::Expired | PaymentStatus::Voided);
    let is_pending = payment.status == PaymentStatus::Pending;
    assert!(payment.authorization.is_none() == is_pending || is_over);
    assert!(payment.instrument != till_domain::session::Instrument::UnnamedCard, "something must pay");
}

/// No payment captures more than was authorized or refunds more than was captured, and its status agrees with the
/// amounts.
fn check_amounts(world: &ScenarioWorld, payment: &Payment) {
    assert!(payment.captured_minor() <= payment.money.amount.get(), "more is captured than was authorized");
    assert!(payment.taken_back_minor() <= payment.captured_minor(), "more is taken back than was captured");
    assert!(payment.confirmed_refund_minor <= payment.refunded_minor);
    let status = payment.status_with_refunds(payment.confirmed_refund_minor);
    match payment.capture {
        None => assert!(!payment.status.ruling(PaymentAction::Settle).is_taken(), "{payment:?}"),
        Some(capture) => {
            let is_reversed = payment.status == PaymentStatus::Reversed && payment.charged_back_minor == 0;
            assert!(payment.status == status || (is_reversed && payment.refunded_minor == 0), "{payment:?}");
            let transaction = world.look_up::<Transactions>(capture.transaction_id);
            assert_eq!(transaction.status == EntryStatus::Canceled, is_reversed);
        }
    }
}

/// A refund, its transaction, its effect and its indexes agree, and the payment has their sums.
fn check_refunds(world: &ScenarioWorld) {
    let refunds = world.all::<Refunds>();
    let (mut accepted, mut confirmed) = (BTreeMap::<PaymentId, u64>::new(), BTreeMap::<PaymentId, u64>::new());
    for refund in &refunds {
        let minor = refund.money.amount.get();
        let transaction = world.look_up::<Transactions>(refund.transaction_id);
        assert_eq!(transaction.cause, Cause::Refund(refund.payment_id, refund.id));
        assert_eq!(world.find::<Effects>(refund.effect().id()).is_some(), refund.status == RefundStatus::Pending);
        assert!(world.find::<RefundsByStatus>((refund.status, refund.id)).is_some());
        assert!(world.find::<RefundsByPayment>((refund.payment_id, refund.id)).is_some());
        match refund.status {
            RefundStatus::Pending => {
                assert_eq!((transaction.status, transaction.settles_at), (EntryStatus::OnHold, None));
            }
            RefundStatus::Successful => {
                *confirmed.entry(refund.payment_id).or_default() += minor;
                let capture = world.transaction_of(refund.payment_id);
                let is_early = transaction.status == EntryStatus::Effective && capture.status == EntryStatus::OnHold;
                assert!(!is_early, "a refund is effective no earlier than its capture");
                assert_ne!(transaction.status, EntryStatus::Canceled);
            }
            RefundStatus::Failed => assert_eq!(transaction.status, EntryStatus::Canceled),
        }
        if refund.status != RefundStatus::Failed {
            *accepted.entry(refund.payment_id).or_default() += minor;
        }
        let external_id = refund.external_id.clone();
        assert!(external_id.is_none_or(|key| world.find::<RefundsByExternalId>(key) == Some(refund.id)));
    }
    assert_eq!(world.all::<RefundsByStatus>().len(), refunds.len());
    assert_eq!(world.all::<RefundsByPayment>().len(), refunds.len());
    for payment in world.all::<Payments>() {
        assert_eq!(accepted.get(&payment.id).copied().unwrap_or(0), payment.refunded_minor);
        assert_eq!(confirmed.get(&payment.id).copied().unwrap_or(0), payment.confirmed_refund_minor);
    }
}

/// A dispute, its transaction, its open call and its indexes agree, and the payment has their sums.
fn check_disputes(world: &ScenarioWorld) {
    let disputes = world.all::<Disputes>();
    let (mut open, mut charged_back) = (BTreeMap::new(), BTreeMap::<PaymentId, u64>::new());
    for dispute in &disputes {
        let minor = dispute.money.amount.get();
        let transaction = world.look_up::<Transactions>(dispute.transaction_id);
        assert_eq!(transaction.cause, Cause::Dispute(dispute.payment_id, dispute.id));
        let waits = world.find::<OpenEvidence>(dispute.id).is_some();
        assert!(!waits || (dispute.status.is_open() && dispute.evidence.is_some()), "{dispute:?}");
        assert!(world.find::<DisputesByStatus>((dispute.status, dispute.id)).is_some());
        assert!(world.find::<DisputesByPayment>((dispute.payment_id, dispute.id)).is_some());
        assert_eq!(dispute.closed_at.is_none(), dispute.status.is_open());
        match dispute.status {
            DisputeStatus::Open | DisputeStatus::Challenged | DisputeStatus::Escalated => {
                assert_eq!((transaction.status, transaction.settles_at), (EntryStatus::OnHold, None));
                let other = open.insert(dispute.payment_id, OpenDispute { id: dispute.id, amount_minor: minor });
                assert_eq!(other, None, "two disputes of a payment are open");
            }
            DisputeStatus::Won => assert_eq!(transaction.status, EntryStatus::Canceled),
            DisputeStatus::Lost | DisputeStatus::Conceded => {
                *charged_back.entry(dispute.payment_id).or_default() += minor;
                let is_capture_held = world.transaction_of(dispute.payment_id).status == EntryStatus::OnHold;
                let is_early = transaction.status == EntryStatus::Effective && is_capture_held;
                assert!(!is_early, "a charge-back is effective no earlier than its capture");
                assert_ne!(transaction.status, EntryStatus::Canceled);
            }
        }
    }
    assert_eq!(world.all::<DisputesByStatus>().len(), disputes.len());
    assert_eq!(world.all::<DisputesByPayment>().len(), disputes.len());
    for payment in world.all::<Payments>() {
        assert_eq!(open.get(&payment.id).copied(), payment.open_dispute);
        assert_eq!(charged_back.get(&payment.id).copied().unwrap_or(0), payment.charged_back_minor);
    }
}

/// A payout, its transaction, its open call and its indexes agree.
fn check_payouts(world: &ScenarioWorld) {
    let payouts = world.all::<Payouts>();
    for payout in &payouts {
        let transaction = world.look_up::<Transactions>(payout.transaction_id);
        assert_eq!(transaction.cause, Cause::Payout(payout.id));
        let (status, is_open) = match payout.status {
            PayoutStatus::Pending => (EntryStatus::OnHold, true),
            PayoutStatus::Successful => (EntryStatus::Effective, false),
            PayoutStatus::Failed => (EntryStatus::Canceled, false),
        };
        assert_eq!((transaction.status, transaction.settles_at), (status, None));
        assert_eq!(world.find::<OpenPayouts>(payout.id).is_some(), is_open);
        assert_eq!(payout.paid_at.is_some(), payout.status == PayoutStatus::Successful);
        assert_eq!(payout.failure.is_some(), payout.status == PayoutStatus::Failed);
        assert!(world.find::<PayoutsByStatus>((payout.status, payout.id)).is_some());
        let external_id = payout.external_id.clone();
        assert!(external_id.is_none_or(|key| world.find::<PayoutsByExternalId>(key) == Some(payout.id)));
    }
    assert_eq!(world.all::<PayoutsByStatus>().len(), payouts.len());
    let pending = payouts.iter().filter(|payout| payout.status == PayoutStatus::Pending);
    assert_eq!(world.all::<OpenPayouts>().len(), pending.count());
}

/// A checkout, its payments and its indexes agree; at most one of its payments is alive or keeps money.
fn check_checkouts(world: &ScenarioWorld) {
    let checkouts = world.all::<Checkouts>();
    let count = |is_such: &dyn Fn(&&Checkout) -> bool| checkouts.iter().filter(is_such).count();
    for checkout in &checkouts {
        let payments: Vec<Payment> = checkout.payments.iter().map(|id| world.payment_row(*id)).collect();
        assert!(payments.iter().all(|payment| payment.checkout_id == Some(checkout.id)));
        let is_over = |payment: &&Payment| {
            matches!(payment.status, PaymentStatus::Failed | PaymentStatus::Expired | PaymentStatus::Voided)
        };
        let over = payments.iter().filter(is_over).count();
        assert!(payments.len() - over <= 1, "two payments of {} are alive", checkout.id);
        assert!(payments.split_last().is_none_or(|(_, earlier)| earlier.iter().all(|payment| is_over(&payment))));
        let newest = payments.last();
        let is_undecided = newest.is_some_and(|payment| match payment.capture_mode {
            CaptureMode::Automatic => matches!(payment.status, PaymentStatus::Pending | PaymentStatus::Authorized),
            CaptureMode::Manual => payment.status == PaymentStatus::Pending,
        });
        assert_eq!(checkout.in_progress, is_undecided && checkout.status == CheckoutStatus::Open, "{checkout:?}");
        assert_eq!(checkout.ended_at.is_none(), checkout.status == CheckoutStatus::Open);
        assert!(world.find::<CheckoutsByStatus>((checkout.status, checkout.id)).is_some());
        check_reference_of_checkout(world, checkout, &payments);
    }
    assert_eq!(world.all::<CheckoutsByStatus>().len(), checkouts.len());
    check_named_persons(world, &checkouts);
    let holding = count(&|checkout| checkout.external_id.is_some() && has_reference(checkout));
    assert_eq!(world.all::<CheckoutsByExternalId>().len(), holding);
    let open = count(&|checkout| checkout.status == CheckoutStatus::Open);
    assert_eq!(world.state.open_checkouts, u64::try_from(open).expect("few"));
    let made: usize = checkouts.iter().map(|checkout| checkout.payments.len()).sum();
    let of_checkouts = world.all::<Payments>().into_iter().filter(|payment| payment.checkout_id.is_some());
    assert_eq!(of_checkouts.count(), made);
}

/// The open checkouts that name a person in one way are listed in the order of their start, and no others are.
fn check_named_persons(world: &ScenarioWorld, checkouts: &[Checkout]) {
    let (mut persons, mut places) = (0, 0);
    let mut check = |newest: Option<CheckoutId>, by: NamedBy, expected: Vec<CheckoutId>| {
        let place = |id| world.look_up::<CheckoutNeighbors>((id, by));
        let listed: Vec<_> = std::iter::successors(newest, |id| place(*id).older).collect();
        assert_eq!(listed, expected, "{by:?}");
        assert!(listed.iter().enumerate().all(|(at, id)| place(*id).newer == at.checked_sub(1).map(|at| listed[at])));
        (persons, places) = (persons + usize::from(newest.is_some()), places + listed.len());
    };
    let open = || checkouts.iter().rev().filter(|checkout| checkout.status == CheckoutStatus::Open);
    let named = |is_such: &dyn Fn(&CustomerFields) -> bool| {
        open().filter(|checkout| is_such(&checkout.customer)).map(|checkout| checkout.id).collect::<Vec<_>>()
    };
    for id in open().filter_map(|checkout| checkout.customer.id.clone()).collect::<BTreeSet<_>>() {
        let expected = named(&|customer| customer.id.as_ref() == Some(&id));
        check(world.find::<NewestCheckoutsByCustomer>(id), NamedBy::Customer, expected);
    }
    for email in open().filter_map(|checkout| checkout.customer.contact.email.clone()).collect::<BTreeSet<_>>() {
        let expected = named(&|customer| customer.contact.email.as_ref() == Some(&email));
        check(world.find::<NewestCheckoutsByEmail>(email), NamedBy::Email, expected);
    }
    for mobile in open().filter_map(|checkout| checkout.customer.contact.mobile.clone()).collect::<BTreeSet<_>>() {
        let expected = named(&|customer| customer.contact.mobile.as_ref() == Some(&mobile));
        check(world.find::<NewestCheckoutsByMobile>(mobile), NamedBy::Mobile, expected);
    }
    let newest = world.all::<NewestCheckoutsByCustomer>().len()
        + world.all::<NewestCheckoutsByEmail>().len()
        + world.all::<NewestCheckoutsByMobile>().len();
    assert_eq!((newest, world.all::<CheckoutNeighbors>().len()), (persons, places));
}

/// False for a checkout that expired without a payment.
fn has_reference(checkout: &Checkout) -> bool {
    checkout.status != CheckoutStatus::Expired || !checkout.payments.is_empty()
}

/// The newest payment of a checkout has its reference, and no other.
fn check_reference_of_checkout(world: &ScenarioWorld, checkout: &Checkout, payments: &[Payment]) {
    let Some(external_id) = &checkout.external_id else { return };
    if has_reference(checkout) {
        assert_eq!(world.find::<CheckoutsByExternalId>(external_id.clone()), Some(checkout.id));
    }
    let newest = checkout.newest_payment();
    for payment in payments {
        let expected = Some(external_id).filter(|_| newest == Some(payment.id));
        assert_eq!(payment.external_id.as_ref(), expected);
    }
}

fn check_references_of_payments(world: &ScenarioWorld, payments: &[Payment]) {
    check_shown_emails(world, payments);
    let named: BTreeMap<_, PaymentId> =
        payments.iter().filter_map(|payment| Some((payment.external_id.clone()?, payment.id))).collect();
    let count = payments.iter().filter(|payment| payment.external_id.is_some()).count();
    assert_eq!(named.len(), count, "an external_id names one payment");
    for (external_id, id) in named {
        assert_eq!(world.find::<PaymentsByExternalId>(external_id), Some(id));
    }
    assert_eq!(world.all::<PaymentsByExternalId>().len(), count);
}

/// The address that a payment shows leads to its customer, as long as there is one.
fn check_shown_emails(world: &ScenarioWorld, payments: &[Payment]) {
    for payment in payments {
        let (Some(id), Some(email)) = (payment.customer_id, payment.contact.email.clone()) else { continue };
        let Some(customer) = world.find::<Customers>(id) else { continue };
        let leads_there = world.find::<CustomersByEmail>(email.clone()) == Some(id)
            || world.find::<CustomersByOtherEmail>((email, id)).is_some()
            || customer.other_emails.len() == OTHER_EMAILS_MAX;
        assert!(leads_there, "{}", payment.id);
    }
}

/// An identifier, an address and a number belong to one customer at a time, and lead to that customer.
fn check_customers(world: &ScenarioWorld) {
    let customers = world.all::<Customers>();
    let count = |has: fn(&till_domain::customer::Customer) -> bool| customers.iter().filter(|one| has(one)).count();
    assert_eq!(world.all::<CustomersByExternalId>().len(), count(|one| one.external_id.is_some()));
    assert_eq!(world.all::<CustomersByEmail>().len(), count(|one| one.email.is_some()));
    let other_emails = customers.iter().map(|one| one.other_emails.len()).sum::<usize>();
    assert_eq!(world.all::<CustomersByOtherEmail>().len(), other_emails);
    assert_eq!(world.all::<CustomersByMobile>().len(), count(|one| one.mobile.is_some()));
    for customer in &customers {
        let id = Some(customer.id);
        let external_id = customer.external_id.clone();
        assert!(external_id.is_none_or(|key| world.find::<CustomersByExternalId>(key) == id));
        assert!(customer.email.clone().is_none_or(|key| world.find::<CustomersByEmail>(key) == id));
        assert!(customer.mobile.clone().is_none_or(|key| world.find::<CustomersByMobile>(key) == id));
        for email in &customer.other_emails {
            assert_ne!(Some(email), customer.email.as_ref());
            assert_eq!(world.find::<CustomersByOtherEmail>((email.clone(), customer.id)), id);
        }
        let default = customer.default_card_id.and_then(|card_id| world.find::<Cards>(card_id));
        assert_eq!(default.map(|card| card.customer_id), customer.default_card_id.map(|_| customer.id));
    }
    check_cards(world);
}

/// The saved cards of a customer are listed in order, and found by their numbers, until they are forgotten; a removed
/// customer has none.
fn check_cards(world: &ScenarioWorld) {
    let mut by_customer: BTreeMap<CustomerId, Vec<CardId>> = BTreeMap::new();
    for card in world.all::<Cards>() {
        let by_number = world.find::<CardsByFingerprint>((card.customer_id, card.card.fingerprint));
        assert_eq!(by_number == Some(card.id), card.deleted_at.is_none());
        let by_external_id = card.external_id.and_then(|external_id| world.find::<CardsByExternalId>(external_id));
        if card.deleted_at.is_none() {
            assert!(world.find::<Customers>(card.customer_id).is_some());
            by_customer.entry(card.customer_id).or_default().push(card.id);
        } else {
            assert_ne!(by_external_id, Some(card.id));
            let customer = world.find::<Customers>(card.customer_id);
            assert!(customer.is_none_or(|customer| customer.default_card_id != Some(card.id)));
        }
    }
    let live: BTreeSet<CardId> = by_customer.values().flatten().copied().collect();
    assert_eq!(world.card_numbers, live, "the vault keeps the numbers of the cards that are there");
    assert_eq!(world.all::<CustomerCards>().len(), by_customer.len());
    for (customer_id, cards) in by_customer {
        assert_eq!(world.look_up::<CustomerCards>(customer_id), cards);
    }
}

/// A timer is set exactly while an entry is on hold, a payment is authorized, its customer must act, a metadata record
/// exists or a dispute has no evidence, and no operation is open for it.
fn check_timers(world: &ScenarioWorld) {
    let payments = world.all::<Payments>();
    let with_operation = payments.iter().filter(|payment| payment.operation.is_some());
    let waiting: BTreeSet<_> =
        with_operation.filter_map(|payment| payment.capture).map(|capture| capture.transaction_id).collect();
    let held = world.all::<Transactions>().into_iter().filter_map(|transaction| {
        let due = transaction.settles_at.filter(|_| !waiting.contains(&transaction.id))?;
        Some(Timer { due, kind: TimerKind::Settle(transaction.id) })
    });
    let standing = payments.iter().filter(|payment| {
        payment.status == PaymentStatus::Authorized && world.find::<Effects>(EffectId::operation(payment.id)).is_none()
    });
    let lapsing = standing.map(|payment| {
        let lapses_at = payment.authorization.as_ref().and_then(|authorization| authorization.lapses_at);
        Timer { due: lapses_at.expect("a standing authorization lapses"), kind: TimerKind::Lapse(payment.id) }
    });
    let expiring = world.all::<Metadata>().into_iter().map(|record| {
        assert!(record.timer_due <= record.expires_at, "a timer is late");
        Timer { due: record.timer_due, kind: TimerKind::ExpireMetadata(record.id) }
    });
    let disputes = world.all::<Disputes>().into_iter().filter(|dispute| dispute.takes_evidence());
    let evidence =
        disputes.map(|dispute| Timer { due: dispute.evidence_due_at, kind: TimerKind::EvidenceDue(dispute.id) });
    let acting = payments.iter().filter_map(|payment| {
        Some(Timer { due: payment.open_action_until()?, kind: TimerKind::ActionDue(payment.id) })
    });
    let checkouts = world.all::<Checkouts>().into_iter().filter_map(|checkout| {
        let has_timer = match checkout.status {
            CheckoutStatus::Open => !checkout.closes,
            CheckoutStatus::Completed | CheckoutStatus::Expired => checkout.customer != CustomerFields::default(),
        };
        has_timer.then(|| Timer { due: checkout.due_at(), kind: TimerKind::CheckoutDue(checkout.id) })
    });
    let period = world.state.statement_period;
    let closing = period.map(|period| Timer { due: period.ends_at, kind: TimerKind::CloseStatement });
    let mut expected: Vec<Timer> =
        held.chain(lapsing).chain(acting).chain(expiring).chain(evidence).chain(checkouts).chain(closing).collect();
    expected.sort_unstable();
    let is_erasure = |timer: &Timer| matches!(timer.kind, TimerKind::EraseTokens(_));
    let (erasures, timers): (Vec<Timer>, Vec<Timer>) = world.timers().into_iter().partition(is_erasure);
    assert_eq!(timers, expected);
    assert_eq!(world.all::<Timers>().len(), expected.len() + erasures.len());
    check_token_uses(world, &erasures);
}

/// A customer's newest token is one that was used; while there is one of a removed customer, more are to be erased.
fn check_token_uses(world: &ScenarioWorld, erasures: &[Timer]) {
    for (key, _) in world.rows.iter() {
        if let AnyKey::CustomerTokens(customer_id) = key {
            let newest = world.look_up::<CustomerTokens>(*customer_id);
            assert!(world.find::<TokenUses>(newest).is_some(), "{newest} was used by {customer_id}");
            let is_removed = world.find::<Customers>(*customer_id).is_none();
            let has_timer = erasures.iter().any(|timer| timer.kind == TimerKind::EraseTokens(*customer_id));
            assert_eq!(is_removed, has_timer, "{customer_id}");
        }
    }
}

/// Every row of the other indexes leads to a row that agrees with it.
fn check_references(world: &ScenarioWorld) {
    for (key, _) in world.rows.iter() {
        if let AnyKey::Effects(id) = key {
            assert_eq!(world.look_up::<Effects>(*id).id(), *id);
        }
        if let AnyKey::Entries(id) = key {
            assert_eq!(world.look_up::<Entries>(*id).id, *id);
        }
        if let AnyKey::CardsByFingerprint((customer_id, fingerprint)) = key {
            let id = world.look_up::<CardsByFingerprint>((*customer_id, *fingerprint));
            let card = world.look_up::<Cards>(id);
            assert_eq!((card.customer_id, card.card.fingerprint), (*customer_id, *fingerprint));
        }
        if let AnyKey::InvoicesByExternalId(external_id) = key {
            let id = world.look_up::<InvoicesByExternalId>(external_id.clone());
            assert_eq!(world.look_up::<Invoices>(id).external_id.as_ref(), Some(external_id));
        }
        if let AnyKey::TopupsByExternalId(external_id) = key {
            let id = world.look_up::<TopupsByExternalId>(external_id.clone());
            assert_eq!(world.look_up::<Topups>(id).external_id.as_ref(), Some(external_id));
        }
    }
    let live = world.all::<Cards>().into_iter().filter(|card| card.deleted_at.is_none());
    assert_eq!(world.all::<CardsByFingerprint>().len(), live.count(), "no card is saved twice");
}

/// A record, its document, its sets and their items agree; other rows of metadata are garbage.
fn check_metadata(world: &ScenarioWorld) {
    let mut records: BTreeMap<_, MetadataRecord> = BTreeMap::new();
    for (key, _) in world.rows.iter() {
        if let AnyKey::Metadata(key) = key {
            let record = world.look_up::<Metadata>(key.clone());
            assert_eq!(world.find::<MetadataByCreation>(record.id).as_ref(), Some(key));
            check_record(world, key.as_str(), &record);
            records.insert(record.id, record);
        }
    }
    assert_eq!(world.all::<MetadataByCreation>().len(), records.len());
    assert_eq!(world.all::<MetadataDocuments>().len(), records.len());
    let is_live = |id, number: SetNumber| {
        records.get(&id).is_some_and(|record| record.sets_from <= number && number < record.sets_below)
    };
    for (key, _) in world.rows.iter() {
        if let AnyKey::MetadataSets((id, number))
        | AnyKey::MetadataItems((id, number, _))
        | AnyKey::MetadataPositions((id, number, _)) = key
        {
            let is_garbage = world.find::<MetadataGarbage>(*id).is_some_and(|below| *number < below);
            assert!(is_live(*id, *number) != is_garbage, "a row of {number:?} of {id} is either seen or swept");
        }
    }
}

fn check_record(world: &ScenarioWorld, key: &str, record: &MetadataRecord) {
    assert!(record.version >= 1 && record.created_at <= record.updated_at);
    let document = world.look_up::<MetadataDocuments>(record.id);
    let mut numbers: Vec<SetNumber> = Vec::new();
    for place in document.sets_at(&MetadataPath::default()) {
        check_set(world, record, place.number);
        numbers.push(place.number);
    }
    numbers.sort_unstable();
    let expected: Vec<SetNumber> = (record.sets_from.0..record.sets_below.0).map(SetNumber).collect();
    assert_eq!(numbers, expected, "every set has its place");
    let items = numbers.iter().map(|number| world.look_up::<MetadataSets>((record.id, *number)).item_count);
    assert_eq!(record.item_count, items.sum::<u64>());
    let value = world.metadata(key).expect("the record is there");
    assert_eq!(record.bytesize, u64::try_from(value.len()).expect("small"), "{value}");
}

fn check_set(world: &ScenarioWorld, record: &MetadataRecord, number: SetNumber) {
    let set: MetadataSet = world.look_up::<MetadataSets>((record.id, number));
    let items = world.metadata_items(record.id, number);
    assert_eq!(set.item_count, u64::try_from(items.len()).expect("few"));
    assert_eq!(set.item_bytes, u64::try_from(items.iter().map(String::len).sum::<usize>()).expect("small"));
    for item in items {
        let position = world.look_up::<MetadataItems>((record.id, number, ItemHash::of(&item)));
        assert_eq!(world.look_up::<MetadataPositions>((record.id, number, position)).as_str(), item);
        assert!(position < set.next_position);
    }
    let by_hash = world.rows.iter().filter(|(key, _)| {
        if let AnyKey::MetadataItems((id, of, _)) = key { (*id, *of) == (record.id, number) } else { false }
    });
    assert_eq!(set.item_count, u64::try_from(by_hash.count()).expect("few"), "no item is in the set twice");
}
/// The vault keeps exactly the data of existing rows, and everything that an open call may need.
fn check_sweeping(world: &ScenarioWorld) {
    let tokens: BTreeSet<_> = world.all::<Tokens>().into_iter().map(|token| token.id).collect();
    assert_eq!(world.numbers, tokens, "a token and its number come and go together");
    let answers = world.all::<Answers>().into_iter();
    let answered: BTreeSet<_> = answers
        .filter_map(|stored| if let Answer::Key { key_id, .. } = stored.answer { Some(key_id) } else { None })
        .collect();
    assert!(world.key_texts.is_subset(&answered), "the text of a key is kept with its answer only");
    // Erasure does not wait for a payment.
    let erased = world.log.iter().flat_map(|mutation| &mutation.events).flat_map(erased_tokens);
    let tokens: BTreeSet<_> = tokens.into_iter().chain(erased).collect();
    let authorizations = world.all::<Effects>().into_iter().filter(|effect| effect.kind.is_authorization());
    for payment in authorizations.map(|effect| world.look_up::<Payments>(effect.payment_id)) {
        assert!(world.find::<Sessions>(payment.session_id).is_some(), "the session of an open authorization stays");
        let token = payment.instrument.single_token().or(payment.instrument.multiple_token());
        assert!(token.is_none_or(|id| tokens.contains(&id)), "the number of an open authorization stays");
    }
    for session in world.all::<Sessions>().into_iter().filter(|session| session.is_active(world.state.last_at)) {
        let token = session.instrument.single_token().or(session.instrument.multiple_token());
        assert!(token.is_none_or(|id| tokens.contains(&id)), "{session:?} can be paid");
    }
    check_token_queues(world);
}

fn erased_tokens(event: &Event) -> Vec<TokenId> {
    if let Event::TokensErased { token_ids } | Event::CustomerTokensErased { token_ids, .. } = event {
        token_ids.clone()
    } else {
        Vec::new()
    }
}

/// A multi-use token that ends unless a payment uses it has a position in its installation's queue, and the queues
/// contain all positions that exist.
fn check_token_queues(world: &ScenarioWorld) {
    let mut queued = BTreeSet::new();
    for (key, _) in world.rows.iter() {
        if let AnyKey::QueuedTokens((installation_id, position)) = key {
            let queue = world.look_up::<TokenQueues>(*installation_id);
            assert!((queue.first..queue.next).contains(position), "{position} is no place of {queue:?}");
            queued.insert((*installation_id, world.look_up::<QueuedTokens>((*installation_id, *position))));
        }
    }
    let places: u64 = world.all::<TokenQueues>().into_iter().map(|queue| queue.len()).sum();
    assert_eq!(queued.len() as u64, places, "every place has a token of its own");
    for token in world.all::<Tokens>() {
        let waits = token.awaits_first_payment() && token.expires_at.is_some();
        assert!(!waits || queued.contains(&(token.installation_id, token.id)), "{token:?} waits nowhere");
        let is_kept = token.usage == TokenUsage::Multiple && token.used;
        assert!(!is_kept || token.expires_at.is_none(), "{token:?} was used and ends");
    }
}

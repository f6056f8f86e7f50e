//! Accounts at acquirers: added, changed, removed, and what payment methods may be configured to them: contract,
//! section 17.

use super::context::{Context, Decision, nothing, profile};
use crate::acquirer::{
    ACCOUNT_KEPT_SECONDS, ACQUIRERS_MAX, AccountMode, AccountSecret, AcquirerAccount, AcquirerName, AcquirerRef,
};
use crate::command::{AcquirerChange, AddAcquirer, KnownAccount, PublicAddress, UpdateAcquirer};
use crate::event::{Answer, Event, VaultWrite};
use crate::ids::{AcquirerId, MerchantId};
use crate::merchant::{Integration, PaymentMethod};
use crate::payment::Payment;
use crate::records::{AcquirerUses, MerchantState, Records};
use crate::refusal::{DecisionError, Refusal};

pub(super) fn change(
    records: &impl Records,
    merchant_id: MerchantId,
    change: &AcquirerChange,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    match change {
        AcquirerChange::Judge(judged) => self::change(records, merchant_id, judged, context).map(|_| nothing()),
        AcquirerChange::Add(command) => Ok(add(records.state(), merchant_id, command, context)?),
        AcquirerChange::Update(command) => Ok(update(records.state(), merchant_id, command)?),
        AcquirerChange::Remove(id) => remove(records, *id, context),
    }
}

fn add(
    state: &MerchantState,
    merchant_id: MerchantId,
    command: &AddAcquirer,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), Refusal> {
    let AddAcquirer { acquirer, name, known, card_entry, has_webhook_secret } = command;
    if state.test_clock.is_some() {
        return Err(Refusal::AccountWithTestClock);
    }
    if state.acquirers.len() >= ACQUIRERS_MAX {
        return Err(Refusal::TooMany { kind: "accounts at acquirers", limit: ACQUIRERS_MAX });
    }
    check_money(state, known.mode)?;
    check_not_taken(state, *acquirer, known, None)?;
    let account = AcquirerAccount {
        id: context.mint(),
        acquirer: *acquirer,
        name: name.clone(),
        mode: known.mode,
        account: known.account.clone(),
        card_entry: *card_entry,
        secret_hint: known.secret_hint.clone(),
        has_webhook_secret: *has_webhook_secret,
        created_at: context.now,
    };
    let vault = kept_secrets(account.id, true, *has_webhook_secret);
    let answer = Answer::Acquirer(account.id);
    let mut events = vec![Event::AcquirerSaved { merchant_id, account }];
    if known.mode == AccountMode::Live {
        events.extend(disabled(state, AcquirerRef::Sandbox));
    }
    Ok((Decision { events, vault }, answer))
}

/// The events that disable the methods of an acquirer. Afterwards they are the sandbox's.
fn disabled(state: &MerchantState, acquirer: AcquirerRef) -> impl Iterator<Item = Event> {
    let of_acquirer = state.integrations.iter().filter(move |(_, integration)| integration.acquirer == acquirer);
    let after = of_acquirer.map(|(method, before)| {
        (*method, *before, Integration { acquirer: AcquirerRef::Sandbox, enabled: false, ..*before })
    });
    let changed = after.filter(|(_, before, after)| before != after);
    changed.map(|(method, _, integration)| Event::PaymentMethodConfigured { method, integration })
}

/// The same secret again is a new one, too: nobody can tell them apart.
fn update(state: &MerchantState, owner: MerchantId, command: &UpdateAcquirer) -> Result<(Decision, Answer), Refusal> {
    let UpdateAcquirer { acquirer_id, name, known, card_entry, has_webhook_secret } = command;
    let before = state.acquirers.get(acquirer_id).ok_or(Refusal::AcquirerNotFound)?;
    let mut after = before.clone();
    if let Some(name) = name {
        after.name = name.clone();
    }
    if let Some(card_entry) = *card_entry {
        after.card_entry = card_entry;
    }
    if let Some(known) = known {
        check_same_account(before, known)?;
        check_not_taken(state, before.acquirer, known, Some(before.id))?;
        after.account = known.account.clone().or(after.account);
        after.secret_hint = known.secret_hint.clone();
    }
    after.has_webhook_secret |= *has_webhook_secret;
    if after == *before && known.is_none() && !*has_webhook_secret {
        return Ok(nothing());
    }
    let vault = kept_secrets(before.id, known.is_some(), *has_webhook_secret);
    let saved = Event::AcquirerSaved { merchant_id: owner, account: after };
    Ok((Decision { events: vec![saved], vault }, Answer::Changed(true)))
}

/// Removes an account that no payment and no setting needs any more.
fn remove(
    records: &impl Records,
    acquirer_id: AcquirerId,
    context: &Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let state = records.state();
    let account = state.acquirers.get(&acquirer_id).ok_or(Refusal::AcquirerNotFound)?;
    let mut methods = state.integrations.iter();
    let configured = methods.find(|(_, found)| found.enabled && found.acquirer == account.reference());
    if let Some((method, _)) = configured {
        return Err(Refusal::AccountConfigured { method: *method }.into());
    }
    if let Some(used) = records.get::<AcquirerUses>(acquirer_id)? {
        let removable_at = used.last_at.plus_seconds(ACCOUNT_KEPT_SECONDS);
        if used.open_payments > 0 || context.now < removable_at {
            return Err(Refusal::AccountInUse { open_payments: used.open_payments, removable_at }.into());
        }
    }
    let events = [Event::AcquirerRemoved { acquirer_id }].into_iter().chain(disabled(state, account.reference()));
    let of_notices = account.has_webhook_secret.then_some(AccountSecret::Notices);
    let secrets = [AccountSecret::Calls].into_iter().chain(of_notices);
    let vault = secrets.map(|secret| VaultWrite::ForgetAccountSecret(acquirer_id, secret)).collect();
    Ok((Decision { events: events.collect(), vault }, Answer::Changed(true)))
}

fn kept_secrets(id: AcquirerId, for_calls: bool, for_notices: bool) -> Vec<VaultWrite> {
    let calls = for_calls.then_some(AccountSecret::Calls);
    let given = calls.into_iter().chain(for_notices.then_some(AccountSecret::Notices));
    given.map(|secret| VaultWrite::KeepAccountSecret(id, secret)).collect()
}

/// An acquirer may give an account of play money and one of real money the same id.
fn check_same_account(before: &AcquirerAccount, known: &KnownAccount) -> Result<(), Refusal> {
    let is_other = before.account.as_ref().zip(known.account.as_ref()).is_some_and(|(one, other)| one != other);
    if is_other || before.mode != known.mode { Err(Refusal::SecretOfOtherAccount) } else { Ok(()) }
}

/// Refuses an account of the acquirer that the merchant has, but for one of these.
fn check_not_taken(
    state: &MerchantState,
    acquirer: AcquirerName,
    known: &KnownAccount,
    except: Option<AcquirerId>,
) -> Result<(), Refusal> {
    let Some(account) = &known.account else { return Ok(()) };
    let mut others = state.acquirers.values().filter(|other| Some(other.id) != except);
    let is_same = |other: &&AcquirerAccount| other.acquirer == acquirer && other.account.as_ref() == Some(account);
    others.find(is_same).map_or(Ok(()), |taken| Err(Refusal::AccountTaken { acquirer_id: taken.id }))
}

/// What carries a method out: an account, unless its acquirer cannot, or the sandbox.
pub(super) fn configurable(
    state: &MerchantState,
    method: PaymentMethod,
    account: Option<(AcquirerId, PublicAddress)>,
) -> Result<AcquirerRef, Refusal> {
    let Some((id, address)) = account else {
        return check_money(state, AccountMode::Test).map(|()| AcquirerRef::Sandbox);
    };
    let account = state.acquirers.get(&id).ok_or(Refusal::ConfiguredAcquirerNotFound)?;
    let (acquirer, offer, profile) = (account.acquirer, account.acquirer.offer(), profile(state)?);
    if !offer.methods.contains(&method) {
        return Err(Refusal::MethodNotCarriedOut { acquirer });
    }
    if !offer.takes(profile.currency) {
        return Err(Refusal::CurrencyNotTaken { currency: profile.currency, acquirer });
    }
    let needed = if account.mode == AccountMode::Live { PublicAddress::Https } else { PublicAddress::Http };
    if address < needed {
        return Err(Refusal::PublicAddressMissing { is_http: address == PublicAddress::Http });
    }
    if method == PaymentMethod::PromptPay && profile.support_email.is_none() {
        return Err(Refusal::SupportEmailMissing);
    }
    Ok(account.reference())
}

/// Refuses money of this kind beside that of the other.
fn check_money(state: &MerchantState, mode: AccountMode) -> Result<(), Refusal> {
    let other = state.mode_of_money().filter(|other| *other != mode);
    other.map_or(Ok(()), |mode| Err(Refusal::MoneyOfOtherMode { mode }))
}

/// True while the acquirer of a payment can be called: an account that was removed has no secret any more.
pub(super) fn is_reachable(state: &MerchantState, payment: &Payment) -> bool {
    payment.acquirer.account_id().is_none_or(|id| state.acquirers.contains_key(&id))
}

//! The authorization of a payment, with or without capture.

use till_domain::acquirer::AcquirerRef;
use till_domain::command::{AuthorizationResult, Command};
use till_domain::failure::FailureCode;
use till_domain::ids::{Id, MerchantId};
use till_domain::payment::Payment;
use till_domain::records::{Checkouts, Profiles, Rows, Single};
use till_domain::session;
use till_domain::text::Email;
use till_storage::vault::{AddressKind, CardNumberOf};

use super::kind::{CallKind, Judged, Planned, PlannedCall};
use super::sources::{CallSources, NoResult, OpenRows};
use crate::acquirer::{
    AcquirerCall, AuthorizeRequest, CallAnswer, CallDone, Instrument, NamedCall, PaymentStep, ReturnPath,
};

/// Calls of this kind.
pub(super) struct Authorize;

impl CallKind for Authorize {
    /// The acquirer may have carried out the call of a card whose number is gone before.
    fn plan(&self, sources: &CallSources, merchant: MerchantId, open: &OpenRows) -> Planned {
        let Some((payment, is_prepared)) = open.authorized() else { return Ok(None) };
        let prepared = if is_prepared { sources.preparation(merchant, payment.id)? } else { None };
        let (reference, session) = (NamedCall::first(payment.id, PaymentStep::Authorize), payment.session_id);
        let instrument = instrument(sources, merchant, payment)?;
        let unless_made = instrument.is_none().then(|| Command::RecordAuthorization(payment.id, card_gone()));
        let secret = sources.keyring.address_secret(merchant, AddressKind::Return, session.to_raw());
        let call = AcquirerCall::Authorize(AuthorizeRequest {
            reference,
            merchant,
            payment: payment.id,
            money: payment.money,
            instrument,
            capture: payment.capture_mode,
            return_path: ReturnPath { merchant, session, secret },
            description: payment.external_id.clone(),
            email: email(sources, merchant, payment)?,
            created_at: payment.created_at,
            prepared,
        });
        Ok(Some(PlannedCall { call, unless_made, may_await_decision: payment.open_action_until().is_some() }))
    }

    fn judge(&self, _: MerchantId, name: NamedCall, answer: CallAnswer) -> Option<Judged> {
        let NamedCall::Payment { payment, .. } = name else { return None };
        let record = |result| Command::RecordAuthorization(payment, result);
        Some(match answer {
            CallAnswer::Done(CallDone::Approved(approved)) => {
                Judged::Ended(record(AuthorizationResult::Approved(approved)))
            }
            CallAnswer::Declined { failure, authentication } => {
                Judged::Ended(record(AuthorizationResult::Declined { failure, authentication }))
            }
            CallAnswer::NeedsAction(required) => {
                Judged::AwaitsCustomer(record(AuthorizationResult::NeedsAction(required)))
            }
            CallAnswer::Pending(_) => Judged::AwaitsCustomer(record(AuthorizationResult::Processing)),
            CallAnswer::Done(_) => return None,
        })
    }
}

/// The e-mail address that an acquirer is told: that of the payment, and for PromptPay, which needs one, else the
/// merchant's own. The sandbox is told none.
fn email(sources: &CallSources, merchant: MerchantId, payment: &Payment) -> Result<Option<Email>, NoResult> {
    if payment.acquirer == AcquirerRef::Sandbox {
        return Ok(None);
    }
    if payment.contact.email.is_some() || payment.instrument != session::Instrument::PromptPay {
        return Ok(payment.contact.email.clone());
    }
    Ok(sources.reader(merchant).get::<Profiles>(Single)?.and_then(|profile| profile.support_email))
}

/// The instrument that pays, with its secrets; none when the vault no longer has the card's number.
fn instrument(sources: &CallSources, merchant: MerchantId, payment: &Payment) -> Result<Option<Instrument>, NoResult> {
    let number = |of| sources.reader(merchant).card_number(of);
    match &payment.instrument {
        session::Instrument::Token { token_id, usage: _, card } => {
            let number = number(CardNumberOf::Token(*token_id))?;
            let security_code = sources.security_codes.get(*token_id);
            let expiry = card.expiry;
            Ok(number.map(|number| Instrument::Card { number, expiry, security_code, is_saved: false }))
        }
        session::Instrument::SavedCard { card_id, owner: _, card } => {
            let number = number(CardNumberOf::Card(*card_id))?;
            let (expiry, security_code) = (card.expiry, None);
            Ok(number.map(|number| Instrument::Card { number, expiry, security_code, is_saved: true }))
        }
        session::Instrument::Installment { plan, interest_bearer: _ } => {
            Ok(Some(Instrument::Installment { plan: *plan }))
        }
        session::Instrument::PromptPay => Ok(Some(Instrument::PromptPay)),
        session::Instrument::MobileBanking => Ok(Some(Instrument::MobileBanking)),
        session::Instrument::AcquirerPage { card: _ } => {
            let checkout_id = payment.checkout_id;
            let checkout = checkout_id.map_or(Ok(None), |id| sources.reader(merchant).get::<Checkouts>(id))?;
            Ok(Some(Instrument::AcquirerPage { locale: checkout.and_then(|checkout| checkout.locale) }))
        }
        session::Instrument::UnnamedCard => Ok(None),
    }
}

fn card_gone() -> AuthorizationResult {
    AuthorizationResult::Declined { failure: FailureCode::CardNotAvailable.into(), authentication: None }
}

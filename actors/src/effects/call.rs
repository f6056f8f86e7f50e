//! One call to an acquirer: what is sent, and the command that records what came back.

use std::collections::BTreeMap;
use std::sync::Arc;
use till_domain::command::{AuthorizationResult, Command};
use till_domain::effect::{Effect, EffectKind};
use till_domain::ids::MerchantId;
use till_domain::merchant::AcquirerName;
use till_domain::payment::Payment;
use till_domain::records::{Effects, Payments, Rows, Unreadable};
use till_domain::session;
use till_storage::shapes::MerchantReader;
use till_storage::vault::{CardNumber, CardNumberOf, Keyring};

use crate::acquirer::{Acquirer, AuthorizeRequest, Completion, FollowUpRequest, Instrument, Reference, Step};
use crate::outbox::OpenEffect;
use crate::security_codes::SecurityCodes;
use crate::store::Store;

/// The acquirers that can be called, by name.
pub type Acquirers = BTreeMap<AcquirerName, Arc<dyn Acquirer>>;

/// The reason why a call has no result yet. It is made again under the same reference.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoResult {
    /// The acquirer did not answer.
    #[error("the acquirer did not answer: {0}")]
    Unanswered(String),
    /// A row or secret that the call needs could not be read.
    #[error("what the call needs could not be read: {0}")]
    Unreadable(String),
}

/// The dependencies of calls.
pub(crate) struct Caller {
    pub(crate) acquirers: Acquirers,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) security_codes: Arc<SecurityCodes>,
    pub(crate) store: Arc<dyn Store>,
}

impl Caller {
    /// The payment, with its effect as long as that is open.
    pub(crate) fn read(&self, open: OpenEffect) -> Result<(Option<Arc<Effect>>, Arc<Payment>), NoResult> {
        let rows = self.reader(open.merchant_id);
        let unreadable = |error: Unreadable| NoResult::Unreadable(error.to_string());
        let effect = rows.get::<Effects>(open.effect_id).map_err(unreadable)?;
        let payment = rows.get::<Payments>(open.effect_id.payment_id).map_err(unreadable)?;
        let payment = payment.ok_or_else(|| NoResult::Unreadable("its payment is not there".to_owned()))?;
        Ok((effect.map(Arc::new), Arc::new(payment)))
    }

    fn reader(&self, merchant_id: MerchantId) -> MerchantReader<&dyn Store> {
        MerchantReader::new(merchant_id, Some(Arc::clone(&self.keyring)), &*self.store)
    }

    /// Carries out the effect of a payment and returns the command that records the result.
    pub(crate) async fn call(
        &self,
        merchant: MerchantId,
        effect: &Effect,
        payment: &Payment,
    ) -> Result<Command, NoResult> {
        let acquirer = self.acquirers.get(&payment.acquirer);
        let acquirer = acquirer.ok_or_else(|| NoResult::Unanswered("it is not configured".to_owned()))?;
        match effect.kind {
            EffectKind::Authorize => self.authorize(acquirer.as_ref(), merchant, payment).await,
            EffectKind::Void => void(acquirer.as_ref(), merchant, payment).await,
        }
    }

    async fn authorize(
        &self,
        acquirer: &dyn Acquirer,
        merchant: MerchantId,
        payment: &Payment,
    ) -> Result<Command, NoResult> {
        let Some(instrument) = self.instrument(merchant, &payment.instrument)? else {
            return Ok(Command::RecordAuthorization(payment.id, card_gone()));
        };
        let request = AuthorizeRequest {
            reference: Reference::new(payment.id, Step::Authorize),
            merchant,
            payment: payment.id,
            money: payment.money,
            instrument,
            capture: payment.capture_mode,
        };
        let answer = acquirer.authorize(request).await.map_err(|error| NoResult::Unanswered(error.to_string()))?;
        Ok(Command::RecordAuthorization(payment.id, answer.into()))
    }

    /// The instrument that pays, with its secrets; none when the vault no longer has the card's number.
    fn instrument(
        &self,
        merchant: MerchantId,
        instrument: &session::Instrument,
    ) -> Result<Option<Instrument>, NoResult> {
        match instrument {
            session::Instrument::Token { token_id, usage: _, card } => {
                let number = self.number(merchant, CardNumberOf::Token(*token_id))?;
                let security_code = self.security_codes.get(*token_id);
                Ok(number.map(|number| Instrument::Card { number, expiry: card.expiry, security_code }))
            }
            session::Instrument::SavedCard { card_id, owner: _, card } => {
                let number = self.number(merchant, CardNumberOf::Card(*card_id))?;
                Ok(number.map(|number| Instrument::Card { number, expiry: card.expiry, security_code: None }))
            }
            session::Instrument::Installment { plan, interest_bearer: _ } => {
                Ok(Some(Instrument::Installment { plan: *plan }))
            }
            session::Instrument::UnnamedCard => Ok(None),
        }
    }

    fn number(&self, merchant: MerchantId, of: CardNumberOf) -> Result<Option<CardNumber>, NoResult> {
        self.reader(merchant).card_number(of).map_err(|error| NoResult::Unreadable(error.reason))
    }
}

async fn void(acquirer: &dyn Acquirer, merchant: MerchantId, payment: &Payment) -> Result<Command, NoResult> {
    let authorization = payment.authorization.as_ref();
    let authorization = authorization.ok_or_else(|| NoResult::Unreadable("the authorization to void".to_owned()))?;
    let request = FollowUpRequest {
        reference: Reference::new(payment.id, Step::Void),
        acquirer_reference: authorization.acquirer_reference.clone(),
        merchant,
        payment: payment.id,
        money: payment.money,
    };
    let done = acquirer.void(request).await.map_err(|error| NoResult::Unanswered(error.to_string()))?;
    if let Completion::Declined { code, message: _ } = done {
        // The authorization has lapsed either way; what the acquirer says of it is for the operator.
        tracing::warn!(payment_id = %payment.id, code, "the acquirer declined to void a lapsed authorization");
    }
    Ok(Command::RecordVoid(payment.id))
}

fn card_gone() -> AuthorizationResult {
    AuthorizationResult::Declined {
        code: "card_not_available".to_owned(),
        message: "The card's number is not kept any more. Tokenize the card again.".to_owned(),
    }
}

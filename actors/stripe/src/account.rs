//! Accounts at Stripe, and the calls in their name.

use std::future::ready;
use std::sync::Arc;

use till_actors::acquirer::{
    Acquirer, AcquirerAnswer, AcquirerCall, AcquirerUnavailable, CallAnswer, LateAnswers, LookedUp, Prepared,
};
use till_actors::outgoing::{HttpClient, RefusedBaseUrl};
use till_domain::time::Millis;
use zeroize::Zeroizing;

use super::api::{AccountMode, Api, NoObject, UnknownSecret};
use super::follow_ups::{self, HoldChange};
use super::objects::{Account, BalanceSource, BalanceTransaction, Page};
use super::{authorizations, cancellations};

/// The way to Stripe, for all accounts.
pub struct StripeConnector {
    client: Arc<HttpClient>,
    public_url: Arc<str>,
}

/// An account at Stripe, with its secret.
pub struct StripeAccount {
    api: Arc<Api>,
}

/// What Stripe says of the account of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedAccount {
    /// Stripe's own id of it.
    pub account: String,
    /// The kind of money, as the secret's prefix says it: no member of the account does.
    pub mode: AccountMode,
}

/// A change of the balance of an account, as Stripe lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BalanceChange {
    /// Stripe's own id of it.
    pub id: String,
    /// Stripe's word for its kind.
    pub kind: String,
    /// The amount, in minor units; negative when the balance becomes less.
    pub amount_minor: i64,
    /// Stripe's fee, in minor units, which is not in the amount.
    pub fee_minor: i64,
    /// The code of the currency, in lower case.
    pub currency: String,
    /// The instant.
    pub at: Millis,
    /// Stripe's id of the charge, the refund or whatever changed it.
    pub source: Option<String>,
    /// Stripe's id of the payment.
    pub payment: Option<String>,
    /// Till's reference, when Till made it: of a charge, that of the authorization.
    pub reference: Option<String>,
}

/// A page of changes of a balance, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BalancePage {
    /// At most 100 changes.
    pub changes: Vec<BalanceChange>,
    /// The id after which the next page begins; none after the last page.
    pub next: Option<String>,
}

impl StripeConnector {
    /// A connector to Stripe at `stripe_url`, whose customers come back to this server at `public_url`.
    ///
    /// # Errors
    /// [`RefusedBaseUrl`] of `stripe_url`, to be told to the operator.
    pub fn new(stripe_url: &str, public_url: &str) -> Result<StripeConnector, RefusedBaseUrl> {
        let client = Arc::new(HttpClient::new(stripe_url)?);
        Ok(StripeConnector { client, public_url: public_url.trim_end_matches('/').into() })
    }

    /// An account by its secret. Calls that an earlier one has under way keep its secret.
    ///
    /// # Errors
    /// [`UnknownSecret`].
    pub fn open(&self, secret: Zeroizing<String>) -> Result<StripeAccount, UnknownSecret> {
        let mode = AccountMode::of_secret(&secret)?;
        let (client, public_url) = (Arc::clone(&self.client), Arc::clone(&self.public_url));
        Ok(StripeAccount { api: Arc::new(Api { client, secret, mode, public_url }) })
    }
}

impl StripeAccount {
    /// Asks Stripe for the account of the secret, which changes nothing.
    ///
    /// The answer is an error of refused credentials when Stripe does not take the secret.
    #[must_use]
    pub fn check(&self) -> AcquirerAnswer<CheckedAccount> {
        let api = Arc::clone(&self.api);
        Box::pin(async move {
            let account: Account = api.get("/v1/account").await.map_err(NoObject::unclear)?;
            Ok(CheckedAccount { account: account.id.into_text(), mode: api.mode })
        })
    }
}

impl StripeAccount {
    /// Lists the changes of the balance from the whole second `from` on and before `to`: one page, from the newest
    /// change or after the one with the id `after`.
    #[must_use]
    pub fn list(&self, from: Millis, to: Millis, after: Option<&str>) -> AcquirerAnswer<BalancePage> {
        let api = Arc::clone(&self.api);
        let (from, to) = (from.unix_seconds(), to.unix_seconds());
        let range = format!("created%5Bgte%5D={from}&created%5Blt%5D={to}&limit=100&expand%5B0%5D=data.source");
        let after = after.map(|id| format!("&starting_after={id}")).unwrap_or_default();
        Box::pin(async move {
            let path = format!("/v1/balance_transactions?{range}{after}");
            let page: Page<BalanceTransaction> = api.get(&path).await.map_err(NoObject::unclear)?;
            let next = page.data.last().filter(|_| page.has_more).map(|last| last.id.as_str().to_owned());
            Ok(BalancePage { changes: page.data.into_iter().map(change_of).collect(), next })
        })
    }
}

fn change_of(listed: BalanceTransaction) -> BalanceChange {
    let BalanceTransaction { id, kind, amount, fee, currency, created, source } = listed;
    let reference = |source: &BalanceSource| source.metadata.as_ref()?.till_reference.clone();
    BalanceChange {
        id: id.into_text(),
        kind,
        amount_minor: amount,
        fee_minor: fee,
        currency,
        at: Millis(0).plus_seconds(created),
        reference: source.as_ref().and_then(reference),
        payment: source.as_ref().and_then(|source| source.payment_intent.clone()),
        source: source.map(|source| source.id.into_text()),
    }
}

impl Acquirer for StripeAccount {
    fn prepare(&self, call: &AcquirerCall) -> AcquirerAnswer<Prepared> {
        match call {
            AcquirerCall::Authorize(request) => authorizations::prepare(&self.api, request),
            _ => Box::pin(ready(Ok(Prepared::Nothing))),
        }
    }

    fn act(&self, call: AcquirerCall) -> AcquirerAnswer<CallAnswer> {
        match call {
            AcquirerCall::Authorize(request) => authorizations::act(&self.api, request),
            AcquirerCall::Cancel(request) => cancellations::act(&self.api, &request),
            AcquirerCall::Capture(request) => follow_ups::change(&self.api, &request, HoldChange::Capture),
            AcquirerCall::Void(request) => follow_ups::change(&self.api, &request, HoldChange::Void),
            AcquirerCall::Refund(request) => follow_ups::refund(&self.api, &request),
            AcquirerCall::Payout(_) | AcquirerCall::Evidence(_) => {
                Box::pin(ready(Err(AcquirerUnavailable::not_sent("Till makes no such call at Stripe"))))
            }
        }
    }

    fn look_up(&self, call: &AcquirerCall) -> AcquirerAnswer<LookedUp> {
        match call {
            AcquirerCall::Authorize(request) => authorizations::look_up(&self.api, request),
            AcquirerCall::Cancel(request) => cancellations::look_up(&self.api, request),
            AcquirerCall::Capture(request) => follow_ups::look_up_change(&self.api, request, HoldChange::Capture),
            AcquirerCall::Void(request) => follow_ups::look_up_change(&self.api, request, HoldChange::Void),
            AcquirerCall::Refund(request) => follow_ups::look_up_refund(&self.api, request),
            AcquirerCall::Payout(_) | AcquirerCall::Evidence(_) => Box::pin(ready(Ok(LookedUp::NotDone))),
        }
    }

    /// Stripe tells nothing by itself but notices, which only wake a look-up.
    fn send_late_answers(&self, _: LateAnswers) {}
}

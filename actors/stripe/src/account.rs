//! Accounts at Stripe, and the calls in their name.

use std::future::ready;
use std::sync::Arc;

use till_actors::acquirer::{
    Acquirer, AcquirerAnswer, AcquirerCall, AcquirerUnavailable, BalanceChange, BalancePage, CallAnswer, Connector,
    ListedBalance, LookedUp, NamedCall, Notice, NoticeRefused, Prepared,
};
use till_actors::outgoing::{HttpClient, RefusedBaseUrl};
use till_domain::acquirer::{AccountMode, AcquirerAccount, AcquirerName};
use till_domain::time::Millis;
use zeroize::Zeroizing;

use super::api::{Api, NoObject};
use super::follow_ups::FollowUpCall;
use super::notices::read_notice;
use super::objects::{BalanceSource, BalanceTransaction, Named, Page};
use super::{authorizations, cancellations};

/// The name of the acquirer.
pub const NAME: AcquirerName = AcquirerName::Stripe;

/// The way to Stripe, for all accounts.
pub struct StripeConnector {
    client: Arc<HttpClient>,
    public_url: Arc<str>,
}

impl StripeConnector {
    /// A connector to Stripe at `stripe_url`, whose customers come back to this server at `public_url`. Without that
    /// no payment method can be configured to an account.
    ///
    /// # Errors
    /// [`RefusedBaseUrl`] of `stripe_url`, to be told to the operator.
    pub fn new(stripe_url: &str, public_url: Option<&str>) -> Result<StripeConnector, RefusedBaseUrl> {
        let client = Arc::new(HttpClient::new(stripe_url)?);
        Ok(StripeConnector { client, public_url: public_url.unwrap_or_default().trim_end_matches('/').into() })
    }

    fn api(&self, secret: Zeroizing<String>, mode: AccountMode) -> Api {
        Api { client: Arc::clone(&self.client), secret, mode, public_url: Arc::clone(&self.public_url) }
    }
}

impl Connector for StripeConnector {
    fn check(&self, secret: Zeroizing<String>, mode: AccountMode) -> AcquirerAnswer<'static, String> {
        let api = self.api(secret, mode);
        Box::pin(async move {
            let account: Named = api.get("/v1/account").await.map_err(NoObject::unclear)?;
            Ok(account.id.into_text())
        })
    }

    fn open(&self, account: &AcquirerAccount, secret: Zeroizing<String>) -> Arc<dyn Acquirer> {
        Arc::new(self.api(secret, account.mode))
    }

    fn notice_header(&self) -> &'static str {
        "stripe-signature"
    }

    fn read_notice(&self, notice: &Notice<'_>) -> Result<Option<NamedCall>, NoticeRefused> {
        read_notice(notice)
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
        currency: currency.to_ascii_uppercase(),
        at: Millis(0).plus_seconds(created),
        reference: source.as_ref().and_then(reference),
        payment: source.as_ref().and_then(|source| source.payment_intent.clone()),
        source: source.map(|source| source.id.into_text()),
    }
}

impl Acquirer for Api {
    fn prepare<'a>(&'a self, call: &'a AcquirerCall) -> AcquirerAnswer<'a, Prepared> {
        match call {
            AcquirerCall::Authorize(request) => Box::pin(authorizations::prepare(self, request)),
            _ => Box::pin(ready(Ok(Prepared::Nothing))),
        }
    }

    fn act(&self, call: AcquirerCall) -> AcquirerAnswer<'_, CallAnswer> {
        Box::pin(async move {
            match &call {
                AcquirerCall::Authorize(request) => authorizations::act(self, request).await,
                AcquirerCall::Cancel(request) => cancellations::act(self, request).await,
                AcquirerCall::Capture(request) | AcquirerCall::Void(request) => {
                    FollowUpCall::of(self, request).change().await
                }
                AcquirerCall::Refund(request) => FollowUpCall::of(self, request).refund().await,
                AcquirerCall::Payout(_) | AcquirerCall::Evidence(_) => {
                    Err(AcquirerUnavailable::not_sent("Till makes no such call at Stripe"))
                }
            }
        })
    }

    fn look_up<'a>(&'a self, call: &'a AcquirerCall) -> AcquirerAnswer<'a, LookedUp> {
        Box::pin(async move {
            match call {
                AcquirerCall::Authorize(request) => authorizations::look_up(self, request).await,
                AcquirerCall::Cancel(request) => cancellations::look_up(self, request).await,
                AcquirerCall::Capture(request) | AcquirerCall::Void(request) => {
                    FollowUpCall::of(self, request).look_up_change().await
                }
                AcquirerCall::Refund(request) => FollowUpCall::of(self, request).look_up_refund().await,
                AcquirerCall::Payout(_) | AcquirerCall::Evidence(_) => Ok(LookedUp::NotDone),
            }
        })
    }

    fn list(&self, listed: &ListedBalance) -> AcquirerAnswer<'_, BalancePage> {
        let (from, before) = (listed.from.unix_seconds(), listed.before.unix_seconds());
        let range = format!("created%5Bgte%5D={from}&created%5Blt%5D={before}&limit=100&expand%5B0%5D=data.source");
        let after = listed.after.as_ref().map(|id| format!("&starting_after={id}")).unwrap_or_default();
        Box::pin(async move {
            let path = format!("/v1/balance_transactions?{range}{after}");
            let page: Page<BalanceTransaction> = self.get(&path).await.map_err(NoObject::unclear)?;
            let next = page.data.last().filter(|_| page.has_more).map(|last| last.id.as_str().to_owned());
            Ok(BalancePage { changes: page.data.into_iter().map(change_of).collect(), next })
        })
    }
}

//! What the pages of checkouts and payment forms show: contract, sections 9.6 and 9.7.

use till_domain::checkout::CheckoutStatus;
use till_domain::command::{Caller, CheckoutChoice, Command, PayCheckout};
use till_domain::customer_action::{CustomerAction, CustomerStep};
use till_domain::ids::{InstallationId, MerchantId, SessionId};
use till_domain::merchant::{AcquirerName, Installation, PaymentMethod, Platform, Profile};
use till_domain::records::{
    Checkouts, Installations, Integrations, MerchantDirectory, Payments, Profiles, Rows, Sessions, Single,
};
use till_domain::text::QrText;
use till_domain::time::Millis;
use till_protocol::api_error::ApiError;

use super::checkout::OfferedCheckout;
use super::checkout_address::CheckoutReference;
use crate::service::lists::open_action;
use crate::service::submission::{Reader, Service};

/// A checkout as its page shows it.
pub(crate) struct ShownCheckout {
    pub profile: Profile,
    pub installation: Installation,
    /// The path of its page, which ends in its secret.
    pub path: String,
    pub offered: OfferedCheckout,
    /// The action that the customer must take now.
    pub action: Option<CustomerAction>,
    /// The status at `now`.
    pub status: CheckoutStatus,
    /// The merchant's time.
    pub now: Millis,
}

/// The payment form of an installation in a shop's own page.
pub(crate) struct ShownForm {
    /// The installation. It is one of a web site.
    pub installation: Installation,
    /// The methods that can be selected now.
    pub methods: Vec<PaymentMethod>,
    /// True while the sandbox plays the acquirer of one of them.
    pub is_sandbox: bool,
}

impl ShownCheckout {
    /// The caller in whose name the page acts.
    #[must_use]
    pub(crate) fn installation_id(&self) -> InstallationId {
        self.offered.checkout.installation_id
    }

    /// The last segment of its address, by which calls name it.
    #[must_use]
    pub(crate) fn reference(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

impl Service {
    /// The checkout that a reference opens, with what its page shows; none when it opens none, or the installation of
    /// the checkout was removed.
    ///
    /// # Errors
    /// `UNAVAILABLE` when rows cannot be read.
    pub(crate) async fn shown_checkout(
        &self,
        merchant_id: MerchantId,
        reference: CheckoutReference,
    ) -> Result<Option<ShownCheckout>, ApiError> {
        let Some(checkout_id) = self.opened_checkout(merchant_id, reference) else { return Ok(None) };
        let reader = self.reader(merchant_id).await?;
        let Some(profile) = profile(&reader)? else { return Ok(None) };
        let Some(checkout) = reader.get::<Checkouts>(checkout_id)? else { return Ok(None) };
        let Some(installation) = reader.get::<Installations>(checkout.installation_id)? else { return Ok(None) };
        let now = self.merchant_now(merchant_id)?;
        let status = checkout.status_at(now);
        let offered = OfferedCheckout::read(&reader, checkout, now)?;
        let action = offered.payment.as_ref().map_or(Ok(None), |payment| open_action(&reader, payment, now))?;
        let path = self.checkout_path(merchant_id, checkout_id);
        Ok(Some(ShownCheckout { profile, installation, path, offered, action, status, now }))
    }

    /// The customer pays on the page of a checkout.
    ///
    /// # Errors
    /// The refusal by the rules; `UNAVAILABLE` when it could not be carried out now.
    pub(crate) async fn pay_shown(
        &self,
        merchant_id: MerchantId,
        shown: &ShownCheckout,
        choice: CheckoutChoice,
        replaces: Option<SessionId>,
    ) -> Result<(), ApiError> {
        let checkout_id = shown.offered.checkout.id;
        let command = Command::PayCheckout(PayCheckout { checkout_id, choice, saves_card: false, replaces });
        let caller = Caller::Sdk(shown.installation_id());
        self.submit_form(merchant_id, caller, command).await.map(drop)
    }

    /// The customer of a checkout gives a payment of it up. A session of another checkout changes nothing.
    ///
    /// # Errors
    /// As [`Service::pay_shown`].
    pub(crate) async fn give_up_shown(
        &self,
        merchant_id: MerchantId,
        shown: &ShownCheckout,
        session_id: SessionId,
    ) -> Result<(), ApiError> {
        let reader = self.reader(merchant_id).await?;
        let payment_id = reader.get::<Sessions>(session_id)?.and_then(|session| session.payment_id);
        let payment = payment_id.map_or(Ok(None), |id| reader.get::<Payments>(id))?;
        if payment.is_none_or(|payment| payment.checkout_id != Some(shown.offered.checkout.id)) {
            return Ok(());
        }
        let caller = Caller::Sdk(shown.installation_id());
        self.submit_form(merchant_id, caller, Command::CancelSession(session_id)).await.map(drop)
    }

    /// The text of the QR code that the customer of a session must scan now, if there is one.
    ///
    /// # Errors
    /// `UNAVAILABLE` when rows cannot be read.
    pub(crate) async fn shown_qr_text(
        &self,
        merchant_id: MerchantId,
        session_id: SessionId,
    ) -> Result<Option<QrText>, ApiError> {
        let reader = self.reader(merchant_id).await?;
        let payment_id = reader.get::<Sessions>(session_id)?.and_then(|session| session.payment_id);
        let Some(payment) = payment_id.map_or(Ok(None), |id| reader.get::<Payments>(id))? else { return Ok(None) };
        let action = open_action(&reader, &payment, self.merchant_now(merchant_id)?)?;
        Ok(action.and_then(|action| match action.step {
            CustomerStep::DisplayQr(text) => Some(text),
            CustomerStep::Redirect(_) => None,
        }))
    }

    /// The payment form of an installation; none when there is no such installation of a web site, or the merchant is
    /// suspended.
    ///
    /// # Errors
    /// `UNAVAILABLE` when rows cannot be read.
    pub(crate) async fn shown_form(
        &self,
        merchant_id: MerchantId,
        installation_id: InstallationId,
    ) -> Result<Option<ShownForm>, ApiError> {
        let reader = self.reader(merchant_id).await?;
        if profile(&reader)?.is_none_or(|profile| profile.suspended) {
            return Ok(None);
        }
        let installation = reader.get::<Installations>(installation_id)?;
        let Some(installation) = installation.filter(|found| found.platform == Platform::Web) else {
            return Ok(None);
        };
        let (mut methods, mut is_sandbox) = (Vec::new(), false);
        for method in PaymentMethod::ALL {
            let integration = reader.get::<Integrations>(method)?.filter(|integration| integration.enabled);
            is_sandbox |= integration.as_ref().is_some_and(|found| found.acquirer == AcquirerName::Sandbox);
            methods.extend(integration.map(|_| method));
        }
        Ok(Some(ShownForm { installation, methods, is_sandbox }))
    }
}

fn profile(reader: &Reader<'_>) -> Result<Option<Profile>, ApiError> {
    if reader.get::<MerchantDirectory>(reader.merchant_id())?.is_none() {
        return Ok(None);
    }
    Ok(reader.get::<Profiles>(Single)?)
}

//! What the page of a checkout shows: contract, sections 9.6 and 9.7.

use till_domain::acquirer::{AcquirerName, AcquirerRef};
use till_domain::card::{Card, CardScheme};
use till_domain::checkout::{CheckoutStatus, Locale};
use till_domain::customer_action::{CustomerAction, CustomerStep};
use till_domain::failure::FailureCode;
use till_domain::ids::{CardId, InstallationId, MerchantId, SessionId};
use till_domain::merchant::{Installation, Platform, Profile};
use till_domain::records::{Checkouts, Installations, MerchantDirectory, Payments, Profiles, Rows, Sessions, Single};
use till_domain::time::Millis;
use till_protocol::arguments::id;

use crate::endpoints::forms::{PAYMENT_METHOD_WORDS, SESSION_ID};
use crate::endpoints::prelude::*;
use crate::endpoints::sdk::{INSTALLMENT_PLAN, PlanShape, REFERENCE, no_such_checkout};
use crate::endpoints::shapes::checkout::{CHECKOUT_LINE, LineShape};
use crate::service::{CheckoutReference, OfferedCheckout, given_up_to, in_ascii, open_action, returned_to};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> =
    &[Endpoint(&SHOW_CHECKOUT, &show_checkout), Endpoint(&RETRIEVE_QR_CODE, &retrieve_qr_code)];

/// The seconds after its completion for which the page goes on to the shop by itself.
const JUST_NOW_SECONDS: u64 = 10;

till_domain::word_enum! {
    /// The state that the page of a checkout shows.
    pub(crate) enum ShownState: name {
        /// The customer chooses how to pay.
        Choosing => "choosing",
        /// The acquirer is processing the payment.
        Processing => "processing",
        /// The customer confirms the payment at the issuer or bank.
        Confirm => "confirm",
        /// The customer scans a QR code.
        Scan => "scan",
        /// It is paid.
        Successful => "successful",
        /// It takes no new payment.
        Expired => "expired",
        /// The merchant takes no payments now.
        Suspended => "suspended",
    }
}

/// A checkout with what belongs to it on its page.
struct Shown {
    profile: Profile,
    installation: Installation,
    /// The path of its page, which ends in its secret.
    path: String,
    offered: OfferedCheckout,
    /// The action that the customer must take now.
    action: Option<CustomerAction>,
    /// The path of the sandbox's wallet, on which its QR code is paid.
    wallet: Option<String>,
    /// The merchant's time.
    now: Millis,
}

impl Shown {
    fn reference(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    fn state(&self) -> ShownState {
        let (checkout, payment) = (&self.offered.checkout, &self.offered.payment);
        match (checkout.status_at(self.now), payment) {
            (CheckoutStatus::Completed, Some(_)) => ShownState::Successful,
            (CheckoutStatus::Completed | CheckoutStatus::Expired, _) => ShownState::Expired,
            (CheckoutStatus::Open, _) if self.profile.suspended => ShownState::Suspended,
            (CheckoutStatus::Open, Some(_)) if checkout.in_progress => self.state_in_progress(),
            (CheckoutStatus::Open, _) => ShownState::Choosing,
        }
    }

    fn state_in_progress(&self) -> ShownState {
        match self.action.as_ref().map(|action| &action.step) {
            None => ShownState::Processing,
            Some(CustomerStep::Redirect(_) | CustomerStep::AcquirerPage) => ShownState::Confirm,
            Some(CustomerStep::DisplayQr(_)) => ShownState::Scan,
        }
    }

    /// The page of the shop that the customer goes to from here.
    fn shop(&self) -> String {
        let checkout = &self.offered.checkout;
        let paid = self.offered.payment.as_ref().filter(|_| self.state() == ShownState::Successful);
        in_ascii(&paid.map_or_else(|| given_up_to(checkout), returned_to))
    }

    fn was_just_paid(&self) -> bool {
        let ended_at = self.offered.checkout.ended_at;
        ended_at.is_some_and(|at| self.now < at.plus_seconds(JUST_NOW_SECONDS))
    }

    fn action_url(&self) -> Option<String> {
        match &self.action.as_ref()?.step {
            CustomerStep::Redirect(address) => Some(in_ascii(address.as_str())),
            CustomerStep::DisplayQr(_) | CustomerStep::AcquirerPage => None,
        }
    }

    fn qr_text(&self) -> Option<&str> {
        qr_text(self.action.as_ref()?)
    }

    /// The seconds from `begin` until the customer's action is over.
    fn seconds_to_act(&self, begin: impl Fn(&CustomerAction) -> Millis) -> Option<u64> {
        let action = self.action.as_ref()?;
        Some(action.expires_at.0.saturating_sub(begin(action).0) / 1_000)
    }
}

fn qr_text(action: &CustomerAction) -> Option<&str> {
    match &action.step {
        CustomerStep::DisplayQr(text) => Some(text.as_str()),
        CustomerStep::Redirect(_) | CustomerStep::AcquirerPage => None,
    }
}

object! {
    /// A checkout as its page shows it.
    SHOWN_CHECKOUT "shown_checkout" as ShownShape<'a> of (shown: &'a Shown) {
        merchant_name: STRING = shown.profile.name, "The merchant's name.";
        color: STRING or null = shown.profile.color, "The merchant's color, as `#rrggbb`.";
        installation_id: Id(InstallationId::PREFIX) = shown.installation.id, "The installation in whose name it acts.";
        platform: words_of(Platform) = shown.installation.platform, "The platform of the installation.";
        origin: STRING = shown.installation.identifier, "The origin of a web site, whose pages may hold its frame.";
        path: STRING = shown.path, "The path of the page.";
        checkout_id: STRING = shown.reference(), "The last segment of the path, by which calls name the checkout.";
        is_suspended: BOOLEAN = shown.profile.suspended, "True while the merchant takes no payments.";
        locale: words_of(Locale) or null = shown.offered.checkout.locale, "The language that the shop chose.";
        amount: MINOR_UNITS = shown.offered.checkout.money.amount, "The amount in minor units.";
        currency: STRING = shown.offered.checkout.money.currency, "The ISO 4217 code.";
        lines: Array(&ValueType::Object(&CHECKOUT_LINE)) =
            shown.offered.checkout.lines.iter().map(LineShape::new).collect::<Vec<_>>(), "The lines of the order.";
        payment_methods: Array(&PAYMENT_METHOD_WORDS) = shown.offered.methods, "The methods that can pay it now.";
        card_page: words_of(AcquirerName) or null = shown.offered.card_page,
            "The acquirer at whose page a card is entered; null where it is entered in a form.";
        saved_cards: Array(&ValueType::Object(&SHOWN_CARD)) =
            shown.offered.saved_cards.iter().map(CardShape::new).collect::<Vec<_>>(), "The customer's saved cards.";
        installment_plans: Array(&ValueType::Object(&INSTALLMENT_PLAN)) =
            shown.offered.plans().into_iter().map(PlanShape::new).collect::<Vec<_>>(), "The plans to choose among.";
        offers_saving: BOOLEAN = shown.offered.checkout.offers_saved_cards && shown.offered.card_page.is_none(),
            "True when the card may be saved.";
        is_sandbox: BOOLEAN = shown.offered.is_sandbox, "True while no real money moves.";
        state: words_of(ShownState) = shown.state().name(), "What the page shows.";
        payment_session_id: Id(SessionId::PREFIX) or null =
            shown.offered.payment.as_ref().map(|payment| payment.session_id), "The session of the newest payment.";
        payment_method: type(PAYMENT_METHOD_WORDS) or null =
            shown.offered.payment.as_ref().map(|payment| payment.instrument.method()), "The method of that payment.";
        failure_code: words_of(FailureCode) or null =
            shown.offered.payment.as_ref().and_then(|payment| Some(payment.failure.as_ref()?.code)),
            "The reason for which that payment failed.";
        action_url: STRING or null = shown.action_url(), "The address at which the customer must act.";
        qr_text: STRING or null = shown.qr_text(), "The text of the code that the customer must scan.";
        seconds_left: INTEGER or null = shown.seconds_to_act(|_| shown.now), "The time that is left to act.";
        seconds_whole: INTEGER or null = shown.seconds_to_act(|action| action.recorded_at), "The time to act at first.";
        wallet: STRING or null = shown.wallet, "The path of the sandbox's wallet.";
        shop: STRING = shown.shop(), "The page of the shop that the customer goes to from here, in ASCII.";
        was_just_paid: BOOLEAN = shown.was_just_paid(), "True when it was completed in the last seconds.";
    }
}

object! {
    /// A saved card as its customer knows it.
    SHOWN_CARD "shown_card" as CardShape<'a> of (card: &'a Card) {
        card_id: Id(CardId::PREFIX) = card.id, "The card's id.";
        scheme: words_of(CardScheme) = card.card.scheme, "Its scheme.";
        last_digits: STRING = card.card.last_digits, "Its last four digits.";
        expiration_date: STRING = card.card.expiry, "The last month in which it is valid, `MM/YY`.";
    }
}

const OPENED: ArgumentSet<(MerchantId, CheckoutReference)> = arguments!({
    merchant_id: id::<MerchantId>().required("The merchant (`mer_...`)."),
    reference: REFERENCE,
} => (merchant_id, reference));

/// The call of the page of a checkout.
pub(crate) static SHOW_CHECKOUT: Declaration = Declaration {
    name: "show-checkout",
    summary: "Returns what the page of a checkout shows.",
    arguments: OPENED.declared,
    returns: Returns::Object(&SHOWN_CHECKOUT),
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "checkouts")
};

async fn show_checkout(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (merchant_id, reference) = call.fields().parse(&OPENED)?;
    let checkout_id = service.opened_checkout(merchant_id, reference).ok_or_else(no_such_checkout)?;
    let reader = service.reader(merchant_id).await?;
    let profile = profile(&reader)?.ok_or_else(no_such_checkout)?;
    let checkout = reader.get::<Checkouts>(checkout_id)?.ok_or_else(no_such_checkout)?;
    let installation = reader.get::<Installations>(checkout.installation_id)?.ok_or_else(no_such_checkout)?;
    call.log_subject(merchant_id, None);
    let now = service.merchant_now(merchant_id)?;
    let offered = OfferedCheckout::read(&reader, checkout, now)?;
    let action = offered.payment.as_ref().map_or(Ok(None), |payment| open_action(&reader, payment, now))?;
    let wallet = wallet(&service, &offered, action.as_ref()).await;
    let path = service.checkout_path(merchant_id, checkout_id);
    Ok(Reply::new(&ShownShape::new(&Shown { profile, installation, path, offered, action, wallet, now })))
}

/// The path of the sandbox's wallet on which the QR code is paid. Without it the customer scans the code.
async fn wallet(service: &Shared, offered: &OfferedCheckout, action: Option<&CustomerAction>) -> Option<String> {
    let text = qr_text(action?)?;
    match offered.payment.as_ref()?.acquirer {
        AcquirerRef::Sandbox => Some(service.sandbox().find_bill(text).await.ok()??.path()),
        AcquirerRef::Account(_, _) => None,
    }
}

/// The profile of a merchant that there is.
pub(super) fn profile(reader: &Reader<'_>) -> Result<Option<Profile>, ApiError> {
    if reader.get::<MerchantDirectory>(reader.merchant_id())?.is_none() {
        return Ok(None);
    }
    Ok(reader.get::<Profiles>(Single)?)
}

const QR_SESSION: ArgumentSet<(MerchantId, SessionId)> = arguments!({
    merchant_id: id::<MerchantId>().required("The merchant (`mer_...`)."),
    session_id: SESSION_ID.required("The session (`pse_...`).").with_name("payment_session_id"),
} => (merchant_id, session_id));

/// The call of the picture of a QR code.
pub(crate) static RETRIEVE_QR_CODE: Declaration = Declaration {
    name: "retrieve-qr-code",
    summary: "Returns the text of the QR code that the customer of a session must scan now.",
    arguments: QR_SESSION.declared,
    returns: Returns::Text(ValueType::STRING),
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "sessions")
};

async fn retrieve_qr_code(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let unknown = || ApiError::new(Code::NotFound, "There is no QR code to scan.");
    let (merchant_id, session_id) = call.fields().parse(&QR_SESSION)?;
    let reader = service.reader(merchant_id).await?;
    let payment_id = reader.get::<Sessions>(session_id)?.and_then(|session| session.payment_id);
    let payment = reader.get::<Payments>(payment_id.ok_or_else(unknown)?)?.ok_or_else(unknown)?;
    let action = open_action(&reader, &payment, service.merchant_now(merchant_id)?)?;
    let text = action.as_ref().and_then(qr_text).ok_or_else(unknown)?;
    call.log_subject(merchant_id, None);
    Ok(Reply::new(text))
}

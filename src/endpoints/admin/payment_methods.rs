//! `POST /admin/configure-payment-method`

use till_domain::acquirer::{AcquirerName, AcquirerRef};
use till_domain::command::{Command, PublicAddress};
use till_domain::ids::{AcquirerId, MerchantId};
use till_domain::merchant::{Integration, PaymentMethod};
use till_domain::money::{AMOUNT_MAX_MINOR, FeeRate};
use till_protocol::fault::Fault;
use till_protocol::field;
use till_protocol::fields::Fields;

use super::about_merchant::{MERCHANT_ARGUMENT, submit};
use crate::endpoints::forms::{BOOLEAN, PAYMENT_METHOD, own_text, whole_number};
use crate::endpoints::prelude::*;
use crate::service::reply_of;

pub(super) const ENDPOINTS: Endpoints<Operator> = &[Endpoint(&CONFIGURE_PAYMENT_METHOD, &configure_payment_method)];

/// An account, or none for the sandbox.
const ACQUIRER: Field<Option<AcquirerId>> = Field {
    value_type: ValueType::Text(Text::of(7, 30, "sandbox").matching("^(sandbox|acq_[0-7][0-9a-hjkmnp-tv-z]{25})$")),
    parse: |value| {
        let text = own_text(value)?;
        let is_sandbox = text == AcquirerName::Sandbox.name();
        let account = if is_sandbox { Some(None) } else { text.parse().ok().map(Some) };
        account.ok_or_else(|| "must be sandbox, or the id of an account (acq_...)".to_owned())
    },
};

const BASIS_POINTS: Field<u16> = Field {
    value_type: ValueType::integer(0, FeeRate::BASIS_POINTS_MAX as u64, 295),
    parse: |value| field::integer(0..=FeeRate::BASIS_POINTS_MAX)(value),
};

/// A method with its settings on the sandbox, and the account when it is one.
type Configured = (MerchantId, PaymentMethod, Integration, Option<AcquirerId>);

const CONFIGURED: ArgumentSet<Configured> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    payment_method: PAYMENT_METHOD.required("The payment method."),
    acquirer: ACQUIRER.required("What carries it out: `sandbox`, or an account (`acq_...`)."),
    enabled: BOOLEAN.required("True when it can be selected and initiated."),
    authorizes_without_capture: BOOLEAN.required("True when `capture: false` is supported."),
    fee_basis_points: BASIS_POINTS
        .optional("Hundredths of a percent of the captured amount, 0 to 10000.")
        .in_examples(),
    fee_fixed: whole_number::<0, AMOUNT_MAX_MINOR>(1_000)
        .optional("Added to that, in minor units, from 0.")
        .in_examples(),
} judged by |fields: &mut Fields<'_>| {
    let authorizes = authorizes_without_capture == Some(true);
    if authorizes && payment_method.is_some_and(|method| !method.can_authorize_without_capture()) {
        let message = "must be false for a method by which money is paid at once";
        fields.fault(Fault::invalid("authorizes_without_capture", message));
    }
} => {
    let fee = FeeRate { basis_points: fee_basis_points.unwrap_or(0), fixed_minor: fee_fixed.unwrap_or(0) };
    let on_sandbox = Integration { acquirer: AcquirerRef::Sandbox, enabled, authorizes_without_capture, fee };
    (merchant_id, payment_method, on_sandbox, acquirer)
});

static CONFIGURE_PAYMENT_METHOD: Declaration = Declaration {
    name: "configure-payment-method",
    summary: "Configures a payment method of a merchant; `false` when nothing changed.",
    docs: "Fees apply to captures from now on. A fee that is left out is 0. PROMPTPAY is for merchants with an \
        account in THB only. At an account, the acquirer must carry the method out and take the merchant's currency.",
    arguments: CONFIGURED.declared,
    errors: &[
        DeclaredError::new(Code::NotFound, "No merchant has this id, or no account of this merchant."),
        DeclaredError::new(
            Code::InvalidState,
            "`sandbox` for a merchant with real money; or, at an account, `public_url` is not set (for real money: \
                not https), or for PROMPTPAY the merchant has no `support_email`.",
        ),
    ],
    ..Declaration::command(Package::Admin, "payment methods")
};

/// `POST /admin/configure-payment-method`
async fn configure_payment_method(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let (merchant_id, method, on_sandbox, account) = call.fields().parse(&CONFIGURED)?;
    let address = match service.public_url() {
        None => PublicAddress::Unknown,
        Some(url) if url.starts_with("https://") => PublicAddress::Https,
        Some(_) => PublicAddress::Http,
    };
    let command = Command::ConfigurePaymentMethod(method, on_sandbox, account.map(|id| (id, address)));
    Ok(reply_of(submit(&service, &call, merchant_id, command).await?))
}

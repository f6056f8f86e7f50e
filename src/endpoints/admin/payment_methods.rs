//! `POST /admin/configure-payment-method`

use till_domain::command::Command;
use till_domain::ids::MerchantId;
use till_domain::merchant::{AcquirerName, Integration, PaymentMethod};
use till_domain::money::{AMOUNT_MAX_MINOR, FeeRate};
use till_protocol::fault::Fault;
use till_protocol::field;
use till_protocol::fields::Fields;

use super::about_merchant::{ByOperator, MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND};
use crate::endpoints::forms::{BOOLEAN, PAYMENT_METHOD, whole_number, words};
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<Operator> = &[Endpoint(
    &CONFIGURE_PAYMENT_METHOD,
    &ByOperator(CONFIGURED, |(method, integration)| Command::ConfigurePaymentMethod(method, integration)),
)];

const BASIS_POINTS: Field<u16> = Field {
    value_type: ValueType::integer(0, FeeRate::BASIS_POINTS_MAX as u64, 295),
    parse: |value| field::integer(0..=FeeRate::BASIS_POINTS_MAX)(value),
};

const CONFIGURED: ArgumentSet<(MerchantId, (PaymentMethod, Integration))> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    payment_method: PAYMENT_METHOD.required("The payment method."),
    acquirer: words!(AcquirerName).required("The acquirer that carries it out."),
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
    (merchant_id, (payment_method, Integration { acquirer, enabled, authorizes_without_capture, fee }))
});

static CONFIGURE_PAYMENT_METHOD: Declaration = Declaration {
    name: "configure-payment-method",
    summary: "Configures a payment method of a merchant; `false` when nothing changed.",
    docs: "Fees apply to captures from now on. A fee that is left out is 0. PROMPTPAY is for merchants with an \
        account in THB only.",
    arguments: CONFIGURED.declared,
    errors: &[MERCHANT_NOT_FOUND],
    ..Declaration::command(Package::Admin, "payment methods")
};

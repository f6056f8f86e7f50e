//! The arguments that endpoints share.

use till_domain::command::InviteUser;
use till_domain::customer::{Contact, CustomerFields, CustomerRef};
use till_domain::ids::{IdOrExternalId, PayoutId, RefundId};
use till_domain::money::AmountMinor;
use till_domain::payment::PaymentRef;
use till_domain::role::Role;
use till_protocol::api_error::Code;
use till_protocol::arguments::{ArgumentSet, Optional, Required, arguments};
use till_protocol::declaration::DeclaredError;

use super::forms::{
    AMOUNT, CLEAR_EMAIL, CUSTOMER_REF, EMAIL, MOBILE, PAYMENT_REF, PERSON_NAME, id_or_external_id, words,
};

/// The argument that names a payment.
pub(super) const PAYMENT_ARGUMENT: Required<PaymentRef> = PAYMENT_REF
    .required("The payment: its id (`pay_...`) or the merchant's own `external_id`.")
    .with_name("payment_id");

/// The refusal when no payment has that id.
pub(super) const PAYMENT_NOT_FOUND: DeclaredError =
    DeclaredError::new(Code::NotFound, "No payment of this merchant has this id.");

/// The argument that names a refund.
pub(super) const REFUND_ARGUMENT: Required<IdOrExternalId<RefundId>> = id_or_external_id::<RefundId>()
    .required("The refund: its id (`rfn_...`) or the merchant's own `external_id`.")
    .with_name("refund_id");

/// The argument that names a payout.
pub(super) const PAYOUT_ARGUMENT: Required<IdOrExternalId<PayoutId>> = id_or_external_id::<PayoutId>()
    .required("The payout: its id (`pyo_...`) or the merchant's own `external_id`.")
    .with_name("payout_id");

/// The argument with the role of a key.
pub(super) const KEY_ROLE_ARGUMENT: Optional<Role> =
    words!(Role).optional("What it may do, for as long as it lives; OWNER when left out.").with_name("role_id");

/// The argument with the refund limit of a key or a member.
pub(super) const REFUND_LIMIT_ARGUMENT: Optional<AmountMinor> = AMOUNT
    .optional("The largest amount that it may give back in one call, only with the role SUPPORT: nothing without one.")
    .with_name("refund_limit");

/// The arguments of an invitation to a team.
pub(super) const INVITED: ArgumentSet<InviteUser> = arguments!({
    email: CLEAR_EMAIL.required("The address of the invited person."),
    role_id: words!(Role).optional("What the person may do; VIEWER when left out."),
    refund_limit: REFUND_LIMIT_ARGUMENT,
} => InviteUser { email, role: role_id.unwrap_or(Role::Viewer), refund_limit });

/// The refusal of an invitation.
pub(super) const NOT_INVITED: DeclaredError = DeclaredError::new(
    Code::Conflict,
    "A user has this address (details name `user_id`), it is invited already (details name `invitation_id`), or 1,000 \
        invitations are open.",
)
.with(r#"{"argument": "email", "user_id": "usr_01h2e8kqvbfwea724h75qc655w"}"#);

/// The argument that names a customer.
pub(super) const CONTACT_ARGUMENT: Required<CustomerRef> =
    CUSTOMER_REF.required("The customer: an id (`ctc_...`) or the merchant's own identifier.").with_name("contact_id");

/// The arguments with a customer's data.
pub(super) const CUSTOMER_DATA: ArgumentSet<CustomerFields> = arguments!({
    customer_id: CUSTOMER_REF
        .optional("The customer: an id (`ctc_...`) or the merchant's own identifier. An identifier that is not known \
            yet is given to the customer found by e-mail or mobile, else to a new one."),
    customer_email: EMAIL
        .optional("Links the payment to the customer with this address, or creates one; with `customer_id` it updates \
            that customer.")
        .in_examples(),
    customer_mobile: MOBILE
        .optional("Links the payment to the customer with this number, or creates one; with `customer_id` it updates \
            that customer."),
    customer_name: PERSON_NAME.optional("The customer's name."),
} => CustomerFields {
    id: customer_id,
    contact: Contact { email: customer_email, mobile: customer_mobile, name: customer_name },
});

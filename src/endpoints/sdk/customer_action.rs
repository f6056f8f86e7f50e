//! `POST /sdk/get-redirect-url`, `retrieve-qr-data`, `get-return-url` and `cancel-payment-session`: the customer's part
//! of a payment.

use till_domain::command::Command;
use till_domain::customer_action::CustomerStep;
use till_domain::merchant::PaymentMethod;

use super::session::{self, INSTALLATION_ERRORS, PaymentProgress, SESSION};
use crate::endpoints::prelude::*;
use crate::service::{reply_of, returned_to};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[
    Endpoint(&GET_REDIRECT_URL, &get_redirect_url),
    Endpoint(&RETRIEVE_QR_DATA, &retrieve_qr_data),
    Endpoint(&GET_RETURN_URL, &get_return_url),
    Endpoint(&CANCEL_PAYMENT_SESSION, &cancel_payment_session),
];

const NOT_READY: DeclaredError = DeclaredError::new(
    Code::NotReady,
    "There is nothing of the kind now: details name the `next_action` that `discover-next-action` says.",
)
.with(r#"{"next_action": "WAIT"}"#);

/// An address, which may be longer than one that a caller gives.
const ADDRESS: ValueType = ValueType::Text(Text { length: None, ..Text::URL });

/// The text of a QR code.
const QR_TEXT: ValueType = ValueType::Text(Text {
    example: Some(
        "00020101021230630016A0000006770101120115000000000000000022061050R3GG28A1C60T3GF530376454071000.005802TH6304DB74",
    ),
    ..Text::PLAIN
});

static GET_REDIRECT_URL: Declaration = Declaration {
    name: "get-redirect-url",
    summary: "Returns the address that the customer is sent to, of the issuer, the bank or the wallet.",
    docs: "It stays the same as long as `discover-next-action` says `REDIRECT`. Send the whole window there. The \
        customer comes back to this server, which sends the customer on to `return_url`.",
    arguments: SESSION.declared,
    returns: Returns::Text(ADDRESS),
    errors: &[INSTALLATION_ERRORS[0], NOT_READY, DeclaredError::new(Code::NotSupported, "The method shows a QR code.")],
    flags: Flags { answers_addresses: true, ..Flags::OPEN_QUERY },
    ..Declaration::query(Package::Sdk, "sessions")
};

/// `POST /sdk/get-redirect-url`
async fn get_redirect_url(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let found = session::find(&service, &call).await?;
    if found.session.instrument.method() == PaymentMethod::PromptPay {
        return Err(not_supported(
            "A payment by QR code has no address to send the customer to: ask retrieve-qr-data.",
        ));
    }
    match found.action.as_ref().map(|action| &action.step) {
        Some(CustomerStep::Redirect(address)) => Ok(Reply::new(&call.absolute(address.as_str()))),
        Some(CustomerStep::DisplayQr(_) | CustomerStep::AcquirerPage) | None => Err(found.not_ready()),
    }
}

static RETRIEVE_QR_DATA: Declaration = Declaration {
    name: "retrieve-qr-data",
    summary: "Returns the text of the QR code that the customer scans.",
    docs: "Show it as a QR code with a quiet zone of four modules, dark on light. For PromptPay it is an EMVCo \
        merchant-presented code.",
    arguments: SESSION.declared,
    returns: Returns::Text(QR_TEXT),
    errors: &[INSTALLATION_ERRORS[0], NOT_READY, DeclaredError::new(Code::NotSupported, "The method has no QR code.")],
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "sessions")
};

/// `POST /sdk/retrieve-qr-data`
async fn retrieve_qr_data(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let found = session::find(&service, &call).await?;
    if found.session.instrument.method() != PaymentMethod::PromptPay {
        return Err(not_supported("The payment method has no QR code: ask discover-next-action."));
    }
    match found.action.as_ref().map(|action| &action.step) {
        Some(CustomerStep::DisplayQr(text)) => Ok(Reply::new(text.as_str())),
        Some(CustomerStep::Redirect(_) | CustomerStep::AcquirerPage) | None => Err(found.not_ready()),
    }
}

static GET_RETURN_URL: Declaration = Declaration {
    name: "get-return-url",
    summary: "Returns the shop's page that the customer goes to after the payment.",
    docs: "It is `return_url` of the payment with `payment_id` appended, once the payment is no longer PENDING. It \
        says nothing of the outcome: the shop asks `find-payment`.",
    arguments: SESSION.declared,
    returns: Returns::Text(ADDRESS),
    errors: &[INSTALLATION_ERRORS[0], NOT_READY],
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "sessions")
};

/// `POST /sdk/get-return-url`
async fn get_return_url(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let found = session::find(&service, &call).await?;
    match (&found.payment, found.progress()) {
        (Some(payment), PaymentProgress::Successful | PaymentProgress::Failed) => Ok(Reply::new(&returned_to(payment))),
        (None, PaymentProgress::Failed) => Err(ended_unused()),
        (_, PaymentProgress::Selected | PaymentProgress::Initiated) | (None, PaymentProgress::Successful) => {
            Err(found.not_ready())
        }
    }
}

fn ended_unused() -> ApiError {
    let message =
        "The payment session ended before a payment was made of it. Have the customer select the payment method again.";
    ApiError::not_found("payment_session_id", message)
}

fn not_supported(message: &'static str) -> ApiError {
    ApiError::new(Code::NotSupported, message)
}

pub(crate) static CANCEL_PAYMENT_SESSION: Declaration = Declaration {
    name: "cancel-payment-session",
    summary: "The customer gives up; `false` when nothing changed.",
    docs: "A session that no payment used yet ends with it. A payment fails with `canceled_by_customer` while its \
        customer must act; otherwise nothing changes.",
    arguments: SESSION.declared,
    errors: &INSTALLATION_ERRORS,
    flags: Flags { works_while_suspended: true, ..Flags::OPEN_COMMAND },
    ..Declaration::command(Package::Sdk, "sessions")
};

/// `POST /sdk/cancel-payment-session`
async fn cancel_payment_session(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (caller, session_id) = service.sdk_call(&call, call.fields().parse(&SESSION)).await?;
    let command = Command::CancelSession(session_id);
    Ok(reply_of(service.submit(&call, caller.merchant_id(), caller.as_domain(), command, None).await?))
}

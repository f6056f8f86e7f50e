//! The codes that clients branch on.

use std::fmt;

macro_rules! codes {
    ($($variant:ident = $name:literal, $docs:literal;)*) => {
        till_domain::word_enum! {
            /// The name of one way in which a call can fail. Renaming one breaks the API.
            pub enum Code: name, docs {
                $(#[doc = $docs] $variant => $name | $docs,)*
            }
        }
    };
}

codes! {
    InvalidArguments = "INVALID_ARGUMENTS", "An argument is missing, unknown or of the wrong form, or the body is not \
        acceptable JSON. The details list every fault.";
    Unauthorized = "UNAUTHORIZED", "The API key or admin token is missing, malformed, unknown, expired or revoked.";
    BadVersion = "BAD_VERSION", "The requested API version does not exist, or the request names two different ones.";
    NotFound = "NOT_FOUND", "The object that the call names does not exist, or does not belong to this merchant.";
    Conflict = "CONFLICT", "The call conflicts with existing data.";
    NotSupported = "NOT_SUPPORTED", "The payment method does not support the requested operation.";
    CustomerRequired = "CUSTOMER_REQUIRED", "A saved card is used and no customer is given.";
    CustomerMismatch = "CUSTOMER_MISMATCH", "The given customer does not own the card.";
    TokenAlreadyUsed = "TOKEN_ALREADY_USED", "A single-use token was used before.";
    NotReady = "NOT_READY", "The requested data is not available yet; ask again.";
    InvalidState = "INVALID_STATE", "The object's status does not permit this.";
    IdempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED", "The Idempotency-Key was used before with another body.";
    NotRefundable = "NOT_REFUNDABLE", "The payment cannot be refunded.";
    AmountExceedsLimit = "AMOUNT_EXCEEDS_LIMIT", "The amount exceeds the remainder of a limit.";
    InsufficientBalance = "INSUFFICIENT_BALANCE", "The available balance does not cover the amount.";
    MerchantSuspended = "MERCHANT_SUSPENDED", "The merchant is suspended: its SDK calls but that by which a customer \
        gives up are refused, and its calls that change something, except those that return money, answer a dispute, \
        or disable a leaked key or secret.";
    Forbidden = "FORBIDDEN", "The caller may not do this: its role does not allow it, a web page sent a secret API \
        key, a page of another site sent the form, or a notice is not the acquirer's.";
    MisdirectedRequest = "MISDIRECTED_REQUEST", "The admin listener does not answer for this Host.";
    UnknownEndpoint = "UNKNOWN_ENDPOINT", "There is no endpoint at this path.";
    MethodNotAllowed = "METHOD_NOT_ALLOWED", "Endpoints are called by POST. The Allow header lists the methods of \
        this path.";
    BodyTooLarge = "BODY_TOO_LARGE", "The body is larger than 1 MiB; at `/sdk` 64 KiB.";
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", "The body's Content-Type is not application/json, or the body is \
        encoded.";
    RequestTimeout = "REQUEST_TIMEOUT", "The head of the request did not arrive in time. Use a new connection.";
    HeadTooLarge = "HEAD_TOO_LARGE", "The head of the request is larger than 128 KiB, or has more than 96 headers.";
    AddressTooLong = "ADDRESS_TOO_LONG", "The path or the query of a page is longer than 8 KiB.";
    RateLimited = "RATE_LIMITED", "Too many calls; the Retry-After header has the seconds to wait.";
    UnhandledError = "UNHANDLED_ERROR", "The server failed unexpectedly. The X-Request-Id header names the occurrence.";
    Unavailable = "UNAVAILABLE", "The server cannot do this now. The details say if it was not done, or if that is \
        unknown; ask again with the same Idempotency-Key.";
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

//! The declarations of pipelines: one for each interface, with the same arguments.

use crate::api_error::Code;
use crate::declaration::{Argument, Declaration, DeclaredError, Flags, PIPELINE, Package, Returns, Text, ValueType};

/// The arguments; `example` is the example of the steps.
const fn arguments(example: &'static str) -> [Argument; 2] {
    [
        Argument::required(
            "steps",
            ValueType::Array(&ValueType::OBJECT),
            "The calls, 1 to 32, in order. Each is an object with the `url` of an endpoint of this listener, its \
                `body`, and `headers`, of which `Authorization`, `Api-Version`, `Idempotency-Key` and `Accept` count. \
                A string in `body` or in `headers` that is as a whole a path into the results so far, such as \
                `$[0].payment_id`, stands for what is there; `\\$` at its beginning stands for `$`.",
        )
        .such_as(example),
        Argument::optional(
            "returns",
            ValueType::Text(Text::PLAIN.matching("^\\$")),
            "The path to what is answered: `$` (also when left out) all results, `$[-1:]` the last one, any other \
                path what it finds.",
        )
        .such_as(r#""$""#),
    ]
}

static OF_MERCHANTS: [Argument; 2] = arguments(r#"[{"url": "/merchants/list-payments", "body": {"per_page": 1}}]"#);
static OF_SDK: [Argument; 2] = arguments(
    r#"[{"url": "/sdk/check-status", "body": {"merchant_id": "mer_01h2e8kqvbfwea724h75qc655w", "installation_id": "ins_01h2e8kqvbfwea724h75qc655w", "payment_session_id": "pse_01h2e8kqvbfwea724h75qc655w"}}]"#,
);
static OF_ADMIN: [Argument; 2] = arguments(r#"[{"url": "/admin/list-merchants", "body": {"per_page": 1}}]"#);

/// The codes with which a step may be refused. The first step that is refused ends the pipeline with its error.
const ERRORS: &[DeclaredError] = &[
    of_a_step(Code::Unauthorized),
    of_a_step(Code::NotFound),
    of_a_step(Code::Conflict),
    of_a_step(Code::NotSupported),
    of_a_step(Code::CustomerRequired),
    of_a_step(Code::CustomerMismatch),
    of_a_step(Code::TokenAlreadyUsed),
    of_a_step(Code::NotReady),
    of_a_step(Code::InvalidState),
    of_a_step(Code::IdempotencyKeyReused),
    of_a_step(Code::NotRefundable),
    of_a_step(Code::AmountExceedsLimit),
    of_a_step(Code::InsufficientBalance),
    of_a_step(Code::MerchantSuspended),
    of_a_step(Code::UnknownEndpoint),
    of_a_step(Code::MethodNotAllowed),
];

static MERCHANTS: Declaration = of(Package::Merchants, &OF_MERCHANTS);
static SDK: Declaration = of(Package::Sdk, &OF_SDK);
static ADMIN: Declaration = of(Package::Admin, &OF_ADMIN);

/// The declaration of the pipeline of an interface.
pub(crate) const fn declaration(package: Package) -> &'static Declaration {
    match package {
        Package::Merchants => &MERCHANTS,
        Package::Sdk => &SDK,
        Package::Admin => &ADMIN,
    }
}

const fn of(package: Package, arguments: &'static [Argument]) -> Declaration {
    Declaration {
        name: PIPELINE,
        package,
        group: "pipelining",
        summary: "Makes several calls one after the other, of which later ones may refer to the answers of earlier \
            ones.",
        docs: "Each step is judged as a call of its own, with its own limits; one without `Authorization` or \
            `Api-Version` has those of this call. The first step that is refused ends the pipeline with its error, \
            and what earlier steps did stays done. An `Idempotency-Key` belongs to a step, not to the pipeline.",
        arguments,
        returns: Returns::Any(r#"[{"previous": null, "page": [], "next": null}]"#),
        errors: ERRORS,
        // A step may carry card data, so the whole body is overwritten after the call.
        flags: Flags { carries_card_data: true, hands_key_on: !matches!(package, Package::Sdk), ..Flags::OPEN_QUERY },
    }
}

const fn of_a_step(code: Code) -> DeclaredError {
    DeclaredError::new(code, "A step was refused so.")
}

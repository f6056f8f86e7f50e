//! A merchant in the operator's interface.

use serde::Serialize;
use till_domain::ids::MerchantId;
use till_domain::merchant::{AcquirerName, PaymentMethod};
use till_domain::records::{Balances, Integrations, Profiles, Rows, Single, TestClocks};
use till_domain::time::Millis;

use crate::endpoints::forms::PAYMENT_METHOD_WORDS;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Attribute, ObjectType, ValueType, words_of};
use crate::service::Reader;

pub(in crate::endpoints) static MERCHANT: ObjectType = ObjectType {
    name: "merchant",
    attributes: &[
        Attribute::always("merchant_id", ValueType::Id(MerchantId::PREFIX), "The merchant's id (`mer_...`)."),
        Attribute::always("name", ValueType::STRING, "Its name.").such_as("Shop"),
        Attribute::always("currency", ValueType::STRING, "The ISO 4217 code of its account.").such_as("THB"),
        Attribute::always("time_zone", ValueType::STRING, "The time zone in which its days begin.")
            .such_as("Asia/Bangkok"),
        Attribute::always(
            "settlement_delay_seconds",
            ValueType::INTEGER,
            "The seconds for which captured money is held.",
        )
        .such_as("172800"),
        Attribute::nullable(
            "support_email",
            ValueType::EMAIL,
            "The e-mail address that its activity log shows for the operator.",
        )
        .such_as("support@shop.example"),
        Attribute::always("suspended", ValueType::BOOLEAN, "True when its calls that change something are refused.")
            .such_as("false"),
        Attribute::always(
            "card_numbers_in_identifiers",
            ValueType::BOOLEAN,
            "True when its identifiers, keys and metadata may look like card numbers.",
        )
        .such_as("false"),
        Attribute::always("balance_open", ValueType::BOOLEAN, "True when it has a balance."),
        Attribute::always(
            "payment_methods",
            ValueType::Array(&ValueType::Object(&INTEGRATION)),
            "The settings of each payment method.",
        ),
        Attribute::nullable(
            "test_clock",
            ValueType::Object(&TEST_CLOCK),
            "Its clock when that can be advanced; null when its time is the wall clock.",
        ),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which it was created."),
    ],
};

/// The declared members of a test clock.
static TEST_CLOCK: ObjectType = ObjectType {
    name: "test_clock",
    attributes: &[
        Attribute::always("now", ValueType::TIMESTAMP, "The merchant's time."),
        Attribute::always(
            "ahead_seconds",
            ValueType::INTEGER,
            "The seconds by which it is ahead of the wall clock, rounded down.",
        )
        .such_as("86400"),
    ],
};

/// The declared members of a method's integration.
static INTEGRATION: ObjectType = ObjectType {
    name: "integration",
    attributes: &[
        Attribute::always("payment_method", PAYMENT_METHOD_WORDS, "The payment method."),
        Attribute::always("acquirer", words_of!(AcquirerName), "The acquirer that carries it out."),
        Attribute::always("enabled", ValueType::BOOLEAN, "True when it can be selected and initiated."),
        Attribute::always(
            "authorizes_without_capture",
            ValueType::BOOLEAN,
            "True when a payment can be authorized without being captured.",
        ),
        Attribute::always("fee_basis_points", ValueType::INTEGER, "Hundredths of a percent of the captured amount.")
            .such_as("290"),
        Attribute::always("fee_fixed", ValueType::INTEGER, "Added to that, in minor units.").such_as("300"),
    ],
};

#[derive(Serialize)]
pub(in crate::endpoints) struct MerchantShape {
    merchant_id: String,
    name: String,
    currency: String,
    time_zone: String,
    settlement_delay_seconds: u64,
    support_email: Option<String>,
    suspended: bool,
    card_numbers_in_identifiers: bool,
    balance_open: bool,
    payment_methods: Vec<MethodShape>,
    test_clock: Option<TestClockShape>,
    created_at: u64,
}

#[derive(Serialize)]
struct TestClockShape {
    now: u64,
    ahead_seconds: u64,
}

#[derive(Serialize)]
struct MethodShape {
    payment_method: &'static str,
    acquirer: &'static str,
    enabled: bool,
    authorizes_without_capture: bool,
    fee_basis_points: u16,
    fee_fixed: u64,
}

impl MerchantShape {
    /// The object for the reader's merchant, whose time is `now`.
    pub(in crate::endpoints) fn read(reader: &Reader<'_>, now: Millis) -> Result<MerchantShape, ApiError> {
        let profile = reader.get::<Profiles>(Single)?.ok_or_else(ApiError::unhandled)?;
        let test_clock = reader.get::<TestClocks>(reader.merchant_id())?;
        let mut payment_methods = Vec::new();
        for method in PaymentMethod::ALL {
            payment_methods.extend(MethodShape::read(reader, method)?);
        }
        Ok(MerchantShape {
            merchant_id: reader.merchant_id().to_string(),
            name: profile.name.as_str().to_owned(),
            currency: profile.currency.to_string(),
            time_zone: profile.time_zone.as_str().to_owned(),
            settlement_delay_seconds: profile.settlement_delay_seconds,
            support_email: profile.support_email.map(|email| email.as_str().to_owned()),
            suspended: profile.suspended,
            card_numbers_in_identifiers: profile.card_numbers_in_identifiers,
            balance_open: reader.get::<Balances>(Single)?.is_some(),
            payment_methods,
            test_clock: test_clock.map(|test_clock| TestClockShape {
                now: now.unix_seconds(),
                ahead_seconds: test_clock.offset_ms / 1_000,
            }),
            created_at: profile.created_at.unix_seconds(),
        })
    }
}

impl MethodShape {
    fn read(reader: &Reader<'_>, method: PaymentMethod) -> Result<Option<MethodShape>, ApiError> {
        Ok(reader.get::<Integrations>(method)?.map(|integration| MethodShape {
            payment_method: method.name(),
            acquirer: integration.acquirer.name(),
            enabled: integration.enabled,
            authorizes_without_capture: integration.authorizes_without_capture,
            fee_basis_points: integration.fee.basis_points,
            fee_fixed: integration.fee.fixed_minor,
        }))
    }
}

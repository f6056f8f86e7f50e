//! A merchant in the operator's interface.

use till_domain::ids::MerchantId;
use till_domain::merchant::{Integration, PaymentMethod, Profile, TestClock};
use till_domain::records::{Balances, Integrations, Profiles, Rows, Single, TestClocks};
use till_domain::time::Millis;
use till_protocol::api_error::ApiError;
use till_protocol::declaration::ValueType;

use super::object::object;
use crate::endpoints::forms::PAYMENT_METHOD_WORDS;
use crate::service::Reader;

object! {
    /// A merchant, with its payment methods in their order.
    pub(in crate::endpoints) MERCHANT "merchant" as MerchantShape of (
        merchant_id: MerchantId,
        profile: Profile,
        has_balance: bool,
        payment_methods: Vec<MethodShape>,
        test_clock: Option<TestClockShape>
    ) {
        merchant_id: Id(MerchantId::PREFIX) = merchant_id, "The merchant's id (`mer_...`).";
        name: STRING = profile.name, "Its name.", such_as("Shop");
        currency: STRING = profile.currency, "The ISO 4217 code of its account.", such_as("THB");
        time_zone: STRING = profile.time_zone, "The time zone in which its days begin.", such_as("Asia/Bangkok");
        settlement_delay_seconds: INTEGER = profile.settlement_delay_seconds,
            "The seconds for which captured money is held.", such_as("172800");
        support_email: EMAIL or null = profile.support_email,
            "The e-mail address that its activity log shows for the operator.", such_as("support@shop.example");
        suspended: BOOLEAN = profile.suspended,
            "True when its calls that change something are refused.", such_as("false");
        card_numbers_in_identifiers: BOOLEAN = profile.card_numbers_in_identifiers,
            "True when its identifiers, keys and metadata may look like card numbers.", such_as("false");
        color: STRING or null = profile.color, "The colour of its pages for customers.", such_as("#0a7fff");
        balance_open: BOOLEAN = has_balance, "True when it has a balance.";
        payment_methods: Array(&ValueType::Object(&INTEGRATION)) = payment_methods,
            "The settings of each payment method.";
        test_clock: Object(&TEST_CLOCK) or null = test_clock,
            "Its clock when that can be advanced; null when its time is the wall clock.";
        created_at: TIMESTAMP = profile.created_at, "The time at which it was created.";
    }
}

object! {
    /// A test clock that says `now`.
    pub(in crate::endpoints) TEST_CLOCK "test_clock" as TestClockShape of (test_clock: TestClock, now: Millis) {
        now: TIMESTAMP = now, "The merchant's time.";
        ahead_seconds: INTEGER = test_clock.offset_ms / 1_000,
            "The seconds by which it is ahead of the wall clock, rounded down.", such_as("86400");
    }
}

object! {
    /// The settings of a payment method.
    pub(in crate::endpoints) INTEGRATION "integration" as MethodShape of (
        method: PaymentMethod,
        integration: Integration
    ) {
        payment_method: type(PAYMENT_METHOD_WORDS) = method, "The payment method.";
        acquirer: STRING = integration.acquirer,
            "What carries it out: `sandbox`, or an account (`acq_...`).", such_as("sandbox");
        enabled: BOOLEAN = integration.enabled, "True when it can be selected and initiated.";
        authorizes_without_capture: BOOLEAN = integration.authorizes_without_capture,
            "True when a payment can be authorized without being captured.";
        fee_basis_points: INTEGER = integration.fee.basis_points,
            "Hundredths of a percent of the captured amount.", such_as("290");
        fee_fixed: MINOR_UNITS = integration.fee.fixed_minor, "Added to that, in minor units.", such_as("300");
    }
}

impl MerchantShape {
    /// The object for the reader's merchant, whose time is `now`.
    pub(in crate::endpoints) fn read(reader: &Reader<'_>, now: Millis) -> Result<MerchantShape, ApiError> {
        let merchant_id = reader.merchant_id();
        let profile = reader.get::<Profiles>(Single)?.ok_or_else(ApiError::unhandled)?;
        let has_balance = reader.get::<Balances>(Single)?.is_some();
        let mut payment_methods = Vec::new();
        for method in PaymentMethod::ALL {
            let integration = reader.get::<Integrations>(method)?;
            payment_methods.extend(integration.map(|integration| MethodShape::new(method, integration)));
        }
        let test_clock = reader.get::<TestClocks>(merchant_id)?;
        let test_clock = test_clock.map(|test_clock| TestClockShape::new(test_clock, now));
        Ok(MerchantShape::new(merchant_id, profile, has_balance, payment_methods, test_clock))
    }
}

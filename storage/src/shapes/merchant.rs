//! Shapes of a merchant: who it is, its keys, what it takes payments with, where.

use till_domain::key::ApiKey;
use till_domain::merchant::{AcquirerName, Installation, Integration, PaymentMethod, Platform, Profile};
use till_domain::money::FeeRate;
use till_domain::records::{CreatedMerchant, KeyOwner};

use super::shape::{shape_enum, shape_struct};

shape_struct! {
    /// What the operator said of a merchant. The support address is the operator's, and stands in clear.
    ProfileV1 of Profile {
        name: String,
        currency: [u8; 3],
        time_zone: String,
        settlement_delay_seconds: u64,
        support_email: Option<String>,
        created_at: u64,
        suspended: bool,
    }
}

shape_enum! {
    /// A kind of payment method.
    PaymentMethodV1 of PaymentMethod {
        Card,
        Installment,
    }
}

shape_enum! {
    /// An acquirer that Till knows.
    AcquirerNameV1 of AcquirerName {
        Sandbox,
    }
}

shape_struct! {
    /// What a merchant pays for a captured payment.
    FeeRateV1 of FeeRate {
        basis_points: u16,
        fixed_minor: u64,
    }
}

shape_struct! {
    /// How a merchant's payments of one method are carried out.
    IntegrationV1 of Integration {
        acquirer: AcquirerNameV1,
        enabled: bool,
        authorizes_without_capture: bool,
        fee: FeeRateV1,
    }
}

shape_enum! {
    /// Where a client SDK runs.
    PlatformV1 of Platform {
        Web,
        Ios,
        Android,
        Terminal,
    }
}

shape_struct! {
    /// One installation of a client SDK.
    InstallationV1 of Installation {
        id: [u8; 16],
        name: String,
        platform: PlatformV1,
        identifier: String,
        created_at: u64,
    }
}

shape_struct! {
    /// An API key as it is kept.
    ApiKeyV1 of ApiKey {
        id: [u8; 16],
        digest: [u8; 32],
        display: String,
        name: String,
        api_version: String,
        created_at: u64,
        expires_at: Option<u64>,
        revoked_at: Option<u64>,
    }
}

shape_struct! {
    /// Whose API key a digest is.
    KeyOwnerV1 of KeyOwner {
        merchant_id: [u8; 16],
        key_id: [u8; 16],
    }
}

shape_struct! {
    /// Which merchant a call under an Idempotency-Key created.
    CreatedMerchantV1 of CreatedMerchant {
        merchant_id: [u8; 16],
        fingerprint: [u8; 32],
        expires_at: u64,
    }
}

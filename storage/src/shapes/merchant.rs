//! Shapes of a merchant: its profile, its keys, its payment methods, its installations.

use till_domain::key::ApiKey;
use till_domain::merchant::{Installation, Integration, Profile, TestClock};
use till_domain::money::FeeRate;
use till_domain::records::{CreatedMerchant, KeyOwner};

use super::acquirer::AcquirerRefV1;
use super::declared::shape_struct;
use super::tag::Tag;

shape_struct! {
    /// The profile of a merchant, as the operator gave it. The support address is the operator's, and is stored in
    /// clear.
    ProfileV1 of Profile {
        name: String,
        currency: [u8; 3],
        time_zone: String,
        settlement_delay_seconds: u64,
        support_email: Option<String>,
        created_at: u64,
        suspended: bool,
        card_numbers_in_identifiers: bool,
        color: Option<[u8; 3]>,
    }
}

shape_struct! {
    /// The clock of a merchant whose time the operator advances in tests.
    TestClockV1 of TestClock {
        offset_ms: u64,
    }
}

shape_struct! {
    /// The fee rate of a captured payment.
    FeeRateV1 of FeeRate {
        basis_points: u16,
        fixed_minor: u64,
    }
}

shape_struct! {
    /// The settings by which a merchant's payments of one method are carried out.
    IntegrationV1 of Integration {
        acquirer: AcquirerRefV1,
        enabled: bool,
        authorizes_without_capture: bool,
        fee: FeeRateV1,
    }
}

shape_struct! {
    /// One installation of a client SDK.
    InstallationV1 of Installation {
        id: [u8; 16],
        name: String,
        platform: Tag,
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
        role: Tag,
        refund_limit: Option<u64>,
    }
}

shape_struct! {
    /// The owner of the API key with a digest.
    KeyOwnerV1 of KeyOwner {
        merchant_id: [u8; 16],
        key_id: [u8; 16],
    }
}

shape_struct! {
    /// The merchant that a call with an Idempotency-Key created.
    CreatedMerchantV1 of CreatedMerchant {
        merchant_id: [u8; 16],
        fingerprint: [u8; 32],
        expires_at: u64,
    }
}

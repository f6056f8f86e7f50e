//! Shapes of a merchant: its profile, its keys, its payment methods, its installations.

use till_domain::key::ApiKey;
use till_domain::merchant::{AcquirerName, Installation, Integration, PaymentMethod, Platform, Profile, TestClock};
use till_domain::money::FeeRate;
use till_domain::records::{CreatedMerchant, KeyOwner, Unreadable};

use super::codec::{Decode, Out, ShapeError};
use super::personal::Personal;
use super::shape::{Shape, shape_enum, shape_struct};

/// The profile, as the operator gave it, of a merchant that accepts no card numbers in identifiers. The support address
/// is the operator's, and is stored in clear.
#[derive(Debug, Decode)]
pub(super) struct ProfileV1 {
    name: String,
    currency: [u8; 3],
    time_zone: String,
    settlement_delay_seconds: u64,
    support_email: Option<String>,
    created_at: u64,
    suspended: bool,
}

impl ProfileV1 {
    /// Returns true when the shape holds the profile.
    pub(super) const fn holds(profile: &Profile) -> bool {
        !profile.card_numbers_in_identifiers
    }
}

impl Shape<Profile> for ProfileV1 {
    fn write(profile: &Profile, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        if !ProfileV1::holds(profile) {
            return Err(Unreadable { reason: "a profile that takes card numbers has a later shape".to_owned() });
        }
        let Profile { name, currency, time_zone, settlement_delay_seconds, support_email, .. } = profile;
        String::write(name, personal, out)?;
        <[u8; 3]>::write(currency, personal, out)?;
        String::write(time_zone, personal, out)?;
        u64::write(settlement_delay_seconds, personal, out)?;
        Option::<String>::write(support_email, personal, out)?;
        u64::write(&profile.created_at, personal, out)?;
        bool::write(&profile.suspended, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<Profile, ShapeError> {
        Ok(Profile {
            name: self.name.unpack(personal)?,
            currency: self.currency.unpack(personal)?,
            time_zone: self.time_zone.unpack(personal)?,
            settlement_delay_seconds: self.settlement_delay_seconds,
            support_email: self.support_email.unpack(personal)?,
            created_at: self.created_at.unpack(personal)?,
            suspended: self.suspended,
            card_numbers_in_identifiers: false,
        })
    }
}

shape_struct! {
    /// The profile of a merchant, as the operator gave it.
    ProfileV2 of Profile {
        name: String,
        currency: [u8; 3],
        time_zone: String,
        settlement_delay_seconds: u64,
        support_email: Option<String>,
        created_at: u64,
        suspended: bool,
        card_numbers_in_identifiers: bool,
    }
}

shape_struct! {
    /// The clock of a merchant whose time the operator advances in tests.
    TestClockV1 of TestClock {
        offset_ms: u64,
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
    /// The fee rate of a captured payment.
    FeeRateV1 of FeeRate {
        basis_points: u16,
        fixed_minor: u64,
    }
}

shape_struct! {
    /// The settings by which a merchant's payments of one method are carried out.
    IntegrationV1 of Integration {
        acquirer: AcquirerNameV1,
        enabled: bool,
        authorizes_without_capture: bool,
        fee: FeeRateV1,
    }
}

shape_enum! {
    /// The platform on which a client SDK runs.
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

//! Calls of the client SDK: their merchant, their installation, and their rate.

use std::net::{IpAddr, Ipv4Addr};

use till_domain::command::Caller;
use till_domain::ids::{InstallationId, MerchantId};
use till_domain::merchant::{Installation, Platform, Profile};
use till_domain::records::{Installations, MerchantDirectory, Profiles, Rows, Single};
use till_domain::refusal::Refusal;
use till_protocol::api_error::ApiError;
use till_protocol::arguments::{ArgumentSet, arguments, id};
use till_protocol::connection::address_group;
use till_protocol::dispatch::Call;
use till_protocol::json::{Json, Object};

use crate::service::submission::{Reader, Service, refused};

/// The installation of a call.
pub struct SdkCaller<'a> {
    /// A reader of its merchant's rows.
    pub reader: Reader<'a>,
    pub profile: Profile,
    pub installation: Installation,
}

impl SdkCaller<'_> {
    /// The caller in the form of the domain.
    #[must_use]
    pub fn as_domain(&self) -> Caller {
        Caller::Sdk(self.installation.id)
    }

    #[must_use]
    pub fn merchant_id(&self) -> MerchantId {
        self.reader.merchant_id()
    }
}

/// The merchant and the installation that a body names.
#[derive(Debug, Clone, Copy)]
pub struct NamedInstallation {
    merchant_id: MerchantId,
    installation_id: InstallationId,
}

impl NamedInstallation {
    /// The arguments with which every call names its installation.
    #[must_use]
    pub const fn arguments<X>() -> ArgumentSet<NamedInstallation, X> {
        arguments!(NamedInstallation {
            merchant_id: id::<MerchantId>().required("The merchant (`mer_...`)."),
            installation_id: id::<InstallationId>().required("The installation that calls (`ins_...`)."),
        })
    }

    #[must_use]
    pub fn merchant_id(self) -> MerchantId {
        self.merchant_id
    }

    /// The merchant and the installation that a body names, even when it has other faults.
    fn of_faulty(body: &Object) -> Option<NamedInstallation> {
        let text = |name: &str| body.get(name).and_then(Json::as_str);
        Some(NamedInstallation {
            merchant_id: text("merchant_id")?.parse().ok()?,
            installation_id: text("installation_id")?.parse().ok()?,
        })
    }
}

impl Service {
    /// Looks up the installation of a call, lets its page read the answer, and counts the call. `parsed` is the result
    /// of reading the arguments: their faults are reported first, but the page must be able to read these, too.
    ///
    /// # Errors
    /// The faults; `NOT_FOUND` for an unknown merchant or installation, `MERCHANT_SUSPENDED`, `RATE_LIMITED`.
    pub async fn sdk_call<C, T>(
        &self,
        call: &Call<C>,
        parsed: Result<(NamedInstallation, T), ApiError>,
    ) -> Result<(SdkCaller<'_>, T), ApiError> {
        match parsed {
            Ok((named, arguments)) => Ok((self.sdk_caller(call, named).await?, arguments)),
            Err(faults) => {
                if let Some(named) = NamedInstallation::of_faulty(call.body())
                    && let Ok((_, installation)) = self.installation(named).await?
                {
                    self.admit(call, named.merchant_id, &installation)?;
                }
                Err(faults)
            }
        }
    }

    async fn sdk_caller<C>(&self, call: &Call<C>, named: NamedInstallation) -> Result<SdkCaller<'_>, ApiError> {
        let found = self.installation(named).await?;
        let (reader, installation) = found.map_err(|refusal| refused(&refusal))?;
        self.admit(call, named.merchant_id, &installation)?;
        let profile = reader.get::<Profiles>(Single)?;
        let profile = profile.ok_or_else(|| refused(&Refusal::InstallationNotFound))?;
        if profile.suspended && !call.declaration().flags.works_while_suspended {
            return Err(refused(&Refusal::MerchantSuspended));
        }
        Ok(SdkCaller { reader, profile, installation })
    }

    /// The installation with a reader of its merchant's rows. A refusal does not tell whether there is such a merchant.
    async fn installation(
        &self,
        named: NamedInstallation,
    ) -> Result<Result<(Reader<'_>, Installation), Refusal>, ApiError> {
        let reader = self.reader(named.merchant_id).await?;
        if reader.get::<MerchantDirectory>(named.merchant_id)?.is_none() {
            return Ok(Err(Refusal::InstallationNotFound));
        }
        let installation = reader.get::<Installations>(named.installation_id)?;
        Ok(installation.map(|installation| (reader, installation)).ok_or(Refusal::InstallationNotFound))
    }

    fn admit<C>(&self, call: &Call<C>, merchant_id: MerchantId, installation: &Installation) -> Result<(), ApiError> {
        call.log_subject(merchant_id, Some(installation.id));
        if call.is_of_page() {
            return Ok(());
        }
        if installation.platform == Platform::Web {
            call.allow_only_origin(installation.identifier.as_str());
        }
        self.sdk_rates().0.count(&(installation.id, address_of(call)))
    }

    /// Counts a call that is going to write for an installation, though anybody can make it.
    ///
    /// # Errors
    /// `RATE_LIMITED`: nothing was done.
    pub fn count_write<C>(&self, call: &Call<C>, caller: &SdkCaller<'_>) -> Result<(), ApiError> {
        let key = call.idempotency_key()?.map_or(0, str::len);
        let texts: usize = call.body().values().filter_map(Json::as_str).map(str::len).sum();
        self.sdk_rates().1.count(caller.installation.id, address_of(call), key + texts)
    }
}

fn address_of<C>(call: &Call<C>) -> IpAddr {
    address_group(call.peer().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
}

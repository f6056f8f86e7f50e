//! A merchant's installations, which its members look at and the operator keeps.

use till_domain::ids::InstallationId;
use till_domain::records::Installations;

use crate::endpoints::prelude::*;
use crate::endpoints::shapes::installation::{INSTALLATION, InstallationShape};

pub(super) const ENDPOINTS: MerchantEndpoints =
    &[MerchantEndpoint(Act::SeeInstallations, &LIST_INSTALLATIONS, &list::<Installations>)];

static LIST_INSTALLATIONS: Declaration = Declaration {
    name: "list-installations",
    summary: "Lists the merchant's installations, newest first.",
    arguments: &list_page_arguments(InstallationId::PREFIX),
    returns: Returns::ListPage(&INSTALLATION),
    ..Declaration::query(Package::Merchants, "installations")
};

kind!(Installations => InstallationShape::new);

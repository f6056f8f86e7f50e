//! `POST /merchants/delete-metadata`

use till_domain::command::{Command, DeleteMetadata};

use super::arguments::{KEY, VERSION};
use crate::endpoints::merchants::by_merchant::ByMerchant;
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: MerchantEndpoints = &[MerchantEndpoint(
    Act::ChangeMetadata,
    &DELETE_METADATA,
    &ByMerchant(DELETED, |_, deletion| Command::DeleteMetadata(deletion)),
)];

const DELETED: ArgumentSet<DeleteMetadata> = arguments!(DeleteMetadata { key: KEY, version: VERSION });

static DELETE_METADATA: Declaration = Declaration {
    name: "delete-metadata",
    summary: "Deletes a metadata record: `true` when there was one.",
    arguments: DELETED.declared,
    errors: &[DeclaredError::STALE_VERSION],
    ..Declaration::command(Package::Merchants, "metadata")
};

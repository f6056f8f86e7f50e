//! `POST /merchants/delete-metadata`

use crate::endpoints::endpoint::Endpoint;
use crate::endpoints::merchants::by_merchant::Submit;
use crate::protocol::arguments::{ArgumentSet, arguments};
use crate::protocol::declaration::{Declaration, DeclaredError, Flags, Package, Returns};
use till_domain::command::{Command, DeleteMetadata};

use super::arguments::{KEY, VERSION};
use crate::access::MerchantCaller;

pub(super) const ENDPOINTS: &[Endpoint<MerchantCaller>] =
    &[Endpoint(&DELETE_METADATA, &Submit(DELETED, |_, deletion| Command::DeleteMetadata(deletion)))];

const DELETED: ArgumentSet<DeleteMetadata> = arguments!(DeleteMetadata { key: KEY, version: VERSION });

static DELETE_METADATA: Declaration = Declaration {
    name: "delete-metadata",
    package: Package::Merchants,
    group: "metadata",
    summary: "Deletes a metadata record: `true` when there was one.",
    docs: "",
    arguments: DELETED.declared,
    returns: Returns::Boolean,
    errors: &[DeclaredError::STALE_VERSION],
    flags: Flags::COMMAND,
};

//! The merchant and the installation that a call is about, for its line in the log.

use std::sync::{Arc, OnceLock};

use till_domain::ids::{InstallationId, MerchantId};

/// The subject of a call. The endpoint sets it, once it knows that merchant and installation exist.
#[derive(Debug, Clone, Default)]
pub(super) struct LogSubject(Arc<OnceLock<(MerchantId, Option<InstallationId>)>>);

impl LogSubject {
    /// Sets the subject. A later one does not replace it.
    pub(super) fn set(&self, merchant_id: MerchantId, installation_id: Option<InstallationId>) {
        let _first_counts = self.0.set((merchant_id, installation_id));
    }

    /// The texts for the log: of the merchant and of the installation.
    pub(super) fn texts(&self) -> (Option<String>, Option<String>) {
        let subject = self.0.get();
        let installation_id = subject.and_then(|(_, installation_id)| *installation_id);
        (subject.map(|(merchant_id, _)| merchant_id.to_string()), installation_id.map(|id| id.to_string()))
    }
}

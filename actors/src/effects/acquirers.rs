//! The acquirers that are called: the sandbox, and merchants' accounts. An account is opened from its row and the vault
//! for each call, so that its secret is in memory for no longer.

use std::sync::Arc;
use std::time::Duration;

use till_domain::acquirer::{AccountMode, AccountSecret, AcquirerName, AcquirerRef};
use till_domain::records::{AcquirerAccounts, Rows};
use till_storage::rows::RowReader;
use till_storage::shapes::MerchantReader;
use till_storage::vault::AccountSecretOf;
use zeroize::Zeroizing;

use super::calls::NoResult;
use super::times::in_time;
use crate::acquirer::{Acquirer, AcquirerUnavailable, Connector, Connectors, LateAnswers};

/// The time after which a trial of a secret has no answer: that of a look-up.
const TRIAL_TIMEOUT: Duration = Duration::from_secs(10);
const NO_CONNECTOR: &str = "there is no connector to it";

/// An acquirer, with the mode of its account; or why it cannot be called.
pub(super) type OpenedAcquirer = Result<(Arc<dyn Acquirer>, AccountMode), NoResult>;

/// The acquirers that can be called.
pub struct Acquirers {
    sandbox: Arc<dyn Acquirer>,
    connectors: Connectors,
}

impl Acquirers {
    /// The sandbox, and the connectors to all others.
    #[must_use]
    pub const fn new(sandbox: Arc<dyn Acquirer>, connectors: Connectors) -> Acquirers {
        Acquirers { sandbox, connectors }
    }

    /// The connector to an acquirer.
    #[must_use]
    pub fn connector(&self, name: AcquirerName) -> Option<Arc<dyn Connector>> {
        self.connectors.get(&name).cloned()
    }

    /// Tries a secret, of an account of this mode, by a call that changes nothing. Answers the acquirer's own id of the
    /// account.
    ///
    /// # Errors
    /// [`AcquirerUnavailable`]: the secret is refused, or there is no clear answer in time.
    pub async fn check(
        &self,
        name: AcquirerName,
        secret: Zeroizing<String>,
        mode: AccountMode,
    ) -> Result<String, AcquirerUnavailable> {
        let connector = self.connector(name).ok_or_else(|| AcquirerUnavailable::not_sent(NO_CONNECTOR))?;
        in_time(TRIAL_TIMEOUT, connector.check(secret, mode)).await
    }

    /// Registers the receiver of late answers. Those of accounts are found by look-ups alone.
    pub(crate) fn send_late_answers(&self, to: LateAnswers) {
        self.sandbox.send_late_answers(to);
    }

    /// The acquirer of a payment or payout of the reader's merchant, and the mode of its account.
    pub(crate) fn of<R: RowReader>(&self, acquirer: AcquirerRef, rows: &MerchantReader<R>) -> OpenedAcquirer {
        let AcquirerRef::Account(name, id) = acquirer else {
            return Ok((Arc::clone(&self.sandbox), AccountMode::Test));
        };
        let account = rows.get::<AcquirerAccounts>(id)?.ok_or_else(|| cannot_be_asked("the account was removed"))?;
        let connector = self.connector(name).ok_or_else(|| cannot_be_asked(NO_CONNECTOR))?;
        let secret = rows.account_secret(AccountSecretOf { acquirer_id: id, secret: AccountSecret::Calls })?;
        let secret = secret.ok_or_else(|| cannot_be_asked("the vault has no secret of the account"))?;
        Ok((connector.open(&account, secret), account.mode))
    }
}

fn cannot_be_asked(reason: &str) -> NoResult {
    NoResult::Unanswered(reason.to_owned())
}

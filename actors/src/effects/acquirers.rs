//! The acquirers that are called: the sandbox, and merchants' accounts. An account is opened from its row and the vault
//! when it is first needed, and again when its row has changed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use till_domain::acquirer::{AccountMode, AccountSecret, AcquirerAccount, AcquirerName, AcquirerRef};
use till_domain::ids::{AcquirerId, MerchantId};
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

/// The acquirers that can be called.
pub struct Acquirers {
    sandbox: Arc<dyn Acquirer>,
    connectors: Connectors,
    open: Mutex<BTreeMap<(MerchantId, AcquirerId), Open>>,
}

/// An account that was opened as its row was then.
struct Open {
    account: AcquirerAccount,
    acquirer: Arc<dyn Acquirer>,
}

impl Acquirers {
    /// The sandbox, and the connectors to all others.
    #[must_use]
    pub fn new(sandbox: Arc<dyn Acquirer>, connectors: Connectors) -> Acquirers {
        Acquirers { sandbox, connectors, open: Mutex::default() }
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

    /// Closes an account that was removed.
    pub fn close(&self, merchant_id: MerchantId, id: AcquirerId) {
        self.open.lock().remove(&(merchant_id, id));
    }

    /// The mode of an account that was opened; that with the lower rate of another.
    pub(crate) fn mode_of(&self, merchant_id: MerchantId, id: AcquirerId) -> AccountMode {
        self.open.lock().get(&(merchant_id, id)).map_or(AccountMode::Test, |open| open.account.mode)
    }

    /// Registers the receiver of late answers. Those of accounts are found by look-ups alone.
    pub(crate) fn send_late_answers(&self, to: LateAnswers) {
        self.sandbox.send_late_answers(to);
    }

    /// The acquirer of a payment or payout of the reader's merchant.
    pub(crate) fn of<R: RowReader>(
        &self,
        acquirer: AcquirerRef,
        rows: &MerchantReader<R>,
    ) -> Result<Arc<dyn Acquirer>, NoResult> {
        let AcquirerRef::Account(name, id) = acquirer else { return Ok(Arc::clone(&self.sandbox)) };
        let key = (rows.merchant_id(), id);
        let account = rows.get::<AcquirerAccounts>(id)?;
        let mut open = self.open.lock();
        let Some(account) = account else {
            open.remove(&key);
            return Err(cannot_be_asked("the account was removed"));
        };
        if let Some(found) = open.get(&key).filter(|found| found.account == account) {
            return Ok(Arc::clone(&found.acquirer));
        }
        let connector = self.connector(name).ok_or_else(|| cannot_be_asked(NO_CONNECTOR))?;
        // The secret may be newer than the row: then the row is read again with the next call.
        let secret = rows.account_secret(AccountSecretOf { acquirer_id: id, secret: AccountSecret::Calls })?;
        let secret = secret.ok_or_else(|| cannot_be_asked("the vault has no secret of the account"))?;
        let acquirer = connector.open(&account, secret);
        open.insert(key, Open { account, acquirer: Arc::clone(&acquirer) });
        Ok(acquirer)
    }
}

fn cannot_be_asked(reason: &str) -> NoResult {
    NoResult::Unanswered(reason.to_owned())
}

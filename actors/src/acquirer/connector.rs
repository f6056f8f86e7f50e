//! Connectors: each reaches one acquirer, for all accounts that merchants have there.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use till_domain::acquirer::{AccountMode, AccountSecret, AcquirerAccount, AcquirerName};
use till_domain::ids::MerchantId;
use till_domain::time::Millis;
use zeroize::Zeroizing;

use super::calls::Acquirer;
use super::reference::NamedCall;

/// The connectors that there are, by the name of their acquirer.
pub type Connectors = BTreeMap<AcquirerName, Arc<dyn Connector>>;

/// A pending answer to a trial of a secret.
pub type TrialAnswer = Pin<Box<dyn Future<Output = Result<TriedAccount, TrialError>> + Send>>;

/// The way to one acquirer.
pub trait Connector: Send + Sync + 'static {
    /// Tries a secret by a call that changes nothing.
    fn check(&self, secret: Zeroizing<String>) -> TrialAnswer;

    /// An acquirer that calls in the name of an account. Calls that an earlier one has under way keep its secrets.
    fn open(&self, account: OpenedAccount) -> Arc<dyn Acquirer>;

    /// The name of the header, in lower case, with which notices are signed.
    fn notice_header(&self) -> &'static str;

    /// Reads a notice, and answers the call that it is about; none for one that is about something else. Only that is
    /// believed of it: what has become of the call is looked up.
    ///
    /// # Errors
    /// [`NoticeRefused`], whatever is wrong with it.
    fn read_notice(&self, notice: &Notice<'_>) -> Result<Option<NamedCall>, NoticeRefused>;
}

/// What came to the address for an account's notices.
pub struct Notice<'n> {
    /// The body, as it came.
    pub body: &'n [u8],
    /// The value of the header with the signature.
    pub signature: &'n str,
    /// The account's secret for notices.
    pub secret: &'n str,
    /// The present instant.
    pub now: Millis,
}

/// A notice is not genuine, or not of this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the notice is not signed with the account's secret, or not at this time")]
pub struct NoticeRefused;

/// What the acquirer says of the account of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedAccount {
    /// Its own id of the account.
    pub account: String,
    /// The kind of money that the account moves.
    pub mode: AccountMode,
}

/// The reason why nothing is known of the account of a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrialError {
    /// The acquirer refuses the secret.
    #[error("the acquirer refuses the secret")]
    Refused,
    /// There is no clear answer.
    #[error("the acquirer gave no answer: {reason}")]
    NoAnswer {
        /// The reason, for the log.
        reason: String,
    },
}

/// An account with its secrets.
#[derive(Debug)]
pub struct OpenedAccount {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The account.
    pub account: AcquirerAccount,
    /// Its secrets: that for calls is there.
    pub secrets: AccountSecrets,
}

/// Secrets of an account at an acquirer. `Debug` shows nothing of them.
#[derive(Default)]
pub struct AccountSecrets {
    /// The secret with which Till calls the acquirer.
    pub calls: Option<Zeroizing<String>>,
    /// The secret with which the acquirer signs its notices.
    pub notices: Option<Zeroizing<String>>,
}

impl AccountSecrets {
    /// The secret of a kind.
    pub(crate) fn of(&self, secret: AccountSecret) -> Option<&str> {
        let text = match secret {
            AccountSecret::Calls => self.calls.as_ref(),
            AccountSecret::Notices => self.notices.as_ref(),
        };
        text.map(|text| text.as_str())
    }
}

impl fmt::Debug for AccountSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccountSecrets(..)")
    }
}

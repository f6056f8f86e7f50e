//! Connectors: each reaches one acquirer, for all accounts that merchants have there.

use std::collections::BTreeMap;
use std::sync::Arc;

use till_domain::acquirer::{AccountMode, AccountSecret, AcquirerAccount, AcquirerName};
use till_domain::time::Millis;
use zeroize::Zeroizing;

use super::calls::{Acquirer, AcquirerAnswer};
use super::reference::NamedCall;

/// The connectors that there are, by the name of their acquirer.
pub type Connectors = BTreeMap<AcquirerName, Arc<dyn Connector>>;

/// The way to one acquirer.
pub trait Connector: Send + Sync + 'static {
    /// Tries a secret, of an account of this mode, by a call that changes nothing. Answers the acquirer's own id of the
    /// account.
    ///
    /// # Errors
    /// [`AcquirerUnavailable`](super::AcquirerUnavailable): the secret is refused, or there is no clear answer.
    fn check(&self, secret: Zeroizing<String>, mode: AccountMode) -> AcquirerAnswer<'static, String>;

    /// An acquirer that calls in the name of an account, with its secret for calls. It is opened for each call, so it
    /// keeps no connections of its own.
    fn open(&self, account: &AcquirerAccount, secret: Zeroizing<String>) -> Arc<dyn Acquirer>;

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

/// Secrets of an account at an acquirer, passed beside a command. Without `Debug`, they are in no log.
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

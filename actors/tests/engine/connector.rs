//! A connector that follows a script, and remembers which secrets it was given.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use till_actors::acquirer::{
    Acquirer, AcquirerAnswer, AcquirerUnavailable, Connector, NamedCall, Notice, NoticeRefused,
};
use till_domain::acquirer::{AccountMode, AcquirerAccount};
use till_domain::ids::AcquirerId;
use till_sandbox::SandboxAcquirer;
use till_sandbox::book::MemoryBook;
use zeroize::Zeroizing;

use crate::acquirer::{ScriptHandle, ScriptedAcquirer};
use crate::card_page::PlayedPages;

/// An account that the engine opened.
#[derive(Clone)]
pub(crate) struct OpenedScript {
    pub(crate) acquirer_id: AcquirerId,
    pub(crate) secret: String,
    /// The script of its acquirer.
    pub(crate) script: ScriptHandle,
}

#[derive(Default)]
struct Connections {
    /// The answers to trials, by secret. A secret that is missing here gets no answer.
    trials: BTreeMap<String, Result<String, AcquirerUnavailable>>,
    opened: Vec<OpenedScript>,
    /// What all secrets of an account lead to.
    sandboxes: BTreeMap<AcquirerId, Arc<SandboxAcquirer>>,
    /// The acquirer of all accounts, instead of one with a script for each.
    pages: Option<PlayedPages>,
}

/// A connector; clones are the same one.
#[derive(Clone, Default)]
pub(crate) struct ScriptedConnector(Arc<Mutex<Connections>>);

impl ScriptedConnector {
    pub(crate) fn answer_trials(&self, secret: &str, answer: Result<String, AcquirerUnavailable>) {
        self.connections().trials.insert(secret.to_owned(), answer);
    }

    /// The accounts that were opened so far, each secret of one once, in order.
    pub(crate) fn opened(&self) -> Vec<OpenedScript> {
        self.connections().opened.clone()
    }

    /// Every account is one at an acquirer with a page from now on.
    pub(crate) fn play_pages(&self) -> PlayedPages {
        self.connections().pages.insert(PlayedPages::default()).clone()
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.0.lock().expect("no test panics with the script in hand")
    }
}

impl Connector for ScriptedConnector {
    fn check(&self, secret: Zeroizing<String>, _: AccountMode) -> AcquirerAnswer<'static, String> {
        let found = self.connections().trials.get(secret.as_str()).cloned();
        Box::pin(async move { found.unwrap_or_else(|| Err(AcquirerUnavailable::unknown("on purpose"))) })
    }

    fn open(&self, account: &AcquirerAccount, secret: Zeroizing<String>) -> Arc<dyn Acquirer> {
        if let Some(pages) = &self.connections().pages {
            return Arc::new(pages.clone());
        }
        let (mut connections, acquirer_id) = (self.connections(), account.id);
        let opened = &mut connections.opened;
        let is_open = |opened: &&OpenedScript| opened.acquirer_id == acquirer_id && opened.secret == *secret;
        let script = opened.iter().find(is_open).map(|opened| opened.script.clone()).unwrap_or_else(|| {
            let (secret, script) = (secret.as_str().to_owned(), ScriptHandle::default());
            opened.push(OpenedScript { acquirer_id, secret, script: script.clone() });
            script
        });
        let start = || Arc::new(SandboxAcquirer::start(MemoryBook::new()).expect("a thread"));
        let sandbox = Arc::clone(connections.sandboxes.entry(acquirer_id).or_insert_with(start));
        Arc::new(ScriptedAcquirer { sandbox, script })
    }

    fn notice_header(&self) -> &'static str {
        "signature"
    }

    fn read_notice(&self, _: &Notice<'_>) -> Result<Option<NamedCall>, NoticeRefused> {
        Err(NoticeRefused)
    }
}

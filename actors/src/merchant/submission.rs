//! The message that brings a request to its merchant's actor.

use actix::Message;
use std::fmt;
use std::sync::Arc;
use till_domain::command::Request;
use till_storage::commit::Urgency;
use till_storage::vault::{CardNumber, Credentials, WebhookSecretBytes};
use tokio::sync::oneshot;
use zeroize::Zeroizing;

use super::reply::Reply;
use crate::acquirer::AccountSecrets;
use crate::background::Permit;

/// A secret that belongs to a command and must be in no event. `Debug` shows nothing of it.
pub enum Secret {
    /// The number of a card that is being tokenized.
    CardNumber(CardNumber),
    /// The text of a key that is being made.
    KeyText(Zeroizing<String>),
    /// The secret of a webhook that is being made, or its next one.
    WebhookSecret(WebhookSecretBytes),
    /// The secrets of an account at an acquirer that is being added or changed.
    OfAccount(AccountSecrets),
    /// What a member of the team signs in with from now on.
    Credentials(Box<Credentials>),
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::CardNumber(_) => f.write_str("CardNumber(..)"),
            Secret::KeyText(_) => f.write_str("KeyText(..)"),
            Secret::WebhookSecret(_) => f.write_str("WebhookSecret(..)"),
            Secret::OfAccount(_) => f.write_str("OfAccount(..)"),
            Secret::Credentials(_) => f.write_str("Credentials(..)"),
        }
    }
}

/// Held for a caller until it is answered: its permit for a request in flight, and the actor's slot, which keeps the
/// actor from retiring.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) _counted: Option<Permit>,
    pub(crate) _slot: Arc<dyn fmt::Debug + Send + Sync>,
}

/// The sender of a request. It is answered exactly once.
#[derive(Debug)]
pub(crate) struct Requester {
    /// Urgent for a caller, who waits for the answer.
    pub(crate) urgency: Urgency,
    /// Declared before the reply: a panic drops `held` first, so that a caller that learns of it finds nothing held any
    /// more.
    pub(crate) held: Held,
    pub(crate) reply: oneshot::Sender<Reply>,
}

impl Requester {
    /// Answers and releases everything held. A caller that has gone is no fault: its command remains in effect.
    pub(crate) fn answer(self, reply: Reply) {
        drop(self.held);
        let _gone = self.reply.send(reply);
    }
}

/// A request on its way to its merchant's actor.
#[derive(Debug)]
pub(crate) struct Submit {
    pub(crate) request: Request,
    pub(crate) secret: Option<Secret>,
    pub(crate) requester: Requester,
}

impl Message for Submit {
    type Result = ();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_shows_neither_the_number_nor_the_key() {
        let number = CardNumber::parse("4242424242424242").expect("a card number");
        let text = Zeroizing::new("sk_secret".to_owned());
        let shown = format!("{:?} {:?}", Secret::CardNumber(number), Secret::KeyText(text));
        assert_eq!(shown, "CardNumber(..) KeyText(..)");
    }
}

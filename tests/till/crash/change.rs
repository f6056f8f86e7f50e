//! Calls that change a merchant's metadata, keys, team or plan.

use serde_json::Value;

use crate::harness::{ApiAnswer, Client};

use super::caller::post;

/// A call with its body, and the change that it makes when it takes effect.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) endpoint: &'static str,
    /// The whole body, to be sent again.
    pub(super) body: Value,
    pub(super) key: Option<String>,
    pub(super) meaning: Meaning,
}

/// The effect of a change. Items, names and addresses belong to one caller, and only one caller selects plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    ItemAdded {
        record: String,
        item: String,
    },
    ItemRemoved {
        record: String,
        item: String,
    },
    RecordReplaced {
        record: String,
        items: Vec<String>,
    },
    RecordDeleted {
        record: String,
    },
    /// An item that is there already is added again.
    Nothing,
    KeyGenerated {
        name: String,
    },
    KeyRenamed {
        key_id: String,
        name: String,
    },
    KeyRevoked {
        key_id: String,
    },
    UserInvited {
        email: String,
    },
    InvitationAccepted {
        email: String,
    },
    UserRemoved {
        email: String,
    },
    PlanSelected {
        plan_id: String,
    },
}

impl Change {
    /// Makes the call, for the first time or again.
    pub(super) fn ask(&self, client: &Client) -> ApiAnswer {
        post(client, &format!("/merchants/{}", self.endpoint), &self.body, self.key.as_deref())
    }
}

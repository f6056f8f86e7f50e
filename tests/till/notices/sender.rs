//! An acquirer that tells of its calls: notices signed by the secret of an account.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::Sha256;

use crate::harness::{RawAnswer, Server, Wire, now_seconds};

/// An account with a secret for notices.
pub(crate) struct NoticeSender {
    pub(crate) acquirer_id: String,
    pub(crate) secret: String,
}

impl NoticeSender {
    /// Adds an account, of which nobody is asked, to a merchant.
    pub(crate) fn add(server: &Server, merchant_id: &str, name: &str) -> NoticeSender {
        let secret = format!("whsec_{name}_0000000000000000000000");
        let account = json!({
            "merchant_id": merchant_id, "acquirer": "stripe", "name": name, "webhook_secret": secret,
            "secret": format!("sk_test_{name}_0000000000000000000000"), "unchecked": true,
        });
        NoticeSender { acquirer_id: server.admin("add-acquirer", &account).id(), secret }
    }

    /// The path of the account's notices.
    pub(crate) fn path(&self) -> String {
        format!("/acquirers/{}/notices", self.acquirer_id)
    }

    /// The value of the header of a notice that was signed at some time.
    pub(crate) fn signature(&self, at: u64, body: &[u8]) -> String {
        format!("t={at},v1={}", self.code(at, body))
    }

    /// The code of such a notice.
    pub(crate) fn code(&self, at: u64, body: &[u8]) -> String {
        let mut hmac = Hmac::<Sha256>::new_from_slice(self.secret.as_bytes()).expect("any length will do");
        hmac.update(format!("{at}.").as_bytes());
        hmac.update(body);
        hmac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Sends a genuine notice.
    pub(crate) fn send(&self, server: &Server, body: &[u8]) -> RawAnswer {
        let signature = self.signature(now_seconds(), body);
        Wire::to(server).receive("POST", &self.path(), &[("Stripe-Signature", &signature)], body)
    }
}

/// The body of a notice about a call of ours.
pub(crate) fn about(reference: &str) -> Vec<u8> {
    let object = json!({ "id": "pi_1", "metadata": { "till_reference": reference } });
    json!({ "id": "evt_1", "data": { "object": object } }).to_string().into_bytes()
}

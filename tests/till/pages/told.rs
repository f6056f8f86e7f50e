//! The answers that a shop's page gets about a session.

use serde_json::json;

use crate::harness::Shop;

/// The answers of `check-status`, `discover-next-action`, `get-redirect-url`, `retrieve-qr-data` and `get-return-url`;
/// a refusal as its code and what it says comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    state: String,
    redirect_url: String,
    qr_data: String,
    return_url: String,
}

impl Told {
    /// The answers in a state such as `INITIATED WAIT`, when there is nothing to open, to scan or to come back to.
    pub(crate) fn of(state: &str, is_qr: bool) -> Told {
        let next = state.split(' ').nth(1).expect("two words");
        let not_ready = format!("NOT_READY {next}");
        let (not_supported, step) = ("NOT_SUPPORTED".to_owned(), not_ready.clone());
        let (redirect_url, qr_data) = if is_qr { (not_supported, step) } else { (step, not_supported) };
        Told { state: state.to_owned(), redirect_url, qr_data, return_url: not_ready }
    }

    /// The same while the customer must open this address, or scan this text.
    pub(crate) fn step(self, step: &str) -> Told {
        let is_qr = self.redirect_url == "NOT_SUPPORTED";
        let step = step.to_owned();
        if is_qr { Told { qr_data: step, ..self } } else { Told { redirect_url: step, ..self } }
    }

    /// The same once the customer can go back to this address.
    pub(crate) fn back(self, address: &str) -> Told {
        Told { return_url: address.to_owned(), ..self }
    }
}

/// The answers that the page of a shop gets about a session now.
pub(crate) fn told(shop: &Shop, session: &str) -> Told {
    let ask = |endpoint: &str| {
        let answer = shop.sdk(endpoint, &json!({ "payment_session_id": session }));
        if answer.status == 200 {
            return answer.id();
        }
        let next = answer.details()["next_action"].as_str().map(|next| format!(" {next}"));
        answer.code().to_owned() + &next.unwrap_or_default()
    };
    Told {
        state: format!("{} {}", ask("check-status"), ask("discover-next-action")),
        redirect_url: ask("get-redirect-url"),
        qr_data: ask("retrieve-qr-data"),
        return_url: ask("get-return-url"),
    }
}

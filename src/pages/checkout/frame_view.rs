//! What the payment form in a shop's own page shows.

use till_domain::merchant::PaymentMethod;

use super::view::OfferedPlan;

/// An installation's payment form.
#[derive(Debug, Clone)]
pub(super) struct FrameView {
    pub(super) merchant_id: String,
    pub(super) installation_id: String,
    /// The installation's identifier: the only origin whose page may hold the frame.
    pub(super) origin: String,
    /// The methods that can be chosen, in the order in which they are shown.
    pub(super) methods: Vec<PaymentMethod>,
    /// The instalment plans.
    pub(super) plans: Vec<OfferedPlan>,
    /// The word for the side that pays the interest of instalments; none without instalments.
    pub(super) interest_bearer: Option<String>,
    /// True while the sandbox plays the acquirer, where no money moves.
    pub(super) is_sandbox: bool,
}

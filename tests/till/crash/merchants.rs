//! The merchants of a round: one of them is hot.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Server, Shop};

use super::recent_payments::RecentPayments;

/// A merchant with its properties.
pub(super) struct LoadedMerchant {
    /// The merchant's ids and clients.
    pub(super) shop: Shop,
    /// The recent payments on which its callers operate.
    pub(super) payments: Arc<RecentPayments>,
    /// True when its captures become effective within a second.
    pub(super) settles_soon: bool,
}

impl LoadedMerchant {
    /// The merchants of a round. The first one is the hot one.
    pub(super) fn of_a_round(server: &Server) -> Vec<LoadedMerchant> {
        let soon = json!({ "name": "Soon", "currency": "THB", "settlement_delay_seconds": 1 });
        vec![
            LoadedMerchant::new(server.shop()),
            LoadedMerchant::new(with_fee(server)),
            LoadedMerchant { settles_soon: true, ..LoadedMerchant::new(server.shop_with(soon)) },
            LoadedMerchant::new(server.shop()),
        ]
    }

    fn new(shop: Shop) -> LoadedMerchant {
        LoadedMerchant { shop, payments: Arc::default(), settles_soon: false }
    }
}

/// A merchant that pays a fee of its captures.
fn with_fee(server: &Server) -> Shop {
    let shop = server.shop();
    for method in ["CARD", "INSTALLMENT"] {
        let configuration: Value = json!({
            "merchant_id": shop.merchant_id, "payment_method": method, "acquirer": "sandbox", "enabled": true,
            "authorizes_without_capture": true, "fee_basis_points": 290, "fee_fixed": 13,
        });
        server.admin("configure-payment-method", &configuration).ok();
    }
    shop
}

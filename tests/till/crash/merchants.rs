//! The merchants of a round: one of them is hot.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Server, Shop};

use super::recent_payments::RecentPayments;

/// The fee of a merchant's captures.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fee {
    basis_points: u64,
    fixed_minor: u64,
}

/// A merchant with its properties.
pub(super) struct LoadedMerchant {
    /// The merchant's ids and clients.
    pub(super) shop: Shop,
    /// The recent payments on which its callers operate.
    pub(super) payments: Arc<RecentPayments>,
    fee: Option<Fee>,
    /// True when its captures become effective within a second.
    pub(super) settles_soon: bool,
}

impl LoadedMerchant {
    /// The merchants of a round. The first one is the hot one.
    pub(super) fn of_a_round(server: &Server) -> Vec<LoadedMerchant> {
        let fee = Fee { basis_points: 290, fixed_minor: 13 };
        let soon = json!({ "name": "Soon", "currency": "THB", "settlement_delay_seconds": 1 });
        vec![
            LoadedMerchant::new(server.shop()),
            LoadedMerchant { fee: Some(fee), ..LoadedMerchant::new(with_fee(server, fee)) },
            LoadedMerchant { settles_soon: true, ..LoadedMerchant::new(server.shop_with(soon)) },
            LoadedMerchant::new(server.shop()),
        ]
    }

    fn new(shop: Shop) -> LoadedMerchant {
        LoadedMerchant { shop, payments: Arc::default(), fee: None, settles_soon: false }
    }

    /// The fee of a capture of this amount: rounded half up, at most the amount, and 0 without a fee.
    pub(super) fn fee_minor(&self, minor: u64) -> u64 {
        self.fee.map_or(0, |fee| ((minor * fee.basis_points + 5_000) / 10_000 + fee.fixed_minor).min(minor))
    }
}

fn with_fee(server: &Server, fee: Fee) -> Shop {
    let shop = server.shop();
    for method in ["CARD", "INSTALLMENT"] {
        let configuration: Value = json!({
            "merchant_id": shop.merchant_id, "payment_method": method, "acquirer": "sandbox", "enabled": true,
            "authorizes_without_capture": true, "fee_basis_points": fee.basis_points, "fee_fixed": fee.fixed_minor,
        });
        server.admin("configure-payment-method", &configuration).ok();
    }
    shop
}

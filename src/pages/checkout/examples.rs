//! Pages of every state, for tests.

use till_domain::card::CardScheme;
use till_domain::merchant::PaymentMethod;
use till_domain::money::{AmountMinor, Money};

use super::frame_view::FrameView;
use super::view::{CheckoutView, Line, OfferedPlan, SavedCard, State};

/// The text of a PromptPay code.
pub(super) const QR_TEXT: &str =
    "00020101021230630016A0000006770101120115000000000000000022061050R3GG28A1C60T3GF530376454071000.005802TH6304DB74";

/// An amount.
pub(super) fn money(minor: u64, currency: &str) -> Money {
    Money { amount: AmountMinor::new(minor).expect("in range"), currency: currency.parse().expect("an ISO code") }
}

/// A checkout with everything in it, in a state.
pub(super) fn checkout(state: State) -> CheckoutView {
    let line = |name: &str, amount_minor, quantity| Line { name: name.to_owned(), amount_minor, quantity };
    let card = |id: &str, scheme, digits: &str| SavedCard {
        card_id: id.to_owned(),
        scheme,
        last_digits: digits.to_owned(),
        expiry: "12/49".to_owned(),
    };
    CheckoutView {
        merchant_id: "mrc_01jz0000000000000000000001".to_owned(),
        installation_id: "ins_01jz0000000000000000000001".to_owned(),
        checkout_id: "chk_01jz0000000000000000000001".to_owned(),
        merchant: "Example Shop".to_owned(),
        color: None,
        money: money(123_450, "THB"),
        lines: vec![line("Coffee beans, 500 g", 35_000, 2), line("Hand grinder", 53_450, 1)],
        shop: "https://shop.example/cart?checkout_id=chk_01jz0000000000000000000001".to_owned(),
        methods: PaymentMethod::ALL.to_vec(),
        saved_cards: vec![card("crd_1", CardScheme::Visa, "4242"), card("crd_2", CardScheme::Mastercard, "4444")],
        plans: vec![OfferedPlan {
            plan_id: "sandbox_3_months".to_owned(),
            name: "Sandbox instalments, 3 months".to_owned(),
            interest_rate: Some("1.25".to_owned()),
            monthly: Some(money(42_694, "THB")),
            total: Some(money(128_082, "THB")),
        }],
        offers_saving: true,
        is_sandbox: true,
        state,
    }
}

/// Every state, each with a name.
pub(super) fn states() -> Vec<(&'static str, State)> {
    let session_id = || "pse_01jz0000000000000000000001".to_owned();
    let choosing = |failed: Option<&str>, chosen| State::Choosing { failed: failed.map(str::to_owned), chosen };
    let scan = |seconds_left, wallet: Option<&str>| State::Scan {
        session_id: session_id(),
        text: QR_TEXT.to_owned(),
        seconds_left,
        seconds_whole: 900,
        wallet: wallet.map(str::to_owned),
    };
    let successful = |just_now| State::Successful {
        shop: "https://shop.example/done?order=1&payment_id=pay_1&checkout_id=chk_1".to_owned(),
        just_now,
    };
    let address = "http://127.0.0.1:8080/sandbox/bank/act_1".to_owned();
    vec![
        ("choosing", choosing(None, None)),
        ("choosing-card", choosing(None, Some(PaymentMethod::Card))),
        ("choosing-instalments", choosing(None, Some(PaymentMethod::Installment))),
        ("failed", choosing(Some("insufficient_funds"), Some(PaymentMethod::Card))),
        ("cancelled", choosing(Some("canceled_by_customer"), Some(PaymentMethod::PromptPay))),
        ("processing", State::Processing { session_id: session_id() }),
        ("confirm", State::Confirm { session_id: session_id(), address }),
        ("scan", scan(900, Some("http://127.0.0.1:8080/sandbox/wallet/act_1"))),
        ("scan-late", scan(185, None)),
        ("successful", successful(false)),
        ("successful-now", successful(true)),
        ("expired", State::Expired { failed: None }),
        ("attempts-used-up", State::Expired { failed: Some("insufficient_funds".to_owned()) }),
        ("suspended", State::Suspended),
    ]
}

/// A frame with every method.
pub(super) fn frame() -> FrameView {
    let checkout = checkout(State::Expired { failed: None });
    FrameView {
        merchant_id: checkout.merchant_id,
        installation_id: checkout.installation_id,
        origin: "https://shop.example".to_owned(),
        methods: checkout.methods,
        plans: checkout.plans,
        interest_bearer: Some("customer".to_owned()),
        is_sandbox: true,
    }
}

//! Payment sessions: one selection of a payment method with its amount.

use crate::card::{CardAtAcquirer, CardFacts, ShownCard, TokenUsage};
use crate::customer::CustomerFields;
use crate::ids::{CardId, CustomerId, InstallationId, PaymentId, SessionId, TokenId};
use crate::merchant::PaymentMethod;
use crate::money::{AmountMinor, FeeRate, Money};
use crate::time::Millis;

pub use crate::card::SESSION_LIFETIME_SECONDS;

/// The time for which a session is kept after its end, used or not: a day and an hour, so that a caller who asks again
/// for a whole day learns which payment used it, and a client that it failed.
pub const SESSION_KEPT_SECONDS: u64 = 25 * 3_600;

word_enum! {
    /// The party that pays the interest of instalments.
    pub enum InterestBearer: name {
        /// The customer.
        Customer => "customer",
        /// The merchant.
        Merchant => "merchant",
    }

    /// An instalment plan.
    pub enum InstallmentPlan: id, display_name {
        /// The sandbox's one plan: three monthly terms.
        SandboxThreeMonths => "sandbox_3_months" | "Sandbox instalments, 3 months",
    }
}

impl InstallmentPlan {
    /// The interest on a captured amount, in hundredths of a percent.
    #[must_use]
    pub const fn interest_basis_points(self) -> u16 {
        self.interest_basis_points_a_month().saturating_mul(self.terms() as u16)
    }

    /// The interest of one month, in hundredths of a percent of the amount.
    #[must_use]
    pub const fn interest_basis_points_a_month(self) -> u16 {
        match self {
            InstallmentPlan::SandboxThreeMonths => 100,
        }
    }

    /// The customer's cost for an amount whose interest the customer bears.
    #[must_use]
    pub fn cost(self, amount: AmountMinor) -> PlanCost {
        let rate = FeeRate { basis_points: self.interest_basis_points(), fixed_minor: 0 };
        let total_minor = amount.get().saturating_add(rate.fee_minor(amount));
        PlanCost { total_minor, monthly_minor: total_minor.div_ceil(u64::from(self.terms())) }
    }

    /// Number of monthly terms.
    #[must_use]
    pub const fn terms(self) -> u8 {
        match self {
            InstallmentPlan::SandboxThreeMonths => 3,
        }
    }
}

/// The cost of an instalment plan for a customer who bears its interest, in minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanCost {
    /// All months together.
    pub total_minor: u64,
    /// One month, rounded up: the last one may be less.
    pub monthly_minor: u64,
}

/// The instrument that pays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instrument {
    /// A card that is not named: the merchant names it when it initiates the payment, or the customer enters it at the
    /// acquirer.
    UnnamedCard,
    /// A tokenized card.
    Token {
        /// The token.
        token_id: TokenId,
        /// The number of uses that it allows.
        usage: TokenUsage,
        /// The facts of the card.
        card: CardFacts,
    },
    /// A card that a customer saved.
    SavedCard {
        /// The saved card.
        card_id: CardId,
        /// The customer who saved it.
        owner: CustomerId,
        /// The facts of the card.
        card: CardFacts,
    },
    /// Instalments.
    Installment {
        /// The instalment plan.
        plan: InstallmentPlan,
        /// The party that pays the interest, fixed at selection.
        interest_bearer: InterestBearer,
    },
    /// A transfer that a PromptPay QR code asks for.
    PromptPay,
    /// A confirmation at the customer's bank.
    MobileBanking,
    /// A card that the customer enters at the acquirer's page. Only payments have it.
    AcquirerPage {
        /// The card, once the acquirer has told it.
        card: Option<CardAtAcquirer>,
    },
}

impl Instrument {
    /// The payment method that it belongs to.
    #[must_use]
    pub const fn method(&self) -> PaymentMethod {
        match self {
            Instrument::UnnamedCard
            | Instrument::Token { .. }
            | Instrument::SavedCard { .. }
            | Instrument::AcquirerPage { .. } => PaymentMethod::Card,
            Instrument::Installment { .. } => PaymentMethod::Installment,
            Instrument::PromptPay => PaymentMethod::PromptPay,
            Instrument::MobileBanking => PaymentMethod::MobileBanking,
        }
    }

    /// The facts of the card, when one is named or the acquirer has told it.
    #[must_use]
    pub fn card(&self) -> Option<ShownCard<'_>> {
        match self {
            Instrument::Token { card, .. } | Instrument::SavedCard { card, .. } => Some(card.into()),
            Instrument::AcquirerPage { card } => card.as_ref().map(ShownCard::from),
            Instrument::UnnamedCard
            | Instrument::Installment { .. }
            | Instrument::PromptPay
            | Instrument::MobileBanking => None,
        }
    }

    /// The party that pays the interest, for instalments.
    #[must_use]
    pub const fn interest_bearer(&self) -> Option<InterestBearer> {
        match self {
            Instrument::Installment { interest_bearer, .. } => Some(*interest_bearer),
            Instrument::UnnamedCard
            | Instrument::Token { .. }
            | Instrument::SavedCard { .. }
            | Instrument::PromptPay
            | Instrument::MobileBanking
            | Instrument::AcquirerPage { .. } => None,
        }
    }

    /// The rate of the interest that the merchant bears; zero where it bears none.
    #[must_use]
    pub const fn interest_rate(&self) -> FeeRate {
        let basis_points = match self {
            Instrument::Installment { plan, interest_bearer: InterestBearer::Merchant } => plan.interest_basis_points(),
            Instrument::Installment { plan: _, interest_bearer: InterestBearer::Customer }
            | Instrument::UnnamedCard
            | Instrument::Token { .. }
            | Instrument::SavedCard { .. }
            | Instrument::PromptPay
            | Instrument::MobileBanking
            | Instrument::AcquirerPage { .. } => 0,
        };
        FeeRate { basis_points, fixed_minor: 0 }
    }

    /// Its single-use token, if it is one.
    #[must_use]
    pub const fn single_token(&self) -> Option<TokenId> {
        match self {
            Instrument::Token { token_id, usage: TokenUsage::Single, card: _ } => Some(*token_id),
            Instrument::Token { token_id: _, usage: TokenUsage::Multiple, card: _ }
            | Instrument::UnnamedCard
            | Instrument::SavedCard { .. }
            | Instrument::Installment { .. }
            | Instrument::PromptPay
            | Instrument::MobileBanking
            | Instrument::AcquirerPage { .. } => None,
        }
    }

    /// Its multi-use token, if it is one.
    #[must_use]
    pub const fn multiple_token(&self) -> Option<TokenId> {
        match self {
            Instrument::Token { token_id, usage: TokenUsage::Multiple, card: _ } => Some(*token_id),
            Instrument::Token { token_id: _, usage: TokenUsage::Single, card: _ }
            | Instrument::UnnamedCard
            | Instrument::SavedCard { .. }
            | Instrument::Installment { .. }
            | Instrument::PromptPay
            | Instrument::MobileBanking
            | Instrument::AcquirerPage { .. } => None,
        }
    }

    /// The name that a customer reads, such as `Visa 4242`.
    #[must_use]
    pub fn display_name(&self) -> String {
        if let Some(card) = self.card() {
            return format!("{} {}", card.scheme.display_name(), card.last_digits);
        }
        match self {
            Instrument::Installment { plan, .. } => plan.display_name().to_owned(),
            Instrument::UnnamedCard
            | Instrument::Token { .. }
            | Instrument::SavedCard { .. }
            | Instrument::PromptPay
            | Instrument::MobileBanking
            | Instrument::AcquirerPage { .. } => self.method().display_name().to_owned(),
        }
    }
}

/// A payment session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id, a capability.
    pub id: SessionId,
    /// The installation where it was made.
    pub installation_id: InstallationId,
    /// The amount to be paid.
    pub money: Money,
    /// The instrument that was selected.
    pub instrument: Instrument,
    /// The default customer fields of the payment.
    pub customer: CustomerFields,
    /// The time at which it was made.
    pub created_at: Millis,
    /// It can be used until then.
    pub expires_at: Millis,
    /// The payment that used it.
    pub payment_id: Option<PaymentId>,
}

impl Session {
    /// Returns true when a payment can be initiated with it at `now`.
    #[must_use]
    pub fn is_active(&self, now: Millis) -> bool {
        self.payment_id.is_none() && now < self.expires_at
    }

    /// Returns true when it is too old for a payment to be initiated with it.
    #[must_use]
    pub fn has_ended(&self, now: Millis) -> bool {
        self.expires_at <= now
    }

    /// Returns true when it is so old that it need not be kept any more.
    #[must_use]
    pub fn is_forgotten(&self, now: Millis) -> bool {
        self.expires_at.plus_seconds(SESSION_KEPT_SECONDS) <= now
    }
}

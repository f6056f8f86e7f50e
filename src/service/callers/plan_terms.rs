//! The cost of an instalment plan for its customer: contract, section 9.6.

use till_domain::merchant::PaymentMethod;
use till_domain::money::{AmountMinor, decimal};
use till_domain::session::{InstallmentPlan, InterestBearer, PlanCost};

/// An instalment plan with what its acquirer tells of its cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlanTerms {
    /// The plan.
    pub plan: InstallmentPlan,
    /// The interest in percent a month, such as `1.00`; none where the merchant bears it.
    pub interest_rate: Option<String>,
    /// The customer's cost for an amount; none where no amount is known, and where the merchant bears the interest.
    pub cost: Option<PlanCost>,
}

/// The plans that can be chosen among some methods, with their cost where the customer bears the interest.
#[must_use]
pub(crate) fn plan_terms(
    methods: &[PaymentMethod],
    bearer: InterestBearer,
    amount: Option<AmountMinor>,
) -> Vec<PlanTerms> {
    let has_plans = methods.contains(&PaymentMethod::Installment);
    let pays = bearer == InterestBearer::Customer;
    let terms = |plan: InstallmentPlan| PlanTerms {
        plan,
        interest_rate: pays.then(|| decimal(i128::from(plan.interest_basis_points_a_month()), 2)),
        cost: amount.filter(|_| pays).map(|amount| plan.cost(amount)),
    };
    InstallmentPlan::ALL.into_iter().filter(|_| has_plans).map(terms).collect()
}

"""Balance transactions: every movement of the account's money, with Stripe's fee."""

import refusals
import lists

AVAILABLE_AFTER_SECONDS = 2 * 86400


def record(context, kind, amount, currency, source, category=None, fee=0, description=None):
    """A movement; `source` is the entity that it comes from. Its id is what the source refers to."""
    details = [{
        "amount": fee, "application": None, "currency": currency, "description": "Stripe processing fees",
        "type": "stripe_fee",
    }]
    return context.create(
        "balance_transaction", "txn",
        {
            "amount": amount,
            "available_on": context.now + AVAILABLE_AFTER_SECONDS,
            "balance_type": "payments",
            "created": context.now,
            "currency": currency,
            "description": description,
            "exchange_rate": None,
            "fee": fee,
            "fee_details": details if fee else [],
            "net": amount - fee,
            "reporting_category": category or kind,
            "source": source.id,
            "status": "pending",
            "type": kind,
        },
        intent=source.intent,
    ).id


def fee_of(context, amount):
    return (amount * context.account["fee_basis_points"] + 5000) // 10000 + context.account["fee_fixed"]


def listed(context, values):
    """`GET /v1/balance_transactions`."""
    names = {name: f"$.{name}" for name in ("type", "source", "currency")}
    conditions = [(f"json_extract(body, '{path}') = ?", values[name]) for name, path in names.items() if name in values]
    if "payout" in values:
        raise refusals.invalid("The fake pays out nothing automatically: payout is not played.", param="payout")
    return lists.page(context, "balance_transaction", "/v1/balance_transactions", values, conditions)

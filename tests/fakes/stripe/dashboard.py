"""What somebody does in Stripe's dashboard, or card networks and banks do by themselves, played by control calls."""

import balance
import events
import intents
import lists
import refunds

DISPUTE_FEE = 50000
EVIDENCE_WITHIN_SECONDS = 7 * 86400
# Members that the fake leaves null, or null at first.
PAYOUT_NULLS = (
    "application_fee application_fee_amount balance_transaction destination failure_balance_transaction failure_code "
    "failure_message original_payout reversed_by statement_descriptor"
).split()


def refund(context, intent, wish):
    """A refund without our metadata."""
    charge = refunds.refundable(context.find("charge", intent["latest_charge"]))
    amount = refunds.checked(charge, wish.get("amount", refunds.unrefunded(charge)))
    return refunds.make(context, charge, amount, wish.get("reason"))


def capture(context, intent, wish):
    intents.capture(context, intent, {"amount_to_capture": wish["amount"]} if "amount" in wish else {})
    return intent


def cancel(context, intent, _wish):
    intents.cancel(context, intent, "requested_by_customer")
    return intent


def dispute(context, intent, wish):
    """The cardholder's bank takes the amount back, and Stripe its fee."""
    charge = context.find("charge", intent["latest_charge"])
    made = context.create("dispute", "du", dispute_body(context, charge, wish), intent=intent.id)
    withdraw(context, made, -made["amount"], DISPUTE_FEE)
    charge.update(disputed=True)
    context.save(charge)
    events.emit(context, "charge.dispute.created", made)
    events.emit(context, "charge.dispute.funds_withdrawn", made)
    return made


def dispute_body(context, charge, wish):
    card = charge["payment_method_details"]["card"]
    about = {"brand": card["brand"], "case_type": "chargeback", "network": card["brand"], "network_reason_code": "4853"}
    return {
        "amount": wish.get("amount", charge["amount_captured"]),
        "balance_transactions": [],
        "charge": charge.id,
        "created": context.now,
        "currency": charge["currency"],
        "enhanced_eligibility_types": [],
        "evidence": {"enhanced_evidence": {}},
        "evidence_details": {
            "due_by": context.now + EVIDENCE_WITHIN_SECONDS,
            "enhanced_eligibility": {},
            "has_evidence": False,
            "past_due": False,
            "submission_count": 0,
            "submission_method": "not_submitted",
        },
        "is_charge_refundable": False,
        "livemode": context.livemode,
        "metadata": {},
        "payment_intent": charge["payment_intent"],
        "payment_method_details": {"card": about, "type": "card"},
        "reason": wish.get("reason", "fraudulent"),
        "status": "needs_response",
    }


def withdraw(context, made, amount, fee):
    moved = balance.record(context, "adjustment", amount, made["currency"], made, "dispute", fee)
    made["balance_transactions"].append(context.find("balance_transaction", moved).body)
    context.save(made)


def end_dispute(context, made, wish):
    """`won`: the amount comes back; `lost`: it stays away."""
    made.update(status=wish["status"])
    if wish["status"] == "won":
        withdraw(context, made, made["amount"], 0)
        events.emit(context, "charge.dispute.funds_reinstated", made)
    context.save(made)
    events.emit(context, "charge.dispute.closed", made)
    return made


def payout(context, wish):
    """The account's money goes to its bank."""
    made = context.create("payout", "po", {
        **dict.fromkeys(PAYOUT_NULLS),
        "amount": wish["amount"],
        "arrival_date": context.now + 86400,
        "automatic": True,
        "created": context.now,
        "currency": wish.get("currency", context.account["default_currency"]),
        "description": "STRIPE PAYOUT",
        "livemode": context.livemode,
        "metadata": {},
        "method": "standard",
        "reconciliation_status": "not_applicable",
        "source_type": "card",
        "status": "in_transit",
        "type": "bank_account",
    })
    made.update(balance_transaction=balance.record(context, "payout", -made["amount"], made["currency"], made))
    context.save(made)
    events.emit(context, "payout.created", made)
    return made


def end_payout(context, made, wish):
    """`paid`, or `failed`: then the money comes back."""
    made.update(status=wish["status"])
    if wish["status"] == "failed":
        returned = balance.record(context, "payout_failure", made["amount"], made["currency"], made)
        made.update(failure_balance_transaction=returned, failure_code="account_closed")
    context.save(made)
    events.emit(context, f"payout.{wish['status']}", made)
    return made


def charged(store):
    """Every charge that moved or holds money, with the reference that the shop's server gave it."""
    return [
        {
            "reference": charge["metadata"].get("till_reference"),
            "id": charge.id,
            "payment_intent": charge["payment_intent"],
            "account": row["account"],
            "livemode": bool(row["livemode"]),
            "currency": charge["currency"],
            "amount": charge["amount"],
            "amount_captured": charge["amount_captured"],
            "amount_refunded": charge["amount_refunded"],
            "captured": charge["captured"],
            "disputed": charge["disputed"],
            "created": charge["created"],
        }
        for row, charge in lists.everything(store, "charge") if charge["paid"]
    ]


def refunded(store):
    """Every refund, those of holds included: they have no reference."""
    return [
        {
            "reference": refund["metadata"].get("till_reference"),
            "id": refund.id,
            "payment_intent": refund["payment_intent"],
            "charge": refund["charge"],
            "account": row["account"],
            "livemode": bool(row["livemode"]),
            "currency": refund["currency"],
            "amount": refund["amount"],
            "status": refund["status"],
            "moved": refund["balance_transaction"] is not None,
            "created": refund["created"],
        }
        for row, refund in lists.everything(store, "refund")
    ]

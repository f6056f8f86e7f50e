"""Charges: what an intent's attempt does to a card or a PromptPay payer."""

import balance
import events
from context import made_up

ECI = {"authenticated": "05", "attempt_acknowledged": "06"}
ADVICE = {"insufficient_funds": "try_again_later", "lost_card": "do_not_try_again", "stolen_card": "do_not_try_again"}
# Members that the fake leaves null, or null at first.
NULLS = (
    "application application_fee application_fee_amount balance_transaction customer failure_balance_transaction "
    "failure_code failure_message on_behalf_of outcome receipt_number receipt_url review shipping source_transfer "
    "transfer_data transfer_group"
).split()


def create(context, intent, method, three_d_secure=None):
    """A charge of the intent's whole amount, not yet paid."""
    prefix = "ch" if method["type"] == "card" else "py"
    charge = context.create(
        "charge", prefix, {
            **dict.fromkeys(NULLS),
            "amount": intent["amount"],
            "amount_captured": 0,
            "amount_refunded": 0,
            "billing_details": method["billing_details"],
            "calculated_statement_descriptor": context.account["name"].upper()[:22],
            "captured": False,
            "created": context.now,
            "currency": intent["currency"],
            "description": intent["description"],
            "disputed": False,
            "fraud_details": {},
            "livemode": context.livemode,
            "metadata": dict(intent["metadata"]),
            "paid": False,
            "payment_intent": intent.id,
            "payment_method": method.id,
            "payment_method_details": details(context, method, intent, three_d_secure),
            "radar_options": {},
            "receipt_email": intent["receipt_email"],
            "refunded": False,
            "statement_descriptor": intent["statement_descriptor"],
            "statement_descriptor_suffix": intent["statement_descriptor_suffix"],
            "status": "pending",
        },
        intent=intent.id,
        outcome=method.private.get("outcome", {}),
    )
    intent.update(latest_charge=charge.id)
    return charge


def details(context, method, intent, three_d_secure):
    if method["type"] == "promptpay":
        return {"type": "promptpay", "promptpay": {"reference": None}}
    card = method["card"]
    kept = ("brand", "checks", "country", "exp_month", "exp_year", "fingerprint", "funding", "last4", "wallet")
    own = {
        "amount_authorized": intent["amount"],
        "authorization_code": None,
        "extended_authorization": {"status": "disabled"},
        "incremental_authorization": {"status": "unavailable"},
        "installments": None,
        "mandate": None,
        "multicapture": {"status": "unavailable"},
        "network": card["brand"],
        "network_token": {"used": False},
        "network_transaction_id": None,
        "overcapture": {"maximum_amount_capturable": intent["amount"], "status": "unavailable"},
        "regulated_status": "unregulated",
        "three_d_secure": secure(three_d_secure),
    }
    return {"type": "card", "card": {name: card[name] for name in kept} | own}


def secure(outcome):
    """3-D Secure's result in the charge's details; null without it."""
    if outcome is None:
        return None
    return {
        "authentication_flow": outcome.get("flow", "frictionless"),
        "electronic_commerce_indicator": ECI.get(outcome["result"], "07"),
        "exemption_indicator": "low_risk" if outcome["result"] == "exempted" else None,
        "exemption_indicator_applied": True if outcome["result"] == "exempted" else None,
        "result": outcome["result"],
        "result_reason": outcome.get("result_reason"),
        "transaction_id": f"00000000-0000-4000-8000-{made_up(12)}",
        "version": "2.2.0",
    }


def decline(context, charge, decline_code, code, message):
    charge.update(status="failed", failure_code=code, failure_message=message)
    charge.update(outcome=outcome("issuer_declined", "declined_by_network", decline_code, "The bank declined."))
    context.save(charge)
    events.emit(context, "charge.failed", charge)


def outcome(kind, network_status, reason, message):
    return {
        "advice_code": ADVICE.get(reason),
        "network_advice_code": None,
        "network_decline_code": None,
        "network_status": network_status,
        "reason": reason,
        "risk_level": "normal",
        "seller_message": message,
        "type": kind,
    }


def hold(context, charge, seconds):
    """The amount is held on the card until `capture_before`; answers that time."""
    before = context.now + seconds
    charge["payment_method_details"]["card"]["capture_before"] = before
    approve(charge)
    context.save(charge)
    events.emit(context, "charge.succeeded", charge)
    return before


def approve(charge):
    charge.update(status="succeeded", paid=True)
    charge.update(outcome=outcome("authorized", "approved_by_network", None, "Payment complete."))


def capture(context, charge, amount):
    """The money moves. What is left of a hold goes back, as a refund that nobody asked for."""
    held = charge["paid"]
    approve(charge)
    charge.update(captured=True, amount_captured=amount)
    kind = "charge" if charge["payment_method_details"]["type"] == "card" else "payment"
    fee = balance.fee_of(context, amount)
    recorded = balance.record(
        context, kind, amount, charge["currency"], charge, "charge", fee, charge["description"]
    )
    charge.update(balance_transaction=recorded)
    context.save(charge)
    events.emit(context, "charge.captured" if held else "charge.succeeded", charge)

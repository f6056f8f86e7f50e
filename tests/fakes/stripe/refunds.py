"""Refunds: at once, pending, failing later, or waiting for the customer as PromptPay's do."""

import balance
import events
import lists
import refusals

FAILS_AFTER_SECONDS = 1
CUSTOMER_WITHIN_SECONDS = 45 * 86400
OPEN = ("pending", "requires_action")


def create(context, values):
    """`POST /v1/refunds`."""
    charge = charge_of(context, values)
    amount = checked(charge, values.get("amount", unrefunded(charge)))
    return make(context, charge, amount, **{
        name: values[name] for name in ("reason", "metadata", "instructions_email") if name in values
    })


def charge_of(context, values):
    """The charge that is meant, which must have moved money."""
    if ("payment_intent" in values) == ("charge" in values):
        told = "Send one of payment_intent and charge."
        raise refusals.invalid(told, code="parameter_missing", param="payment_intent")
    if "charge" in values:
        return refundable(context.find("charge", values["charge"], "charge"))
    intent = context.find("payment_intent", values["payment_intent"], "payment_intent")
    if intent["latest_charge"] is None:
        told = "This PaymentIntent does not have a successful charge to refund."
        raise refusals.refused(told, param="payment_intent")
    return refundable(context.find("charge", intent["latest_charge"]))


def refundable(charge):
    if charge["disputed"]:
        raise refusals.refused(f"Charge {charge.id} has been charged back; cannot issue a refund.", "charge_disputed")
    if charge["refunded"]:
        raise refusals.refused(f"Charge {charge.id} has already been refunded.", code="charge_already_refunded")
    if not charge["captured"]:
        raise refusals.refused("This charge was not captured: cancel its PaymentIntent.", code="charge_not_refundable")
    return charge


def unrefunded(charge):
    return charge["amount"] - charge["amount_refunded"]


def checked(charge, amount):
    if amount < 1:
        raise refusals.invalid("Invalid positive integer", code="parameter_invalid_integer", param="amount")
    if amount > unrefunded(charge):
        told = f"Refund amount ({amount}) is greater than unrefunded amount on charge ({unrefunded(charge)})"
        raise refusals.refused(told, param="amount")
    return amount


def make(context, charge, amount, reason=None, metadata=None, instructions_email=None):
    """A refund as the way of payment carries it out."""
    how = charge.private["outcome"].get("refund")
    kind = charge["payment_method_details"]["type"]
    status = "requires_action" if kind == "promptpay" else "pending" if how == "pending" else "succeeded"
    refund = new(context, charge, amount, status, reason, metadata or {})
    if status == "requires_action":
        ask_customer(context, refund, instructions_email or charge["billing_details"]["email"])
    give_back(context, refund, charge)
    if status == "pending":
        refund.update(pending_reason="processing")
        context.store.set_timer("refund_succeeds", refund.id, context.now + context.account["refund_pending_seconds"])
    if how == "fails":
        context.store.set_timer("refund_fails", refund.id, context.now + FAILS_AFTER_SECONDS)
    context.save(refund)
    events.emit(context, "refund.created", refund)
    return refund


def release(context, charge, amount, reason=None):
    """What was held and not captured goes back: a refund without metadata that moves no balance."""
    refund = new(context, charge, amount, "succeeded", reason, {})
    count_refunded(charge, amount)
    context.save(charge)
    events.emit(context, "refund.created", refund)
    events.emit(context, "charge.refunded", charge)


def new(context, charge, amount, status, reason, metadata):
    kind = charge["payment_method_details"]["type"]
    details = {"type": kind}
    if kind == "card":
        details["card"] = {"reference": None, "reference_status": "pending", "reference_type": None, "type": "refund"}
    return context.create(
        "refund", "re" if kind == "card" else "pyr",
        {
            "amount": amount,
            "balance_transaction": None,
            "charge": charge.id,
            "created": context.now,
            "currency": charge["currency"],
            "destination_details": details,
            "metadata": metadata,
            "payment_intent": charge["payment_intent"],
            "payment_method": charge["payment_method"],
            "reason": reason,
            "receipt_number": None,
            "source_transfer_reversal": None,
            "status": status,
            "transfer_reversal": None,
        },
        intent=charge.intent,
    )


def ask_customer(context, refund, email):
    sent = {"email_sent_at": context.now, "email_sent_to": email}
    shown = {"email_sent": sent, "expires_at": context.now + CUSTOMER_WITHIN_SECONDS}
    refund.update(instructions_email=email, next_action={"type": "display_details", "display_details": shown})
    context.store.set_timer("refund_abandoned", refund.id, context.now + CUSTOMER_WITHIN_SECONDS)


def give_back(context, refund, charge):
    """Counts the refund on its charge, and moves the balance when it is done."""
    count_refunded(charge, refund["amount"])
    if refund["status"] == "succeeded":
        move(context, refund)
    context.save(charge)
    events.emit(context, "charge.refunded", charge)


def count_refunded(charge, amount):
    refunded = charge["amount_refunded"] + amount
    charge.update(amount_refunded=refunded, refunded=refunded == charge["amount"])


def move(context, refund):
    kind = "refund" if refund.id.startswith("re_") else "payment_refund"
    moved = balance.record(context, kind, -refund["amount"], refund["currency"], refund, "refund")
    refund.update(balance_transaction=moved)


def settle(context, refund, status, failure_reason="unknown"):
    """The end of a refund that was open, or the failure of one that had succeeded."""
    if refund["status"] not in OPEN and (refund["status"], status) != ("succeeded", "failed"):
        raise ValueError(f"the refund is {refund['status']} and cannot become {status}")
    for timer in ("refund_succeeds", "refund_fails", "refund_abandoned"):
        context.store.end_timer(timer, refund.id)
    refund.body.pop("next_action", None)
    refund.body.pop("pending_reason", None)
    if status == "succeeded":
        move(context, refund)
    else:
        take_back(context, refund, failure_reason)
    refund.update(status=status)
    context.save(refund)
    tell(context, refund)


def take_back(context, refund, failure_reason):
    """The money is the account's again."""
    charge = context.find("charge", refund["charge"])
    charge.update(amount_refunded=charge["amount_refunded"] - refund["amount"], refunded=False)
    context.save(charge)
    refund.update(failure_reason=failure_reason)
    if refund["balance_transaction"] is not None:
        returned = balance.record(context, "refund_failure", refund["amount"], refund["currency"], refund)
        refund.update(failure_balance_transaction=returned)


def tell(context, refund):
    kinds = ["refund.updated", "charge.refund.updated"] + (["refund.failed"] if refund["status"] == "failed" else [])
    for kind in kinds:
        events.emit(context, kind, refund)


def listed(context, values):
    """`GET /v1/refunds`."""
    conditions = []
    if "payment_intent" in values:
        context.find("payment_intent", values["payment_intent"], "payment_intent")
        conditions.append(("intent = ?", values["payment_intent"]))
    if "charge" in values:
        conditions.append(("json_extract(body, '$.charge') = ?", values["charge"]))
    return lists.page(context, "refund", "/v1/refunds", values, conditions)

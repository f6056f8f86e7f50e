"""Payment intents: how one is made, what its states allow, and its captures and cancellations."""

import charges
import currencies
import events
import refunds
import refusals
import sessions
import ways
from context import made_up
from parameters import require

CANCELABLE = ("requires_payment_method", "requires_capture", "requires_confirmation", "requires_action")
# Members that the fake leaves null, or null at first.
NULLS = (
    "application application_fee_amount canceled_at cancellation_reason client_secret customer last_payment_error "
    "latest_charge next_action on_behalf_of payment_method payment_method_configuration_details processing review "
    "setup_future_usage shipping transfer_data transfer_group"
).split()


def create(context, values):
    """The intent of a form, not confirmed."""
    require(values, "amount", "currency")
    currencies.check(values["amount"], values["currency"])
    if "return_url" in values and not values.get("confirm"):
        raise refusals.invalid("return_url goes with confirm=true.", param="return_url")
    intent = new(context, values, ways.types_of(context, values, values["currency"]))
    events.emit(context, "payment_intent.created", intent)
    return intent


def new(context, values, types, session=None):
    automatic = {"allow_redirects": "always", "enabled": True} | values.get("automatic_payment_methods", {})
    options = {"card": ways.card_options_of(values), "promptpay": {}}
    intent = context.create(
        "payment_intent", "pi", {
            **dict.fromkeys(NULLS),
            "amount": values["amount"],
            "amount_capturable": 0,
            "amount_details": {"tip": {}},
            "amount_received": 0,
            "automatic_payment_methods": None if session else automatic,
            "capture_method": values.get("capture_method", "automatic_async"),
            "confirmation_method": "automatic",
            "created": context.now,
            "currency": values["currency"],
            "description": values.get("description"),
            "livemode": context.livemode,
            "metadata": values.get("metadata", {}),
            "payment_method_options": {name: options[name] for name in types},
            "payment_method_types": types,
            "receipt_email": values.get("receipt_email"),
            "statement_descriptor": values.get("statement_descriptor"),
            "statement_descriptor_suffix": values.get("statement_descriptor_suffix"),
            "status": "requires_payment_method",
        },
        session=session,
        capture_method=ways.capture_method_of(values),
    )
    intent.update(client_secret=f"{intent.id}_secret_{made_up()}")
    for name in ("allowed_payment_method_types", "excluded_payment_method_types"):
        if name in values and not session:
            intent.update(**{name: values[name]})
    context.save(intent)
    return intent


def unexpected(intent, act, allowed):
    """Refuses an act that the intent's status does not allow."""
    told = (
        f"This PaymentIntent could not be {act} because it has a status of {intent['status']}. "
        f"Only a PaymentIntent with one of the following statuses may be {act}: {', '.join(allowed)}."
    )
    return refusals.refused(told, code="payment_intent_unexpected_state", payment_intent=intent.body)


def refuse_of_open_session(context, intent):
    """Checkout's own intent is the page's while the page is open."""
    session_id = intent.private["session"]
    if session_id and context.find("checkout.session", session_id)["status"] == "open":
        told = "You cannot perform this action on PaymentIntents created by Checkout: expire the session."
        raise refusals.refused(told)


def change(context, intent, kind, **members):
    """Stores the intent's new state and tells it."""
    intent.update(**members)
    context.save(intent)
    events.emit(context, kind, intent)


def capture(context, intent, values):
    """`POST /v1/payment_intents/{id}/capture`."""
    if intent["status"] != "requires_capture":
        raise unexpected(intent, "captured", ["requires_capture"])
    amount = values.get("amount_to_capture", intent["amount_capturable"])
    if not 1 <= amount <= intent["amount_capturable"]:
        told = "The amount to capture is from 1 to the amount that is capturable."
        raise refusals.refused(told, code="amount_too_large", param="amount_to_capture", payment_intent=intent.body)
    charge = context.find("charge", intent["latest_charge"])
    context.store.end_timer("hold_lapses", intent.id)
    charges.capture(context, charge, amount)
    if amount < charge["amount"]:
        refunds.release(context, charge, charge["amount"] - amount)
    intent["metadata"].update(values.get("metadata", {}))
    change(
        context, intent, "payment_intent.succeeded", status="succeeded", amount_capturable=0, amount_received=amount
    )
    if intent.private["session"]:
        sessions.follow(context, intent)


def cancel(context, intent, reason=None):
    """`POST /v1/payment_intents/{id}/cancel`: a hold goes back to the card."""
    refuse_of_open_session(context, intent)
    if intent["status"] not in CANCELABLE:
        raise unexpected(intent, "canceled", CANCELABLE)
    end(context, intent, reason)


def end(context, intent, reason):
    """Cancels an intent, whoever asked."""
    held = intent["status"] == "requires_capture"
    withdraw_action(context, intent)
    if held:
        context.store.end_timer("hold_lapses", intent.id)
        charge = context.find("charge", intent["latest_charge"])
        refunds.release(context, charge, charge["amount"], "expired_uncaptured_charge" if reason == "expired" else None)
        if reason == "expired":
            events.emit(context, "charge.expired", charge)
    change(
        context, intent, "payment_intent.canceled", status="canceled", amount_capturable=0,
        canceled_at=context.now, cancellation_reason=reason, next_action=None,
    )


def withdraw_action(context, intent):
    """The issuer's page and the QR code that were shown lead nowhere any more."""
    context.store.execute("DELETE FROM tokens WHERE intent = ?", intent.id)
    context.store.end_timer("qr_lapses", intent.id)
    intent.update(next_action=None)

"""Checkout sessions: how one is made, and how it follows its intent."""

import currencies
import events
import refusals
import ways
from parameters import require

SHORTEST_SECONDS, LONGEST_SECONDS = 30 * 60, 24 * 3600
# Members that the fake leaves null, or null at first.
NULLS = (
    "after_expiration allow_promotion_codes billing_address_collection client_secret collected_information consent "
    "consent_collection currency_conversion customer customer_details invoice invoice_creation payment_intent "
    "payment_link payment_method_configuration_details permissions recovered_from saved_payment_method_options "
    "setup_intent shipping_address_collection shipping_cost subscription url wallet_options"
).split()


def create(context, values):
    """`POST /v1/checkout/sessions`."""
    require(values, "mode", "line_items", "success_url")
    amount, currency = totals(values["line_items"])
    currencies.check(amount, currency, "line_items")
    expires_at = checked_end(context, values.get("expires_at", context.now + LONGEST_SECONDS))
    types = ways.types_of(context, {**values, **values.get("payment_intent_data", {})}, currency)
    prefix = "cs_live" if context.livemode else "cs_test"
    session = context.create("checkout.session", prefix, body(context, values, amount, currency, expires_at, types))
    session.update(url=f"{context.base}/c/pay/{session.id}")
    kept = ("payment_intent_data", "payment_method_options")
    session.private.update({name: values[name] for name in kept if name in values})
    session.private["line"] = values["line_items"][0]["price_data"].get("product_data", {}).get("name", "")
    context.save(session)
    context.store.set_timer("session_expires", session.id, expires_at)
    return session


def totals(lines):
    """Sum and currency of the lines, each of which has a price of its own."""
    prices = []
    for line in lines:
        require(line, "price_data")
        require(line["price_data"], "currency", "unit_amount", "product_data")
        prices.append((line["price_data"]["unit_amount"] * line.get("quantity", 1), line["price_data"]["currency"]))
    if len({currency for _, currency in prices}) != 1:
        raise refusals.invalid("All prices of a session have one currency.", param="line_items")
    return sum(amount for amount, _ in prices), prices[0][1]


def checked_end(context, expires_at):
    if expires_at < context.now + SHORTEST_SECONDS:
        told = "The `expires_at` timestamp must be at least 30 minutes from Checkout Session creation."
        raise refusals.invalid(told, param="expires_at")
    if expires_at > context.now + LONGEST_SECONDS:
        told = "The `expires_at` timestamp must be less than 24 hours from Checkout Session creation."
        raise refusals.invalid(told, param="expires_at")
    return expires_at


def body(context, values, amount, currency, expires_at, types):
    shown = {
        **dict.fromkeys(NULLS),
        "adaptive_pricing": {"enabled": values.get("adaptive_pricing", {}).get("enabled", True)},
        "amount_subtotal": amount,
        "amount_total": amount,
        "automatic_tax": {"enabled": False, "liability": None, "provider": None, "status": None},
        "cancel_url": values.get("cancel_url"),
        "client_reference_id": values.get("client_reference_id"),
        "created": context.now,
        "currency": currency,
        "custom_fields": [],
        "custom_text": {
            "after_submit": None, "shipping_address": None, "submit": None, "terms_of_service_acceptance": None
        },
        "customer_creation": "if_required",
        "customer_email": values.get("customer_email"),
        "discounts": [],
        "expires_at": expires_at,
        "livemode": context.livemode,
        "locale": values.get("locale"),
        "metadata": values.get("metadata", {}),
        "mode": "payment",
        "payment_method_collection": "if_required",
        "payment_method_options": {"card": {"request_three_d_secure": "automatic"} | card_options(values)},
        "payment_method_types": types,
        "payment_status": "unpaid",
        "phone_number_collection": {"enabled": False},
        "shipping_options": [],
        "status": "open",
        "submit_type": values.get("submit_type"),
        "success_url": values["success_url"],
        "total_details": {"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0},
        "ui_mode": "hosted_page",
    }
    types = ("allowed_payment_method_types", "excluded_payment_method_types")
    return shown | {name: values[name] for name in types if name in values}


def card_options(values):
    return values.get("payment_method_options", {}).get("card", {})


def follow(context, intent):
    """The session is complete as soon as its intent needs nothing more of the customer, and paid when money moved."""
    session = context.find("checkout.session", intent.private["session"])
    if session["status"] == "open" and intent["status"] in ("succeeded", "requires_capture", "processing"):
        return complete(context, session, intent)
    if session["status"] == "complete" and intent["status"] == "succeeded":
        return end(context, session, "paid", None if intent.private.get("held") else "succeeded")
    if session["status"] == "complete" and intent["status"] == "requires_payment_method":
        return end(context, session, "unpaid", "failed")
    return None


def complete(context, session, intent):
    paid = "paid" if intent["status"] == "succeeded" else "unpaid"
    session.update(status="complete", url=None, payment_status=paid)
    context.store.end_timer("session_expires", session.id)
    context.save(session)
    events.emit(context, "checkout.session.completed", session)


def end(context, session, payment_status, told):
    """What a payment has come to that was under way, or held, when its session was completed."""
    session.update(payment_status=payment_status)
    context.save(session)
    if told:
        events.emit(context, f"checkout.session.async_payment_{told}", session)


def attach(context, session, intent, email, name):
    """The page's first attempt: from now on the session tells its intent and its customer."""
    details = {"address": None, "business_name": None, "individual_name": None, "phone": None}
    details |= {"email": email, "name": name, "tax_exempt": "none", "tax_ids": []}
    session.update(payment_intent=intent.id, customer_details=details)
    session.intent = intent.id
    context.save(session)

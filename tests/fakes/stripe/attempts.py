"""Attempts: what happens to an intent that is confirmed, by a server or on the card page.

An intent is charged at most once: only an intent that waits for an attempt gets one.
"""

import cards
import charges
import events
import intents
import payment_methods
import refusals
from context import made_up

CONFIRMABLE = ("requires_payment_method", "requires_confirmation", "requires_action")
FAILED_AUTHENTICATION = "The provided PaymentMethod has failed authentication. Send a new PaymentMethod to try again."
CHALLENGE = {"flow": "challenge"}
# What the issuer's page may be answered, and the result of 3-D Secure that the charge then tells. Others end the attempt.
ANSWERS = {
    "authenticate": CHALLENGE | {"result": "authenticated"},
    "attempt": CHALLENGE | {"result": "attempt_acknowledged"},
    "unavailable": CHALLENGE | {"result": "processing_error", "result_reason": "protocol_error"},
}
REFUSING_ANSWERS = ("fail", "reject", "cancel")


def begin(context, intent, method, return_url):
    """Begins an attempt. Answers the refusal when the card is declined: the intent then waits for another."""
    if method.private.get("used"):
        told = "This PaymentMethod was previously used without being attached to a Customer, and may not be used again."
        raise refusals.refused(told, param="payment_method")
    method.private["used"] = True
    context.save(method)
    intents.withdraw_action(context, intent)
    intent.update(payment_method=method.id, last_payment_error=None)
    intent.private.update(return_url=return_url)
    if method["type"] == "promptpay":
        return show_code(context, intent, return_url)
    outcome = method.private["outcome"]
    if outcome.get("challenge") or intent["payment_method_options"]["card"]["request_three_d_secure"] != "automatic":
        return send_to_issuer(context, intent, return_url)
    return charge(context, intent, method, outcome.get("three_d_secure"))


def show_code(context, intent, return_url):
    """PromptPay: the customer scans a code, for a day."""
    token = made_up()
    context.store.execute("INSERT INTO tokens VALUES (?, ?)", token, intent.id)
    page = f"{context.base}/promptpay/{token}"
    shown = {"data": payment_methods.qr_text(), "hosted_instructions_url": page}
    shown |= {"image_url_png": f"{page}.png", "image_url_svg": f"{page}.svg"}
    context.store.set_timer("qr_lapses", intent.id, context.now + context.account["qr_seconds"])
    ask(context, intent, {"type": "promptpay_display_qr_code", "promptpay_display_qr_code": shown})


def send_to_issuer(context, intent, return_url):
    token = made_up()
    context.store.execute("INSERT INTO tokens VALUES (?, ?)", token, intent.id)
    shown = {"return_url": return_url, "url": f"{context.base}/issuer/{token}"}
    ask(context, intent, {"type": "redirect_to_url", "redirect_to_url": shown})


def ask(context, intent, action):
    intents.change(context, intent, "payment_intent.requires_action", status="requires_action", next_action=action)


def answered_by_issuer(context, intent, answer):
    """The customer's end of the issuer's page; answers a refusal as `begin` does."""
    intents.withdraw_action(context, intent)
    method = context.find("payment_method", intent["payment_method"])
    if answer in ANSWERS:
        return charge(context, intent, method, ANSWERS[answer])
    error = {"type": "invalid_request_error", "code": "payment_intent_authentication_failure"}
    error |= {"message": FAILED_AUTHENTICATION, "doc_url": refusals.DOCUMENTATION + "payment-intent-authentication-failure"}
    return fail(context, intent, method, error)


def charge(context, intent, method, three_d_secure):
    """Charges the card: at once, or after a while in which the intent is processing."""
    outcome = method.private["outcome"]
    made = charges.create(context, intent, method, three_d_secure)
    if "processing_seconds" in outcome:
        context.save(made)
        events.emit(context, "charge.pending", made)
        context.store.set_timer("processing_ends", intent.id, context.now + outcome["processing_seconds"])
        return intents.change(context, intent, "payment_intent.processing", status="processing")
    return decide(context, intent, method, made, outcome)


def decide(context, intent, method, made, outcome):
    if "decline" in outcome:
        return decline(context, intent, method, made, outcome["decline"], outcome.get("decline_code"))
    method_checks(made)
    if intent.private["capture_method"] == "manual" and method["type"] == "card":
        return hold(context, intent, made, outcome)
    return pay(context, intent, made)


def method_checks(made):
    checks = made["payment_method_details"].get("card", {}).get("checks")
    if checks and checks["cvc_check"]:
        checks["cvc_check"] = "pass"


def hold(context, intent, made, outcome):
    before = charges.hold(context, made, outcome.get("hold_seconds", context.account["hold_seconds"]))
    intent.private["held"] = True
    context.store.set_timer("hold_lapses", intent.id, before)
    intents.change(
        context, intent, "payment_intent.amount_capturable_updated",
        status="requires_capture", amount_capturable=intent["amount"],
    )


def pay(context, intent, made):
    charges.capture(context, made, made["amount"])
    intents.change(
        context, intent, "payment_intent.succeeded", status="succeeded", amount_received=made["amount"], next_action=None
    )


def decline(context, intent, method, made, code, decline_code):
    message = cards.decline_message(code)
    charges.decline(context, made, decline_code, code, message)
    error = {"type": "card_error", "code": code, "message": message, "charge": made.id}
    error |= {"doc_url": refusals.DOCUMENTATION + code.replace("_", "-")}
    if method["type"] == "card":
        error["decline_code"] = decline_code
    return fail(context, intent, method, error)


def fail(context, intent, method, error):
    """The intent waits for another attempt; answers the refusal that a confirm call ends with."""
    error = error | {"payment_method": method.body, "payment_method_type": method["type"]}
    intents.change(
        context, intent, "payment_intent.payment_failed", status="requires_payment_method",
        payment_method=None, next_action=None, last_payment_error=error,
    )
    refusal = refusals.Refusal(402, error["type"], error["message"], executed=True)
    refusal.body = {"error": error | {"payment_intent": dict(intent.body)}}
    return refusal


def end_processing(context, intent):
    """What a charge under way has come to."""
    method = context.find("payment_method", intent["payment_method"])
    made = context.find("charge", intent["latest_charge"])
    return decide(context, intent, method, made, method.private["outcome"])


def end_code(context, intent, answer):
    """The end of a PromptPay code: `paid`, `failed` at the payer's bank, or `lapsed`."""
    intents.withdraw_action(context, intent)
    method = context.find("payment_method", intent["payment_method"])
    if answer == "paid":
        return pay(context, intent, charges.create(context, intent, method))
    code = {"failed": "payment_method_provider_decline", "lapsed": "payment_intent_payment_attempt_expired"}[answer]
    error = {"type": "invalid_request_error", "code": code, "message": "The PromptPay payment was not completed."}
    return fail(context, intent, method, error)


def confirm(context, intent, values):
    """`POST /v1/payment_intents/{id}/confirm`."""
    intents.refuse_of_open_session(context, intent)
    if intent["status"] == "succeeded":
        told = "You cannot confirm this PaymentIntent because it has already succeeded after being previously confirmed."
        raise refusals.refused(told, code="payment_intent_unexpected_state", payment_intent=intent.body)
    method = method_of(context, intent, values)
    needs_method = intent["status"] in ("requires_payment_method", "requires_action") and method is None
    if intent["status"] not in CONFIRMABLE or needs_method:
        raise intents.unexpected(intent, "confirmed", CONFIRMABLE[1:])
    check_return(intent, values)
    apply(intent, values)
    method = method or context.find("payment_method", intent["payment_method"], "payment_method")
    check_type(context, intent, method)
    refusal = begin(context, intent, method, values.get("return_url"))
    if refusal is not None:
        raise refusal


def method_of(context, intent, values):
    """The way of payment that the form names, or has the data of."""
    if "payment_method" in values:
        return context.find("payment_method", values["payment_method"], "payment_method")
    if "payment_method_data" not in values:
        return None
    return payment_methods.promptpay(context, values["payment_method_data"])


def check_return(intent, values):
    """Stripe wants a way back whenever one of the enabled ways of payment may lead away, whichever is used."""
    automatic = intent["automatic_payment_methods"]
    if "return_url" not in values and automatic["allow_redirects"] == "always":
        told = (
            "This PaymentIntent is configured to accept payment methods that might redirect your customer off of your "
            "page: you must provide a `return_url`."
        )
        raise refusals.refused(told, code="parameter_missing", param="return_url")


def apply(intent, values):
    """What a confirm call may still change."""
    if "receipt_email" in values:
        intent.update(receipt_email=values["receipt_email"])
    card = values.get("payment_method_options", {}).get("card", {})
    if "card" in intent["payment_method_options"]:
        intent["payment_method_options"]["card"].update(card)
    intent.private["capture_method"] = card.get(
        "capture_method", values.get("capture_method", intent.private["capture_method"])
    )


def check_type(context, intent, method):
    if method["type"] not in intent["payment_method_types"]:
        told = f"The PaymentMethod's type {method['type']} is not allowed for this PaymentIntent."
        raise refusals.refused(told, code="payment_intent_incompatible_payment_method", param="payment_method")
    if method["type"] == "promptpay" and not method["billing_details"]["email"]:
        raise refusals.refused(
            "PromptPay needs an email address.", code="parameter_missing", param="payment_method_data[billing_details][email]"
        )

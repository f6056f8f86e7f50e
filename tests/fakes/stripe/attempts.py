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

FAILED_AUTHENTICATION = "The provided PaymentMethod has failed authentication. Send a new PaymentMethod to try again."
CHALLENGE = {"flow": "challenge"}
# Answers of the issuer's page that lead to a charge, and the result of 3-D Secure that it tells.
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
    return fail(context, intent, method, error | {"message": FAILED_AUTHENTICATION})


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
        context, intent, "payment_intent.succeeded",
        status="succeeded", amount_received=made["amount"], next_action=None,
    )


def decline(context, intent, method, made, code, decline_code):
    message = cards.decline_message(code)
    charges.decline(context, made, decline_code, code, message)
    error = {"type": "card_error", "code": code, "message": message, "charge": made.id}
    if method["type"] == "card":
        error["decline_code"] = decline_code
    return fail(context, intent, method, error)


def fail(context, intent, method, error):
    """The intent waits for another attempt; answers the refusal that a confirm call ends with."""
    error |= {"doc_url": refusals.documentation_of(error["code"])}
    error |= {"payment_method": method.body, "payment_method_type": method["type"]}
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

"""Confirming an intent by a call: what its form and its state must be before an attempt begins."""

import attempts
import intents
import payment_methods
import refusals

CONFIRMABLE = ("requires_payment_method", "requires_confirmation", "requires_action")


def confirm(context, intent, values):
    """`POST /v1/payment_intents/{id}/confirm`."""
    intents.refuse_of_open_session(context, intent)
    method = method_of(context, intent, values)
    needs_method = intent["status"] in ("requires_payment_method", "requires_action") and method is None
    if intent["status"] not in CONFIRMABLE or needs_method:
        raise intents.unexpected(intent, "confirmed", CONFIRMABLE[1:])
    check_return(intent, values)
    apply(intent, values)
    method = method or context.find("payment_method", intent["payment_method"], "payment_method")
    check_type(context, intent, method)
    refusal = attempts.begin(context, intent, method, values.get("return_url"))
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
        param = "payment_method_data[billing_details][email]"
        raise refusals.refused("PromptPay needs an email address.", code="parameter_missing", param=param)

"""Ways of payment: which of them an intent or a session may be paid by, and how a card is captured."""

import refusals
from parameters import PLAYED_TYPES

PROMPTPAY_NEEDS = ("thb", "TH")


def capture_method_of(values):
    """`manual` or not: the card's own option goes before the intent's."""
    own = values.get("payment_method_options", {}).get("card", {}).get("capture_method")
    return own or values.get("capture_method", "automatic_async")


def card_options_of(values):
    given = values.get("payment_method_options", {}).get("card", {})
    shown = {"installments": None, "mandate_options": None, "network": None, "request_three_d_secure": "automatic"}
    return shown | given


def types_of(context, values, currency):
    """The ways of payment that the account, the currency and the form leave."""
    thai = (currency, context.account["country"]) == PROMPTPAY_NEEDS and values.get("capture_method") != "manual"
    open_types = ["card", "promptpay"] if thai else ["card"]
    allowed = values.get("allowed_payment_method_types", PLAYED_TYPES)
    excluded = values.get("excluded_payment_method_types", ())
    types = [one for one in open_types if one in allowed and one not in excluded]
    if not types:
        told = "No payment method types are left for this currency, capture method and account."
        raise refusals.invalid(told, code="payment_intent_invalid_parameter", param="allowed_payment_method_types")
    return types

"""Payment methods: cards whose number a server sends, or that the card page takes, and PromptPay."""

import hashlib
import json

import cards
import refusals
from context import made_up
from parameters import require

RAW_NUMBERS = (
    "Sending credit card numbers directly to the Stripe API is generally unsafe. To continue processing use Stripe.js, "
    "the Stripe mobile bindings, or Stripe Elements."
)


def create(context, values):
    """`POST /v1/payment_methods`."""
    require(values, "type")
    if values["type"] == "promptpay":
        return promptpay(context, values)
    require(values, "card")
    if not context.account["raw_card_numbers"]:
        raise refusals.invalid(RAW_NUMBERS, status=402)
    return card(context, values)


def card(context, values):
    """A card, after the checks of its form that Stripe makes without asking the issuer."""
    given = values["card"]
    require(given, "number", "exp_month", "exp_year")
    number = given["number"].replace(" ", "")
    check_form(context, number, given)
    outcome = outcome_of(context.store, number)
    shown = {
        "brand": cards.brand(number),
        "checks": {
            "address_line1_check": None, "address_postal_code_check": None,
            "cvc_check": "unchecked" if given.get("cvc") else None,
        },
        "country": "US",
        "display_brand": cards.brand(number),
        "exp_month": given["exp_month"],
        "exp_year": full_year(given["exp_year"]),
        "fingerprint": hashlib.sha256(f"{context.account['id']}{number}".encode()).hexdigest()[:16],
        "funding": "credit",
        "generated_from": None,
        "last4": number[-4:],
        "networks": {"available": [cards.brand(number)], "preferred": None},
        "regulated_status": "unregulated",
        "three_d_secure_usage": {"supported": True},
        "wallet": None,
    }
    return stored(context, "card", shown, values, outcome=outcome)


def promptpay(context, values):
    return stored(context, "promptpay", {}, values)


def stored(context, kind, shown, values, **private):
    return context.create(
        "payment_method", "pm",
        {
            "allow_redisplay": "unspecified",
            "billing_details": billing(values.get("billing_details", {})),
            kind: shown,
            "created": context.now,
            "customer": None,
            "livemode": context.livemode,
            "metadata": values.get("metadata", {}),
            "type": kind,
        },
        **private,
    )


def billing(given):
    address = {name: None for name in ("city", "country", "line1", "line2", "postal_code", "state")}
    members = {name: given.get(name) for name in ("email", "name", "phone")} | {"tax_id": None}
    return members | {"address": address | given.get("address", {})}


def check_form(context, number, given):
    year = full_year(given["exp_year"])
    if not cards.is_number(number):
        raise card_error("incorrect_number", "number")
    if not 1 <= given["exp_month"] <= 12:
        raise card_error("invalid_expiry_month", "exp_month")
    if not year_now(context) <= year <= year_now(context) + 50:
        raise card_error("invalid_expiry_year", "exp_year")
    if "cvc" in given and not (given["cvc"].isdigit() and len(given["cvc"]) in (3, 4)):
        raise card_error("invalid_cvc", "cvc")


def card_error(code, param):
    message = cards.decline_message(code) if code in cards.MESSAGES else f"Your card's {param} is invalid."
    return refusals.Refusal(402, "card_error", message, code=code, param=param, executed=True)


def full_year(year):
    return year + 2000 if year < 100 else year


def year_now(context):
    return 1970 + int(context.now // 31556952)


def outcome_of(store, number):
    """What the card does: what a test has said, else the table's; any other number is approved."""
    row = store.row("SELECT outcome FROM cards WHERE number = ?", number)
    return json.loads(row["outcome"]) if row else cards.ALL.get(number, {})


def qr_text():
    """The text of a PromptPay code: made up, with the head of an EMV merchant-presented one."""
    return f"00020101021230{made_up(40).upper()}5303764"

"""What a card number does. Stripe's documented test numbers, and numbers of the fake's own (they begin with 40009999)
for what Stripe has no number for. A test adds others by `POST /_fake/cards`.

An outcome is a dict:
    decline             the error's code; the card is declined
    decline_code        the issuer's code beside it
    challenge           the customer goes to the issuer's page
    three_d_secure      the result that the charge tells, without a challenge; `result_reason` beside it
    processing_seconds  the charge is processed for so long; `decline` is then its end
    refund              `pending` (it succeeds later) or `fails` (it succeeds, and fails later)
    hold_seconds        how long a hold lasts, instead of the account's time
"""

MESSAGES = {
    "card_declined": "Your card was declined.",
    "expired_card": "Your card has expired.",
    "incorrect_cvc": "Your card's security code is incorrect.",
    "processing_error": "An error occurred while processing your card. Try again in a little bit.",
    "incorrect_number": "Your card number is incorrect.",
    "authentication_required": "Your card was declined. This transaction requires authentication.",
}
OWN_PREFIX = "40009999"
DECLINE_CODES = (
    "approve_with_id call_issuer card_not_supported card_velocity_exceeded currency_not_supported do_not_honor "
    "do_not_try_again fraudulent generic_decline insufficient_funds invalid_account invalid_amount "
    "issuer_not_available lost_card merchant_blacklist new_account_information_available no_action_taken "
    "not_permitted pickup_card "
    "reenter_transaction restricted_card revocation_of_all_authorizations security_violation service_not_allowed "
    "stolen_card stop_payment_order transaction_not_allowed try_again_later withdrawal_count_limit_exceeded "
    "highest_risk_level"
).split()
RESULTS = {
    "authenticated": {"result": "authenticated"},
    "attempt_acknowledged": {"result": "attempt_acknowledged"},
    "exempted": {"result": "exempted"},
    "failed": {"result": "failed"},
    "rejected": {"result": "failed", "result_reason": "rejected"},
    "not_supported": {"result": "not_supported", "result_reason": "card_not_enrolled"},
    "processing_error": {"result": "processing_error", "result_reason": "protocol_error"},
    "data_share_only": {"result": "data_share_only"},
}


def declined(code, decline_code=None):
    return {"decline": code, "decline_code": decline_code or code}


STRIPES = {
    "4242424242424242": {},
    "4000056655665556": {},
    "5555555555554444": {},
    "5200828282828210": {},
    "378282246310005": {},
    "3566002020360505": {},
    "6200000000000005": {},
    "4000007640000003": {},
    "4000000000000002": declined("card_declined", "generic_decline"),
    "4000000000009995": declined("card_declined", "insufficient_funds"),
    "4000000000009987": declined("card_declined", "lost_card"),
    "4000000000009979": declined("card_declined", "stolen_card"),
    "4000000000000069": declined("expired_card"),
    "4000000000000127": declined("incorrect_cvc"),
    "4000000000000119": declined("processing_error"),
    "4000000000006975": declined("card_declined", "card_velocity_exceeded"),
    "4100000000000019": declined("card_declined", "fraudulent"),
    "4000000000004954": declined("card_declined", "highest_risk_level"),
    "4000002500003155": {"challenge": True},
    "4000002760003184": {"challenge": True},
    "4000000000003220": {"challenge": True},
    "4000008400001629": {"challenge": True, **declined("card_declined", "generic_decline")},
    "4000000000003063": {"challenge": True},
    "4000000000000325": {"three_d_secure": RESULTS["authenticated"]},
    "4000008400001280": {"three_d_secure": RESULTS["processing_error"]},
    "4000000000007726": {"refund": "pending"},
    "4000000000005126": {"refund": "fails"},
}


def luhn(digits):
    """The digits with the check digit of ISO/IEC 7812-1."""
    doubled = [int(digit) * (1 + at % 2) for at, digit in enumerate(reversed(digits), start=1)]
    return f"{digits}{-sum(value - 9 * (value > 9) for value in doubled) % 10}"


def own(group, number):
    return luhn(f"{OWN_PREFIX}{group:02}{number:05}")


def own_cards():
    """The fake's own numbers: a group of them for each kind."""
    yield from ((own(1, at), declined("card_declined", code)) for at, code in enumerate(DECLINE_CODES))
    yield from ((own(2, at), {"three_d_secure": RESULTS[name]}) for at, name in enumerate(RESULTS))
    codes = "authentication_required invalid_cvc invalid_expiry_month invalid_expiry_year incorrect_number".split()
    yield from ((own(3, at), declined(code)) for at, code in enumerate(codes))
    yield own(4, 0), {"processing_seconds": 2}
    yield own(4, 1), {"processing_seconds": 2, **declined("card_declined", "insufficient_funds")}
    yield own(4, 2), {"processing_seconds": 1e9}
    yield own(5, 0), {"hold_seconds": 3600}
    yield own(5, 1), {"hold_seconds": 1}


ALL = STRIPES | dict(own_cards())
BRANDS = {"4": "visa", "5": "mastercard", "3": "amex", "35": "jcb", "62": "unionpay"}


def is_number(number):
    return number.isascii() and number.isdigit() and 12 <= len(number) <= 19 and luhn(number[:-1]) == number


def brand(number):
    return BRANDS.get(number[:2]) or BRANDS.get(number[:1], "unknown")


def decline_message(code):
    return MESSAGES.get(code, MESSAGES["card_declined"])

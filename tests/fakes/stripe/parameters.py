"""Forms read by a schema: what it does not name is refused, as Stripe refuses what it does not know.

A schema is a dict from names to readers; a reader is a function of text and name, a dict (an object), or a list of one
of them (an array). What Stripe knows and the fake does not play is missing in the schemas and thereby refused.
"""

import re

from refusals import invalid

METADATA_KEYS_MAX, METADATA_KEY_MAX, METADATA_VALUE_MAX = 50, 40, 500
LOCALES = (
    "auto bg cs da de el en en-GB es es-419 et fi fil fr fr-CA hi-IN hr hu id it ja ko lt lv ms mt nb nl pl pt pt-BR "
    "ro ru sk sl sv th tr vi zh zh-HK zh-TW"
).split()


def text(value, name):
    if not isinstance(value, str):
        raise invalid(f"Invalid string: {name}", param=name)
    return value


def filled(value, name):
    if not text(value, name):
        message = f"You passed an empty string for '{name}'."
        raise invalid(message, code="parameter_invalid_empty", param=name)
    return value


def integer(value, name):
    if not isinstance(value, str) or not re.fullmatch(r"-?[0-9]{1,18}", value):
        raise invalid(f"Invalid integer: {value}", code="parameter_invalid_integer", param=name)
    return int(value)


def boolean(value, name):
    if value not in ("true", "false"):
        raise invalid(f"Invalid boolean: {value}", param=name)
    return value == "true"


def email(value, name):
    if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", text(value, name)):
        raise invalid(f"Invalid email address: {value}", code="email_invalid", param=name)
    return value


def address(value, name):
    if not re.fullmatch(r"https?://[^\s/]+\S*", text(value, name)):
        raise invalid("Not a valid URL", code="url_invalid", param=name)
    return value


def one_of(*words):
    def word(value, name):
        if value not in words:
            raise invalid(f"Invalid {name}: must be one of {', '.join(words)}", param=name)
        return value

    return word


def metadata(value, name):
    """Up to 50 pairs; a value that is empty takes its key out."""
    pairs = {str(at): one for at, one in enumerate(value)} if isinstance(value, list) else value
    if pairs == "":
        return {}
    if not isinstance(pairs, dict) or len(pairs) > METADATA_KEYS_MAX:
        raise invalid("Invalid metadata", param=name)
    for key, one in pairs.items():
        if len(key) > METADATA_KEY_MAX or len(text(one, f"{name}[{key}]")) > METADATA_VALUE_MAX:
            raise invalid("Metadata keys have at most 40 characters and values 500", param=f"{name}[{key}]")
    return {key: one for key, one in pairs.items() if one}


CREATED = {name: integer for name in ("gt", "gte", "lt", "lte")}


def moment(value, name):
    """`created=1` or `created[gte]=1`."""
    return read(value, CREATED, name) if isinstance(value, dict) else integer(value, name)


def read(form, schema, prefix=""):
    """The values of a form, by the schema's readers."""
    return {name: one(value, schema, name, f"{prefix}[{name}]" if prefix else name) for name, value in form.items()}


def one(value, schema, name, path):
    if name == "payment_method_types":
        told = "payment_method_types is no longer supported: use allowed_payment_method_types."
        raise invalid(told, code="payment_method_types_no_longer_supported", param=path)
    if name not in schema:
        raise invalid(f"Received unknown parameter: {path}", code="parameter_unknown", param=path)
    return read_by(value, schema[name], path)


def read_by(value, reader, path):
    if isinstance(reader, dict):
        if not isinstance(value, dict):
            raise invalid(f"Invalid object: {path}", param=path)
        return read(value, reader, path)
    if isinstance(reader, list):
        if not isinstance(value, list):
            raise invalid(f"Invalid array: {path}", param=path)
        return [read_by(item, reader[0], f"{path}[{at}]") for at, item in enumerate(value)]
    return reader(value, path)


def require(values, *names):
    for name in names:
        if name not in values:
            raise invalid(f"Missing required param: {name}.", code="parameter_missing", param=name)


PLAYED_TYPES = ("card", "promptpay")
EXPAND = {"expand": [filled]}
LIST = EXPAND | {"limit": integer, "starting_after": filled, "ending_before": filled}
ADDRESS = {name: text for name in ("city", "country", "line1", "line2", "postal_code", "state")}
BILLING = {"email": email, "name": text, "phone": text, "address": ADDRESS}
THREE_D_SECURE = {"request_three_d_secure": one_of("automatic", "any", "challenge")}
CARD_OPTIONS = {"card": THREE_D_SECURE | {"capture_method": one_of("manual")}}
TYPES = {"allowed_payment_method_types": [filled], "excluded_payment_method_types": [filled]}
CAPTURE_METHOD = one_of("automatic", "automatic_async", "manual")
DESCRIPTOR = {"statement_descriptor": filled, "statement_descriptor_suffix": filled}
METHOD_DATA = {"type": one_of("promptpay"), "billing_details": BILLING, "metadata": metadata, "promptpay": metadata}

ACCOUNT = EXPAND
PAYMENT_METHOD = EXPAND | {
    "type": one_of(*PLAYED_TYPES),
    "card": {"number": filled, "exp_month": integer, "exp_year": integer, "cvc": text},
    "billing_details": BILLING,
    "metadata": metadata,
    "promptpay": metadata,
}
CONFIRM = EXPAND | {
    "payment_method": filled,
    "payment_method_data": METHOD_DATA,
    "payment_method_options": CARD_OPTIONS,
    "return_url": address,
    "receipt_email": email,
    "capture_method": CAPTURE_METHOD,
}
INTENT = CONFIRM | TYPES | DESCRIPTOR | {
    "amount": integer,
    "currency": filled,
    "automatic_payment_methods": {"enabled": boolean, "allow_redirects": one_of("always", "never")},
    "confirm": boolean,
    "description": filled,
    "metadata": metadata,
}
CAPTURE = EXPAND | DESCRIPTOR | {"amount_to_capture": integer, "final_capture": boolean, "metadata": metadata}
CANCELLATION_REASON = one_of("abandoned", "duplicate", "fraudulent", "requested_by_customer")
CANCEL = EXPAND | {"cancellation_reason": CANCELLATION_REASON}
PRODUCT = {"name": filled, "description": filled}
SESSION = EXPAND | TYPES | {
    "mode": one_of("payment"),
    "ui_mode": one_of("hosted_page"),
    "success_url": address,
    "cancel_url": address,
    "line_items": [
        {"quantity": integer, "price_data": {"currency": filled, "unit_amount": integer, "product_data": PRODUCT}}
    ],
    "adaptive_pricing": {"enabled": boolean},
    "payment_intent_data": DESCRIPTOR
    | {"capture_method": CAPTURE_METHOD, "description": filled, "metadata": metadata, "receipt_email": email},
    "payment_method_options": CARD_OPTIONS,
    "client_reference_id": filled,
    "customer_email": email,
    "metadata": metadata,
    "locale": one_of(*LOCALES),
    "expires_at": integer,
    "submit_type": one_of("auto", "book", "donate", "pay"),
}
REFUND = EXPAND | {
    "payment_intent": filled,
    "charge": filled,
    "amount": integer,
    "reason": one_of("duplicate", "fraudulent", "requested_by_customer"),
    "metadata": metadata,
    "instructions_email": email,
}
REFUND_LIST = LIST | {"payment_intent": filled, "charge": filled, "created": moment}
BALANCE_LIST = LIST | {"type": filled, "source": filled, "payout": filled, "currency": filled, "created": moment}

"""`expand[]`: ids of an answer replaced by their objects."""

import refusals

DEPTH_MAX = 4
EXPANDABLE = {
    "checkout.session": {"payment_intent"},
    "payment_intent": {"latest_charge", "payment_method"},
    "charge": {"balance_transaction", "payment_intent", "failure_balance_transaction"},
    "refund": {"charge", "payment_intent", "balance_transaction", "failure_balance_transaction", "payment_method"},
    "balance_transaction": {"source"},
    "dispute": {"charge", "payment_intent"},
    "payout": {"balance_transaction"},
    "list": {"data"},
}


def expand(context, body, paths):
    """Replaces the ids at the paths (`data.source`, `payment_intent.latest_charge`) in an answer."""
    for path in paths:
        parts = path.split(".")
        if len(parts) > DEPTH_MAX:
            raise refusals.invalid("You cannot expand more than 4 levels of a property.", param="expand")
        descend(context, body, parts, path)
    return body


def descend(context, body, parts, path):
    if not parts:
        return
    if isinstance(body, list):
        for item in body:
            descend(context, item, parts, path)
        return
    name = parts[0]
    if name not in EXPANDABLE.get(body.get("object"), ()):
        raise refusals.invalid(f"This property cannot be expanded ({path}).", param="expand")
    if isinstance(body.get(name), str):
        body[name] = loaded(context, body[name])
    if body.get(name) is not None:
        descend(context, body[name], parts[1:], path)


def loaded(context, object_id):
    found = context.select("id = ?", object_id)
    return found[0].body if found else object_id

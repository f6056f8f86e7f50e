"""Events: each is an object of the account, and a notice for each endpoint that is registered for it."""

import copy

import notices
from version import PINNED


def emit(context, kind, entity, previous=None):
    """Records that something happened to an object, as it is now."""
    data = {"object": copy.deepcopy(entity.body)}
    if previous:
        data["previous_attributes"] = previous
    event = context.create(
        "event", "evt",
        {
            "api_version": PINNED,
            "created": context.now,
            "data": data,
            "livemode": context.livemode,
            "pending_webhooks": len(endpoints(context, kind)),
            "request": {"id": context.request_id, "idempotency_key": context.key},
            "type": kind,
        },
        intent=entity.intent,
    )
    for _ in endpoints(context, kind):
        notices.queue(context.store, event.id, context.account["id"], context.livemode)


def endpoints(context, kind):
    """The account's endpoints of this mode that want events of a kind."""
    return [
        one for one in context.account["webhooks"]
        if one["livemode"] == context.livemode and ({"*", kind} & set(one.get("enabled_events", ["*"])))
    ]

"""Lists with pages: the newest first, a limit, and an object to go on after or to end before."""

import refusals
from context import entity_of

LIMIT, LIMIT_MAX = 10, 100
COMPARED = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


def page(context, kind, url, values, conditions):
    """One page of the objects for which all conditions (pairs of SQL and value) hold."""
    limit = values.get("limit", LIMIT)
    if not 1 <= limit <= LIMIT_MAX:
        raise refusals.invalid("The limit is from 1 to 100.", code="parameter_invalid_integer", param="limit")
    conditions = [("kind = ?", kind), *conditions, *created(values.get("created", {}))]
    order = "DESC"
    if "starting_after" in values:
        sequence = context.sequence_of(kind, values["starting_after"], "starting_after")
        conditions.append(("sequence < ?", sequence))
    if "ending_before" in values:
        conditions.append(("sequence > ?", context.sequence_of(kind, values["ending_before"], "ending_before")))
        order = "ASC"
    where = " AND ".join(condition for condition, _ in conditions)
    found = context.select(f"{where} ORDER BY sequence {order} LIMIT ?", *[one for _, one in conditions], limit + 1)
    shown = [entity.body for entity in found[:limit]]
    if order == "ASC":
        shown.reverse()
    return {"object": "list", "data": shown, "has_more": len(found) > limit, "url": url}


def created(moment):
    if isinstance(moment, int):
        return [("created = ?", moment)]
    return [(f"created {COMPARED[name]} ?", value) for name, value in moment.items()]


def everything(store, kind):
    """All objects of a kind, of all accounts, the oldest first."""
    return [(row, entity_of(row)) for row in store.rows("SELECT * FROM objects WHERE kind = ? ORDER BY sequence", kind)]

"""Faults: by chance, from a seed, or planned for the next request that a plan matches."""

import fnmatch
import json
import random

# Decided before anything is executed.
BEFORE = ("lost_request", "silent", "limited", "conflict", "unauthorized", "forbidden", "error_500")
# Decided before, and executed all the same.
AROUND = ("delay", "stored_500")
# Done to the answer.
AFTER = (
    "lost_answer", "cut_answer", "huge_amount", "smaller_amount", "other_currency", "other_reference", "test_mode",
    "half_json", "html", "huge_body", "redirect",
)
ALL = (*BEFORE, *AROUND, *AFTER)
# `seconds` of a delay or a silence; whether a stored 500 is `executed` (by chance: half of them); a huge body's bytes.
OPTIONS = {"seconds": 1.0, "executed": False, "body_bytes": 100 * 2**20}


def configure(store, wish):
    """Faults by chance: `seed`, `probabilities` by kind, and options of `OPTIONS` for all of them."""
    probabilities = wish.get("probabilities", {})
    check(*probabilities)
    if sum(probabilities.values()) > 1:
        raise ValueError("the probabilities are more than 1 together: a request has one fault at most")
    options = {name: wish[name] for name in OPTIONS if name in wish}
    store.set("faults", {"seed": wish.get("seed", 1), "probabilities": probabilities, "options": options})
    store.set("faults_drawn", 0)


def plan(store, wish):
    """A fault for the next `times` requests of a method and a path (with `*`), after the first `after` of them."""
    check(wish["fault"])
    kept = {"method": wish.get("method", "*"), "path": wish.get("path", "*"), "account": wish.get("account", "*")}
    kept |= {"times": wish.get("times", 1), "after": wish.get("after", 0)}
    kept |= {"fault": {"kind": wish["fault"]} | {name: wish.get(name, OPTIONS[name]) for name in OPTIONS}}
    store.execute("INSERT INTO planned_faults (plan) VALUES (?)", json.dumps(kept))


def check(*kinds):
    unknown = set(kinds) - set(ALL)
    if unknown:
        raise ValueError(f"unknown faults: {', '.join(sorted(unknown))}")


def draw(store, account_id, method, path):
    """The fault of a request, or None: the first plan that matches, else by chance."""
    for row in store.rows("SELECT * FROM planned_faults ORDER BY id"):
        planned = json.loads(row["plan"])
        asked = (account_id, method, path)
        wanted = (planned["account"], planned["method"], planned["path"])
        if all(fnmatch.fnmatchcase(one, pattern) for one, pattern in zip(asked, wanted)):
            return use(store, row["id"], planned)
    return by_chance(store)


def use(store, plan_id, planned):
    if planned["after"] > 0:
        planned["after"] -= 1
        fault = None
    else:
        planned["times"] -= 1
        fault = planned["fault"]
    if planned["times"] > 0:
        store.execute("UPDATE planned_faults SET plan = ? WHERE id = ?", json.dumps(planned), plan_id)
    else:
        store.execute("DELETE FROM planned_faults WHERE id = ?", plan_id)
    return fault


def by_chance(store):
    settings = store.setting("faults")
    if not settings or not settings["probabilities"]:
        return None
    number = store.setting("faults_drawn", 0)
    store.set("faults_drawn", number + 1)
    dice = random.Random(f"{settings['seed']}/{number}")
    drawn, executed = dice.random(), dice.random() < 0.5
    for kind, probability in settings["probabilities"].items():
        if drawn < probability:
            return {"kind": kind, **OPTIONS, "executed": executed, **settings["options"]}
        drawn -= probability
    return None


def changed(kind, body):
    """The answer with another amount, currency, reference or mode than what was recorded, at every depth."""
    if isinstance(body, list):
        return [changed(kind, item) for item in body]
    if not isinstance(body, dict):
        return body
    return {name: CHANGES[kind](name, changed(kind, value)) for name, value in body.items()}


def is_amount(name, value):
    return name.startswith("amount") and isinstance(value, int) and not isinstance(value, bool) and value > 0


def huge_amount(name, value):
    return 2**53 - 1 if is_amount(name, value) else value


def smaller_amount(name, value):
    return value - 1 if is_amount(name, value) else value


def other_currency(name, value):
    return ("eur" if value == "thb" else "thb") if name == "currency" else value


def other_reference(name, value):
    return "another-reference" if name == "till_reference" else value


def test_mode(name, value):
    return False if name == "livemode" else value


CHANGES = {one.__name__: one for one in (huge_amount, smaller_amount, other_currency, other_reference, test_mode)}

"""The control interface, `/_fake/...`: JSON in, JSON out. README.md lists its calls."""

import json
import time

import accounts
import answers
import attempts
import cards
import dashboard
import faults
import lists
import notices
import refunds
import refusals
import timers
from checkout import went_on
from context import Context, of_object

LISTED = {"intents": "payment_intent", "sessions": "checkout.session", "events": "event", "disputes": "dispute"}
LISTED |= {"payouts": "payout", "balance": "balance_transaction"}
REQUESTS_SHOWN = 1000


class Control:
    def __init__(self, store, base, api):
        self.store, self.base, self.api = store, base, api
        self.acts = {
            ("GET", "accounts"): lambda _: accounts.all_of(store),
            ("POST", "accounts"): lambda wish: accounts.register(store, wish),
            ("GET", "cards"): lambda _: cards.ALL | self.own_cards(),
            ("POST", "cards"): self.add_card,
            ("GET", "charges"): lambda _: dashboard.charged(store),
            ("GET", "refunds"): lambda _: dashboard.refunded(store),
            ("GET", "requests"): self.requests,
            ("GET", "forms"): self.forms,
            ("GET", "notices"): self.notices,
            ("POST", "notices"): lambda wish: store.set("notices", known(wish, notices.SETTINGS)),
            ("POST", "notices/send"): lambda wish: notices.send(store, wish),
            ("POST", "faults"): lambda wish: faults.configure(store, wish),
            ("GET", "faults"): self.faults,
            ("DELETE", "faults"): self.end_faults,
            ("POST", "faults/next"): lambda wish: faults.plan(store, wish),
            ("POST", "silence"): lambda wish: store.set("silent_until", time.time() + wish["seconds"]),
            ("DELETE", "keys"): lambda _: store.execute("DELETE FROM keys").rowcount,
            ("POST", "clock"): lambda wish: store.set("clock_offset_seconds", wish["offset_seconds"]),
            ("POST", "payouts"): self.payout,
        }
        self.acts |= {("GET", name): self.lister(kind) for name, kind in LISTED.items()}
        # Acts on an object, by the first and the last part of `/_fake/FIRST/ID/LAST`.
        self.acts_on = {
            ("intents", "refund"): dashboard.refund,
            ("intents", "capture"): dashboard.capture,
            ("intents", "cancel"): dashboard.cancel,
            ("intents", "dispute"): dashboard.dispute,
            ("intents", "end"): end_intent,
            ("refunds", "end"): end_refund,
            ("disputes", "end"): dashboard.end_dispute,
            ("payouts", "end"): dashboard.end_payout,
        }

    def answer(self, request):
        """The answer: 200, 400 with what is wrong, or 404."""
        try:
            wish = json.loads(request.body or b"{}")
            with self.store.transaction():
                timers.run_due(self.store, self.base)
            with self.store.transaction():
                return answers.of_json(200, self.act(request.method, request.path.removeprefix("/_fake/"), wish))
        except refusals.Refusal as refusal:
            return answers.of_json(refusal.status, refusal.body)
        except LookupError as error:
            return answers.of_json(400, {"error": f"missing or unknown: {error}"})
        except (ValueError, TypeError) as error:
            return answers.of_json(400, {"error": str(error)})

    def act(self, method, path, wish):
        parts = path.split("/")
        if method == "POST" and len(parts) == 3:
            context, entity = of_object(self.store, parts[1], self.base)
            return self.acts_on[parts[0], parts[2]](context, entity, wish).body
        return self.acts[method, path](wish)

    def lister(self, kind):
        return lambda _: [entity.body for _, entity in lists.everything(self.store, kind)]

    def own_cards(self):
        return {row["number"]: json.loads(row["outcome"]) for row in self.store.rows("SELECT * FROM cards")}

    def add_card(self, wish):
        if not cards.is_number(wish["number"]):
            raise ValueError("the card number's check digit is wrong")
        self.store.execute("INSERT OR REPLACE INTO cards VALUES (?, ?)", wish["number"], json.dumps(wish["outcome"]))

    def requests(self, _wish):
        """Counters by call, which requests were under way more than once at a time, and the latest requests."""
        counted = self.store.rows(
            "SELECT method, route, account, count(*) AS count, sum(replayed) AS replayed, "
            "sum(status >= 400) AS refused, sum(fault IS NOT NULL) AS faults "
            "FROM requests GROUP BY method, route, account"
        )
        latest = self.store.rows("SELECT * FROM requests ORDER BY id DESC LIMIT ?", REQUESTS_SHOWN)
        return {
            "counted": [dict(row) for row in counted],
            "at_once": {what: count for what, count in list(self.api.at_once_max.items()) if count > 1},
            "latest": [dict(row) for row in latest],
        }

    def forms(self, _wish):
        """Every form that was sent, once each."""
        rows = self.store.rows("SELECT DISTINCT method, route, form FROM requests WHERE form IS NOT NULL")
        return [{"method": row["method"], "route": row["route"], "form": json.loads(row["form"])} for row in rows]

    def notices(self, _wish):
        rows = self.store.rows(
            "SELECT notices.*, json_extract(objects.body, '$.type') AS type, "
            "json_extract(objects.body, '$.data.object.id') AS object "
            "FROM notices JOIN objects ON objects.id = notices.event ORDER BY notices.id"
        )
        return {"settings": notices.settings(self.store), "notices": [dict(row) for row in rows]}

    def faults(self, _wish):
        rows = self.store.rows("SELECT plan FROM planned_faults ORDER BY id")
        return {"by_chance": self.store.setting("faults"), "planned": [json.loads(row["plan"]) for row in rows]}

    def end_faults(self, _wish):
        faults.configure(self.store, {})
        self.store.execute("DELETE FROM planned_faults")
        self.store.set("silent_until", 0)

    def payout(self, wish):
        account = accounts.find(self.store, wish["account"])
        return dashboard.payout(Context(self.store, account, wish.get("livemode", True), self.base), wish).body


def known(wish, names):
    unknown = set(wish) - set(names)
    if unknown:
        raise ValueError(f"unknown settings: {', '.join(sorted(unknown))}")
    return wish


def end_intent(context, intent, wish):
    """Ends a PromptPay code (`paid`, `failed`, `lapsed`) or a charge under way (`paid`, or a decline's code)."""
    if intent["status"] == "processing":
        context.store.end_timer("processing_ends", intent.id)
        method = context.find("payment_method", intent["payment_method"])
        charge = context.find("charge", intent["latest_charge"])
        outcome = {} if wish["answer"] == "paid" else cards.declined("card_declined", wish["answer"])
        attempts.decide(context, intent, method, charge, outcome)
        if intent.private["session"]:
            went_on(context, intent)
    elif intent["status"] == "requires_action":
        attempts.end_code(context, intent, wish["answer"])
    else:
        raise ValueError(f"the intent is {intent['status']}")
    return intent


def end_refund(context, refund, wish):
    refunds.settle(context, refund, wish["status"], wish.get("failure_reason", "unknown"))
    return refund

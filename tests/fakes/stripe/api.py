"""A call of the API from its first byte to its answer: who calls, faults, keys, form, execution, list of requests."""

import base64
import contextlib
import json
import sys
import threading
import time
import traceback

import accounts
import answers
import expansion
import faults
import forms
import idempotency
import parameters
import refusals
import routes
import timers
from context import Context, made_up
from rates import Rates
from version import PINNED


class Call:
    """A request of the API, and what becomes known of it on the way."""

    def __init__(self, request):
        self.request = request
        self.id = f"req_{made_up(14)}"
        self.key = request.headers.get("Idempotency-Key") if request.method == "POST" else None
        self.account, self.livemode, self.fault, self.form, self.replayed = None, None, None, None, False

    def has_fault(self, *kinds):
        return self.fault is not None and self.fault["kind"] in kinds


class Api:
    """Answers calls; `base` is the fake's own address, for the pages that it sends customers to."""

    def __init__(self, store, base):
        self.store, self.base = store, base
        self.rates = Rates()
        self.lock = threading.Lock()
        self.keys_under_way = set()
        self.under_way, self.at_once_max = {}, {}

    def answer(self, request):
        """The answer to a request, broken by its fault if it has one."""
        call = Call(request)
        with self.counted(f"{request.method} {request.target}"):
            answer = self.checked(call)
        if call.fault is None or answer.dropped:
            return answer
        return answers.broken(answer, call.fault, request.path)

    @contextlib.contextmanager
    def counted(self, what):
        with self.lock:
            self.under_way[what] = self.under_way.get(what, 0) + 1
            self.at_once_max[what] = max(self.under_way[what], self.at_once_max.get(what, 0))
        try:
            yield
        finally:
            with self.lock:
                self.under_way[what] -= 1

    def checked(self, call):
        try:
            self.know(call)
            rate = accounts.rate_per_second(call.account, call.livemode)
            if not self.rates.take(call.account["id"], call.livemode, rate):
                raise refusals.rate_limited()
            if self.is_lost(call):
                return self.logged(call, None, answers.DROPPED)
            refuse_by_fault(call)
            with self.key_held(call):
                if call.has_fault("delay"):
                    time.sleep(call.fault["seconds"])
                return self.execute(call)
        except refusals.Refusal as refusal:
            return self.logged(call, refusal.status, rendered(call, refusal.status, refusal.body, refusal.headers))
        except Exception:
            traceback.print_exc(file=sys.stderr)
            refusal = refusals.internal()
            return self.logged(call, 500, rendered(call, 500, refusal.body))

    def know(self, call):
        """Who calls, and which fault the call has."""
        with self.store.transaction():
            timers.run_due(self.store, self.base)
        with self.store.transaction():
            call.account, call.livemode = accounts.of_secret(self.store, secret_of(call.request))
            call.fault = faults.draw(self.store, call.account["id"], call.request.method, call.request.path)

    def is_lost(self, call):
        """Whether the request goes nowhere: by its fault, or in a silence that ends later."""
        if call.has_fault("silent"):
            time.sleep(call.fault["seconds"])
        silent = False
        while time.time() < self.store.setting("silent_until", 0):
            silent = True
            time.sleep(0.05)
        return silent or call.has_fault("lost_request", "silent")

    @contextlib.contextmanager
    def key_held(self, call):
        """A second call under a key is refused while the first is under way."""
        if call.key is None:
            yield
            return
        idempotency.check(call.key)
        held = (call.account["id"], call.livemode, call.key)
        with self.lock:
            if held in self.keys_under_way:
                raise refusals.key_in_use(call.key)
            self.keys_under_way.add(held)
        try:
            yield
        finally:
            with self.lock:
                self.keys_under_way.discard(held)

    def execute(self, call):
        """Executes and keeps what was answered, in one transaction."""
        with self.store.transaction():
            context = Context(self.store, call.account, call.livemode, self.base, call.id, call.key)
            try:
                status, body, headers = self.replay_or_run(call, context)
            except refusals.Refusal as refusal:
                status, body, headers = refusal.status, refusal.body, refusal.headers
            self.log(call, status)
        return rendered(call, status, body, headers)

    def replay_or_run(self, call, context):
        check_version(call.request)
        route = routes.route_of(call.request.method, call.request.path)
        form = call.form = forms.parsed(call.request.form)
        if call.key is not None:
            stored = idempotency.stored(context, call.request.path, form)
            if stored is not None:
                call.replayed = True
                return *stored, {"Idempotent-Replayed": "true"}
        status, body, executed = run(call, context, route, form)
        if call.key is not None and executed:
            idempotency.keep(context, call.request.path, form, status, body)
        return status, body, {}

    def logged(self, call, status, answer):
        with self.store.transaction():
            self.log(call, status)
        return answer

    def log(self, call, status):
        """A line of the list of requests; the status is what was decided, though its answer may be lost."""
        request = call.request
        self.store.execute(
            "INSERT INTO requests (at, account, method, route, path, key, status, replayed, fault, form) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            time.time(), call.account and call.account["id"], request.method,
            routes.template_of(request.method, request.path), request.path, call.key, status, call.replayed,
            call.fault and call.fault["kind"], None if call.form is None else json.dumps(without_card(call.form)),
        )


def run(call, context, route, form):
    """Status and body, and whether execution had begun."""
    try:
        values = parameters.read(form, route.schema)
        paths = values.pop("expand", [])
        if call.has_fault("stored_500") and not call.fault["executed"]:
            raise refusals.internal()
        body = route.run(context, call.request.path, values)
        if call.has_fault("stored_500"):
            raise refusals.internal()
        return 200, expansion.expand(context, body, paths), True
    except refusals.Refusal as refusal:
        return refusal.status, refusal.body, refusal.executed


def without_card(form):
    """The form as the list of requests keeps it: without the card's number and code."""
    card = form.get("card")
    if not isinstance(card, dict):
        return form
    return form | {"card": {name: "*" if name in ("number", "cvc") else value for name, value in card.items()}}


def refuse_by_fault(call):
    """The refusals that a fault makes before anything is executed."""
    if call.has_fault("limited"):
        raise refusals.rate_limited()
    if call.has_fault("conflict"):
        raise refusals.key_in_use(call.key) if call.key else refusals.object_locked()
    if call.has_fault("unauthorized"):
        raise refusals.unknown_secret(secret_of(call.request))
    if call.has_fault("forbidden"):
        raise refusals.forbidden()
    if call.has_fault("error_500"):
        raise refusals.internal()


def secret_of(request):
    """The secret of `Authorization`: Bearer, or the user name of Basic."""
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(value).decode().partition(":")[0]
    except ValueError:
        return None


def check_version(request):
    given = request.headers.get("Stripe-Version")
    if given != PINNED:
        raise refusals.wrong_version(given, PINNED)


def rendered(call, status, body, headers=None):
    shown = {"Request-Id": call.id, "Stripe-Version": PINNED} | (headers or {})
    if call.key is not None:
        shown["Idempotency-Key"] = call.key
    return answers.of_json(status, body, shown)

"""What a call works with: the account, its mode, the time, and the objects of the account."""

import json
import secrets as random
import string

import accounts
import refusals

LETTERS = string.ascii_letters + string.digits
ID_LETTERS = 24
NAMES = {"payment_method": "PaymentMethod"}


def made_up(count=ID_LETTERS):
    return "".join(random.choice(LETTERS) for _ in range(count))


class Entity:
    """An object of the account: `body` is what the API answers, `private` what only the fake knows of it."""

    def __init__(self, kind, body, private, intent):
        self.kind, self.body, self.private, self.intent = kind, body, private, intent

    @property
    def id(self):
        return self.body["id"]

    def __getitem__(self, name):
        return self.body[name]

    def update(self, **members):
        self.body.update(members)


class Context:
    """A call, or an act of the fake itself, for one account in one mode."""

    def __init__(self, store, account, livemode, base, request_id=None, key=None):
        self.store, self.account, self.livemode, self.base = store, account, livemode, base
        self.request_id, self.key = request_id, key
        self.now = int(store.now())

    def create(self, kind, prefix, body, intent=None, **private):
        """A new object, stored."""
        new_id = f"{prefix}_{made_up()}"
        entity = Entity(kind, {"id": new_id, "object": kind, **body}, private, intent or new_id)
        values = [new_id, self.account["id"], self.livemode, kind, entity.intent, self.now]
        self.store.execute(
            "INSERT INTO objects (id, account, livemode, kind, intent, created, body, private) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values, json.dumps(entity.body), json.dumps(private),
        )
        return entity

    def save(self, entity):
        self.store.execute(
            "UPDATE objects SET body = ?, private = ?, intent = ? WHERE id = ?",
            json.dumps(entity.body), json.dumps(entity.private), entity.intent, entity.id,
        )

    def find(self, kind, object_id, param="id"):
        """The account's object of a kind, in this mode; refused as missing when there is none."""
        found = self.select("id = ? AND kind = ?", object_id, kind)
        if not found:
            raise refusals.missing(NAMES.get(kind, kind), object_id, param)
        return found[0]

    def select(self, condition, *values):
        statement = f"SELECT * FROM objects WHERE account = ? AND livemode = ? AND {condition}"
        return [entity_of(row) for row in self.store.rows(statement, self.account["id"], self.livemode, *values)]

    def sequence_of(self, kind, object_id, param):
        row = self.store.row(
            "SELECT sequence FROM objects WHERE id = ? AND kind = ? AND account = ? AND livemode = ?",
            object_id, kind, self.account["id"], self.livemode,
        )
        if row is None:
            raise refusals.missing(NAMES.get(kind, kind), object_id, param)
        return row["sequence"]


def entity_of(row):
    return Entity(row["kind"], json.loads(row["body"]), json.loads(row["private"]), row["intent"])


def of_object(store, object_id, base):
    """An object by its id alone, and a context of its account and mode: for timers, pages and control."""
    row = store.row("SELECT * FROM objects WHERE id = ?", object_id)
    if row is None:
        raise refusals.missing("object", object_id)
    account = accounts.find(store, row["account"])
    return Context(store, account, bool(row["livemode"]), base), entity_of(row)

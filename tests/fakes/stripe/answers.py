"""Answers, whole and broken, before they are written to a connection."""

import dataclasses
import json

import faults


@dataclasses.dataclass
class Answer:
    """What is written. `body` may be cut after `cut_at` bytes, and `padding_bytes` are written into its last object.

    `dropped` closes the connection without a byte.
    """

    status: int = 200
    body: bytes = b""
    headers: dict = dataclasses.field(default_factory=dict)
    dropped: bool = False
    cut_at: int | None = None
    padding_bytes: int = 0


DROPPED = Answer(dropped=True)


def of_json(status, body, headers=None):
    text = json.dumps(body, indent=2) + "\n"
    return Answer(status, text.encode(), {"Content-Type": "application/json", **(headers or {})})


def of_page(status, text):
    return Answer(status, text.encode(), {"Content-Type": "text/html; charset=utf-8"})


def see_other(address):
    return Answer(303, b"", {"Location": address})


def broken(answer, fault, path):
    """The answer as the fault leaves it."""
    kind = fault["kind"]
    if kind == "lost_answer":
        return DROPPED
    if kind == "cut_answer":
        return dataclasses.replace(answer, cut_at=len(answer.body) // 2)
    if kind == "half_json":
        return dataclasses.replace(answer, body=answer.body[: len(answer.body) // 2])
    if kind == "html":
        return of_page(200, "<!doctype html><title>Maintenance</title><p>We will be back.</p>")
    if kind == "huge_body":
        return dataclasses.replace(answer, padding_bytes=fault["body_bytes"])
    if kind == "redirect":
        return Answer(302, b"", {"Location": f"{path}?redirected=true"})
    if kind in faults.CHANGES:
        return dataclasses.replace(answer, body=json.dumps(faults.changed(kind, json.loads(answer.body))).encode())
    return answer

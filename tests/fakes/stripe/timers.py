"""What happens by itself when its time has come, by the fake's clock."""

import threading

import attempts
import checkout
import context
import intents
import refunds
import sessions

LOOK_EVERY_SECONDS = 0.1


def session_expires(of, session):
    checkout.close(of, session)


def hold_lapses(of, intent):
    intents.end(of, intent, "expired")


def processing_ends(of, intent):
    attempts.end_processing(of, intent)
    if intent.private["session"]:
        sessions.follow(of, intent)


def qr_lapses(of, intent):
    attempts.end_code(of, intent, "lapsed")


def refund_succeeds(of, refund):
    refunds.settle(of, refund, "succeeded")


def refund_fails(of, refund):
    refunds.settle(of, refund, "failed", "lost_or_stolen_card")


def refund_abandoned(of, refund):
    refunds.settle(of, refund, "failed", "declined")


ACTS = {
    act.__name__: act
    for act in (
        session_expires, hold_lapses, processing_ends, qr_lapses, refund_succeeds, refund_fails, refund_abandoned
    )
}


def run_due(store, base):
    """Runs every timer that is due, the earliest first. Called within a transaction."""
    while row := store.row("SELECT * FROM timers WHERE at <= ? ORDER BY at LIMIT 1", store.now()):
        store.end_timer(row["name"], row["object"])
        ACTS[row["name"]](*context.of_object(store, row["object"], base))


class Clock:
    """A thread that runs what is due, so that its notices leave though nobody calls."""

    def __init__(self, store, base):
        self.store, self.base = store, base
        self.stopping = threading.Event()
        threading.Thread(target=self.run, name="clock", daemon=True).start()

    def run(self):
        while not self.stopping.wait(LOOK_EVERY_SECONDS):
            with self.store.transaction():
                run_due(self.store, self.base)

    def stop(self):
        self.stopping.set()

"""The limit of calls a second, of an account in a mode: a bucket that holds one second's worth."""

import threading
import time


class Rates:
    def __init__(self):
        self.lock = threading.Lock()
        self.buckets = {}

    def take(self, account_id, livemode, rate_per_second):
        """Whether one more call is within the rate now."""
        now = time.monotonic()
        with self.lock:
            left, at = self.buckets.get((account_id, livemode), (rate_per_second, now))
            left = min(rate_per_second, left + (now - at) * rate_per_second)
            allowed = left >= 1
            self.buckets[account_id, livemode] = (left - 1 if allowed else left, now)
        return allowed

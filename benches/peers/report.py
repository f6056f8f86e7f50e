"""The tables of `docs/performance.md`, from the figures of a run."""

import statistics

BEGIN = "<!-- From here to the end mark written by `make bench-compare`. -->"
END = "<!-- The end of what `make bench-compare` writes. -->"

# What one connection may take beyond one and a half syncs.
ALLOWANCE_MICROS = 200

SCALE = "not from this command: see [At scale](#at-scale)"
SCALE_TARGETS = [
    ("List page at depth 1,000,000, any single filter but a part of an id in `terms`, against the first unfiltered "
     "page", "at most 1.5"),
    ("Adding to a set of 100,000 items, against adding to a set of 10", "at most 1.5"),
    ("Throughput with 10 million payments stored, against an empty store", "at least 0.8"),
    ("Idle memory, 100,000 merchants stored, none active", "under 100 MB"),
    ("Start with 1 million payments stored, clean or after kill -9", "ready within 2 s"),
]


class Ratio:
    """A target: two measurements of a round, and what the one divided by the other must be."""

    def __init__(self, what, over, under, target, at_least=True):
        self.what, self.over, self.under = what, over, under
        self.target, self.at_least = target, at_least

    def row(self, rounds):
        if any(name not in rounds[0] for name in (self.over[0], self.under[0])):
            return None
        values = [self.of(one) for one in rounds]
        middle = statistics.median(values)
        met = middle >= self.target if self.at_least else middle <= self.target
        bound = f"{'at least' if self.at_least else 'at most'} {self.target:g}"
        measured = f"**{middle:.2f}** ({min(values):.2f} to {max(values):.2f})"
        return f"| {self.what} | {bound} | {measured} | {'met' if met else '**missed**'} |"

    def of(self, one):
        return _value(one, self.over) / _value(one, self.under)


class SyncRatio(Ratio):
    """One connection against syncs, with what HTTP may take beside them."""

    def of(self, one):
        allowed = 1.5 * one["fdatasync"]["p50_micros"] + ALLOWANCE_MICROS
        return one["till_alone"]["p50_micros"] / allowed


RATIOS = [
    Ratio("Durable initiate-payment-flow over HTTP, captures keeping up, 64 merchants, 256 connections, against the "
          "no-op JSON handler", ("till_many", "rate"), ("noop", "rate"), 0.5),
    Ratio("The same with one hot merchant, against 64 merchants", ("till_hot", "rate"), ("till_many", "rate"), 0.9),
    Ratio("Against PostgreSQL, stored functions, without HTTP, 64 merchants", ("till_many", "rate"),
          ("postgres_functions", "rate"), 3),
    Ratio("Against PostgreSQL, stored functions, without HTTP, one hot merchant", ("till_hot", "rate"),
          ("postgres_functions_hot", "rate"), 20),
    SyncRatio("One connection, p50, against one and a half fdatasync of the same size + 0.2 ms",
              ("till_alone", "p50_micros"), ("fdatasync", "p50_micros"), 1, at_least=False),
]

# Ratios that no target names.
OTHERS = [
    ("PostgreSQL, one function and one commit for the whole payment, 64 merchants", "till_many",
     "postgres_one_function"),
    ("PostgreSQL, one function and one commit for the whole payment, one hot merchant", "till_hot",
     "postgres_one_function_hot"),
    ("PostgreSQL, statement by statement, 64 merchants", "till_many", "postgres_statements"),
    ("PostgreSQL, statement by statement, one hot merchant", "till_hot", "postgres_statements_hot"),
    ("RocksDB alone with the same batches, best size of groups", "till_many", "rocksdb"),
]

FIGURES = [
    ("no-op handler, 256 connections", "noop", "rate", "calls/s"),
    ("no-op handler, one connection, p50", "noop", "p50_micros", "µs"),
    ("Till, 64 merchants, 256 connections, until the last is captured", "till_many", "rate", "payments/s"),
    ("Till, the same, until the last is answered", "till_many", "answered", "payments/s"),
    ("Till, the same, last capture after the last answer", "till_many", "lag_seconds", "s"),
    ("Till, the same, p99", "till_many", "p99_micros", "µs"),
    ("Till, one hot merchant, 256 connections, until the last is captured", "till_hot", "rate", "payments/s"),
    ("Till, the same, p99", "till_hot", "p99_micros", "µs"),
    ("Till, one connection, p50", "till_alone", "p50_micros", "µs"),
    ("Till, one connection, p99", "till_alone", "p99_micros", "µs"),
    ("fdatasync in a loop, p50", "fdatasync", "p50_micros", "µs"),
    ("fdatasync in a loop, p99", "fdatasync", "p99_micros", "µs"),
    ("fdatasync in a loop", "fdatasync", "rate", "syncs/s"),
    ("PostgreSQL, two functions, 64 merchants", "postgres_functions", "rate", "payments/s"),
    ("PostgreSQL, two functions, one hot merchant", "postgres_functions_hot", "rate", "payments/s"),
    ("PostgreSQL, one function, 64 merchants", "postgres_one_function", "rate", "payments/s"),
    ("PostgreSQL, one function, one hot merchant", "postgres_one_function_hot", "rate", "payments/s"),
    ("PostgreSQL, statements, 64 merchants", "postgres_statements", "rate", "payments/s"),
    ("PostgreSQL, statements, one hot merchant", "postgres_statements_hot", "rate", "payments/s"),
    ("RocksDB alone, best size of groups", "rocksdb", "rate", "payments/s"),
]


def generated(results):
    """Everything between the marks."""
    parts = [_conditions(results), *(table(results["rounds"]) for table in (_targets, _others, _figures))]
    return "\n\n".join([BEGIN, *parts, END])


def write(document, text):
    """Puts it between the marks of a document."""
    before, _, rest = document.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    document.write_text(before + text + after)


def _targets(rounds):
    lines = ["### Targets", "", "| what | target | ratio: median (least to greatest) | |", "|---|---|---|---|"]
    lines += filter(None, (ratio.row(rounds) for ratio in RATIOS))
    lines += [f"| {what} | {target} | {SCALE} | |" for what, target in SCALE_TARGETS]
    return "\n".join(lines)


def _others(rounds):
    lines = ["### Till against the other peers", "", "| Till against | ratio: median (least to greatest) |", "|---|---|"]
    for what, till, peer in OTHERS:
        if till in rounds[0] and peer in rounds[0]:
            values = [one[till]["rate"] / one[peer]["rate"] for one in rounds]
            lines.append(f"| {what} | {statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f}) |")
    return "\n".join(lines)


def _figures(rounds):
    lines = ["### Figures", "", "| what | median | least | greatest | |", "|---|---:|---:|---:|---|"]
    for what, name, key, unit in FIGURES:
        if name in rounds[0]:
            values = [one[name][key] for one in rounds]
            numbers = [statistics.median(values), min(values), max(values)]
            lines.append(f"| {what} | {' | '.join(_number(number) for number in numbers)} | {unit} |")
    return "\n".join(lines)


def _conditions(results):
    rows = list(results["machine"])
    if results["postgres"]:
        rows.append(("PostgreSQL", results["postgres"]))
    rows.append(("rounds", f"{len(results['rounds'])}; a measurement under load lasts {results['seconds']} s"))
    used = "; ".join(f"{statistics.median(busy):.1f} ({max(busy):.1f} at most)" for busy in results["others_used"])
    rows.append(("processors that others used beside a measurement, round by round: median", used))
    if results["batch"]:
        rows.append(("one initiation in the log", _commit(results["batch"]["initiation"])))
        rows.append(("what follows from it", _commit(results["batch"]["follow_up"])))
    lines = ["### The run", "", "| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)]
    return "\n".join(lines)


def _commit(kind):
    return f"{kind['writes']} keys, {kind['median_bytes']:,} bytes"


def _number(value):
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def _value(one, path):
    return one[path[0]][path[1]]

# `make run` and `make test` do everything on a fresh machine. RocksDB is compiled once for a user, by
# tools/build-rocksdb; both build with the dev profile, so that nothing else is compiled twice either.

DATA ?= ./data
LISTEN ?= 127.0.0.1:8080
ADMIN_LISTEN ?= 127.0.0.1:9090
ROUNDS ?= 100
SECONDS ?= 60
CONNECTIONS ?= 1024
BASE ?= main

NEXTEST := $(shell command -v cargo-nextest 2>/dev/null)
# Much of the time the tests wait: for disks, deadlines, servers. Three times as many run as there are processors.
TEST_THREADS ?= $(shell echo $$((3 * $$(nproc))))
# The own tests of what plays the part of others.
FAKES = cd tests/fakes/stripe && python3 -m unittest

.PHONY: run test build optimized lint bench bench-compare bench-regression package crash journal-faults power-cut damage overload fairness checkpoint-load disk-full acquirer-campaign acquirer-silence upgrade-store test-clients test-browser test-browser-short screenshots tools

run: tools
	cargo build --bin till
	TILL_WEBHOOK_ALLOWED_NETWORKS=$${TILL_WEBHOOK_ALLOWED_NETWORKS-127.0.0.0/8} \
		cargo run --quiet --bin till -- serve --demo --data $(DATA) --listen $(LISTEN) --admin-listen $(ADMIN_LISTEN)

ifeq ($(JOURNAL),postgres)
# The black-box suite with the log in PostgreSQL, and each start of a server on the log alone. What does not apply there is
# named in .config/nextest.toml, and counted as skipped.
test: tools
	@command -v cargo-nextest >/dev/null || { echo "till: missing: cargo-nextest, for JOURNAL=postgres. Run: cargo install --locked cargo-nextest" >&2; exit 1; }
	tools/with-postgres cargo nextest run --workspace --no-fail-fast --profile postgres --test-threads $(TEST_THREADS)
else
test: tools
	@tools/ensure-postgres
ifdef NEXTEST
	status=0; \
	cargo nextest run --workspace --no-fail-fast --test-threads $(TEST_THREADS) $$(tools/skip-volumes nextest) || status=1; \
	tools/slowest-tests; \
	tools/with-postgres cargo nextest run --workspace --no-fail-fast --profile postgres-short --test-threads $(TEST_THREADS) || status=1; \
	tools/ensure-browser && ($(BROWSER_SHORT)) || status=1; \
	($(FAKES)) || status=1; \
	exit $$status
else
	status=0; cargo test --workspace --no-fail-fast -- $$(tools/skip-volumes test) || status=1; tools/ensure-browser && ($(BROWSER_SHORT)) || status=1; ($(FAKES)) || status=1; exit $$status
endif
endif

build: tools
	cargo build --bin till

# The programs for production and for figures: compiled for speed, RocksDB not anew.
optimized: tools
	cargo build --release -p till -p till-bench --bins

# A Debian package of the optimized program; prints where it is.
package: tools
	tools/package

lint: tools
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- --deny warnings
	tools/check-dependencies

# The benches of pages and of sets. The workspace's own code is compiled for speed; RocksDB is not compiled again.
bench: tools
	cargo build --release -p till-bench
	cargo bench --workspace

# Till beside its peers, in turns, on this machine; writes the ratios to docs/performance.md. See benches/peers/README.md.
bench-compare: tools
	benches/peers/compare.py

# Fails when a payment takes over 5 % more instructions at HEAD than at the revision BASE.
bench-regression: tools
	tools/compare-builds $(BASE)

# The campaigns, from here to acquirer-silence. tests/README.md says what each of them does.
crash: tools
	TILL_CRASH_ROUNDS=$(ROUNDS) cargo test --test till crash::rounds -- --nocapture

journal-faults: tools
	@tools/ensure-postgres
	TILL_JOURNAL_FAULTS=$(ROUNDS) cargo test --test till crash::replicated -- --nocapture

power-cut: tools
	TILL_POWER_CUTS=$(ROUNDS) cargo test --test till crash::power_cut -- --nocapture --test-threads 1

damage: tools
	TILL_DAMAGE_ROUNDS=$(ROUNDS) cargo test --test till damage::campaign -- --nocapture

overload: ROUNDS = 1
overload: tools
	cargo build -p till-bench
	TILL_OVERLOAD_SECONDS=$(SECONDS) TILL_OVERLOAD_CONNECTIONS=$(CONNECTIONS) TILL_OVERLOAD_ROUNDS=$(ROUNDS) cargo test --test till overload::campaign -- --nocapture

# With programs that are compiled for speed.
fairness: SECONDS = 5
fairness: ROUNDS = 5
fairness: CONNECTIONS = 256
fairness: tools
	TILL_HEAVY_SECONDS=$(SECONDS) TILL_HEAVY_ROUNDS=$(ROUNDS) TILL_HEAVY_CONNECTIONS=$(CONNECTIONS) cargo test --release --test till overload::heavy_ -- --nocapture --test-threads 1

checkpoint-load: ROUNDS = 1
checkpoint-load: tools
	cargo build -p till-bench
	TILL_CHECKPOINT_ROUNDS=$(ROUNDS) cargo test --test till overload::checkpoints -- --nocapture --test-threads 1

disk-full: tools
	TILL_DISK_ROUNDS=$(ROUNDS) cargo test --test till disk:: -- --nocapture --test-threads 1

# At full times, with the rate of a real acquirer: more than an hour.
PAYMENTS ?= 2000
KILLS ?= 20
DIVISOR ?= 1
acquirer-campaign: tools
	TILL_ACQUIRER_PAYMENTS=$(PAYMENTS) TILL_ACQUIRER_KILLS=$(KILLS) TILL_ACQUIRER_DIVISOR=$(DIVISOR) cargo test --test till acquirers::campaign -- --nocapture

acquirer-silence: tools
	TILL_ACQUIRER_SILENCE_SECONDS=$(SECONDS) TILL_ACQUIRER_DIVISOR=$(DIVISOR) cargo test --test till acquirers::silence -- --nocapture

# The store of this version for the tests of upgrades: tests/stores/NAME.zip. A release adds one.
upgrade-store: tools
	TILL_STORE_NAME=$(NAME) cargo test --test till upgrade:: -- --ignored --nocapture

# Clients, generators, linters and a fuzzer that others wrote, against a running server. See tests/clients/README.md.
test-clients: tools
	tests/clients/run

# The checkout's pages in Chromium, against a running server. See tests/browser/README.md.
test-browser: tools
	@tools/ensure-browser
	cargo build --bin till
	cd tests/browser && node --test

# The most important of them; `make test` runs them with the program that its own tests have built.
BROWSER_SHORT = cd tests/browser && node --test --test-concurrency=4 --test-name-pattern '\[short\]'

test-browser-short: tools
	@tools/ensure-browser
	cargo build --bin till
	$(BROWSER_SHORT)

# Pictures of every state of the checkout on one page, to look at: target/screenshots/index.html.
screenshots: tools
	@tools/ensure-browser
	cargo build --bin till
	node tests/browser/screenshots.mjs target/screenshots

tools:
	@tools/ensure-build-tools
	@tools/build-rocksdb

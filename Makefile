# What a person or a machine does with this repository. `make help` lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory

TARGET_DIR := $(abspath $(or $(CARGO_TARGET_DIR),target))
CACHE_DIR := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/throng
RELEASE_DIR := $(TARGET_DIR)/release
DEBUG_DIR := $(TARGET_DIR)/debug

PYTHON := python3 -B
# Tests in a folder of tests/, which may use tests/harness.
PYTHON_TESTS = PYTHONPATH=$(abspath tests) $(PYTHON) -m unittest discover --pattern 'test_*.py'
NPM_CI := npm ci --no-audit --no-fund --loglevel=error

# A checker that is built once, not with each clone; its version is in its path, so that a new one is built by itself.
CARGO_DENY_VERSION := 0.20.2
CARGO_DENY := $(CACHE_DIR)/cargo-deny-$(CARGO_DENY_VERSION)/bin/cargo-deny

# The server that is tested: one that checks its own assertions. `make test SERVER=target/release/throng` tests another.
SERVER ?= $(DEBUG_DIR)/throng

# Knobs: `make sim SEEDS=10000`, `make fuzz FUZZ_SECONDS=600 FUZZ_TARGETS=frames`, `make bench BENCH=echo`,
# `make bench-check BUDGETS=repeatable`, `make api-tests API_SECONDS=300`, `make kills KILLS=1000`,
# `make rolling-restart CLIENTS=2000`.
SEEDS ?= 250
FUZZ_SECONDS ?= 60
KILLS ?= 100
CLIENTS ?= 10000
FUZZ_TARGETS ?= $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
BENCH ?= all
BUDGETS ?= all
RECORD ?=
ARGUMENTS ?=

# For what has deadlines, if generous ones: a little of the machine is left to it. And for what has none.
ASIDE := nice -n 10
IDLY := nice -n 19

# What `programs-for-tests` has built. Tests of Stampede build what is not named, and of fewer packages: with other features, and
# in place of the same program that another test may be running.
BUILT = FLOOR_BIN=$(DEBUG_DIR)/floor STAMPEDE_BIN=$(DEBUG_DIR)/stampede THRONG_BIN=$(abspath $(SERVER))

# Before a make whose targets are made one after the other, whatever else is made at the same time.
IN_TURN = MAKEFLAGS='$(filter-out -j% --jobserver%,$(MAKEFLAGS))'

# Those of the competition that every machine with the tests' dependencies (`.ci/deps`) can have within seconds. Left out are:
# gobwas, gorilla and nats, which need Go, and netty, which needs a JDK and Maven: the tests have neither; bun and cowboy, which
# download a runtime (bun) and a package of 15 MB, RabbitMQ's (cowboy); tokio-tungstenite and fastwebsockets, which compile for one
# and two minutes. uWebSockets is a library of x86-64 alone. `make lab` plays all of them.
SMOKE_ENTRANTS := floor throng throng-channels node-ws python-websockets $(if $(filter x86_64,$(shell uname -m)),uwebsockets)

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##### To use it

.PHONY: run
run: page ## Build the page and the server and serve them on http://127.0.0.1:4000 (ARGUMENTS="--listen …")
	cargo run --release --locked --package server --bin throng -- serve $(ARGUMENTS)

.PHONY: stampede
stampede: page ## Build the load lab and run it (ARGUMENTS="rooms ws://127.0.0.1:4000/socket/websocket …")
	cargo run --release --locked --package load --bin stampede -- $(ARGUMENTS)

.PHONY: build
build: page ## Build the optimised server
	cargo build --release --locked --package server --bins

##### To change it

.PHONY: check
check: format lint deny unit web ## Check what every commit must pass: formatting, lints, dependencies, quick tests (5 minutes)

.PHONY: test
test: ## Run all tests: check, repeatable budgets, real clients, Stampede, Autobahn, Tsung, Prometheus, load balancers, clusters, kills, deploy/, a small competition, and the simulation
	@# What compiles comes first: nothing that is played or asked waits for a folder of Cargo's then. It needs no package but a
	@# C compiler's, so the others are installed meanwhile.
	@if [[ "$${CI:-}" != true && $$EUID != 0 ]]; then packages=; .ci/deps; \
	elif command -v cc > /dev/null; then packages=deps; else packages=; $(MAKE) deps; fi; \
	$(MAKE) --jobs=4 --output-sync=line $$packages format deny lint programs-for-tests gauge tests/clients/node_modules
	@$(MAKE) valkey
	@$(MAKE) --jobs=4 --output-sync=line played asked provoked meanwhile

.PHONY: deps
deps: ## Install the system packages that the tests need (Debian, as root), and a Valkey
	@.ci/deps --install

.PHONY: bench
bench: bench-programs ## Measure the server (with BENCH=load: Stampede), compared with the floor and peers (BENCH=all|memory|broadcast|connect|echo|load|cluster|messenger)
	cd peers/bun && $(NPM_CI)
	bench/run $(BENCH) --bin-dir $(RELEASE_DIR) $(ARGUMENTS)

.PHONY: lab
lab: page ## Measure every server in peers/ against Throng and the floor, and write tables and charts (75 minutes; ARGUMENTS="--only bun …")
	cargo build --release --locked --package floor --package bench-load --package server --package load --bins
	peers/check || echo "peers that cannot be installed or fail their checks are named above; the others are measured"
	bench/run competition --write --bin-dir $(RELEASE_DIR) $(ARGUMENTS)

.PHONY: bench-check
bench-check: $(if $(filter measured,$(BUDGETS)),,gauge) $(if $(filter all measured,$(BUDGETS)),bench-programs) ## Fail if a performance budget is exceeded (BUDGETS=all|repeatable|bytes|allocations|instructions|measured, ARGUMENTS="--update")
	bench/check $(BUDGETS) --bin-dir $(RELEASE_DIR) $(ARGUMENTS)

.PHONY: sim
sim: ## Simulate hub shards, clusters, and stored rooms on a failing disk, with SEEDS seeds
	cargo run --release --locked --package sim -- --seeds $(SEEDS)

# From `sim::DEFAULT_SEEDS` on.
.PHONY: sim-smoke
sim-smoke: programs-for-tests ## Simulate the fifty seeds after those that `unit` simulates
	$(DEBUG_DIR)/sim --from 200 --seeds 50

.PHONY: fuzz
fuzz: ## Fuzz the parsers of untrusted bytes (cargo-fuzz; FUZZ_TARGETS="…" FUZZ_SECONDS=…)
	@for target in $(FUZZ_TARGETS); do \
		RUSTC_BOOTSTRAP=1 cargo fuzz run "$$target" -- -max_total_time=$(FUZZ_SECONDS); \
	done

.PHONY: record
record: page ## Measure two million clients in one room, compared with the floor: 40 minutes, as root (RECORD="--clients 500000 …")
	cargo build --release --locked --package floor --package bench-load --package server --package load --bins
	bench/record --bin-dir $(RELEASE_DIR) --write $(RECORD)

.PHONY: seeds
seeds: page ## Repeat the published load tests that the project started from: 40 minutes, as root (ARGUMENTS="chat --cpu-limit 0.2")
	cargo build --release --locked --package server --package load --bins
	bench/seeds --bin-dir $(RELEASE_DIR) --write $(ARGUMENTS)

.PHONY: bench-all
bench-all: bench-programs ## Measure Throng's capacity in many configurations: 45 minutes (ARGUMENTS="--only tls …")
	bench/capacity --bin-dir $(RELEASE_DIR) --write $(ARGUMENTS)

.PHONY: soak
soak: bench-programs ## Run ten minutes of mixed traffic and measure the growth of the server's memory (ARGUMENTS="--seconds 3600 …")
	bench/soak --bin-dir $(RELEASE_DIR) --write $(ARGUMENTS)

.PHONY: bench-programs
bench-programs: page
	cargo build --release --locked --package floor --package bench-load --package server --package load \
		--package store --bins --example durable --example furnished

##### To publish it

.PHONY: release
release: dist ## Build the archive in dist/, run bench-all into bench/results/, and compare it with the last version (ARGUMENTS="--only tls …")
	bench/release --bin-dir $(RELEASE_DIR) $(ARGUMENTS)

.PHONY: dist
dist: bench-programs ## Pack the stripped server and load lab, with documents and a checksum, into dist/
	.ci/dist $(RELEASE_DIR)

##### The parts of `check`

.PHONY: format
format: ## Check the formatting
	cargo fmt --all --check
	@# These stand outside the workspace.
	for manifest in fuzz/Cargo.toml peers/*/Cargo.toml; do cargo fmt --manifest-path "$$manifest" --check; done

.PHONY: lint
lint: page ## Run clippy with warnings as errors
	cargo clippy --workspace --all-targets --locked -- --deny warnings
	@# The fuzz targets stand outside the workspace. Checked without building libFuzzer, which nothing is linked to here.
	CUSTOM_LIBFUZZER_PATH=/usr/lib/libFuzzer.a cargo check --quiet --manifest-path fuzz/Cargo.toml --locked \
		--target-dir $(TARGET_DIR)

.PHONY: unit
unit: ## Run the tests of the Rust workspace and of the Python programs
	@$(MAKE) --jobs=2 --output-sync=line stampede-quick workspace-aside bus-contract-aside

# Played runs: see `played`.
.PHONY: stampede-quick
stampede-quick: programs-for-tests
	$(BUILT) cargo test --workspace --test quick --locked --quiet

.PHONY: workspace-aside
workspace-aside:
	@$(IN_TURN) $(ASIDE) $(MAKE) workspace

.PHONY: bus-contract-aside
bus-contract-aside:
	@$(IN_TURN) $(ASIDE) $(MAKE) bus-contract

.PHONY: bus-contract
bus-contract: programs-for-tests valkey
	cargo test --workspace --test bus-contract --locked --quiet -- --test-threads=8

.PHONY: workspace
workspace: programs-for-tests valkey
	FIXTURE_BIN=$(DEBUG_DIR)/examples/conformance $(BUILT) cargo test --workspace --locked --quiet
	@for folder in tests/autobahn tests/tsung bench peers; do \
		$(PYTHON_TESTS) --start-directory "$$folder"; \
	done

.PHONY: web
web: web/node_modules tests/clients/node_modules ## Check the page and the client tests: ESLint, types, unit tests
	cd web && npm run --silent check
	cd tests/clients && npm run --silent check

.PHONY: deny
deny: $(CARGO_DENY) ## Check licences, duplicates and sources of the dependencies
	$(CARGO_DENY) --locked check bans licenses sources

##### The parts of `test`

# Four chains of about the same length, each made one after the other. First of this one are played runs, which a busy
# machine makes INVALID: they mostly wait, and leave the machine to the rest meanwhile. What follows them waits as much.
.PHONY: played
played:
	@$(IN_TURN) $(MAKE) stampede-quick stampede-tests record-smoke seeds-smoke capacity-smoke soak-smoke competition-smoke \
		bench-check-smoke bench-smoke release-smoke cluster-smoke messenger-smoke
	@$(IN_TURN) $(ASIDE) $(MAKE) tsung deploy-tests balancer

.PHONY: asked
asked:
	@$(IN_TURN) $(ASIDE) $(MAKE) workspace bus-contract budget-tests

# Whole servers, which are killed, disconnected, and asked what their documents do not say.
.PHONY: provoked
provoked:
	@$(IN_TURN) $(ASIDE) $(MAKE) cluster-tests kills api-tests

# What asks for nothing in time, then Autobahn, the longest; and the browser when that no longer takes half of the machine.
.PHONY: meanwhile
meanwhile:
	@$(IN_TURN) $(IDLY) $(MAKE) web bench-check BUDGETS=repeatable
	@$(IN_TURN) $(ASIDE) $(MAKE) autobahn sim-smoke clients

.PHONY: clients
clients: programs-for-tests tests/clients/node_modules ## Run the npm phoenix clients, a browser and promtool against the server and Stampede
	cd tests/clients && THRONG_BIN=$(abspath $(SERVER)) FIXTURE_BIN=$(DEBUG_DIR)/examples/conformance \
		STAMPEDE_BIN=$(DEBUG_DIR)/stampede npm run --silent test

.PHONY: autobahn
autobahn: programs-for-tests ## Run the Autobahn test suite, all 517 cases, against the echo example
	$(PYTHON) tests/autobahn/run.py --binary $(DEBUG_DIR)/examples/echo

.PHONY: balancer
balancer: programs-for-tests tests/clients/node_modules ## Test two servers behind HAProxy and nginx, with the configurations in deploy/
	THRONG_BIN=$(abspath $(SERVER)) $(PYTHON_TESTS) --start-directory tests/balancer

.PHONY: cluster-tests
cluster-tests: programs-for-tests ## Test two and three servers with Redis and with NATS, kill each part, and (as root) disconnect one from the network
	THRONG_BIN=$(abspath $(SERVER)) STAMPEDE_BIN=$(DEBUG_DIR)/stampede $(PYTHON_TESTS) --start-directory tests/cluster

.PHONY: rolling-restart
rolling-restart: page ## Restart three optimised nodes one after the other under the load of CLIENTS clients (two minutes): nothing lost or duplicated, p99
	cargo build --release --locked --package server --package load --bins
	CLIENTS=$(CLIENTS) THRONG_BIN=$(RELEASE_DIR)/throng STAMPEDE_BIN=$(RELEASE_DIR)/stampede \
		PYTHONPATH=$(abspath tests) $(PYTHON) tests/cluster/test_rolling.py

.PHONY: budget-tests
budget-tests: programs-for-tests ## Test a server's memory budget in a control group with little more memory (as root), under clients that use as much as possible
	THRONG_BIN=$(abspath $(SERVER)) $(PYTHON_TESTS) --start-directory tests/budget

.PHONY: kills
kills: programs-for-tests ## Kill the server KILLS times during writes and erasures, on SQLite and PostgreSQL; test full and read-only disks, an unreachable database, a moved store, and the sync before an answer
	KILLS=$(KILLS) THRONG_BIN=$(abspath $(SERVER)) $(PYTHON_TESTS) --start-directory tests/durable

.PHONY: stampede-tests
stampede-tests: programs-for-tests tests/clients/node_modules ## Run Stampede against Throng, npm ws and Python's websockets (`unit` has the faulty servers and the lossy proxy)
	$(BUILT) cargo test --workspace --test full --locked --quiet -- --ignored

.PHONY: deploy-tests
deploy-tests: programs-for-tests ## Check deploy/ with Prometheus, systemd and container tools: every query of every dashboard and rule returns data
	THRONG_BIN=$(abspath $(SERVER)) STAMPEDE_BIN=$(DEBUG_DIR)/stampede \
		$(PYTHON_TESTS) --start-directory tests/deploy

.PHONY: api-tests
api-tests: programs-for-tests ## Test the API with schemathesis for API_SECONDS, the examples in docs/api.md, and the operator's commands
	THRONG_BIN=$(abspath $(SERVER)) $(PYTHON_TESTS) --start-directory tests/api

.PHONY: competition-smoke
competition-smoke: programs-for-tests ## Run the competition with 1 % of its numbers and unoptimised programs: checks only counts
	bench/run competition --smoke --bin-dir $(DEBUG_DIR) --throng $(abspath $(SERVER)) \
		$(foreach name,$(SMOKE_ENTRANTS),--only $(name)) > /dev/null

.PHONY: record-smoke
record-smoke: programs-for-tests ## Run the record with 1 % of its clients: checks only counts
	bench/record --scale 100 --bin-dir $(DEBUG_DIR) --throng $(abspath $(SERVER)) > /dev/null

.PHONY: seeds-smoke
seeds-smoke: programs-for-tests ## Run the seeds with 1 % of their numbers: checks only counts
	bench/seeds --smoke --bin-dir $(DEBUG_DIR) --throng $(abspath $(SERVER)) > /dev/null

.PHONY: cluster-smoke
cluster-smoke: programs-for-tests ## Run the cluster benchmarks with 1 % of the clients: checks what members and other nodes receive, Redis's commands, and reconnection after a killed node
	bench/run cluster --smoke --bin-dir $(DEBUG_DIR) --throng $(abspath $(SERVER)) > /dev/null

.PHONY: messenger-smoke
messenger-smoke: programs-for-tests ## Run the messenger benchmarks with small numbers: checks that acknowledged messages are stored (PostgreSQL included), that communities have no threads, and counts
	bench/run messenger --smoke --bin-dir $(DEBUG_DIR) --throng $(abspath $(SERVER)) > /dev/null

.PHONY: bench-check-smoke
bench-check-smoke: programs-for-tests ## Run the budgets' scenarios with 1 % of their clients: checks only counts
	bench/check measured --smoke --bin-dir $(DEBUG_DIR) --throng $(abspath $(SERVER)) > /dev/null

# `bench/run load --smoke` plays the other generators, too: minutes.
.PHONY: bench-smoke
bench-smoke: programs-for-tests ## Run bench/run for the server and Stampede with 1 % of its numbers: checks only counts
	for group in all load; do \
		bench/run "$$group" --smoke --without tsung --without k6 --without bun \
			--bin-dir $(DEBUG_DIR) --throng $(abspath $(SERVER)) > /dev/null; \
	done

# One group: capacity-smoke plays all.
.PHONY: release-smoke
release-smoke: programs-for-tests ## Run a release's measurements with small numbers: checks only counts
	results="$$(mktemp --directory)"; trap 'rm -r "$$results"' EXIT; \
	bench/release --smoke --only tls --into "$$results" --bin-dir $(DEBUG_DIR) --throng $(abspath $(SERVER)) > /dev/null

.PHONY: capacity-smoke
capacity-smoke: programs-for-tests ## Run one small load of each configuration of bench-all: checks only counts
	bench/capacity --smoke --bin-dir $(DEBUG_DIR) --throng $(abspath $(SERVER)) > /dev/null

.PHONY: soak-smoke
soak-smoke: programs-for-tests ## Run the soak for seconds with few users: checks only counts
	bench/soak --seconds 8 --users 50 --bin-dir $(DEBUG_DIR) --throng $(abspath $(SERVER)) > /dev/null

# The programs as `unit` has built them: not optimised, and with the same selection of packages, or the dependencies would
# be built once more with other features.
.PHONY: programs-for-tests
programs-for-tests: page
	cargo build --workspace --bins --examples --tests --test quick --test bus-contract --locked

# Installed once, and named: which one, tests/harness/valkey-requirements.txt says. Debian 12 has none.
.PHONY: valkey
valkey:
	@PYTHONPATH=tests $(PYTHON) -m harness.valkey > /dev/null

# What counts for the budgets, optimised. Apart from the other programs, because with their packages the dependencies have more
# features, and other counts.
.PHONY: gauge
gauge:
	cargo build --release --locked --package gauge --bins

.PHONY: tsung
tsung: programs-for-tests ## Run Phoenix's two-million scenario, scaled down, with Tsung
	THRONG_BIN=$(abspath $(SERVER)) $(PYTHON) tests/tsung/run.py

##### Files

.PHONY: page
page: web/dist/index.html ## Build the pages that the server and Stampede embed

# The folder of packages changes whenever one of its programs keeps something there; package-lock.json is among the files.
web/dist/index.html: $(shell find web -path web/node_modules -prune -o -path 'web/dist*' -prune -o -type f -print) | web/node_modules
	cd web && npm run --silent build
	@touch $@ web/dist-lab/lab.html

%/node_modules: %/package-lock.json
	cd $* && $(NPM_CI)
	@touch $@

# Built without optimisation: it runs for seconds, and is built on every new machine.
$(CARGO_DENY):
	CARGO_PROFILE_DEV_DEBUG=false cargo install cargo-deny --version $(CARGO_DENY_VERSION) --locked --quiet \
		--debug --no-default-features --root $(CACHE_DIR)/cargo-deny-$(CARGO_DENY_VERSION)

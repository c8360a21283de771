# What a person or a machine does with this repository. `make help` lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory

TARGET_DIR := $(abspath $(or $(CARGO_TARGET_DIR),target))
CACHE_DIR := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/throng
RELEASE_DIR := $(TARGET_DIR)/release

PYTHON := python3 -B
NPM_CI := npm ci --no-audit --no-fund --loglevel=error

# A checker that is built once, not with each clone; its version is in its path, so that a new one is built by itself.
CARGO_DENY_VERSION := 0.20.2
CARGO_DENY := $(CACHE_DIR)/cargo-deny-$(CARGO_DENY_VERSION)/bin/cargo-deny

# Knobs: `make sim SEEDS=10000`, `make fuzz FUZZ_SECONDS=600 FUZZ_TARGETS=frames`, `make bench BENCH=echo`.
SEEDS ?= 500
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
BENCH ?= all
ARGUMENTS ?=

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##### To use it

.PHONY: run
run: page ## Build the page and the server and serve them on http://127.0.0.1:4000 (ARGUMENTS="--listen …")
	cargo run --release --locked --package server --bin throng -- serve $(ARGUMENTS)

.PHONY: stampede
stampede: page ## Build the load lab and run it (ARGUMENTS="rooms ws://127.0.0.1:4000/socket/websocket …")
	cargo run --release --locked --package load --bin stampede -- $(ARGUMENTS)

.PHONY: release
release: page ## Build the optimised server, and the example programs that the tests talk to
	cargo build --release --locked --package server --package examples --bins --example echo --example conformance

##### To change it

.PHONY: check
check: format lint deny unit web ## What each commit must pass: formatting, lints, dependencies, quick tests (5 minutes)

.PHONY: test
test: ## Everything: check, then the real clients, Stampede, Autobahn and Tsung against the release build, and the simulation
	@if [[ "$${CI:-}" == true || $$EUID == 0 ]]; then $(MAKE) deps; else .ci/deps; fi
	@$(MAKE) check
	@$(MAKE) release
	@$(MAKE) clients
	@$(MAKE) --jobs=2 --output-sync=target autobahn lab tsung
	@$(MAKE) sim

.PHONY: deps
deps: ## Install the system packages that the tests need (Debian, as root)
	@.ci/deps --install

.PHONY: bench
bench: page ## Measure the server, or with BENCH=load Stampede, beside floor and peers (BENCH=all|memory|broadcast|connect|echo|load)
	cargo build --release --locked --package floor --package bench-load --package server --package load --bins
	cd bench/peers/bun-echo && $(NPM_CI)
	bench/run $(BENCH) --bin-dir $(RELEASE_DIR)

.PHONY: sim
sim: ## Simulate shards of the hub, and clusters of them, from SEEDS seeds
	cargo run --release --locked --package sim -- --seeds $(SEEDS)

.PHONY: fuzz
fuzz: ## Fuzz what reads a peer's bytes (cargo-fuzz; FUZZ_TARGETS="…" FUZZ_SECONDS=…)
	@for target in $(FUZZ_TARGETS); do \
		RUSTC_BOOTSTRAP=1 cargo fuzz run "$$target" -- -max_total_time=$(FUZZ_SECONDS); \
	done

##### The parts of `check`

.PHONY: format
format: ## Check the formatting
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check

.PHONY: lint
lint: page ## Run clippy, warnings being errors
	cargo clippy --workspace --all-targets --locked -- --deny warnings
	@# The fuzz targets stand outside the workspace. Checked without building libFuzzer, which nothing is linked to here.
	CUSTOM_LIBFUZZER_PATH=/usr/lib/libFuzzer.a cargo check --quiet --manifest-path fuzz/Cargo.toml --locked \
		--target-dir $(TARGET_DIR)/fuzz

.PHONY: unit
unit: page ## Run the tests of the Rust workspace and of the Python programs beside it
	FIXTURE_BIN=$(TARGET_DIR)/debug/examples/conformance STAMPEDE_BIN=$(TARGET_DIR)/debug/stampede \
		cargo test --workspace --locked --quiet
	@for folder in tests/autobahn tests/tsung bench; do \
		$(PYTHON) -m unittest discover --start-directory "$$folder" --pattern 'test_*.py' --top-level-directory "$$folder"; \
	done

.PHONY: web
web: web/node_modules tests/clients/node_modules ## Check the page and the client tests: ESLint, types, unit tests
	cd web && npm run --silent check
	cd tests/clients && npm run --silent check

.PHONY: deny
deny: $(CARGO_DENY) ## Check licences, duplicates and sources of the dependencies
	$(CARGO_DENY) --locked check bans licenses sources

##### The parts of `test`

.PHONY: clients
clients: release tests/clients/node_modules ## Run the npm phoenix clients and a browser against the release build
	cd tests/clients && THRONG_BIN=$(RELEASE_DIR)/throng FIXTURE_BIN=$(RELEASE_DIR)/examples/conformance npm run --silent test

.PHONY: autobahn
autobahn: release ## Run the Autobahn test-suite, all 517 cases, against the echo example
	$(PYTHON) tests/autobahn/run.py --binary $(RELEASE_DIR)/examples/echo

.PHONY: lab
lab: release tests/clients/node_modules ## Run Stampede (as built for tests, which saves minutes) against Throng, npm ws, websockets, faulty servers and a lossy proxy
	cargo build --locked --package load --bins
	STAMPEDE_BIN=$(TARGET_DIR)/debug/stampede THRONG_BIN=$(RELEASE_DIR)/throng \
		cargo test --package stampede-tests --locked --quiet -- --include-ignored

.PHONY: tsung
tsung: release ## Run Phoenix's two-million scenario, lowered, with Tsung
	$(PYTHON) tests/tsung/run.py --binary $(RELEASE_DIR)/throng

##### Files

.PHONY: page
page: web/dist/index.html ## Build the pages that the server and Stampede embed

web/dist/index.html: web/node_modules $(shell find web -path web/node_modules -prune -o -path 'web/dist*' -prune -o -type f -print)
	cd web && npm run --silent build
	@touch $@ web/dist-lab/lab.html

%/node_modules: %/package-lock.json
	cd $* && $(NPM_CI)
	@touch $@

# Built without optimisation: it runs for seconds, and is built on every new machine.
$(CARGO_DENY):
	CARGO_PROFILE_DEV_DEBUG=false cargo install cargo-deny --version $(CARGO_DENY_VERSION) --locked --quiet \
		--debug --no-default-features --root $(CACHE_DIR)/cargo-deny-$(CARGO_DENY_VERSION)

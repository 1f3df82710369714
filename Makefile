# Everything a person or a build machine does here. `make` alone explains itself.
#
# Tools that are no Rust crates are installed into TOOLS, inside the checkout, at pinned versions. Each
# has a stamp file that names its version: it is installed again only when that version changes, and an
# interrupted installation leaves no stamp behind.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

TOOLS ?= .tools
TARGET := $(or $(CARGO_TARGET_DIR),target)

GRPCURL_VERSION := v1.9.3
CARGO_DENY_VERSION := 0.20.2

WRITERS := integration/writers
JAVA_SOURCES := $(WRITERS)/paimon-java/pom.xml $(shell find $(WRITERS)/paimon-java/src -name '*.java' | sort)

# By content, not by time: a checkout touches files that did not change.
fingerprint = $(firstword $(shell cat $(1) | cksum))

STAMPS := $(TOOLS)/stamps
PYTHON_STAMP := $(STAMPS)/python-$(call fingerprint,$(WRITERS)/requirements.txt)
GRPCURL_STAMP := $(STAMPS)/grpcurl-$(GRPCURL_VERSION)
CARGO_DENY_STAMP := $(STAMPS)/cargo-deny-$(CARGO_DENY_VERSION)
PAIMON_JAVA_STAMP := $(STAMPS)/paimon-java-$(call fingerprint,$(JAVA_SOURCES))

# What `make commit` writes to.
WAREHOUSE ?= $(TARGET)/quickstart/warehouse
TABLE ?= ods.orders

# Where the integration tests, the benches and the quickstart find the tools.
export ASSET_TEST_PYTHON := $(abspath $(TOOLS))/venv/bin/python
export ASSET_TEST_GRPCURL := $(abspath $(TOOLS))/bin/grpcurl
export ASSET_TEST_PAIMON_JAVA := $(abspath $(TOOLS))/paimon-java/classpath

.PHONY: help run commit test lint bench tools clean-tools check-run check-all

help:
	@echo 'make run          build the agent and show it at work on a table of its own (the quickstart)'
	@echo 'make commit       commit to the quickstart'\''s table, while its agent runs'
	@echo 'make test         everything: tools, lint, all tests with real table writers'
	@echo 'make lint         formatting, clippy, licences and sources of dependencies'
	@echo 'make bench        how fast it is, in numbers'
	@echo 'make tools        install into $(TOOLS)/ what the tests need beside Rust'
	@echo 'make clean-tools  remove $(TOOLS)/'
	@echo
	@echo 'make run needs cargo, python3 and go; make test also java (a JDK), mvn and PostgreSQL.'
	@echo 'What is missing is named before anything is done.'

# The binaries are built in one go, so that the quickstart does not compile shared crates a second time
# with other features.
run: check-run $(PYTHON_STAMP) $(GRPCURL_STAMP)
	cargo build --locked -p asset-agent -p asset-sensor -p asset-integration --bins
	$(TARGET)/debug/quickstart

# For the tour: one more commit to the quickstart's table, while the agent looks on.
commit: check-run $(PYTHON_STAMP)
	@echo '{"id": 1, "op": "append", "table": "$(TABLE)", "rows": 3}' \
		| $(ASSET_TEST_PYTHON) $(WRITERS)/paimon_writer.py $(WAREHOUSE)

# The tests start asset-agent and asset-sensor as they are built, and `cargo test` alone does not build
# the plain binaries of other crates. `--tests` selects the features that `cargo test` will use. The
# PostgreSQL server is one of their own, gone behind them.
test: tools lint
	cargo build --locked --workspace --bins --tests
	scripts/with-postgres cargo test --locked --workspace --no-fail-fast

lint: check-all $(CARGO_DENY_STAMP)
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	$(TOOLS)/bin/cargo-deny --log-level error --locked check licenses bans sources

bench: check-all $(PYTHON_STAMP) $(GRPCURL_STAMP)
	cargo build --locked --release --workspace --bins
	scripts/with-postgres $(TARGET)/release/asset-bench

tools: check-all $(PYTHON_STAMP) $(GRPCURL_STAMP) $(CARGO_DENY_STAMP) $(PAIMON_JAVA_STAMP)

clean-tools:
	rm -rf $(TOOLS)

check-run:
	@scripts/check-toolchains cargo python go

check-all:
	@scripts/check-toolchains cargo rust-lint python go java maven postgres

# Toolchains are looked at before anything is installed (order only: a check is never "newer").
$(PYTHON_STAMP): | check-run
	@echo '== pypaimon into $(TOOLS)/venv (about a minute)'
	rm -rf $(TOOLS)/venv $(STAMPS)/python-*
	python3 -m venv $(TOOLS)/venv
	$(TOOLS)/venv/bin/python -m pip install --quiet --disable-pip-version-check -r $(WRITERS)/requirements.txt
	mkdir -p $(STAMPS) && touch $@

$(GRPCURL_STAMP): | check-run
	@echo '== grpcurl into $(TOOLS)/bin (about a minute)'
	rm -f $(STAMPS)/grpcurl-*
	GOBIN=$(abspath $(TOOLS))/bin go install github.com/fullstorydev/grpcurl/cmd/grpcurl@$(GRPCURL_VERSION)
	mkdir -p $(STAMPS) && touch $@

# It runs for seconds and is built once, so it is compiled without optimisation.
$(CARGO_DENY_STAMP): | check-all
	@echo '== cargo-deny into $(TOOLS)/bin (about two minutes)'
	rm -f $(STAMPS)/cargo-deny-*
	CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off \
	CARGO_PROFILE_RELEASE_DEBUG=false CARGO_PROFILE_RELEASE_CODEGEN_UNITS=256 \
	cargo install --quiet --locked --force --root $(TOOLS) --target-dir $(TOOLS)/build cargo-deny --version =$(CARGO_DENY_VERSION)
	rm -rf $(TOOLS)/build
	mkdir -p $(STAMPS) && touch $@

# The jars are copied, so that the tests need neither Maven nor its cache. The class path is relative to
# its own folder.
$(PAIMON_JAVA_STAMP): | check-all
	@echo '== the Java Paimon writer into $(TOOLS)/paimon-java (half a minute)'
	rm -rf $(TOOLS)/paimon-java $(STAMPS)/paimon-java-*
	mvn --quiet --batch-mode -f $(WRITERS)/paimon-java/pom.xml -Doutput=$(abspath $(TOOLS))/paimon-java \
		compiler:compile dependency:copy-dependencies -DoutputDirectory=$(abspath $(TOOLS))/paimon-java/lib -DincludeScope=runtime
	echo 'classes:lib/*' > $(TOOLS)/paimon-java/classpath
	mkdir -p $(STAMPS) && touch $@

# Everything that a person or the CI does with this repository; `make` lists it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# With CI=true what is missing fails instead of being skipped.
export CI

# Pinned, so that a new linter comes with a commit that obeys it.
GOLANGCI_LINT_VERSION := v2.15.0
GOLANGCI_LINT := .tools/golangci-lint-$(GOLANGCI_LINT_VERSION)/golangci-lint

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X github.com/kafkaops/kafkaops/cmd/kafkaops/internal/cli.version=$(VERSION)

# What to test: make test PKG=./pkg/inspect/... RUN=TestLag
PKG ?= ./...
RUN ?=
# A package that starts a real Kafka waits for the one before it, and its timeout
# runs meanwhile: it bounds the whole, not one package.
TEST_TIMEOUT ?= 40m

# Debian packages of what tests need beside Go, each by a command that shows it.
# -race needs a C compiler; Kafka needs Java, and Maven to fetch it; key stores are
# made by keytool and openssl; logins by Kerberos need a KDC, in /usr/sbin; the alerts
# are tried in a real Prometheus; kcat is one of the clients that the engine serves;
# top is driven in tmux.
NEEDED := java:default-jre-headless keytool:default-jre-headless mvn:maven gcc:gcc gcc:libc6-dev openssl:openssl \
	krb5kdc:krb5-kdc kadmin.local:krb5-admin-server promtool:prometheus kcat:kcat tmux:tmux
MISSING := $(strip $(foreach n,$(NEEDED),$(shell PATH="$$PATH:/usr/sbin" command -v $(firstword $(subst :, ,$(n))) >/dev/null || \
	echo $(lastword $(subst :, ,$(n))))))
POLICY := /usr/sbin/policy-rc.d

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{ printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## get what the tests need: Java, Maven, Prometheus, kcat, tmux (as root, by apt-get), modules, Kafka's jars
ifneq ($(MISSING),)
	@if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		echo "missing: install $(MISSING) (Debian's names), or run make deps as root" >&2; exit 1; fi
	apt-get update -qq
	@# Only programs are wanted: policy-rc.d keeps Debian from starting services with them.
	if [ ! -e $(POLICY) ]; then printf '#!/bin/sh\nexit 101\n' >$(POLICY); chmod +x $(POLICY); trap 'rm -f $(POLICY)' EXIT; fi; \
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(MISSING)
endif
	go mod download
	go run ./internal/kafkatest/fetch

# Where something is missing that this user may not install, tests that need it
# are skipped and the report says which; under CI nothing may be missing.
.PHONY: deps-if-possible
deps-if-possible:
	@if [ -z "$(MISSING)" ] || [ "$$(id -u)" = 0 ] || [ "$${CI:-}" = true ]; then $(MAKE) deps; else \
		echo "missing, and not root: $(MISSING); tests that need them are skipped" >&2; fi

.PHONY: build
build: ## build bin/kafkaops
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/kafkaops ./cmd/kafkaops

# The simulation has one goroutine a world: the race detector sees little of it, and
# makes it some times slower. So few seeds are run with it, and thousands without.
SIM := ./pkg/embedded/sim
WITH_SIM := $(filter ./... ./pkg/... ./pkg/embedded/... $(SIM),$(PKG))

# What the commands say of a real Kafka they have to say of the embedded engine,
# by the same tests: all of one package, those of a cluster in another one.
ON_ENGINE := ./cmd/kafkaops/internal/acceptance
PARTLY_ON_ENGINE := ./cmd/kafkaops/internal/cli
WITH_ENGINE := $(filter ./... ./cmd/... ./cmd/kafkaops/... $(ON_ENGINE),$(PKG))
PARTLY_WITH_ENGINE := $(filter ./... ./cmd/... ./cmd/kafkaops/... $(PARTLY_ON_ENGINE),$(PKG))

# A package that waits for its turn with Kafka needs no processor, and must not keep others
# from one: more at once than there are processors.
PACKAGES_AT_ONCE ?= 4
GO_TEST := go test -json -timeout $(TEST_TIMEOUT) -p $(PACKAGES_AT_ONCE)

.PHONY: test
test: deps-if-possible ## run all tests that fit ten minutes, with the race detector; PKG= and RUN= select
	@# Side by side, for clusters of either kind are mostly waited for.
	$(MAKE) --jobs=2 --keep-going test-kafka test-engine test-sim

.PHONY: test-kafka test-engine test-sim
test-kafka:
	$(GO_TEST) -race $(if $(RUN),-run '$(RUN)' )$(PKG) | go run ./internal/testreport
test-engine:
	@:
	$(if $(WITH_ENGINE),KAFKAOPS_TEST_ENGINE=embedded $(GO_TEST) -race $(if $(RUN),-run '$(RUN)' )$(ON_ENGINE) | go run ./internal/testreport)
	$(if $(PARTLY_WITH_ENGINE),KAFKAOPS_TEST_ENGINE=embedded $(GO_TEST) -race -run '$(or $(RUN),Real$$)' $(PARTLY_ON_ENGINE) | go run ./internal/testreport)
test-sim:
	@:
	$(if $(WITH_SIM),$(GO_TEST) $(if $(RUN),-run '$(RUN)' )$(SIM) | go run ./internal/testreport)

.PHONY: test-all
test-all: deps-if-possible ## run the long tests too, up to an hour, on older versions of Kafka as well
	go run ./internal/kafkatest/fetch 4.0.0 3.9.1 3.3.2 3.5.2 3.7.2 4.1.1 || [ "$${CI:-}" != true ]
	KAFKAOPS_LONG=1 $(MAKE) test TEST_TIMEOUT=60m

# Whole runs of the binary, medians and ratios, see cmd/kafkaops/internal/bench, and
# the engine's log against plain files, and readings of a long metadata log. BENCH= selects:
# make bench BENCH=Scale
BENCH ?= .
.PHONY: bench
bench: deps-if-possible ## measure whole commands against Kafka's own and at size, the terminal UI's state, the engine's log, the ISR's history; BENCH= selects
	go test -run '^$$' -bench '$(BENCH)' -benchtime 1x -timeout 30m -p 1 ./cmd/kafkaops/internal/bench ./cmd/kafkaops/internal/tui ./pkg/embedded/storage ./pkg/inspect/isrlog

# They differ in times and rates from run to run, so that nothing checks them.
.PHONY: screenshots
screenshots: deps-if-possible ## make the README's pictures of top anew, from the program in a terminal
	go run ./internal/screenshots cmd/kafkaops/internal/tui/screenshots

TARGETS := linux/arm64 darwin/arm64 windows/amd64

.PHONY: lint
lint: $(GOLANGCI_LINT) ## check format, vet, linters and go.mod
	$(GOLANGCI_LINT) fmt --diff
	go vet ./...
	$(GOLANGCI_LINT) run
	go mod tidy -diff
	@# Nothing needs cgo, and the binary is one for every system.
	for target in $(TARGETS); do echo "go build for $$target"; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} go build -o /dev/null ./cmd/kafkaops; done

.PHONY: fmt
fmt: $(GOLANGCI_LINT) ## format the code
	$(GOLANGCI_LINT) fmt

# Built from source, once: there is not everywhere a download of binaries.
$(GOLANGCI_LINT):
	GOBIN=$(CURDIR)/$(@D) GOFLAGS= go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)

.PHONY: clean
clean: ## remove what was built here
	rm -rf bin .tools

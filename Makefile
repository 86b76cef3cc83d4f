SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The system's Node when it runs TypeScript as it is; else a private Node from the npm registry.
NODE_VERSION := 24.21.0
ifeq ($(shell node -p 'process.features.typescript === "strip"' 2>/dev/null),true)
NODE :=
else
NODE := .node/node_modules/.bin/node
export PATH := $(CURDIR)/.node/node_modules/.bin:$(PATH)
endif
NODE_PACKAGE := node-$(shell uname -s | tr A-Z a-z)-$(shell uname -m | sed 's/x86_64/x64/;s/aarch64/arm64/')
DEPS := node_modules/.package-lock.json
ENGINE := $(notdir $(firstword $(shell command -v podman docker)))
JEST := NODE_COMPILE_CACHE=$(CURDIR)/.cache/compile node --disable-warning=ExperimentalWarning node_modules/jest/bin/jest.js

.PHONY: help run install test test-all test-unit check check-code check-format check-architecture check-unused format lab bench docs screenshots fuzz simulate flows faults plants dist package image image-check clean

help: ## List what can be done
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: $(DEPS) ## Start everything on SQLite; prints an API key and a curl line
	@exec ./animal-store serve

install: $(DEPS) ## Install Node (when needed) and the packages of package-lock.json

# Many tests wait for processes, timers and networks: three workers for two cores keep them at work.
WORKERS = $$(node -p 'Math.ceil(1.5 * os.availableParallelism())')

test: $(DEPS) ## What a change needs: each part on SQLite, what differs on MariaDB, and one journey through each part; SEED=n
	@$(JEST) --ignoreProjects machines release --maxWorkers=$(WORKERS)

test-all: dist ## What a release needs: `make test`, every store on MariaDB, and test/release; as root also `make image-check`
	@TEST_STORES=all $(JEST) --ignoreProjects machines --maxWorkers=$(WORKERS)
	@if [ "$$(id -u)" = 0 ]; then $(MAKE) --no-print-directory image-check; else echo 'Left out, since only root may: make image-check' >&2; fi

test-unit: $(DEPS) ## The pure part: no I/O, a few seconds
	@$(JEST) --selectProjects unit --maxWorkers=100%

check: $(DEPS) ## Types, lint, formatting, architecture rules and unused code, side by side
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target check-code check-format check-architecture check-unused

# Types and lint in one pass of the compiler: oxlint.config.ts.
check-code: $(DEPS)
	@node_modules/.bin/oxlint --deny-warnings

check-format: $(DEPS)
	@node_modules/.bin/prettier --check --cache --cache-strategy content --cache-location .cache/prettier --log-level warn .

check-architecture: $(DEPS)
	@node_modules/.bin/depcruise --output-type err-long $(wildcard src db docs test bench clients)

check-unused: $(DEPS)
	@node_modules/.bin/knip --no-progress

format: $(DEPS) ## Rewrite files in the one style
	@npx --no-install prettier --write --log-level warn .

lab: $(DEPS) ## A resolver, two authorities, a mail server and the service, to try domains and mail in a browser
	@exec node test/lab/main.ts

bench: dist ## Every target of docs/performance.md, measured; ONLY=words ROUNDS=n
	@node bench/main.ts

fuzz: $(DEPS) ## 100 000 hostile requests and DNS answers, 1 000 000 DNS questions; SEED=n repeats a run, REQUESTS=n
	@node test/fuzz/main.ts

# Files of a simulated store in memory, where there is room.
simulate: $(DEPS) ## Years of a store under virtual time, as a seed says; SEED=n|n-m DAYS=n YEARS=n STORY=file HISTORY=1 DRILLS=1 VERBOSE=1 INTO=file
	@TMPDIR=$$(test -w /dev/shm && echo /dev/shm || echo "$${TMPDIR:-/tmp}") exec node --disable-warning=ExperimentalWarning test/simulation/main.ts

flows: $(DEPS) ## Which files of src a newcomer opens to follow three flows, in order
	@exec node --disable-warning=ExperimentalWarning test/simulation/opened-files.ts

faults: $(DEPS) ## Every fault on every database, long; KILLS=n SOAK=minutes ONLY=words DATABASE=sqlite SEED=n
	@exec node test/faults/main.ts

plants: $(DEPS) ## Break one law of the product at a time: the test that should see it must fail; ONLY=words
	@exec node --disable-warning=ExperimentalWarning test/plants/main.ts

docs: $(DEPS) ## Print the pages that come from code (docs/errors.md, …)
	@node docs/print.ts

screenshots: $(DEPS) ## The pictures that README.md and docs show; INTO=folder takes one of every page
	@node docs/screenshots.ts

# What npm installs: Node strips no types below node_modules. A file that is gone changes its folder.
dist: dist/package.json

dist/package.json: $(DEPS) build-package.js $(shell find src db bin docs ops)
	@node build-package.js

package: dist ## A file that npm can install anywhere: animal-store-VERSION.tgz
	@npm pack --loglevel=error ./dist

# Docker's format: the other one has no health check.
image: ## An image by podman or docker: ENGINE=docker NODE_IMAGE=name BASE_IMAGE=name, as ops/Containerfile says
	@BUILDAH_FORMAT=docker $(ENGINE) build --file ops/Containerfile $(foreach one,NODE_IMAGE BASE_IMAGE,$(if $($(one)),--build-arg $(one)=$($(one)))) \
	  --tag animal-store:$$(node -p 'require("./package.json").version') --tag animal-store .

image-check: $(DEPS) ## The image, compose.yaml and the systemd units, started as documented; needs root, some minutes
	@$(JEST) --selectProjects machines --maxWorkers=1

clean: ## Remove installed packages, private Node and test servers; data in var/ stays
	rm -rf node_modules .node .cache coverage dist

$(DEPS): package-lock.json $(NODE)
	@echo "installing packages (about half a minute the first time) …" >&2
	@npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

.node/node_modules/.bin/node:
	@echo "installing Node $(NODE_VERSION) for this project …" >&2
	@npm install --prefix .node --no-save --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error $(NODE_PACKAGE)@$(NODE_VERSION)

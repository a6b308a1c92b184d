# Two commands matter: `make demo` and `make test`. Both set up what they need in .venv.
# Needed on the machine: Python 3.11 or newer with venv, pip, make, git.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
JOBS   ?= 2
OUT    ?= out/demo
VENV   := .venv
PEERS  := .venv-peers
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install -qq --disable-pip-version-check

# Tests start many processes: the sources are compiled once, not in each of them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo doors release test tests parts programs lint types coverage bench statistics frames exports clean

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	@echo "== Python environment in $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Isonomia needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version). Try: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "== Installing Isonomia"
	@$(PIP) --editable '.[pandas]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/.installed-uv
	@echo "== Installing Isonomia with what its tests need (a minute the first time)"
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-uv: | $(BIN)/python
	@$(PIP) 'uv>=0.5'
	@touch $@

$(PEERS)/.installed: benchmarks/peers/requirements.txt
	@echo "== Installing the libraries Isonomia is compared with, in $(PEERS)"
	@$(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install -qq --disable-pip-version-check --requirement $<
	@touch $@

$(PEERS)-%/.installed: benchmarks/peers/requirements-%.txt
	@echo "== Installing $* in an environment of its own, $(PEERS)-$*"
	@$(PYTHON) -m venv $(PEERS)-$*
	@$(PEERS)-$*/bin/python -m pip install -qq --disable-pip-version-check --requirement $<
	@touch $@

demo: $(VENV)/.installed ## make a dataset with known bias, train a model, audit it: out/demo/report.html
	@$(BIN)/isonomia demo --out $(OUT)

# Types are examined and programs of the system installed beside everything else. All parts are waited for; one that fails
# fails the whole.
# Away from the checkout, since an editable install hides what a wheel lacks and what only developers have.
doors: $(VENV)/.installed-uv ## build the wheel and walk, in fresh installs of it, whatever a first user meets
	@UV=$(BIN)/uv $(BIN)/python -m doors $(INSTALLS)

release: $(VENV)/.installed-uv ## build and check a release in dist/, with its notes; pushes nothing (REPOSITORY=https://...)
	@UV=$(BIN)/uv $(BIN)/python -m release '$(REPOSITORY)'

test: ## everything that guards a change: style, types, architecture, tests
	@$(MAKE) --no-print-directory --jobs=4 lint types tests

# Each worker takes a run of neighbouring tests, so that what a file sets up (a Spark session, a server, a trained model) is
# set up once; one that is done takes over from the other. The workers use all cores: threads in each would wait for others'.
tests: lint parts
	@echo "== Tests"
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m "$$(cat $(VENV)/left-out)"

parts: $(VENV)/.installed-dev programs ## what some tests need beside Python: a browser, PostgreSQL, Spark, PyTorch
	@.ci/torch $(BIN)/python || true
	@{ cat $(VENV)/left-out-programs; .ci/spark $(BIN)/python >&2 || echo "not spark"; } | paste -sd '&' | sed 's/&/ and /g' >$(VENV)/left-out

programs: | $(BIN)/python
	@{ .ci/chromium >&2 || echo "not browser"; .ci/postgres >&2 || echo "not postgres"; } >$(VENV)/left-out-programs

lint: $(VENV)/.installed-dev ## style and the direction of imports
	@echo "== Style"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet . || { echo "Not formatted; run: $(BIN)/ruff format ."; exit 1; }
	@echo "== Imports go up the house only"
	@$(BIN)/lint-imports --no-logo

types: $(VENV)/.installed-dev ## strict types
	@found=$$($(BIN)/mypy 2>&1); failed=$$?; printf '\n== Types\n%s\n' "$$found"; exit $$failed

coverage: $(VENV)/.installed-dev ## tests with line and branch coverage
	@$(BIN)/python -m pytest -q -n $(JOBS) --cov --cov-report=term-missing:skip-covered --cov-report=html

bench: $(VENV)/.installed-dev $(PEERS)/.installed $(PEERS)-deepchecks/.installed $(PEERS)-evidently/.installed $(PEERS)-matching/.installed $(PEERS)-oxonfair/.installed $(PEERS)-shap/.installed ## the table of ratios against other libraries: benchmarks/RESULTS.md
	@$(BIN)/python -m benchmarks $(BENCH)

statistics: $(VENV)/.installed-dev ## coverage, size, power and verdicts by simulation: docs/statistics.md
	@$(BIN)/python -m benchmarks.statistics $(TOPICS)

frames: $(VENV)/.installed-dev ## standard and full audits of 500 generated frames of awkward types (a quarter of an hour)
	@ISONOMIA_FRAMES=500 $(BIN)/python -m pytest -q -p no:randomly tests/audit/test_generated_frames.py

exports: $(VENV)/.installed-dev ## write the list of public names, the schema of specs and the page of options again
	@$(BIN)/python tests/test_exports.py
	@$(BIN)/isonomia run --schema > docs/spec.schema.json
	@$(BIN)/python tests/test_options_page.py

clean: ## remove environments, caches and output
	@rm -rf $(VENV) $(PEERS) $(PEERS)-* out build dist htmlcov .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		.import_linter_cache src/*.egg-info

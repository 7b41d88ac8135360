# Every target sets up what it needs in .venv first; a second call finds the stamps there and does nothing again.

# The first of these that is a supported Python; torch 2.13.0 has wheels for no later one.
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$python -c '$(SUPPORTED)' 2>/dev/null && { echo $$python; break; }; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup serve test lint bench image lock clean

help: ## show this
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{ printf "%-12s %s\n", $$1, $$2 }'

setup: .venv/stamp-test ## make .venv with everything that the tests need

serve: .venv/stamp-serve ## start the garden on port 8000
	$(BIN)/perennial serve

test: .venv/stamp-test .venv/stamp-browser lint ## run all that CI runs
	$(BIN)/python -m pytest

lint: .venv/stamp-test ## check style, types and the rules of import
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/stamp-test .venv/stamp-browser ## measure the budgets
	$(BIN)/python -m bench

image: ## build the container image
	docker build --tag perennial .

lock: .venv/pyvenv.cfg ## make the locks in setup/ anew, from pyproject.toml
	setup/lock.sh $(BIN)/python

clean: ## remove .venv, caches and builds
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist

.venv/pyvenv.cfg:
	@"$(PYTHON)" -c '$(SUPPORTED)' 2>/dev/null || { echo "Perennial needs Python 3.11 to 3.14. Install one, or name it: make PYTHON=/path/to/python3.12" >&2; exit 2; }
	@"$(PYTHON)" -c 'import ensurepip, venv' || \
		{ echo "$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 2; }
	"$(PYTHON)" -m venv --clear .venv || { rm -rf .venv; exit 1; }

.venv/stamp-serve: setup/requirements.lock setup/torch.sh pyproject.toml | .venv/pyvenv.cfg
	$(PIP) install --quiet --no-deps --require-hashes -r setup/requirements.lock
	setup/torch.sh $(BIN)/python
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

.venv/stamp-test: setup/requirements-test.lock .venv/stamp-serve
	$(PIP) install --quiet --no-deps --require-hashes -r setup/requirements-test.lock
	@touch $@

.venv/stamp-browser: setup/browser.sh .venv/stamp-test
	setup/browser.sh $(BIN)/python
	@touch $@

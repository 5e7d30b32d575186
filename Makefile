PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SAMPLE := fixtures/runs/scripted-demo/notes-cli
WORKERS ?= auto

.DEFAULT_GOAL := help
.PHONY: help demo test lint format keys screenshots bench benchgates fixtures clean

help: ## list what make can do
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(VENV)/.installed ## install into a virtual environment of its own and open the sample run
	@$(BIN)/arcview $(SAMPLE)

test: $(VENV)/.installed-dev ## run the whole test suite
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

lint: $(VENV)/.installed-dev ## check format, style, types and the layers of the house
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(VENV)/.installed-dev ## bring the code into the house format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

keys: $(VENV)/.installed ## write the key table of README.md again
	@$(BIN)/python -m tests.write_key_table

screenshots: $(VENV)/.installed ## make the pictures in screenshots/ again from the sample run
	@$(BIN)/python screenshots/make.py

bench: $(VENV)/.installed-dev ## measure start-up, keys, memory, long sessions, statistics, evidence trail, search and labels
	@$(BIN)/python -m tests.bench.bench_start
	@$(BIN)/python -m tests.bench.bench_keys
	@$(BIN)/python -m tests.bench.bench_memory
	@$(BIN)/python -m tests.bench.bench_sessions
	@$(BIN)/python -m tests.bench.bench_trail
	@$(BIN)/python -m tests.bench.bench_find
	@$(BIN)/python -m tests.bench.bench_stats
	@$(BIN)/python -m tests.bench.bench_labels

benchgates: $(VENV)/.installed-dev ## measure reruns and the matrix in containers; needs an engine and its images
	@$(BIN)/python -m tests.bench.bench_rerun
	@$(BIN)/python -m tests.bench.bench_matrix

fixtures: $(VENV)/.installed-dev ## make the sample chains and their runs again by running them; needs an engine
	@$(BIN)/python fixtures/make_notes_cli.py
	@fixtures/images/build.sh
	@$(BIN)/python fixtures/make_containers.py

clean: ## remove the virtual environment and what tools left behind
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed

# Two commands on a fresh machine: `make demo` and `make test`. Each makes .venv where it is missing and installs into
# it what it needs; what is missing from the system is named, with the command that brings it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO_STAMP := $(VENV)/.demo_installed
PYTEST_ARGS ?= -n auto --dist worksteal
# Seconds of CPU that an unmarked test may take: 10, on a machine that may be slower. Verilator's runtime and Yosys,
# which an empty cache does not have, are compiled before the tests.
CPU_LIMIT ?= 30

.PHONY: help venv demo demo-soc test test-slow soak fuzz lint format bench bench-area prove mutants mutants-python docs clean

help: ## say what there is
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /make \1\t/' | expand -t 18

venv: $(STAMP) ## make .venv and install systoliq into it, editable

# Make .venv where it is missing or broken, and install $(1) into it.
define install
	@command -v $(PYTHON) >/dev/null || \
	  { echo "$(PYTHON) was not found: apt-get install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "Python must be >= 3.10, but this is $$($(PYTHON) -V 2>&1): make $(or $(MAKECMDGOALS),venv) PYTHON=/path/to/a/newer/python3" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { rm -rf $(VENV); $(PYTHON) -m venv $(VENV); } || \
	  { rm -rf $(VENV); echo "the venv module does not work: apt-get install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '$(1)'
	@touch $@
endef

# pip runs again whenever pyproject.toml is newer than the last installation that succeeded.
$(STAMP): pyproject.toml
	$(call install,.[test])

$(DEMO_STAMP): pyproject.toml
	$(call install,.[demo])

demo: $(DEMO_STAMP) ## train, quantize, emit Verilog, run it, compare every output
	@$(BIN)/python -m systoliq.sim verilator c++ libpython
	$(BIN)/systoliq demo

demo-soc: $(STAMP) ## a RISC-V drives the engine: firmware, bus and engine simulated whole
	@$(BIN)/python -m systoliq.sim verilator c++
	$(BIN)/systoliq soc --out out/soc --simulate

test: lint ## lint, types and all tests but the slow ones
	@$(BIN)/python -m systoliq.sim verilator c++ libpython icarus make perl
	$(BIN)/python -m tests.support.prepare
	$(BIN)/python -m pytest $(PYTEST_ARGS) --cpu-limit $(CPU_LIMIT)

test-slow: $(STAMP) ## the slow tests: proofs, netlists, networks in RTL
	@$(BIN)/python -m systoliq.sim verilator c++ libpython icarus make perl
	$(BIN)/python -m tests.support.prepare
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m "slow and not soak"

soak: $(STAMP) ## 2000 random jobs on 40 random engines, both simulators
	$(BIN)/python tests/engine/soak.py

fuzz: $(STAMP) ## 500 random designs from the whole parameter space, an hour at the most
	$(BIN)/python tests/fuzz/designs.py

lint: $(STAMP) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP) ## let ruff put the code in form
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

bench: $(STAMP) ## measure area, frequency and cycles
	$(BIN)/systoliq bench

bench-area: $(STAMP) ## measure area and frequency again, for docs/measurements/silicon.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[synth]'
	$(BIN)/systoliq bench-area --update docs/measurements/silicon.md

prove: $(STAMP) ## prove the hardware's integer forms
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[formal]'
	$(BIN)/systoliq prove

MUTANTS ?= --count 200 --seed 1

mutants: $(STAMP) ## mutants of a layer's Verilog: are they found by its testbench
	@$(BIN)/python -m systoliq.sim icarus
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[formal]'
	$(BIN)/systoliq emit resnet8-fc --rows 1 --cols 2 --depth 4 --out out/mutants
	$(BIN)/systoliq mutants out/mutants $(MUTANTS)

PYTHON_MUTANTS ?= --count 60 --seed 1

mutants-python: $(STAMP) ## mutants of systoliq's own Python: are they found by its tests
	-$(BIN)/python tests/python_mutants/run.py --part golden $(PYTHON_MUTANTS)
	$(BIN)/python tests/python_mutants/run.py --part hw $(PYTHON_MUTANTS)

docs: $(STAMP) ## build the documentation into out/site
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/python -m mkdocs build --strict --quiet

clean: ## remove .venv, out/ and the tools' caches; builds in ~/.cache/systoliq stay
	rm -rf $(VENV) out dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

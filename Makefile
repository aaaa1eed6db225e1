# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Some images forbid compiled files; each of some hundred processes of the tests would then compile the program anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test check format lint types imports chaos bench bench-live bench-peers picture lock clean

setup: $(READY)

$(READY): constraints-dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes -r constraints-dev.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	touch $(READY)

demo: $(READY)
	$(BIN)/aircoding demo

test: $(READY)
	$(BIN)/coverage erase
	$(BIN)/pytest --numprocesses 2 --dist worksteal --durations 25 --cov --cov-report= -m "not chaos and not bench"
	$(BIN)/coverage report

check: format lint types imports

format: $(READY)
	$(BIN)/ruff format --check .

lint: $(READY)
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports

chaos: $(READY)
	$(BIN)/pytest -m chaos tests/chaos

bench: $(READY)
	$(BIN)/pytest -m bench -s

# Spends money: at most MAX_COST US dollars of ANTHROPIC_API_KEY. Without a key it says so and does nothing.
MAX_COST ?= 2
bench-live: $(READY)
	cd tests && ../$(BIN)/python -m bench.live_fleet --max-cost $(MAX_COST)

# What `bench` measures ours beside; without them it says so and skips. Install scripts stay off.
bench-peers: $(READY)
	$(BIN)/pip install --quiet --editable ".[bench]"
	npm install --prefix tests/bench/peers --ignore-scripts --no-package-lock --no-audit --no-fund

# The picture of a page in the documentation; it needs Chromium.
picture: $(READY)
	cd tests && ../$(BIN)/python -m support.pictures ../docs/pictures/inspector.png

# The locks carry hashes and no address of an index.
lock: $(READY)
	$(BIN)/uv pip compile --universal --generate-hashes --no-header --python-version 3.11 pyproject.toml -o constraints.txt
	$(BIN)/uv pip compile --universal --generate-hashes --no-header --python-version 3.11 --extra dev pyproject.toml -o constraints-dev.txt

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache

# Two commands do everything on a fresh machine: `make demo` and `make test`; `make check` is for in between.
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
# A process for each core; matrix libraries that start threads of their own would wait for each other.
TEST   := OMP_NUM_THREADS=1 $(PY) -m pytest -n auto
PIP    := $(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test check fast test-statistical lint types docs speed bench-estimators fuzz clean

demo: $(VENV)/.core
	$(PY) examples/demo.py

test: $(VENV)/.test $(VENV)/.browser $(VENV)/.postgres lint types
	$(TEST) --cov --cov-report=term --durations=20

# Lint, types and the fast tests (tests/conftest.py says which) side by side: under two minutes on two cores.
check: $(VENV)/.test
	@$(MAKE) --no-print-directory --jobs=3 --output-sync lint types fast

fast: $(VENV)/.test
	$(TEST) -q -m "not slow and not statistical" tests

# Coverage of intervals and error rates of tests over thousands of samples; some minutes.
test-statistical: $(VENV)/.test
	$(PY) -m pytest -m statistical -s tests/statistical

lint: $(VENV)/.test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(VENV)/.test
	$(PY) -m mypy

# The pages under docs/reference, from the registry and the docstrings.
docs: $(VENV)/.core
	$(PY) docs/generate.py

# Each file measures karat and a peer in one run; a full pass takes about ten minutes.
speed: $(VENV)/.test
	for file in speed/[a-z]*.py; do $(PY) $$file || exit 1; done

# Every estimator with every strategy on worlds whose labels are known: docs/estimator-bench.md; ten minutes.
bench-estimators: $(VENV)/.test
	OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(PY) scripts/bench_estimators.py

# Damaged files over every loader, and damaged folders of models; some half an hour.
fuzz: $(VENV)/.test
	$(PY) fuzz/loaders.py --inputs 120000
	$(PY) fuzz/model_folders.py --folders 20000

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "karat needs Python 3.11 or newer; set PYTHON=python3.11"; exit 2; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "no virtual environment could be made: apt-get install python3-venv"; exit 2; }
	@touch $@

$(VENV)/.core: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) -e '.[models]'
	@touch $@

$(VENV)/.test: $(VENV)/.core
	$(PIP) -e '.[test]'
	@touch $@

# The report is tested in Debian's chromium; without it those tests are skipped and say so.
$(VENV)/.browser: $(VENV)/.made
	@if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get install -y -qq chromium chromium-driver >/dev/null 2>&1 \
	    || { apt-get update -qq && apt-get install -y -qq chromium chromium-driver >/dev/null; } \
	    || echo "chromium could not be installed: browser tests are skipped"; \
	else echo "browser tests need: apt-get install chromium chromium-driver"; fi
	@touch $@

# The store is tested on a PostgreSQL that the tests start themselves; without it they are skipped and say so.
$(VENV)/.postgres: $(VENV)/.made
	@if command -v pg_ctl >/dev/null || ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get install -y -qq postgresql >/dev/null 2>&1 \
	    || { apt-get update -qq && apt-get install -y -qq postgresql >/dev/null; } \
	    || echo "PostgreSQL could not be installed: its tests are skipped"; \
	else echo "tests of the store on PostgreSQL need: apt-get install postgresql"; fi
	@touch $@

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage

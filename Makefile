# make run    show the main job on a robots.txt
# make check  style, types, and the tests of the engine, lint and koster check: under a minute
# make test   style, types, layers, and tests, compiled and as plain Python
# make ledger  which answers changed since they were recorded? A minute; ACCEPT=1 records them
# make facts  which pages about crawlers changed since they were read? Fetches them; ACCEPT=1 records them
# make test-all  the same with all real files, and new random examples
# make nightly  what takes hours: all of it as plain Python, the soak, fuzzing and sanitizers
# make wheel  build the wheel and the source distribution into dist, install the wheel and run it
# make test-packaging  test the wheel and the source distribution
# make test-spark   koster.bulk.spark on a real session of Spark: half a gigabyte, and Java 17
# make test-service  the tester page in Chromium, and the service attacked and under load: Chromium, npm
# make docs   build the documentation into site, and check its links, pictures and prose
# make test-docs  make docs, then look at the site in Chromium: Chromium, npm
# make pictures   take the pictures of the tester that the docs show
# make compat the test suites of the libraries that koster.compat stands in for
# make test-faults  kill -9, full disks, a failing Redis, and a soak of two minutes
# make soak   the soak for ten minutes, threads that share objects for five seconds each, and 500 clients
# make fuzz   look for inputs that break a promise, for SECONDS=600
# make sanitize   the same with AddressSanitizer and UndefinedBehaviorSanitizer: gcc
# make coverage  do the tests reach every line and branch of the core? Two minutes
# make mutation  would the tests notice a mistake? Hours; FOLDER=build/mutation keeps the results
# make matrix run the conformance suite against all parsers that install, and write their page
# make conformance-suite  write the archive of the conformance suite into dist
# make generate  write anew what follows from other files: client, man page, suite, tables, ledger, docs
# make differential  ask those libraries and koster.compat a million questions each
# make bench  how fast, how large, and against whom: ten minutes
# make constraints  write constraints.txt anew, with the newest versions: Python 3.11
#
# The first call sets up .venv, the next ones use it. KOSTER_PURE=1 skips compilation. pip installs the
# versions in constraints.txt.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Build requirements, as in pyproject.toml.
BUILD := 'setuptools>=77' 'Cython>=3.3,<4'
WHEELS := 'click>=8.2' 'rich>=13.9' 'rich-click>=1.9' 'jinja2>=3.1' 'ai-crawler-index>=1.3' 'publicsuffixlist>=1.0.2'
HOT := $(wildcard src/koster/_engine/*.p* src/koster/bulk/_loops/*.p* src/koster/robots.p* src/koster/_asking.p* src/koster/_urls.p* src/koster/_text.pxd src/koster/compat/_kept.p*) setup.py
# What differential tests compare koster.compat with: their own dependencies are not needed.
ORIGINALS := robotexclusionrulesparser==1.7.1 webcanon==0.3.0 apetest==0.1.1 protego==0.7.0
PYTEST := $(BIN)/python -m pytest -q -r s -n 4 --dist loadgroup
# koster.bulk runs on it too; it has no release for some Pythons and systems.
RAY := 'ray>=2.40'
# Reads s3://, and a server that stands in for S3.
S3 := 's3fs>=2024.6' 'moto[s3,server]>=5'
# Packs an environment for the workers of Spark.
PACK := 'venv-pack>=0.2'
CONSTRAINTS := -c constraints.txt
PIP := $(BIN)/python -m pip install -qq $(CONSTRAINTS)
# For what single targets need, much of which is never imported: Python compiles what is.
ADD := $(PIP) --no-compile

export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Where it is set, each process of pytest compiles all tests anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: generate run check test compiled plain nightly ledger facts test-all test-packaging test-spark test-service docs test-docs pictures lint compat differential bench \
  wheel constraints clean test-faults soak fuzz sanitize coverage mutation matrix conformance-suite

run: $(VENV)/compiled
	@$(BIN)/python examples/run.py

# What runs differently as plain Python; make nightly runs all tests so.
PLAIN := tests/engine tests/bulk/test_kernel.py tests/bulk/test_distinct.py tests/bulk/test_members.py tests/bulk/test_scanned.py \
  tests/compat/test_differential.py tests/compat/test_interfaces.py tests/decisions tests/threads \
  tests/test_robots.py tests/test_entrances.py tests/test_misuse.py 'tests/test_doctests.py::test_examples[koster.robots]'

# mypy takes a minute of one core the first time.
test: $(VENV)/dev $(VENV)/compiled
	@$(MAKE) --no-print-directory -j 2 compiled plain

compiled:
	KOSTER_PURE=0 $(PYTEST)

# Beside the others, so its progress is not shown; after lint, so that no more than two run at a time.
plain: lint
	@KOSTER_PURE=1 $(PYTEST) -n 1 $(PLAIN) > $(VENV)/plain.log 2>&1 || { cat $(VENV)/plain.log; exit 1; }
	@echo "As plain Python: $$(tail -1 $(VENV)/plain.log)"

check: $(VENV)/dev $(VENV)/compiled
	$(BIN)/ruff check .
	$(BIN)/mypy
	KOSTER_PURE=0 $(PYTEST) tests/engine tests/lint tests/cli/test_check.py

ledger: $(VENV)/dev $(VENV)/compiled
	@KOSTER_PURE=0 $(BIN)/python -m tools.ledger $(if $(ACCEPT),--accept)

facts: $(VENV)/dev $(VENV)/compiled
	@KOSTER_PURE=0 $(BIN)/python -m tools.facts $(if $(ACCEPT),--accept)

test-all: export KOSTER_TEST_EVERYTHING = 1
test-all: test

nightly: export KOSTER_TEST_EVERYTHING = 1
nightly: export KOSTER_TEST_NIGHTLY = 1
nightly: test-all test-faults soak
	KOSTER_PURE=1 $(PYTEST)
	$(MAKE) fuzz sanitize SECONDS=600

test-packaging: $(VENV)/dev
	KOSTER_PURE=0 $(PYTEST) -n 2 tests/packaging

lint: $(VENV)/dev $(VENV)/compiled
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

test-spark: $(VENV)/spark $(VENV)/compiled
	KOSTER_PURE=0 $(PYTEST) -n 0 tests/spark

test-service: $(VENV)/browser $(VENV)/compiled
	KOSTER_PURE=0 $(PYTEST) -n 2 tests/live --ignore tests/live/test_attack.py --ignore tests/live/test_schema.py
	KOSTER_PURE=0 $(PYTEST) -n 0 -s tests/live/test_attack.py tests/live/test_schema.py

docs: $(VENV)/docs $(VENV)/compiled
	@$(BIN)/python -m tools.site

test-docs: docs $(VENV)/browser
	KOSTER_PURE=0 $(PYTEST) -n 2 tests/site

pictures: $(VENV)/browser $(VENV)/compiled
	@mkdir -p docs/images
	KOSTER_PURE=0 KOSTER_PICTURES=docs/images $(PYTEST) tests/live/test_pictures.py

# The compiled modules may read what is written first.
generate: $(VENV)/docs $(VENV)/compiled
	@$(MAKE) --no-print-directory ledger ACCEPT=1
	@KOSTER_PURE=0 $(BIN)/python -m tools.generate
	@$(MAKE) --no-print-directory docs

compat: $(VENV)/dev $(VENV)/compiled
	@KOSTER_PURE=0 $(BIN)/python -m originals build/originals

differential: $(VENV)/dev $(VENV)/compiled
	KOSTER_PURE=0 $(PYTEST) tests/compat/test_differential.py --questions 1000000

test-faults: $(VENV)/dev $(VENV)/compiled
	KOSTER_PURE=0 $(PYTEST) -n 2 --ignore tests/faults/test_soak.py tests/faults
	KOSTER_PURE=0 $(PYTEST) -n 0 -s tests/faults/test_soak.py

soak: $(VENV)/browser $(VENV)/compiled
	KOSTER_PURE=0 KOSTER_THREAD_SECONDS=5 $(PYTEST) -n 1 tests/threads
	KOSTER_PURE=0 KOSTER_SOAK_SECONDS=600 $(PYTEST) -n 0 -s tests/faults/test_soak.py
	KOSTER_PURE=0 KOSTER_LOAD_SECONDS=30 $(PYTEST) -n 0 -s tests/live/test_load.py::test_five_hundred_clients

SECONDS ?= 600
fuzz: $(VENV)/fuzz $(VENV)/compiled
	@KOSTER_PURE=0 $(BIN)/python -m fuzz --seconds $(SECONDS)

sanitize: $(VENV)/fuzz
	@if command -v gcc > /dev/null; then $(BIN)/python -m fuzz.sanitized --seconds $(SECONDS); \
	  else echo "Skipped: the sanitizers need gcc"; fi

# Without real files and random examples: what they reach may change. The tests left out take long,
# and reach nothing that others do not.
COVERING := tests/lint tests/analysis tests/sitemaps tests/engine
COVERING_TOO := tests/crawlers tests/signals tests/test_*.py tests/bulk/test_kernel.py tests/bulk/test_distinct.py tests/bulk/test_members.py \
  tests/cli/test_sitemap_protocol.py
SLOW := limits or pickling or opposites or same_verdicts or is_fast or odd_strings or short_urls or first_500_kib \
  or usual_ones or generated or index_finds or too_many_groups or name_so_many_crawlers or closing_a_path_changes_nothing_else \
  or suggestions_remove_their_findings or many_long_patterns_with_stars or thousands_of_times or short_classes \
  or fall_back_to_other_names or checks_find_their_examples or files_after_a_large_one or very_long_rules_among_many \
  or agents_in_many_groups or large_files_are_analyzed or parsing_is_linear or lines_before_a_robot_version \
  or one_limit_of_names or presets_of_platforms or shell_patterns_weigh or long_values_take_linear or other_doors_refuse \
  or hostile_folder
# One process for each core.
coverage: $(VENV)/coverage
	@mkdir -p build
	@$(BIN)/python -m coverage erase
	@cover() { log=$(VENV)/$$1.log; shift; KOSTER_PURE=1 KOSTER_CONFORMANCE=none $(BIN)/python -m coverage run -p -m pytest -q \
	    -p no:xdist -m 'not hypothesis' -k 'not ($(SLOW))' $$* > $$log 2>&1 || { cat $$log; exit 1; }; }; \
	  cover coverage-1 $(COVERING) & cover coverage-2 $(COVERING_TOO) && wait $$!
	@$(BIN)/python -m coverage combine -q
	@$(BIN)/python -m coverage report

FOLDER ?= build/mutation
mutation: $(VENV)/mutation
	@$(BIN)/python -m tools.mutation run $(FOLDER)

matrix: $(VENV)/dev $(VENV)/compiled
	@KOSTER_PURE=0 $(BIN)/python -m tools.matrix

conformance-suite: $(VENV)/dev
	@$(BIN)/python -m tools.suite dist

bench: $(VENV)/peers $(VENV)/compiled
	@KOSTER_PURE=0 $(BIN)/python -m benchmarks --write docs/_details/benchmarks.md

wheel: $(VENV)/dev
	@rm -rf dist
	@PIP_CONSTRAINT=constraints.txt $(BIN)/python -m build --outdir dist > $(VENV)/wheel.log 2>&1 || { cat $(VENV)/wheel.log; exit 1; }
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && wheel=$$(echo dist/*.whl) \
	  && $(BIN)/python -m venv "$$folder" \
	  && "$$folder/bin/python" -m pip install -qq $(CONSTRAINTS) "$$wheel[cli]" \
	  && "$$folder/bin/python" tests/packaging/check_wheel.py "$$wheel"

constraints:
	$(PYTHON) tools/constraints.py $(ORIGINALS) $(RAY) $(S3) $(PACK)

# What `make run` needs: the command, its libraries, and what compiles the hot modules, which is
# done after that, in place.
$(VENV)/installed: pyproject.toml setup.py constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "koster needs Python 3.11 or later; name one: make PYTHON=python3.12"; exit 1; }
	@echo "Setting up $(VENV) (once, about half a minute): installs and compiles koster"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) $(BUILD)
	@KOSTER_PURE=1 $(PIP) --no-build-isolation --editable '.[cli,http]'
	@touch $@

$(VENV)/compiled: $(VENV)/installed $(HOT)
	@$(BIN)/python setup.py -q build_ext --inplace > $(VENV)/build.log 2>&1 || { cat $(VENV)/build.log; exit 1; }
	@! grep '^koster: ' $(VENV)/build.log || echo 'It is slower; $(VENV)/build.log has what the compiler said.'
	@[ "$${KOSTER_PURE:-0}" != 0 ] || touch $@

# What `make test` needs besides, and the wheels that tests install into clean environments.
$(VENV)/dev: $(VENV)/installed | $(VENV)/compiled
	@echo "Installing what the tests need (once)"
	@$(PIP) --upgrade pip
	@$(PIP) --group dev
	@$(PIP) --no-deps $(ORIGINALS)
	@KOSTER_PURE=1 $(PIP) --no-build-isolation --editable '.[all]'
	@$(BIN)/python -m pip download -qq $(CONSTRAINTS) --dest $(VENV)/wheelhouse $(WHEELS)
	@touch $@

$(VENV)/spark: $(VENV)/dev
	KOSTER_PURE=1 $(ADD) --no-build-isolation --editable '.[spark]'
	$(ADD) $(S3) $(PACK)
	$(ADD) $(RAY) || echo "Ray does not install here: its call is not tested"
	@touch $@

# axe-core is one file, which checks a page for accessibility.
$(VENV)/browser: $(VENV)/dev
	$(ADD) --group browser
	npm install --silent --no-audit --no-fund --prefix $(VENV)/node axe-core@4 \
	  || echo "axe-core does not install here: its test says that it is skipped"
	@touch $@

$(VENV)/docs: $(VENV)/dev
	$(ADD) --group docs
	@touch $@

$(VENV)/fuzz: $(VENV)/dev
	$(ADD) --group fuzz
	@touch $@

$(VENV)/coverage: $(VENV)/dev
	$(ADD) --group coverage
	@touch $@

$(VENV)/mutation: $(VENV)/dev
	$(ADD) --group mutation
	@touch $@

$(VENV)/peers: $(VENV)/dev
	$(PIP) --group peers
	$(BIN)/python benchmarks/build_reppy.py || echo "reppy is not measured"
	@touch $@

clean:
	rm -rf $(VENV) .nox build dist site src/*.egg-info `find src -name "*.so"`

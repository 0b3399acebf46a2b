# The few commands people type. Each sets up what it needs: the checks in .venv-check, which is small, the rest in .venv.
# Needs GNU make 3.81, a POSIX shell and Python; on Windows run it in Git Bash, which brings the shell.
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := .venv/Scripts
else
PYTHON ?= python3
BIN := .venv/bin
endif
SMALL := $(BIN:.venv/%=.venv-check/%)
LARGE := $(BIN:.venv/%=.venv-torch/%)
CORE := attributes estimators kernels moments numerics solvers

.PHONY: help demo core check test test-slow test-matrix lint docs fuzz audit-dependencies mutation coverage \
	bench quick bench-compare bench-scale changelog dist clean

help:  ## List the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

NEW_ENOUGH = @$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fairpca needs Python 3.11 or newer; try make PYTHON=python3.12")'

PIP := -m pip --disable-pip-version-check install --quiet
EXTRAS := audit,dask,data,models,onnx,spark,tables

.venv/demo: pyproject.toml src/fairpca/__init__.py  # the version is in there
	$(NEW_ENOUGH)
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP) --upgrade pip  # an old one knows no dependency groups
	$(BIN)/python $(PIP) --editable '.[audit]'
	@touch $@

.venv/dev: .venv/demo paper/pyproject.toml
	$(BIN)/python $(PIP) --editable '.[$(EXTRAS)]' --editable ./paper --group dev
	@touch $@

.venv/docs: .venv/demo paper/pyproject.toml
	$(BIN)/python $(PIP) --editable '.[$(EXTRAS)]' --editable ./paper --group docs
	@touch $@

.venv-check/made: pyproject.toml src/fairpca/__init__.py paper/pyproject.toml
	$(NEW_ENOUGH)
	$(PYTHON) -m venv .venv-check
	$(SMALL)/python $(PIP) --upgrade pip
	$(SMALL)/python $(PIP) --editable . --group check
	$(SMALL)/python $(PIP) --no-deps --editable ./paper
	@touch $@

demo: .venv/demo  ## Audit 1,989 real mortgage applications: what they reveal, what it costs to change that
	@$(BIN)/fairpca audit --out demo/report.html --json demo/audit.json --force
	@echo "Open it in a browser: file://$(CURDIR)/demo/report.html"

check: .venv-check/made  ## After every edit: style, types, contracts and the core's tests (under a minute)
	@$(MAKE) --no-print-directory -j2 lint core

core: .venv-check/made
	FAIRPCA_EXAMPLES=10 $(SMALL)/python -m pytest -q --numprocesses=2 --dist worksteal $(CORE:%=tests/%) tests/test_architecture.py

test: .venv/dev lint  ## All checks: style, types, import contracts, tests (minutes)
	SCIPY_ARRAY_API=1 $(BIN)/python -m pytest --numprocesses=2 --dist worksteal

.PHONY: test-core
test-core:  ## The core's tests without and with few optional libraries, in small environments (minutes)
	$(PYTHON) tests/matrix.py bare newest --core

# TORCH_INDEX names an index with builds of torch for the CPU alone, which spares gigabytes on Linux.
.PHONY: test-torch
ON_TORCH := $(wildcard $(addprefix tests/,devices embeddings erasers/test_leace.py language_models models/test_to_torch.py \
	numerics/test_arrays.py rows/test_batches.py))
.venv-torch/made: pyproject.toml src/fairpca/__init__.py
	$(NEW_ENOUGH)
	$(PYTHON) -m venv .venv-torch
	$(LARGE)/python $(PIP) --upgrade pip
	$(if $(TORCH_INDEX),$(LARGE)/python $(PIP) torch==2.13.0 --index-url $(TORCH_INDEX))
	$(LARGE)/python $(PIP) --editable '.[models]' --group language
	@touch $@

test-torch: .venv-torch/made  ## The tests on torch and on embeddings of a language model, in .venv-torch (minutes)
	SCIPY_ARRAY_API=1 $(LARGE)/python -m pytest --numprocesses=2 --dist loadfile $(ON_TORCH)

test-slow: .venv/dev  ## The tests that take minutes, such as whole tables of the paper; more examples of properties
	FAIRPCA_SLOW=1 SCIPY_ARRAY_API=1 $(BIN)/python -m pytest --numprocesses=2 --dist worksteal -m slow
	FAIRPCA_EXAMPLES=100 SCIPY_ARRAY_API=1 $(BIN)/python -m pytest --numprocesses=2 --dist worksteal \
		$(CORE:%=tests/%) tests/metrics tests/tables

test-matrix: .venv/dev  ## The tests on the oldest and newest versions, and without any extra (an hour)
	$(BIN)/python tests/matrix.py --markdown out/matrix.md $(PYTHONS:%=--python %)

fuzz: .venv/dev  ## Damaged files and command lines, then new nasty data for every estimator (half an hour)
	FAIRPCA_FUZZ=10000 FAIRPCA_FUZZ_SEED=$(or $(SEED),1) $(BIN)/python -m pytest --numprocesses=2 tests/fuzzing/test_targets.py
	FAIRPCA_EXAMPLES=200 SCIPY_ARRAY_API=1 $(BIN)/python -m pytest --numprocesses=2 tests/robustness

audit-dependencies: .venv/dev  ## Known vulnerabilities of what is installed
	$(PYTHON) -m venv .venv-audit
	$(BIN:.venv/%=.venv-audit/%)/python $(PIP) pip-audit
	$(BIN:.venv/%=.venv-audit/%)/pip-audit --strict --skip-editable \
		--path "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

mutation: .venv/dev  ## Does a test fail for every change to the numerical core? out/mutation.txt (hours)
	$(BIN)/python $(PIP) mutmut
	@mkdir -p out
	$(BIN)/mutmut run
	$(BIN)/mutmut results > out/mutation.txt

coverage: .venv/dev  ## Which lines of the core no test runs: out/coverage
	$(BIN)/python $(PIP) pytest-cov
	SCIPY_ARRAY_API=1 $(BIN)/python -m pytest --numprocesses=2 --dist worksteal --cov=fairpca --cov-branch \
		--cov-report=html:out/coverage --cov-report=term-missing:skip-covered $(CORE:%=tests/%) tests/devices \
		tests/robustness tests/guarantees tests/clusters/test_dask.py

lint: .venv-check/made $(if $(wildcard .github),lint-github)  ## Style, types, import contracts, spelling, words, workflows
	$(SMALL)/ruff check .
	$(SMALL)/ruff format --check .
	$(SMALL)/mypy
	$(SMALL)/lint-imports
	$(SMALL)/codespell *.md benchmarks $(wildcard changes) docs examples paper src tests
	$(SMALL)/python tests/documentation/words.py

.PHONY: lint-github fix browser
SCHEMA = $(SMALL)/check-jsonschema --quiet --builtin-schema
lint-github: .venv-check/made
	$(SCHEMA) vendor.github-workflows .github/workflows/*.yml
	$(SCHEMA) custom.github-workflows-require-timeout .github/workflows/*.yml
	$(SCHEMA) vendor.github-actions action.yml
	$(SCHEMA) vendor.dependabot .github/dependabot.yml
	$(SCHEMA) vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(SCHEMA) vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(SCHEMA) vendor.citation-file-format --default-filetype yaml CITATION.cff
	$(SMALL)/zizmor --offline --quiet .github action.yml

fix: .venv-check/made  ## Auto-format, and fix what the linter can
	$(SMALL)/ruff check --fix .
	$(SMALL)/ruff format .

browser: .venv/dev  ## Chromium for the tests of the report, where there is none
	command -v chromium || $(BIN)/playwright install --with-deps chromium

docs: .venv/docs  ## The documentation site; runs every script of the gallery (minutes)
	FAIRPCA_DOCS_PROCESSES=2 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -b html docs docs/_build/html
	@echo "Open it in a browser: file://$(CURDIR)/docs/_build/html/index.html"

.PHONY: reproduce
reproduce: .venv/dev  ## A table or figure of the paper: make reproduce NAME=table-german; NAME=--list
	$(BIN)/fairpca-paper $(if $(NAME),$(NAME),--list)

.PHONY: release-notes github-release
release-notes:  ## What CHANGELOG.md says of the version; fails unless TAG is the version's tag
	@$(PYTHON) tests/release_notes.py "$$TAG"

github-release:  ## Make a release on GitHub of TAG and what is in dist/ (release.yml does it)
	$(PYTHON) tests/release_notes.py "$$TAG" "$$GITHUB_SERVER_URL/$$GITHUB_REPOSITORY/blob/$$TAG/" > release-notes.md
	gh release create "$$TAG" dist/* --verify-tag --title "fairpca $$TAG" --notes-file release-notes.md \
		$(if $(findstring rc,$(TAG)),--prerelease)

bench: .venv/dev  ## Speed and memory against others, row by row (8 minutes); make bench quick: one minute
	$(BIN)/python -m benchmarks $(if $(filter quick,$(MAKECMDGOALS)),--quick)

quick: bench

bench-compare: .venv/dev  ## What became slower since the run before the last; OLD=FILE names another
	$(BIN)/python -m benchmarks.compare $(OLD)

bench-scale: .venv/dev  ## Files larger than memory, Dask, growth (20 minutes, 6 GB of disk)
	$(BIN)/python -m benchmarks --scale
	$(BIN)/python -m benchmarks.growth

changelog: .venv/demo  ## Collect changes/ into CHANGELOG.md for the version of the package; DRAFT=1 only shows it
	$(BIN)/python $(PIP) towncrier
	$(BIN)/towncrier build $(if $(DRAFT),--draft,--yes)

dist:  ## What a release hands out, in dist/: build, check, try every extra (15 minutes); ONLY="bare audit"
	$(NEW_ENOUGH)
	$(PYTHON) tests/dist.py $(if $(ONLY),--only $(ONLY))

clean:  ## Remove the environments, caches and what was built
	rm -rf .venv .venv-audit .venv-check .venv-dist .venv-matrix .venv-torch demo .pytest_cache .ruff_cache .mypy_cache .hypothesis build dist \
		docs/_build docs/gallery docs/gallery_pages docs/reference/generated

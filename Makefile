# The front door. Each target installs what it needs, builds, runs; `make help` lists them.
JOBS ?= $(shell nproc)
PYTHON := .venv/bin/python
# The package is built in the tree of the program, by the tools in .venv.
INSTALL = $(PYTHON) -m pip -qq --disable-pip-version-check
CXX_FILES = git ls-files -co --exclude-standard '*.cpp' '*.h'
SHELL_FILES = .ci/run $(wildcard tools/*.sh)

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: help build package wheel demo test sanitize fuzz lint format bench bench-large bench-orders bench-refresh recipe results bench-programs test-aarch64 clean

help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

build: packages-build build/build.ninja ## Build the release program: build/gcbs (default)
	cmake --build build -j $(JOBS)

package: build .venv/build.stamp ## Build the Python package and install it into .venv
	$(INSTALL) install --no-build-isolation --no-deps -C build-dir=build .

wheel: build .venv/build.stamp .venv/wheel.stamp ## Build a wheel that other machines can install: dist/
	rm -rf build/wheel
	$(INSTALL) wheel --no-build-isolation --no-deps -C build-dir=build -w build/wheel .
	rm -f dist/gcbs-*.whl
	PATH="$(CURDIR)/.venv/bin:$$PATH" $(PYTHON) -m auditwheel repair -w dist build/wheel/gcbs-*.whl

demo: package .venv/demo.stamp ## Order real text pairs and show what the batches look like
	$(PYTHON) examples/demo.py --program build/gcbs --output build/demo

test: package packages-test packages-browser build/dev/build.ninja .venv/test.stamp .venv/package.stamp ## Run every test
	cmake --build build/dev -j $(JOBS)
	ctest --preset dev -j $(JOBS)
	GCBS_PROGRAM=$(CURDIR)/build/gcbs GCBS_BUILD=$(CURDIR)/build $(PYTHON) -m pytest -q tests

sanitize: packages-build packages-test build/asan/build.ninja build/tsan/build.ninja ## Run the C++ tests under ASan+UBSan, then TSan
	cmake --build build/asan -j $(JOBS)
	ctest --preset asan -j $(JOBS)
	cmake --build build/tsan -j $(JOBS)
	ctest --preset tsan -j $(JOBS)

fuzz: packages-build packages-test build/fuzz/build.ninja ## Fuzz each file parser for 60 s
	cmake --build build/fuzz -j $(JOBS) --target fuzzers
	ctest --test-dir build/fuzz -R '^fuzz_' -j $(JOBS) --no-tests=error --output-on-failure

lint: packages-build packages-test packages-lint build/dev/build.ninja .venv/lint.stamp ## Check formatting, clang-tidy, ruff, shell
	$(CXX_FILES) | xargs clang-format-14 --dry-run -Werror
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	for file in $(SHELL_FILES); do bash -n $$file || exit 1; done
	run-clang-tidy-14 -quiet -j $(JOBS) -p build/dev '^$(CURDIR)/(src|cli)/'

format: packages-lint .venv/lint.stamp ## Format all C++ and Python
	$(CXX_FILES) | xargs clang-format-14 -i
	.venv/bin/ruff format .

bench: bench-programs ## Measure kernels and pipeline against their peers
	$(PYTHON) bench/run.py
	$(PYTHON) tools/render_benchmarks.py

bench-large: bench-programs ## Measure the largest sizes, without peers (hours)
	$(PYTHON) bench/run.py --large
	$(PYTHON) tools/render_benchmarks.py

bench-orders: bench-programs ## Measure how much of the gap each order closes (an hour)
	$(PYTHON) bench/orders.py

bench-refresh: package bench-programs .venv/recipes.stamp ## Measure what starting from the last epoch's order saves
	$(PYTHON) bench/refresh.py

recipe: package .venv/recipes.stamp ## Train with and without gcbs: NAME=code-search|sentences|vision [METHODS=...] [SEEDS=...] [DATA=dir]
	$(PYTHON) -m recipes $(NAME) $(if $(METHODS),--methods "$(METHODS)") $(if $(SEEDS),--seeds $(SEEDS)) $(if $(DATA),--data $(DATA))

results: .venv/recipes.stamp ## Write docs/results.md from recipes/results/
	$(PYTHON) -m recipes.render

bench-programs: build packages-bench build/bench/build.ninja .venv/bench.stamp
	cmake --build build/bench -j $(JOBS)

test-aarch64: build packages-test packages-aarch64 build/aarch64/build.ninja .venv/test.stamp ## Cross-build, test under qemu, compare bytes
	cmake --build build/aarch64 -j $(JOBS)
	ctest --test-dir build/aarch64 -j $(JOBS) --no-tests=error --output-on-failure
	tools/compare_aarch64.sh

clean: ## Remove what was built (the .venv stays)
	rm -rf build

# What the targets above rest on: Debian packages, the virtual environment, configured build trees.
packages-%:
	@tools/install_packages.sh $*

.venv/%.stamp: tools/requirements-%.txt tools/constraints.txt | packages-python
	tools/make_venv.sh $*

build/build.ninja: CMakePresets.json
	cmake --preset release

build/%/build.ninja: CMakePresets.json
	cmake --preset $*

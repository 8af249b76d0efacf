# Every goal does all set-up itself: system packages (tools/setup), the virtual environment, the build. A second run
# only checks. The builds are those of CMakePresets.json.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 3600
PYTHON ?= python3
ARGS ?=
# The gate sets this to tools/run_again: tests that fail are run again.
AGAIN ?=

.NOTPARALLEL:
.PHONY: all test browser demo bench wheel install-python test-frameworks fuzz format tidy install clean help package-on setup setup-openvino setup-dev setup-browser setup-bench setup-python

all: build/build.ninja  ## build in release mode; the command is then build/bin/sonde
	@cmake --build build

test: build/build.ninja setup-python package-on  ## build and run all tests
	@cmake --build build --target all tests
	@$(AGAIN) ctest --preset release --parallel $$(nproc)

browser: build/build.ninja setup-browser  ## test the page in chromium; ARGS="metrics live" are files of tests/browser
	@cmake --build build --target all page_logs
	@$(AGAIN) tests/browser/run $(ARGS)

demo: all  ## train a small network, recorded; ARGS="..." are the arguments of `sonde demo`
	@build/bin/sonde demo $(ARGS)

bench: build/build.ninja setup-bench setup-python  ## measure, also against other libraries; writes bench/results.md; ARGS=--torch adds torch
	@grep -q '^SONDE_BENCH:BOOL=ON' build/CMakeCache.txt || cmake --preset release -DSONDE_BENCH=ON
	@cmake --build build --target all benches page_logs
	@bench/run $(ARGS)

wheel: build/build.ninja setup-python package-on  ## build the Python package; the wheel is then in build/wheel
	@tools/wheel

install-python: wheel  ## install the Python package into the environment of PYTHON=python3
	@$(PYTHON) -m pip install --disable-pip-version-check --force-reinstall --no-deps build/wheel/sonde-*.whl

test-frameworks: wheel  ## test the Python package with torch, TensorFlow and JAX, which it installs (6 GB); ARGS="keras@jax" are its files
	@tools/setup frameworks
	@$(AGAIN) python/tests/run_frameworks $(ARGS)

fuzz: build-asan/build.ninja  ## run every fuzzer, FUZZ_SECONDS=3600 in all
	@cmake --build --preset fuzz
	@tools/fuzz --total $(FUZZ_SECONDS)

format: setup-dev  ## format the sources in place
	@tools/check_format --fix

tidy: build/build.ninja setup-dev  ## look for likely mistakes with clang-tidy
	@tools/check_tidy --all

install: all  ## install headers, library and command under PREFIX=/usr/local
	@cmake --install build --prefix "$(PREFIX)"

clean:  ## remove every build folder
	rm -rf build build-* web/node_modules

help:  ## list the goals
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/make \1\t\2/p' Makefile | expand -t 24

# The package needs nanobind, which comes with the Python environment.
package-on: build/build.ninja setup-python
	@grep -q '^SONDE_PACKAGE:BOOL=ON' build/CMakeCache.txt || cmake --preset release -DSONDE_PACKAGE=ON

build/build.ninja: | setup setup-openvino
	@cmake --preset release

build-asan/build.ninja: | setup setup-dev
	@cmake --preset asan

setup:
	@tools/setup build

setup-openvino: setup
	@tools/setup openvino

setup-dev:
	@tools/setup dev

setup-browser: setup
	@tools/setup browser

setup-bench: setup
	@tools/setup bench

setup-python: setup
	@tools/setup python

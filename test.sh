#!/usr/bin/env bash
# Installs what the tests need, then runs every check and every test. Exits 0 when all of them pass.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$*"; }

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# The tests start their own servers on loopback, with a clock they can move: a shim built with the system's C compiler.
need() { # need COMMAND PACKAGE
    command -v "$1" >/dev/null 2>&1 && return
    command -v apt-get >/dev/null 2>&1 || { echo "test.sh: please install $2 (for $1)" >&2; exit 1; }
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get update -qq
    as_root apt-get install -y -qq --no-install-recommends "$2"
}

step "what the tests need"
need redis-server redis-server
need cc gcc
need python3 python3
python3 -m pip --version >/dev/null 2>&1 || need pip3 python3-pip
redis-server --version
./tests/fetch-servers.sh

# Most tests wait for leases, processes and servers: more of them than cores may run at once.
export RUST_TEST_THREADS="${RUST_TEST_THREADS:-6}"
export RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings"

step "format"
cargo fmt --all --check

step "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings
cargo clippy -p dtq --no-default-features --locked -- -D warnings
cargo clippy -p dtq --all-features --all-targets --locked -- -D warnings

step "examples"
cargo build --workspace --examples --bins --locked

step "unit, conformance and end-to-end tests"
cargo test --workspace --lib --bins --tests --locked

# Once more on Redis, with each task in a block of records, as those of batches are.
DTQ_TEST_ROWS=1 cargo test -p dtq-tests --test it --locked -- redis:: --skip worker:: --skip program:: --skip settlement::

step "doc tests"
cargo test --workspace --doc --all-features --locked

step "documentation"
cargo doc --workspace --no-deps --all-features --locked

step "all checks passed"

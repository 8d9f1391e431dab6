#!/usr/bin/env bash
# Tests the simulator with Apple's Python library, in production and in the sandbox.
# The library must verify everything that the simulator signs, of every type and subtype. Every method of its client
# must succeed, and Apple's errors must arrive as the library's exceptions. Needs Python 3 with venv, and PyPI on the
# first run: the library stays in .build/peer.
#
#   scripts/check peer    exits with 0 if all checks pass
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

need_swift
need_packages "${build_packages[@]}"
# Debian ships venv as a separate package.
python3 -c "import ensurepip, venv" 2>/dev/null || need_packages python3 python3-venv
cd "$root"

build_programs appstore-simulator

venv=$root/.build/peer
if ! cmp -s scripts/checks/peer/requirements.txt "$venv/installed.txt"; then
  say "Installing Apple's library"
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r scripts/checks/peer/requirements.txt
  cp scripts/checks/peer/requirements.txt "$venv/installed.txt"
fi

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-peer.XXXXXX")
clean_up_at_exit
say "Checking the simulator with Apple's library"
PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" scripts/checks/peer/check.py "$bin/appstore-simulator" "$temporary"

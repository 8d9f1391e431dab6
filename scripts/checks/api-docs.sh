#!/usr/bin/env bash
# Runs every command of docs/api.md and compares its output and exit status with the page.
# The simulator answers the commands.
#
#   scripts/check api-docs            exits with 0 if they agree
#   scripts/check api-docs --write    writes the output into the page
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

case "${1:-}" in
'' | --write) ;;
*) usage "[--write]" ;;
esac
need_packages jq python3
cd "$root"

need_programs
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-api-docs.XXXXXX")
clean_up_at_exit
python3 scripts/checks/api-docs/check.py "$bin" "$temporary" docs/api.md "$@"

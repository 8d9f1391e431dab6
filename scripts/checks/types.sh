#!/usr/bin/env bash
# Checks that the types of Apple's objects are as the pages in Sources/AppStore/Fields say.
#
#   scripts/check types            exits with 0 if they agree
#   scripts/check types --write    writes the types
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

case "${1:-}" in
'' | --write) ;;
*) usage "[--write]" ;;
esac
need_packages python3
python3 -B "$root/scripts/checks/types/generate.py" "$@"

#!/usr/bin/env bash
# Explores every run of a model of the commit protocol (docs/model) with Spin.
# No run may lose an event, publish one twice, or wait for ever. Without any one of the rules that the model names there
# must be such a run, or the model proves nothing.
#
#   scripts/check model            a late request, and a lane that moves; half a minute
#   scripts/check model --full     also crashes, a lane that moves, and a transaction that times out; about 10 minutes
#                                  and 8 GB of memory
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

full=false
case "${1:-}" in
'') ;;
--full) full=true ;;
*) usage "[--full]" ;;
esac

need_packages spin gcc libc6-dev
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-model.XXXXXX")
clean_up_at_exit
cd "$temporary"

# explore NAME OPTION... sets `errors` and `states` to the numbers of a search. The rest of its report is in NAME.log.
explore() {
  local name=$1
  spin "${@:2}" -a "$root/docs/model/transactions.pml" >"$name.log" || die "$(tail -n 1 "$name.log")"
  gcc -O2 -w -DSAFETY -DCOLLAPSE -DVECTORSZ=2048 -DMEMLIM=8000 -o "$name" pan.c
  # The depth of the search, and 2^26 places in its table.
  "./$name" -m1000000 -w26 >>"$name.log" || die "the search of $name failed: $(tail -n 1 "$name.log")"
  grep -q 'Search not completed' "$name.log" && [ "$(errors_of "$name")" = 0 ] && die "the search of $name was not complete"
  errors=$(errors_of "$name")
  states=$(sed -nE 's/^ *([0-9.e+]+) states, stored$/\1/p' "$name.log")
}
errors_of() { sed -nE 's/.*errors: ([0-9]+)$/\1/p' "$1.log"; }

report() { printf '%-52s %12s states, %s errors\n' "$1" "$states" "$errors"; }

# holds NAME OPTION... requires that no run breaks a promise.
holds() {
  explore "$@"
  report "$1"
  [ "$errors" = 0 ] || {
    tail -n 30 "$1.log" >&2
    die "the model has a run that breaks a promise"
  }
}

# breaks NAME OPTION... requires that a run does.
breaks() {
  explore "$@"
  report "$1"
  grep -q 'assertion violated' "$1.log" || die "$1: the model has no run that breaks a promise"
}

late=(-DCRASHES=0 -DMOVES=0 -DTIMEOUTS=0) move=(-DCRASHES=0 -DTIMEOUTS=0 -DLATE=0)
holds "a late request" "${late[@]}"
holds "a lane that moves" "${move[@]}"
first=(-DTIMEOUTS=0 -DLANES_FIRST)
holds "a crash, with lanes before the take-over" -DCRASHES=1 -DMOVES=0 -DLATE=0 "${first[@]}"
if $full; then
  holds "a late request and two crashes" -DMOVES=0 -DTIMEOUTS=0
  holds "a late request, a lane that moves, a time-out" -DCRASHES=0
  holds "a late request, a crash, a lane that moves" -DCRASHES=1 -DTIMEOUTS=0
  holds "a late request, a crash, lanes before the take-over" -DCRASHES=1 -DMOVES=0 "${first[@]}"
  holds "two crashes, a move, lanes before the take-over" -DLATE=0 "${first[@]}"
fi
breaks "a late request, without the rule about it" "${late[@]}" -DNO_RULE
breaks "a lane that moves, without generations" "${move[@]}" -DNO_FENCE
breaks "a lane that moves, without waiting" "${move[@]}" -DNO_WAIT

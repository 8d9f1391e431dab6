#!/usr/bin/env bash
# Kills and restarts the processes of a worker and checks that nothing is lost or done twice.
#
# - It kills processes with SIGKILL at random moments, also while the worker has a backlog and a ledger of several
#   pages, and restarts three processes in turn under load. No notification may be lost. Each event must have one ce_id,
#   each notification must be done in the ledger, and each timer must fire. Each effect needs at least one call, and all
#   its calls must have the same bytes.
# - A handler kills its own process. The third time its record becomes a dead letter, and an operator requeues it.
# - An operator uses the command line next to a running worker: lists, shows, requeues and discards dead letters, two
#   operators requeue the same one, and ranges of records are replayed with and without --reapply. The audit log must
#   have all of it.
#
#   scripts/scenario crash               about two minutes; prints the random seed
#   scripts/scenario crash --seed 7      repeats the notifications and moments of a seed
#   scripts/scenario crash --rounds 40   more rounds (default 10)
#
# With KAFKA_BOOTSTRAP_SERVERS=host:port workers commit in transactions, and each event must be read exactly once.
# Processes are also paused for longer than their transaction, and must not commit that work after they resume. Without
# it the script uses the embedded cluster, where workers commit at least once.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

seed=$RANDOM rounds=10
while [ $# -gt 0 ]; do
  case "$1" in
  --seed | --rounds)
    [ $# -ge 2 ] || die "$1 needs a number"
    if [ "$1" = --seed ]; then seed=$2; else rounds=$2; fi
    shift 2
    ;;
  *) usage "[--seed N] [--rounds N]" ;;
  esac
done

need_swift
need_packages "${build_packages[@]}"
cd "$root"

build_programs millrace millrace-scenarios

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-crash.XXXXXX")
clean_up_at_exit

# crash NAME ARGUMENTS... runs millrace-scenarios as a child, so that a signal to this script stops its processes too.
crash() {
  local status=0
  "$bin/millrace-scenarios" crash "${@:2}" --seed "$seed" --programs "$bin" --topics "$root/topics" \
    --directory "$temporary/$1" &
  children=($!)
  wait "$!" || status=$?
  children=()
  [ "$status" -eq 0 ] || {
    # Keep the logs of the processes.
    rm -rf "$root/.build/crash"
    cp -r "$temporary" "$root/.build/crash"
    die "the checks failed; repeat with --seed $seed; configurations and logs are in .build/crash"
  }
}

if [ -n "${KAFKA_BOOTSTRAP_SERVERS:-}" ]; then
  say "With transactions on KAFKA_BOOTSTRAP_SERVERS: kill -9, also with a backlog, rolling restarts, a handler that kills its process, an operator, paused processes; seed $seed"
  crash real kill backlog rolling poison operate zombie --rounds "$rounds" --limit 900 \
    --bootstrap-servers "$KAFKA_BOOTSTRAP_SERVERS"
  say "Pauses of lanes when a process is killed and restarted, restarted in turn, or lost"
  crash pauses restart-pauses --rounds 1 --limit 400 --bootstrap-servers "$KAFKA_BOOTSTRAP_SERVERS"
else
  say "At least once on the embedded cluster: kill -9, also with a backlog, rolling restarts, a handler that kills its process, an operator; seed $seed"
  crash embedded kill backlog rolling poison operate --rounds "$rounds" --limit 230
  note "skipped: rounds with transactions: set KAFKA_BOOTSTRAP_SERVERS"
fi

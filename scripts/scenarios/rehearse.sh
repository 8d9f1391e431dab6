#!/usr/bin/env bash
# Rehearses an outage of Apple's API and a wave of refunds with real processes.
# The processes are Kafka, the ingress, a simulated App Store, and one process of each worker, then two, of which one is
# killed with SIGKILL and replaced. A quarter of a mass extension fails, for every documented reason, while Apple's API
# is down, answers 429, and loses responses and connections. Refunds, reversals and declined refunds arrive with
# duplicates, late, and also in version 1. The script compares the results with the simulator's state. Then it replays
# all records, and the workers must not call Apple. They may publish only events that a changed handler decides
# differently.
#
# The simulated Apple recognizes successful requests by their requestIdentifier (`server.remembers: successes`).
#
#   scripts/scenario rehearse            about a minute; prints the random seed
#   scripts/scenario rehearse --full     2 000 subscriptions, at most four minutes per run; also checks the use of the
#                                        budget
#   scripts/scenario rehearse --wave     10 000 refunds with transactions, on the cluster of KAFKA_BOOTSTRAP_SERVERS
#   scripts/scenario rehearse --seed 7   repeats the run of a seed
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

seed=$RANDOM options=(--size 240 --refunds 120 --limit 240)
while [ $# -gt 0 ]; do
  case "$1" in
  --full)
    options=(--size 2000 --refunds 600 --limit 400 --judge-budget)
    shift
    ;;
  --wave)
    [ -n "${KAFKA_BOOTSTRAP_SERVERS:-}" ] || die "--wave exceeds the capacity of the embedded cluster: set KAFKA_BOOTSTRAP_SERVERS"
    options=(--size 240 --refunds 10000 --limit 480 --bootstrap-servers "$KAFKA_BOOTSTRAP_SERVERS")
    shift
    ;;
  --seed)
    [ $# -ge 2 ] || die "--seed needs a number"
    seed=$2
    shift 2
    ;;
  *) usage "[--full | --wave] [--seed N]" ;;
  esac
done

need_swift
need_packages "${build_packages[@]}"
cd "$root"

build_programs millrace millrace-ingress millrace-renewal-extensions millrace-refunds millrace-scenarios

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-rehearse.XXXXXX")
clean_up_at_exit

say "An outage and a wave of refunds, with one of each worker and with two"
status=0
# A child process, so that a signal to this script stops its processes too.
"$bin/millrace-scenarios" rehearse "${options[@]}" --seed "$seed" --programs "$bin" --topics "$root/topics" \
  --directory "$temporary" &
children=($!)
wait "$!" || status=$?
children=()
[ "$status" -eq 0 ] || {
  # Keep the logs of the processes.
  rm -rf "$root/.build/rehearse"
  cp -r "$temporary" "$root/.build/rehearse"
  die "the checks failed; repeat with --seed $seed; configurations and logs are in .build/rehearse"
}

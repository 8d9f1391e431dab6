#!/usr/bin/env bash
# Kills, pauses and restarts the nodes of a Kafka cluster under load.
# The script posts 40 notifications per second to a real ingress with three processes of a worker, two of them static
# members. Meanwhile it kills, pauses for 15 s and restarts the nodes of a three-node cluster. Then it pauses the group's
# coordinator for 29 s, which is longer than every session. It prints the ingress's responses for each fault. Every
# notification that was answered 200 must be in Kafka and handled once, no response may be late, and no process may exit.
# With --outage it kills all nodes at once for 29 s instead, and a second process with the name of a static member starts
# before that. One of the two must end, with status 76, and every other process must be back.
#
#   scripts/scenario faults                5 pauses; about eight minutes
#   scripts/scenario faults --pauses 30    more pauses
#   scripts/scenario faults --outage       the outage of all nodes; about three minutes
#   scripts/scenario faults --seed 7       repeats the notifications of a seed
#
# Starts an installed Apache Kafka (scripts/kafka). Exits with 3 if there is none.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

seed=$RANDOM pauses=5 scenario=faults
while [ $# -gt 0 ]; do
  if [ "$1" = --outage ]; then
    scenario=outage
    shift
    continue
  fi
  [ $# -ge 2 ] || die "$1 needs a number"
  case "$1" in
  --seed) seed=$2 ;;
  --pauses) pauses=$2 ;;
  *) usage "[--pauses N | --outage] [--seed N]" ;;
  esac
  shift 2
done

need_swift
need_packages "${build_packages[@]}" python3
cd "$root"
scripts/kafka found >/dev/null

build_programs millrace millrace-ingress millrace-scenarios

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-faults.XXXXXX")
clean_up_at_exit
start_kafka "$temporary/kafka" --nodes 3

say "Three nodes under load, $pauses pauses, seed $seed"
status=0
"$bin/millrace-scenarios" crash "$scenario" --rounds "$pauses" --seed "$seed" --limit $((1000 + pauses * 60)) --programs "$bin" \
  --topics "$root/topics" --directory "$temporary/run" --nodes "$temporary/kafka" --kafka "$root/scripts/kafka" \
  --bootstrap-servers "$kafka_servers" &
run=$!
children+=("$run")
wait "$run" || status=$?
[ "$status" -eq 0 ] || {
  # Keep the logs of the processes and nodes.
  rm -rf "$root/.build/faults"
  cp -r "$temporary/run" "$root/.build/faults"
  mkdir "$root/.build/faults/kafka"
  cp "$temporary"/kafka/node*.{log,out} "$root/.build/faults/kafka"
  die "the checks failed; repeat with --seed $seed; configurations and logs are in .build/faults"
}

#!/usr/bin/env bash
# Compares the models of Kafka and librdkafka, on which the simulation relies, with the real ones.
# Plays the schedules of Simulation/Program/Schedules on the models and on three nodes of an installed Kafka, which the
# clients reach through a proxy that makes requests late. Both have to report what the schedule says: the error of each
# call, and the records that a reader of committed ones then finds. About five minutes.
#
#   scripts/check models                  plays every schedule
#   scripts/check models --only TEXT      plays those whose names contain a text
#
# Starts an installed Apache Kafka (scripts/kafka). Exits with 3 if there is none, or no ../shared/tools/kafka-delay.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

words=()
if [ $# -gt 0 ]; then
  { [ $# -eq 2 ] && [ "$1" = --only ]; } || usage "[--only TEXT]"
  words=("$@")
fi

need_swift
need_packages "${build_packages[@]}" python3
cd "$root"

say "Playing the schedules on the models"
# Prints why and ends if this machine cannot run it.
scripts/simulate --schedules "${words[@]}"
[ -x .build/debug/millrace-simulate ] || exit 0

proxy=../shared/tools/kafka-delay
[ -f "$proxy" ] || {
  note "skipped: schedules on a real Kafka: no ../shared/tools/kafka-delay"
  exit 3
}
scripts/kafka found >/dev/null

say "Playing the schedules on three nodes"
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-models.XXXXXX")
clean_up_at_exit
# Clients reach the nodes through the proxy, which listens on 127.0.0.2. The nodes reach each other directly.
start_kafka "$temporary/kafka" --nodes 3 --set inter.broker.listener.name=INNER \
  --set 'listeners=PLAINTEXT://127.0.0.1:{port},INNER://127.0.0.1:{second},CONTROLLER://127.0.0.1:{control}' \
  --set 'advertised.listeners=PLAINTEXT://127.0.0.2:{port},INNER://127.0.0.1:{second}' \
  --set 'listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,INNER:PLAINTEXT' \
  --set broker.session.timeout.ms=3000 --set broker.heartbeat.interval.ms=500
mkdir "$temporary/play"
python3 -B scripts/checks/models/play.py --nodes "$temporary/kafka" --proxy "$proxy" --directory "$temporary/play" \
  --kafka scripts/kafka -- .build/debug/millrace-simulate --schedules "${words[@]}"

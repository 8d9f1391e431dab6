#!/usr/bin/env bash
# Delays the requests of transactions on their way to Kafka, and checks that no transaction is torn.
# A proxy between the workers and the three nodes of a Kafka holds a request, resets its connection, and delivers the
# request one to eight steps later, when the producer has repeated it and gone on: a network can do that. A late EndTxn
# would end the next transaction of its epoch, and an event would be lost, or published twice.
#
# Behind the proxy run the loads of `scripts/scenario crash` (rolling restarts and kills), with their findings. The seed
# chooses the requests and the steps. The runs hold EndTxn, or all kinds of requests. At least 100 requests are held. At
# least 30 EndTxn arrive after an answer of the next transaction, and every one of them must be refused. There must be no
# finding, a new producer for nine of ten held requests, and no rejoin. The last run is a control: without the rule
# (CRASH_IGNORE_UNANSWERED=1, which only the worker of the crash scenarios reads) there must be a finding within 100 held
# requests. --held also plays `scripts/scenario rehearse` behind the proxy, delays Produce alone and InitProducerId, and
# releases requests after a time.
#
#   scripts/scenario torn                  about three minutes; prints the random seed
#   scripts/scenario torn --seed 7         repeats the runs of a seed
#   scripts/scenario torn --held 1700      goes on until so many requests were held with these versions of Kafka and
#                                          librdkafka. It adds each run to .build/torn/results.jsonl, and can be stopped
#                                          and started again; --most N ends it after N runs
#   scripts/scenario torn --sum            prints the sums of .build/torn/results.jsonl for each pair of versions
#   scripts/scenario torn --control        only the control
#   scripts/scenario torn --kind KIND      one run: none, EndTxn, 'all kinds', Produce or InitProducerId; with other loads:
#                                          --loads rolling,kill,backlog,rehearse
#   scripts/scenario torn --librdkafka V   with the librdkafka in version V of PyPI's confluent-kafka (such as 2.8.0), or
#                                          `newest`; it is kept in .build/librdkafka. LD_LIBRARY_PATH also works
#
# Starts an installed Apache Kafka (scripts/kafka). Exits with 3 if there is none, or no ../shared/tools/kafka-delay.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

seed=$RANDOM library='' words=()
while [ $# -gt 0 ]; do
  case "$1" in
  --control | --sum) words+=("$1") ;;
  --seed | --held | --most | --kind | --loads | --librdkafka)
    [ $# -ge 2 ] || die "$1 needs a value"
    case "$1" in
    --seed) seed=$2 ;;
    --librdkafka) library=$2 ;;
    *) words+=("$1" "$2") ;;
    esac
    shift
    ;;
  *) usage "[--seed N] [--held N [--most N] | --control | --kind KIND [--loads LIST] | --sum] [--librdkafka VERSION]" ;;
  esac
  shift
done

cd "$root"
proxy=../shared/tools/kafka-delay results=.build/torn/results.jsonl
need_packages python3
case " ${words[*]-} " in *' --sum '*) exec python3 -B scripts/scenarios/torn/play.py --sum --seed 0 --results "$results" ;; esac
[ -f "$proxy" ] || {
  note "skipped: late requests of transactions: no ../shared/tools/kafka-delay"
  exit 3
}
need_swift
need_packages "${build_packages[@]}"
scripts/kafka found >/dev/null

build_programs millrace millrace-ingress millrace-refunds millrace-renewal-extensions millrace-scenarios

# use_librdkafka VERSION lets the programs load a librdkafka of PyPI.
use_librdkafka() {
  local place=$root/.build/librdkafka/$1 wanted=confluent-kafka
  [ "$1" = newest ] || wanted+="==$1"
  if [ ! -e "$place/librdkafka.so.1" ]; then
    rm -rf "$place"
    mkdir -p "$place"
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$place" "$wanted" ||
      die "could not get $wanted from PyPI"
    python3 -m zipfile -e "$place"/*.whl "$place"
    ln -s "$(cd "$place" && ls confluent_kafka.libs/librdkafka*.so*)" "$place/librdkafka.so.1"
  fi
  export LD_LIBRARY_PATH=$place${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}
[ -z "$library" ] || use_librdkafka "$library"

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-torn.XXXXXX")
clean_up_at_exit
mkdir -p .build/torn
# Workers reach the nodes through the proxy, which listens on 127.0.0.2. The nodes reach each other directly.
start_kafka "$temporary/kafka" --nodes 3 --set inter.broker.listener.name=INNER \
  --set 'listeners=PLAINTEXT://127.0.0.1:{port},INNER://127.0.0.1:{second},CONTROLLER://127.0.0.1:{control}' \
  --set 'advertised.listeners=PLAINTEXT://127.0.0.2:{port},INNER://127.0.0.1:{second}' \
  --set 'listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,INNER:PLAINTEXT'

say "Late requests of transactions, seed $seed"
status=0
mkdir "$temporary/runs"
python3 -B scripts/scenarios/torn/play.py --seed "$seed" --results "$results" --directory "$temporary/runs" \
  --programs "$bin" --topics "$root/topics" --proxy "$proxy" --nodes "$temporary/kafka" "${words[@]}" &
play=$!
children+=("$play")
wait "$play" || status=$?
[ "$status" -eq 0 ] || {
  # Keep the logs of the runs with findings, and of the nodes.
  rm -rf .build/torn/failed
  cp -r "$temporary/runs" .build/torn/failed
  cp "$temporary"/kafka/node*.{log,out} .build/torn/failed
  die "the checks failed; repeat with --seed $seed; journals and logs are in .build/torn/failed"
}

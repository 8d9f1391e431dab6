#!/usr/bin/env bash
# Forwards an hour of notifications to an old receiver that is slow and fails.
# A simulated App Store posts notifications of both versions to the ingress. One or two millrace-forward processes
# forward them to this receiver, and to one that does not exist. If there are two, one stops in the middle. The receiver
# must get every body byte for byte, version 1 with its password, in the order of its key. `millrace compare` must
# confirm that. Then the script replays all records, and the remaining worker must not post anything.
#
#   scripts/check forward                       runs with one worker, then with two, and prints the throughput
#   scripts/check forward --workers 2 --seed 7  runs only with this number of workers, 1 or 2
#
# With KAFKA_BOOTSTRAP_SERVERS=host:port it runs on a real cluster, with transactions, and with kill -9 instead of
# SIGTERM: only transactions keep the order after a crash.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

need_swift
need_packages "${build_packages[@]}" python3 curl kcat
cd "$root"
seed=1 workers=''
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || die "$1 needs a number"
  case "$1" in
  --seed) seed=$2 ;;
  --workers) workers=$2 ;;
  *) usage "[--workers 1|2] [--seed N]" ;;
  esac
  shift 2
done
if [ -z "$workers" ]; then
  for workers in 1 2; do scripts/check forward --workers "$workers" --seed "$seed"; done
  exit
fi
[ "$workers" = 1 ] || [ "$workers" = 2 ] || die "--workers must be 1 or 2, not $workers"

build_programs millrace millrace-ingress millrace-forward appstore-simulator millrace-scenarios

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-forward.XXXXXX")
clean_up_at_exit
config=$temporary/millrace.yaml taken=$temporary/taken.jsonl
demo() { "$bin/millrace-scenarios" demo "$1" --directory "$temporary" "${@:2}"; }

say "Starting the receiver, a Kafka cluster and the ingress"
start "$temporary/receiver.log" python3 scripts/checks/old-receiver.py "$temporary/port" "$taken" "$seed"
wait_for_file "$temporary/port" "$!" 120 || { cat "$temporary/receiver.log" >&2; die "the receiver did not start"; }
export MILLRACE_TOPICS_DIRECTORY=$root/topics MILLRACE_TOPICS_LANES=4 MILLRACE_KAFKA_DURABILITY=relaxed
# forward-gone posts to a port without a listener.
export MILLRACE_WORKERS='{
  forward-old: {retryDelays: [200ms, 1s], maximumAttempts: 1000, settings: {refusedAttempts: 1000}},
  forward-gone: {settings: {url: "http://127.0.0.1:1/"}}}'
MILLRACE_WORKERS_FORWARD_OLD_SETTINGS_URL="http://127.0.0.1:$(cat "$temporary/port")/apple"
export MILLRACE_WORKERS_FORWARD_OLD_SETTINGS_URL
signal=TERM
if [ -n "${KAFKA_BOOTSTRAP_SERVERS:-}" ]; then
  signal=KILL
  # A short session, so that the group notices a killed process soon.
  export MILLRACE_KAFKA_PROPERTIES='{session.timeout.ms: 6000, heartbeat.interval.ms: 500}'
fi
use_cluster forward
demo prepare --bootstrap-servers "$bootstrap" --topics "$root/topics" >/dev/null
start "$temporary/ingress.log" "$bin/millrace-ingress" --config "$config"
demo wait-ready || { cat "$temporary/ingress.log" >&2; die "the ingress did not become ready"; }
ingress=$(sed -n 's/^ingress: { host: \(.*\), port: \(.*\) }.*/http:\/\/\1:\2/p' "$config")

say "Simulating an hour of the App Store in six seconds, with $workers worker(s)"
forward() {
  # A path of its own, by which the receiver knows the process.
  MILLRACE_WORKERS_FORWARD_OLD_SETTINGS_URL=$MILLRACE_WORKERS_FORWARD_OLD_SETTINGS_URL/$1 \
    MILLRACE_WORKERS_FORWARD_OLD_SETTINGS_RESTORE_PASSWORD=true MILLRACE_ADMIN_PORT=$2 \
    start "$temporary/forward-$1.log" "$bin/millrace-forward" --config "$config"
}
if [ "$workers" -eq 2 ]; then
  forward 1 0
  first=$!
fi
metrics=$(free_port)
forward 2 "$metrics"
began=$SECONDS
start "$temporary/simulator.log" "$bin/appstore-simulator" run scenarios/demo.yaml --seed "$seed" \
  --chain "$temporary/chain.pem" --target "$ingress/v2" --target-v1 "$ingress/v1" \
  --shared-secret "$temporary/shared-secret" --write-sent "$temporary/sent.jsonl"
simulator=$!

# bodies FILE prints the distinct bodies that Apple posted successfully, sorted.
bodies() {
  python3 -c '
import json, sys
for line in sys.stdin:
    attempt = json.loads(line)
    if attempt.get("status") == 200: print(attempt["body"])' <"$1" | sort -u
}
# until_taken COUNT waits until the receiver has this many bodies.
until_taken() {
  local end=$((SECONDS + 120))
  until [ -e "$taken" ] && [ "$(sort -u "$taken" | wc -l)" -ge "$1" ]; do
    [ "$SECONDS" -lt "$end" ] || {
      tail -n 20 "$temporary"/forward-*.log >&2
      die "the receiver has $(sort -u "$taken" | wc -l) of $1 bodies after two minutes"
    }
    sleep 0.2
  done
}
if [ "$workers" -eq 2 ]; then
  until_taken 20
  kill "-$signal" "$first"
  wait "$first" 2>/dev/null || [ "$signal" = KILL ] || die "millrace-forward ended with status $? after SIGTERM"
fi
wait "$simulator" || { cat "$temporary/simulator.log" >&2; die "the simulator ended with an error"; }
bodies "$temporary/sent.jsonl" >"$temporary/posted"
count=$(wc -l <"$temporary/posted")
until_taken "$count"
took=$((SECONDS - began))

say "Comparing the receiver's bodies with Apple's"
sort -u "$taken" >"$temporary/had"
diff "$temporary/posted" "$temporary/had" >"$temporary/diff" ||
  { cut -c 1-200 "$temporary/diff" | head -n 20 >&2; die "the receiver has other bodies than Apple posted"; }
grep -q '"password"' "$temporary/had" || die "the receiver has no version 1 body, so the run does not test restored passwords"
"$bin/millrace" compare --config "$config" --receiver old "$taken" || die "the receiver and the topics differ"

say "Replaying all records"
# skipped prints the number of records that the worker skipped because their notification was handled, or is delayed: a
# notification of the killed worker may still wait for its next attempt.
skipped() {
  curl --silent --show-error --fail "http://127.0.0.1:$metrics/metrics" |
    awk '/^millrace_worker_records_total.*"skipped-(duplicate|delayed)"/ && /"forward-old"/ { sum += $NF } END { print sum + 0 }'
}
# The worker retries posts without an answer, so wait until all are answered.
answered() { cut -d ' ' -f 2 "$taken.told" | sort -u | wc -l; }
end=$((SECONDS + 60))
until [ "$(answered)" -ge "$count" ]; do
  [ "$SECONDS" -lt "$end" ] || die "$(answered) of $count notifications were answered within a minute"
  sleep 0.2
done
before=$(skipped) replayed=0
for family in subscriptions purchases refunds; do
  for lane in 0 1 2 3; do
    topic=${MILLRACE_TOPICS_PREFIX:-}appstore.notifications.$family
    end=$(kcat -Q -b "$bootstrap" -t "$topic:$lane:-1" | sed -E 's/.*offset ([0-9]+).*/\1/')
    [ "$end" -gt 0 ] || continue
    "$bin/millrace" replay --config "$config" --worker forward-old --topic "$topic" --partition "$lane" \
      --from 0 --to "$end" >>"$temporary/replay.log" 2>&1 || { cat "$temporary/replay.log" >&2; die "the replay failed"; }
    replayed=$((replayed + end))
  done
done
end=$((SECONDS + 60))
until [ "$(skipped)" -ge $((before + replayed)) ]; do
  [ "$SECONDS" -lt "$end" ] || die "the worker skipped $(($(skipped) - before)) of $replayed replayed records within a minute"
  sleep 0.2
done
# The other worker posts again what the killed one was told of but did not commit, perhaps only now.
again=$(sort "$taken.told" | uniq -d | sed -n 1,5p)
[ -z "$again" ] || die "a worker posted notifications again that were answered with 200 (path, webhook-id): $again"
note "$replayed records replayed, none posted again"
note "$count notifications received byte for byte and in order, $(grep -c '"password"' "$temporary/had") of them version 1;" \
  "$(wc -l <"$taken") posts accepted, $((count / (took > 0 ? took : 1))) per second in $took s since the start of" \
  "$([ "$workers" -eq 1 ] && echo "one worker" || echo "two workers, one of which received SIG$signal")"

#!/usr/bin/env bash
# Runs all workers in one process, as a small deployment does, and kills it in between.
# On a real Kafka of one node with one lane, `millrace workers` runs subscriptions, refunds, renewal-extensions, consumption and
# decoder, while a simulated App Store posts refunds to the ingress. The process is killed and starts again; each refund must
# have one event, and one decoded record. Prints the memory of both processes, and the number of partitions.
#
#   scripts/check together              45 seconds; needs an installed Apache Kafka (scripts/kafka), or it exits with 3
#   scripts/check together --release    the same with programs built in release mode, for docs/sizing.md; ten notifications a
#                                       second, for three minutes
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=scripts/refunds.sh
. "$root/scripts/refunds.sh"

count=100 minutes=20
case "${1:-}" in
'') ;;
--release) count=1800 minutes=180 ;;
*) usage "[--release]" ;;
esac
cd "$root"
scripts/kafka found >/dev/null || exit $?
need_swift
need_packages "${build_packages[@]}" curl kcat python3

if [ "${1:-}" = --release ]; then
  build_release
else
  build_programs millrace millrace-ingress appstore-simulator
fi
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-together.XXXXXX")
clean_up_at_exit
logs() { tail -n 20 "$temporary"/*.log >&2; }

say "Starting Kafka"
ingress=$(free_port) admin=$(free_port) worker=$(free_port)
start_kafka "$temporary/kafka" --nodes 1
cat >"$temporary/millrace.yaml" <<YAML
kafka: { bootstrapServers: "$kafka_servers", durability: relaxed }
topics: { lanes: 1 }
trust: { roots: ["$temporary/root.pem"] }
apps:
  - { bundleId: com.example.app, environments: [Sandbox] }
workers:
  subscriptions: {}
  refunds: {}
  renewal-extensions: {}
  consumption: { settings: { providers: [topic] } }
  decoder: {}
ingress: { host: 127.0.0.1, port: $ingress }
admin: { host: 127.0.0.1, port: $admin }
YAML
export MILLRACE_CONFIG=$temporary/millrace.yaml
"$bin/millrace" topics apply --yes >"$temporary/topics.log" 2>&1 || { logs; die "could not create the topics"; }
partitions=$(kcat -L -J -b "$kafka_servers" |
  python3 -c 'import json, sys; print(sum(len(t["partitions"]) for t in json.load(sys.stdin)["topics"] if not t["topic"].startswith("__")))')

say "Refunds while one process runs five workers, and is killed"
refund_scenario "$ingress" "$count" "$minutes" >"$temporary/scenario.yaml"
start_refunds "$temporary/scenario.yaml"
start "$temporary/ingress.log" "$bin/millrace-ingress"
ingress_process=$!
start_workers() {
  MILLRACE_ADMIN_PORT=$worker start "$temporary/workers-$1.log" "$bin/millrace" workers
  workers=$!
}
start_workers 1
for port in "$admin" "$worker"; do refunds_ready "$port"; done
# Half of the refunds have been posted after half of their time, at 60 times real time.
tries=$((minutes * 5 + 600))
until [ "$(grep -c '"status":200' "$temporary/sent.jsonl" 2>/dev/null)" -ge $((count / 2)) ]; do
  [ $((tries--)) -gt 0 ] || { logs; die "the ingress has not taken half of the refunds"; }
  sleep 0.2
done
kill -KILL "$workers"
wait "$workers" 2>/dev/null || true
start_workers 2
refunds_ready "$worker"
compare_refunds "$count"
# The clients of one worker must not overwrite the figures of another.
# librdkafka reports its figures every few seconds.
for name in refunds decoder; do
  tries=150
  until curl --silent --fail --output "$temporary/metrics" "http://127.0.0.1:$worker/metrics" &&
    grep -q "^millrace_kafka_brokers_up{client=\"$name/transactions\"} [1-9]" "$temporary/metrics"; do
    [ $((tries--)) -gt 0 ] || { logs; die "no broker for the clients of $name"; }
    sleep 0.2
  done
done
# memory PID prints the largest memory of a process, in MiB.
memory() { awk '/^VmHWM/ { printf "%d", $2 / 1024 }' "/proc/$1/status"; }
tries=300
until [ "$(committed_ids appstore.decoded.notifications | wc -l)" -eq "$(committed_ids appstore.events.refunds | wc -l)" ]; do
  [ $((tries--)) -gt 0 ] || { logs; die "$(committed_ids appstore.decoded.notifications | wc -l) decoded records"; }
  sleep 0.2
done
"$bin/millrace" status --json >"$temporary/status.jsonl" 2>"$temporary/status.log" || { logs; die "millrace status failed"; }
figures="ingress $(memory "$ingress_process") MiB, workers $(memory "$workers") MiB at most; $partitions partitions"
for process in "$workers" "$ingress_process"; do stop "$process" || { logs; die "a process ended with status $?"; }; done
note "$figures"
say "Five workers in one process handled each notification once"

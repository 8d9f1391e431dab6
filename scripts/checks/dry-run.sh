#!/usr/bin/env bash
# Compares the dry run of a replay with the run, for a Swift worker and an HTTP worker whose code has changed.
# The workers handle refunds of a simulated App Store on a real Kafka. Then another release of each takes over: one calls
# partial refunds by another name, the other has another version in most of its events. `millrace replay --reapply --dry-run`
# must write nothing: the offsets of all topics, also those with the offsets of groups and the state of transactions, and the
# calls to Apple are the same before and after. Then the run itself must have the counts that the dry run had.
#
#   scripts/check dry-run           500 refunds; two minutes
#   scripts/check dry-run --full    10,000 refunds
#
# Needs an installed Apache Kafka (see scripts/kafka), or it exits with 3.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

count=500 minutes=10
while [ $# -gt 0 ]; do
  case "$1" in
  --full) count=10000 minutes=200 ;;
  *) usage "[--full]" ;;
  esac
  shift
done
cd "$root"
scripts/kafka found >/dev/null || exit $?
need_swift
need_packages "${build_packages[@]}" curl kcat python3

build_programs millrace millrace-ingress millrace-refunds millrace-worker millrace-scenarios appstore-simulator
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-dry-run.XXXXXX")
clean_up_at_exit
logs() { tail -n 20 "$temporary"/*.log >&2; }

say "Starting Kafka and the App Store"
ingress=$(free_port) apple=$(free_port) endpoint=$(free_port)
start_kafka "$temporary/kafka"
cat >"$temporary/scenario.yaml" <<YAML
seed: 1
clock: { rate: 60 }
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production]
    notifications: { Production: { url: "http://127.0.0.1:$ingress/v2" } }
    products:
      - { productId: com.example.app.coins, type: consumable, price: 990 }
world:
  customers:
    - { count: $count, products: [com.example.app.coins], since: 10d }
events:
  - { do: refund, after: 20m, for: ${minutes}m, count: $((count / 2)), percentage: 40 }
  - { do: refund, after: 20m, for: ${minutes}m, count: $((count - count / 2)) }
YAML
start "$temporary/simulator.log" "$bin/appstore-simulator" run "$temporary/scenario.yaml" --port "$apple" \
  --sandbox-port "$(free_port)" --write-root "$temporary/root.pem" --write-api-key "$temporary/key.p8"
for file in root.pem key.p8; do
  wait_for_file "$temporary/$file" "$!" 60 || { logs; die "the simulator wrote no $file"; }
done
echo "whsec_$(printf 'a secret of sixteen' | base64)" >"$temporary/secret"
echo 1 >"$temporary/version"
cat >"$temporary/millrace.yaml" <<YAML
kafka: { bootstrapServers: "$kafka_servers", durability: relaxed }
topics: { lanes: 2 }
trust: { roots: ["$temporary/root.pem"] }
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production]
    api: { issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: SIMULATOR1, privateKeyFile: "$temporary/key.p8" }
appStore: { productionURL: "http://127.0.0.1:$apple" }
ingress: { host: 127.0.0.1, port: $ingress }
admin: { port: 0 }
workers:
  refunds: {}
  winback:
    families: [refunds]
    calls: []
    handler: { url: "http://127.0.0.1:$endpoint/", secretFile: "$temporary/secret", dryRuns: true }
YAML
export MILLRACE_CONFIG=$temporary/millrace.yaml
"$bin/millrace" topics apply --yes >"$temporary/topics.log" 2>&1 || { logs; die "could not create the topics"; }
start "$temporary/endpoint.log" python3 -Bu scripts/checks/dry-run-endpoint.py "$endpoint" "$temporary/version"

# `millrace replay` starts a worker's program with the options of a dry run.
changed=$temporary/changed-refunds
printf '#!/bin/sh\nexec "%s" changed-refunds "$@"\n' "$bin/millrace-scenarios" >"$changed"
chmod +x "$changed"

# offsets prints the end of every partition of every topic.
offsets() {
  local partitions
  mapfile -t partitions < <(kcat -L -J -b "$kafka_servers" | python3 -c '
import json, sys
for topic in json.load(sys.stdin)["topics"]:
    for partition in topic["partitions"]:
        print("-t", topic["topic"] + ":%d:-1" % partition["partition"], sep="\n")')
  kcat -Q -b "$kafka_servers" "${partitions[@]}" | sort
}

# journal prints the calls to Apple.
journal() { curl --silent --fail "http://127.0.0.1:$apple/simulator/journal"; }

# handled WORKER waits until a worker has handled everything.
handled() {
  local tries=1200
  until "$bin/millrace" status --json 2>>"$temporary/status.log" | grep "\"worker\":\"$1\"" | grep '"hasRun":true.*"lag":0,' >/dev/null; do
    [ $((tries--)) -gt 0 ] || { logs; die "$1 has not handled the refunds"; }
    sleep 1
  done
}

say "Handling $count refunds"
start "$temporary/ingress.log" "$bin/millrace-ingress"
first=$!
start "$temporary/refunds.log" "$bin/millrace-refunds"
second=$!
start "$temporary/worker.log" "$bin/millrace-worker"
third=$!
received() { kcat -Q -b "$kafka_servers" -t appstore.notifications.refunds:0:-1 -t appstore.notifications.refunds:1:-1 | awk '{ sum += $NF } END { print sum }'; }
tries=1800
until [ "$(received)" -ge "$count" ]; do
  [ $((tries--)) -gt 0 ] || { logs; die "only $(received) of $count refunds arrived"; }
  sleep 1
done
for worker in refunds winback; do handled "$worker"; done
# These write reports about themselves.
for process in "$first" "$second" "$third"; do stop "$process" || { logs; die "a process ended with status $?"; }; done

# counts prints the counts of a dry run or of a run, without those that only a dry run has.
counts() {
  python3 -c '
import json, sys
report = json.load(sys.stdin)
counts = report.get("outcome", report)
names = ("records", "skipped", "unchanged", "superseded", "new", "deadLetters", "waiting", "events")
print(" ".join("%s=%d" % (name, counts[name]) for name in names))
if counts.get("wouldCall") or counts.get("timersThatWouldCall"):
    sys.exit("the handler would call")'
}

# compare WORKER COMMAND... makes a dry run, starts the changed worker, makes the run, and compares the counts.
compare() {
  local worker=$1 options=() run tries=600
  shift
  [ "$worker" = winback ] || options=(--program "$changed")
  local replay=("$bin/millrace" replay --worker "$worker" --family refunds --from earliest --reapply "another release")
  offsets >"$temporary/offsets.before"
  journal >"$temporary/journal.before"
  "${replay[@]}" --dry-run "${options[@]}" --show 1 --json >"$temporary/dry.json" 2>"$temporary/dry.log" ||
    { logs; die "the dry run of $worker ended with status $?"; }
  offsets >"$temporary/offsets.after"
  journal >"$temporary/journal.after"
  diff "$temporary/offsets.before" "$temporary/offsets.after" >&2 || die "the dry run of $worker wrote to Kafka"
  diff "$temporary/journal.before" "$temporary/journal.after" >&2 || die "the dry run of $worker called Apple"
  counts <"$temporary/dry.json" >"$temporary/dry.counts" || die "the dry run of $worker: $(cat "$temporary/dry.json")"
  start "$temporary/changed-$worker.log" "$@"
  local process=$!
  "${replay[@]}" --by check --json >"$temporary/run.jsonl" 2>"$temporary/run.log" || { logs; die "the run ended with status $?"; }
  run=$(tail -n 1 "$temporary/run.jsonl" | grep -o '"run":"[^"]*"' | cut -d '"' -f 4)
  until "$bin/millrace" replay status "$run" --json >"$temporary/status.json" 2>>"$temporary/run.log" &&
    counts <"$temporary/status.json" >"$temporary/run.counts" && grep -q ' waiting=0 ' "$temporary/run.counts"; do
    [ $((tries--)) -gt 0 ] || { logs; die "the run of $worker does not end: $(cat "$temporary/status.json")"; }
    sleep 1
  done
  note "$worker: dry run: $(cat "$temporary/dry.counts")"
  note "$worker: the run: $(cat "$temporary/run.counts")"
  diff "$temporary/dry.counts" "$temporary/run.counts" >&2 || die "the run of $worker has other counts than the dry run"
  grep -q ' unchanged=[1-9].* superseded=[1-9]' "$temporary/run.counts" || die "not all kinds of outcomes are in the run"
  stop "$process" || { logs; die "$worker ended with status $?"; }
}

say "A changed Swift worker"
compare refunds "$changed"
say "A changed endpoint"
echo 2 >"$temporary/version"
compare winback "$bin/millrace-worker"
say "The dry runs wrote nothing, and counted what the runs did"

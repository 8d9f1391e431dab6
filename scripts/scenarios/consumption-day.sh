#!/usr/bin/env bash
# Simulates a day of consumption requests with real processes, 600 times as fast.
# The simulated App Store posts requests to the ingress. One millrace-consumption process, then two, query a provider
# over HTTP, which is slow, down for two hours and sometimes wrong. Apple's API is down for six hours. The workers must
# answer every request with consent in time and none without consent, and must announce each late answer. Then the
# script replays all records, and the workers must not query the provider, call Apple or publish events. The test does
# not rely on Apple recognizing repeated requests.
#
#   scripts/scenario consumption-day
#       1 000 requests, with one worker, then with two; under four minutes
#   scripts/scenario consumption-day --requests 200 --workers 2 --seed 7 --short
#       one request that the provider never answers, instead of five
#
# With KAFKA_BOOTSTRAP_SERVERS=host:port it runs on a real cluster, with transactions.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

seed=$RANDOM requests=1000 runs='1 2' level=5 minutes=855
while [ $# -gt 0 ]; do
  if [ "$1" = --short ]; then
    level=1
    shift
    continue
  fi
  [ $# -ge 2 ] || die "$1 needs a number"
  case "$1" in
  --seed) seed=$2 ;;
  --requests) requests=$2 ;;
  --workers) runs=$2 ;;
  *) usage "[--requests N] [--workers N] [--seed N] [--short]" ;;
  esac
  shift 2
done

need_swift
need_packages "${build_packages[@]}" python3 kcat curl
cd "$root"

build_programs millrace millrace-ingress millrace-consumption appstore-simulator

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-consumption.XXXXXX")
clean_up_at_exit
export MILLRACE_TOPICS_DIRECTORY=$root/topics MILLRACE_TOPICS_LANES=8 MILLRACE_KAFKA_DURABILITY=relaxed
# The timeout is in simulated time; six seconds of real time.
export MILLRACE_WORKERS='{consumption: {retryDelays: [10s, 1m, 10m], handlerTimeout: 1h}}'
printf 'whsec_%s' "$(head -c 24 /dev/urandom | base64)" >"$temporary/secret"
printf 'the shared secret' >"$temporary/shared-secret"
coins=$((requests / 2)) legacy=$((requests / 10))
plans=$((requests - coins - legacy - level))

cat >"$temporary/scenario.yaml" <<YAML
clock: { rate: 600 }
duration: ${minutes}m
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production]
    notifications: { Production: { url: "http://127.0.0.1:1/v2" } }
    products:
      - { productId: com.example.app.coins, type: consumable }
      - { productId: com.example.app.level, type: non-consumable }
      - { productId: com.example.app.monthly }
  - bundleId: com.example.legacy
    appAppleId: 1234567891
    environments: [Production]
    notifications: { Production: { url: "http://127.0.0.1:1/v1", version: 1 } }
    products: [{ productId: com.example.legacy.coins, type: consumable }]
world:
  customers:
    - { count: $((coins * 2)), products: [com.example.app.coins], since: 30d }
    - { count: $((plans * 2)), products: [com.example.app.monthly] }
    - { count: 20, products: [com.example.app.level], since: 30d }
    - { count: $((legacy * 2)), app: com.example.legacy, products: [com.example.legacy.coins], since: 30d }
events:
  - { do: requestRefund, after: 100m, for: 9h, count: $coins, product: com.example.app.coins }
  - { do: requestRefund, after: 100m, for: 9h, count: $plans, product: com.example.app.monthly, reason: OTHER }
  - { do: requestRefund, after: 100m, for: 9h, count: $legacy, app: com.example.legacy, product: com.example.legacy.coins }
  - { do: requestRefund, after: 100m, for: 5m, count: $level, product: com.example.app.level }
faults:
  - { effect: outage, endpoints: [sendConsumptionInformation, sendConsumptionInformationV1], after: 5h, for: 6h }
server: { limits: { divisor: 60 }, refunds: { decisionDelay: 1d } }
YAML

events() {
  kcat -C -q -e -b "$bootstrap" -X isolation.level=read_committed \
    -t "${MILLRACE_TOPICS_PREFIX:-}appstore.events.consumption" -o beginning -J
}

# skipped prints the number of records that the workers skipped as duplicates.
skipped() {
  local port
  for port in "${metrics[@]}"; do curl --silent --show-error --fail "http://127.0.0.1:$port/metrics"; done |
    awk '/^millrace_worker_records_total.*"skipped-duplicate"/ { sum += $NF } END { print sum + 0 }'
}

# again replays all records and checks that the workers do nothing. A trap on Apple's port records calls.
again() {
  local topic=${MILLRACE_TOPICS_PREFIX:-}appstore.notifications.consumption-requests lane end sender replayed=0 before senders=()
  local posts=$place/provider.jsonl
  before=$(skipped)
  start "$place/trap" python3 scripts/scenarios/consumption-day.py trap "$api" "$place/calls"
  wait_for_file "$place/trap" "$!" 120 || { cat "$place/trap" >&2; die "the trap on Apple's port did not start"; }
  cp "$posts" "$place/posts"
  for ((lane = 0; lane < MILLRACE_TOPICS_LANES; lane++)); do
    end=$(kcat -Q -b "$bootstrap" -t "$topic:$lane:-1" | sed -E 's/.*offset ([0-9]+).*/\1/')
    [ "$end" -gt 0 ] || continue
    start "$place/replay-$lane.log" "$bin/millrace" replay --config "$place/millrace.yaml" --worker consumption \
      --topic "$topic" --partition "$lane" --from 0 --to "$end"
    senders+=("$!")
    replayed=$((replayed + end))
  done
  for sender in "${senders[@]}"; do
    wait "$sender" || { cat "$place"/replay-*.log >&2; die "the replay failed"; }
  done
  end=$((SECONDS + 60))
  until [ "$(skipped)" -ge $((before + replayed)) ]; do
    [ "$SECONDS" -lt "$end" ] || die "the workers skipped $(($(skipped) - before)) of $replayed replayed records within a minute"
    sleep 0.2
  done
  # Partitions are read in any order, so compare sorted events.
  sort "$place/events.jsonl" >"$place/told"
  events | sort >"$place/told-again"
  cmp "$place/told" "$place/told-again" || die "the replay published events"
  cmp "$place/posts" "$posts" || die "the replay queried the provider"
  [ ! -s "$place/calls" ] || { head -n 5 "$place/calls" >&2; die "the replay called Apple"; }
  note "$replayed records replayed without a call to Apple, a query or an event"
}

# day WORKERS simulates the day with this number of workers.
day() {
  local place=$temporary/$1 bootstrap ingress=$(free_port) admin=$(free_port) api=$(free_port) number
  mkdir "$place"
  use_cluster "consumption-$1" "$place"
  start "$place/simulator.log" "$bin/appstore-simulator" run "$temporary/scenario.yaml" --seed "$seed" --port "$api" \
    --target "http://127.0.0.1:$ingress/v2" --target-v1 "http://127.0.0.1:$ingress/v1" \
    --shared-secret "$temporary/shared-secret" --write-root "$place/root.pem" --write-api-key "$place/api.p8" \
    --write-clock "$place/clock.yaml" --write-sent "$place/sent.jsonl" --report "$place/report.json"
  local simulator=$!
  wait_for_file "$place/clock.yaml" "$simulator" 20 || { cat "$place/simulator.log" >&2; die "the simulator did not start"; }
  start "$place/provider.log" python3 scripts/scenarios/consumption-day.py serve "$place/port" "$place/provider.jsonl" \
    "$place/clock.yaml" "$seed"
  wait_for_file "$place/port" "$!" 120 || { cat "$place/provider.log" >&2; die "the provider did not start"; }
  local key="issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: SIMULATOR1, privateKeyFile: $place/api.p8"
  cat "$place/clock.yaml" - >"$place/millrace.yaml" <<YAML
kafka: { bootstrapServers: "$bootstrap" }
trust: { roots: [$place/root.pem] }
apps:
  - { bundleId: com.example.app, appAppleId: 1234567890, environments: [Production], api: { $key } }
  - bundleId: com.example.legacy
    appAppleId: 1234567891
    environments: [Production]
    sharedSecretFiles: [$temporary/shared-secret]
    api: { $key }
appStore: { productionURL: "http://127.0.0.1:$api", sandboxURL: "http://127.0.0.1:$api", limitDivisor: 60 }
workers:
  consumption:
    settings:
      providers: [http]
      http: { url: "http://127.0.0.1:$(cat "$place/port")/consumption", secretFiles: [$temporary/secret], timeout: 20m }
ingress: { host: 127.0.0.1, port: $ingress }
admin: { host: 127.0.0.1, port: $admin }
YAML
  start "$place/ingress.log" "$bin/millrace-ingress" --config "$place/millrace.yaml"
  local processes=("$!") metrics=()
  for ((number = 1; number <= $1; number++)); do
    metrics+=("$(free_port)")
    MILLRACE_ADMIN_PORT=${metrics[-1]} start "$place/worker-$number.log" "$bin/millrace-consumption" \
      --config "$place/millrace.yaml"
    processes+=("$!")
  done
  wait "$simulator" || { cat "$place/simulator.log" >&2; die "the simulator ended with an error"; }
  events >"$place/events.jsonl"
  python3 scripts/scenarios/consumption-day.py check "$place" "$seed" "$temporary/ends-$1" || {
    rm -rf "$root/.build/consumption-day"
    cp -r "$place" "$root/.build/consumption-day"
    die "the checks failed; repeat with --seed $seed --workers $1; configuration and logs are in .build/consumption-day"
  }
  again
  for number in "${processes[@]}"; do
    stop "$number" || { tail -n 20 "$place"/*.log >&2; die "a process ended with status $? after SIGTERM"; }
  done
}

for workers in $runs; do
  say "Simulating $minutes minutes in $((minutes / 10)) seconds, $workers worker(s), seed $seed"
  began=$SECONDS
  day "$workers"
  note "$((SECONDS - began)) s"
done
if [ -s "$temporary/ends-1" ] && [ -s "$temporary/ends-2" ]; then
  # The runs may differ in their requests, but a request that is in both must have the same result.
  differ=$(join "$temporary/ends-1" "$temporary/ends-2" | awk '$2 != $3' | wc -l)
  both=$(join "$temporary/ends-1" "$temporary/ends-2" | wc -l)
  [ "$both" -gt 0 ] || die "the two runs have no request in common"
  [ "$differ" -eq 0 ] || die "$differ of $both requests had another result with two workers"
  note "$both requests had the same result with one worker and with two"
fi

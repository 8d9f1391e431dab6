#!/usr/bin/env bash
# Tests every page and action of the console in Chromium, with real processes.
# A simulated App Store posts an hour of notifications to the ingress. One forward worker makes them dead letters,
# another delays them. An extension campaign and a backfill run meanwhile. Chromium opens every page, in light and dark
# mode, at desktop and phone size, and performs every action by mouse and by keyboard. The script reports accessibility
# problems, errors, and requests to other hosts. It also pauses, resumes and stops the backfill on its page and checks
# that the process follows, resubmits a quarantined body, and sends an event again to a webhook whose receiver refuses the first
# post of each event.
#
#   scripts/check console           exits with 0 if all checks pass; screenshots are in .build/console-shots
#   scripts/check console --keep    keeps everything running and prints the address; Ctrl-C stops it
#   scripts/check console --volume  only 10 000 dead letters on 500 partitions: memory below 100 MB, first byte in
#                                   100 ms
#   scripts/check console --hostile only 120 hostile requests at once, three times: memory below 150 MB, and other pages
#                                   are answered. With KAFKA_BOOTSTRAP_SERVERS=host:port it runs on a real cluster.
#                                   With --release after it, the console is built in release mode
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

mode=${1:-}
case "$mode" in
'' | --keep | --volume | --hostile) ;;
*) usage "[--keep | --volume | --hostile [--release]]" ;;
esac
[ $# -lt 2 ] || [ "$*" = "--hostile --release" ] || usage "[--keep | --volume | --hostile [--release]]"

need_swift
need_packages "${build_packages[@]}" chromium curl fonts-dejavu-core kcat python3
cd "$root"

if [ $# -eq 2 ]; then
  build_release
  ln -sf millrace "$bin/millrace-console"
else
  build_programs millrace millrace-ingress millrace-forward millrace-worker millrace-console appstore-simulator \
    millrace-scenarios
fi

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-console.XXXXXX")
clean_up_at_exit
config=$temporary/millrace.yaml
demo() { "$bin/millrace-scenarios" demo "$1" --directory "$temporary" "${@:2}"; }

export MILLRACE_TOPICS_DIRECTORY=$root/topics MILLRACE_TOPICS_LANES=4 MILLRACE_KAFKA_DURABILITY=relaxed

# start_console OPTION... starts the console and sets $console and $address.
start_console() {
  MILLRACE_KAFKA_BOOTSTRAP_SERVERS=$bootstrap MILLRACE_ADMIN_PORT=${MILLRACE_ADMIN_PORT:-0} MILLRACE_CONSOLE_PORT=0 \
    start "$temporary/console.log" "$bin/millrace-console" --address-file "$temporary/address" "$@"
  console=$!
  wait_for_file "$temporary/address" "$console" 20 || { cat "$temporary/console.log" >&2; die "the console did not start"; }
  address=$(cat "$temporary/address")
}
memory() { sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$console/status"; }

if [ "$mode" = --volume ]; then
  say "10 000 dead letters on more than 500 partitions"
  export MILLRACE_TOPICS_LANES=16 MILLRACE_WORKERS='{refunds: {}, consumption: {}, renewal-extensions: {}}'
  start_embedded_cluster
  headers=()
  for header in ce_specversion=1.0 ce_id=3f1c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11 content-type=application/jose \
    ce_type=com.apple.appstore.notification.v2.REFUND ce_source=appstore/Production/com.example.app ce_origin=post \
    millrace-reason=handler-error "millrace-detail=the entitlement service answered 503 for the fifth time" \
    "millrace-remedy=fix the cause, then requeue it" "millrace-died-at=$(date +%s)000" millrace-attempt=5; do
    headers+=(-H "$header")
  done
  # The size of a compressed notification. The embedded cluster keeps 5 MiB per partition.
  value=$(printf 'x%.0s' {1..2000})
  for number in {1..10000}; do printf '%s\t%s\n' "$((2000000000000000 + number))" "$value"; done |
    kcat -P -b "$bootstrap" -t millrace.refunds.dead-letters -K "$(printf '\t')" -X partitioner=murmur2_random "${headers[@]}"
  # Three workers that read every family and have a lag in most lanes.
  families=(subscriptions purchases refunds renewal-extensions consumption-requests external-purchases advanced-commerce)
  for family in "${families[@]}"; do
    for number in {1..400}; do printf '%s\tx\n' "$number"; done |
      kcat -P -b "$bootstrap" -t "appstore.notifications.$family" -K "$(printf '\t')"
  done
  for worker in refunds consumption renewal-extensions; do
    timeout 30 kcat -G "millrace.$worker" -b "$bootstrap" -q -c 1500 -X auto.offset.reset=earliest \
      -X session.timeout.ms=4000 -X fetch.wait.max.ms=10 "${families[@]/#/appstore.notifications.}" >/dev/null
  done
  start_console
  python3 scripts/checks/console/volume.py "$address" "$((100 * 1024))" "/proc/$console/status" || die "the console uses too much memory or responds too slowly"
  stop "$console" || die "the console ended with status $? after SIGTERM; its log: $(tail -n 5 "$temporary/console.log")"
  exit
fi

if [ "$mode" = --hostile ]; then
  say "120 hostile requests at once"
  export MILLRACE_WORKERS='{refunds: {}, consumption: {}, renewal-extensions: {}}'
  use_cluster console
  admin=$(free_port)
  known=2000000000000001
  headers=(-H ce_specversion=1.0 -H ce_id=3f1c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11 -H content-type=application/jose
    -H ce_type=com.apple.appstore.notification.v2.REFUND -H ce_source=appstore/Production/com.example.app
    -H ce_subject="$known" -H ce_time=2026-01-01T00:00:00Z -H ce_origin=post)
  value=$(printf 'x%.0s' {1..2000})
  produce() { kcat -P -b "$bootstrap" -t "${MILLRACE_TOPICS_PREFIX:-}$1" -K "$(printf '\t')" "${@:2}"; }
  # The timeline of one customer is long, and every search of an unknown one reads all notifications.
  for number in {1..2000}; do printf '%s\t%s\n' "$known" "$value"; done |
    produce appstore.notifications.refunds -X partitioner=murmur2_random "${headers[@]}"
  for family in subscriptions purchases; do
    for number in {1..20000}; do printf '%s\t%s\n' "$number" "$value"; done | produce "appstore.notifications.$family" "${headers[@]}"
  done
  for number in {1..2000}; do printf '%s\t%s\n' "$known" "$value"; done |
    produce millrace.refunds.dead-letters -p 0 "${headers[@]}" -H millrace-reason=handler-error -H "millrace-died-at=$(date +%s)000"
  MILLRACE_ADMIN_PORT=$admin start_console --show-payloads --allow-actions
  python3 scripts/checks/console/hostile.py "$address" "http://127.0.0.1:$admin" "/proc/$console/status" "$known" \
    "$((150 * 1000 * 1000 / 1024))" || { tail -n 20 "$temporary/console.log" >&2; die "the console used too much memory, or did not answer"; }
  stop "$console" || die "the console ended with status $? after SIGTERM; its log: $(tail -n 5 "$temporary/console.log")"
  exit
fi

say "Starting a Kafka cluster, the ingress, two workers and the console"
printf 'whsec_%s\n' "$(head -c 32 /dev/urandom | base64)" >"$temporary/secret"
receiver=$(free_port)
# The port has no listener: one worker gives up at once, the other delays for an hour.
export MILLRACE_WORKERS='{
  forward-accounting: {
    retryDelays: [200ms], maximumAttempts: 2, settings: {url: "http://127.0.0.1:1/", families: [refunds]}},
  forward-warehouse: {retryDelays: [1m, 5m, 1h], settings: {url: "http://127.0.0.1:1/", families: [purchases]}},
  webhook-crm: {retryDelays: [200ms], settings: {url: "http://127.0.0.1:'$receiver'/", secretFile: "'$temporary/secret'"}},
  renewal-extensions: {}, consumption: {}}'
start_embedded_cluster
demo prepare --bootstrap-servers "$bootstrap" --topics "$root/topics" >/dev/null
start "$temporary/ingress.log" "$bin/millrace-ingress" --config "$config"
demo wait-ready || { cat "$temporary/ingress.log" >&2; die "the ingress did not become ready"; }
ingress=$(sed -n 's/^ingress: { host: \(.*\), port: \(.*\) }.*/http:\/\/\1:\2/p' "$config")
MILLRACE_ADMIN_PORT=0 start "$temporary/forward.log" "$bin/millrace-forward" --config "$config"
# As if consoles had run for a day.
python3 scripts/checks/console/history.py forward-accounting forward-warehouse webhook-crm consumption renewal-extensions |
  kcat -P -b "$bootstrap" -t millrace.control -p 0 -K "$(printf '\t')"
start_console --config "$config" --allow-actions

say "Simulating an hour of the App Store in six seconds"
start "$temporary/simulator.log" "$bin/appstore-simulator" run scenarios/demo.yaml --seed 1 \
  --chain "$temporary/chain.pem" --target "$ingress/v2" --target-v1 "$ingress/v1" \
  --shared-secret "$temporary/shared-secret" --write-sent "$temporary/sent.jsonl"
wait "$!" || { cat "$temporary/simulator.log" >&2; die "the simulator ended with an error"; }

say "Posting a body that is refused, and quarantining one"
[ "$(curl --silent --output /dev/null --write-out '%{http_code}' --data '{}' "$ingress/v2")" = 400 ] ||
  die "the ingress did not refuse {} as malformed"
body=e30.e30.e30
printf '%s\t%s\n' "$(printf %s "$body" | sha256sum | cut -c 1-64)" "$body" |
  kcat -P -b "$bootstrap" -t millrace.quarantine -p 1 -K "$(printf '\t')" \
    -H ce_type=dev.millrace.ingress.quarantined -H ce_version=v2 -H ce_reason=chain -H "ce_time=$(date -u +%FT%TZ)"

say "Starting an extension campaign and a backfill"
port=$(free_port)
start "$temporary/operations.log" "$bin/appstore-simulator" run scenarios/operations.yaml --target "$ingress/v2" \
  --chain "$temporary/chain.pem" --port "$port" --write-api-key "$temporary/apple.p8"
wait_for_file "$temporary/apple.p8" "$!" 120 || { cat "$temporary/operations.log" >&2; die "the App Store's API did not start"; }
export MILLRACE_APPS_0_API_ISSUER_ID=57246542-96fe-1a63-e053-0824d011072a MILLRACE_APPS_0_API_KEY_ID=SIMULATOR1
export MILLRACE_APPS_0_API_PRIVATE_KEY_FILE=$temporary/apple.p8 MILLRACE_APP_STORE_LIMIT_DIVISOR=10
export MILLRACE_APP_STORE_PRODUCTION_URL=http://127.0.0.1:$port MILLRACE_APP_STORE_SANDBOX_URL=http://127.0.0.1:$port
# One program serves all names (docs/adr/0024).
ln -s "$bin/millrace" "$temporary/millrace-renewal-extensions"
MILLRACE_ADMIN_PORT=0 start "$temporary/extensions.log" "$temporary/millrace-renewal-extensions" --config "$config"
operate() { "$bin/millrace" "$@" --config "$config" --app com.example.app --by grace; }
# Retry until the simulated API listens.
end=$((SECONDS + 20))
until operate campaigns start --product com.example.app.monthly --days 7 --reason 3 --yes >"$temporary/campaign.log" 2>&1; do
  [ "$SECONDS" -lt "$end" ] || { cat "$temporary/campaign.log" >&2; die "the campaign did not start"; }
  sleep 0.2
done
start "$temporary/backfill.log" operate backfill --environment Production --from 6h --slice 5s --parallel 1 --json
backfill=$!

if [ "$mode" = --keep ]; then
  echo "$address, for requests with the header X-Forwarded-User; the console's log is $temporary/console.log"
  wait "$console"
  exit
fi

say "Checking the console in Chromium"
python3 scripts/checks/console/check.py "$address" "$root/.build/console-shots" "$cluster" "$receiver" \
  env MILLRACE_ADMIN_PORT=0 "$bin/millrace-worker" --config "$config" 2>&1 | tee "$temporary/check.log" || {
  tail -n 20 "$temporary"/{console,extensions,campaign,backfill}.log >&2
  # The reason last.
  tail -n 4 "$temporary/check.log" >&2
  exit 1
}
# The console stopped the backfill, so it exits with 1.
if wait "$backfill"; then die "the backfill exited with 0 although it was stopped; expected 1"; fi
grep -q '"event":"ended".*"state":"stopped"' "$temporary/backfill.log" ||
  { tail -n 5 "$temporary/backfill.log" >&2; die "the backfill did not report that it was stopped"; }
note "peak memory of the console: $(($(memory) / 1024)) MiB"
# SIGTERM stops the console with status 0, also with open live pages.
stop "$console" || die "the console ended with status $? after SIGTERM; its log: $(tail -n 5 "$temporary/console.log")"

#!/usr/bin/env bash
# Plays a week of the App Store with the win-back workers in four languages behind one millrace-worker.
# First `millrace handler check` has to find the faults of endpoints that are broken on purpose, and no fault of the workers
# in Python, TypeScript, Java and Swift. Then customers subscribe and cancel; some return in time. Three days later each
# worker's timer is due, the worker asks the fake App Store, and offers the others to come back. Takes five minutes, and
# longer for the first build in Swift. With KAFKA_BOOTSTRAP_SERVERS=host:port it runs on a real cluster. Needs what
# http-examples needs.
#
#   scripts/check http-workers    exits with 0 if every worker makes each offer once, and no other
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

need_swift
need_packages "${build_packages[@]}" curl python3 python3-venv
cd "$root"
build_programs millrace millrace-worker millrace-ingress appstore-simulator
python_environment http
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-http-workers.XXXXXX")
clean_up_at_exit
# shellcheck source=scripts/checks/http/languages.sh
. scripts/checks/http/languages.sh
logs() { tail -n 15 "$temporary"/*.log >&2; }

say "Checking endpoints that are broken on purpose"
"$python" -B scripts/checks/http/broken.py "$bin/millrace" || die "millrace handler check gave other findings"

languages=(python typescript java swift)
workers=
for language in "${languages[@]}"; do
  say "Building and starting the worker in $language"
  copy_example "$language"
  cd "$temporary/$language"
  "build_$language"
  printf 'whsec_%s\n' "$(head -c 32 /dev/urandom | base64)" >secret
  PORT=$(free_port)
  export PORT WEBHOOK_SECRET_FILE=$PWD/secret
  "run_$language" "$temporary/$language.log"
  url=http://127.0.0.1:$PORT/notifications
  answering "$url" "$!" || { logs; die "the endpoint in $language did not start"; }
  "$bin/millrace" handler check "$url" --secret-file "$PWD/secret" --json >"$temporary/$language-check.log" ||
    { cat "$temporary/$language-check.log" >&2; die "the endpoint in $language does not pass millrace handler check"; }
  note "millrace handler check: $(grep -c '"result":"good"' "$temporary/$language-check.log") of \
$(wc -l <"$temporary/$language-check.log") checks are good"
  # A run has an hour of the rehearsal, which is two seconds. If a departure is delayed, the return of the subscriber waits, so
  # that it cancels the timer.
  workers+="
  winback-$language:
    families: [subscriptions]
    calls: [getAllSubscriptionStatuses]
    handlerTimeout: 1h
    ordering: strict
    handler: { url: \"$url\", secretFile: \"$PWD/secret\", timeout: 1s }"
  cd "$root"
done

say "Starting the fake App Store, Kafka and Millrace"
ingress=$(free_port) admin=$(free_port) store=$(free_port)
export MILLRACE_TOPICS_DIRECTORY=$root/topics MILLRACE_TOPICS_LANES=3 MILLRACE_CONFIG=$temporary/millrace.yaml
cat >"$temporary/store.yaml" <<YAML
seed: 1
clock: { origin: "2026-03-02T08:00:00Z", rate: 1800 }
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production]
    notifications: { Production: { url: "http://127.0.0.1:$ingress/v2" } }
    products: [{ productId: com.example.app.yearly, period: P1Y, price: 49990 }]
server: { limits: { divisor: 1 } }
YAML
start "$temporary/store.log" "$bin/appstore-simulator" run "$temporary/store.yaml" --port "$store" \
  --write-root "$temporary/root.pem" --write-api-key "$temporary/simulator.p8" --write-clock "$temporary/clock.yaml"
simulator=$!
for file in root.pem simulator.p8 clock.yaml; do
  wait_for_file "$temporary/$file" "$simulator" 120 || { logs; die "the simulator wrote no $file"; }
done
cat "$temporary/clock.yaml" - >"$MILLRACE_CONFIG" <<YAML
kafka: { bootstrapServers: "localhost:9", durability: relaxed }
trust: { roots: ["$temporary/root.pem"] }
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production]
    api: { issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: SIMULATOR1, privateKeyFile: "$temporary/simulator.p8" }
appStore: { productionURL: "http://127.0.0.1:$store", sandboxURL: "http://127.0.0.1:$store" }
workers:$workers
YAML
use_cluster http
export MILLRACE_KAFKA_BOOTSTRAP_SERVERS=$bootstrap
prefix=${MILLRACE_TOPICS_PREFIX:-}
MILLRACE_INGRESS_PORT=$ingress MILLRACE_ADMIN_PORT=$admin start "$temporary/ingress.log" "$bin/millrace-ingress"
worker_admin=$(free_port)
MILLRACE_ADMIN_PORT=$worker_admin start "$temporary/worker.log" "$bin/millrace-worker"
for port in "$admin" "$worker_admin"; do
  curl --silent --fail --output /dev/null --retry 120 --retry-all-errors --retry-delay 1 "http://127.0.0.1:$port/readyz" ||
    { logs; die "Millrace did not become ready"; }
done

say "Playing a week: six customers subscribe, five cancel, two of them return"
"$python" -B scripts/checks/http/week.py "$bin/millrace" "http://127.0.0.1:$store" "$prefix" "${languages[@]}" \
  2>"$temporary/differences" || { logs; die "the workers did not make the right offers: $(cat "$temporary/differences")"; }

#!/usr/bin/env bash
# Kills an HTTP worker in Python and millrace-worker on a three-node Kafka, and compares the results with a model.
# The fake App Store sells, expires and renews subscriptions. In each round the script kills one of two processes of
# millrace-worker and the endpoint with SIGKILL. It also pauses a process beyond its session with requests in flight, and
# kills the node that leads most partitions. The endpoint is examples/python-worker with counters in the state: it appends
# each webhook-id and its decision to a file.
#
# A read_committed reader must find every event once, and no other. Each notification, timer and call must have one
# webhook-id, which the endpoint saw. States, counters and timers in the ledger must be those that follow from the
# notifications: an outcome that was applied twice would leave a wrong counter. Records that were in flight at three
# kills are dead letters, which the script requeues as an operator would.
#
#   scripts/scenario http-worker               5 rounds, three minutes; prints the random seed
#   scripts/scenario http-worker --full        30 rounds, seven minutes; `--rounds N` any other number
#   scripts/scenario http-worker --seed 7      repeats the moments of a seed
#
# Starts an installed Apache Kafka (scripts/kafka). Exits with 3 if there is none: the embedded cluster has neither
# transactions nor nodes to kill.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

seed=$RANDOM rounds=5
while [ $# -gt 0 ]; do
  case "$1" in
  --full)
    rounds=30
    shift
    ;;
  --seed | --rounds)
    [ $# -ge 2 ] || die "$1 needs a number"
    if [ "$1" = --seed ]; then seed=$2; else rounds=$2; fi
    shift 2
    ;;
  *) usage "[--full] [--rounds N] [--seed N]" ;;
  esac
done

need_swift
need_packages "${build_packages[@]}" curl kcat python3 python3-venv
cd "$root"
scripts/kafka found >/dev/null

build_programs millrace millrace-worker millrace-ingress appstore-simulator

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-http-worker.XXXXXX")
clean_up_at_exit
logs() { tail -n 15 "$temporary"/*.log >&2; }
start_kafka "$temporary/kafka" --nodes 3

cp examples/python-worker/{server.py,requirements.txt} scripts/scenarios/http-worker/{worker,endpoint}.py "$temporary"
python3 -m venv "$temporary/.venv"
"$temporary/.venv/bin/pip" install --quiet --disable-pip-version-check -r "$temporary/requirements.txt"
(umask 077 && printf 'whsec_%s\n' "$(head -c 32 /dev/urandom | base64)" >"$temporary/secret")
export WEBHOOK_SECRET_FILE=$temporary/secret

ingress=$(free_port) admin=$(free_port) store=$(free_port) port=$(free_port)
export MILLRACE_TOPICS_DIRECTORY=$root/topics MILLRACE_TOPICS_LANES=6 MILLRACE_CONFIG=$temporary/millrace.yaml
cat >"$temporary/store.yaml" <<YAML
clock: { rate: 1 }
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production]
    notifications: { Production: { url: "http://127.0.0.1:$ingress/v2" } }
    products: [{ productId: com.example.app.yearly, period: P1Y, price: 49990 }]
server: { limits: { divisor: 1 } }
YAML
start "$temporary/store.log" "$bin/appstore-simulator" run "$temporary/store.yaml" --port "$store" --seed "$seed" \
  --write-root "$temporary/root.pem" --write-api-key "$temporary/simulator.p8"
simulator=$!
for file in root.pem simulator.p8; do
  wait_for_file "$temporary/$file" "$simulator" 120 || { logs; die "the simulator wrote no $file"; }
done
# The shortest session that brokers allow.
cat >"$MILLRACE_CONFIG" <<YAML
kafka:
  bootstrapServers: "$kafka_servers"
  properties: { session.timeout.ms: "6000", heartbeat.interval.ms: "500", max.poll.interval.ms: "12000" }
trust: { roots: ["$temporary/root.pem"] }
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production]
    api: { issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: SIMULATOR1, privateKeyFile: "$temporary/simulator.p8" }
appStore: { productionURL: "http://127.0.0.1:$store", sandboxURL: "http://127.0.0.1:$store" }
ingress: { host: 127.0.0.1, port: $ingress }
admin: { host: 127.0.0.1, port: $admin }
workers:
  tally:
    families: [subscriptions]
    calls: [getAllSubscriptionStatuses]
    ordering: strict
    retryDelays: [300ms, 2s, 5s]
    handler: { url: "http://127.0.0.1:$port/notifications", secretFile: "$temporary/secret", timeout: 30s }
YAML
"$bin/millrace" topics apply --yes >"$temporary/topics.log" 2>&1 || { logs; die "could not create the topics"; }
start "$temporary/ingress.log" "$bin/millrace-ingress"
curl --silent --fail --output /dev/null --retry 120 --retry-all-errors --retry-delay 1 "http://127.0.0.1:$admin/readyz" ||
  { logs; die "the ingress did not become ready"; }

say "$rounds rounds, seed $seed"
status=0
env -C "$temporary" python3 -B "$root/scripts/scenarios/http-worker/play.py" --rounds "$rounds" --seed "$seed" \
  --directory "$temporary" --millrace "$bin/millrace" --worker "$bin/millrace-worker" --endpoint-port "$port" \
  --store "http://127.0.0.1:$store" --bootstrap "$kafka_servers" --kafka "$root/scripts/kafka" --nodes "$temporary/kafka" &
play=$!
children+=("$play")
wait "$play" || status=$?
[ "$status" -eq 0 ] || {
  rm -rf "$root/.build/http-worker"
  mkdir "$root/.build/http-worker"
  cp "$temporary"/*.log "$temporary"/{journal,millrace.yaml} "$root/.build/http-worker"
  die "the checks failed; repeat with --seed $seed; journal and logs are in .build/http-worker"
}

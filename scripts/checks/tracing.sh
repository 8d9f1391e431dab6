#!/usr/bin/env bash
# Follows a notification through its trace, from the request to the call to Apple.
# A simulated App Store posts refunds in version 1, which the ingress writes to Kafka and the refunds worker confirms by
# a call. Both processes export their spans to a stub of a collector, which is down at first and refuses to take
# spans for a while. Each call must be below its handler's span, and that below the request's, in one trace.
#
#   scripts/check tracing    exits with 0 if the collector has the spans of every notification
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

[ $# -eq 0 ] || usage
need_swift
need_packages "${build_packages[@]}" curl python3
cd "$root"

build_programs millrace millrace-ingress millrace-refunds appstore-simulator
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-tracing.XXXXXX")
clean_up_at_exit
logs() { tail -n 20 "$temporary"/*.log >&2; }
ingress=$(free_port) admin=$(free_port) worker=$(free_port) production=$(free_port) collector=$(free_port)
echo secret >"$temporary/shared-secret"

cat >"$temporary/scenario.yaml" <<YAML
description: Refunds in version 1 for the check of traces.
seed: 1
clock: { rate: 60 }
duration: 16m
apps:
  - bundleId: com.example.legacy
    appAppleId: 1234567891
    environments: [Production]
    notifications:
      Production: { url: "http://127.0.0.1:$ingress/v1", version: 1 }
    products:
      - { productId: com.example.legacy.coins, type: consumable, price: 990 }
world:
  customers:
    - { count: 20, products: [com.example.legacy.coins], since: 10d }
events:
  - { do: refund, after: 10m, for: 4m, count: 10 }
YAML
cat >"$temporary/millrace.yaml" <<YAML
kafka: { durability: relaxed }
trust: { roots: ["$temporary/root.pem"] }
apps:
  - bundleId: com.example.legacy
    appAppleId: 1234567891
    environments: [Production]
    sharedSecretFiles: ["$temporary/shared-secret"]
    api: { issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: SIMULATOR1, privateKeyFile: "$temporary/key.p8" }
appStore: { productionURL: "http://127.0.0.1:$production" }
workers: { refunds: {} }
ingress: { host: 127.0.0.1, port: $ingress }
tracing: { otlp: { endpoint: "http://127.0.0.1:$collector" } }
YAML
export MILLRACE_CONFIG=$temporary/millrace.yaml
use_cluster tracing
export MILLRACE_KAFKA_BOOTSTRAP_SERVERS=$bootstrap
start "$temporary/simulator.log" "$bin/appstore-simulator" run "$temporary/scenario.yaml" --port "$production" \
  --shared-secret "$temporary/shared-secret" --write-root "$temporary/root.pem" --write-api-key "$temporary/key.p8" \
  --write-sent "$temporary/sent.jsonl"
simulator=$!
for file in root.pem key.p8; do wait_for_file "$temporary/$file" "$simulator" 30 || { logs; die "the simulator wrote no $file"; }; done
MILLRACE_ADMIN_PORT=$admin start "$temporary/ingress.log" "$bin/millrace-ingress"
processes=("$!")
MILLRACE_ADMIN_PORT=$worker start "$temporary/refunds.log" "$bin/millrace-refunds"
processes+=("$!")
wait "$simulator" || { logs; die "the simulator ended with an error"; }
sent=$(grep -c '"status":200' "$temporary/sent.jsonl") || die "the ingress answered nothing with 200"

say "Starting the collector, after the last notification"
start "$temporary/collector.log" python3 scripts/checks/tracing-collector.py "$collector" "$temporary/requests.jsonl"
# spans PORT prints the number of spans that the process has sent.
spans() { curl --silent "http://127.0.0.1:$1/metrics" | awk '/^millrace_spans_total\{.*outcome="sent"/ { print int($2) }'; }
end=$((SECONDS + 60))
until [ "$(spans "$admin")" -ge "$sent" ] && [ "$(spans "$worker")" -ge $((2 * sent)) ]; do
  [ "$SECONDS" -lt "$end" ] || { logs; die "the collector does not have the spans"; }
  sleep 0.5
done
for process in "${processes[@]}"; do stop "$process" || { logs; die "a process ended with status $?"; }; done

python3 - "$temporary/requests.jsonl" "$sent" <<'PYTHON'
import json, sys
spans, refused, services = {}, 0, {}
for line in open(sys.argv[1]):
    request = json.loads(line)
    refused += request["status"] != 200
    if request["status"] != 200:
        continue
    for resource in request["body"]["resourceSpans"]:
        service = {a["key"]: a["value"]["stringValue"] for a in resource["resource"]["attributes"]}["service.name"]
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                assert span["spanId"] not in spans, "a span was taken twice"
                spans[span["spanId"]] = span
                services[span["spanId"]] = service
traces = set()
for call in [span for span in spans.values() if span["name"] == "AppStoreServerAPI getTransactionInfo"]:
    handle = spans[call["parentSpanId"]]
    request = spans[handle["parentSpanId"]]
    names = (handle["name"], request["name"])
    assert names == ("refunds handle", "POST /v1"), names
    assert "parentSpanId" not in request and len({span["traceId"] for span in (call, handle, request)}) == 1
    owners = (services[call["spanId"]], services[request["spanId"]])
    assert owners == ("refunds", "millrace-ingress"), owners
    assert (call["kind"], handle["kind"], request["kind"]) == (3, 5, 2)
    assert int(request["startTimeUnixNano"]) < int(handle["startTimeUnixNano"]) <= int(call["startTimeUnixNano"])
    assert int(call["endTimeUnixNano"]) <= int(handle["endTimeUnixNano"])
    traces.add(call["traceId"])
print(f"    {sys.argv[2]} notifications, {len(traces)} traces from the request to the call to Apple, "
      f"{len(spans)} spans, {refused} requests refused and repeated")
if len(traces) != int(sys.argv[2]): sys.exit("a notification has no trace to the call")
if refused < 1: sys.exit("the collector refused nothing, so the check does not show that requests are repeated")
PYTHON

#!/usr/bin/env bash
# Measures the share of Apple's budget that a run of `millrace backfill` uses.
# Real processes run in real time on this machine. Apple allows 50 requests per second with 20 notifications each, and
# Millrace uses 0.8 of them. The target is 95 % of the budget.
#
#   scripts/bench backfill [--json] [--count N]    N notifications in the history, default 20 000
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

count=20000 json=false
while [ $# -gt 0 ]; do
  case "$1" in
  --json) json=true ;;
  --count)
    [ $# -ge 2 ] || die "--count needs a number"
    count=$2
    shift
    ;;
  -h | --help)
    header "$0"
    exit
    ;;
  *) usage "[--json] [--count N]" ;;
  esac
  shift
done

need_swift
cd "$root"
{
  need_packages "${build_packages[@]}" curl python3
  build_release
} >&2

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-bench.XXXXXX")
clean_up_at_exit
logs() { tail -n 20 "$temporary"/*.log >&2; }
export MILLRACE_TOPICS_DIRECTORY=$root/topics
start_embedded_cluster

# Notifications for half a minute, to a port without a listener.
cat >"$temporary/scenario.yaml" <<YAML
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production]
    notifications: { Production: { url: "http://127.0.0.1:1/v2" } }
    products: [{ productId: com.example.app.coins, type: consumable, price: 990 }]
world: { remember: { notifications: 1000000 } }
events: [{ do: purchase, product: com.example.app.coins, for: 30s, count: $count }]
YAML
port=$(free_port)
start "$temporary/simulator.log" "$bin/appstore-simulator" run "$temporary/scenario.yaml" --port "$port" \
  --write-root "$temporary/root.pem" --write-api-key "$temporary/simulator.p8"
wait_for_file "$temporary/simulator.p8" "$!" 60 || { logs; die "the simulator did not start"; }
cat >"$temporary/millrace.yaml" <<YAML
kafka: { bootstrapServers: "$bootstrap", durability: relaxed }
trust: { roots: ["$temporary/root.pem"] }
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production]
    api: { issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: SIMULATOR1, privateKeyFile: "$temporary/simulator.p8" }
appStore: { productionURL: "http://127.0.0.1:$port" }
YAML
# sent prints the number of notifications that the simulator has tried to send.
sent() { curl --silent "http://127.0.0.1:$port/simulator/report" | python3 -c 'import json, sys; print(json.load(sys.stdin)["notifications"]["sent"])'; }
end=$((SECONDS + 300))
until [ "$(sent 2>/dev/null || echo 0)" -ge "$count" ]; do
  [ "$SECONDS" -lt "$end" ] || { logs; die "the simulator has sent $(sent) of $count"; }
  sleep 0.5
done

"$bin/millrace" backfill --config "$temporary/millrace.yaml" --from "$((SECONDS + 15))s" --slice 5s --json \
  >"$temporary/run.jsonl" 2>"$temporary/run.log" || { logs; die "the run failed"; }
python3 - "$temporary/run.jsonl" "$count" "$json" <<'PYTHON'
import json, sys
run = [json.loads(line) for line in open(sys.argv[1])][-1]
seconds = (run["updatedAt"] - run["startedAt"]) / 1000
requests, notifications = run["pages"] / seconds, run["published"] / seconds
figures = {"benchmark": "backfill", "notifications": run["published"], "seconds": round(seconds, 1),
           "requestsPerSecond": round(requests, 1), "ofBudget": round(requests / (50 * 0.8), 3),
           "notificationsPerSecond": round(notifications)}
if run["published"] < int(sys.argv[2]): sys.exit(f"published {run['published']} of {sys.argv[2]} notifications")
if sys.argv[3] == "true": print(json.dumps(figures))
else:
    print(f"{figures['notifications']} notifications in {figures['seconds']} s: {figures['requestsPerSecond']} requests/s, "
          f"{100 * figures['ofBudget']:.1f} % of the budget, {figures['notificationsPerSecond']} notifications/s")
PYTHON

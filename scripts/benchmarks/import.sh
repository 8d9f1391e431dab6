#!/usr/bin/env bash
# Measures the share of Apple's budget that an import of customers uses, with real processes.
# The command is killed twice with SIGKILL and started again, and the worker is restarted once. Nobody may be asked twice.
# Time runs ten times as fast as on the wall. Apple allows 50 requests per second, Millrace uses 0.8 of them, and three
# quarters of these are the worker's. The target is 95 % of that.
#
#   scripts/bench import [--json] [--count N]    N customers, default 100 000
#
# With KAFKA_BOOTSTRAP_SERVERS=host:port it uses that cluster; otherwise it starts an installed Apache Kafka.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

count=100000 json=false
while [ $# -gt 0 ]; do
  case "$1" in
  --json) json=true ;;
  --count)
    [ $# -ge 2 ] || die "--count needs a number"
    count=$2
    shift
    ;;
  *) usage "[--json] [--count N]" ;;
  esac
  shift
done

need_swift
cd "$root"
{
  need_packages "${build_packages[@]}" curl kcat python3
  build_release
} >&2

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-import.XXXXXX")
clean_up_at_exit
logs() { tail -n 20 "$temporary"/*.log >&2; }
bootstrap=${KAFKA_BOOTSTRAP_SERVERS:-}
if [ -z "$bootstrap" ]; then
  start_kafka "$temporary/kafka" >&2
  bootstrap=$kafka_servers
fi
prefix="${KAFKA_TEST_PREFIX:-}import-$$-"
cat >"$temporary/scenario.yaml" <<YAML
clock: { rate: 10 }
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production]
    notifications: { Production: { url: "http://127.0.0.1:1/v2" } }
    products: [{ productId: com.example.app.yearly, period: P1Y, price: 99990 }]
world: { customers: [{ count: $count, products: [com.example.app.yearly], since: 30d }] }
YAML
port=$(free_port)
start "$temporary/simulator.log" "$bin/appstore-simulator" run "$temporary/scenario.yaml" --port "$port" \
  --write-root "$temporary/root.pem" --write-api-key "$temporary/simulator.p8" --write-clock "$temporary/clock.yaml" \
  --write-customers "$temporary/customers.txt"
wait_for_file "$temporary/customers.txt" "$!" 120 || { logs; die "the simulator did not start"; }
cat "$temporary/clock.yaml" - >"$temporary/millrace.yaml" <<YAML
kafka: { bootstrapServers: "$bootstrap", durability: relaxed }
topics: { directory: "$root/topics", prefix: "$prefix", lanes: 12 }
trust: { roots: ["$temporary/root.pem"] }
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production]
    api: { issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: SIMULATOR1, privateKeyFile: "$temporary/simulator.p8" }
appStore: { productionURL: "http://127.0.0.1:$port", sandboxURL: "http://127.0.0.1:$port" }
workers: { subscriptions: {} }
admin: { port: 0 }
logging: { level: warning }
YAML
export MILLRACE_CONFIG=$temporary/millrace.yaml
"$bin/millrace" topics apply --yes >"$temporary/topics.log" 2>&1 || { logs; die "could not create the topics"; }

# report prints the number of questions, those that Apple refused, and the simulated time in seconds.
report() {
  curl --silent "http://127.0.0.1:$port/simulator/report" | python3 -c '
import datetime, json, sys
report = json.load(sys.stdin)
asked = [row for row in report["asked"] if row["endpoint"] == "getAllSubscriptionStatuses"]
count = sum(row["count"] for row in asked)
good = sum(row["byStatus"].get("200", 0) for row in asked)
now = datetime.datetime.fromisoformat(report["now"].replace("Z", "+00:00")).timestamp()
print(count, count - good, now)'
}
asked() { report | cut -d' ' -f1; }
begin_worker() {
  start "$temporary/worker-$1.log" "$bin/millrace-subscriptions"
  worker=$!
}
# until_asked NUMBER waits until Apple was asked so often.
until_asked() {
  local end=$((SECONDS + 900))
  until [ "$(asked)" -ge "$1" ]; do
    [ "$SECONDS" -lt "$end" ] || { logs; die "only $(asked) of $1 customers were asked about"; }
    kill -0 "$worker" 2>/dev/null || { logs; die "the worker has ended"; }
    sleep 0.5
  done
}
begin_import() {
  start "$temporary/import-$1.log" "$bin/millrace" subscriptions import "$temporary/customers.txt"
  import=$!
}
end_import() {
  kill -KILL "$import"
  wait "$import" 2>/dev/null || true
}

begin_worker 1
# The first is killed while it writes, the second while it waits.
begin_import 1
wait_for_line() {
  local tries=600
  until grep -q "$2" "$1"; do
    [ $((tries--)) -gt 0 ] || { logs; die "no line \"$2\" in $1"; }
    sleep 0.05
  done
}
wait_for_line "$temporary/import-1.log" "of $count requests written"
end_import
begin_import 2
until_asked $((count / 4))
end_import
stop "$worker" || { logs; die "the worker ended with status $? after SIGTERM"; }
between=$(asked)
begin_worker 2
begin_import 3
until_asked $((count / 2))
read -r first _ from <<<"$(report)"
until_asked $((count * 9 / 10))
read -r last _ to <<<"$(report)"
wait "$import" || { logs; die "the import ended with status $?"; }
read -r total refused _ <<<"$(report)"
kcat -C -b "$bootstrap" -t "${prefix}appstore.subscriptions" -o beginning -e -q -f '%k\n' 2>"$temporary/kcat.log" |
  sort -u >"$temporary/rows"
sort "$temporary/customers.txt" >"$temporary/expected"
cmp --silent "$temporary/rows" "$temporary/expected" || die "$(wc -l <"$temporary/rows") of $count customers have a row"
python3 - "$count" "$total" "$refused" "$between" "$first" "$last" "$from" "$to" "$json" <<'PYTHON'
import json, sys
count, total, refused, between = (int(value) for value in sys.argv[1:5])
first, last, begin, end = (float(value) for value in sys.argv[5:9])
budget = 50 * 0.8 * 0.75
rate = (last - first) / (end - begin)
figures = {"benchmark": "import", "customers": count, "asked": total, "refused": refused, "askedBeforeTheRestart": between,
           "requestsPerSecond": round(rate, 2), "ofBudget": round(rate / budget, 3)}
print(json.dumps(figures) if sys.argv[9] == "true" else
      f"{count} customers, {total} questions ({between} before the worker's restart), {refused} refused by Apple; "
      f"{rate:.2f} requests/s by Apple's clock, {100 * rate / budget:.1f} % of the worker's budget")
if total != count: sys.exit(f"{total - count} questions too many")
PYTHON
stop "$worker" || die "the worker ended with status $? after SIGTERM"

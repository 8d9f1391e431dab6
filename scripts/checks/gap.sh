#!/usr/bin/env bash
# Kills the ingress twice and fills the gaps with `millrace backfill`, with real processes.
# The script simulates two hours of purchases in 144 seconds. `millrace backfill` fills the first gap; it is killed and
# resumed. `millrace backfill --follow` fills the second. In the end Kafka must hold every notification that the App
# Store tried to post, and duplicates must have the same ce_id.
#
#   scripts/check gap [SEED]    exits with 0 if all checks pass
#
# With KAFKA_BOOTSTRAP_SERVERS=host:port it runs on a real cluster.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

need_swift
need_packages "${build_packages[@]}" curl python3
cd "$root"
seed=${1:-3}

build_programs millrace millrace-ingress appstore-simulator

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-gap.XXXXXX")
clean_up_at_exit
config=$temporary/millrace.yaml
ingress=$(free_port) admin=$(free_port) production=$(free_port) sandbox=$(free_port)
export MILLRACE_TOPICS_DIRECTORY=$root/topics MILLRACE_TOPICS_LANES=4
logs() { tail -n 20 "$temporary"/*.log >&2; }

# Before the simulator starts, because it does not wait.
use_cluster gap

say "Simulating two hours of purchases, seed $seed"
# Apple's history must remain available until the backfill has read it, however slow this machine is.
sed 's/^duration: .*/duration: 24h/' scenarios/gap.yaml >"$temporary/gap.yaml"
start "$temporary/simulator.log" "$bin/appstore-simulator" run "$temporary/gap.yaml" --seed "$seed" --rate 50 \
  --target "http://127.0.0.1:$ingress/v2" --port "$production" --sandbox-port "$sandbox" \
  --write-root "$temporary/root.pem" --write-api-key "$temporary/simulator.p8" --write-clock "$temporary/clock.yaml" \
  --write-sent "$temporary/sent.jsonl" --report "$temporary/report.json"
simulator=$!
purchases_end=$((SECONDS + 147))
for file in root.pem simulator.p8 clock.yaml; do
  wait_for_file "$temporary/$file" "$simulator" 20 || { logs; die "the simulator wrote no $file"; }
done
cat "$temporary/clock.yaml" - >"$config" <<YAML
kafka: { bootstrapServers: "$bootstrap", durability: relaxed }
trust: { roots: ["$temporary/root.pem"] }
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production, Sandbox]
    api: { issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: SIMULATOR1, privateKeyFile: "$temporary/simulator.p8" }
appStore:
  productionURL: "http://127.0.0.1:$production"
  sandboxURL: "http://127.0.0.1:$sandbox"
  limitDivisor: 3
ingress: { host: 127.0.0.1, port: $ingress }
admin: { host: 127.0.0.1, port: $admin }
logging: { level: warning }
YAML
export MILLRACE_CONFIG=$config

# ids FIELD FILE prints the distinct values of a field, sorted.
ids() { sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p' "$temporary/$2" | sort -u; }
# tried prints the number of notifications sent so far, failed the number of failed attempts.
tried() { ids notificationUUID sent.jsonl | wc -l; }
failed() { grep -vc '"status":200' "$temporary/sent.jsonl" || true; }
# until_more NAME COUNT waits until one of these numbers has grown by COUNT.
until_more() {
  local from end=$((SECONDS + 40))
  from=$("$1")
  until [ "$("$1")" -ge $((from + $2)) ]; do
    [ "$SECONDS" -lt "$end" ] || { logs; die "no more notifications: $("$1") after $from"; }
    kill -0 "$simulator" 2>/dev/null || { logs; die "the simulator has ended too early"; }
    sleep 0.1
  done
}
# crash PID kills a process with SIGKILL.
crash() {
  kill -KILL "$1"
  wait "$1" 2>/dev/null || true
}
start_ingress() {
  start "$temporary/ingress-$1.log" "$bin/millrace-ingress"
  daemon=$!
  curl --silent --show-error --fail --retry 60 --retry-connrefused --retry-delay 1 --retry-max-time 30 \
    "http://127.0.0.1:$admin/readyz" >/dev/null 2>&1 || { logs; die "the ingress did not become ready"; }
}

start_ingress 1
until_more tried 40
say "The first gap: the ingress is down, and the backfill is killed and resumed"
crash "$daemon"
until_more failed 60
start_ingress 2
"$bin/millrace" backfill --from 3h --slice 30s --parallel 1 --json >"$temporary/run.jsonl" 2>"$temporary/run.log" &
first=$!
# The run has begun. It has many slices, so it cannot have ended.
until grep -q '"event":"progress"' "$temporary/run.jsonl" 2>/dev/null; do
  kill -0 "$first" 2>/dev/null || { logs; die "the run did not begin"; }
  sleep 0.02
done
sleep 0.2
kill -0 "$first" 2>/dev/null || { logs; die "the run ended before it could be killed"; }
crash "$first"
id=$(sed -n 's/^run \([^:]*\): .*/\1/p' "$temporary/run.log" | head -n 1)
[ -n "$id" ] || { logs; die "the run printed no id"; }
"$bin/millrace" backfill list 2>/dev/null | grep "$id" >/dev/null || { logs; die "the run is not in the list"; }

say "The second gap: --follow runs meanwhile"
MILLRACE_ADMIN_PORT=0 start "$temporary/follow.log" "$bin/millrace" backfill --follow --every 5m
follow=$!
until_more tried 20
crash "$daemon"
until_more failed 60
start_ingress 3
# Another process can resume the run 15 seconds after its owner was killed.
end=$((SECONDS + 45))
until "$bin/millrace" backfill --run "$id" --json >>"$temporary/run.jsonl" 2>>"$temporary/run.log"; do
  [ "$SECONDS" -lt "$end" ] || { logs; die "run $id did not resume"; }
  sleep 1
done

say "Waiting until Kafka holds every notification"
"$bin/millrace" listen --from earliest --json >"$temporary/held.jsonl" 2>"$temporary/listen.log" &
listener=$!
children+=("$listener")
until_held() {
  local end=$((SECONDS + 240))
  until [ "$SECONDS" -ge "$purchases_end" ] && ids notificationUUID sent.jsonl >"$temporary/tried" &&
    [ -z "$(comm -23 "$temporary/tried" <(ids id held.jsonl))" ]; do
    [ "$SECONDS" -lt "$end" ] || return 0
    kill -0 "$simulator" 2>/dev/null || { logs; die "the simulator has ended too early"; }
    sleep 0.5
  done
}
until_held
stop "$simulator" || { logs; die "the simulator ended with status $?"; }
stop "$follow" || { logs; die "millrace backfill --follow ended with status $?"; }
stop "$listener" || true
python3 - "$temporary" <<'PYTHON'
import collections, json, sys
directory = sys.argv[1]
tried = set(open(f"{directory}/tried").read().split())
ids, origins = collections.Counter(), collections.defaultdict(set)
for line in open(f"{directory}/held.jsonl"):
    record = json.loads(line)
    ids[record["id"]] += 1
    origins[record.get("origin")].add(record["id"])
missing, strange = tried - set(ids), set(ids) - tried
history, posted = origins["history"], origins["post"]
run = [json.loads(line) for line in open(f"{directory}/run.jsonl") if '"event":"ended"' in line]
if not run or run[-1]["state"] != "done": sys.exit("the run did not complete")
print(f"    {len(tried)} notifications sent, {len(missing)} missing; {len(posted)} posted, "
      f"{len(history)} from the history, {len(posted & history)} both; {sum(ids.values())} records")
if missing or strange: sys.exit(f"missing: {sorted(missing)[:5]}, not sent by Apple: {sorted(strange)[:5]}")
if not history - posted: sys.exit("no notification came only from the history, so the run does not test the backfill")
PYTHON

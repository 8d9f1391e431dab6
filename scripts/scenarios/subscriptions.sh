#!/usr/bin/env bash
# Compares the tables of subscriptions, in Kafka and in PostgreSQL, with the App Store, with real processes.
# The script simulates 15 days of 500 customers in the sandbox, where Apple retries no post, in 150 seconds. The ingress
# is killed twice, so notifications are lost for good. The subscriptions workers and millrace-postgres are killed all the
# time, and the database twice. Then the table may differ from the App Store only within running periods. After a backfill
# it has to be equal, and so do the tables in PostgreSQL. Commitments are in the rows. The newest event about each consumable
# has to be the right one. No event is published twice, except for what only the ledger recognizes and no longer lists.
# A tool that Millrace does not know requests a mass extension. Its failures are dead letters until an operator adopts it.
# Then each failed subscription that Apple can extend has to be extended once, and the campaign's figures have to be Apple's.
# At the end three customers are erased, and a replay, a backfill and an import do not bring them back.
#
# With --full, 5,000 customers play 60 days in ten minutes, with release builds. `millrace backfill --follow` runs all the
# time, and the table has to be equal at the end.
#
#   scripts/scenario subscriptions                three workers; prints the random seed
#   scripts/scenario subscriptions --full         5,000 customers and 60 days, on a real cluster
#   scripts/scenario subscriptions --workers 1    with one worker and one millrace-postgres
#   scripts/scenario subscriptions --seed 7       repeats the run of a seed
#
# With KAFKA_BOOTSTRAP_SERVERS=host:port it runs on a real cluster.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

seed=$RANDOM workers=3 full=false
while [ $# -gt 0 ]; do
  case "$1" in
  --seed | --workers)
    [ $# -ge 2 ] || die "$1 needs a number"
    if [ "$1" = --seed ]; then seed=$2; else workers=$2; fi
    shift 2
    ;;
  --full)
    full=true
    shift
    ;;
  *) usage "[--full] [--workers N] [--seed N]" ;;
  esac
done

need_swift
need_packages "${build_packages[@]}" curl kcat postgresql python3
cd "$root"

scenario=scenarios/subscriptions.yaml days=15 extended=12
if $full; then
  [ -n "${KAFKA_BOOTSTRAP_SERVERS:-}" ] || die "--full exceeds the embedded cluster: set KAFKA_BOOTSTRAP_SERVERS"
  scenario=scripts/scenarios/subscriptions-60-days.yaml days=60 extended=40
  build_release
else
  build_programs millrace millrace-ingress millrace-subscriptions millrace-renewal-extensions millrace-postgres \
    appstore-simulator
fi
# A day takes ten seconds.
seconds=$((days * 10))

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-subscriptions.XXXXXX")
clean_up_at_exit
config=$temporary/millrace.yaml
ingress=$(free_port) admin=$(free_port) production=$(free_port) sandbox=$(free_port)
export MILLRACE_TOPICS_DIRECTORY=$root/topics MILLRACE_TOPICS_LANES=6
logs() { tail -n 20 "$temporary"/*.log >&2; }

create_postgres "$temporary/postgres"
start_postgres "$temporary/postgres"

# The topics exist before the simulator starts, because it does not wait.
echo "workers: { subscriptions: {}, renewal-extensions: {} }" >"$temporary/topics.yaml"
export MILLRACE_CONFIG=$temporary/topics.yaml
use_cluster subscriptions

say "Simulating $days days of the App Store, seed $seed, $workers workers"
start "$temporary/simulator.log" "$bin/appstore-simulator" run "$scenario" --seed "$seed" \
  --target "http://127.0.0.1:$ingress/v2" --port "$production" --sandbox-port "$sandbox" \
  --write-root "$temporary/root.pem" --write-api-key "$temporary/simulator.p8" --write-clock "$temporary/clock.yaml" \
  --write-sent "$temporary/sent.jsonl"
simulator=$!
begin=$SECONDS
for file in root.pem simulator.p8 clock.yaml; do
  wait_for_file "$temporary/$file" "$simulator" 120 || { logs; die "the simulator wrote no $file"; }
done
head -c 48 /dev/urandom | base64 >"$temporary/erasure.key"
cat "$temporary/clock.yaml" - >"$config" <<YAML
kafka: { bootstrapServers: "$bootstrap", durability: relaxed }
trust: { roots: ["$temporary/root.pem"] }
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Sandbox]
    api: { issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: SIMULATOR1, privateKeyFile: "$temporary/simulator.p8" }
appStore:
  productionURL: "http://127.0.0.1:$production"
  sandboxURL: "http://127.0.0.1:$sandbox"
workers:
  # Six hours are 2.5 seconds, and the longest time limit of a handler is ten: a busy machine exceeds less.
  subscriptions: { handlerTimeout: 24h, maximumAttempts: 1000, settings: { entitlementMargin: 6h } }
  # The backfills go back further than the 8 days of its ledger, and would count extensions again.
  renewal-extensions: { handlerTimeout: 24h, maximumAttempts: 1000, ledgerHorizon: 30d }
ingress: { host: 127.0.0.1, port: $ingress }
admin: { host: 127.0.0.1, port: $admin }
postgres: { url: "$postgres_url", tables: [subscriptions, purchases, events], notify: true }
privacy: { keyFile: "$temporary/erasure.key" }
logging: { level: warning }
YAML
export MILLRACE_CONFIG=$config

start_ingress() {
  start "$temporary/ingress-$1.log" "$bin/millrace-ingress"
  daemon=$!
}
# start_worker NUMBER [ADMIN_PORT] starts a worker as a static member.
start_worker() {
  MILLRACE_KAFKA_INSTANCE="subscriptions-$1" MILLRACE_ADMIN_PORT="${2:-0}" \
    start "$temporary/worker-$1-$SECONDS.log" "$bin/millrace-subscriptions"
  running[$1]=$!
}
# crash PID kills a process with SIGKILL.
crash() {
  kill -KILL "$1" || { logs; die "a process has ended by itself"; }
  wait "$1" 2>/dev/null || true
}

# start_table_writer NUMBER starts a millrace-postgres.
start_table_writer() {
  MILLRACE_ADMIN_PORT=0 start "$temporary/postgres-$1-$SECONDS.log" "$bin/millrace-postgres"
  writers[$1]=$!
}

# The mass extension as the tool that requested it knows it; see the first event of the scenario.
extension=00000000-0000-4000-8000-000000000000 weekly=com.example.app.weekly adopted=false
origin=$(sed -E 's/.*origin: "([^"]+)".*/\1/' "$temporary/clock.yaml")
requested=$(date --utc --date "$origin $extended days" +%FT%TZ)
# unmatched prints how many of its failures are dead letters.
unmatched() {
  "$bin/millrace" dead-letters list --worker renewal-extensions --open --each --json 2>>"$temporary/adopt.log" |
    grep -c campaign-not-found || true
}
# adopt registers the mass extension. If it is registered, the failures that wait are sent to the worker again.
# It waits in the scenario's time, in which three days are 26 seconds.
adopt() {
  "$bin/millrace" campaigns adopt "$extension" --product "$weekly" --days 5 --reason 3 --since "$requested" \
    --why "started by our script" --yes --wait 3d >>"$temporary/adopt.log" 2>&1 ||
    { logs; die "the mass extension was not adopted: $(cat "$temporary/adopt.log")"; }
}

running=() writers=()
"$bin/millrace" postgres migrate >"$temporary/migrate.log" 2>&1 || { logs; die "could not create the tables"; }
start_ingress 1
for number in $(seq "$workers"); do
  start_worker "$number"
  start_table_writer "$number"
done
MILLRACE_ADMIN_PORT=0 start "$temporary/extensions.log" "$bin/millrace-renewal-extensions"
extender=$!
if $full; then
  MILLRACE_ADMIN_PORT=0 start "$temporary/follow.log" "$bin/millrace" backfill --follow --every 6h --look-back 8d
  follower=$!
fi
# The embedded cluster has no static members: its group needs most of a session after each kill.
interval=8 && [ -n "${KAFKA_BOOTSTRAP_SERVERS:-}" ] || interval=40
kills=0 outages=0 databases=0
while [ $((SECONDS - begin)) -lt "$seconds" ]; do
  sleep "$interval"
  kill -0 "$simulator" 2>/dev/null || { logs; die "the simulator has ended too early"; }
  number=$((kills % workers + 1))
  crash "${running[$number]}"
  start_worker "$number"
  crash "${writers[$number]}"
  start_table_writer "$number"
  kills=$((kills + 1))
  if [ "$kills" -eq 2 ] || [ "$kills" -eq 4 ]; then
    crash "$postgres_pid"
    databases=$((databases + 1))
    sleep 2
    start_postgres "$temporary/postgres"
  fi
  if [ $((kills % 8)) -eq 2 ]; then
    crash "$daemon"
    sleep 2
    outages=$((outages + 1))
    start_ingress $((outages + 1))
  fi
  # An operator finds the first failures among the dead letters. Apple is still extending.
  if ! $adopted && [ $((SECONDS - begin)) -gt $((extended * 10)) ]; then
    waiting=$(unmatched)
    if [ "$waiting" -gt 0 ]; then
      adopt
      adopted=true
    fi
  fi
done
$adopted || { logs; die "no failure of the mass extension became a dead letter"; }
sent=$(grep -o '"notificationUUID":"[^"]*"' "$temporary/sent.jsonl" | sort -u | wc -l)
echo "    $kills workers, $kills table writers, $outages ingresses and the database $databases times killed, $sent notifications sent"

# differing IDS… prints the subscriptions that still differ, as lines of JSON, after rounds in which nothing is on its way.
differing() {
  local ids=("$@") rounds=6
  # With --full the follower has to find what was lost meanwhile.
  ! $full || rounds=15
  for _ in $(seq "$rounds"); do
    "$bin/millrace" subscriptions verify "${ids[@]}" --sample 100000 --json >"$temporary/verify.jsonl" \
      2>>"$temporary/verify.log" || [ $? -eq 1 ] || { logs; die "millrace subscriptions verify failed"; }
    mapfile -t ids < <(python3 -c '
import json, sys
for line in open(sys.argv[1]):
    result = json.loads(line)
    if result["result"] != "equal": print(result["originalTransactionId"])' "$temporary/verify.jsonl")
    [ ${#ids[@]} -gt 0 ] || break
    sleep 2
  done
  [ ${#ids[@]} -eq 0 ] || grep -v '"result":"equal"' "$temporary/verify.jsonl"
}

# missed_ends FILE prints the subscriptions that are active in the table and have ended at Apple.
missed_ends() {
  python3 -c '
import json, sys
for line in open(sys.argv[1]):
    status = json.loads(line).get("status", {})
    if status.get("table") in ("active", "grace-period") and status.get("apple") == "expired":
        print(json.loads(line)["originalTransactionId"])' "$1"
}

query() { "$postgres_bin/psql" -qAt "$postgres_url" -c "$1"; }
# topic_records TOPIC prints the records of a topic as lines of JSON.
topic_records() {
  kcat -C -b "$bootstrap" -t "${MILLRACE_TOPICS_PREFIX:-}$1" -o beginning -e -q -J 2>>"$temporary/kcat.log"
}
# differing_consumables [--complete] compares the notifications of sent-before.jsonl with the events in PostgreSQL.
differing_consumables() {
  query "SELECT json_build_object('type', type, 'transactionId', data->>'transactionId',
      'signed', (extract(epoch FROM (data->>'signedDate')::timestamptz) * 1000)::bigint)
    FROM millrace.events WHERE data->>'productType' = 'Consumable'" >"$temporary/consumables.jsonl"
  python3 scripts/scenarios/consumables.py "$temporary/sent-before.jsonl" "$temporary/consumables.jsonl" "$@"
}
# compare_consumables [--complete] does it again while the table writers, which were killed until now, catch up.
compare_consumables() {
  local tries=40
  until differing_consumables "$@" >"$temporary/consumables.log" 2>&1; do
    [ $((tries--)) -gt 0 ] || { logs; cat "$temporary/consumables.log" >&2; die "the events about consumables differ"; }
    sleep 2
  done
  cat "$temporary/consumables.log"
}

# differing_extensions compares the results of the failures with what the App Store sent and answered.
differing_extensions() {
  topic_records appstore.events.renewal-extensions >"$temporary/extension-events"
  "$bin/millrace" campaigns show "$extension" --json >"$temporary/campaign.json" 2>>"$temporary/adopt.log" &&
    curl --silent --show-error --fail "http://127.0.0.1:$sandbox/simulator/report" >"$temporary/report.json" &&
    python3 scripts/scenarios/extensions.py "$temporary" "$weekly"
}
# compare_extensions does it again until the last failure has a result. Then it compares the rows of the subscriptions that a
# retry extended.
compare_extensions() {
  local tries=40 ids
  # A failure may have become a dead letter while the first adoption was under way.
  [ "$(unmatched)" = 0 ] || adopt
  until differing_extensions >"$temporary/extensions.txt" 2>&1; do
    [ $((tries--)) -gt 0 ] || { logs; cat "$temporary/extensions.txt" >&2; die "the mass extension differs"; }
    sleep 2
  done
  echo "    $waiting failures were dead letters when the operator looked"
  cat "$temporary/extensions.txt"
  mapfile -t ids <"$temporary/extended.txt"
  differing "${ids[@]}" >"$temporary/extended.jsonl"
  echo "    of the rows of the ${#ids[@]} extended by a retry, $(wc -l <"$temporary/extended.jsonl") differ"
  [ ! -s "$temporary/extended.jsonl" ] || die "rows differ: $(cat "$temporary/extended.jsonl")"
}

say "Comparing the table with the App Store"
cp "$temporary/sent.jsonl" "$temporary/sent-before.jsonl"
if $full; then
  kill -0 "$follower" 2>/dev/null || { logs; die "millrace backfill --follow has ended"; }
  # A pass takes 2.5 seconds, and the follower may be on its way through the last one.
  sleep 10
  : >"$temporary/before.jsonl"
else
  differing >"$temporary/before.jsonl"
  compare_consumables
  # A period may have ended a moment ago. The worker asks Apple after the margin, which is 2.5 seconds.
  mapfile -t ended < <(missed_ends "$temporary/before.jsonl")
  for _ in 1 2 3 4 5 6; do
    [ ${#ended[@]} -gt 0 ] || break
    sleep 3
    "$bin/millrace" subscriptions verify "${ended[@]}" --json >"$temporary/ended.jsonl" 2>>"$temporary/verify.log" ||
      [ $? -eq 1 ] || { logs; die "millrace subscriptions verify failed"; }
    mapfile -t ended < <(missed_ends "$temporary/ended.jsonl")
  done
  [ ${#ended[@]} -eq 0 ] || die "an end was missed: ${ended[*]}"
  say "Comparing it again after a backfill"
  # The world goes on, and Apple repeats no post: one that fails after a backfill is found by the next.
  for pass in 1 2 3; do
    cp "$temporary/sent.jsonl" "$temporary/sent-before.jsonl"
    "$bin/millrace" backfill --from 25d --slice 2h --json >"$temporary/backfill.jsonl" 2>"$temporary/backfill.log" ||
      { logs; die "the backfill failed: $(tail -n 5 "$temporary/backfill.log")"; }
    sleep 5
    differing >"$temporary/after.jsonl"
    [ -s "$temporary/after.jsonl" ] || break
    echo "    $(wc -l <"$temporary/after.jsonl") differ after backfill $pass"
  done
fi
say "Comparing the adopted mass extension with the App Store"
compare_extensions
! $full || differing >"$temporary/after.jsonl"
"$bin/millrace" subscriptions verify --sample 100000 --json >"$temporary/all.jsonl" 2>/dev/null || true
! $full || stop "$follower" || die "millrace backfill --follow ended with status $? after SIGTERM"
python3 - "$temporary" "$full" <<'PYTHON'
import json, sys
directory, full = sys.argv[1], sys.argv[2] == "true"
read = lambda name: [json.loads(line) for line in open(f"{directory}/{name}.jsonl")]
before, after, every = read("before"), read("after"), read("all")
arrived = {}
for attempt in read("sent"):
    id = attempt["notificationUUID"]
    arrived[id] = arrived.get(id, False) or attempt.get("status") == 200
lost = list(arrived.values()).count(False)
print(f"    {len(every)} subscriptions; {lost} of {len(arrived)} notifications were lost")
if not lost: sys.exit("nothing was lost, so the backfill was not tested")
print(f"    with backfill --follow {len(after)} differ" if full
      else f"    without the lost notifications {len(before)} differ, with them {len(after)}")
for result in before:
    print(f"      {json.dumps(result)}")
if after: sys.exit(f"the table differs after the backfill: {after}")
if len(every) < (5000 if full else 400): sys.exit("too few subscriptions to mean anything")
PYTHON

say "Comparing the tables in PostgreSQL with those in Kafka"
for number in $(seq "$workers"); do stop "${running[$number]}" || true; done
behind() {
  "$bin/millrace" postgres status --json 2>>"$temporary/status.log" |
    python3 -c 'import json, sys; print(sum(json.loads(line).get("lag") or 0 for line in sys.stdin))'
}
tries=60
until [ "$(behind)" = 0 ]; do
  [ $((tries--)) -gt 0 ] || { logs; die "the tables are still behind Kafka: $("$bin/millrace" postgres status)"; }
  sleep 1
done
topic_rows() {
  # %k and %s are the key and the value; a tombstone has the length -1.
  kcat -C -b "$bootstrap" -t "${MILLRACE_TOPICS_PREFIX:-}$1" -o beginning -e -q -f '%k\t%S\t%s\n' 2>>"$temporary/kcat.log"
}
topic_rows appstore.subscriptions >"$temporary/kafka-subscriptions"
topic_rows appstore.purchases >"$temporary/kafka-purchases"
for worker in subscriptions renewal-extensions; do topic_records "appstore.events.$worker"; done >"$temporary/kafka-events"
compare_consumables --complete
once=true
published=$(python3 scripts/scenarios/repeated.py "$temporary/kafka-events" 2>"$temporary/repeated.log") || once=false
cat "$temporary/repeated.log"
query "SELECT json_build_object('table', 'subscriptions', 'key', original_transaction_id, 'row', row_to_json(s))
  FROM millrace.subscriptions s UNION ALL
  SELECT json_build_object('table', 'purchases', 'key', transaction_id, 'row', row_to_json(p)) FROM millrace.purchases p" \
  >"$temporary/rows.jsonl"
counts=$(query "SELECT count(*), count(DISTINCT id) FROM millrace.events")
echo "    PostgreSQL has $counts events (all, distinct); Kafka has $published"
query "SELECT count(*) FROM millrace.rejected" | grep -qx 0 || die "records were rejected"
[ "$counts" = "$published" ] || { logs; die "the table of events differs"; }
# The embedded cluster has no transactions: there a worker that is killed may publish an event twice.
[ -z "${KAFKA_BOOTSTRAP_SERVERS:-}" ] || $once || { logs; die "an event was published twice"; }
python3 - "$temporary" <<'PYTHON'
import datetime, json, re, sys
directory = sys.argv[1]
snake = lambda name: re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
def comparable(value):
    if isinstance(value, str) and re.match(r"^\d{4}-\d\d-\d\dT\d\d:", value):
        return datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    return value
expected = {"subscriptions": {}, "purchases": {}}
for table, rows in expected.items():
    for line in open(f"{directory}/kafka-{table}"):
        key, size, value = line.rstrip("\n").split("\t", 2)
        if size == "-1": rows.pop(key, None)
        else: rows[key] = {snake(name): comparable(field) for name, field in json.loads(value).items()}
found = {"subscriptions": {}, "purchases": {}}
for line in open(f"{directory}/rows.jsonl"):
    row = json.loads(line)
    fields = {name: comparable(field) for name, field in row["row"].items() if field is not None and name != "updated_at"}
    found[row["table"]][row["key"]] = fields
for table in expected:
    different = {key for key in expected[table].keys() | found[table].keys() if expected[table].get(key) != found[table].get(key)}
    print(f"    {table}: {len(found[table])} rows in PostgreSQL, {len(expected[table])} in Kafka, {len(different)} differ")
    for key in sorted(different)[:3]: print("     ", expected[table].get(key), found[table].get(key))
    if different: sys.exit("a table differs")
if not all(found.values()): sys.exit("a table is empty")
PYTHON

python3 - "$temporary" <<'PYTHON'
# Ends whose notification was lost: what corrected the row, and how long after Apple signed the lost notification.
import base64, collections, datetime, json, re, sys
directory = sys.argv[1]
def decode(token):
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
attempts = [json.loads(line) for line in open(f"{directory}/sent.jsonl")]
arrived = {attempt["notificationUUID"] for attempt in attempts if attempt.get("status") == 200}
lost = {attempt["notificationUUID"]: attempt for attempt in attempts
        if attempt["notificationUUID"] not in arrived and re.split("[^A-Z_]", attempt["type"])[0] in ("EXPIRED", "DID_FAIL_TO_RENEW")}
rows = collections.defaultdict(list)
for line in open(f"{directory}/kafka-subscriptions"):
    key, size, value = line.rstrip("\n").split("\t", 2)
    if size != "-1": rows[key].append(json.loads(value))
time = lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
causes, delays = collections.Counter(), []
for attempt in lost.values():
    payload = decode(json.loads(attempt["body"])["signedPayload"])
    transaction = decode(payload["data"]["signedTransactionInfo"])
    signed = datetime.datetime.fromtimestamp(payload["signedDate"] / 1000, datetime.timezone.utc)
    later = [row for row in rows[transaction["originalTransactionId"]] if time(row["signedDate"]) >= signed]
    if not later: causes["not yet"] += 1; continue
    first = min(later, key=lambda row: time(row["signedDate"]))
    causes[first["cause"]["kind"]] += 1
    if first["cause"]["kind"] == "answer": delays.append((time(first["signedDate"]) - signed).total_seconds() / 3600)
print(f"    {len(lost)} notifications of an end or a failed renewal were lost; what told the worker first: {dict(causes)}"
      + (f"; answers of Apple {min(delays):.1f} to {max(delays):.1f} h after the lost notification" if delays else ""))
if causes["not yet"]: sys.exit("nothing told the worker of some of them")
PYTHON

# With more traffic the tables are never quite up to date. The run without --full erases customers.
if $full; then
  for number in $(seq "$workers"); do stop "${writers[$number]}" || die "a millrace-postgres ended with status $? after SIGTERM"; done
  stop "$extender" || die "millrace-renewal-extensions ended with status $? after SIGTERM"
  exit
fi

say "Erasing three customers"
# Apple still sends notifications about the others, which would bring them back.
mapfile -t gone < <(query "SELECT original_transaction_id FROM millrace.subscriptions
  WHERE status IN ('expired', 'revoked') ORDER BY 1 LIMIT 3")
[ ${#gone[@]} -eq 3 ] || die "only ${#gone[@]} subscriptions have ended"
ids() { printf -- '--original-transaction-id %s ' "${gone[@]}"; }
worker=$(free_port)
start_worker 1 "$worker"
# shellcheck disable=SC2046
"$bin/millrace" privacy erase $(ids) --why "requests 1 to 3" --yes --wait 120s --json >"$temporary/erase.jsonl" \
  2>"$temporary/erase.log" || { logs; die "the customers were not erased: $(cat "$temporary/erase.log")"; }
sed 's/^/    /' "$temporary/erase.log"
grep -q '"left":"signed notifications"' "$temporary/erase.jsonl" || die "the command did not say what remains"
# left prints how many rows and events the database has about the erased customers.
left() {
  local list
  list=$(printf "'%s'," "${gone[@]}")
  query "SELECT (SELECT count(*) FROM millrace.subscriptions WHERE original_transaction_id IN (${list%,}))
    + (SELECT count(*) FROM millrace.events WHERE key IN (${list%,}))"
}
# stays_erased checks that neither Kafka nor PostgreSQL has the customers, after everything has been handled.
stays_erased() {
  local tries=120
  until [ "$(behind)" = 0 ] && [ "$(left)" = 0 ]; do
    [ $((tries--)) -gt 0 ] || { logs; die "PostgreSQL has $(left) rows of the erased customers $1"; }
    sleep 1
  done
  for id in "${gone[@]}"; do
    local status=0
    "$bin/millrace" subscriptions show "$id" >/dev/null 2>"$temporary/show.log" || status=$?
    [ "$status" -ne 0 ] || die "$id has a row $1"
    [ "$status" -eq 1 ] && grep -q "The customer $id was erased at" "$temporary/show.log" ||
      { logs; die "millrace subscriptions show $id failed"; }
  done
  echo "    no row and no event $1"
}
stays_erased "after the erasure"
# The embedded cluster has deleted the first records.
replayed=""
if [ -n "${KAFKA_BOOTSTRAP_SERVERS:-}" ]; then
  replayed="a replay, "
  keys=() && for id in "${gone[@]}"; do keys+=(--key "$id"); done
  "$bin/millrace" replay start --worker subscriptions --family subscriptions --family refunds "${keys[@]}" \
    --reapply "a test" --wait 120s --json >"$temporary/replay.jsonl" 2>"$temporary/replay.log" ||
    { logs; die "the replay failed"; }
fi
# Apple keeps 30 days, and a busy machine needs days for a backfill.
"$bin/millrace" backfill --from 15d --slice 2h --json >"$temporary/backfill-2.jsonl" 2>"$temporary/backfill-2.log" ||
  { logs; die "the second backfill failed: $(tail -n 5 "$temporary/backfill-2.log")"; }
printf '%s\n' "${gone[@]}" >"$temporary/import.txt"
"$bin/millrace" subscriptions import "$temporary/import.txt" >"$temporary/import.log" 2>&1 ||
  { logs; die "the import failed"; }
grep -q "3 erased customers left out" "$temporary/import.log" || { logs; die "the import did not leave the customers out"; }
# The worker handles everything, without new notifications. It measures its lag every ten seconds.
stop "$daemon" || { logs; die "the ingress ended with status $? after SIGTERM"; }
sleep 11
tries=120
until curl --silent "http://127.0.0.1:$worker/metrics" | awk '/^millrace_worker_lag_records\{/ { lag += $NF }
  /^millrace_worker_lag_records\{.*appstore\.notifications\.subscriptions"/ { lanes++ }
  END { exit !(lanes == 6 && lag == 0) }'; do
  [ $((tries--)) -gt 0 ] || { logs; die "the worker has not handled everything"; }
  sleep 1
done
stop "${running[1]}" || { logs; die "the worker ended with status $? after SIGTERM"; }
stop "$extender" || { logs; die "millrace-renewal-extensions ended with status $? after SIGTERM"; }
stays_erased "after ${replayed}a backfill and an import"
